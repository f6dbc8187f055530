"""What the worked examples of our prompts claim is so: their queries run, their plans are SQLite's."""

import json
import re
import sqlite3
from contextlib import closing

import pytest

from tests.prompts.cases import CASES, messages
from workbench.prompts.prompt import split_sections
from workbench.replies.sql import read_sql
from workbench.sql.context_text import result_text
from workbench.types import Execution

DEMO = """
CREATE TABLE potter (potter_id INTEGER PRIMARY KEY, name TEXT, joined TEXT);
CREATE TABLE firing (firing_id INTEGER PRIMARY KEY, kiln TEXT, day TEXT, peak INTEGER);
CREATE TABLE piece (piece_id INTEGER PRIMARY KEY, potter_id INTEGER REFERENCES potter,
    firing_id INTEGER REFERENCES firing, form TEXT, body TEXT, glaze TEXT, weight INTEGER, state TEXT);
CREATE TABLE pot (pot_id INTEGER PRIMARY KEY, potter_id INTEGER REFERENCES potter, form TEXT,
    `kiln state` TEXT);
CREATE TABLE room (room_id INTEGER PRIMARY KEY, title TEXT, city TEXT, `level (1-5)` INTEGER);
CREATE TABLE attempt (attempt_id INTEGER PRIMARY KEY, room_id INTEGER REFERENCES room, team TEXT,
    minutes INTEGER, solved INTEGER);
INSERT INTO potter VALUES (1, 'Odile Marchetti', '2016-03-01'), (2, 'Tomas Reyl', '2018-09-15'),
    (3, 'Ines Vold', '2019-01-01');
INSERT INTO firing VALUES (1, 'North', '2019-04-12', 1280), (2, 'Old gas', '2019-05-03', 1040),
    (3, 'North', '2019-06-01', NULL);
INSERT INTO piece VALUES (1, 1, 1, 'bowl', 'ST', 'celadon', 820, 'S'),
    (2, 1, 1, 'bowl', 'ST', 'tenmoku', 455, 'C'), (3, 2, 1, 'jar', 'ST', NULL, 1200, 'C'),
    (4, 2, 2, 'bowl', 'EW', 'celadon', 600, 'S'), (5, 3, 2, 'jar', 'PC', 'celadon', 300, 'C'),
    (6, 1, 3, 'jar', 'ST', 'celadon', 900, 'S'), (7, 3, 2, 'bowl', 'PC', NULL, 250, 'S');
INSERT INTO pot VALUES (1, 1, 'bowl', 'S'), (2, 1, 'jar', NULL), (3, 2, 'jar', 'C'), (4, 2, 'bowl', 'C');
INSERT INTO room VALUES (1, 'The Vault', 'Linz', 3), (2, 'Signal Lost', 'Graz', 5);
INSERT INTO attempt VALUES (1, 1, 'Owls', 52, 1), (2, 2, 'Owls', 75, 1), (3, 2, 'Red ConnectionCache', NULL, 0);
"""


@pytest.fixture
def demo():
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(DEMO)
        yield connection


def worked(name):
    """The worked examples of a prompt: each as its parts by their inner titles."""
    sections = split_sections(messages(name, CASES[name])[1])
    told = [text for title, text in sections if title == "Worked example"]
    parts = [re.split(r"^### (.+)\n", text, flags=re.MULTILINE) for text in told]
    return [dict(zip(p[1::2], map(str.strip, p[2::2]), strict=True)) for p in parts]


def fenced(text):
    return re.findall(r"```sql\n(.*?)```", text, re.DOTALL)


SETS = ("generate/divide_and_conquer", "generate/query_plan")


