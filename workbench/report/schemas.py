"""Figures of pruned schemas (CHESS, 5, 16 and 17), of the features of queries, and of the causes of errors."""

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd
from matplotlib.colors import to_rgba
from matplotlib.patches import Rectangle
from pandas import DataFrame

from workbench.errors import BadInputError, one_of
from workbench.report import style
from workbench.report.names import shown
from workbench.report.published import Published
from workbench.report.stamp import runs
from workbench.report.style import ONE, TWO, Look, Picture, series
from workbench.sql.facts import features
from workbench.types import Schema, lower_name

_ACROSS = 4  # blocks side by side
_SURVIVAL = "table column stage place stages used primary_key foreign_key".split()  # noqa: SIM905
# CHESS's figure 18 has columns of these names for our causes.
_CAUSES = {
    "incorrect SQL": "Incorrectly Predicted SQL",
    "wrong columns": "Incorrectly Predicted SQL: Column",
}


def sizes(stages: Mapping[str, Schema]) -> DataFrame:
    """Return the numbers of tables and columns of one question's schema that each stage leaves."""
    rows = [(name, len(left.tables), len(left.columns())) for name, left in stages.items()]
    return DataFrame(rows, columns=["stage", "tables", "columns"])


@style.settings
def columns_left(stages: DataFrame, *, paper: Published | None = None, stamp: object) -> Picture:
    """Draw figure 5: the mean number of `columns` left after each `stage`, by `db_id`.

    `stages` have a row for each question and stage. The paper prints one number for all databases.
    """
    style.need(stages, "db_id", "stage", "columns")
    each = stages.groupby(["db_id", "stage"], sort=False)["columns"]
    data = each.agg(columns="mean", n="size").reset_index().assign(run=runs(stages))
    rows, parts = list(dict.fromkeys(data["db_id"])), series(data, "stage")
    figure, (axes,) = style.panels(0.6 + 0.24 * len(rows))
    ends = data.groupby("db_id", sort=False)["columns"].agg(["min", "max"])
    axes.hlines(range(len(rows)), ends["min"], ends["max"], color=style.PALE, linewidth=1, zorder=0)
    for place, (name, part) in enumerate(parts.items(), 1):
        paler, marker = (style.BLUE, place / len(parts)), style.MARKERS[(place - 1) % 8]
        look = Look(style.text(name, 40), paler, marker)
        axes.plot(part["columns"], part["db_id"].map(rows.index), ls="", ms=5, mew=0, **look.mark)
    if paper is not None:
        values = paper.frame()["columns"]
        marks = style.printed_look(paper)
        marks["label"] += f": {paper.frame()['label'].iloc[-1]}"
        axes.plot([values.iloc[-1]] * len(rows), range(len(rows)), **marks)
    style.name_rows(axes, rows)
    style.logarithmic(axes)
    axes.set_xlabel("columns left (mean)")
    means = stages.groupby("stage", sort=False)["columns"].mean()
    title = f"{means.iloc[-1]:.0f} of {means.iloc[0]:.0f} columns are left on average"
    return style.finish(figure, data, stamp, title)


