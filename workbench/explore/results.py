"""What a query gave beside gold's result, with the rows that differ marked, and both plans in words."""

from collections import Counter
from collections.abc import Iterable, Sequence

from workbench.benchmarks.benchmark import Benchmark
from workbench.db.compare import bird_equal, difference, spider_equal
from workbench.db.plan import narrate
from workbench.lab import Lab
from workbench.report.markup import Html, beside, heading, line, listed, pre, table, view
from workbench.report.records import ROWS, cells_of, names_of, rows_html, told_of
from workbench.types import Execution, Question, Row

_ONLY, _BOTH = "≠ only here", "= in both"


def answer_html(lab: Lab, benchmark: Benchmark, question: Question, sql: str) -> Html:
    """A query and its result beside gold's, the rows that differ marked, and the plans of both."""
    gold = benchmark.golds[question.id]
    predicted, expected = lab.run(question, sql), lab.run(question, gold.sql)
    path = lab.database(question.db_id)
    right = "right" if bird_equal(predicted, expected) else "wrong"
    as_spider = "right" if spider_equal(predicted, expected, gold.sql) else "wrong"
    return view(
        "The query beside gold's",
        line(f"EX (BIRD): {right}. EX (Spider): {as_spider}."),
        beside(
            heading("This query") + pre(sql or "no SQL"), heading("Gold's query") + pre(gold.sql)
        ),
        results_beside(predicted, expected),
        heading("Their plans in words"),
        beside(*(listed(narrate(text, path, lab.executor)) for text in (sql, gold.sql) if text)),
        kind="wb-answer",
    )


def results_beside(predicted: Execution, expected: Execution) -> str:
    """Two results side by side. A row that only one of them has says so; duplicates count."""
    differs = difference(predicted, expected)
    return beside(
        _marked("Result", predicted, differs.only_predicted, "minus"),
        _marked("Gold's result", expected, differs.only_gold, "plus"),
    )


def _marked(caption: str, execution: Execution, only: Iterable[Row], mark: str) -> str:
    if execution.status not in {"ok", "empty"}:
        return rows_html(execution, f"{caption}:")
    left = Counter(only)
    signs: list[str] = []
    for row in execution.rows:
        signs.append(_ONLY if left[row] > 0 else _BOTH)
        left[row] -= 1
    places: Sequence[int] = range(len(signs))
    if len(signs) > ROWS:  # what differs first: it is what one looks for
        places = sorted(places, key=lambda place: signs[place] == _BOTH)[:ROWS]
    return table(
        ["", *names_of(execution)],
        [[signs[place], *cells_of(execution.rows[place])] for place in places],
        f"{caption}: {told_of(execution)}, {signs.count(_ONLY):,} of them only here",
        [mark if signs[place] == _ONLY else "" for place in places],
        kind="signs",
    )
