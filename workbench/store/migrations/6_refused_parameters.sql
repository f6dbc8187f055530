CREATE TABLE refused_parameters(
    endpoint TEXT NOT NULL,
    model TEXT NOT NULL,
    parameters TEXT NOT NULL,     -- JSON: all parameters of the refused request
    parameter TEXT NOT NULL,      -- the one that is left out of such requests
    reason TEXT NOT NULL,         -- the refusal, of LiteLLM or of the server
    created REAL NOT NULL,        -- seconds since 1970
    PRIMARY KEY(endpoint, model, parameters)
);
