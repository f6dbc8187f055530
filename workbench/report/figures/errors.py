"""The causes of wrong answers, from labels: figures 8 and 13 of CHASE-SQL, 18 of CHESS, 6 of MAC-SQL.

A table of labels has a row for each label, or one for each kind of error with its `count`. `error` is the kind, and
`detail` the subkind, if the paper has any. There is a panel for each system or benchmark. Labels by people and labels by
rules (`automatic`) have panels of their own, if there are both.
"""

from typing import Any

import pandas as pd
from matplotlib.patches import Patch

from workbench.report import style
from workbench.report.figures.frames import bars, need, series
from workbench.report.stamp import runs
from workbench.report.style import ONE, TWO, Look, Picture, shown, text


def tally(labels: pd.DataFrame, panel: str | None = None) -> pd.DataFrame:
    """The count of each kind and detail, and its percent of the panel; the most frequent kinds first."""
    need(labels, "error", *([panel] if panel else []))
    of = panel or "panel"
    detail = labels["detail"].fillna("") if "detail" in labels else ""
    rows = labels.assign(count=labels.get("count", 1), detail=detail)
    rows = rows if panel else rows.assign(panel="")
    rows = rows[rows["count"] > 0].astype({of: str, "error": str, "detail": str})
    need(rows)
    rows["_panel"] = rows[of].map(list(dict.fromkeys(rows[of])).index)
    rows["_kind"] = -rows.groupby("error")["count"].transform("sum")
    rows["_detail"] = -rows.groupby(["error", "detail"])["count"].transform("sum")
    rows = rows.sort_values(["_panel", "_kind", "error", "_detail", "detail"], kind="stable")
    found = rows.groupby([of, "error", "detail"], sort=False)["count"].sum().reset_index()
    found["percent"] = 100 * found["count"] / found.groupby(of)["count"].transform("sum")
    return found.assign(run=runs(labels))


def _people_apart(labels: pd.DataFrame, panel: str | None) -> tuple[pd.DataFrame, str | None]:
    """The labels and the name of their panel column; labels by people and by rules get different panels."""
    if "automatic" not in labels:
        return labels, panel
    rules = labels["automatic"].astype(bool) | (labels["error"] == style.UNLABELLED)
    if rules.nunique() < 2:
        return labels, panel
    by = rules.map({True: "by rules", False: "by people"})
    names = by if panel is None else labels[panel].astype(str) + ", " + by
    return labels.assign(labelled=names).sort_values("labelled", kind="stable"), "labelled"


@style.settings
def error_pies(labels: pd.DataFrame, panel: str | None = None, *, stamp: object) -> Picture:
    """A pie for each panel: a colour and hatch for each kind, paler for each further detail of it."""
    labels, panel = _people_apart(labels, panel)
    data = tally(labels, panel)
    parts = series(data, panel)
    looks: dict[Any, Look] = {}
    for place, (kind, rows) in enumerate(data.groupby("error", sort=False)):
        colour, hatch = style.COLOURS[place % 8], style.SHAPES[place % 8][1]
        details = list(dict.fromkeys(rows["detail"]))
        for number, detail in enumerate(details):
            paler = style.shade(colour, 0.75 * number / len(details))
            looks[kind, detail] = Look(paler, "o", hatch)
    across, most = min(2, len(parts)), max(map(len, parts.values()))
    down = -(-len(parts) // across)
    high = down * (1.8 + 0.16 * most)
    figure, panels = style.panels((ONE, TWO)[across - 1], high, len(parts), across)
    for axes, (name, part) in zip(panels, parts.items(), strict=True):
        total = f"N = {part['count'].sum():,}"
        axes.set_title(f"{text(shown(name), 150)} ({total})" if panel else total, loc="center")
        wedges, *_ = axes.pie(part["count"].tolist(), startangle=90, counterclock=False)
        handles, names = [], []
        for wedge, row in zip(wedges, part.to_dict("records"), strict=True):
            look = looks[row["error"], row["detail"]]
            wedge.set(**look.bar | {"linewidth": 0.8})
            handles.append(Patch(**look.bar))
            label = f"{row['error']}: {row['detail']}" if row["detail"] else row["error"]
            names.append(f"{text(label, 140)}  {row['count']:,} ({row['percent']:.1f}%)")
        axes.legend(handles, names, loc="upper center", bbox_to_anchor=(0.5, 0.02))
    return style.finish(figure, data, stamp)


@style.settings
def error_bars(labels: pd.DataFrame, panel: str | None = None, *, stamp: object) -> Picture:
    """The errors as bars, panels side by side, with the details under their kind."""
    labels, panel = _people_apart(labels, panel)
    data = tally(labels, panel)
    of = panel or "panel"
    kinds = data.groupby([of, "error"], sort=False)["percent"].sum().reset_index(name="value")
    details = data[data["detail"] != ""].rename(columns={"percent": "value"})
    rows = pd.concat([kinds.assign(detail=""), details])
    lines = dict.fromkeys(
        (kind, detail) for kind in dict.fromkeys(data["error"])
        for detail in ["", *data["detail"][(data["error"] == kind) & (data["detail"] != "")]]
    )  # fmt: skip
    place = {line: number for number, line in enumerate(lines)}
    rows["line"] = [place[line] for line in zip(rows["error"], rows["detail"], strict=True)]
    looks = style.looks(list(dict.fromkeys(data[of])))
    figure, axes = bars(TWO, rows.sort_values("line"), "line", of, looks, "{:.1f}")
    style.name_rows(axes, [detail or kind for kind, detail in lines], 200)
    for label, (_, detail) in zip(axes.get_yticklabels(), lines, strict=True):
        label.set_fontweight("normal" if detail else "bold")
    style.percent(axes, "x", "errors")
    axes.set_xlim(0, 1.1 * rows["value"].max())
    if panel:
        style.legend(figure, looks)
    return style.finish(figure, data, stamp)
