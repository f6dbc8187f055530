"""A small context and, for each prompt of ours, data to render it with."""

from dataclasses import replace

from workbench.sql.context_text import (
    column_text,
    context_data,
    examples_text,
    result_text,
    with_values,
)
from workbench.sql.schema_text import bare_create_table_text, mac_sql_text
from workbench.types import (
    Column,
    Context,
    DescriptionMatch,
    Example,
    Execution,
    ForeignKey,
    Question,
    Schema,
    Table,
    ValueMatch,
)

LIFTS = Schema(
    "lifts",
    (
        Table(
            "lift",
            (
                Column("lift_id", "INTEGER"),
                Column("place", "TEXT", "where it stands", examples=("Town hall", "Annex")),
                Column("maker", "TEXT", examples=("Orlo", "Haus & Sohn")),
            ),
            ("lift_id",),
        ),
        Table(
            "visit",
            (
                Column("visit_id", "INTEGER"),
                Column("lift_id", "INTEGER"),
                Column("fault", "TEXT", "", "D: door, M: motor", ("D", "M")),
                Column("time spent", "INTEGER", "minutes", examples=(40, 15)),
            ),
            ("visit_id",),
            (ForeignKey(("lift_id",), "lift", ("lift_id",)),),
        ),
    ),
)
CONTEXT = Context(
    Question(
        "1",
        "lifts",
        "How long did visits for door faults at the town hall take?",
        "door fault refers to fault = 'D'",
    ),
    LIFTS,
    (
        ValueMatch("lift", "place", "Town hall", "town hall", 0.9, 0.9),
        ValueMatch("visit", "fault", "D", "door faults", 0.2, 0.4),
    ),
    (DescriptionMatch("visit", "time spent", "minutes", 0.5),),
    (
        Example("How many lifts are there?", "SELECT COUNT(*) FROM lift"),
        Example("Which makers?", "SELECT DISTINCT maker\nFROM lift", "makers refers to maker"),
    ),
)
FIVE = context_data(CONTEXT)
MAC = context_data(CONTEXT, mac_sql_text)
BARE = context_data(CONTEXT, bare_create_table_text)
ERROR = {
    "query": "SELECT time FROM visit",
    "result": result_text(Execution("error", error="no such column: time")),
}
EMPTY = {
    "query": "SELECT `time spent` FROM visit\nWHERE fault = 'door'",
    "result": result_text(Execution("empty", ("time spent",))),
}
RIGHT = {
    "query": "SELECT `time spent` FROM visit WHERE fault = 'D'",
    "result": result_text(Execution("ok", ("time spent",), ((40,), (None,)), 2)),
}
TESTS = ["The query should restrict fault to 'D'.", "The query should return minutes alone."]
CLUSTERS = [{"queries": [one["query"]], "result": one["result"]} for one in (RIGHT, EMPTY)]

ASKED = {key: FIVE[key] for key in ("question", "hint")}

# Every prompt, and a second time where a variable changes what is asked.
CASES = {
    "retrieve/keywords": ASKED,
    "prune/filter_column": ASKED | {"column": column_text("lift", LIFTS.tables[0].columns[1])},
    "prune/filter_column_group": ASKED
    | {
        "columns": "\n\n".join(column_text("lift", column) for column in LIFTS.tables[0].columns),
        "count": 3,
    },
    "prune/select_tables": FIVE,
    "prune/select_columns": FIVE,
    "prune/mac_selector": MAC,
    "generate/direct": FIVE | {"think": False},
    "generate/direct think": FIVE | {"think": True},
    "generate/zero_shot": BARE | {"think": False},
    "generate/divide_and_conquer": FIVE | {"shots": 4},
    "generate/divide_and_conquer 0 shots": FIVE | {"shots": 0},
    "generate/query_plan": FIVE | {"shots": 4},
    "generate/synthetic_examples": FIVE | {"examples": examples_text(CONTEXT.examples)},
    "generate/chess_candidate": context_data(
        replace(CONTEXT, schema=with_values(LIFTS, CONTEXT.values))
    ),
    "generate/decomposer": MAC | {"shots": 2, "decompose": True},
    "generate/decomposer at once": MAC | {"shots": 0, "decompose": False},
    "generate/decomposer_spider": MAC | {"shots": 1, "decompose": True},
    "generate/examples_by_feature": {"schema": FIVE["schema"], "count": 10},
    "generate/examples_by_column": {"schema": FIVE["schema"], "count": 10, "shots": 10},
    "fix/fixer": FIVE | EMPTY,
    "fix/reviser": FIVE | EMPTY | {"missing": "lift.place: 'Town hall'"},
    "fix/refiner": MAC
    | ERROR
    | {"error": "no such column: time", "exception": "sqlite3.OperationalError"},
    "select/pairwise": FIVE
    | {f"{key}_a": text for key, text in RIGHT.items()}
    | {f"{key}_b": text for key, text in EMPTY.items()},
    "select/ranker": FIVE | {"candidates": [RIGHT, EMPTY, ERROR]},
    "select/unit_tests": FIVE | {"clusters": CLUSTERS, "count": 5},
    "select/evaluate_one_test": FIVE | {"candidates": [RIGHT, EMPTY], "test": TESTS[0]},
    "select/evaluate_one_candidate": FIVE | RIGHT | {"tests": TESTS},
}
