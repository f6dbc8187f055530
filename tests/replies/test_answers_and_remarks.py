"""Replies whose answer stands among what looks like one: drafts, remarks, quoted queries, and marks of many tools."""

import json

import pytest

from tests.exam.replies_adapter import read
from workbench.replies.names import read_column_verdicts
from workbench.replies.unit_tests import read_tests

SQL = "SELECT name FROM ferry WHERE built < 1990"
FENCE = f"```sql\n{SQL}\n```"
OTHER = "```sql\nSELECT name FROM ferry\n```"
LINES = "SELECT name\nFROM ferry\nWHERE built < 1990"
CALL = {"name": "run_sql", "arguments": json.dumps({"sql": SQL})}

QUERIES = {
    # Thoughts
    "a folded thought": f'<details type="reasoning">\n> {OTHER}\n</details>\n{SQL}',
    "a thought with an attribute": f'{FENCE}\n<think time="3s">\n{OTHER}',
    "reasoning after the answer": f"<answer>{SQL}</answer>\n<reasoning>{OTHER}</reasoning>\nDone.",
    # Remarks around the answer
    "an explanation that quotes another query": f"**Final answer:**\n{FENCE}\n**Explanation:** unlike\n{OTHER}",
    "a quick test": f"{FENCE}\nYes, this is correct. A quick test:\n```sql\nSELECT built FROM ferry\n```",
    "a check that confirms": f"Was: `SELECT nam FROM ferry`\nNow: `{SQL}`\n\nWait, let me check. Yes, it is right.",
    "the old query below": f"#### After\n{FENCE}\n#### Before\n{OTHER}",
    "the old query in Japanese": f"\u6700\u7d42\u7684\u306aSQL\n{FENCE}\n\u5143\u306e\u30af\u30a8\u30ea\uff1a\n{OTHER}",
    "the old query is kept": f"The original query is correct, so I keep it:\n{FENCE}",
    "an arrow": f"`SELECT nam FROM ferry` -> `{SQL}`",
    "a full stop after a number": f"The SQL is {SQL}.\n\nI hope this helps!",
    "prose in a fence that is not closed": f"```sql\n{SQL}\n\nI hope this helps!",
    # JSON
    "comments": f'{{\n  // the plan\n  "reasoning": "x", /* why */\n  "sql": "{SQL}" # done\n}}',
    "texts that Python joins": "{'sql': 'SELECT name '\n    'FROM ferry '\n    'WHERE built < 1990'}",
    "a list of lines": json.dumps({"sql": LINES.splitlines()}),
    "a list of one query": json.dumps([SQL]),
    "a corrected query": json.dumps({"sql": "SELECT nam FROM ferry", "corrected_sql": SQL}),
    "encoded twice, with a remark": json.dumps(json.dumps({"sql": SQL})) + "\n\nDone.",
    # Calls of tools, and messages
    "the call of a tool": json.dumps(CALL),
    "calls of tools": json.dumps([{"type": "function", "function": CALL}]),
    "a message with calls": json.dumps({"tool_calls": [{"function": CALL}]}),
    "a list of parts": json.dumps([{"type": "text", "text": SQL}]),
    "a message": json.dumps({"role": "assistant", "content": SQL}),
    "the steps of an agent": f'Thought: names.\nAction: sql\nAction Input: "{SQL}"\nObservation: 3 rows',
    # Marks
    "invisible signs": SQL.replace(" ", "\u200b "),
    "numeric entities": SQL.replace("<", "&#60;"),
    "backslashes at the ends of lines": LINES.replace("\n", " \\\n"),
    "the prompts of a shell": "```\nsqlite> SELECT name\n   ...> FROM ferry\n   ...> WHERE built < 1990;\nNora\n```",
    "numbered lines": "```sql\n1 | SELECT name\n2 | FROM ferry\n3 | WHERE built < 1990\n```",
    "Windows' line ends": f"{FENCE}\n\n## Question\nWho?\n\n## Answer\n{OTHER}".replace(
        "\n", "\r\n"
    ),
}
NO_QUERIES = {
    "a query quoted in reasoning that is cut off": '{"reasoning": "One might write SELECT name FROM ferry, but ',
    "the first word alone": "```sql\nSELECT\n```",
}
VERDICTS = [
    ("B loses", "A"),
    ('{"A": "wrong year", "B": "right year"}', "B"),
    ('{"A": "no error", "B": "yes, an error"}', ""),
    ("It is not A", "B"),
    ("The answer isn't A.", "B"),
    ("The answer cannot be A.", "B"),
    ("Answer: not A", "B"),
    ("I don't think A is correct.", "B"),
    ("I don't think it's A.", "B"),
    ("Incorrect: A", "B"),
    ("Wrong answer: A", "B"),
    ("The wrong one is B.", "A"),
    ("B is the only wrong one.", "A"),
    ("A is less accurate than B.", "B"),
    ("A is correct?\nNo. B.", "B"),
    ("Answer: A. Hmm, wait: B.", "B"),
    ("I think the answer is A... Actually, it is B.", "B"),
    ("Final answer:\nB is wrong, so A", "A"),
    ("Final answer:\nA is correct. However, B is also correct.", ""),
    ("Answer: A & B", ""),
    ('{"A": "incorrect", "B": "correct"}', "B"),
    ('{"A_is_correct": true, "B_is_correct": false}', "A"),
    ('{"score_A": 3, "score_B": 8}', "B"),
    ("score(A)=3, score(B)=8", "B"),
    ("A: 30%, B: 70%", "B"),
    ("B >> A", "B"),
    ("A < B", "B"),
    ("A \u2705\nB \u274c", "A"),
    ("Answer: \uff22", "B"),
]
RELEVANCE = [
    ('{"name": "judge", "arguments": "{\\"relevant\\": \\"no\\"}"}', False),
    ("<relevant>no</relevant>", False),
    ("Final answer:\nRelevant: No", False),
    ("Is it relevant to the question? No.\n\nI hope this helps!", False),
    ("It could be relevant, but it is not.", False),
    ("It may be relevant or not relevant.", None),
    ('{"answer": {"relevant": "no"}}', False),
    ("Answer: No other column holds the date, so it is relevant.", True),
    ("unrelated", False),
    ("\u4e0d\u76f8\u5173", False),
    ("\u662f\u7684\uff0c\u76f8\u5173\u3002", True),
    ("S\u00ed, es relevante.", True),
    ('{"relevante": "s\u00ed"}', True),
]
RANKINGS = [
    ("| Candidate | Rank |\n|---|---|\n| 1 | 2 |\n| 2 | 3 |\n| 3 | 1 |", [3, 1, 2]),
    ("Candidate 1: rank 2\nCandidate 2: rank 3\nCandidate 3: rank 1", [3, 1, 2]),
    ("[3, 1, 2]\n\n(First I had [1, 2, 3].)", [3, 1, 2]),
    ("3 is best, then 1, then 2.", [3, 1, 2]),
]
CHOICES = [
    ("Passed:\n- Candidate 1\nFailed:\n- Candidate 2", [1, 0]),
    ("Candidate 1 does not pass; candidate 2 does.", [0, 1]),
    ("Candidate 1: passed\nCandidate 2: passed or failed", [1, None]),
    ("Candidate 1: passed/failed\nCandidate 2: failed", [None, 0]),
    ("Candidate 1: partially passed\nCandidate 2: passed", [None, 1]),
    ("### Candidate 1\nIt joins well.\n**Passed**\n### Candidate 2\n**Failed**", [1, 0]),
    ("\u5019\u90091\uff1a\u901a\u8fc7\n\u5019\u90092\uff1a\u672a\u901a\u8fc7", [1, 0]),
]
SCHEMA = {"ferry": ["name", "built"], "route": ["port", "minutes"], "ticket": ["fare"]}
TABLES = [
    "ferry, route. No ticket.",
    "We don't need ticket, only ferry and route.",
    "Excluded: ticket\nIncluded: ferry, route",
    "`ferry` and `route` are needed; `ticket` is not.",
    "Tables: `ferry`, `route` (not `ticket`)",
    "- ferry: yes\n- route: yes\n- ticket: no",
    "- [x] ferry\n- [x] route\n- [ ] ticket",
    "ferry \u2705\nroute \u2705\nticket \u274c",
    "| table | needed |\n|---|---|\n| ferry | yes |\n| route | yes |\n| ticket | no |",
    '{"ferry": true, "route": 1, "ticket": "no"}',
    '{"relevant_tables": ["ferry", "route"], "irrelevant_tables": ["ticket"]}',
    '[{"table": "ferry"}, {"table": "route"}, {"table": "ticket", "relevant": false}]',
    '{"tables": ["ferry table", "table route"]}',
    '{"name": "select", "arguments": "{\\"tables\\": [\\"ferry\\", \\"route\\"]}"}',
]
COLUMNS = [
    "| Column | Table |\n|---|---|\n| name | ferry |\n| minutes | route |",
    "ferry(name)\nroute(minutes)",
    "ferry = [name]\nroute = [minutes]",
    "ferry: name (asked)\nroute: minutes (hint)",
    "- ferry.name: yes\n- ferry.built: not needed\n- route.minutes: yes",
    '["ferry(name)", "route(minutes)"]',
    '{"ferry": ["name: the ferry"], "route": ["minutes (number)"]}',
    '{"irrelevant": {"ferry": ["built"]}, "relevant": {"ferry": ["name"], "route": ["minutes"]}}',
    '[{"table": "ferry", "column": "built", "relevant": "no"}, "ferry.name", "route.minutes"]',
]
COLUMN_VERDICTS = [
    "| ferry | name | yes |\n| route | port | no |",
    "ferry.name \u2705\nroute.port \u274c",
    '{"relevant": ["ferry.name"], "irrelevant": ["route.port"]}',
    '{"name": "judge", "arguments": "{\\"ferry.name\\": \\"yes\\", \\"route.port\\": \\"no\\"}"}',
]
FIRST, SECOND = "The answer should count ferries.", "The answer should use DISTINCT."
UNIT_TESTS = [
    f"<test>{FIRST}</test>\n<test>{SECOND}</test>",
    f"1. {FIRST} 2. {SECOND}",
    f"1. {FIRST}\n2. {SECOND}\n3. The answer should",
    json.dumps({"name": "write", "arguments": json.dumps({"unit_tests": [FIRST, SECOND]})}),
]
ASKED = "How many jars did Ada Lund sell in 2020?"
KEYWORDS = [
    "| keyword |\n|---|\n| Ada Lund |\n| 2020 |",
    "\u5173\u952e\u8bcd\uff1aAda Lund\uff0c2020",
    "<keywords>Ada Lund, 2020</keywords>",
    '["Ada Lund",, "2020"]',
    '["Ada Lund", "2020"]\n\nI left out ["jars"].',
]
EXAMPLE = {"question": "How many?", "hint": "", "sql": "SELECT 1 FROM ferry"}
EXAMPLES = [
    "1. Question: How many?\n   SQL: SELECT 1 FROM ferry\n2. Question: How many?\n   SQL: SELECT 1 FROM ferry",
    "**Question:** How many?\n```sql\nSELECT 1 FROM ferry\n```\n\n" * 2,
    '"input": "How many?"\n"output": "SELECT 1 FROM ferry"\n\n' * 2,
]


