-- Batches of calls whose answers are not all read yet. A row is here before anything is sent, so that a killed
-- run's answers are found: `name` is in the file's name and in the batch's metadata at the provider.
CREATE TABLE batches(
    name TEXT PRIMARY KEY,
    endpoint TEXT NOT NULL,
    model TEXT NOT NULL,
    file TEXT NOT NULL DEFAULT '',      -- the provider's id of the uploaded requests, '' before
    asked REAL,                         -- when its creation was first asked for, NULL before
    batch TEXT NOT NULL DEFAULT '',     -- the provider's id of the batch, '' before it is known
    created REAL NOT NULL
);
CREATE TABLE batch_items(
    number INTEGER PRIMARY KEY,         -- the order of a batch's requests in its file
    key TEXT NOT NULL UNIQUE,
    batch TEXT NOT NULL REFERENCES batches(name),
    request TEXT NOT NULL               -- as JSON
);
CREATE INDEX batch_items_batch ON batch_items(batch);
