CREATE TABLE databases(
    place TEXT PRIMARY KEY,       -- hash of where the file lies
    state TEXT NOT NULL,          -- what its folder said when it was read: sizes, times
    fingerprint TEXT NOT NULL     -- hash of its content
);
CREATE TABLE executions(
    key TEXT PRIMARY KEY,         -- hash of database, sql and limits
    database TEXT NOT NULL,
    sql TEXT NOT NULL,
    limits TEXT NOT NULL,
    status TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    row_count INTEGER NOT NULL,
    truncated INTEGER NOT NULL,
    seconds REAL NOT NULL,
    error TEXT NOT NULL,
    columns TEXT NOT NULL,        -- JSON
    rows NOT NULL                 -- JSON, or a BLOB: JSON compressed by zlib
);
CREATE INDEX executions_fingerprints ON executions(key, fingerprint);
