"""The causes of wrong answers, from labels: figures 8 and 13 of CHASE-SQL, 18 of CHESS, 6 of MAC-SQL.

A table of labels has a row for each label, or one for each kind of error with its `count`. `error` is the kind, and
`detail` the subkind, if the paper has any. There is a panel for each system or benchmark. Labels by people and labels by
rules (`automatic`) have panels of their own, if there are both.
"""

import pandas as pd

from workbench.report import style
from workbench.report.stamp import runs
from workbench.report.style import ONE, TWO, Look, Picture


def _tally(labels: pd.DataFrame, panel: str | None) -> tuple[pd.DataFrame, str]:
    """The count of each kind and detail and its percent of the panel, the most frequent first; the panel's column."""
    style.need(labels, "error", *([panel] if panel else []))
    detail = labels["detail"].fillna("") if "detail" in labels else ""
    of = labels[panel].astype(str) if panel else ""
    rows = labels.assign(count=labels.get("count", 1), detail=detail, panel=of)
    rows = rows[rows["count"] > 0]
    style.need(rows)
    if "automatic" in rows:
        rules = rows["automatic"].astype(bool) | (rows["error"] == style.UNLABELLED)
        if len(set(rules)) > 1:
            rows["panel"] += rules.map({True: ", by rules", False: ", by people"})
            rows["panel"] = rows["panel"].str.removeprefix(", ")
            rows, panel = rows.sort_values("panel", kind="stable"), "labelled"
    rows["panel"] = pd.Categorical(rows["panel"], rows["panel"].unique())
    for key in ("error", "detail"):
        total = rows.groupby(key)["count"].sum().sort_values(ascending=False, kind="stable")
        rows[key] = pd.Categorical(rows[key], total.index)
    keys = ["panel", "error", "detail"]
    data = rows.groupby(keys, observed=True)["count"].sum().reset_index()
    data["percent"] = 100 * data["count"] / data.groupby("panel")["count"].transform("sum")
    data = data.astype(dict.fromkeys(keys, str)).rename(columns={"panel": panel or "panel"})
    return data.assign(run=runs(labels)), panel or "panel"


@style.settings
def error_pies(labels: pd.DataFrame, panel: str | None = None, *, stamp: object) -> Picture:
    """A pie for each panel: a colour and hatch for each kind, paler for each further detail of it."""
    data, panel = _tally(labels, panel)
    parts, looks = style.series(data, panel), {}
    for place, (kind, rows) in enumerate(data.groupby("error", sort=False)):
        details = list(dict.fromkeys(rows["detail"]))
        for number, detail in enumerate(details):
            paler = style.shade(style.COLOURS[place % 8], 0.75 * number / len(details))
            looks[kind, detail] = Look(paler, "o", style.HATCHES[place % 8])
    across, most = min(2, len(parts)), max(map(len, parts.values()))
    high = -(-len(parts) // across) * (1.8 + 0.16 * most)
    figure, panels = style.panels((ONE, TWO)[across - 1], high, len(parts), across)
    for axes, (name, part) in zip(panels, parts.items(), strict=True):
        total = f"N = {part['count'].sum():,}"
        title = f"{style.text(style.shown(name), 30)} ({total})" if name else total
        axes.set_title(title, loc="center")
        kinds = list(part[["error", "detail"]].itertuples(index=False, name=None))
        names = [": ".join(filter(None, kind)) for kind in kinds]
        style.pie(axes, part["count"], [looks[kind] for kind in kinds], names)
    return style.finish(figure, data, stamp)


@style.settings
def error_bars(labels: pd.DataFrame, panel: str | None = None, *, stamp: object) -> Picture:
    """The kinds of errors as bars, one for each panel."""
    data, panel = _tally(labels, panel)
    kinds = list(dict.fromkeys(data["error"]))
    wide = data.pivot_table("percent", "error", panel, "sum", sort=False).fillna(0).loc[kinds]
    looks = style.looks(wide)
    figure, axes = style.bars(TWO, wide, looks, "{:.1f}")
    style.name_rows(axes, kinds, 40)
    style.percent(axes, "x", "errors")
    axes.set_xlim(0, 1.1 * wide.to_numpy().max())
    if len(looks) > 1:
        style.legend(figure, looks)
    return style.finish(figure, data, stamp)
