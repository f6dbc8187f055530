"""Replies as models write them, and the query that each of them proposes."""

import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.replies.sql import Extracted, read_sql

SQL = """SELECT a, `b c`, 'x;''y' FROM t WHERE "n" > 1"""
AS_JSON = SQL.replace('"', '\\"')

WRAPPINGS = {
    "alone": "{}",
    "semicolon": "{};",
    "space around": "\n\n  {} ;\n ",
    "byte order mark": "\ufeff{}",
    "fence": "```sql\n{}\n```",
    "fence in upper case": "```SQL\n{};\n```",
    "fence for sqlite": "```sqlite\n{}\n```",
    "fence without a name": "```\n{}\n```",
    "fence on one line": "```sql {}```",
    "fence on one line without a name": "```{}```",
    "fence of tildes": "~~~sql\n{}\n~~~",
    "fence with prose around it": "Sure, here it is:\n```sql\n{};\n```\nIt's the singer's name; enjoy.",
    "fence cut in the middle": "Sure:\n```sql\n{}",
    "fence with Windows line ends": "```sql\r\n{}\r\n```\r\n",
    "last of two fences": "First:\n```sql\nSELECT 1 FROM z\n```\nthen\n```sql\n{}\n```",
    "query fence before a result fence": "```sql\n{}\n```\nIt returns\n```\n| a |\n| 1 |\n```",
    "last statement of a fence": "```sql\nSELECT 1 FROM z;\n{};\n```",
    "fence opened by the prompt": "{}\n```\nExplanation: it's done.",
    "backticks around the whole": "`{}`",
    "quotes around the whole": "'{}'",
    "label": "SQL: {}",
    "label in bold": "**SQL:** {}",
    "label on its own line": "SQL\n{}",
    "label of a final answer": "Final SQL: {}",
    "sqlite in front": "sqlite\n{}",
    "sqlite in front on one line": "sqlite {}",
    "prose before": "Here is the query: {}",
    "prose before, on lines": "The question asks for a.\n\nSo we write\n{}",
    "prose after, as a paragraph": "{}\n\nThis query gets the rows.",
    "prose after, as a line": "{}\nThis query gets the rows.",
    "prose after a semicolon": "{}; This query gets the singer's rows.",
    "prose on both sides": "The query is {};\nIt's short.",
    "next question, as completions have it": "{};\n\nQuestion: and b?\nSELECT b FROM u;",
    "tag": "Thinking.\n<FINAL_ANSWER>\n{}\n</FINAL_ANSWER>",
    "tag in lower case": "<final_answer>{}</final_answer> Done.",
    "sql tag": "<sql>\n{};\n</sql>",
    "tag around a fence": "<FINAL_ANSWER>\n```sql\n{}\n```\n</FINAL_ANSWER>",
    "tag that is never closed": "Well.\n<answer>{}",
    "end of a tag that the prompt opened": "{}\n</FINAL_ANSWER>",
    "token of a model's own": "{}<|im_end|>",
    "tags in square brackets": "I count them.\n[SQL]{}[/SQL]",
}


@pytest.mark.parametrize("wrapping", WRAPPINGS.values(), ids=WRAPPINGS.keys())
@pytest.mark.parametrize(
    "sql",
    [
        SQL.replace("'x;''y'", "7"),
        "SELECT count(*) FROM t",
        "select name\nfrom t\nwhere a = 1\n  and b = 2\norder by c desc\nlimit 1",
        "WITH c AS (SELECT a FROM t),\n\nd AS (SELECT b FROM c)\n\nSELECT * FROM d",
        "SELECT a FROM t -- not; the end\nWHERE b = 1",
        "SELECT a /* ; */ FROM t UNION\n\nSELECT b FROM u",
    ],
)
def test_a_query_comes_back_as_it_was_whatever_is_around_it(wrapping, sql):
    assert read_sql(wrapping.replace("{}", sql)) == Extracted(sql)


