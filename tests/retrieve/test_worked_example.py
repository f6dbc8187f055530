"""Value retrieval as CHASE-SQL's appendix A.5 shows it: keywords in, the closest values of each column out."""

import sqlite3
from contextlib import closing

import pytest

from tests.retrieve.fakes import scripted_lab
from workbench.retrieve.keywords import Keywords
from workbench.retrieve.retrieval import Retrieval
from workbench.sql.context_text import context_data
from workbench.types import Question

QUESTION = Question(
    "1",
    "california_schools",
    "What is the highest eligible free rate for K-12 students in the schools in Alameda County?",
)
KEYWORDS = '["eligible free rate", "K-12 students", "schools", "Alameda County"]'

# Some of what the appendix lists, among values that nothing in the question resembles.
SCRIPT = """
CREATE TABLE schools(CDSCode TEXT PRIMARY KEY, County TEXT, School TEXT, City TEXT, GSoffered TEXT, Doc INTEGER);
INSERT INTO schools VALUES
    ('01', 'Alameda', 'Alameda High', 'Alameda', 'K-12', 54), ('02', 'Alameda', 'Alameda County Community', 'Hayward', '7-12', 10),
    ('03', 'Fresno', 'Bullard TALENT', 'Fresno', 'K-8', 54), ('04', 'Los Angeles', 'Venice Senior', 'Venice', '9-12', 54);
CREATE TABLE frpm(CDSCode TEXT REFERENCES schools, `County Name` TEXT, `School Type` TEXT);
INSERT INTO frpm VALUES ('01', 'Alameda', 'Preschool'), ('03', 'Fresno', 'Continuation'), ('04', 'Los Angeles', 'Juvenile Court');
CREATE TABLE satscores(cds TEXT REFERENCES schools, sname TEXT, cname TEXT);
INSERT INTO satscores VALUES ('01', 'Alameda High', 'Alameda'), ('03', 'Bullard TALENT', 'Fresno'), ('04', NULL, 'Los Angeles');
"""


@pytest.fixture
def context(tmp_path):
    path = tmp_path / "california_schools.sqlite"
    with closing(sqlite3.connect(path)) as database:
        database.executescript(SCRIPT)
    with scripted_lab(tmp_path, [KEYWORDS], path) as (lab, _):
        yield Retrieval(Keywords("maker/model"))(lab, QUESTION, lab.schema("california_schools"))


def test_each_keyword_finds_its_values_and_none_of_the_others(context):
    found = {(match.table, match.column, match.value) for match in context.values}
    assert found == {
        ("schools", "County", "Alameda"),
        ("schools", "School", "Alameda County Community"),
        ("schools", "School", "Alameda High"),
        ("schools", "City", "Alameda"),
        ("schools", "GSoffered", "K-12"),
        ("frpm", "County Name", "Alameda"),
        ("frpm", "School Type", "Preschool"),
        ("satscores", "sname", "Alameda High"),
        ("satscores", "cname", "Alameda"),
    }


def test_a_prompt_lists_the_values_column_by_column(context):
    assert context_data(context)["values"].splitlines() == [
        "schools.County: 'Alameda'",
        "schools.School: 'Alameda County Community', 'Alameda High'",
        "schools.City: 'Alameda'",
        "schools.GSoffered: 'K-12'",
        "frpm.`County Name`: 'Alameda'",
        "frpm.`School Type`: 'Preschool'",
        "satscores.sname: 'Alameda High'",
        "satscores.cname: 'Alameda'",
    ]
