-- Every change of a queue that must be whole. ARGV[1] says which one, ARGV[2] names the queue; what is RQ's is kept as
-- RQ keeps it, and what RQ has no place for is in keys of ours beside it. line.lua comes before this.
local wip = 'rq:wip:' .. q
local finished, failed, deferred = 'rq:finished:' .. q, 'rq:failed:' .. q, 'rq:deferred:' .. q
local claims, here = own .. 'claims', own .. 'here'
local paused, cancelled, checking = own .. 'paused', own .. 'cancelled', own .. 'checking'
local rests, why = own .. 'rests', own .. 'why'

local function job(id) return 'rq:job:' .. id end

-- Who listens hears of it, and who looks now and then sees by the number whether a look is worth it.
local function tell(text)
    redis.call('INCR', own .. 'changes')
    redis.call('PUBLISH', own .. 'news', text)
end

-- Where memory is short Redis refuses the first write of a script, and only that, if it takes memory. What runs is to go
-- on, and to end, all the same.
local function in_any_case() redis.call('DEL', own .. 'nothing') end

local function seconds()
    local now = redis.call('TIME')
    return tonumber(now[1]) + tonumber(now[2]) / 1e6
end

local function push(id, front)
    redis.call('SADD', 'rq:queues', list)
    redis.call('HSET', job(id), 'status', 'queued')
    redis.call('ZREM', deferred, id)
    redis.call('ZREM', rests, id)
    enlist(id, front)
end

-- The state, and the claim of whoever has it.
local function where(id)
    local claim = redis.call('HGET', claims, id)
    if claim then
        claim = string.match(claim, '^%S+')
        if redis.call('SISMEMBER', cancelled, id) == 1 then return '.cancelled', claim end
        if redis.call('SISMEMBER', paused, id) == 1 then return 'paused', claim end
        if redis.call('SISMEMBER', checking, id) == 1 then return 'checking', claim end
        return 'active', claim
    end
    if redis.call('ZSCORE', finished, id) then return 'done', '' end
    if redis.call('ZSCORE', failed, id) then return 'failed', '' end
    if redis.call('ZSCORE', deferred, id) then
        return redis.call('SISMEMBER', paused, id) == 1 and 'paused' or 'queued', ''
    end
    if redis.call('LPOS', list, id) then return 'queued', '' end
    return '', ''
end

-- A worker has it, as RQ's own would.
local function start(id, worker, claim, execution, now, stamp)
    redis.call('HSET', claims, id, claim .. ' ' .. execution)
    if about(id)[5] == '1' then redis.call('SADD', checking, id) end
    redis.call('HSET', job(id), 'status', 'started', 'worker_name', worker, 'started_at', now,
        'last_heartbeat', now, 'ended_at', '')
    redis.call('ZADD', wip, '+inf', id .. ':' .. execution)
    redis.call('HSET', 'rq:execution:' .. id .. ':' .. execution, 'id', execution, 'created_at', stamp,
        'last_heartbeat', stamp, 'worker_name', worker)
    redis.call('ZADD', 'rq:executions:' .. id, '+inf', execution)
end

-- No worker has it any more.
local function stop(id, execution)
    redis.call('ZREM', wip, id .. ':' .. execution)
    redis.call('DEL', 'rq:execution:' .. id .. ':' .. execution)
    redis.call('ZREM', 'rq:executions:' .. id, execution)
end

local function release(id)
    local claim = redis.call('HGET', claims, id)
    if claim then
        stop(id, string.match(claim, '%S+$'))
        redis.call('HDEL', claims, id)
    end
    redis.call('SREM', checking, id)
    redis.call('SREM', cancelled, id)
end

-- What is noted of its attempts.
local function tried(id, text, attempts)
    if text ~= '' then redis.call('HSET', job(id), 'paddock', text) end
    note(id, 6, attempts)
end

local function over(id, state, now, kind, payload, worker)
    local good = state == 'done'
    redis.call('SREM', paused, id)
    redis.call('HDEL', why, id)
    redis.call('ZADD', good and finished or failed, '+inf', id)
    redis.call('HSET', job(id), 'status', good and 'finished' or 'failed', 'ended_at', now)
    redis.call('XADD', 'rq:results:' .. id, 'MAXLEN', 10, '*', 'type', good and '1' or '2',
        'worker_name', worker, kind, payload)
    redis.call('HINCRBY', 'rq:worker:' .. worker, good and 'successful_job_count' or 'failed_job_count', 1)
end

local function forget(id)
    release(id)
    unlist(id)
    for _, key in ipairs({finished, failed, deferred, rests}) do redis.call('ZREM', key, id) end
    redis.call('SREM', paused, id)
    redis.call('HDEL', tasks, id)
    redis.call('HDEL', why, id)
    redis.call('DEL', job(id), 'rq:results:' .. id, 'rq:executions:' .. id)
