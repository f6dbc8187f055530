"""The sentences that describe the rows of SQLite's query plans, and a query's grouping, sorting and results."""

import re
from collections.abc import Iterable

from workbench.db.sql.outline import Outline

_READ = re.compile(
    r"(?P<how>SCAN|SEARCH) (?:TABLE )?(?P<name>.+?)(?: AS (?P<alias>.+?))?"
    r"(?: VIRTUAL TABLE INDEX .*?)?(?: USING (?P<using>.+?))?(?P<left> LEFT-JOIN)?"
)
CONSTANT = re.compile(r"SCAN (?:\d+ )?CONSTANT ROWS?")
COMPOUND = re.compile(  # a compound query, or one of its parts
    r"COMPOUND QUERY|MERGE \(.+\)|LEFT-MOST SUBQUERY|LEFT|RIGHT|UNION ALL"
    r"|(?:UNION|INTERSECT|EXCEPT) USING TEMP B-TREE"
)
_KEY = re.compile(r"(?P<what>[^(]+?)(?: \((?P<key>.+)\))?")
_DETAILS = tuple(
    (re.compile(pattern), words)
    for pattern, words in (
        (CONSTANT.pattern, "Make the rows from constants; no table is read."),
        (r"USE TEMP B-TREE FOR (.+)", "Collect rows in a temporary sorted list, for {0}."),
        (r"BLOOM FILTER ON (.+?) \((.+)\)", "Rule out, by a Bloom filter on {1}, rows without a match in {0}."),
        (r"CO-ROUTINE (.+)", "Work out {0}, row by row as its rows are asked for:"),
        (r"MATERIALIZE (.+)", "Work out {0} once and keep its rows:"),
        (r"CORRELATED SCALAR SUBQUERY (\d+)", "For every row so far, work out subquery {0} anew, for one value:"),
        (r"CORRELATED LIST SUBQUERY (\d+)", "For every row so far, work out subquery {0} anew, for a list of values:"),
        (r"SCALAR SUBQUERY (\d+)", "Work out subquery {0} once, for one value:"),
        (r"LIST SUBQUERY (\d+)", "Work out subquery {0} once, for a list of values:"),
        (r"REUSE (?:LIST )?SUBQUERY (\d+)", "Use the result of subquery {0} again."),
        (r"COMPOUND QUERY", "Work out the combined queries one after the other:"),
        (r"MERGE \((.+)\)", "Work out two queries, each sorted, and merge them by {0}:"),
        (r"LEFT-MOST SUBQUERY|LEFT", "The first query:"),
        (r"RIGHT", "The second query:"),
        (r"UNION ALL", "Add every row of the next query:"),
        (r"UNION USING TEMP B-TREE", "Add those rows of the next query that are new:"),
        (r"INTERSECT USING TEMP B-TREE", "Keep only the rows that the next query gives too:"),
        (r"EXCEPT USING TEMP B-TREE", "Take away the rows that the next query gives:"),
        (r"SETUP", "Begin with these rows:"),
        (r"RECURSIVE STEP", "From each row found, work out further rows, until there are no more:"),
        (r"MULTI-INDEX OR", "Look up each side of the OR by its own index, and put the rows found together:"),
        (r"INDEX (\d+)", "Side {0}:"),
        (r"RIGHT-JOIN (.+)", "Add the rows of {0} that matched nothing:"),
        (r"USING (.+) FOR IN-OPERATOR", "Look the values of IN up by {0}."),
    )
)  # fmt: skip


def read_name(detail: str) -> str | None:
    """The alias or name of the table or subquery that a row of the plan reads; None if it reads none."""
    read = None if CONSTANT.fullmatch(detail) else _READ.fullmatch(detail)
    return (read["alias"] or read["name"]) if read else None


def opening(name: str, table: str) -> str:
    """The step that opens a table; "" for a subquery, which has no table."""
    if not table or name.startswith("("):
        return ""
    called = "" if table.lower() == name.lower() else f", called {name} here"
    return f"Open the table {table}{called}."


def in_words(detail: str, *, first: bool) -> str:
    """A row of the plan in words; `first` says that no earlier row reads a table."""
    for pattern, words in _DETAILS:
        if match := pattern.fullmatch(detail):
            return words.format(*match.groups())
    read = _READ.fullmatch(detail)
    if read is None:
        return detail
    name, using = read["alias"] or read["name"], _KEY.fullmatch(read["using"] or "")
    how = f", {_by(using['what'], using['key'] or '')}" if using else ""
    if read["how"] == "SCAN":
        rows = "read every row of"
    elif using and (using["key"] or "PRIMARY KEY" in using["what"]):
        rows = "find the matching rows of"
    else:  # for min() or max()
        rows = "find the first or the last row of"
    left = " Where there is none, go on with NULL for its columns." if read["left"] else ""
    text = f"{rows} {name}{how}.{left}"
    return text[0].upper() + text[1:] if first else f"For each row so far, {text}"


def _by(what: str, key: str) -> str:
    """By which index or key, and by which of its columns, rows are found."""
    key = key.replace("=?", "").replace(">?", " from a bound up").replace("<?", " up to a bound")
    on = f" on {key.replace(' AND ', ' and ')}" if key else ""
    if what == "INTEGER PRIMARY KEY":
        return "directly by row id"
    if what.startswith("AUTOMATIC"):
        return f"by an index{on} that is built for this query alone"
    kind = (
        what.replace("COVERING INDEX", "index")
        .replace("INDEX", "index")
        .replace("PRIMARY KEY", "primary key")
    )
    alone = " without opening the table" if what.startswith("COVERING") else ""
    return f"by {'the ' if kind == 'primary key' else ''}{kind}{on}{alone}"


def grouping(select: Outline) -> Iterable[str]:
    """The steps that group, aggregate and filter groups."""
    if select.group_by:
        yield f"Put the rows into groups, one for each {' and '.join(select.group_by)}."
    if select.aggregates:
        where = "For each group" if select.group_by else "Over all these rows"
        yield f"{where}, work out {', '.join(select.aggregates)}."
    if select.having:
        yield f"Keep a group only if {select.having}."
    if select.windows:
        yield f"For each row, work out {', '.join(select.windows)} over the rows of its window."


def ending(select: Outline) -> Iterable[str]:
    """The steps that remove duplicates, sort and limit."""
    if select.distinct:
        yield "Drop rows that repeat an earlier one."
    if select.order_by:
        yield f"Sort by {', then by '.join(select.order_by)}."
    if select.limit:
        skip = f", after skipping {select.offset}" if select.offset else ""
        yield f"Keep only the first rows, {select.limit} at most{skip}."


def delivery(select: Outline | None) -> list[str]:
    """The steps of the plan's last part."""
    if select is None:
        return ["Return the result columns."]
    return [*ending(select), f"Return {', '.join(select.results)}."]
