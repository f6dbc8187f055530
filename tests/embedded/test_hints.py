"""What hints define, as people write them."""

import pytest

from tests.embedded.harbour import SCHEMA
from workbench.embedded.linking.hints import definitions
from workbench.embedded.linking.index import index
from workbench.english.words import tokens

MADE = index(SCHEMA)


def told(hint, question=""):
    """Each definition's kind and formula, with the names of the columns."""
    found = []
    for definition in definitions(hint, tokens(question), MADE):
        for formula in definition.formulas[:1]:
            text = "".join(p if isinstance(p, str) else MADE.fields[p].name for p in formula.pieces)
            found.append((formula.kind, text))
    return found


@pytest.mark.parametrize(
    ("hint", "kind", "sql"),
    [
        ("cancelled refers to st = 'K'", "test", "st = 'K'"),
        ("cancelled means st is 'K'", "test", "st = 'K'"),
        ("st = 'K' stands for cancelled", "test", "st = 'K'"),
        ("not yet arrived refers to arrived IS NULL", "test", "arrived IS NULL"),
        ("arrived means arrived is not empty", "test", "arrived IS NOT NULL"),
        ("in 2021 refers to YEAR(arrived) = 2021", "test", "STRFTIME('%Y', arrived) = '2021'"),
        ("mid-sized refers to len_m BETWEEN 80 AND 120", "test", "len_m BETWEEN 80 AND 120"),
        (
            "above average refers to len_m > AVG(len_m)",
            "test",
            "len_m > (SELECT AVG(len_m) FROM ship)",
        ),
        ("longest refers to MAX(len_m)", "best", "MAX(len_m)"),
        ("most dues refers to MAX(SUM(dues))", "best", "SUM(dues)"),
        ("ship's name refers to sname", "row", "sname"),
        ("age = SUBTRACT(2024, built)", "row", "2024 - built"),
        ("many visits refers to COUNT(visit_id) > 5", "group_test", "COUNT(visit_id) > 5"),
        (
            "percentage = DIVIDE(SUM(st = 'K'), COUNT(visit_id)) * 100",
            "total",
            "CAST(SUM(CASE WHEN st = 'K' THEN 1 ELSE 0 END) AS REAL) * 100 / COUNT(visit_id)",
        ),
        (
            "share = SUM(dues where st = 'A') / SUM(dues)",
            "total",
            "CAST(SUM(CASE WHEN st = 'A' THEN dues ELSE 0 END) AS REAL) / SUM(dues)",
        ),
    ],
)
def test_a_clause_comes_to_sql(hint, kind, sql):
    assert told(hint) == [(kind, sql)]


def test_clauses_are_taken_apart_but_not_what_is_quoted():
    hint = "late refers to st = 'A; B', family name refers to surname; longest means MAX(len_m)"
    assert [sql for _, sql in told(hint)] == ["st = 'A; B'", "surname", "MAX(len_m)"]


def test_a_definition_knows_which_words_of_the_question_it_is_about():
    question = tokens("How many calls were cancelled in June?")
    (found,) = definitions("cancelled calls refers to st = 'K'", question, MADE)
    assert [t.text for i, t in enumerate(question) if found.mask >> i & 1] == ["calls", "cancelled"]
    assert found.fit == 1.0


def test_a_column_of_several_tables_is_read_once_for_each():
    (found,) = definitions("that ship refers to ship_id = 3", tokens(""), MADE)
    assert {MADE.where(f.fields[0])[0] for f in found.formulas} == {"ship", "visit"}


@pytest.mark.parametrize(
    "hint", ["", "None", "a ship is a ship", "MAX(", "DIVIDE(1", "x = ", "((((" * 99]
)
def test_what_cannot_be_read_defines_nothing(hint):
    assert told(hint) == []
