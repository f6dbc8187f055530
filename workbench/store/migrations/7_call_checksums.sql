-- NULL where a process of older code has stored the call since. `checksum` is a function of this package.
ALTER TABLE calls ADD COLUMN checksum INTEGER; -- of the other columns, in their order
UPDATE calls SET checksum = checksum(
    key, text, finish_reason, input_tokens, output_tokens, cached_tokens, cost, endpoint, model, messages,
    parameters, sample, prompt, reply, seconds, created);