@style.settings
def funnel(stages: DataFrame, *, paper: Published | None = None, stamp: object) -> Picture:
    """Draw figure 16: one question's tables and columns after each stage.

    `stages` have the columns `stage`, `tables` and `columns`. The paper's are hollow bars on the same scale.
    """
    style.need(stages, "stage", "tables", "columns")
    figure, (axes,) = style.panels(0.1 + 0.36 * len(stages))
    places = range(len(stages))
    notes = [f"{row.tables:,} tables, {row.columns:,} columns" for row in stages.itertuples()]
    most = max(1, stages["columns"].max())
    theirs = DataFrame()
    if paper is not None:
        theirs = style.printed(paper, stages["stage"])
        most = max(most, theirs["columns"].max())
    wide = stages["columns"] / most
    shades = [(style.BLUE, place / len(stages)) for place in range(1, len(stages) + 1)]
    axes.barh(places, wide, left=-wide / 2, color=shades)
    if paper is not None:
        across = (theirs["columns"] / most).to_numpy()
        look: dict[str, Any] = {"fill": False, "ec": style.GREY, "label": style.printed_name(paper)}
        axes.barh(places, across, 0.5, left=-across / 2, **look)
        for place, row in enumerate(theirs.to_dict("records")):
            if pd.notna(row["columns"]):
                notes[place] += f"\n(paper {row['tables']:.0f}, {row['columns']:.0f})"
    for place, note in enumerate(notes):
        axes.text(0.54, place, note, va="center", fontsize=style.SMALL)
    style.name_rows(axes, stages["stage"].tolist(), 16)
    axes.set(xlim=(-0.52, 1.3), xticks=[])
    axes.spines[:].set_visible(False)
    first, last = stages.iloc[0], stages.iloc[-1]
    title = f"{last['columns']:,} of {first['columns']:,} columns are left, "
    title += f"{last['tables']:,} of {first['tables']:,} tables"
    return style.finish(figure, stages, stamp, title)


def survival(stages: Mapping[str, Schema], used: Iterable[tuple[str, str]] = ()) -> DataFrame:
    """Return a row for each column: the last stage that kept it, its keys, and whether the gold query uses it.

    `stages` maps each stage's name to the schema that it left, the whole schema first.
    """
    if not stages:
        raise BadInputError("no stages: give the whole schema, and what each stage left of it")
    names = list(stages)
    left = [_lowered(schema.columns()) for schema in stages.values()]
    wanted = _lowered(used)
    rows = []
    for table in stages[names[0]].tables:
        for column in table.columns:
            key = (lower_name(table.name), lower_name(column.name))
            place = max(place for place, kept in enumerate(left) if key in kept)
            leads = [k.ref_table for k in table.foreign_keys if column.name in k.columns]
            row = (table.name, column.name, names[place], place, len(left), key in wanted)
            rows.append((*row, column.name in table.primary_key, ", ".join(leads)))
    return DataFrame(rows, columns=_SURVIVAL)


def _lowered(columns: Iterable[tuple[str, str]]) -> set[tuple[str, str]]:
    return {(lower_name(table), lower_name(column)) for table, column in columns}


@style.settings
def pruned_schema(columns: DataFrame, *, paper: Published | None = None, stamp: object) -> Picture:
    """Draw figure 17: a block for each table; a column that more stages kept is darker. `survival` makes `columns`.

    Primary keys are bold, foreign keys in italics with the table that they refer to, and the gold query's columns have
    a star. The legend counts the columns; a paper's numbers, as figure 16 prints them, stand in brackets.
    """
    style.need(columns, *_SURVIVAL)
    last = max(1, int(columns["stages"].iloc[0]) - 1)
    blocks = columns.groupby("table", sort=False)
    heights = [0] * min(_ACROSS, len(blocks))
    figure, (axes,) = style.panels(1, wide=TWO)
    axes.set_axis_off()
    for name, block in blocks:
        x = heights.index(min(heights))  # under the shortest stack
        axes.text(x + 0.02, heights[x] + 0.5, style.text(name, 20), va="center", weight="bold")
        for y, row in enumerate(block.to_dict("records"), heights[x] + 1):
            fill = to_rgba(style.BLUE, row["place"] / last)
            axes.add_patch(Rectangle((x, y), 0.94, 1, fc=fill, ec=style.GREY, lw=0.4))
            star = "\N{BLACK STAR} " if row["used"] else ""
            lead = f" \N{RIGHTWARDS ARROW} {row['foreign_key']}" if row["foreign_key"] else ""
            form: dict[str, Any] = {"size": style.SMALL, "color": style.ink_on(fill)}
            form["weight"] = "bold" if row["primary_key"] else "normal"
            form["style"] = "italic" if lead else "normal"
            label = style.text(star + row["column"] + lead, 24)
            axes.text(x + 0.02, y + 0.5, label, va="center", **form)
        heights[x] += len(block) + 2
    figure.set_figheight(0.1 + 0.135 * max(heights))
    axes.set(xlim=(0, _ACROSS), ylim=(max(heights), 0))
    stages = columns.drop_duplicates("place").sort_values("place")
    printed: Any = []
    if paper is not None:
        printed = style.printed(paper, stages["stage"])["columns"].to_numpy()
    for number, row in enumerate(stages.to_dict("records")):
        count = (columns["place"] >= row["place"]).sum()
        label = style.text(f"left by {row['stage']}" if row["place"] else row["stage"], 40)
        label += f": {count:,}"
        if paper is not None and pd.notna(printed[number]):
            label += f" (paper {printed[number]:.0f})"
        shade = (style.BLUE, row["place"] / last)
        axes.fill([], [], fc=shade, ec=style.GREY, lw=0.5, label=label)
    if columns["used"].any():
        axes.plot([], [], "*", color=style.INK, ms=7, label="used by the gold query")
    kept = columns["place"] == columns["stages"] - 1
    title = f"{kept.sum():,} of {len(columns):,} columns are left"
    if columns["used"].any():
        title += f", with {(kept & columns['used']).sum()} of the {columns['used'].sum()} that "
        title += "the gold query uses"
    return style.finish(figure, columns, stamp, title)


