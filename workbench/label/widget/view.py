"""A case as HTML: question, queries clause by clause, results, and the generator's values and schema."""

from collections import Counter
from collections.abc import Iterator

from workbench.html.parts import beside, details, stack, table
from workbench.html.results import marked_results
from workbench.html.tree import Element, element
from workbench.label.case import Case
from workbench.sql.facts import Clause, differences
from workbench.sql.reading import Used, parse, used
from workbench.sql.schema_text import one_line
from workbench.types import Column, Table, lower_name


def case_node(case: Case, *, corrected: str = "") -> Element:
    """The case as a node; `corrected` is the query that should be gold."""
    predicted, gold = marked_results(case.execution, case.gold_execution)
    return element(
        "article",
        element("h3", case.question.text, data_testid="question"),
        element(
            "p", element("strong", "Hint: "), case.question.evidence or "none", data_testid="hint"
        ),
        element("p", ", ".join(_origin(case)), class_="quiet", data_testid="about"),
        beside(
            _boxed("Gold's query", _gold(case.gold, corrected), "gold-sql"),
            _boxed(
                "Predicted query", element("pre", case.predicted or "no query"), "predicted-sql"
            ),
            _boxed("Where they differ", clauses_node(case), "differences"),
        ),
        beside(
            _titled("Gold's result", gold, "gold-result"),
            _titled("Predicted result", predicted, "predicted-result"),
        ),
        _values(case),
        _schema(case),
    )


def _gold(sql: str, corrected: str) -> Element:
    if not corrected:
        return element("pre", sql)
    return stack(element("p", "Corrected:"), element("pre", corrected), element("pre", sql))


def _titled(title: str, node: Element, name: str) -> Element:
    """A part with its heading."""
    return stack(element("h5", title), element("div", node, data_testid=name))


def _boxed(title: str, node: Element, name: str) -> Element:
    """A part with its heading, in a box that the arrow keys scroll."""
    box = element("div", node, class_="box", tabindex="0", role="region", aria_label=title)
    return _titled(title, box, name)


def _origin(case: Case) -> Iterator[str]:
    yield f"question {case.question.id} on {case.question.db_id}"
    if case.difficulty:
        yield case.difficulty
    yield f"by {case.generator}"
    if case.candidates > 1:
        yield f"{case.agreeing} of {case.candidates} candidates give this result"


def clauses_node(case: Case) -> Element:
    """The clauses that differ as a table, and the names of the clauses that are the same."""
    clauses = differences(case.gold, case.predicted, case.database)
    if not clauses:
        reasons = [
            f"{side} cannot be read: {reason}"
            for side, sql in (("gold", case.gold), ("the prediction", case.predicted))
            if isinstance(reason := parse(sql), str)
        ]
        reason = "; ".join(reasons) or "the queries cannot be compared"
        return element("p", f"No comparison by clause: {reason}.")
    same = ", ".join(_clause_name(clause) for clause in clauses if clause.same)
    rows = [
        (
            element("th", _clause_name(clause), scope="row"),
            _items(clause.first, clause.only_first, "gold"),
            _items(clause.second, clause.only_second, "prediction"),
        )
        for clause in clauses
        if not clause.same
    ]
    return element(
        "div",
        table(("clause", "gold", "prediction"), rows, kind="even") if rows else None,
        element("p", f"The same in both: {same}.", class_="quiet") if same else None,
    )


def _clause_name(clause: Clause) -> str:
    return clause.name + (" in a subquery" if clause.nested else "")


def _items(texts: tuple[str, ...], own: tuple[str, ...], side: str) -> Element:
    """The parts of a clause; of several equal ones, the last are those that only this side has."""
    shared = Counter(texts) - Counter(own)
    items = []
    for text in texts:
        code = element("code", text)
        if shared[text]:
            items.append(element("div", code, class_="quiet"))
        else:
            items.append(element("div", _sign(f"only in {side}"), code, class_="own"))
        shared[text] -= 1
    return element("td", *items, None if texts else "nothing")


def _sign(meaning: str) -> Element:
    """The sign beside a difference; screen readers announce its meaning."""
    return element("span", "≠", role="img", aria_label=meaning, title=meaning, class_="mark")


def _values(case: Case) -> Element:
    items = [
        element(
            "li",
            f"{value.keyword} → ",
            element("code", f"{value.table}.{value.column} = {one_line(value.value, 200)}"),
            f" (spelling {value.edit:.2f}, meaning {value.semantic:.2f})",
        )
        for value in case.values
    ]
    title = f"Retrieved values: {len(items) or 'none'}"
    return folded("values", title, element("ul", *items))


def _schema(case: Case) -> Element:
    """The schema that the generator saw, the columns that each query uses, and gold's columns that are missing."""
    gold, predicted = used(case.gold, case.database), used(case.predicted, case.database)
    shown, whole = case.schema.columns(), case.database.columns()
    title = f"Schema in use: {len(case.schema.tables)} tables, {len(shown)} of {len(whole)} columns"
    names = {(lower_name(table), lower_name(column)) for table, column in shown}
    lacking = [
        f"{table}.{column}"
        for table, column in sorted(gold.columns)
        if (lower_name(table), lower_name(column)) not in names
    ]
    missing = f"Gold uses columns that are not in the schema in use: {', '.join(lacking)}."
    tables = (_table(table, gold, predicted) for table in case.schema.tables)
    return element(
        "div",
        element("p", _sign("missing"), missing, class_="own") if lacking else None,
        folded("schema", title, *tables),
        data_testid="schema-part",
    )


def _table(described: Table, gold: Used, predicted: Used) -> Element:
    rows = [_column(described.name, column, gold, predicted) for column in described.columns]
    caption = element("caption", described.name)
    return element("table", caption, element("tbody", *rows))


def _column(table: str, column: Column, gold: Used, predicted: Used) -> Element:
    sides = (("gold", gold), ("prediction", predicted))
    users = [side for side, names in sides if (table, column.name) in names.columns]
    description = "; ".join(filter(None, (column.description, column.value_description)))
    return element(
        "tr",
        element("th", column.name, scope="row"),
        element("td", column.type),
        element("td", one_line(description, 160)),
        element("td", f"used by {' and '.join(users)}" if users else ""),
        class_="used" if users else None,
    )


def folded(name: str, title: str, *parts: Element) -> Element:
    """Details that the browser opens again in the next case, by their name."""
    return details(title, *parts, data_fold=name, data_testid=name)