end

local function defer(id)
    unlist(id)
    redis.call('ZADD', deferred, '+inf', id)
    redis.call('HSET', job(id), 'status', 'deferred')
end

local change = {}

-- id, about, 'queued' or 'deferred', field, value, ...
function change.put(id, words, state, ...)
    redis.call('SET', here, '1')
    if redis.call('EXISTS', job(id)) == 1 then return 0 end
    redis.call('HSET', job(id), ...)
    redis.call('HSET', tasks, id, words)
    if state == 'queued' then push(id, false) else
        redis.call('SADD', 'rq:queues', list)
        defer(id)
    end
    tell(id)
    return 1
end

-- The first that fits: slots, and GPUs, cores, bytes that are free; then how many more may wait for their check, and
-- the most that there ever is of the three; then those that are to be left to others.
function change.take(worker, execution, now, stamp, slots, gpus, cpus, mem, checks, most_gpus, most_cpus, most_mem, ...)
    local room, tries = tonumber(slots) > 0, tonumber(checks) > 0
    local free = {tonumber(gpus), tonumber(cpus), tonumber(mem)}
    local most = {tonumber(most_gpus), tonumber(most_cpus), tonumber(most_mem)}
    local function is_met(a, b, c, check)
        local there = check and most or free
        return (check and tries or not check and room) and a <= there[1] and b <= there[2] and c <= there[3]
    end
    local left = {...}
    for i = 1, #left do left[left[i]] = true end
    local id
    repeat -- what somebody has, or what is no job any more, was in the list by mistake
        id = draw(is_met, left, room)
        if not id then return false end
    until redis.call('HEXISTS', claims, id) == 0 and redis.call('EXISTS', job(id)) == 1
    local found = about(id)
    local claim = worker .. '.' .. string.format('%d', (tonumber(found[6]) or 0) + 1)
    start(id, worker, claim, execution, now, stamp)
    redis.call('HDEL', why, id)
    local text = redis.call('HMGET', job(id), 'paddock', 'data')
    return {id, claim, table.concat(found, ' '), text[1] or '', text[2] or ''}
end

-- What a worker has goes on where Redis has lost its memory. One that Redis knows has nothing to say here: what it does
-- not have any more was taken from it.
function change.again(id, words, worker, claim, execution, now, stamp, ...)
    if redis.call('HEXISTS', own .. 'workers', worker) == 1 or redis.call('EXISTS', job(id)) == 1 then return 0 end
    redis.call('SET', here, '1')
    redis.call('HSET', job(id), ...)
    redis.call('HSET', tasks, id, words)
    redis.call('SADD', 'rq:queues', list)
    start(id, worker, claim, execution, now, stamp)
    tell(id)
    return 1
end

-- What became of a claim: done, failed, queued (behind), front, pass (the same, for others), rest (for so many seconds),
-- gone. A paused task that is
-- given back stays held, and a cancelled one is gone. An empty claim is for a task that waits and nobody has.
function change.finish(id, claim, state, text, attempts, now, kind, payload, worker, rest, reason)
    in_any_case()
    local at, holder = where(id)
    if holder ~= claim then return 0 end
    if claim == '' and at ~= 'queued' then return 0 end
    if state == 'gone' or (at == '.cancelled' and state ~= 'done') then
        forget(id)
        tell(id)
        return 1
    end
    release(id)
    if claim == '' then unlist(id) end -- what was claimed is in no list
    redis.call('ZREM', deferred, id)
    tried(id, text, attempts)
    if state == 'done' or state == 'failed' then
        over(id, state, now, kind, payload, worker)
    elseif redis.call('SISMEMBER', paused, id) == 1 then
        defer(id)
    elseif state == 'rest' then
        defer(id)
        redis.call('ZADD', rests, seconds() + tonumber(rest), id)
        if reason ~= '' then redis.call('HSET', why, id, reason) end
    else
        push(id, state ~= 'queued')
        if state == 'pass' then redis.call('HSET', why, id, reason) end
    end
    tell(id)
    return 1
end

-- A worker of RQ has not been heard of for as long as it wanted to be: its task fails, as RQ has it. It is not run again
-- without a word, for its process may live where that worker died.
function change.abandon(id, execution, text, attempts, now, payload, worker)
    local limit = redis.call('ZSCORE', wip, id .. ':' .. execution)
    if not limit or tonumber(limit) >= seconds() or redis.call('HEXISTS', claims, id) == 1 then return 0 end
    stop(id, execution)
    tried(id, text, attempts)
    over(id, 'failed', now, 'exc_string', payload, worker)
    tell(id)
    return 1
end

