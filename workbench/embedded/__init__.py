"""The embedded model: `embedded/parser`, a small statistical semantic parser that needs no key and no network.

It answers from the prompt alone. From question, hint, schema with descriptions and example values, value
matches and examples it builds hypotheses over a grammar of SQL, scores them with a log-linear model, and
draws from them at the request's temperature. It is no language model: it never answers a query that its
grammar lacks, and knows nothing that the prompt does not show. Nothing imports it: `provider` is found by
its entry point.

In reading order:

    prompt/     messages, schema_reading    a prompt -> what it asks for, and a Context with a Schema
    linking/    index             a schema prepared for linking: words, kinds of columns, codes, keys
                mentions          which words speak of which columns and tables
                formula, expressions, hints   what each clause of a hint defines
                experience        the forms of SQL that the prompt's examples suggest
                reading           all of that together: a question as it is understood
    grammar/    values, comparisons, tests    tests of rows, and the sets of them that fit together
                head, outputs, orders, groups, heads   what a query may return, by shape
                joins, joint      ways to join tables; heads, tests and joins put together and scored
                render            a hypothesis as SQL
    parser      `hypotheses` of a context, and what is `spoken` of; weights.json, learned by `training.learn`
    calls/      the reply to each kind of call; `answer` picks the module
    training/   `python -m workbench.embedded.training.learn`

What depends on what: without the hint, codes are known only where a description explains them, and formulas
not at all. Without value matches only the example values of the schema are known. Descriptions name columns
and tables whose own names say nothing. Pruning takes columns and tables away from every part of a
hypothesis. Examples favour the forms of SQL of those whose questions share words with the one that is asked.
"Divide and conquer" favours nested queries, a query plan favours fewer joins; both shift scores by a fixed
amount, and the order of answers only where hypotheses are close.
"""
