"""All candidates of a question: grouped by result, who proposed them, how they were fixed, who was chosen."""

from collections import Counter
from collections.abc import Sequence

import pandas as pd

from workbench.report.markup import Html, fold, heading, line, pre, table, view
from workbench.report.records import rows_html
from workbench.types import Selection, Trial


def pool_html(selection: Selection, right: Sequence[bool] = ()) -> Html:
    """Everything about a question's candidates: groups, proposers, fixing history, comparisons."""
    members: dict[int, list[int]] = {}
    results = [t.execution.fingerprint if t.execution else "" for t in selection.trials]
    for place, number in enumerate(group_numbers(results)):
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
            line(
                "A row was shown first, a column second. W: the row won; L: it lost; N: neither was named."
            ),
            table(["", *places], rows, kind="matrix"),
        ]
    return view(f"Candidates of question {selection.question_id}", *parts, kind="wb-pool")


def _summary(selection: Selection, results: int) -> str:
    candidates = _count(len(selection.trials), "candidate")
    told = f"{candidates}, {_count(results, 'different result')}. "
    if selection.chosen is None:
        return f"{told}{selection.selector} chose none."
    return f"{told}{selection.selector} chose {_name(selection, selection.chosen)}."


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _group(selection: Selection, number: int, places: Sequence[int], right: Sequence[bool]) -> str:
    trials = [selection.trials[place] for place in places]
    who = Counter(trial.candidate.generator for trial in trials)
    proposed = ", ".join(f"{name} {count}" for name, count in who.items())
    title = f"Result {number + 1}" if number >= 0 else "Without a whole result"
    all_ = _count(len(selection.trials), "candidate")
    told = [f"{title}, {len(places)} of {all_}: {proposed}"]
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
        told.append(f"fixed {_count(len(trial.history) - 1, 'time')}")
    if place == selection.chosen:
        told.append("★ chosen")
    return ", ".join(told)


def _told(trial: Trial) -> list[str]:
    """The query, and before it every one that it was repaired from, each with what came of it."""
    parts: list[str] = []
    for number, tried in enumerate(trial.history):
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


def matrix(selection: Selection) -> pd.DataFrame:
    """What the judge said: row shown first, column second; "won" if the row did, "none" if it did not say, "" if never asked."""
    met = sorted({place for c in selection.comparisons for place in (c.first, c.second)})
    names = [_name(selection, place) for place in met]
    found = pd.DataFrame("", index=names, columns=names)
    for comparison in selection.comparisons:
        i, j = met.index(comparison.first), met.index(comparison.second)
        said = {comparison.first: "won", comparison.second: "lost", None: "none"}
        found.iloc[i, j] = said[comparison.winner]
    return found


def group_numbers(fingerprints: Sequence[str]) -> list[int]:
    """For each result the number of its group of equal ones, 0 the largest; -1 where none is whole."""
    sizes = Counter(filter(None, fingerprints))
    order = {result: number for number, (result, _) in enumerate(sizes.most_common())}
    return [order.get(result, -1) for result in fingerprints]
