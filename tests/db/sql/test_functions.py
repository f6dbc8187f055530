"""The functions of a query by their names."""

from workbench.db.sql.features import functions


def test_the_functions_of_a_query_are_named_without_its_aggregates():
    sql = (
        "SELECT ROUND(CAST(SUM(imo) AS REAL) / COUNT(*), 2), STRFTIME('%Y', d), vname || 'x', total(imo),"
        " CASE WHEN imo > 1 THEN 1 END FROM vessel WHERE imo = 1 AND NOT vname LIKE 'x'"
    )
    assert functions(sql) == {"ROUND", "CAST", "CASE", "/", "STRFTIME", "||"}
    assert functions("no query") == frozenset()
