"""Forms in which models answer that a reader once read wrongly, and what a careful person takes each to say."""

import pytest

from tests.exam.replies_adapter import read

LOANS = {
    "Book Copy": ["Copy ID", "Title"],
    "loan": ["loan_id", "due", "fine"],
    "member": ["member_id", "name"],
}
SQL = [
    # The answer and its marks
    ("<sql><![CDATA[SELECT a FROM t WHERE b < 3]]></sql>", "SELECT a FROM t WHERE b < 3"),
    ("SELECT a\\nFROM t", "SELECT a\nFROM t"),
    ("**SELECT a FROM t**", "SELECT a FROM t"),
    ("| Question | SQL |\n|---|---|\n| Who? | SELECT a FROM t |", "SELECT a FROM t"),
    # A mark of a fence in a literal
    ("```sql\nSELECT replace(a, '```', '') FROM t\n```", "SELECT replace(a, '```', '') FROM t"),
    ("It's ```SELECT a FROM t```, isn't it?", "SELECT a FROM t"),
    # The same query again and again, the last time cut off
    ("```sql\nSELECT name FROM t\n```\n\n```sql\nSELECT na", "SELECT name FROM t"),
    ("```sql\nSELECT name FROM t\n```\n\n```sql\nSELECT name FROM", "SELECT name FROM t"),
    # A shorter query is an answer of its own
    (
        "```sql\nSELECT a FROM t WHERE b\n```\nSimplified:\n```sql\nSELECT a FROM t\n```",
        "SELECT a FROM t",
    ),
    # Withdrawn
    ("SELECT a FROM t\n\nHold on. It asks for b:\n\nSELECT b FROM t", "SELECT b FROM t"),
    ("> SELECT a FROM t\n\nThis fails: no column a.\n\nSELECT b FROM t", "SELECT b FROM t"),
    # Offered for another case
    (
        "```sql\nSELECT a FROM t\n```\nIf ties matter, use:\n```sql\nSELECT b FROM t\n```",
        "SELECT a FROM t",
    ),
    (
        "```sql\nSELECT a FROM t\n```\nIn PostgreSQL:\n```sql\nSELECT b FROM t\n```",
        "SELECT a FROM t",
    ),
    # Named below both
    (
        "1:\n```sql\nSELECT a FROM t\n```\n2:\n```sql\nSELECT b FROM t\n```\nI'll go with option 1.",
        "SELECT a FROM t",
    ),
    # A sub-query explained below the query that has it
    (
        (
            "```sql\nSELECT a FROM t WHERE b IN (\n  SELECT b FROM u\n)\n```\nThe inner part:\n"
            "```sql\nSELECT b FROM u\n```"
        ),
        "SELECT a FROM t WHERE b IN (\n  SELECT b FROM u\n)",
    ),
    # A label below the query, which could be an alias in it
    ("SELECT a FROM t\nExplanation: all of them.", "SELECT a FROM t"),
    ("SQLQuery: SELECT COUNT(*) FROM t\nSQLResult: [(3,)]", "SELECT COUNT(*) FROM t"),
    # Programs
    ('```python\nsql = (\n    "SELECT a "\n    "FROM t"\n)\n```', "SELECT a FROM t"),
    ('```js\nconst sql = "SELECT a " +\n  "FROM t";\n```', "SELECT a FROM t"),
    ('run(query="SELECT a FROM t WHERE b > 3")', "SELECT a FROM t WHERE b > 3"),
    # Marks of HTML, and wide signs
    ("SELECT a<br>FROM t<br/>WHERE b &gt; 3", "SELECT a\nFROM t\nWHERE b > 3"),
    ("SELECT a FROM t WHERE b = '<br>'", "SELECT a FROM t WHERE b = '<br>'"),
    ("SELECT a FROM t WHERE b \uff1e 3\uff1b", "SELECT a FROM t WHERE b > 3"),
    (
        "SELECT \u91d1\u984d\uff08\u5143\uff09 FROM t",
        "SELECT \u91d1\u984d\uff08\u5143\uff09 FROM t",
    ),
    # English "falls" offers nothing, as German "Falls" does
    (
        (
            "Step 1:\n```sql\nSELECT b FROM t\n```\n\nThe rows whose day falls in 2020:\n"
            "```sql\nSELECT a FROM t\n```"
        ),
        "SELECT a FROM t",
    ),
    # A section of reasoning
    ("## Thinking\nMaybe SELECT b FROM t.\n\n## Answer\nSELECT a FROM t", "SELECT a FROM t"),
]
# What stands between two queries, the second of which is not the answer.
NOT_THE_SECOND = [
    "A common mistake would be:",
    "If `a` is a text instead, use",
    "Falls Sie auch b brauchen:",
    "Si tambi\u00e9n quiere b:",
    "Si vous voulez aussi b :",
    "\u5982\u679c\u8fd8\u9700\u8981b\uff0c\u4f7f\u7528\uff1a",
]
VERDICTS = [
    ("I'd go with A here, since B double-counts.", "A"),
    ("The better one is #2.", "B"),
    ("\u2705 B\n\u274c A", "B"),
    ("Candidate A (correct)\nCandidate B (incorrect)", "A"),
    ("Score A: 3/5\nScore B: 5/5", "B"),
    ("A: 3\nB: 5", ""),
    ('{"A": 0.2, "B": 0.8}', "B"),
    ('{"A": 0.5, "B": 0.5}', ""),
    ("I would not choose B.", "A"),
    ("Both are flawed, but if I must pick, B.", "B"),
    ("A is correct. B is also correct.", ""),
    ("Not A: it misses the join.", "B"),
    ("A isn't wrong, B is.", "A"),
    ("Although B is shorter, it is wrong.", "A"),
    ("B would have been right if the hint did not exclude minors.", "A"),
    ("A would have been right, had it a filter; so would B.", ""),
    ("A's join is wrong.", "B"),
    ("I reject B.", "A"),
    ("The loser is A.", "B"),
    ("A has the right join; B has none.", "A"),
    ("A answers the question more exactly than B does.", "A"),
    ("A has fewer errors than B.", "A"),
    ("B\u306e\u65b9\u304c\u6b63\u3057\u3044\u3067\u3059\u3002", "B"),
]
RANKINGS = [
    ("Best: 2\nMiddle: 3\nWorst: 1", [2, 3, 1]),
    ("Worst: 2\nMiddle: 3\nBest: 1", [1, 3, 2]),
    ('{"1": 0.2, "2": 0.9, "3": 0.5}', [2, 3, 1]),
    ('{"1": 3, "2": 1, "3": 2}', [3, 1, 2]),
]
CHOICES = [
    ("- [x] Candidate 1\n- [ ] Candidate 2", [1, 0]),
    ("Kandidat 1: bestanden\nKandidat 2: nicht bestanden", [1, 0]),
    ("The first candidate passes; the last one fails.", [1, 0]),
    ("The second candidate fails. The others pass.", [1, 0]),
    ("Candidate 1 and candidate 2 both pass.", [1, 1]),
    ("1=Passed, 2=Failed", [1, 0]),
    ("1: P\n2: F", [1, 0]),
]
THREE_CHOICES = [
    ("The first two candidates pass; the third fails.", [1, 1, 0]),
    ("The last two fail, the first one passes.", [1, 0, 0]),
    ("Neither candidate 1 nor candidate 2 passes; candidate 3 does.", [0, 0, 1]),
    ("Candidate 1 fails. The remaining candidates pass.", [0, 1, 1]),
]
TABLES = [
    ('We need loan and member. The table "Book Copy" is not needed.', ["loan", "member"]),
    ("The tables book copy and loan are needed.", ["Book Copy", "loan"]),
    ("| Table | Why |\n|---|---|\n| loan | the fine |", ["loan"]),
    ("All of the tables are needed.", ["Book Copy", "loan", "member"]),
    ("We need all three tables.", ["Book Copy", "loan", "member"]),
    ("All tables except member are needed.", ["Book Copy", "loan"]),
    ("Every table other than `Book Copy` is needed: loan and member.", ["loan", "member"]),
    ("We need all tables, but mostly loan.", ["loan"]),
    ("Not all tables are needed.", []),
    ("We need the loan and member tables but not the book copy.", ["loan", "member"]),
]
COLUMNS = [
    (
        "### loan\n- fine\n- due\n\n### member\n- name",
        {"loan": ["fine", "due"], "member": ["name"]},
    ),
    (
        "| Table | Column |\n|---|---|\n| loan | fine |\n| member | name |",
        {"loan": ["fine"], "member": ["name"]},
    ),
    ("loan (fine, due), member (name)", {"loan": ["fine", "due"], "member": ["name"]}),
    ('{"loan": ["fine REAL", "due DATE"]}', {"loan": ["fine", "due"]}),
]
EXAMPLE = {"question": "How many?", "hint": "", "sql": "SELECT COUNT(*) FROM loan"}
EXAMPLES = [
    "**Question:** How many?\n**Hint:** \n**SQL:**\n```sql\nSELECT COUNT(*) FROM loan\n```",
    (
        '{"question": "...", "hint": "...", "sql": "SELECT ..."}\n'
        '{"question": "How many?", "sql": "SELECT COUNT(*) FROM loan"}'
    ),
]