@pytest.mark.parametrize("form", QUERIES)
def test_the_query_that_answers_is_read(form: str) -> None:
    assert " ".join(read("sql", QUERIES[form], None).split()) == SQL


@pytest.mark.parametrize("form", NO_QUERIES)
def test_no_query_is_made_up(form: str) -> None:
    assert not read("sql", NO_QUERIES[form], None)


def test_a_query_that_is_cut_off_after_its_label_comes_back_as_it_stands() -> None:
    reply = "It lacks a condition.\n\nFinal answer: SELECT name FROM ferry WHERE"
    assert read("fixed_sql", reply, None) == "SELECT name FROM ferry WHERE"


@pytest.mark.parametrize(("reply", "said"), VERDICTS)
def test_a_verdict(reply: str, said: str) -> None:
    assert read("verdict", reply, None) == said


@pytest.mark.parametrize(("reply", "said"), RELEVANCE)
def test_the_relevance_of_a_column(reply: str, said: bool | None) -> None:
    assert read("yes_no", reply, None) is said


@pytest.mark.parametrize(("reply", "said"), RANKINGS)
def test_a_ranking(reply: str, said: list[int]) -> None:
    assert read("ranking", reply, 3) == said


@pytest.mark.parametrize(("reply", "said"), CHOICES)
def test_choices(reply: str, said: list[int | None]) -> None:
    assert read("choice", reply, {"label": "candidate", "count": 2}) == said