-- A worker of RQ died between taking it out of the list and noting that it has it: nobody ran it.
function change.turn_back(id)
    if redis.call('LREM', list .. ':intermediate', 0, id) == 0 then return 0 end
    if redis.call('HEXISTS', claims, id) == 1 or redis.call('ZCARD', 'rq:executions:' .. id) > 0 then return 0 end
    push(id, true)
    tell(id)
    return 1
end

-- A task from another queue, with its history: over, or held by whoever carries it.
function change.adopt(id, words, state, claim, ...)
    redis.call('SET', here, '1')
    if redis.call('EXISTS', job(id)) == 1 then return 0 end
    redis.call('HSET', job(id), ...)
    redis.call('HSET', tasks, id, words)
    redis.call('SADD', 'rq:queues', list)
    if claim ~= '' then
        redis.call('HSET', claims, id, claim .. ' held')
        redis.call('SADD', paused, id)
    elseif state == 'done' or state == 'failed' then
        redis.call('ZADD', state == 'done' and finished or failed, '+inf', id)
        redis.call('HSET', job(id), 'status', state == 'done' and 'finished' or 'failed')
    else
        defer(id)
        if state == 'paused' then redis.call('SADD', paused, id) end
    end
    tell(id)
    return 1
end

-- Nobody takes it meanwhile: somebody carries it to another queue.
function change.hold(id, from, claim)
    local at, holder = where(id)
    if at ~= from or holder ~= '' or (at ~= 'queued' and at ~= 'paused') then return 0 end
    defer(id)
    redis.call('ZREM', deferred, id)
    redis.call('ZREM', rests, id)
    redis.call('HSET', claims, id, claim .. ' held')
    redis.call('SADD', paused, id)
    tell(id)
    return 1
end

-- The end of that, on whichever side it is.
function change.let_go(id, from, claim, to, priority, waits)
    local at, holder = where(id)
    if at == '.cancelled' and holder == claim then
        forget(id)
        tell(id)
        return 0
    end
    if at ~= from or holder ~= claim then return 0 end
    release(id)
    note(id, 1, priority)
    if to == 'paused' then defer(id) else
        redis.call('SREM', paused, id)
        if waits == '1' then defer(id) else push(id, false) end
    end
    tell(id)
    return 1
end

-- What waits aside may go on: it rested, or what it waited for has happened.
function change.admit(id)
    local at, holder = where(id)
    if at ~= 'queued' or holder ~= '' or not redis.call('ZSCORE', deferred, id) then return 0 end
    push(id, false)
    tell(id)
    return 1
end

-- What people order, as if a file were renamed: from where, whose, to where, with which priority; `waits` says that it
-- has to wait for others first.
function change.move(id, from, claim, to, priority, waits)
    in_any_case()
    local at, holder = where(id)
    if at ~= from or holder ~= claim then return 0 end
    note(id, 1, priority)
    if claim ~= '' then
        if to == 'paused' then redis.call('SADD', paused, id) end
        if to == 'active' then redis.call('SREM', paused, id) end
        if to == '.cancelled' then redis.call('SADD', cancelled, id) end
    elseif to == 'paused' then
        if from ~= 'paused' then
            redis.call('ZREM', rests, id)
            redis.call('SADD', paused, id)
            defer(id)
        end
    elseif from == 'queued' and redis.call('ZSCORE', deferred, id) then
        -- it keeps waiting for what it waits for
    else
        redis.call('SREM', paused, id)
        redis.call('ZREM', finished, id)
        redis.call('ZREM', failed, id)
        unlist(id)
        if waits == '1' then defer(id) else push(id, false) end
    end
    tell(id)
    return 1
end

function change.remove(id, from, claim)
    local at, holder = where(id)
    if at ~= from or holder ~= claim then return 0 end
    forget(id)
    tell(id)
    return 1
end

-- A worker shows that it lives; its counter is what others judge it by.
function change.beat(worker, now, keep)
    in_any_case()
    redis.call('HINCRBY', own .. 'beats', worker, 1)
    redis.call('HSET', own .. 'beaten', worker, seconds())
    redis.call('HSET', 'rq:worker:' .. worker, 'last_heartbeat', now)
    redis.call('EXPIRE', 'rq:worker:' .. worker, keep)
    return redis.call('HEXISTS', own .. 'workers', worker)
end

function change.show(worker, state)
    in_any_case()
    return redis.call('HSET', 'rq:worker:' .. worker, 'state', state)
end

function change.begun(id, claim)
    in_any_case()
    local _, holder = where(id)
    if holder == claim then
        redis.call('SREM', checking, id)
        redis.call('INCR', own .. 'changes')
    end
    return 1
end

return change[ARGV[1]](unpack(ARGV, 3))
