CREATE TABLE attempts(
    key TEXT PRIMARY KEY,         -- hash of question, database, steps, models and code
    question TEXT NOT NULL,
    record BLOB NOT NULL          -- JSON compressed by zlib: candidates, what became of them, cost
);
CREATE TABLE selections(
    key TEXT PRIMARY KEY,         -- hash of the attempt's key and the selector
    question TEXT NOT NULL,
    attempt TEXT NOT NULL,
    record BLOB NOT NULL          -- JSON compressed by zlib: which was chosen and why, cost
);
CREATE TABLE runs(
    id TEXT PRIMARY KEY,          -- hash of system, benchmark and models: what was asked for
    name TEXT NOT NULL,
    benchmark TEXT NOT NULL,
    system TEXT NOT NULL,         -- as Python prints it
    selections TEXT NOT NULL,     -- JSON: a list for each question of key, question, database, difficulty
    created REAL NOT NULL         -- seconds since 1970
);
