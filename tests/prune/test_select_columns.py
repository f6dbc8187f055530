"""CHESS's select_columns, and the replies that models give to it."""

import pytest

from workbench.prune.select_columns import SelectColumns

STEP = SelectColumns("test/model")
TWO = {"client": ["client_id", "sex", "district_id"], "district": ["district_id", "salary"]}

REPLIES = {
    '{"reasoning": "...", "columns": {"client": ["sex"], "district": ["salary"]}}': TWO,
    'Well: ```json\n{"columns": {"client": ["sex"], "district": ["salary"]}}\n```': TWO,
    '{"reasoning": "...", "client": ["sex"], "district": ["salary"]}': TWO,
    '{"columns": {"Client": ["SEX"], "`district`": ["`Salary`"]}}': TWO,
    '{"columns": {"client": ["client.sex"], "district": ["district.salary"]}}': TWO,
    '{"columns": {"client": "sex", "district": "salary"}}': TWO,
    '{"columns": ["client.sex", "district.salary"]}': TWO,
    '["client.sex", "`district`.`salary`"]': TWO,
    '{"columns": [{"table": "client", "columns": ["sex"]}, {"table": "district", "columns": ["salary"]}]}': TWO,
    '{"columns": {"client": ["sex"], "district": ["salary"], "branch": ["city"]}}': TWO,
    '{"columns": {"client": ["sex", "gender"], "district": ["salary"]}}': TWO,
    "{'columns': {'client': ['sex'], 'district': ['salary'],},}": TWO,
    '{"reasoning": "the "sex"", "columns": {"client": ["sex"], "district": ["salary"]}}': TWO,
    "client.sex, district.salary": TWO,
    "- client.sex\n- district.salary": TWO,
    '{"columns": ["sex", "salary"]}': TWO,
    '{"columns": {"account_book": ["opened_on"]}}': {
        "Account Book": ["account_id", "opened on"]
    },
}  # fmt: skip


@pytest.mark.parametrize("reply", REPLIES)
def test_what_a_reply_means(bank, reply):
    assert bank.cut(STEP, reply) == REPLIES[reply]


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "No columns come to mind.",
        "{}",
        "[]",
        '{"columns": {}}',
        '{"columns": []}',
        '{"columns": {"branch": ["city"]}}',
        '{"columns": ["city", "street"]}',
        "You need client.sex and maybe the salary.",
    ],
)
def test_a_reply_that_names_no_column_cuts_nothing(bank, reply):
    assert bank.cut(STEP, reply) == bank.whole


def test_a_table_named_without_a_column_stays_with_its_key(bank):
    assert bank.cut(STEP, '{"columns": {"client": [], "note": []}}') == {
        "client": ["client_id"],
        "note": ["text"],
    }


@pytest.mark.parametrize("said", ['["gender"]', '["*"]', '"all"'])
def test_a_table_whose_columns_are_unknown_or_all_meant_stays_whole(bank, said):
    assert bank.cut(STEP, f'{{"columns": {{"client": {said}}}}}') == {
        "client": bank.whole["client"]
    }


def test_keys_stay_whatever_is_said(bank):
    left = bank.cut(
        STEP,
        '{"columns": {"client": ["sex"], "Account Book": ["opened on"], "district": ["name"]}}',
    )
    assert left == {
        "client": ["client_id", "sex", "district_id"],
        "district": ["district_id", "name"],
        "Account Book": ["account_id", "opened on", "district_id"],
    }  # fmt: skip
