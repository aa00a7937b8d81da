-- The tables that `paddock query --sql` offers. They are filled from the index for one question and thrown away.

CREATE TABLE runs (
    id TEXT PRIMARY KEY, name TEXT, project TEXT, group_name TEXT, job_type TEXT, state TEXT, reason TEXT,
    created REAL, started REAL, ended REAL, seen REAL, attempts INTEGER, host TEXT, user TEXT, commit_id TEXT, code TEXT,
    parent TEXT, queue TEXT, star INTEGER, bug INTEGER, alerts INTEGER, damaged INTEGER, dropped INTEGER, path TEXT,
    tags TEXT, notes TEXT, command TEXT, config TEXT, summary TEXT  -- tags, command, config and summary are JSON
);
CREATE TABLE metrics (
    run TEXT, metric TEXT, last REAL, last_step INTEGER, min REAL, min_step INTEGER, max REAL, max_step INTEGER,
    count INTEGER, goal TEXT
);
CREATE TABLE config (run TEXT, key TEXT, value);   -- nested keys joined by dots
CREATE TABLE summary (run TEXT, key TEXT, value);
CREATE TABLE tags (run TEXT, tag TEXT);
CREATE TABLE records (run TEXT, writer TEXT, time REAL, kind TEXT, body TEXT);  -- body is JSON
CREATE TABLE points (
    run TEXT, metric TEXT, step INTEGER, time REAL, value REAL, rank INTEGER, attempt INTEGER, tags TEXT
);
