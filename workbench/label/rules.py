"""Differences of an answer from gold, in words, and the causes that they speak for.

Rules compare both queries clause by clause and both results. What they guess is drawn apart from what people say.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import attrgetter
from typing import Any

from workbench.benchmarks.load import Flaw
from workbench.label.cases import Case
from workbench.label.taxonomy import Cause, Taxonomy
from workbench.sql.aligned import CLAUSES, differences
from workbench.sql.facts import functions, query_facts
from workbench.types import Execution, lower_name

_Sides = Sequence[list[Any]]
_COUNT = re.compile(r"COUNT\((?!DISTINCT)[^()]*\)")  # COUNT(column) mostly equals COUNT(*)
_AGGREGATES = ("count", "sum", "avg", "min", "max", "group")
_ERRORS: dict[str, Cause] = {  # messages of SQLite, and the cause to which they point
    "no such column": "other column",
    "ambiguous column": "other column",
    "no such table": "missing table or join",
    "no such function": "function",
    "wrong number of arguments": "function",
    "misuse of aggregate": "aggregation",
}


def suggested(case: Case, taxonomy: Taxonomy, flaw: Flaw | None = None) -> tuple[str, str] | None:
    """The label of the known flaw of the question, or else of the likeliest cause that has one, and the reason."""
    causes = suggest(case)
    if flaw:
        known = "gold likely wrong" if flaw.kind == "wrong gold" else flaw.kind
        causes = {known: flaw.note} | causes | {known: flaw.note}
    found = ((taxonomy.suggested(cause), f"{cause}: {why}") for cause, why in causes.items())
    return next(((name, why) for name, why in found if name), None)


def suggest(case: Case) -> dict[str, str]:
    """The causes that something speaks for, each with the best reason, the likeliest cause first."""
    found: dict[str, str] = {}
    for sign, cause in _ERRORS.items():
        if sign in case.execution.error:
            found.setdefault(cause, f"the prediction does not run: {case.execution.error}")
    for cause, why in _reasons(case):
        found.setdefault(cause, why)
    return found


def _reasons(case: Case) -> Iterator[tuple[Cause, str]]:
    clauses = differences(case.gold, case.predicted, case.schema)
    facts = [query_facts(sql, case.schema) for sql in (case.gold, case.predicted)]
    calls = [functions(sql) for sql in (case.gold, case.predicted)]
    hint = lower_name(case.question.evidence)

    def clause(*names: str, nested: bool = True, having: str = "") -> _Sides:
        own = [c for c in clauses if c.name in names and (nested or not c.nested)]
        first, second = (
            [
                _COUNT.sub("COUNT(*)", text)
                for c in own
                for text in side(c)
                if re.search(having, text)
            ]
            for side in (attrgetter("only_first"), attrgetter("only_second"))
        )
        return _only(first, second)

    def fact(name: str) -> _Sides:
        return _only(*(getattr(found, name) if all(facts) else () for found in facts))

    def in_hint(value: object) -> bool:
        word = re.escape(lower_name(str(value)))
        return bool(word and re.search(rf"(?<!\w){word}(?!\w)", hint))

    if not case.gold_execution.is_complete:
        error = case.gold_execution.error or case.gold_execution.status
        yield "gold likely wrong", f"gold does not run: {error}"
    elif case.execution.rows and _nulls(case.gold_execution) and not _nulls(case.execution):
        yield "gold likely wrong", "gold finds nothing, and the prediction does"
    used = [one.value for one in fact("comparisons")[0]] + [name for _, name in fact("columns")[0]]
    for one in filter(in_hint, used):
        yield "hint ignored", f"the hint says {one!r}, which gold uses and the prediction does not"
    operations = tuple([x.upper() for x in side if x in _AGGREGATES] for side in fact("operations"))
    null, distinct = (
        clause(*CLAUSES, having=one) for one in (r"\bIS (NOT )?NULL\b", r"\bDISTINCT\b")
    )
    signs: tuple[tuple[Cause, str, _Sides, Callable[[_Sides], bool]], ...] = (
        ("missing table or join", "gold reads {}, the prediction {}", fact("tables"), any),
        ("missing table or join", "gold reads {}, the prediction {}", clause("FROM"), any),
        ("missing table or join", "gold joins by {}, the prediction by {}", clause("JOIN ON"), all),
        ("other column", "gold returns {}, the prediction {}", clause("SELECT", nested=False), any),
        ("other column", "gold uses {}, the prediction {}", fact("columns"), all),
        ("other literal", "gold requires {}, the prediction {}", clause("WHERE", "HAVING"), any),
        ("aggregation", "gold uses {}, the prediction {}", operations, any),
        ("aggregation", "gold groups by {}, the prediction by {}", clause("GROUP BY"), all),
        ("function", "gold uses {}, the prediction {}", _only(*calls), any),
        ("DISTINCT or NULL handling", "gold has {}, the prediction {}", distinct, any),
        ("DISTINCT or NULL handling", "gold has {}, the prediction {}", null, any),
        ("order and limit", "gold orders by {}, the prediction by {}", clause("ORDER BY"), any),
        ("order and limit", "gold has LIMIT {}, the prediction {}", clause("LIMIT"), any),
    )
    for cause, said, sides, enough in signs:
        if enough(sides):
            yield cause, said.format(*map(_list, sides))
    found, expected = _number(case.execution), _number(case.gold_execution)
    counts = facts[1] and {"count", "sum"} & facts[1].operations
    if counts and found and expected and found > expected:
        yield (
            "duplicates",
            f"the prediction finds {found:g}, gold {expected:g}: rows may be counted twice",
        )


def _only(first: Iterable[Any], second: Iterable[Any]) -> _Sides:
    """The parts that only gold has, and those that only the prediction has."""
    one, other = dict.fromkeys(first), dict.fromkeys(second)
    return sorted(one.keys() - other, key=repr), sorted(other.keys() - one, key=repr)


def difference(case: Case) -> str:
    """One sentence on the differences: first the results, then the two likeliest reasons."""
    results = "; ".join(_of_results(case.gold_execution, case.execution))
    reasons = [
        why for why in suggest(case).values() if not why.startswith("the prediction does not run")
    ]
    text = ": ".join(filter(None, (results, "; ".join(dict.fromkeys(reasons[:2])))))
    return text[:1].upper() + text[1:] + "."


def _of_results(gold: Execution, predicted: Execution) -> Iterator[str]:
    if not predicted.is_complete:
        yield f"the prediction does not run, {predicted.error or predicted.status}"
    if not gold.is_complete or not predicted.is_complete:
        return
    more = len(predicted.columns) - len(gold.columns)
    lacking = {name.lower() for name in gold.columns} - {name.lower() for name in predicted.columns}
    if more < 0 and len(lacking) == -more:
        yield f"the prediction lacks {_list([one for one in gold.columns if one.lower() in lacking])}"
    elif more:
        yield f"{_count(len(predicted.columns), 'column')} in place of {len(gold.columns)}"
    rows, expected = predicted.row_count, gold.row_count
    if (rows, expected, len(gold.columns), more) == (1, 1, 1, 0):
        yield f"{_cell(predicted)} in place of {_cell(gold)}"
    elif rows != expected:
        yield f"{_count(rows, 'row')} in place of {expected:,}"
    elif not more:
        shared = len(set(gold.rows) & set(predicted.rows))
        yield f"{shared} of {len(set(gold.rows))} rows are shared" if shared else "no row is shared"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"


def _cell(execution: Execution) -> str:
    cell = execution.rows[0][0]
    return "NULL" if cell is None else f"{cell:.10g}" if isinstance(cell, float) else str(cell)[:60]


def _nulls(execution: Execution) -> bool:
    return all(value is None for row in execution.rows for value in row)


def _number(execution: Execution) -> float | None:
    """The number that is the whole result, or None."""
    values = [value for row in execution.rows for value in row]
    return values[0] if len(values) == 1 and isinstance(values[0], int | float) else None


def _list(texts: Iterable[Any]) -> str:
    return ", ".join(".".join(x) if isinstance(x, tuple) else x for x in texts) or "nothing"
