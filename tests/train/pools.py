"""Candidates for the twelve questions of the tiny benchmark, of which most are wrong in a way that shows."""

import json

HOLLOW = "SELECT count(*) FROM {table} WHERE {name} = 'nobody'"
TABLES = {
    "zoo": ("animal", "name"),
    "shop": ("item", "label"),
    "pond": ("fish", "kind"),
}


def answers(benchmark):
    """Of three generators, by question: one always right, two that agree on 0."""
    made = {"good": {}, "poor": {}, "poorer": {}}
    for question in benchmark.questions:
        table, name = TABLES[question.db_id]
        made["good"][question.id] = benchmark.golds[question.id].sql
        made["poor"][question.id] = HOLLOW.format(table=table, name=name)
        made["poorer"][question.id] = HOLLOW.format(table=table, name=name).lower()
    return made


def write_answers(folder, benchmark):
    for generator, queries in answers(benchmark).items():
        (folder / f"{generator}.json").write_text(json.dumps(queries))
    return folder
