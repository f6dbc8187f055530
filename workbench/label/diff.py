"""What differs between a prediction and gold, as a reader wants it: the queries by clause, the rows marked."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import starmap

from workbench.db.compare import difference
from workbench.db.sql.differences import Clause, Item, differences
from workbench.db.sql.parse import why_unreadable
from workbench.label.case import Case
from workbench.label.tree import Node, node
from workbench.types import Execution, Row, Value

SHOWN_ROWS = 15
SHOWN_TEXT = 300  # characters of one cell


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of one result: those that the other does not have, or not as often, and the others.

    A row that comes several times stands there once, with how often it comes.
    """

    own: tuple[tuple[Row, int], ...]
    shared: tuple[tuple[Row, int], ...]


def sides(case: Case) -> tuple[Rows, Rows]:
    """The rows of gold and of the prediction."""
    found = difference(case.execution, case.gold_execution)
    return (
        _rows(case.gold_execution.rows, found.only_gold),
        _rows(case.execution.rows, found.only_predicted),
    )


def _rows(rows: tuple[Row, ...], only_here: tuple[Row, ...]) -> Rows:
    own = Counter(only_here)
    return Rows(tuple(own.items()), tuple((Counter(rows) - own).items()))


def clauses_node(case: Case) -> Node:
    """The two queries clause by clause: what differs in a table, what does not in a line below it."""
    clauses = differences(case.gold, case.predicted, case.database)
    if not clauses:
        reasons = [
            f"{who} cannot be read: {why}"
            for who, sql in (("gold", case.gold), ("the prediction", case.predicted))
            if (why := why_unreadable(sql))
        ]
        said = "; ".join(reasons) or "the queries cannot be compared"
        return node("p", f"No comparison by clause: {said}.", data_testid="differences")
    other = [clause for clause in clauses if not clause.same]
    same = [_called(clause) for clause in clauses if clause.same]
    table = node(
        "table",
        node("caption", "Clause by clause", class_="wb-hidden"),
        node("thead", node("tr", *(_heading(text) for text in ("clause", "gold", "prediction")))),
        node("tbody", *map(_clause, other)),
        class_="wb-clauses",
    )
    return node(
        "div",
        table if other else None,
        node("p", f"The same in both: {', '.join(same)}.", class_="wb-quiet") if same else None,
        data_testid="differences",
    )


def _heading(text: str) -> Node:
    return node("th", text, scope="col")


def _called(clause: Clause) -> str:
    return clause.name + (" in a subquery" if clause.nested else "")


def _clause(clause: Clause) -> Node:
    sides = (("gold", clause.first), ("prediction", clause.second))
    return node(
        "tr",
        node("th", _called(clause), scope="row"),
        *(
            node("td", *([_item(item, who) for item in items] or ["nothing"]))
            for who, items in sides
        ),
    )


def _item(item: Item, who: str) -> Node:
    if item.shared:
        return node("div", node("code", item.text), class_="wb-quiet")
    return node("div", mark(f"only in {who}"), node("code", item.text), class_="wb-own")


def mark(meaning: str) -> Node:
    """The sign beside what differs, which is read out as what it means."""
    return node("span", "≠", role="img", aria_label=meaning, title=meaning, class_="wb-mark")


def result_node(execution: Execution, rows: Rows, who: str, testid: str) -> Node:
    """A result as a table, rows that the other result does not have first and marked."""
    if execution.status not in {"ok", "empty"}:
        said = f"{execution.status}: {execution.error}" if execution.error else execution.status
        return node("p", f"No result. {said}", class_="wb-own", data_testid=testid)
    own = [(row, times, f"only in {who}") for row, times in rows.own]
    shown = [*own, *((row, times, "") for row, times in rows.shared)][:SHOWN_ROWS]
    table = node(
        "table",
        node("caption", f"Result of {who}", class_="wb-hidden"),
        node(
            "thead", node("tr", node("td"), *(_heading(_cut(name)) for name in execution.columns))
        ),
        node("tbody", *starmap(_row, shown)),
        class_="wb-result",
    )
    return node(
        "div",
        node(
            "p",
            " ".join(_summary(execution, rows, sum(times for _, times, _ in shown))),
            class_="wb-quiet",
        ),
        node(
            "div", table, class_="wb-wide", tabindex="0", role="region", aria_label=f"Rows of {who}"
        ),
        data_testid=testid,
    )


def _summary(execution: Execution, rows: Rows, shown: int) -> Iterator[str]:
    own = sum(times for _, times in rows.own)
    known = own + sum(times for _, times in rows.shared)
    yield f"{execution.row_count:,} row{'' if execution.row_count == 1 else 's'},"
    yield f"{own:,} only here." if own else "all in the other result, too."
    if execution.truncated or execution.row_count > known:
        yield f"The first {known:,} are compared."
    if shown < known:
        yield f"{known - shown:,} more are not shown."


def _row(row: Row, times: int, own: str) -> Node:
    cells = (node("td", _value(value), class_=_kind(value)) for value in row)
    often = f"\N{MULTIPLICATION SIGN}{times:,}" if times > 1 else None
    sign = node("td", mark(own) if own else None, often)
    return node("tr", sign, *cells, class_="wb-own" if own else None)


def _value(value: Value) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bytes):
        return _cut(f"x'{value[:SHOWN_TEXT].hex()}'")
    return _cut(str(value))


def _kind(value: Value) -> str | None:
    if value is None:
        return "wb-null"
    return "wb-number" if isinstance(value, int | float) else None


def _cut(text: str) -> str:
    return text if len(text) <= SHOWN_TEXT else f"{text[:SHOWN_TEXT]}…"
