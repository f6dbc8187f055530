"""A case as it is shown: question, queries, results, and what the generator was given."""

from collections.abc import Iterator
from pathlib import Path

from workbench.db.quoting import one_line
from workbench.db.sql.used import Used, used
from workbench.label.case import Case
from workbench.label.diff import clauses_node, mark, result_node, sides
from workbench.label.suggest import suggest
from workbench.label.tree import Node, html, node
from workbench.types import Column, Table, fold

_STYLE = Path(__file__).with_name("widget.css")
NO_MATH = "tex2jax_ignore mathjax_ignore"  # a dollar sign is a dollar sign


def case_html(case: Case, *, suggestions: bool = False) -> str:
    """The case as HTML that needs nothing else: to show in a notebook, or to keep."""
    body = node("div", case_node(case, suggestions=suggestions), class_=f"wb-label {NO_MATH}")
    return f"<style>{_STYLE.read_text(encoding='utf-8')}</style>{html(body)}"


def case_node(case: Case, *, suggestions: bool = False) -> Node:
    """The case as a tree, with what the rules say of it if asked for."""
    gold, predicted = sides(case)
    return node(
        "article",
        node("h3", case.question.text, data_testid="question"),
        _hint(case),
        node("p", ", ".join(_about(case)), class_="wb-quiet", data_testid="about"),
        _suggestions(case) if suggestions else None,
        node("h4", "Queries"),
        _two(
            ("Gold", node("pre", node("code", case.gold), data_testid="gold-sql")),
            ("Prediction", node("pre", node("code", case.predicted), data_testid="predicted-sql")),
        ),
        clauses_node(case),
        node("h4", "Results"),
        _two(
            ("Gold", result_node(case.gold_execution, gold, "gold", "gold-result")),
            (
                "Prediction",
                result_node(case.execution, predicted, "prediction", "predicted-result"),
            ),
        ),
        _values(case),
        _schema(case),
        aria_label=f"Question {case.question.id}",
    )


def _hint(case: Case) -> Node:
    hint = case.question.evidence or "none"
    return node("p", node("strong", "Hint: "), hint, data_testid="hint")


def _about(case: Case) -> Iterator[str]:
    yield f"question {case.question.id} on {case.question.db_id}"
    if case.difficulty:
        yield case.difficulty
    yield f"by {case.generator}"
    if case.candidates > 1:
        yield f"{case.agreeing} of {case.candidates} candidates give this result"


def _two(left: tuple[str, Node], right: tuple[str, Node]) -> Node:
    columns = (node("section", node("h5", name), body) for name, body in (left, right))
    return node("div", *columns, class_="wb-two")


def _suggestions(case: Case) -> Node:
    lines = [node("li", node("strong", one.cause), f": {one.reason}") for one in suggest(case)]
    listed = node("ol", *lines) if lines else node("p", "nothing that the rules know of")
    return node("div", node("h4", "Suggested causes"), listed, data_testid="suggestions")


def _values(case: Case) -> Node:
    lines = [
        node(
            "li",
            f"{value.keyword} → ",
            node("code", f"{value.table}.{value.column} = {one_line(value.value, 200)}"),
            f" (spelling {value.edit:.2f}, meaning {value.semantic:.2f})",
        )
        for value in case.values
    ]
    title = f"Retrieved values: {len(lines)}" if lines else "Retrieved values: none"
    return folded("values", title, node("ul", *lines))


def _schema(case: Case) -> Node:
    """The schema in use: which columns of it either query takes, and what it lacks."""
    gold, predicted = used(case.gold, case.database), used(case.predicted, case.database)
    count = sum(len(table.columns) for table in case.schema.tables)
    whole = sum(len(table.columns) for table in case.database.tables)
    title = f"Schema in use: {len(case.schema.tables)} tables, {count} of {whole} columns"
    there = {(fold(table), fold(column)) for table, column in case.schema.columns()}
    lacking = [
        ".".join(place) for place in sorted(gold.columns) if tuple(map(fold, place)) not in there
    ]
    missing = (
        node(
            "p",
            mark("missing"),
            f"Gold needs what is not in it: {', '.join(lacking)}.",
            class_="wb-own",
        )
        if lacking
        else None
    )
    tables = (_table(table, gold, predicted) for table in case.schema.tables)
    return node("div", missing, folded("schema", title, *tables), data_testid="schema-part")


def _table(table: Table, gold: Used, predicted: Used) -> Node:
    rows = (_column(table, column, gold, predicted) for column in table.columns)
    return node("table", node("caption", table.name), node("tbody", *rows), class_="wb-schema")


def _column(table: Table, column: Column, gold: Used, predicted: Used) -> Node:
    place = (table.name, column.name)
    users = [
        who for who, its in (("gold", gold), ("prediction", predicted)) if place in its.columns
    ]
    about = "; ".join(filter(None, (column.description, column.value_description)))
    return node(
        "tr",
        node("th", column.name, scope="row"),
        node("td", column.type),
        node("td", one_line(about, 160)),
        node("td", f"used by {' and '.join(users)}" if users else ""),
        class_="wb-used" if users else None,
    )


def folded(name: str, title: str, *children: Node) -> Node:
    """What is seen once it is unfolded."""
    return node("details", node("summary", title), *children, data_fold=name, data_testid=name)