@pytest.mark.parametrize("reply", TABLES)
def test_tables_that_are_called_needless_are_left_out(reply: str) -> None:
    assert read("names", reply, {"want": "tables", "schema": SCHEMA}) == ["ferry", "route"]


@pytest.mark.parametrize("reply", COLUMNS)
def test_columns_that_are_called_needless_are_left_out(reply: str) -> None:
    found = read("names", reply, {"want": "columns", "schema": SCHEMA})
    assert found == {"ferry": ["name"], "route": ["minutes"]}


def test_tables_listed_under_a_decision() -> None:
    reply = '{"keep_all": ["ferry"], "drop_all": ["ticket"]}'
    found = read("names", reply, {"want": "decisions", "schema": SCHEMA})
    assert found == {"ferry": "keep_all", "ticket": "drop_all"}


@pytest.mark.parametrize("reply", COLUMN_VERDICTS)
def test_verdicts_on_columns(reply: str) -> None:
    said = {("ferry", "name"): True, ("route", "port"): False}
    assert read_column_verdicts(reply, SCHEMA) == said


@pytest.mark.parametrize("reply", UNIT_TESTS)
def test_unit_tests(reply: str) -> None:
    assert read_tests(reply) == [FIRST, SECOND]


@pytest.mark.parametrize("reply", KEYWORDS)
def test_keywords(reply: str) -> None:
    assert read("keywords", reply, ASKED) == ["Ada Lund", "2020"]


@pytest.mark.parametrize("reply", EXAMPLES)
def test_examples(reply: str) -> None:
    assert read("examples", reply, None) == [EXAMPLE, EXAMPLE]
