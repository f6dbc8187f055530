"""CHESS's select_tables, and the replies that models give to it."""

import pytest

from workbench.prune.select_tables import SelectTables

STEP = SelectTables("test/model")

# What a reply leaves of client, district, Account Book and note.
REPLIES = {
    '{"reasoning": "sex, salary", "tables": ["client", "district"]}': {"client", "district"},
    'Here you are:\n```json\n{"tables": ["client", "district"]}\n```': {"client", "district"},
    '{"tables": ["CLIENT", "District"]}': {"client", "district"},
    '{"tables": ["`client`", "\\"district\\"", "[note]"]}': {"client", "district", "note"},
    '{"tables": ["account_book"]}': {"Account Book"},
    '{"tables": ["main.client"]}': {"client"},
    "{'tables': ['client', 'district'],}": {"client", "district"},
    '{"reasoning": "the "sex" column", "tables": ["client"]}': {"client"},
    '{"reasoning": "long", "tables": ["client", "district"], "con': {"client", "district"},
    '{"tables": ["client", "branch"]}': {"client"},
    '{"tables": "client, district"}': {"client", "district"},
    '{"tables": "client and district"}': {"client", "district"},
    '{"tables": {"client": "has sex", "district": "has salary"}}': {"client", "district"},
    '{"tables": [{"name": "client"}, {"name": "district"}]}': {"client", "district"},
    '["client", "district"]': {"client", "district"},
    '{"tables": ["Client;", "DISTRICT,"]}': {"client", "district"},
    '{"tables": ["client.sex", "main.district.salary"]}': {"client", "district"},
    '["client.*"]': {"client"},
    '{"client": true, "note": false}': {"client"},
    '{"tables": {"client": true, "district": true, "note": false}}': {"client", "district"},
    '{"table": "client", "why": "sex"}\n{"table": "district"}': {"client", "district"},
    "client, district": {"client", "district"},
    "You need the client table and district, not note.": {"client", "district"},
    "1. client: who it is\n2. **district** - where": {"client", "district"},
}


@pytest.mark.parametrize("reply", REPLIES)
def test_what_a_reply_means(bank, reply):
    assert set(bank.cut(STEP, reply)) == REPLIES[reply]


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "I cannot answer that.",
        "[]",
        "{}",
        '{"tables": []}',
        '{"tables": null}',
        '{"tables": ["branch", "city"]}',
        '{"tables": ["client", ',
        '["client", "dis',
        '{"table": "client"}\n{"table": "dis',
        'I need the tables: client. It has {"sex": 1}',
    ],
)
def test_a_reply_without_tables_leaves_the_schema_unchanged(bank, reply):
    assert bank.cut(STEP, reply) == bank.whole


def test_a_failed_call_leaves_the_schema_unchanged(bank):
    from workbench.llm.faults import Refusal

    assert bank.cut(STEP, Refusal("rejected", "too long")) == bank.whole


def test_a_table_that_stays_keeps_all_its_columns(bank):
    assert bank.cut(STEP, '{"tables": ["client"]}') == {"client": bank.whole["client"]}


def test_the_temperature_asked_for_is_the_one_sent(bank):
    for temperature in (0.0, 0.7):
        bank.cut(SelectTables("test/model", temperature), otherwise="[]")
        assert bank.asked[0].parameters["temperature"] == temperature
