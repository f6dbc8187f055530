"""The clauses of two queries compared: the parts that both have in any spelling, and the parts that only one has."""

from collections import Counter

import pytest

from workbench.sql.facts import parts
from workbench.types import Column, Schema, Table

TABLES = {
    "vessel": ("imo", "vname", "Ice Class"),
    "port_call": ("call_id", "imo", "pilot_id"),
}
SCHEMA = Schema(
    "harbour", tuple(Table(t, tuple(map(Column, own))) for t, own in TABLES.items())
)


def only(first, second):
    """For each clause that differs, the parts that only the first and only the second query has."""
    queries = [parts(sql, SCHEMA) for sql in (first, second)]
    said = [
        Counter((p.depth > 0, *says) for p in own for says in p.says) for own in queries
    ]
    found = {}
    for n, (one, other) in enumerate((said, said[::-1])):
        for nested, clause, text in (one - other).elements():
            found.setdefault("in " * nested + clause, ([], []))[n].append(text)
    return found


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("SELECT vname FROM vessel", "select T1.VNAME from Vessel as T1 -- the same"),
        (
            "SELECT v.vname FROM vessel AS v INNER JOIN port_call AS c ON v.imo = c.imo WHERE c.call_id > 3",
            "SELECT T2.vname FROM vessel T2, port_call T1 WHERE (T1.imo = T2.imo) AND (T1.call_id > 3)",
        ),
        (
            "SELECT vname, COUNT(*) AS n FROM vessel GROUP BY vname ORDER BY n DESC",
            "SELECT vname, COUNT(*) FROM vessel GROUP BY vname ORDER BY COUNT(*) DESC",
        ),
        (
            "SELECT imo FROM vessel WHERE vname = 'x'",
            'SELECT imo FROM vessel WHERE vname = "x"',
        ),
        (
            "SELECT imo FROM vessel WHERE imo IN (SELECT imo FROM port_call)",
            "SELECT imo FROM vessel WHERE imo IN (SELECT p.imo FROM port_call p)",
        ),
    ],
)
def test_spelling_makes_no_difference(first, second):
    assert only(first, second) == {}


def test_each_clause_lists_its_own_differences():
    gold = (
        "SELECT DISTINCT vname FROM vessel JOIN port_call ON vessel.imo = port_call.imo"
        " WHERE call_id > 3 AND vname IS NOT NULL GROUP BY vname HAVING COUNT(*) > 1"
        " ORDER BY vname DESC LIMIT 1"
    )
    predicted = "SELECT imo FROM vessel WHERE imo > 3 ORDER BY imo LIMIT 2"
    assert only(gold, predicted) == {
        "SELECT": (["vessel.vname"], ["vessel.imo"]),
        "DISTINCT": (["DISTINCT"], []),
        "FROM": (["port_call"], []),
        "JOIN ON": (["port_call.imo = vessel.imo"], []),
        "WHERE": (
            ["port_call.call_id > 3", "NOT vessel.vname IS NULL"],
            ["vessel.imo > 3"],
        ),
        "GROUP BY": (["vessel.vname"], []),
        "HAVING": (["COUNT(*) > 1"], []),
        "ORDER BY": (["vessel.vname DESC"], ["vessel.imo"]),
        "LIMIT": (["LIMIT 1"], ["LIMIT 2"]),
    }
    inner = "SELECT vname FROM vessel JOIN port_call USING (imo)"
    outer = {"FROM": (["LEFT JOIN port_call"], ["port_call"])}
    assert only(inner.replace("JOIN", "LEFT JOIN"), inner) == outer


def test_parts_are_written_as_in_the_query_and_nested_ones_follow_theirs():
    sql = "SELECT v.vname, imo FROM vessel v WHERE v.imo > 3 AND imo IN (SELECT imo FROM port_call)"
    assert [(part.depth, part.text) for part in parts(sql, SCHEMA)] == [
        (0, "SELECT v.vname,"), (0, "imo"), (0, "FROM vessel AS v"), (0, "WHERE v.imo > 3"),
        (0, "AND imo IN (…)"), (1, "SELECT imo"), (1, "FROM port_call"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "sql", ["SELEC imo", "SELECT " + "(" * 3000 + "1" + ")" * 3000]
)
def test_an_unreadable_query_has_no_parts(sql):
    assert parts(sql, SCHEMA) == []
