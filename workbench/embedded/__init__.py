"""The embedded model: `embedded/parser`, a small statistical semantic parser that needs no key and no network.

It answers from the prompt alone. From question, hint, schema with descriptions and example values, value matches and
examples it builds hypotheses over a grammar of SQL, scores them with a log-linear model, and draws from them at the
request's temperature. It is no language model: it never answers a query that its grammar lacks, knows nothing that the
prompt does not show, and says which words it did not understand. Nothing imports it: `provider` is found by its entry point.

In reading order: `prompt` reads what is asked, `words` has the English and prepares a schema, `hints` reads the formulas
of a hint, `link` finds which words speak of what, `parts` makes heads and tests of queries, `combine` puts them together
and scores them, `replies` writes the answer to each kind of call, `learn` makes weights.json.
"""
