"""The tables of the cache file, version by version."""

import sqlite3
from collections.abc import Iterator

# Entry n turns a file of version n into one of version n + 1; a published entry never changes.
MIGRATIONS: tuple[str, ...] = (
    """
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
    """,
    """
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
    """,
    """
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
    """,
    """
    ALTER TABLE claims RENAME TO call_locks
    """,
    # A process of the older code that still has the file open goes on reading and writing `claims`.
    """
    CREATE VIEW claims AS SELECT * FROM call_locks;
    CREATE TRIGGER claims_insert INSTEAD OF INSERT ON claims BEGIN
        INSERT OR REPLACE INTO call_locks VALUES (NEW.key, NEW.owner, NEW.seconds, NEW.created);
    END;
    CREATE TRIGGER claims_delete INSTEAD OF DELETE ON claims BEGIN
        DELETE FROM call_locks WHERE key = OLD.key;
    END;
    """,
    """
    CREATE TABLE refused_parameters(
        endpoint TEXT NOT NULL,
        model TEXT NOT NULL,
        parameters TEXT NOT NULL,     -- JSON: all parameters of the refused request
        parameter TEXT NOT NULL,      -- the one that is left out of such requests
        reason TEXT NOT NULL,         -- the refusal, of LiteLLM or of the server
        created REAL NOT NULL,        -- seconds since 1970
        PRIMARY KEY(endpoint, model, parameters)
    );
    """,
    # NULL where a process of older code has stored the call since. `checksum` is a function of ours.
    """
    ALTER TABLE calls ADD COLUMN checksum INTEGER; -- of the other columns, in their order
    UPDATE calls SET checksum = checksum(
        key, text, finish_reason, input_tokens, output_tokens, cached_tokens, cost, endpoint, model, messages,
        parameters, sample, prompt, reply, seconds, created);
    """,
)


def statements(migration: str) -> Iterator[str]:
    """The statements of a migration; a trigger's own semicolons do not end it."""
    statement = ""
    for part in migration.split(";"):
        statement += f"{part};"
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
