"""All candidates of a question: grouped by result, with their generators, repairs and the selector's choice."""

from collections import Counter
from collections.abc import Sequence

from workbench.html.parts import Html, counted, details, heading, line, pre, table, view
from workbench.html.tree import Element, Node
from workbench.report.display.records import outcome_part, rows_part
from workbench.types import Selection, Trial


def pool_html(selection: Selection, right: Sequence[bool] = ()) -> Html:
    """The candidates of a question by result, and the selector's comparisons.

    `right` has a verdict for each candidate, or is empty if there are none.
    """
    members: dict[int, list[int]] = {}
    results = [t.execution.fingerprint if t.execution else "" for t in selection.trials]
    for index, number in enumerate(group_numbers(results)):
        members.setdefault(number, []).append(index)
    complete = sorted(number for number in members if number >= 0)
    parts: list[Node] = [line(_summary(selection, len(complete)))]
    numbers = [*complete, *(members.keys() & {-1})]
    parts += [_group(selection, number, members[number], right) for number in numbers]
    if selection.comparisons:
        how = "A row was shown first, a column second. W: the row won; L: it lost; N: neither was named."
        parts += [heading("Comparisons"), line(how), _winners(selection)]
    return view(f"Candidates of question {selection.question_id}", *parts, kind="wb-pool")


def _summary(selection: Selection, results: int) -> str:
    candidates = counted(len(selection.trials), "candidate")
    chosen = "none" if selection.chosen is None else _name(selection, selection.chosen)
    return f"{candidates}, {counted(results, 'different result')}. {selection.selector} chose {chosen}."


def _group(
    selection: Selection, number: int, indexes: Sequence[int], right: Sequence[bool]
) -> Element:
    trials = [selection.trials[index] for index in indexes]
    generators = Counter(trial.candidate.generator for trial in trials)
    proposed = ", ".join(f"{name} {count}" for name, count in generators.items())
    title = f"Result {number + 1}" if number >= 0 else "No complete result"
    total = counted(len(selection.trials), "candidate")
    summary = [f"{title}, {len(indexes)} of {total}: {proposed}"]
    if right:
        summary.append("right" if any(right[index] for index in indexes) else "wrong")
    if selection.chosen in indexes:
        summary.append("★ chosen")
    execution = trials[0].execution
    result = [rows_part(execution, "Result:")] if execution and number >= 0 else []
    candidates = [
        details(_label(selection, index), *_history(selection.trials[index])) for index in indexes
    ]
    return details("; ".join(summary), *result, *candidates, shown=selection.chosen in indexes)


def _label(selection: Selection, index: int) -> str:
    trial = selection.trials[index]
    parts = [_name(selection, index)]
    if selection.scores:
        parts.append(f"score {selection.scores[index]:g}")
    if trial.repaired_from:
        parts.append(f"fixed {counted(len(trial.history) - 1, 'time')}")
    if index == selection.chosen:
        parts.append("★ chosen")
    return ", ".join(parts)


def _history(trial: Trial) -> list[Node]:
    """The query and the queries that it was repaired from, each with its result or error."""
    parts: list[Node] = []
    for number, attempt in enumerate(trial.history):
        if trial.repaired_from:
            parts.append(heading("As proposed" if number == 0 else f"After fix {number}"))
        parts.append(pre(attempt.candidate.sql or "no SQL"))
        execution = attempt.execution
        if execution is None or execution.status != "ok" or trial.repaired_from:
            parts.append(outcome_part(execution))
    return parts


def _name(selection: Selection, index: int) -> str:
    candidate = selection.trials[index].candidate
    return f"{index}: {candidate.generator} {candidate.sample}"


def _winners(selection: Selection) -> Element:
    """The winner of each comparison: a row for each candidate shown first, a column for each shown second."""
    letters = {
        (one.first, one.second): {one.first: "W", one.second: "L", None: "N"}[one.winner]
        for one in selection.comparisons
    }
    indexes = sorted({index for pair in letters for index in pair})
    rows = [
        [_name(selection, row), *(letters.get((row, column), "") for column in indexes)]
        for row in indexes
    ]
    return table(["", *indexes], rows, kind="matrix")


def group_numbers(fingerprints: Sequence[str]) -> list[int]:
    """The group of each result: equal results share a number, 0 for the largest group; -1 without a complete result."""
    sizes = Counter(filter(None, fingerprints))
    order = {result: number for number, (result, _) in enumerate(sizes.most_common())}
    return [order.get(result, -1) for result in fingerprints]