@style.settings
def feature_distribution(queries: DataFrame, *, stamp: object) -> Picture:
    """Draw figure 25: the percentage of each `source`'s queries that have each feature.

    Unreadable `sql` is not counted. A feature that no query has gets no bar.
    """
    style.need(queries, "source", "sql")
    tables = []
    for name, group in queries.groupby("source", sort=False):
        readable = [counts for counts in map(features, group["sql"].astype(str)) if counts]
        if not readable:
            raise BadInputError(f"none of the {len(group)} queries of {name} can be read as SQL")
        shares = 100 * (DataFrame(readable) > 0).mean()
        table = shares.rename_axis("feature").reset_index(name="percent")
        table.insert(0, "source", str(name))
        tables.append(table.assign(n=len(readable), run=runs(group)))
    data = pd.concat(tables, ignore_index=True)
    wide = data.pivot_table("percent", "feature", "source", sort=False)
    missing = wide.index[(wide == 0).all(axis=1)]
    wide = wide.drop(missing)
    note = f"In no query: {', '.join(missing)}." if len(missing) else ""
    looks = style.looks(wide, data.groupby("source")["n"].first())
    apart = wide.max(axis=1) - wide.min(axis=1)
    feature: Any = apart.idxmax()
    most = wide.loc[feature]
    title = f"{feature} differs most: {shown(most.idxmax())} {most.max():.0f}%, "
    title += f"{shown(most.idxmin())} {most.min():.0f}%"
    if len(wide.columns) == 1:
        (only,) = wide
        title = f"{wide[only].idxmax()} is the most frequent in {shown(only)}"
    return style.Bars(ONE, "queries that have it")(wide, looks, data, stamp, title, note)


