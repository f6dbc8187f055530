"""Accuracies with their intervals, by system or slice, and paired differences of systems."""

from collections.abc import Iterable, Sequence

import pandas as pd

from workbench.errors import BadInputError
from workbench.evaluate.stats import PairedComparison, compare, mean_interval, too_few
from workbench.report.drawing import lettering, palette
from workbench.report.drawing.style import ONE, TWO, Picture, canvas, need, question_ids, runs
from workbench.report.figures import marks

# Columns by which `trace` finds the questions of a row.
_TRACED = {"system", "generator", "db_id", "difficulty"}


def accuracies(questions: pd.DataFrame, by: str | Sequence[str] = "system") -> pd.DataFrame:
    """EX in percent with its interval (clustered by database) for each value of one or more columns.

    A row whose column holds a list (a question's SQL features) counts for each of its values.
    """
    keys = [by] if isinstance(by, str) else list(by)
    need(questions, "correct", "db_id", *keys)
    for key in keys:
        if questions[key].map(lambda value: isinstance(value, list | tuple)).any():
            questions = questions.explode(key)
    rows = []
    for names, group in questions.groupby(keys, sort=False):
        found = mean_interval(group["correct"].astype(float).tolist(), group["db_id"].tolist())
        rows.append(
            dict(zip(keys, names, strict=True))
            | {"n": found.n, "EX": 100 * found.mean}
            | {"low": 100 * found.low, "high": 100 * found.high}
            | {"run": runs(group)}
            | _behind(group, keys)
        )
    return pd.DataFrame(rows)


def _behind(group: pd.DataFrame, keys: Sequence[str]) -> dict[str, object]:
    """Further columns for `trace`, where a row's own columns do not determine the answers that it counts."""
    columns: dict[str, object] = {}
    if "chosen" in group:  # candidates, and not the answers of questions
        columns |= {"counted": "all"}
    if "sample" in group and (group["sample"] == group["sample"].iloc[0]).all():
        columns |= {"sample": group["sample"].iloc[0]}
    if "question_id" in group and not _TRACED.issuperset(keys):
        columns |= {"question_ids": question_ids(group)}
    return columns


def accuracy_by(
    questions: pd.DataFrame, by: str = "feature", label: str | None = None, *, stamp: object
) -> Picture:
    """EX with its interval by SQL feature, difficulty or database; a mark for each value of `label`."""
    data = accuracies(questions, [by, label] if label else by)
    rows = palette.ordered(data[by])
    parts = marks.by_series(data, label)
    looks = palette.looks(parts)
    sizes = data.groupby(by)["n"].max()
    wide = ONE if len(parts) < 3 else TWO
    high = 0.65 + len(rows) * (0.1 + 0.1 * len(parts))
    with canvas(wide, high, data, stamp) as figure:
        axes = figure.subplots()
        for index, (name, part) in enumerate(parts.items()):
            for _, row in part.iterrows():
                at = rows.index(row[by]) + (index - (len(parts) - 1) / 2) * 0.8 / len(parts)
                marks.interval(axes, at, row["low"], row["EX"], row["high"], looks[name])
        marks.name_rows(axes, rows)
        labels = [lettering.text(row, 70) + f" (N = {sizes[row]:,})" for row in rows]
        axes.set_yticks(range(len(rows)), labels)
        for line in range(len(rows) - 1):
            axes.axhline(line + 0.5, color=palette.PALE, linewidth=0.5)
        marks.percent(axes, "x", "EX with 95% interval")
        axes.grid(axis="x")
        if label:
            marks.legend(figure, {name: marks.line_key(look, "-") for name, look in looks.items()})
    return figure


def differences(questions: pd.DataFrame, against: str | None = None) -> pd.DataFrame:
    """Each system minus the one `against` (by default the first) on the same questions, in points."""
    need(questions, "question_id", "db_id", "correct", "system")
    names = list(dict.fromkeys(questions["system"]))
    base = names[0] if against is None else against
    if base not in names or len(names) < 2:
        raise BadInputError(
            f"the rows have the system {', '.join(map(str, names))}: give two or more, one of them {base!r}"
        )
    verdicts = {
        name: dict(zip(group["question_id"], group["correct"].astype(float), strict=True))
        for name, group in questions.groupby("system", sort=False)
    }
    clusters = dict(zip(questions["question_id"], questions["db_id"], strict=True))
    rows = []
    for name in names:
        if name != base:
            found = compare(verdicts[name], verdicts[base], clusters)
            rows.append(
                {"system": name, "against": base, "difference": 100 * found.difference}
                | {"low": 100 * found.low, "high": 100 * found.high, "p_value": found.p_value}
                | {"won": len(found.won), "lost": len(found.lost), "n": found.n}
                | {f"clustered {end}": 100 * value for end, value in _ends(found)}
                | {"run": runs(questions[questions["system"].isin([name, base])])}
            )
    return pd.DataFrame(rows)


def _ends(found: PairedComparison) -> Iterable[tuple[str, float]]:
    """The ends of the interval clustered by database, if there is one."""
    return zip(("low", "high"), found.clustered or (), strict=False)


def paired_differences(
    questions: pd.DataFrame, against: str | None = None, *, stamp: object
) -> Picture:
    """The `differences` as a figure: intervals and McNemar's exact p, both over questions.

    The pale interval is clustered by database. With fewer than ten databases there is none, and the figure says so.
    """
    data = differences(questions, against)
    few = "" if "clustered low" in data else f"\n{too_few(questions['db_id'].nunique())}"
    names = [str(name) for name in data["system"]]
    looks = palette.looks(names)
    notes = []
    with canvas(TWO, 0.75 + 0.15 * bool(few) + 0.24 * len(names), data, stamp) as figure:
        axes = figure.subplots()
        axes.axvline(0, color=palette.GREY, linewidth=0.8)
        for row, (name, (_, found)) in enumerate(zip(names, data.iterrows(), strict=True)):
            if not few:
                ends = [found["clustered low"], found["clustered high"]]
                axes.plot(ends, [row, row], color=palette.PALE, linewidth=4, solid_capstyle="butt")
            marks.interval(axes, row, found["low"], found["difference"], found["high"], looks[name])
            counts = f"won {found['won']}, lost {found['lost']}, p = {found['p_value']:.3g}"
            notes.append(f"{found['difference']:+.1f}  {counts}")
        marks.name_rows(axes, [palette.shown(name) for name in names], 150)
        marks.notes_beside(axes, [note.replace("-", "\N{MINUS SIGN}") for note in notes])
        base = lettering.text(palette.shown(data["against"].iloc[0]), 180)
        axes.set_xlabel(f"EX minus that of {base}, percentage points{few}")
        axes.grid(axis="x")
    return figure
