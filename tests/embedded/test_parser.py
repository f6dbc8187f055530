"""The parser answers every prompt in the form it asks for, from what the prompt shows and from nothing else."""

import json
from functools import partial
from pathlib import Path

import pytest

import workbench as wb
from workbench import replies
from workbench.embedded.build_queries import WEIGHTS, hypotheses
from workbench.embedded.find_words import index
from workbench.embedded.read_hint import definitions
from workbench.embedded.read_prompt import Prompt, read_schema
from workbench.embedded.write_reply import answer
from workbench.prompts import load
from workbench.sql.schema import read_schema as schema_of
from workbench.sql.schema import with_examples
from workbench.sql.texts import create_table_text, mac_sql_text

HARBOUR = """CREATE TABLE ship (
    ship_id INTEGER PRIMARY KEY, -- ship id; unique id of the ship
    sname TEXT, -- ship name; examples: 'Alma', 'Berta'
    flag TEXT, -- country of registration; examples: 'Norway', 'Malta'
    built INTEGER, -- year in which the ship was built; examples: 1998, 2007
    len_m REAL -- length in metres; examples: 80.5, 120.0
);

CREATE TABLE pilot (
    pilot_id INTEGER PRIMARY KEY,
    fname TEXT, -- first name
    surname TEXT -- examples: 'Holm', 'Reid'
);

CREATE TABLE visit (
    visit_id INTEGER PRIMARY KEY,
    ship_id INTEGER,
    pilot_id INTEGER,
    arrived TEXT, -- day of arrival; examples: '2021-03-04', '2022-11-30'
    st TEXT, -- status; K: cancelled, A: arrived; examples: 'K', 'A'
    dues REAL, -- harbour dues in euros; examples: 120.0, 99.5
    FOREIGN KEY (ship_id) REFERENCES ship (ship_id),
    FOREIGN KEY (pilot_id) REFERENCES pilot (pilot_id)
);"""
MADE = read_schema(HARBOUR)
MAC = mac_sql_text(MADE)
TABLES = {
    table.name: [column.name for column in table.columns] for table in MADE.tables
}


def ask(question, prompt="generate/direct", *, temperature=0.0, seed="", **data):
    """The reply to a packaged prompt about the harbour."""
    ones = dict.fromkeys(("values", "descriptions", "examples", "missing"), "")
    ones |= {"think": False, "shots": 1}
    known = {
        "question": question,
        "hint": "",
        "schema": HARBOUR,
        "count": 5,
        "decompose": True,
    }
    messages = load(prompt, None).messages(**{**ones, **known, **data})
    return answer(messages, temperature=temperature, seed=seed)


def query_of(question, **data):
    return replies.sql(ask(question, **data))


@pytest.mark.parametrize(
    ("question", "hint", "sql"),
    [
        ("List the surnames of all pilots.", "", "SELECT surname FROM pilot"),
        ("What is the average length of ships?", "", "SELECT AVG(len_m) FROM ship"),
        (
            "How many ships built after 2000?",
            "",
            "SELECT COUNT(*) FROM ship WHERE built > 2000",
        ),
        (
            "Which ship is longest?",
            "longest refers to MAX(len_m)",
            "SELECT sname FROM ship ORDER BY len_m DESC LIMIT 1",
        ),
        (
            "How many visits of the ship Alma were called off?",
            "called off refers to st = 'K'",
            "SELECT COUNT(*) FROM ship INNER JOIN visit ON visit.ship_id = ship.ship_id WHERE visit.st = 'K' AND ship.sname = 'Alma'",
        ),
        (
            "What percentage of visits was cancelled?",
            "percentage = DIVIDE(SUM(st = 'K'), COUNT(visit_id)) * 100",
            "SELECT CAST(SUM(st = 'K') AS REAL) / COUNT(visit_id) * 100 FROM visit",
        ),
    ],
)
def test_questions_that_the_grammar_covers_are_answered(question, hint, sql):
    parts = [
        found.partition(" WHERE ") for found in (query_of(question, hint=hint), sql)
    ]
    one, other = ((head, sorted(where.split(" AND "))) for head, _, where in parts)
    assert one == other


