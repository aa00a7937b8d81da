-- The index of one home. Everything here is read from the runs and can be read again.
-- A change of this file needs a new VERSION in store.py: an index of another version is deleted and rebuilt.

CREATE TABLE runs (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    created REAL NOT NULL,
    journals INTEGER NOT NULL,  -- mtime of the journal directory in ns; -1 when it was too young to be trusted
    facts TEXT NOT NULL,        -- what tells run.json from another: inode, size, mtime; '' when it is missing, ! damaged
    settled INTEGER NOT NULL,   -- 0: its state is found out when asked; 1: it cannot change; 2: long lost
    look_at REAL NOT NULL       -- one long lost is not looked at again before this time
);

-- Kept apart from `runs` so that finding what changed never reads past configs.
CREATE TABLE cards (
    run INTEGER PRIMARY KEY,
    card BLOB NOT NULL,         -- the packed RunRow, with the state when that is settled
    registers BLOB NOT NULL     -- what the records have set so far
);

CREATE TABLE writers (
    key INTEGER PRIMARY KEY,
    run INTEGER NOT NULL,
    name TEXT NOT NULL,
    state BLOB NOT NULL,        -- the packed writer.Seen
    UNIQUE (run, name)
);

-- A stretch of rows that share their columns: steps int64, times float64 seconds since the epoch.
CREATE TABLE blocks (
    key INTEGER PRIMARY KEY,
    writer INTEGER NOT NULL,
    columns INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    n INTEGER NOT NULL,
    open INTEGER NOT NULL,      -- 1: the writer's next rows of these columns are added to it
    rising INTEGER NOT NULL,    -- 1: every step is greater than the one before
    first INTEGER NOT NULL,     -- the first and the last row's step
    last INTEGER NOT NULL,
    steps BLOB NOT NULL,
    times BLOB NOT NULL,
    line INTEGER NOT NULL,      -- which row of its journal the first one is
    lines BLOB                  -- the same for each, int64; NULL when they follow each other
);
CREATE INDEX blocks_writer ON blocks (writer);
CREATE INDEX blocks_open ON blocks (writer, columns) WHERE open = 1;

-- One metric of a block: float64 when kind is 'd', int64 when it is 'q'.
CREATE TABLE chunks (
    key INTEGER PRIMARY KEY,
    metric INTEGER NOT NULL,
    block INTEGER NOT NULL,
    kind TEXT NOT NULL,
    data BLOB NOT NULL
);
CREATE INDEX chunks_metric ON chunks (metric, block);
CREATE INDEX chunks_block ON chunks (block);

-- What each metric came to, per run, tags and rank, over every point written.
CREATE TABLE metrics (
    key INTEGER PRIMARY KEY,
    run INTEGER NOT NULL,
    metric TEXT NOT NULL,
    tags TEXT NOT NULL,         -- JSON with sorted keys, '' when there are none
    rank INTEGER NOT NULL,
    last REAL,
    last_step INTEGER NOT NULL,
    last_time REAL NOT NULL,
    last_attempt INTEGER NOT NULL,
    last_writer TEXT NOT NULL,  -- whom `last` came from
    last_line INTEGER NOT NULL, -- which row of that journal it was
    min REAL,
    min_step INTEGER NOT NULL,
    max REAL,
    max_step INTEGER NOT NULL,
    count INTEGER NOT NULL,
    UNIQUE (run, metric, tags, rank)
);

-- Everything that is neither a point nor folded into the card.
CREATE TABLE records (
    key INTEGER PRIMARY KEY,
    run INTEGER NOT NULL,
    writer INTEGER NOT NULL,
    time REAL NOT NULL,
    kind TEXT NOT NULL,
    body BLOB NOT NULL          -- JSON
);
CREATE INDEX records_run ON records (run);

CREATE INDEX records_questions ON records (kind) WHERE kind IN ('ask', 'answer', 'answered');

-- What each process said last of each piece of work it has a share in.
CREATE TABLE progress (
    run INTEGER NOT NULL,
    id TEXT NOT NULL,
    writer INTEGER NOT NULL,
    open INTEGER NOT NULL,      -- 0: the work is over
    seen REAL NOT NULL,
    state BLOB NOT NULL,        -- the packed progress.Share
    PRIMARY KEY (run, id, writer)
) WITHOUT ROWID;
CREATE INDEX progress_open ON progress (run, open, seen);

-- Tasks that wait in the home's queues, or failed there.
CREATE TABLE tasks (
    queue TEXT NOT NULL,
    state TEXT NOT NULL,        -- the directory
    name TEXT NOT NULL,         -- of the file
    inode INTEGER NOT NULL,
    card BLOB,                  -- the packed RunRow; NULL when the file is no task
    PRIMARY KEY (queue, state, name)
) WITHOUT ROWID;

CREATE TABLE queues (
    queue TEXT NOT NULL,
    state TEXT NOT NULL,
    mtime INTEGER NOT NULL,     -- of the directory in ns when it was listed; -1 when it was too young to be trusted
    PRIMARY KEY (queue, state)
) WITHOUT ROWID;

-- Queues in Redis: their tasks that wait or failed are in `tasks`, under the queue's URL, and with the number of attempts as inode.
CREATE TABLE distant (
    queue TEXT PRIMARY KEY,
    mark TEXT NOT NULL          -- what the queue said when it was read; the same while nothing has changed
) WITHOUT ROWID;
