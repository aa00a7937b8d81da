-- Who waits, and in which order; queue.lua comes behind this, in the same script.
--
-- What waits is in RQ's own list, so that its workers and tools see it. To find in that list the first task which fits a
-- worker would be to look at all that do not. So each distinct need (GPUs, cores, bytes, whether there is a check) has a
-- line of its own beside it, and who takes looks at the head of each. The list is the truth: RQ's workers take from its
-- head, and RQ's tools push at its ends, without a word to us. What a line has and the list has not is dropped when it
-- is met; what the list has and no line has is met at the list's ends, or by `mend`.
local q = ARGV[2]
local list = 'rq:queue:' .. q
local own = 'paddock:' .. q .. ':'
local tasks = own .. 'tasks'
local needs = own .. 'needs' -- of each line
local order = own .. 'order' -- all of the list: by priority, then by number
local placed = own .. 'placed' -- of each task: which line, and as what
local MIDDLE, DIGITS = 4e15, 16 -- of the numbers: those before all others count down from there
local MISSES = 16 -- in a row; then it is cheaper to look at all of the list once
local MEND_SECONDS = 30

-- priority, GPUs, cores, bytes, whether it has a check ('1'), attempts; as they were written, or nothing
local function about(id)
    local found = {}
    for word in string.gmatch(redis.call('HGET', tasks, id) or '', '%S+') do found[#found + 1] = word end
    return found
end

local function note(id, place, value)
    local found = about(id)
    found[place] = value
    redis.call('HSET', tasks, id, table.concat(found, ' '))
end

local function line(need) return own .. 'line:' .. need end

local function entry(id)
    local found = redis.call('HGET', placed, id)
    if found then return string.match(found, '^(%S+) (.+)$') end
end

local function unplace(id)
    local need, member = entry(id)
    if not need then return end
    redis.call('ZREM', order, member)
    redis.call('ZREM', line(need), member)
    if redis.call('EXISTS', line(need)) == 0 then redis.call('SREM', needs, need) end
    redis.call('HDEL', placed, id)
end

-- Behind its equals, or before them. Jobs of others have a place as well, as if with priority 0, but no line.
local function place(id, front)
    unplace(id)
    local words = about(id)
    local need = words[5] and table.concat(words, ':', 2, 5) or '-'
    local number = front and -redis.call('HINCRBY', own .. 'numbers', 'front', 1)
        or redis.call('HINCRBY', own .. 'numbers', 'back', 1)
    local member = string.format('%0' .. DIGITS .. '.0f', MIDDLE + number) .. id
    local rank = string.format('%.0f', -(tonumber(words[1]) or 0))
    redis.call('ZADD', order, rank, member)
    redis.call('HSET', placed, id, need .. ' ' .. member)
    if need ~= '-' then
        redis.call('ZADD', line(need), rank, member)
        redis.call('SADD', needs, need)
    end
    return member
end

-- From one end of the list, those up to the first that has a place.
local function strangers(from_tail)
    local found = {}
    while true do
        local some = from_tail and redis.call('LRANGE', list, -#found - 100, -#found - 1)
            or redis.call('LRANGE', list, #found, #found + 99)
        if #some == 0 then return found end
        for i = 1, #some do
            local id = some[from_tail and #some + 1 - i or i]
            if redis.call('HEXISTS', placed, id) == 1 then return found end
            found[#found + 1] = id
        end
    end
end

-- What came into the list from elsewhere gets a place: from RQ's tools, or from a version of ours that had no lines.
local function meet()
    for _, from_tail in ipairs({true, false}) do
        local id = redis.call('LINDEX', list, from_tail and -1 or 0)
        if id and redis.call('HEXISTS', placed, id) == 0 then
            local found = strangers(from_tail)
            for i = #found, 1, -1 do place(found[i], not from_tail) end
        end
    end
end

-- The same for all of the list, and what is not in it loses its place.
local function mend()
    local there = {}
    for _, id in ipairs(redis.call('LRANGE', list, 0, -1)) do
        there[id] = true
        if redis.call('HEXISTS', placed, id) == 0 then place(id, false) end
    end
    for _, id in ipairs(redis.call('HKEYS', placed)) do
        if not there[id] then unplace(id) end
    end
    redis.call('DEL', own .. 'unchecked') -- of a version that had no lines
end

-- Into the list: behind or before its equals, and before whatever has less priority.
local function enlist(id, front)
    meet()
    local member, misses = place(id, front), 0
    while true do
        local rank = redis.call('ZRANK', order, member) + 1
        local behind = redis.call('ZRANGE', order, rank, rank)[1]
        if not behind then return redis.call('RPUSH', list, id) end
        local other = string.sub(behind, DIGITS + 1)
        if redis.call('LINSERT', list, 'BEFORE', other, id) > 0 then return end
        unplace(other)
        misses = misses + 1
        if misses == MISSES then
            mend()
            member = place(id, front)
        end
    end
end

-- Out of it, wherever it is; whether it was there.
local function unlist(id)
    unplace(id)
    return redis.call('LREM', list, 0, id) > 0
end

-- The same where it is once, if at all: looked for from the nearer end.
local function pick(id)
    local _, member = entry(id)
    local far = redis.call('ZRANK', order, member) * 2 > redis.call('ZCARD', order)
    unplace(id)
    return redis.call('LREM', list, far and -1 or 1, id) > 0
end

-- The first of those lines whose need is met, without those that are to be left alone (a list, and by id).
local function head(is_met, left)
    local best, least
    for _, need in ipairs(redis.call('SMEMBERS', needs)) do
        local gpus, cpus, mem, check = string.match(need, '^(.-):(.-):(.-):(.*)$')
        if is_met(tonumber(gpus), tonumber(cpus), tonumber(mem), check == '1') then
            local found = redis.call('ZRANGE', line(need), 0, #left, 'WITHSCORES')
            local at = 1
            while found[at] and left[string.sub(found[at], DIGITS + 1)] do at = at + 2 end
            local member, rank = found[at], tonumber(found[at + 1])
            if member and (not best or rank < least or (rank == least and member < best)) then
                best, least = member, rank
            end
        end
    end
    return best and string.sub(best, DIGITS + 1)
end

-- The first that fits, taken out of the list; nothing when none does. `thorough`: it may be worth a look at all of it.
local function draw(is_met, left, thorough)
    meet()
    local misses = 0
    while true do
        local id = head(is_met, left)
        if id and pick(id) then return id end
        if id then
            misses = misses + 1
            if misses == MISSES then mend() end
        elseif thorough and redis.call('EXISTS', placed, list) > 0
            and redis.call('SET', own .. 'mended', '1', 'NX', 'EX', MEND_SECONDS) then
            mend()
            thorough = false
        else
            return nil
        end
    end
end