def test_words_that_reached_nothing_are_named_and_a_change_of_data_is_refused():
    reply = ask("How many ships has captain Mueller?")
    assert "not understood: captain, Mueller" in reply
    assert replies.sql(reply)
    json_reply = ask("How many ships has captain Mueller?", "generate/chess_candidate")
    assert "captain, Mueller" in json.loads(json_reply)["chain_of_thought_reasoning"]
    assert "not understood" not in ask("How many ships are there?")
    for change in (
        "Delete all ships.",
        "Please rename the ship Alma.",
        "Add a new pilot Berg.",
    ):
        assert "change of data" in ask(change)
        with pytest.raises(replies.Unread):
            query_of(change)


FAILED = {"query": "SELECT nme FROM ship", "result": "Error: no such column: nme"}
RUNS = [
    {"query": "SELECT sname FROM ship", "result": "1 row:\nsname\n'Alma'"},
    {"query": "SELECT COUNT(*) FROM pilot", "result": "No rows:\nCOUNT(*)"},
]
COLUMN = "Column: ship.sname\nType: TEXT\nExamples: 'Alma'"
READERS = {
    replies.sql: (
        "direct",
        "zero_shot",
        "divide_and_conquer",
        "query_plan",
        "synthetic_examples",
    ),
    replies.examples: ("examples_by_feature", "examples_by_column"),
    replies.sql_object: ("chess_candidate",),
    replies.last_sql: ("decomposer", "decomposer_spider"),
}
FORMS = {
    f"generate/{name}": (read, {}) for read, names in READERS.items() for name in names
} | {
    "generate/agent": (replies.sql, {"last": False}),
    "retrieve/keywords": (replies.strings, {}),
    "prune/filter_column": (replies.relevant, {"column": COLUMN}),
    "prune/filter_column_group": (
        partial(replies.relevant_columns, names=["ship.sname", "pilot.fname"]),
        {"columns": f"{COLUMN}\n\nColumn: pilot.fname"},
    ),
    "prune/select_tables": (partial(replies.tables, schema=TABLES), {}),
    "prune/select_columns": (partial(replies.columns, schema=TABLES), {}),
    "prune/mac_selector": (partial(replies.decisions, schema=TABLES), {"schema": MAC}),
    "fix/fixer": (replies.final_sql, FAILED),
    "fix/reviser": (replies.sql_object, FAILED),
    "fix/refiner": (
        replies.last_sql,
        {**FAILED, "error": "no such column", "exception": ""},
    ),
    "select/pairwise": (
        replies.letter,
        {
            f"{name}_{x}": run[name]
            for x, run in zip("ab", RUNS, strict=True)
            for name in run
        },
    ),
    "select/ranker": (partial(replies.ranking, count=2), {"candidates": RUNS}),
    "select/unit_tests": (
        replies.strings,
        {
            "clusters": [
                {"queries": [run["query"]], "result": run["result"]} for run in RUNS
            ]
        },
    ),
    "select/evaluate_one_test": (
        partial(replies.verdicts, count=2),
        {"candidates": RUNS, "test": "The query should have `select sname`."},
    ),
    "select/evaluate_one_candidate": (
        partial(replies.verdicts, count=2, label="test"),
        {
            **RUNS[0],
            "tests": ["The query should use `sname`.", "It should not use `sname`."],
        },
    ),
}


def test_every_prompt_of_the_package_is_answered_in_its_form():
    folder = Path(replies.__file__).with_name("prompts")
    packaged = {f"{p.parent.name}/{p.stem}" for p in folder.glob("*/*.md")}
    # The parser answers in the first turn.
    assert packaged - {"generate/agent_turn"} == FORMS.keys()
    read = {
        name: reader(ask("When was the ship Alma built?", name, **d))
        for name, (reader, d) in FORMS.items()
    }
    for name in ("direct", "divide_and_conquer", "chess_candidate", "decomposer"):
        assert read[f"generate/{name}"].startswith(
            "SELECT built FROM ship WHERE sname = "
        )
    assert read["prune/select_tables"] == ["ship"]
    assert read["prune/filter_column_group"] == {
        "ship.sname": True,
        "pilot.fname": False,
    }
    assert read["select/pairwise"] == "A"
    assert read["select/ranker"] == [1, 2]
    assert (
        read["select/evaluate_one_test"]
        == read["select/evaluate_one_candidate"]
        == [True, False]
    )
    assert read["fix/fixer"] != FAILED["query"]
    assert len({example.sql for example in read["generate/examples_by_feature"]}) == 5


