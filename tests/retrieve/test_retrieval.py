"""From a question to its context, with each part and without it."""

import sqlite3
from contextlib import closing
from dataclasses import replace

import pytest

from tests.retrieve.fakes import scripted_lab
from workbench.retrieve.keywords import Keywords
from workbench.retrieve.retrieval import Retrieval
from workbench.types import Context, Question

QUESTION = Question("7", "apiary", "how many masters live in Grate Holme?", "master means 'M'")
RETRIEVAL = Retrieval(Keywords("maker/model"))
CATALOG = """original_column_name,column_name,column_description,data_format,value_description
grade,,examination passed,text,M: master
town,,where the member lives,text,
"""


@pytest.fixture
def apiary(tmp_path):
    folder = tmp_path / "apiary"
    (folder / "database_description").mkdir(parents=True)
    (folder / "database_description" / "keeper.csv").write_text(CATALOG)
    with closing(sqlite3.connect(folder / "apiary.sqlite")) as database:
        database.executescript("""
            CREATE TABLE keeper(name TEXT, town TEXT, grade TEXT);
            INSERT INTO keeper VALUES ('Ann', 'Great Holme', 'M'), ('Bob', 'Fellside', 'B');
        """)
    return folder / "apiary.sqlite"


@pytest.fixture
def lab(tmp_path, apiary):
    with scripted_lab(tmp_path, ['["masters", "Grate Holme"]'], apiary) as (lab, _):
        yield lab


def test_retrieval_gives_a_question_the_values_and_descriptions_it_may_mean(lab):
    schema = lab.schema("apiary")
    context = RETRIEVAL(lab, QUESTION, schema)
    assert [(m.column, m.value, m.keyword) for m in context.values] == [
        ("town", "Great Holme", "Grate Holme"),
    ]
    assert {match.column for match in context.descriptions} == {"grade", "town"}
    assert (context.question, context.schema) == (QUESTION, schema)


def test_the_index_is_beside_the_cache_file(lab, tmp_path):
    RETRIEVAL(lab, QUESTION, lab.schema("apiary"))
    assert list((tmp_path / "indexes").glob("apiary-*"))


def test_retrieving_again_makes_no_call_and_returns_the_same(lab):
    schema = lab.schema("apiary")
    assert RETRIEVAL(lab, QUESTION, schema) == RETRIEVAL(lab, QUESTION, schema)
    assert lab.client.ledger.total().calls == 1


def test_a_database_that_has_changed_is_indexed_anew(lab, apiary):
    schema = lab.schema("apiary")
    RETRIEVAL(lab, QUESTION, schema)
    with closing(sqlite3.connect(apiary)) as database, database:
        database.execute("UPDATE keeper SET town = 'Grate Holme' WHERE name = 'Bob'")
    assert "Grate Holme" in {match.value for match in RETRIEVAL(lab, QUESTION, schema).values}


def test_without_a_keyword_model_the_questions_own_words_are_looked_up(lab):
    context = replace(RETRIEVAL, keywords=None)(lab, QUESTION, lab.schema("apiary"))
    assert [match.value for match in context.values] == ["Great Holme", "M"]
    assert lab.client.ledger.total().calls == 0


def test_without_an_index_no_values_are_looked_for(lab):
    context = replace(RETRIEVAL, index=None)(lab, QUESTION, lab.schema("apiary"))
    assert context.values == ()
    assert context.descriptions


def test_without_a_description_search_the_context_has_no_descriptions(lab):
    context = replace(RETRIEVAL, descriptions=None)(lab, QUESTION, lab.schema("apiary"))
    assert context.values
    assert context.descriptions == ()


def test_without_values_and_descriptions_no_call_is_made(lab):
    schema = lab.schema("apiary")
    bare = replace(RETRIEVAL, index=None, descriptions=None)
    assert bare(lab, QUESTION, schema) == Context(QUESTION, schema)
    assert lab.client.ledger.total().calls == 0


def test_the_repr_names_every_field():
    text = repr(RETRIEVAL)
    for choice in (
        "Keywords(model='maker/model'",
        "Trigram(",
        "Lexical(",
        "Matching(",
        "Descriptions(",
    ):
        assert choice in text