@style.settings
def error_bars(
    labels: DataFrame,
    panel: str | None = None,
    *,
    paper: Published | None = None,
    column: str = "",
    stamp: object,
) -> Picture:
    """Draw the causes of wrong answers: figures 8 and 13 of CHASE-SQL, 18 of CHESS and 6 of MAC-SQL.

    `labels` have a row for each label: the `error`, its `detail`, and whether a rule gave it (`automatic`). Each value
    of the column `panel` has a bar, and so have people's labels and those of rules. The most frequent kind is on top.
    `column` is the one of the paper's columns that stands beside ours, if it has several.
    """
    style.need(labels, "error", "detail", "automatic", *([panel] if panel else []))
    by = panel or "panel"
    rows = labels.fillna({"detail": ""}).astype({"error": str, "detail": str})
    rows[by] = _bar_of(labels, panel)
    counts = pd.crosstab([rows["error"], rows["detail"]], rows[by])[rows[by].unique()]
    order = counts.sum(axis=1).reset_index(name="kind")
    order["all"] = order.groupby("error")["kind"].transform("sum")
    order = order.sort_values(["all", "error", "kind"], ascending=[False, True, False])
    counts = counts.loc[[*zip(order["error"], order["detail"], strict=True)]]
    data = counts.reset_index().melt(["error", "detail"], var_name=by, value_name="count")
    data = data.query("count > 0")
    percent = 100 * data["count"] / data.groupby(by)["count"].transform("sum")
    data = data.assign(percent=percent, run=runs(labels)).reset_index(drop=True)
    data.insert(0, by, data.pop(by))

    causes = {}
    for error, detail in counts.index:
        causes[error, detail] = f"{error}: {detail}" if detail else error
    shares = (100 * counts / counts.sum()).set_axis([*causes.values()])
    first = shares.columns[0]
    of_error = counts[first].groupby("error").sum()
    share = 100 * of_error.max() / of_error.sum()
    title = f"{style.text(of_error.idxmax(), 40)} is the most frequent cause: {share:.0f}%"
    title += f" of the errors of {style.text(shown(first), 30)}" if panel else ""
    note, theirs = "", None
    if paper is not None and {*_CAUSES} <= {*paper.columns}:
        shares = _with_causes(_with_sums(shares, counts), _CAUSES.values())
        theirs = _printed_by_system(paper, shares)
    elif paper is not None:
        one_of(paper.columns, column=column or paper.columns[0])
        shares = _with_causes(shares, paper.frame()["label"])
        values = style.printed(paper, shares.index)[column or paper.columns[0]].to_numpy()
        theirs = DataFrame({first: values}, index=shares.index)
        if paper.metric == "rank":
            named = zip(shares.index, values, strict=True)
            shares.index = [f"{cause} ({rank:.0f})" if rank > 0 else cause for cause, rank in named]
            note, theirs = f"In brackets: rank in {paper.engine}.", None
    looks = style.looks(shares, counts.sum())
    axis = "errors" if len(looks) > 1 else f"errors (N = {counts[first].sum():,})"
    bars = style.Bars(TWO, axis)
    return bars(shares, looks, data, stamp, title, note, paper=paper, theirs=theirs)


def _bar_of(labels: DataFrame, panel: str | None) -> "pd.Series[str]":
    """Return the name of each label's bar: its panel, and who labelled if both people and rules did."""
    names = labels[panel].astype(str) if panel else pd.Series("errors", labels.index)
    by_rules = labels["automatic"].astype(bool) | (labels["error"] == "not labelled")
    if by_rules.all() or not by_rules.any():
        return names
    return names + ", " + by_rules.map({True: "by rules", False: "by people"})


def _with_causes(shares: DataFrame, causes: Iterable[str]) -> DataFrame:
    """Put rows of zeros below for a paper's causes that none of ours has."""
    known = {str(cause).casefold() for cause in shares.index}
    others = [cause for cause in causes if cause.casefold() not in known]
    return shares.reindex([*shares.index, *others], fill_value=0.0)


def _with_sums(shares: DataFrame, counts: DataFrame) -> DataFrame:
    """Put a row for a cause above those of its several kinds."""
    groups = []
    for error, kinds in counts.groupby("error", sort=False):
        part = shares[(counts.index.get_level_values("error") == error)]
        if len(kinds) > 1 and str(error) not in part.index:
            groups.append(part.sum().to_frame(str(error)).T)
        groups.append(part)
    return pd.concat(groups)


def _printed_by_system(paper: Published, shares: DataFrame) -> DataFrame:
    theirs = style.printed(paper, shares.columns)[[*_CAUSES]].set_axis(shares.columns)
    return theirs.rename(columns=_CAUSES).T.reindex(shares.index)
