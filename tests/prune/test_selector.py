"""MAC-SQL's Selector: when it is needed, what its three decisions do, and the replies that models give."""

import json
from dataclasses import replace

import pytest

from workbench.prune.selector import Selector
from workbench.types import Column, Context, Question, Schema, Table

STEP = Selector("test/model", mean_columns=4)
TOP = ["salary", "name", "people", "towns", "area", "firms"]
SIX = ["district_id", "name", "area", "people", "towns", "salary", "firms"]  # and the key

RIGHT = {"client": ["client_id", "sex", "born", "district_id"], "district": SIX, "note": ["text", "day"]}  # fmt: skip
SAID = (
    '"client": "keep_all", "district": ["salary", "name", "people", "towns", "area", "firms"], '
    '"Account Book": "drop_all", "note": "keep_all"'
)
WHOLE = f"{{{SAID}}}"
ROWS = [
    {"table": "client", "decision": "keep_all"},
    {"name": "district", "action": "keep", "columns": TOP},
    {"table": "account_book", "columns": [], "decision": "drop_all", "reason": "no account"},
]
REPLIES = [
    WHOLE,
    f"The decisions:\n```json\n{WHOLE}\n```\nQuestion solved.",
    f"{{{SAID},}}",
    f'{{"answer": {WHOLE}}}',
    f"{WHOLE[:-1]}, unfinished",
    WHOLE.upper(),
    WHOLE.replace('"', "'"),
    WHOLE.replace("drop_all", "Drop all"),
    WHOLE.replace("Account Book", "`account_book`"),
    WHOLE.replace('"drop_all"', '["drop_all"]'),
    WHOLE.replace('"drop_all"', "null"),
    WHOLE.replace('"drop_all"', "[]"),
    WHOLE.replace('"note": "keep_all"', '"branch": "keep_all"'),
    WHOLE.replace('"salary", ', '"pay", "salary", '),
    WHOLE.replace('"firms"]', '"firms", "crimes", "ratio"]'),
    WHOLE.replace(', "', '\n- "').replace('\n- "name', ', "name').replace("{", "").replace("}", ""),
    WHOLE.replace("drop_all", "drop-all"),
    WHOLE.replace("drop_all", "drop_all."),
    WHOLE.replace('"drop_all"', '{"decision": "dropAll", "reason": "it has nothing"}'),
    json.dumps(ROWS),
    json.dumps({"decisions": ROWS}),
    "client: keep_all\ndistrict: [salary, name, people, towns, area, firms]\nAccount Book: drop_all",
]  # fmt: skip


@pytest.mark.parametrize("reply", REPLIES)
def test_what_a_reply_means(bank, reply):
    assert bank.cut(STEP, reply) == RIGHT


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "I would keep most of it.",
        "{}",
        "[]",
        '{"branch": "drop_all"}',
        '{"client": "drop_all", "district": "drop_all", "Account Book": [], "note": "drop_all"}',
        '{"client": "perhaps"}',
    ],
)
def test_a_reply_that_decides_nothing_or_drops_all_leaves_the_schema_unchanged(bank, reply):
    assert bank.cut(STEP, reply) == bank.whole


def test_a_large_table_with_only_unknown_columns_stays_whole(bank):
    assert bank.cut(STEP, '{"district": ["pay", "wage"]}') == bank.whole


@pytest.mark.parametrize(
    "decision",
    [
        {"keep": ["salary"], "drop": ["name"]},
        {"action": "keep", "drop": "nothing"},
        {"keep_all": True, "drop_all": "no"},
    ],
)
def test_a_table_that_a_decision_keeps_is_not_dropped(bank, decision):
    reply = json.dumps({"client": "keep_all", "district": decision, "Account Book": "drop_all"})
    assert "district" in bank.cut(STEP, reply)


def test_a_column_called_drop_drops_no_table(bank):
    (client, *others) = bank.schema.tables
    small = replace(client, columns=(*client.columns, Column("drop")))
    context = replace(bank.context, schema=replace(bank.schema, tables=(small, *others)))
    assert "client" in bank.cut(STEP, '{"client": ["sex", "drop"]}', context=context)


def test_a_small_table_is_never_cut(bank):
    assert bank.cut(STEP, '{"client": ["sex"]}')["client"] == bank.whole["client"]


def test_at_least_three_tables_stay_joined_ones_first(bank):
    reply = '{"client": "drop_all", "district": "keep_all", "Account Book": "drop_all", "note": "drop_all"}'  # fmt: skip
    assert list(bank.cut(STEP, reply)) == ["client", "district", "Account Book"]
    assert list(bank.cut(Selector("test/model", mean_columns=4, least_tables=1), reply)) == [
        "district"
    ]


def sized(*counts):
    tables = (Table(f"t{n}", (Column("c"),) * count) for n, count in enumerate(counts))
    return Schema("d", tuple(tables))


@pytest.mark.parametrize(
    ("counts", "needed"),
    [
        ((6,) * 5, False),  # 30 columns, 6 a table: the limits
        ((7, 6), True),
        ((6,) * 5 + (1,), True),  # 31 columns
        ((1, 2, 3), False),
    ],
)
def test_only_a_large_database_is_simplified(counts, needed):
    assert Selector("test/model").needed(sized(*counts)) == needed


def test_a_small_database_costs_no_call(bank):
    small = Context(Question("q", "d", "?"), sized(2, 2))
    bank.cut(Selector("test/model"), context=small)
    assert bank.asked == []


def test_the_temperature_asked_for_is_the_one_sent(bank):
    bank.cut(Selector("test/model", 0.0, mean_columns=4), "{}")
    assert bank.asked[0].parameters["temperature"] == 0.0
