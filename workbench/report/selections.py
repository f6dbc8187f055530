"""All candidates of a question: grouped by result, who proposed them, how they were fixed, who was chosen."""

from collections import Counter
from collections.abc import Sequence

import pandas as pd

from workbench.report.markup import Html, fold, heading, line, pre, table, view
from workbench.report.records import history, rows_html
from workbench.types import Selection, Trial


def pool_html(selection: Selection, right: Sequence[bool] = ()) -> Html:
    """Everything about a question's candidates: groups, proposers, fixing history, comparisons."""
    members: dict[int, list[int]] = {}
    for place, number in enumerate(group_numbers(selection.trials)):
        members.setdefault(number, []).append(place)
    whole = sorted(number for number in members if number >= 0)
    parts = [line(_summary(selection, len(whole)))]
    for number in [*whole, *(members.keys() & {-1})]:
        parts.append(_group(selection, number, members[number], right))  # noqa: PERF401
    if selection.comparisons:
        wins = matrix(selection)
        rows = [
            [name, *(cell[:1].upper() for cell in row)]
            for name, row in zip(wins.index, wins.to_numpy(), strict=True)
        ]
        places = [str(name).partition(":")[0] for name in wins.columns]
        parts += [
            heading("Comparisons"),
            line("A row was shown first, a column second. W: the row won; L: it lost."),
            table(["", *places], rows, kind="matrix"),
        ]
    return view(f"Candidates of question {selection.question_id}", *parts, kind="wb-pool")


def _summary(selection: Selection, results: int) -> str:
    told = f"{len(selection.trials)} candidates, {results} different results. "
    if selection.chosen is None:
        return f"{told}{selection.selector} chose none."
    return f"{told}{selection.selector} chose {_name(selection, selection.chosen)}."


def _group(selection: Selection, number: int, places: Sequence[int], right: Sequence[bool]) -> str:
    trials = [selection.trials[place] for place in places]
    who = Counter(trial.candidate.generator for trial in trials)
    proposed = ", ".join(f"{name} {count}" for name, count in who.items())
    title = f"Result {number + 1}" if number >= 0 else "Without a whole result"
    told = [f"{title}, {len(places)} of {len(selection.trials)} candidates: {proposed}"]
    if right:
        told.append("right" if any(right[place] for place in places) else "wrong")
    if selection.chosen in places:
        told.append("★ chosen")
    execution = trials[0].execution
    result = rows_html(execution, "Result:") if execution and number >= 0 else ""
    each = [fold(_label(selection, place), *_told(selection.trials[place])) for place in places]
    return fold("; ".join(told), result, *each, shown=selection.chosen in places)


def _label(selection: Selection, place: int) -> str:
    trial = selection.trials[place]
    told = [_name(selection, place)]
    if selection.scores:
        told.append(f"score {selection.scores[place]:g}")
    if trial.repaired_from:
        told.append(f"fixed {len(history(trial)) - 1} times")
    if place == selection.chosen:
        told.append("★ chosen")
    return ", ".join(told)


def _told(trial: Trial) -> list[str]:
    """The query, and before it every one that it was repaired from, each with what came of it."""
    parts: list[str] = []
    for number, tried in enumerate(history(trial)):
        if trial.repaired_from:
            parts.append(heading("As proposed" if number == 0 else f"After fix {number}"))
        parts.append(pre(tried.candidate.sql or "no SQL"))
        execution = tried.execution
        if execution is None or execution.status != "ok" or trial.repaired_from:
            parts.append(rows_html(execution) if execution else line("not run"))
    return parts


def _name(selection: Selection, place: int) -> str:
    candidate = selection.trials[place].candidate
    return f"{place}: {candidate.generator} {candidate.sample}"


def candidates(selection: Selection, right: Sequence[bool] = ()) -> pd.DataFrame:
    """One row a candidate, the largest group of equal results first; `group` is -1 without a result.

    `right` holds a verdict for each trial, where there are any.
    """
    numbers = group_numbers(selection.trials)
    rows = []
    for place, trial in enumerate(selection.trials):
        execution = trial.execution
        rows.append(
            {
                "place": place,
                "group": numbers[place],
                "generator": trial.candidate.generator,
                "sample": trial.candidate.sample,
                "chosen": place == selection.chosen,
                "correct": right[place] if right else None,
                "score": selection.scores[place] if selection.scores else None,
                "fixes": len(history(trial)) - 1,
                "status": execution.status if execution else "not run",
                "rows": execution.row_count if execution else 0,
                "sql": trial.candidate.sql,
            }
        )
    names = "place group generator sample chosen correct score fixes status rows sql"
    found = pd.DataFrame(rows, columns=names.split())
    return found.sort_values("group", key=lambda g: g.where(g >= 0, len(rows)), kind="stable")


def matrix(selection: Selection) -> pd.DataFrame:
    """What the judge said: row shown first, column second; "won" if the row did, "" if never asked."""
    met = sorted({place for c in selection.comparisons for place in (c.first, c.second)})
    names = [_name(selection, place) for place in met]
    found = pd.DataFrame("", index=names, columns=names)
    for comparison in selection.comparisons:
        i, j = met.index(comparison.first), met.index(comparison.second)
        found.iloc[i, j] = "won" if comparison.winner == comparison.first else "lost"
    return found


def group_numbers(trials: Sequence[Trial]) -> list[int]:
    """For each trial the number of its group of equal results, 0 the largest; -1 without a whole result."""
    prints = [trial.execution.fingerprint if trial.execution else "" for trial in trials]
    sizes = Counter(filter(None, prints))
    order = {print_: number for number, (print_, _) in enumerate(sizes.most_common())}
    return [order.get(print_, -1) for print_ in prints]
