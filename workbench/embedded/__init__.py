"""The embedded model: `embedded/parser`, a small statistical semantic parser that needs no key and no network.

It answers from the prompt alone. From question, hint, schema with descriptions and example values, value
matches and examples it builds hypotheses over a grammar of SQL, scores them with a log-linear model, and
draws from them at the request's temperature. It is no language model: what its grammar cannot say it never
answers, and what the prompt does not tell it does not know.

In reading order:

    words            tokens and stems of English and of names, and how alike two are
    lexicon          the English that asks for operations, as one table
    schema_reading   a prompt's CREATE TABLE statements or bracketed lists -> Schema
    descriptions     names and codes that descriptions explain
    index            a schema prepared for linking: words, kinds of columns, codes, formats of dates
    linking          which words speak of which columns and tables
    dates            times in questions, and SQL for them in each format of dates
    formula, formula_reading   the expressions in hints
    hints            what each clause of a hint defines
    reading          all of that together: a question as it is understood
    values, codes, comparisons, subqueries   tests of rows that a question may ask for
    filters          those tests, and the sets of them that fit together
    outputs          columns that a question may ask for
    head, orders, totals, groups, heads      what a query may return, by shape
    joins            joins along foreign keys
    experience       what the examples in a prompt suggest
    joint, parser    heads, tests and joins put together and scored: `hypotheses`, `links`
    render           a hypothesis as SQL
    weights          weights.json, learned by `workbench.train.parser` from prior.json
    messages, provider, answer, calls, ...   what kind of call a prompt is, and its answer

What reacts to what: without the hint, codes are known only where a description explains them, and formulas
not at all. Without value matches a name in the question is guessed to be a value of the column that is
spoken of nearest, spelled as the question spells it. Descriptions name columns and tables whose own names
say nothing. Pruning takes columns and tables away from every part of a hypothesis. Examples favour the
forms of SQL and the columns of those whose questions share words with the one that is asked. To divide and
conquer favours queries within queries, a query plan favours fewer joins; both shift scores by a fixed
amount, and the order of answers only where hypotheses are close.
"""