JSON = {
    "object": '{"SQL": "{}"}',
    "key in lower case": '{"sql": "{}"}',
    "other key": '{"final_sql": "{}"}',
    "key with a space": '{"SQL Query": "{}"}',
    "after the reasoning": '{"reasoning": "I SELECT; \\"x\\" FROM", "SQL": "{};"}',
    "before the reasoning": '{"SQL": "{}", "reasoning": "none"}',
    "in a fence": 'Here:\n```json\n{"query": "{}"}\n```\nDone.',
    "in prose": 'I propose {"sql": "{}"} as the answer.',
    "nested": '{"final": {"sql": "{}"}}',
    "in a list": '{"sql": ["{}"]}',
    "cut": '{"thought": "none", "SQL": "{}',
    "a fence in a string": '{"SQL": "```sql\\n{}\\n```"}',
}


@pytest.mark.parametrize("wrapping", JSON.values(), ids=JSON.keys())
def test_a_member_named_like_sql_is_the_query(wrapping):
    assert read_sql(wrapping.replace("{}", AS_JSON)) == Extracted(SQL)


@pytest.mark.parametrize(
    ("reply", "sql"),
    [
        ('{"SQL": "SELECT a\\n  FROM t"}', "SELECT a\n  FROM t"),
        ('{"SQL": "SELECT a\n  FROM t"}', "SELECT a\n  FROM t"),
        ("{'SQL': 'SELECT a FROM t WHERE b = \\'x\\''}", "SELECT a FROM t WHERE b = 'x'"),
        ('{"SQL": "SELECT "a", "b" FROM t", "n": 1}', 'SELECT "a", "b" FROM t'),
        ('{"SQL": "SELECT a FROM t WHERE b = \\\'x\\\'"}', "SELECT a FROM t WHERE b = 'x'"),
        ('{"SQL": "SELECT a FROM t WHERE b = \'\\u00e9\'"}', "SELECT a FROM t WHERE b = 'é'"),
        ('{"SQL": """SELECT a FROM t"""}', "SELECT a FROM t"),
    ],
    ids=[
        "escaped line end",
        "raw line end",
        "python",
        "bare quotes",
        "wrong escape",
        "unicode",
        "triple",
    ],
)
def test_json_that_is_nearly_json_is_read(reply, sql):
    assert read_sql(reply) == Extracted(sql)


@pytest.mark.parametrize(
    ("reply", "sql"),
    [
        ("(SELECT a FROM t)", "(SELECT a FROM t)"),
        ("(SELECT a FROM t) UNION SELECT b FROM u;", "(SELECT a FROM t) UNION SELECT b FROM u"),
        ("VALUES (1, 2)", "VALUES (1, 2)"),
        ("-- all of them\nSELECT a FROM t", "-- all of them\nSELECT a FROM t"),
        ("SELECT `a` FROM `t`", "SELECT `a` FROM `t`"),
        ("SELECT a FROM t WHERE b = \u2018x\u2019", "SELECT a FROM t WHERE b = 'x'"),
        ("You can run `SELECT a FROM t` to see.", "SELECT a FROM t"),
        ("The answer is SELECT a FROM t.", "SELECT a FROM t"),
        ("the query:\nselect a from t", "select a from t"),
        ("First SELECT a FROM t; better: SELECT b FROM u;", "SELECT b FROM u"),
        ("SELECT a FRM t WHERE x = (", "SELECT a FRM t WHERE x = ("),
        ("```sql\nSELECT FROM WHERE x\n```", "SELECT FROM WHERE x"),
        ("I tried SELECT a FROM t. Now:\n```sql\nSELECT a, FRM t x y\n```", "SELECT a, FRM t x y"),
        (
            "```sql\n-- one\nSELECT a FROM t;\n-- two\nSELECT b FROM u;\n```",
            "-- two\nSELECT b FROM u",
        ),
        ("```python\nprint(1)\n```\n```sql\nSELECT a FROM t\n```", "SELECT a FROM t"),
    ],
)
def test_other_replies_with_a_query(reply, sql):
    assert read_sql(reply) == Extracted(sql)