def test_samples_differ_at_a_temperature_and_a_seed_repeats_them():
    drawn = [
        ask("Which ships visited?", temperature=0.8, seed=str(n)) for n in range(20)
    ]
    assert len(set(drawn)) > 1
    assert drawn == [
        ask("Which ships visited?", temperature=0.8, seed=str(n)) for n in range(20)
    ]


def test_a_score_is_the_sum_of_its_features_times_the_weights():
    question = "How many visits of each ship in 2021?"
    text = f"## Question\n{question}\n## Database schema\n{HARBOUR}"
    prompt = Prompt([{"role": "user", "content": text}])
    queries = hypotheses(prompt.context)
    assert len(queries) > 5
    for query in queries:
        terms = [WEIGHTS[name] * value for name, value in query.features.items()]
        assert query.score == pytest.approx(sum(terms), abs=1e-5)


def test_what_the_prompt_does_not_show_is_not_known():
    late = "How many visits came late?"
    assert "dues" in query_of(late, hint="came late refers to dues > 100")
    assert "dues" not in query_of(late)
    found = {"values": "ship.sname: 'Stella Maris'"}
    assert "'Stella Maris'" in query_of("When was the Stella Maris built?", **found)
    assert "Stella" not in query_of("When was the Stella Maris built?")
    country = "List the country of registration of all ships."
    assert query_of(country) == "SELECT flag FROM ship"
    assert "flag" not in query_of(
        country, schema=HARBOUR.replace("country of registration; ", "")
    )
    pruned = HARBOUR.partition("\n\n")[0]
    assert "pilot" not in ask("How many pilots are there?", schema=pruned)


def test_a_prompt_without_sections_is_answered_and_a_second_question_is_the_first():
    text = f"Write a query.\n```sql\n{HARBOUR}\n```\nHow many pilots are there?"
    again = {
        "role": "user",
        "content": "That could not be read. Answer only with the query.",
    }
    turns = [
        {"role": "user", "content": text},
        {"role": "assistant", "content": "I would."},
        again,
    ]
    assert replies.sql(answer(turns, temperature=0.0)) == "SELECT COUNT(*) FROM pilot"
    assert "no schema" in answer([{"role": "user", "content": "hello"}])


@pytest.mark.parametrize(
    ("hint", "formulas"),
    [
        ("called off refers to st = 'K'", ["{st} = 'K'"]),
        (
            "`called off` means st is 'K' or dues is null",
            ["({st} IS 'K' OR {dues} IS NULL)"],
        ),
        ("longest refers to MAX(len_m)", ["{len_m}"]),
        ("mean = AVG(dues)", ["AVG({dues})"]),
        ("rest = SUBTRACT(ship.len_m, 1200)", ["{len_m} - 1200"]),
        ("ids refers to ship_id", ["{ship_id}", "{ship_id}"]),  # of ship, and of visit
        ("country; nothing = of note", []),
    ],
)
def test_formulas_of_hints_become_sql(hint, formulas):
    read = [d.formula.pieces for d in definitions(hint, "ships", index(MADE))]
    assert len(read) == len(formulas)
    for pieces, sql in zip(read, formulas, strict=True):
        names = (p if isinstance(p, str) else f"{{{p.name}}}" for p in pieces)
        assert "".join(names) == sql


def test_schemas_read_back_as_they_were_written():
    benchmark = wb.open_benchmark("bundled-dev")
    for path in {
        benchmark.database(question.db_id) for question in benchmark.questions
    }:
        schema = with_examples(schema_of(path), path)
        made = read_schema(create_table_text(schema))
        one, other = (
            create_table_text(s).replace(",", "").split("\n") for s in (made, schema)
        )
        assert sorted(one) == sorted(other)
        assert mac_sql_text(read_schema(mac_sql_text(made))) == mac_sql_text(made)