@pytest.mark.parametrize(("reply", "said"), SQL)
def test_a_query(reply, said):
    assert read("sql", reply, None) == said


@pytest.mark.parametrize("between", NOT_THE_SECOND)
def test_a_query_before_an_offer_or_a_mistake_is_the_answer(between):
    reply = f"```sql\nSELECT a FROM t\n```\n\n{between}\n```sql\nSELECT b FROM t\n```"
    assert read("sql", reply, None) == "SELECT a FROM t"


@pytest.mark.parametrize(("reply", "said"), VERDICTS)
def test_a_verdict(reply, said):
    assert read("verdict", reply, None) == said


@pytest.mark.parametrize(("reply", "said"), RANKINGS)
def test_a_ranking(reply, said):
    assert read("ranking", reply, 3) == said


@pytest.mark.parametrize(("reply", "said"), CHOICES)
def test_choices(reply, said):
    assert read("choice", reply, {"label": "candidate", "count": 2}) == said


@pytest.mark.parametrize(("reply", "said"), THREE_CHOICES)
def test_choices_of_three(reply, said):
    assert read("choice", reply, {"label": "candidate", "count": 3}) == said


@pytest.mark.parametrize(
    ("reply", "said"),
    [("Drop it.", False), ("\u306f\u3044\u3001\u95a2\u9023\u3057\u307e\u3059\u3002", True)],
)
def test_the_relevance_of_a_column(reply, said):
    assert read("yes_no", reply, None) in {said, "yes" if said else "no"}


@pytest.mark.parametrize(
    ("want", "reply", "said"),
    [("tables", *case) for case in TABLES] + [("columns", *case) for case in COLUMNS],
)
def test_names(want, reply, said):
    assert read("names", reply, {"want": want, "schema": LOANS}) == said


@pytest.mark.parametrize("reply", EXAMPLES)
def test_examples(reply):
    assert read("examples", reply, None) == [EXAMPLE]