@pytest.mark.parametrize(
    "reply",
    [
        "",
        " \n\ufeff",
        "I cannot answer this question.",
        "Select all names from the table.",
        "I would select the names from it.",
        "With this schema, we first look at t.",
        "I wrote a SELECT statement.",
        "```python\nprint(1)\n```",
        "```sql\n```",
        '{"SQL": ""}',
        '{"SQL": null}',
        "DROP TABLE t",
        "```sql\nDELETE FROM t\n```",
    ],
)
def test_a_reply_without_a_query_says_so(reply):
    found = read_sql(reply)
    assert not found.sql
    assert found.reason


_NAMES = st.sampled_from(
    ["a", "`b c`", '"d"', "[e f]", "t1.g", "count(*)", "'it''s; -- x'", "(SELECT 1)"]
)


@st.composite
def selects(draw):
    parts = draw(st.lists(_NAMES, min_size=1, max_size=3))
    gap = draw(st.sampled_from([" ", "\n", "\n  ", " /* ; */ "]))
    where = draw(
        st.sampled_from(["", "WHERE a <> 'b' AND c IN (SELECT d FROM u)", "ORDER BY 1 LIMIT 2"])
    )
    return f"SELECT {', '.join(parts)}{gap}FROM t1{gap}{where}".rstrip()


_ANY_SQL = sorted(WRAPPINGS.keys() - {"quotes around the whole"})


@given(sql=selects(), wrapping=st.sampled_from(_ANY_SQL))
def test_any_select_in_any_wrapping_comes_back_verbatim(sql, wrapping):
    assert read_sql(WRAPPINGS[wrapping].replace("{}", sql)) == Extracted(sql)


@given(st.text() | st.text(alphabet="SELECT FROMWITHt`'\"{}[]()<>/*-;:\n\\"))
def test_no_text_raises(reply):
    found = read_sql(reply)
    assert bool(found.sql) != bool(found.reason)


PIECES = [
    "SELECT ",
    "`",
    "'",
    '"',
    "```",
    "/*",
    "--",
    "{",
    '{"SQL": "',
    "<answer>",
    "(",
    ";",
    "\n",
    "a",
]
PIECES += [
    "WITH c AS (",
    "\\",
    "[",
    "FROM t ",
    " ",
    "\n\n",
    ". ",
    "'\"",
    "SELECT a FROM t. ",
    "\nselect a ",
]


