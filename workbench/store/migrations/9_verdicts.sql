CREATE TABLE verdicts(
    key TEXT PRIMARY KEY,         -- hash of database, schema, query, gold query, options and code
    record TEXT NOT NULL          -- JSON: every metric's verdict on the query
);
