"""Tables of our numbers, alone or beside the paper's, each with a caption that says what was measured."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from workbench.errors import BadInputError
from workbench.report.drawing.palette import shown
from workbench.report.drawing.rendering import ResultTable, bounds_of
from workbench.report.papers import Published
from workbench.report.stamp import Stamp, measured


def alone(ours: pd.DataFrame, stamp: Stamp, title: str, note: str = "") -> ResultTable:
    """A table of our numbers alone."""
    return ResultTable(title, tuple(filter(None, (_our_caption(ours, stamp.of(ours)), note))), ours)


def beside(
    ours: pd.DataFrame,
    published: Published,
    stamp: Stamp,
    *,
    label: str = "system",
    columns: Mapping[str, str | tuple[str, ...]] | None = None,
    title: str = "",
    note: str = "",
) -> ResultTable:
    """Our rows beside the paper's rows of the same label, then the rows that only the paper has.

    `columns` names the paper's columns to show beside each of ours; by default those of the same name. All
    of our columns stay. Labels are compared by their words, in any case. If the paper's rows are of several
    models, a column names them.
    """
    stamp = stamp.of(ours)
    pairs = _pairs(ours, published, label, columns)
    theirs = published.frame().convert_dtypes()
    counts = ours.select_dtypes("integer").columns
    left = ours.astype(dict.fromkeys(counts, "Int64"))
    left.index = _label_index(ours[label], "our rows")
    theirs.index = _label_index(theirs["label"], f"{published.paper}, {published.source}")
    keys = left.index.union(theirs.index, sort=False)
    left, right = left.reindex(keys), theirs.reindex(keys)

    parts = {label: left[label].fillna(right["label"])}
    heads: dict[str, tuple[str, str]] = {}
    names = list(map(str, ours))
    for name in names:
        if name in {label, "run"}:
            continue
        parts.setdefault(name, left[name])
        if name not in pairs:
            continue
        parts |= {bound: left[bound] for bound in bounds_of(name, names)}
        heads[name] = (name, stamp.models)
        for one in pairs[name]:
            parts[f"{published.paper}: {one}"] = right[one]
            whose = published.paper if one == name else f"{published.paper}, {one}"
            heads[f"{published.paper}: {one}"] = (name, whose)
    if not published.model and "model" in published.columns:
        parts[f"{published.paper}: model"] = right["model"]
    if "run" in names:
        parts["run"] = left["run"]
    if "EX" not in published.metric:
        stamp = replace(stamp, ex="")  # the table has another metric
    caption = (_our_caption(ours, stamp), _paper_caption(published), note)
    return ResultTable(
        title or published.title,
        tuple(filter(None, caption)),
        pd.DataFrame(parts).reset_index(drop=True),
        heads,
    )


def _pairs(
    ours: pd.DataFrame,
    published: Published,
    label: str,
    columns: Mapping[str, str | tuple[str, ...]] | None,
) -> dict[str, tuple[str, ...]]:
    """The paper's columns to show beside each of ours; an error if one is missing or used twice."""
    names = list(map(str, ours))
    given = columns or {name: name for name in names if name in published.columns}
    pairs = {name: (one,) if isinstance(one, str) else one for name, one in given.items()}
    source = f"{published.paper}, {published.source}"
    if not pairs:
        raise BadInputError(
            f"{source} has the columns {', '.join(published.columns)} and ours {', '.join(names)}: "
            "none has the same name, so say with `columns` which belong together"
        )
    for name in [label, *pairs]:
        if name not in names:
            raise BadInputError(f"no column {name!r} of ours; there are {', '.join(names)}")
    wanted = [one for several in pairs.values() for one in several]
    for one in wanted:
        if one not in published.columns:
            known = ", ".join(published.columns)
            raise BadInputError(f"no column {one!r} in {source}; there are {known}")
        if wanted.count(one) > 1:
            raise BadInputError(
                f"column {one!r} of {source} is beside two of our columns: give it to one of them"
            )
    return pairs


def _label_index(labels: "pd.Series[Any]", whose: str) -> "pd.Index[str]":
    """The words by which labels are compared."""
    keys = pd.Index([re.sub(r"[\W_]+", " ", shown(x).casefold()).strip() for x in labels])
    if keys.has_duplicates:
        label = labels[keys.duplicated()].iloc[0]
        raise BadInputError(f"{whose} have the label {label!r} twice: a row is found by its label")
    return keys


def _our_caption(ours: pd.DataFrame, stamp: Stamp) -> str:
    names = list(map(str, ours))
    intervals = any(bounds_of(name, names) for name in names)
    return f"Here: {stamp}." + (" Intervals: 95%, clustered by database." if intervals else "")


def _paper_caption(published: Published) -> str:
    what = f"{published.model} on {published.benchmark}" if published.model else published.benchmark
    line = measured(what, published.n, published.metric)
    return f"{published.paper}, {published.source}: {line}. {published.note}".strip()
