CREATE TABLE texts(
    id INTEGER PRIMARY KEY,       -- the first 63 bits of its sha256
    text TEXT NOT NULL            -- a part that prompts share, stored once
);
CREATE TABLE calls(
    key TEXT PRIMARY KEY,         -- hash of endpoint, model, messages, parameters and sample
    text TEXT NOT NULL,           -- the answer
    finish_reason TEXT NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    cached_tokens INTEGER NOT NULL, -- those of the input that the provider had cached
    cost REAL,                    -- dollars when it was paid, NULL where the price is unknown
    endpoint TEXT NOT NULL,
    model TEXT NOT NULL,
    messages TEXT NOT NULL,       -- JSON, text as lists of ids and pieces: see the view messages
    parameters TEXT NOT NULL,     -- JSON
    sample INTEGER NOT NULL,
    prompt TEXT NOT NULL,         -- the prompt's name
    reply TEXT NOT NULL,          -- JSON as received, less the answer
    seconds REAL NOT NULL,
    created REAL NOT NULL         -- seconds since 1970
);
CREATE VIEW messages AS
    SELECT calls.key, message.key AS number, message.value ->> '$.role' AS role,
        (SELECT group_concat(piece, '') FROM (
            SELECT CASE part.type WHEN 'integer'
                THEN (SELECT text FROM texts WHERE id = part.value) ELSE part.value END AS piece
            FROM json_each(message.value, '$.content') AS part ORDER BY part.key
        )) AS content
    FROM calls, json_each(calls.messages) AS message;
CREATE TABLE claims(
    key TEXT PRIMARY KEY,         -- the call that is being made
    owner TEXT NOT NULL,          -- host, process and a number of its own
    seconds REAL NOT NULL,        -- how long it may take at most
    created REAL NOT NULL
);
