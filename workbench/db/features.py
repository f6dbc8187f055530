"""What a query is made of, as counts: the slices by which NL2SQL360 tells systems apart.

A plain record, so that tables and selectors can use it without reading SQL; `db.sql.features` fills
it. `count_` before a name gives NL2SQL360's column of the same meaning. Counts are over the whole
statement, subqueries and common table expressions included, unless said otherwise.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Features:
    """Each count in one sentence; the last four are ours, the others agree with NL2SQL360's labels.

    `subquery` follows NL2SQL360: a query after IN or EXISTS is a test there, not a subquery. `nested`
    is the count without that exception.
    """

    query_fields: int  # result columns of the outermost (in a compound: the first) SELECT; * is one
    group_by: int  # GROUP BY clauses
    order_by: int  # ORDER BY clauses of queries
    limit: int  # LIMIT clauses
    join: int  # tables joined to another one, by JOIN or by a comma
    predicate: int  # comparisons: = <> < > <= >= IS LIKE GLOB MATCH REGEXP BETWEEN IN EXISTS
    aggregation: int  # aggregate calls without OVER
    scalar_function: int  # other function calls without OVER, CAST included, IIF not
    subquery: int  # queries in parentheses that stand for a value or a table
    set_operation: int  # UNION, UNION ALL, INTERSECT, EXCEPT
    math_compute: int  # + - * / % between two operands
    logical_connecter: int  # AND and OR, that of BETWEEN apart
    distinct: int  # DISTINCT, of a SELECT or inside an aggregate
    like: int  # LIKE, NOT LIKE included
    control_flow: int  # CASE and IIF
    window: int  # calls with OVER
    having: int  # HAVING clauses
    cte: int  # common table expressions
    nested: (
        int  # every query inside another one: value, table, IN, EXISTS or common table expression
    )
    case: int  # CASE expressions