class TestWorkedExamplesAreTrue:
    @pytest.mark.parametrize(
        "name",
        ["generate/divide_and_conquer", "generate/query_plan", "generate/examples_by_column"],
    )
    def test_the_schema_is_the_demonstrations(self, demo, name):
        with closing(sqlite3.connect(":memory:")) as shown:
            shown.executescript(fenced(worked(name)[0]["Database schema"])[0])
            for table in ("potter", "firing", "piece"):
                columns = f"SELECT name, type, pk FROM pragma_table_info('{table}')"
                assert list(shown.execute(columns)) == list(demo.execute(columns))

    @pytest.mark.parametrize(
        "name",
        ["generate/divide_and_conquer", "generate/query_plan", "generate/decomposer", "fix/fixer"],
    )
    def test_every_query_of_an_answer_runs(self, demo, name):
        answers = [example["Answer"] for example in worked(name)]
        queries = [q for a in answers for q in fenced(a) or [read_sql(a).sql]]
        assert len(queries) >= len(answers)
        for query in queries:
            demo.execute(query)

    @pytest.mark.parametrize("name", SETS)
    def test_the_set_has_nesting_a_ratio_dates_case_groups_and_a_plain_question(self, demo, name):
        queries = [fenced(example["Answer"])[0] for example in worked(name)]
        assert len(queries) == 4
        assert all(demo.execute(query).fetchall() for query in queries)
        for kind in (
            r"\(\s*SELECT",
            r"AS REAL\) \*",
            "strftime",
            "CASE WHEN",
            "GROUP BY",
            "HAVING",
        ):
            assert [query for query in queries if re.search(kind, query)], kind
        plain = re.compile(r"\(\s*SELECT|CASE|GROUP BY|CAST")
        assert [query for query in queries if not plain.search(query)]

    @pytest.mark.parametrize("name", SETS)
    def test_no_demonstration_is_about_a_database_that_is_evaluated(self, name):
        assert set(re.findall(r"CREATE TABLE (\w+)", worked(name)[0]["Database schema"])) == {
            *("potter", "firing", "piece")
        }
        assert [example["Database schema"] for example in worked(name)[1:]] == ["As above."] * 3

    def test_every_synthetic_example_runs_and_finds_something(self, demo):
        (example,) = worked("generate/examples_by_column")
        told = [json.loads(line) for line in example["Answer"].splitlines()]
        assert [list(item) for item in told] == [["question", "hint", "sql"]] * 10
        for item in told:
            if item["hint"] != "unglazed refers to glaze IS NULL":
                assert demo.execute(item["sql"]).fetchall(), item

    def test_the_query_to_fix_fails_as_the_example_says(self, demo):
        wrong_column, wrong_code = worked("fix/fixer")
        with pytest.raises(sqlite3.OperationalError) as caught:
            demo.execute(fenced(wrong_column["Query"])[0])
        assert wrong_column["Result"] == result_text(Execution("error", error=str(caught.value)))
        assert demo.execute(fenced(wrong_code["Query"])[0]).fetchall() == []
        assert wrong_code["Result"] == result_text(Execution("empty", ("piece_id",)))

    @pytest.mark.parametrize("place", range(4))
    def test_simplifying_keeps_the_assembled_querys_result(self, demo, place):
        answer = worked("generate/divide_and_conquer")[place]["Answer"]
        assembled = answer.split("**2. Assemble**")[1].split("**3.")[0]
        assembled = assembled.split("**Main question:** ")[1]
        (final,) = fenced(answer)
        assert demo.execute(assembled).fetchall() == demo.execute(final).fetchall() != []

    @pytest.mark.parametrize("place", range(4))
    def test_every_sub_question_is_assembled_into_the_question_above_it(self, place):
        answer = worked("generate/divide_and_conquer")[place]["Answer"]
        assembled = answer.split("**2. Assemble**")[1].split("**3.")[0]
        *inner, main = re.findall(r"\*\*[\w .-]+:\*\* (SELECT .*)", assembled)
        for query in inner:
            assert query in main
        assert bool(inner) == bool(re.search("Sub-question 1:", answer))

    @pytest.mark.parametrize("place", range(4))
    def test_the_plan_reads_tables_in_sqlites_order(self, demo, place):
        answer = worked("generate/query_plan")[place]["Answer"]
        (query,) = fenced(answer)
        rows = demo.execute(f"EXPLAIN QUERY PLAN {query}").fetchall()
        read = [
            found[1] for *_, text in rows if (found := re.match(r"(?:SCAN|SEARCH) (\w+)", text))
        ]
        told = answer.split("**Query plan**\n")[1].split("\n\n**Final SQL**")[0]
        assert re.findall(r"(?:every row|matching rows) of (\w+)", told) == read

    def test_the_decomposers_last_query_answers_its_question(self, demo):
        answers = [demo.execute(fenced(e["Answer"])[-1]) for e in worked("generate/decomposer")]
        assert [answer.fetchall() for answer in answers] == [[("Tomas Reyl",)], [(75,)]]

    def test_the_decomposer_groups_by_what_it_orders_by(self):
        queries = [q for e in worked("generate/decomposer") for q in fenced(e["Answer"])]
        sorted_ = [part for q in queries for part in re.findall(r"(.*)\n *ORDER BY (.*) DESC", q)]
        assert sorted_
        for line_before, column in sorted_:
            assert line_before.strip() == f"GROUP BY {column}"

    @pytest.mark.parametrize("place", [0, 1])
    def test_each_example_of_the_decomposer_quotes_a_name_and_keeps_null_out(self, place):
        example = worked("generate/decomposer")[place]
        assert re.search(r"^  \(\w+ [^,]+, ", example["Database schema"], re.MULTILINE)
        assert "NULL]" in example["Database schema"]
        assert re.search(r"`\w+ [^`]+`", fenced(example["Answer"])[-1])
        assert "IS NOT NULL" in fenced(example["Answer"])[-1]

    def test_mac_sqls_answer_keeps_to_its_own_rules(self):
        (example,) = worked("prune/mac_selector")
        answer = json.loads(example["Answer"])
        tables = re.split(r"# Table: ", example["Database schema"].split("[Foreign keys]")[0])[1:]
        columns = {t.split("\n")[0]: re.findall(r"^  \((\w+)", t, re.MULTILINE) for t in tables}
        assert answer.keys() == columns.keys()
        for table, kept in answer.items():
            if kept == "keep_all":
                assert len(columns[table]) <= 10
            elif kept != "drop_all":
                assert len(kept) == 6
                assert len(columns[table]) > 10
                assert set(kept) <= set(columns[table])
        assert sum(kept != "drop_all" for kept in answer.values()) >= 3

    @pytest.mark.parametrize("name", ["generate/divide_and_conquer", "generate/query_plan"])
    def test_the_answer_asked_for_is_the_form_of_the_example(self, name):
        titles_ = re.compile(r"^\*\*[^:*]+\*\*$", re.MULTILINE)
        asked = dict(split_sections(messages(name, CASES[name])[1]))["Answer"]
        for example in worked(name):
            assert titles_.findall(example["Answer"]) == titles_.findall(asked)