@pytest.mark.parametrize("piece", PIECES)
def test_a_megabyte_of_garbage_takes_no_time(piece):
    garbage = piece * (1_000_000 // len(piece))
    start = time.process_time()
    read_sql(garbage)
    assert time.process_time() - start < 30


def test_a_megabyte_of_mixed_garbage_takes_no_time():
    choose = random.Random(1).choices
    start = time.process_time()
    read_sql("".join(choose(PIECES, k=300_000)))
    assert time.process_time() - start < 30


STANDINGS = [
    (
        '{"reasoning": "x", "sql": "```sql\\nSELECT name FROM ferry WHERE capacity > 300\\n```"}',
        "SELECT name FROM ferry WHERE capacity > 300",
    ),
    (
        "<answer>SELECT name FROM ferry WHERE capacity > 300</answer>",
        "SELECT name FROM ferry WHERE capacity > 300",
    ),
    (
        "The result is \\boxed{\\text{SELECT name FROM ferry WHERE capacity > 300}}",
        "SELECT name FROM ferry WHERE capacity > 300",
    ),
    (
        "```sql\nSELECT name FROM ferry WHERE capacity > 300\n```\n\n**Explanation:**\n- `SELECT name FROM ferry` takes the names\n- `WHERE capacity > 300` keeps the large ones",
        "SELECT name FROM ferry WHERE capacity > 300",
    ),
    (
        "```sql\nSELECT name FROM ferry WHERE capacity > 300\n```\n\nYou can check the number of rows with:\n\n```sql\nSELECT COUNT(*) FROM ferry WHERE capacity > 300\n```",
        "SELECT name FROM ferry WHERE capacity > 300",
    ),
    (
        "First I check the values:\n```sql\nSELECT DISTINCT capacity FROM ferry\n```\nThen the answer:\n```sql\nSELECT name FROM ferry WHERE capacity > 300\n```",
        "SELECT name FROM ferry WHERE capacity > 300",
    ),
    (
        '{"thoughts": "maybe SELECT 1", "final_sql": "SELECT name FROM ferry WHERE capacity > 300", "confidence": 0.9}',
        "SELECT name FROM ferry WHERE capacity > 300",
    ),
    (
        "**SQL Query:**\n```\nSELECT name FROM ferry WHERE capacity > 300\n```\n**Result:**\n```\nname\nAda\n```",
        "SELECT name FROM ferry WHERE capacity > 300",
    ),
    (
        "<think>\n</think>\n\n```sql\nSELECT name FROM ferry WHERE capacity > 300\n```",
        "SELECT name FROM ferry WHERE capacity > 300",
    ),
    (
        "Okay, draft: SELECT name FROM ferry\n\n</think>\n\n```sql\nSELECT name FROM ferry WHERE capacity > 300\n```",
        "SELECT name FROM ferry WHERE capacity > 300",
    ),
    (
        "<|im_start|>assistant\nSELECT name FROM ferry WHERE capacity > 300<|im_end|>",
        "SELECT name FROM ferry WHERE capacity > 300",
    ),
    (
        "```sql\nSELECT name FROM ferry WHERE capacity > 300\n```\n\nLet me double-check: the condition is right.\n\n```sql\nSELECT name FROM ferry WHERE capacity > 300\n```",
        "SELECT name FROM ferry WHERE capacity > 300",
    ),
    (
        "I need the names. `SELECT name FROM ferry` is not enough, since only large ferries count. The query is `SELECT name FROM ferry WHERE capacity > 300`.",
        "SELECT name FROM ferry WHERE capacity > 300",
    ),
    (
        "```sql\nSELECT name FROM ferry\n```\nWait, that forgets the capacity. Corrected:\n```sql\nSELECT name FROM ferry WHERE capacity > 300\n```",
        "SELECT name FROM ferry WHERE capacity > 300",
    ),
    (
        "Here is the corrected version of the query:\n\nSELECT name FROM ferry WHERE capacity > 300;\n\nLet me know if you need anything else!",
        "SELECT name FROM ferry WHERE capacity > 300",
    ),
    (
        "SQL\nSELECT name FROM ferry WHERE capacity > 300",
        "SELECT name FROM ferry WHERE capacity > 300",
    ),
    ("select name from ferry where capacity > 300;", "select name from ferry where capacity > 300"),
    (
        "```sql\nSELECT name\nFROM ferry\n```\n\n```sql\nSELECT name FROM ferry WHERE capacity > 300\n```\n\nThe first query is wrong, use the second.",
        "SELECT name FROM ferry WHERE capacity > 300",
    ),
    (
        "```sql\nSELECT name FROM ferry WHERE capacity > 300\n```\n```sql\nSELECT name FROM ferry\n```\n\nThe second query is wrong; use the first.",
        "SELECT name FROM ferry WHERE capacity > 300",
    ),
    (
        "Either\n```sql\nSELECT name FROM ferry\n```\nor\n```sql\nSELECT name FROM ferry WHERE capacity > 300\n```",
        "",
    ),
    (
        '{"original_sql": "SELECT name FROM ferry", "reasoning": "x", "sql": "SELECT name FROM ferry WHERE capacity > 300"}',
        "SELECT name FROM ferry WHERE capacity > 300",
    ),
    (
        "The error is in the column. Final answer: `SELECT name FROM ferry WHERE capacity > 300`",
        "SELECT name FROM ferry WHERE capacity > 300",
    ),
    (
        "**Final answer:** SELECT name FROM ferry WHERE capacity > 300\n\nThis uses the right column.",
        "SELECT name FROM ferry WHERE capacity > 300",
    ),
    (
        "Final answer: SELECT name FROM ferry\nWHERE capacity > 300",
        "SELECT name FROM ferry WHERE capacity > 300",
    ),
    (
        "I first try:\n```sql\nSELECT name FROM ferry\n```\nThis still fails. So:\n```sql\nSELECT name FROM ferry WHERE capacity > 300\n```",
        "SELECT name FROM ferry WHERE capacity > 300",
    ),
    ("The query cannot be repaired.", ""),
    (
        "-- fixed\nSELECT name FROM ferry WHERE capacity > 300",
        "SELECT name FROM ferry WHERE capacity > 300",
    ),
    (
        "```diff\n-SELECT name FROM ferry\n+SELECT name FROM ferry WHERE capacity > 300\n```",
        "SELECT name FROM ferry WHERE capacity > 300",
    ),
    (
        "Original query: SELECT name FROM ferry\nRepaired query: SELECT name FROM ferry WHERE capacity > 300",
        "SELECT name FROM ferry WHERE capacity > 300",
    ),
    (
        "The given query `SELECT name FROM ferry` is missing a condition. Here is the repaired query:\n\n```sql\nSELECT name FROM ferry WHERE capacity > 300\n```\n\nIt differs from `SELECT name FROM ferry` in its condition.",
        "SELECT name FROM ferry WHERE capacity > 300",
    ),
    (
        "SELECT a FROM t\n\nWait, the hint says b = 1, so the final query is:\n```sql\nSELECT a FROM t WHERE b = 1\n```",
        "SELECT a FROM t WHERE b = 1",
    ),
    ("First attempt:\n```sql\nSELECT b FROM u\n```", "SELECT b FROM u"),
    (
        "**Step 1**\n```sql\nSELECT b FROM u\n```\n**Step 2**\n```sql\nSELECT a FROM t WHERE b = 1\n```",
        "SELECT a FROM t WHERE b = 1",
    ),
    (
        "```sql\nSELECT a FROM t WHERE b = 1\n```\nThis query is correct. An alternative would be:\n```sql\nSELECT b FROM u\n```",
        "SELECT a FROM t WHERE b = 1",
    ),
    (
        "```sql\nSELECT a FROM t WHERE b = 1\n```\n\nAlternatively, you could use a subquery:\n\n```sql\nSELECT b FROM u\n```",
        "SELECT a FROM t WHERE b = 1",
    ),
    (
        "```sql\nSELECT b FROM u\n```\nThis is wrong because b is missing.\n```sql\nSELECT a FROM t WHERE b = 1\n```",
        "SELECT a FROM t WHERE b = 1",
    ),
    (
        "Do not use `SELECT b FROM u`, use `SELECT a FROM t WHERE b = 1`.",
        "SELECT a FROM t WHERE b = 1",
    ),
    (
        '{"sql": "SELECT a FROM t WHERE b = 1", "alternative_sql": "SELECT b FROM u"}',
        "SELECT a FROM t WHERE b = 1",
    ),
    ('{"query": "SELECT a FROM t WHERE b = 1"}', "SELECT a FROM t WHERE b = 1"),
    ('{"result": {"sql": "SELECT a FROM t WHERE b = 1"}}', "SELECT a FROM t WHERE b = 1"),
    (
        "Reasoning: x\nSQL: SELECT a FROM t WHERE b = 1\nExplanation: it selects a from t.",
        "SELECT a FROM t WHERE b = 1",
    ),
    (
        "<answer>\n```sql\nSELECT a FROM t WHERE b = 1\n```\n</answer>",
        "SELECT a FROM t WHERE b = 1",
    ),
    ("<sql>SELECT a FROM t WHERE b = 1</sql>", "SELECT a FROM t WHERE b = 1"),
    ('[{"sql": "SELECT a FROM t WHERE b = 1"}]', "SELECT a FROM t WHERE b = 1"),
    ("SELECT a FROM t WHERE b = 1 -- the answer\n", "SELECT a FROM t WHERE b = 1 -- the answer"),
    ("Sure!\n\n    SELECT a FROM t WHERE b = 1\n\nHope this helps.", "SELECT a FROM t WHERE b = 1"),
    (
        "```sql\nSELECT a FROM t WHERE b = 1\n```\n```sql\nEXPLAIN SELECT b FROM u\n```",
        "SELECT a FROM t WHERE b = 1",
    ),
    (
        "```sql\nPRAGMA table_info(t);\n```\n```sql\nSELECT a FROM t WHERE b = 1\n```",
        "SELECT a FROM t WHERE b = 1",
    ),
    (
        "```sql\nCREATE VIEW v AS SELECT 1;\nSELECT a FROM t WHERE b = 1;\n```",
        "SELECT a FROM t WHERE b = 1",
    ),
    ("I cannot write this query because the schema has no such table.", ""),
    ("<think>\nfoo\n```sql\nSELECT b FROM u\n```\n", ""),
    (
        "<thought>SELECT b FROM u</thought>\nSELECT a FROM t WHERE b = 1",
        "SELECT a FROM t WHERE b = 1",
    ),
    ("[THINK]SELECT b FROM u[/THINK]SELECT a FROM t WHERE b = 1", "SELECT a FROM t WHERE b = 1"),
    (
        "<reasoning>\nSELECT b FROM u\n</reasoning>\nSELECT a FROM t WHERE b = 1",
        "SELECT a FROM t WHERE b = 1",
    ),
    ("The final SQL query is SELECT a FROM t WHERE b = 1.", "SELECT a FROM t WHERE b = 1"),
    ("Final SQL:\nSELECT a FROM t WHERE b = 1", "SELECT a FROM t WHERE b = 1"),
    ("```\nSELECT a FROM t WHERE b = 1\n```\n\n```\na\n1\n```", "SELECT a FROM t WHERE b = 1"),
    (
        "Here's the query:\n```sql\nSELECT a FROM t WHERE b = 1\n```\nIt can also be written as:\n```sql\nSELECT b FROM u\n```",
        "SELECT a FROM t WHERE b = 1",
    ),
    (
        "SELECT a FROM t WHERE b = 1;\n\nQuestion: next?\nSELECT z FROM q;",
        "SELECT a FROM t WHERE b = 1",
    ),
    (
        "Old:\n```sql\nSELECT b FROM u\n```\nNew:\n```sql\nSELECT a FROM t WHERE b = 1\n```",
        "SELECT a FROM t WHERE b = 1",
    ),
    (
        "Before: `SELECT b FROM u`\nAfter: `SELECT a FROM t WHERE b = 1`",
        "SELECT a FROM t WHERE b = 1",
    ),
    (
        "The query `SELECT b FROM u` fails because u has no b.\n\nFinal answer: SELECT a FROM t WHERE b = 1",
        "SELECT a FROM t WHERE b = 1",
    ),
    ("Replace SELECT b FROM u by:\n\nSELECT a FROM t WHERE b = 1", "SELECT a FROM t WHERE b = 1"),
    (
        "Final answer:\n```sql\nSELECT a FROM t WHERE b = 1\n```\nThe old query was\n```sql\nSELECT b FROM u\n```",
        "SELECT a FROM t WHERE b = 1",
    ),
    ("Final answer: no change needed", ""),
    (
        "```sql\nSELECT b FROM u\n```\n↓\n```sql\nSELECT a FROM t WHERE b = 1\n```",
        "SELECT a FROM t WHERE b = 1",
    ),
    ("The original query:\n```sql\nSELECT b FROM u\n```\nis correct. No changes are needed.", ""),
]


@pytest.mark.parametrize(("reply", "sql"), STANDINGS)
def test_the_words_before_a_query_say_whether_it_is_the_answer(reply, sql):
    assert read_sql(reply).sql.removeprefix("-- fixed\n").split() == sql.split()
