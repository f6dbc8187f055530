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
    '{"reasoning": "the "sex"", "client": ["sex"], "district": ["salary"]}': TWO,
    "client.sex, district.salary": TWO,
    "- client.sex\n- district.salary": TWO,
    '{"columns": ["sex", "salary"]}': TWO,
    '{"columns": [{"table": "client", "column": "sex"}, {"table": "district", "column": "salary"}]}': TWO,
    '[{"table_name": "client", "column_name": "sex"}, {"table_name": "district", "column_name": "salary"}]': TWO,
    '[{"column": "sex", "table": "client", "why": "born"}, {"name": "salary", "why": "client", "table": "district"}]': TWO,
    '{"answer": {"rows": [{"table": "client", "column": "sex"}, {"table": "district", "column": "salary"}]}}': TWO,
    '{"columns": {"client": {"sex": true, "born": false}, "district": ["salary"], "note": false}}': TWO,
    '{"columns": {"client": ["sex"]}}\nand {"columns": {"district": ["salary"]}}': TWO,
    '{"columns": {"client": ["sex"]}}\nand {"Columns": {"district": ["salary"]}}': TWO,
    '```json\n{"client": ["sex"]}\n```\n```json\n{"district": ["salary"]}\n```': TWO,
    '{"table": "client", "columns": ["sex"]}\n{"table": "district", "columns": ["salary"]}': TWO,
    '{"columns": {"client": ["sex"], "district": ["salary"]}, "reasoning": "cut o': TWO,
    '{"columns": {"client": ["sex"]}}\n{"columns": {"district": ["salary"]}, "reaso': TWO,
    'For the years in [1, 2): {"columns": {"client": ["sex"], "district": ["salary"]}}': TWO,
    "Columns: client.sex, district.salary": TWO,
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
        '{"columns": {"client": ["sex"], "district": ["sal',
        '{"columns": {"client": ["sex"]}}\n{"columns": {"district": ["sal',
        '{"columns": [{"table": "client", "column": "sex"}, {"table": "district", "column": "sal',
        '[{"table": "client", "column": "sex"}, {"table": "district", "column": "sal',
        '{"table": "client", "columns": ["sex"]}\n{"table": "district", "columns": ["sal',
        '["client.sex", "district.sal',
        '["client.sex", "district.salary",',
    ],
)
def test_a_reply_without_columns_or_readable_in_part_leaves_the_schema_unchanged(bank, reply):
    assert bank.cut(STEP, reply) == bank.whole


def test_a_table_named_without_a_column_stays_with_its_key(bank):
    assert bank.cut(STEP, '{"columns": {"client": [], "note": []}}') == {
        "client": ["client_id"],
        "note": ["text"],
    }


@pytest.mark.parametrize("listed", ['["gender"]', '["*"]', '"all"'])
def test_a_table_with_only_unknown_columns_or_with_all_columns_stays_whole(bank, listed):
    assert bank.cut(STEP, f'{{"columns": {{"client": {listed}}}}}') == {
        "client": bank.whole["client"]
    }


@pytest.mark.parametrize(("named", "key"), [("", []), (', "district_id"', ["district_id"])])
def test_a_foreign_key_to_a_removed_table_stays_only_if_it_is_named(bank, named, key):
    left = bank.cut(STEP, f'{{"columns": {{"client": ["sex"{named}]}}}}')
    assert left == {"client": ["client_id", "sex", *key]}


def test_keys_stay_for_any_reply(bank):
    left = bank.cut(
        STEP,
        '{"columns": {"client": ["sex"], "Account Book": ["opened on"], "district": ["name"]}}',
    )
    assert left == {
        "client": ["client_id", "sex", "district_id"],
        "district": ["district_id", "name"],
        "Account Book": ["account_id", "opened on", "district_id"],
    }  # fmt: skip
