"""Differences between a prediction and gold, in words, and the causes that they suggest.

Rules compare the two queries clause by clause, and the two results. Figures draw their guesses apart from people's labels.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import chain

from workbench.benchmarks.load import Flaw
from workbench.label.cases import Case
from workbench.label.taxonomy import Taxonomy
from workbench.sql.aligned import parts
from workbench.sql.facts import comparisons, functions
from workbench.sql.reading import resolved
from workbench.types import Execution, lower_name

_COUNT = re.compile(r"COUNT\((?!DISTINCT)[^()]*\)")  # COUNT(column) mostly equals COUNT(*)
_DISTINCT = re.compile(r"\bDISTINCT\b|\bIS (NOT )?NULL\b")
_AGGREGATES = {"COUNT", "SUM", "AVG", "MIN", "MAX"}
_FAILS = "the prediction does not run"
_ERRORS: dict[str, str] = {  # messages of SQLite
    "no such column": "other column",
    "no such table": "missing table or join",
    "no such function": "function",
}
# Cause, kind of difference, and reason; "both": gold alone has one and the prediction alone has one.
_SIGNS: tuple[tuple[str, str, str], ...] = (
    ("missing table or join", "FROM", "gold reads {}, the prediction {}"),
    ("missing table or join", "both JOIN ON", "gold joins by {}, the prediction by {}"),
    ("other column", "SELECT", "gold returns {}, the prediction {}"),
    ("other column", "both columns", "gold uses {}, the prediction {}"),
    ("other literal", "WHERE", "gold requires {}, the prediction {}"),
    ("aggregation", "operations", "gold uses {}, the prediction {}"),
    ("aggregation", "both GROUP BY", "gold groups by {}, the prediction by {}"),
    ("function", "functions", "gold uses {}, the prediction {}"),
    ("DISTINCT or NULL handling", "DISTINCT", "gold has {}, the prediction {}"),
    ("order and limit", "ORDER BY", "gold orders by {}, the prediction by {}"),
    ("order and limit", "LIMIT", "gold has LIMIT {}, the prediction {}"),
)


def suggested(case: Case, taxonomy: Taxonomy, flaw: Flaw | None = None) -> tuple[str, str] | None:
    """The label of the question's known flaw, or else of the likeliest cause that has one, with the reason."""
    names = {cause: n for n, part in taxonomy.choices().items() for cause in part.suggested_by}
    causes = [*([(flaw.kind, flaw.note)] if flaw else []), *suggest(case)]
    return next(((names[one], f"{one}: {why}") for one, why in causes if one in names), None)


def suggest(case: Case) -> Iterator[tuple[str, str]]:
    """The possible causes of the wrong answer, each with a reason, the likeliest first."""
    gold, ran, only = case.gold_execution, case.execution, _only(case)
    for sign, cause in _ERRORS.items():
        if sign in ran.error:
            yield cause, f"{_FAILS}: {ran.error}"
    null, found = ({None}.issuperset(chain(*one.rows)) for one in (gold, ran))
    if not gold.is_complete:
        yield "wrong gold", f"gold does not run: {gold.error or gold.status}"
    elif null and not found:
        yield "wrong gold", "gold finds nothing, and the prediction does"
    hint, columns = lower_name(case.question.evidence), only["columns"][0]
    for used in [*only["literals"][0], *(name.partition(".")[2] for name in columns)]:
        if used and re.search(rf"(?<!\w){re.escape(lower_name(used))}(?!\w)", hint):
            yield "hint ignored", f"the hint says {used!r}, which gold alone uses"
    for cause, name, said in _SIGNS:
        sides = only[name.removeprefix("both ")]
        if any(sides) and (all(sides) or not name.startswith("both")):
            yield cause, said.format(*(", ".join(side) or "nothing" for side in sides))


def _only(case: Case) -> Mapping[str, tuple[list[str], list[str]]]:
    """The parts that only gold has, and those that only the prediction has, by clause and by kind of fact."""
    found: dict[str, tuple[set[str], set[str]]] = defaultdict(lambda: (set(), set()))
    queries = [(sql, resolved(sql, case.schema)) for sql in (case.gold, case.predicted)]
    for n, (sql, tree) in enumerate(queries):
        found["functions"][n].update(functions(sql) - _AGGREGATES)
        if not tree or not all(other for _, other in queries):
            continue
        found["operations"][n].update(functions(sql) & _AGGREGATES)
        found["columns"][n].update(map(".".join, tree.columns.values()))
        found["literals"][n].update(str(one.value) for one in comparisons(sql, case.schema))
        for part in parts(sql, case.schema):
            found["operations"][n].update({"GROUP"} if part.clause == "GROUP BY" else ())
            for clause, text in part.says:
                same = _COUNT.sub("COUNT(*)", text)
                found["DISTINCT"][n].update({same} if _DISTINCT.search(same) else ())
                kind = clause.replace("HAVING", "WHERE")
                found[kind][n].update({same} if kind != "SELECT" or not part.depth else ())
    only = {name: (sorted(a - b), sorted(b - a)) for name, (a, b) in found.items()}
    return defaultdict(lambda: ([], []), only)


def difference(case: Case) -> str:
    """A sentence: the difference of the results, then its two likeliest reasons."""
    reasons = dict.fromkeys(why for _, why in suggest(case) if not why.startswith(_FAILS))
    results = _of_results(case.gold_execution, case.execution)
    text = ": ".join(filter(None, (results, "; ".join([*reasons][:2]))))
    return text[:1].upper() + text[1:] + "."


def _of_results(gold: Execution, ran: Execution) -> str:
    if not ran.is_complete:
        return f"{_FAILS}, {ran.error or ran.status}"
    width, high = (len(ran.columns), len(gold.columns)), (ran.row_count, gold.row_count)
    if (width, high) == ((1, 1), (1, 1)):
        cells = (ran.rows[0][0], gold.rows[0][0])
        return " in place of ".join("NULL" if cell is None else str(cell)[:60] for cell in cells)
    if not gold.is_complete:
        return ""
    sizes = (("column", *width), ("row", *high))
    said = [f"{a:,} {noun}{'s' * (a != 1)} in place of {b:,}" for noun, a, b in sizes if a != b]
    own, first = {*gold.rows}, "first " * (gold.row_count > len(gold.rows))
    return "; ".join(said) or f"{len(own & {*ran.rows})} of {len(own)} {first}rows are shared"
