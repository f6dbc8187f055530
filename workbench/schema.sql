-- The cache: everything that was expensive to make. What was paid for, `calls`, `budgets` and `batches`, keeps its
-- form for ever and opens in every later version; the other tables may be changed here, and are then made anew. A
-- call, execution, attempt or selection has a key that is a hash of everything it depends on, so two processes that
-- write the same row agree.

-- Calls of models, and their answers.
CREATE TABLE IF NOT EXISTS calls(
    key TEXT PRIMARY KEY,           -- hash of endpoint, model, messages, parameters and sample
    text TEXT NOT NULL,             -- the answer
    model TEXT NOT NULL,
    finish_reason TEXT NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    cached_tokens INTEGER NOT NULL, -- those of the input that the provider had cached
    cost REAL,                      -- dollars when it was paid, NULL where the price is unknown
    endpoint TEXT NOT NULL,         -- the server's address, or the version of a model that ran in the process
    messages TEXT NOT NULL,         -- JSON
    parameters TEXT NOT NULL,       -- JSON: all that were asked for
    dropped TEXT NOT NULL,          -- those that the model does not take, which were left out, by commas
    sample INTEGER NOT NULL,
    prompt TEXT NOT NULL,           -- the prompt's name
    reply TEXT NOT NULL,            -- JSON as received, less the answer
    seconds REAL NOT NULL,
    created REAL NOT NULL           -- seconds since 1970
);
CREATE INDEX IF NOT EXISTS calls_prompts ON calls(prompt, model);
CREATE INDEX IF NOT EXISTS calls_dropped ON calls(model, dropped) WHERE dropped <> '';  -- few, and asked for by each run

-- What may be spent. All processes of a run share one row, and change it in a transaction.
CREATE TABLE IF NOT EXISTS budgets(
    name TEXT PRIMARY KEY,
    spent REAL NOT NULL,            -- dollars
    made INTEGER NOT NULL,          -- calls
    reserved REAL NOT NULL,         -- dollars of calls under way; those of a process that was killed stay
    under_way INTEGER NOT NULL      -- calls
);

-- Batches of calls that were sent to a provider, noted before they are.
CREATE TABLE IF NOT EXISTS batches(
    file TEXT PRIMARY KEY,          -- the provider's name of the file with the calls
    model TEXT NOT NULL,
    address TEXT NOT NULL,          -- "" is the provider's own
    created REAL NOT NULL           -- seconds since 1970
);

-- Databases, and the results of queries.
CREATE TABLE IF NOT EXISTS databases(
    place TEXT PRIMARY KEY,         -- hash of where the file lies
    state TEXT NOT NULL,            -- the sizes and times of its files when it was read
    fingerprint TEXT NOT NULL       -- hash of its content
);
CREATE TABLE IF NOT EXISTS executions(
    key TEXT PRIMARY KEY,           -- hash of database, sql, limits and version of SQLite
    database TEXT NOT NULL,
    sql TEXT NOT NULL,
    limits TEXT NOT NULL,
    status TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    row_count INTEGER NOT NULL,
    truncated INTEGER NOT NULL,
    seconds REAL NOT NULL,
    error TEXT NOT NULL,
    columns TEXT NOT NULL,          -- JSON
    rows NOT NULL                   -- JSON
);
CREATE INDEX IF NOT EXISTS executions_fingerprints ON executions(key, fingerprint);

-- Questions that were answered.
CREATE TABLE IF NOT EXISTS attempts(
    key TEXT PRIMARY KEY,           -- hash of question, database, steps, models and code
    question TEXT NOT NULL,
    record BLOB NOT NULL            -- JSON compressed by zlib: candidates, what became of them, cost
);
CREATE TABLE IF NOT EXISTS selections(
    key TEXT PRIMARY KEY,           -- hash of the attempt's key and the selector
    question TEXT NOT NULL,
    attempt TEXT NOT NULL,
    record BLOB NOT NULL            -- JSON compressed by zlib: which was chosen and why, cost
);
CREATE TABLE IF NOT EXISTS runs(
    id TEXT PRIMARY KEY,            -- hash of name, system, benchmark and answers
    name TEXT NOT NULL,
    benchmark TEXT NOT NULL,
    system TEXT NOT NULL,           -- as Python prints it
    selections TEXT NOT NULL,       -- JSON: for each question the key of its selection, id, database, difficulty, text
    created REAL NOT NULL           -- seconds since 1970
);
