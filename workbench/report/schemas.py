"""Figures of pruned schemas (CHESS, 5, 16, 17), of the features of queries, of causes of errors."""

from collections.abc import Iterable, Mapping
from itertools import cycle
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.patches import Rectangle
from pandas import DataFrame

from workbench.errors import BadInputError, one_of
from workbench.report import style
from workbench.report.names import shown
from workbench.report.published import Published
from workbench.report.stamp import runs
from workbench.report.style import (
    BLUE,
    GREY,
    ONE,
    PALE,
    SMALL,
    TWO,
    Picture,
    blank,
    finish,
    ink_on,
    logarithmic,
    name_rows,
    need,
    percent,
    printed_look,
    printed_name,
)
from workbench.sql.facts import features
from workbench.types import Schema, lower_name

_ACROSS = 4  # blocks side by side
_SURVIVAL = (
    "table",
    "column",
    "stage",
    "place",
    "stages",
    "used",
    "primary_key",
    "foreign_key",
)
# The columns of CHESS's figure 18, and our causes that they count.
_COLUMNS_OF_CHESS = {
    "incorrect SQL": "Incorrectly Predicted SQL",
    "wrong columns": "Incorrectly Predicted SQL: Column",
}


def sizes(stages: Mapping[str, Schema]) -> DataFrame:
    """Return the numbers of tables and columns of one question's schema that each stage leaves."""
    rows = [
        (name, len(left.tables), len(left.columns())) for name, left in stages.items()
    ]
    return DataFrame(rows, columns=["stage", "tables", "columns"])


@style.settings
def columns_left(
    stages: DataFrame, *, paper: Published | None = None, stamp: object
) -> Picture:
    """Draw figure 5: the mean number of `columns` left after each `stage`, by `db_id`.

    `stages` have a row for each question and stage. The paper prints one number for all databases.
    """
    need(stages, "db_id", "stage", "columns")
    each = stages.groupby(["db_id", "stage"], sort=False)["columns"]
    data = each.agg(columns="mean", n="size").reset_index().assign(run=runs(stages))
    means = data.pivot_table("columns", "db_id", "stage", sort=False)
    rows = range(len(means))
    figure, axes = blank(0.6 + 0.24 * len(means))
    least, most = means.min(axis=1), means.max(axis=1)
    axes.hlines(rows, least, most, PALE, linewidth=1, zorder=0)
    shades = _shades(len(means.columns))
    for stage, shade, marker in zip(means, shades, cycle(style.MARKERS), strict=False):
        axes.plot(
            means[stage],
            rows,
            marker,
            color=shade,
            label=style.text(stage, 40),
            ms=5,
            mew=0,
        )
    if paper is not None:
        last = paper.frame().iloc[-1]
        look = printed_look(paper)
        look["label"] += f": {last['label']}"
        theirs = [last["columns"] for _ in rows]
        axes.plot(theirs, rows, **look)
    name_rows(axes, [*means.index])
    logarithmic(axes)
    axes.set_xlabel("columns left (mean)")
    left = stages.groupby("stage", sort=False)["columns"].mean()
    whole, last_left = left.iloc[0], left.iloc[-1]
    title = f"{last_left:.0f} of {whole:.0f} columns are left on average"
    return finish(figure, data, stamp, title)


def _shades(number: int) -> list[Any]:
    """Return blues for so many stages, each darker than the one before."""
    return [(BLUE, (place + 1) / number) for place in range(number)]


@style.settings
def funnel(
    stages: DataFrame, *, paper: Published | None = None, stamp: object
) -> Picture:
    """Draw figure 16: one question's tables and columns after each stage.

    `stages` have the columns `stage`, `tables` and `columns`. The paper's are hollow bars.
    """
    need(stages, "stage", "tables", "columns")
    figure, axes = blank(0.1 + 0.36 * len(stages))
    _draw_centred(axes, stages["columns"], color=_shades(len(stages)))
    texts = [
        f"{row.tables:,} tables, {row.columns:,} columns" for row in stages.itertuples()
    ]
    if paper is not None:
        theirs = style.printed(paper, stages["stage"])
        name = printed_name(paper)
        _draw_centred(
            axes,
            theirs["columns"],
            height=0.5,
            fill=False,
            ec=GREY,
            label=name,
        )
        for place, (tables, columns) in enumerate(theirs.to_numpy()):
            if pd.notna(columns):
                texts[place] += f"\n(paper {tables:.0f}, {columns:.0f})"
    beside = axes.get_yaxis_transform()
    for place, said in enumerate(texts):
        axes.text(1, place, said, va="center", fontsize=SMALL, transform=beside)
    name_rows(axes, stages["stage"].tolist(), 16)
    axes.set_xticks([])
    axes.spines[:].set_visible(False)
    tables, columns = stages["tables"].tolist(), stages["columns"].tolist()
    title = (
        f"{columns[-1]:,} of {columns[0]:,} columns are left, "
        f"{tables[-1]:,} of {tables[0]:,} tables"
    )
    return finish(figure, stages, stamp, title)


def _draw_centred(axes: Axes, widths: "pd.Series[Any]", **look: Any) -> None:
    places = range(len(widths))
    axes.barh(places, widths, left=-widths / 2, **look)


def survival(
    stages: Mapping[str, Schema], used: Iterable[tuple[str, str]] = ()
) -> DataFrame:
    """Return for each column the last stage that kept it, its keys, and whether gold uses it.

    `stages` maps each stage's name to the schema that it left, the whole schema first, which has
    every column.
    """
    if not stages:
        raise BadInputError(
            "no stages: give the whole schema, and what each stage left of it"
        )
    names = list(stages)
    kept_by_stage = [_lowered(schema.columns()) for schema in stages.values()]
    wanted = _lowered(used)
    rows = []
    for table in stages[names[0]].tables:
        for column in table.columns:
            key = (lower_name(table.name), lower_name(column.name))
            last = max(stage for stage, kept in enumerate(kept_by_stage) if key in kept)
            leads = [
                k.ref_table for k in table.foreign_keys if column.name in k.columns
            ]
            rows.append(
                (
                    table.name,
                    column.name,
                    names[last],
                    last,
                    len(names),
                    key in wanted,
                    column.name in table.primary_key,
                    ", ".join(leads),
                )
            )
    return DataFrame(rows, columns=_SURVIVAL)


def _lowered(columns: Iterable[tuple[str, str]]) -> set[tuple[str, str]]:
    return {(lower_name(table), lower_name(column)) for table, column in columns}


@style.settings
def pruned_schema(
    columns: DataFrame, *, paper: Published | None = None, stamp: object
) -> Picture:
    """Draw figure 17: a block for each table; a column that more stages kept is darker.

    `survival` makes `columns`. Primary keys are bold, foreign keys in italics with the table that
    they refer to, and the gold query's columns have a star. The legend counts the columns; a
    paper's numbers, as figure 16 prints them, stand in brackets.
    """
    need(columns, *_SURVIVAL)
    # 1 for a column that every stage kept, also where there is one stage alone.
    depth = columns["place"] / (columns["stages"] - 1)
    columns = columns.assign(depth=depth.fillna(1))
    figure, axes = blank(1, TWO)
    axes.set_axis_off()
    heights = [0] * _ACROSS
    for table, block in columns.groupby("table", sort=False):
        stack = heights.index(min(heights))
        _draw_block(axes, stack, heights[stack], str(table), block)
        heights[stack] += len(block) + 2
    figure.set_figheight(0.1 + 0.135 * max(heights))
    axes.set(xlim=(0, _ACROSS), ylim=(max(heights), 0))
    _name_stages(axes, columns, paper)

    used = columns["used"]
    kept = columns["depth"] == 1
    title = f"{kept.sum():,} of {len(columns):,} columns are left"
    if used.any():
        axes.plot([], [], "*", color=style.INK, ms=7, label="used by the gold query")
        kept_and_used = (kept & used).sum()
        title += f", with {kept_and_used} of the {used.sum()} that the gold query uses"
    return finish(figure, columns.drop(columns="depth"), stamp, title)


def _draw_block(axes: Axes, x: int, y: int, table: str, block: DataFrame) -> None:
    """Draw the name of a table, and a cell for each of its columns below."""
    axes.text(x + 0.02, y + 0.5, style.text(table, 20), va="center", weight="bold")
    for row in block.to_dict("records"):
        y += 1
        ground = to_rgba(BLUE, row["depth"])
        axes.add_patch(Rectangle((x, y), 0.94, 1, fc=ground, ec=GREY, lw=0.4))
        label = row["column"]
        if row["used"]:
            label = f"\N{BLACK STAR} {label}"
        if row["foreign_key"]:
            label += f" \N{RIGHTWARDS ARROW} {row['foreign_key']}"
        cell = axes.text(
            x + 0.02, y + 0.5, style.text(label, 24), va="center", size=SMALL
        )
        cell.set_color(ink_on(ground))
        cell.set_fontweight("bold" if row["primary_key"] else "normal")
        cell.set_fontstyle("italic" if row["foreign_key"] else "normal")


def _name_stages(axes: Axes, columns: DataFrame, paper: Published | None) -> None:
    """Say in the legend how many columns each stage left, and how many in the paper."""
    stages = columns.drop_duplicates("place").sort_values("place")
    stages["printed"] = None
    if paper is not None:
        theirs = style.printed(paper, stages["stage"])
        stages["printed"] = theirs["columns"].to_numpy()
    for row in stages.to_dict("records"):  # each an empty patch, for the legend
        place, stage = row["place"], row["stage"]
        count = (columns["place"] >= place).sum()
        name = style.text(f"left by {stage}" if place else stage, 40)
        label = f"{name}: {count:,}"
        if pd.notna(row["printed"]):
            label += f" (paper {row['printed']:.0f})"
        shade = (BLUE, row["depth"])
        axes.fill([], [], fc=shade, ec=GREY, lw=0.5, label=label)


@style.settings
def feature_distribution(queries: DataFrame, *, stamp: object) -> Picture:
    """Draw figure 25: the percentage of each `source`'s queries that have each feature.

    Unreadable `sql` is not counted. A feature that no query has gets no bar.
    """
    need(queries, "source", "sql")
    sources = queries.groupby("source", sort=False)
    parts = [_feature_shares(str(source), part) for source, part in sources]
    data = pd.concat(parts, ignore_index=True)
    wide = data.pivot_table("percent", "feature", "source", sort=False)
    missing = wide.index[wide.max(axis=1) == 0]
    wide = wide.drop(missing)
    numbers = data.groupby("source")["n"].first()
    looks = style.looks(wide, numbers)
    figure, axes = style.bars(wide, looks, ONE)
    percent(axes.xaxis, "queries that have it")

    distances = wide.max(axis=1) - wide.min(axis=1)
    feature: Any = distances.idxmax()
    shares = wide.loc[feature]
    most, least = shown(shares.idxmax()), shown(shares.idxmin())
    title = f"{feature} differs most: {most} {shares.max():.0f}%, {least} {shares.min():.0f}%"
    if len(looks) == 1:
        feature = wide.iloc[:, 0].idxmax()
        title = f"{feature} is the most frequent in {most}"
    note = ""
    if len(missing):
        note = f"In no query: {', '.join(missing)}."
    return finish(figure, data, stamp, title, note)


def _feature_shares(source: str, queries: DataFrame) -> DataFrame:
    """Return the percentage of one source's queries that have each feature."""
    counts = [features(sql) for sql in queries["sql"].astype(str)]
    readable = DataFrame([of_query for of_query in counts if of_query])
    if readable.empty:
        raise BadInputError(
            f"none of the {len(queries)} queries of {source} can be read as SQL"
        )
    shares = 100 * (readable > 0).mean()
    table = shares.rename_axis("feature").reset_index(name="percent")
    table.insert(0, "source", source)
    table["n"] = len(readable)
    table["run"] = runs(queries)
    return table


@style.settings
def error_bars(
    labels: DataFrame,
    panel: str | None = None,
    *,
    paper: Published | None = None,
    column: str = "",
    stamp: object,
) -> Picture:
    """Draw causes of wrong answers: figures 8, 13 of CHASE-SQL, 18 of CHESS and 6 of MAC-SQL.

    `labels` have a row for each label: the `error`, its `detail`, and whether a rule gave it
    (`automatic`). Each value of the column `panel` has a bar, and so have people's labels and those
    of rules. The most frequent kind is on top. `column` is the one of the paper's columns that
    stands beside ours, if it has several.
    """
    need(labels, "error", "detail", "automatic", panel or "error")
    bars = _bar_of(labels, panel)
    counts = _counts_of_causes(labels, bars)
    data = _rows_of_causes(counts, panel or "panel").assign(run=runs(labels))
    shares = 100 * counts / counts.sum()
    shares.index = [
        f"{error}: {kind}" if kind else error for error, kind in counts.index
    ]
    first = shares.columns[0]
    title = _most_frequent_cause(counts[first])
    if panel:
        title += f" of the errors of {style.text(shown(first), 30)}"
    note = ""
    marks = None
    if paper is not None:
        shares, theirs = _with_paper(shares, counts, paper, column)
        if paper.metric == "rank":
            shares.index = _with_ranks(shares, theirs)
            note = f"In brackets: rank in {paper.engine}."
        else:
            marks = theirs
    looks = style.looks(shares, counts.sum())
    figure, axes = style.bars(shares, looks, TWO, theirs=marks, paper=paper)
    number = f" (N = {len(labels):,})" if len(looks) == 1 else ""
    percent(axes.xaxis, f"errors{number}")
    return finish(figure, data, stamp, title, note)


def _most_frequent_cause(counts: "pd.Series[int]") -> str:
    of_error = counts.groupby("error").sum()
    share = 100 * of_error.max() / of_error.sum()
    return (
        f"{style.text(of_error.idxmax(), 40)} is the most frequent cause: {share:.0f}%"
    )


def _bar_of(labels: DataFrame, panel: str | None) -> "pd.Series[str]":
    """Return the name of each label's bar: its panel, and who labelled if people and rules did."""
    names = labels[panel].astype(str) if panel else pd.Series("errors", labels.index)
    by_rules = labels["automatic"].astype(bool) | (labels["error"] == "not labelled")
    if by_rules.all() or not by_rules.any():
        return names
    return names + ", " + by_rules.map({True: "by rules", False: "by people"})


def _counts_of_causes(labels: DataFrame, bars: "pd.Series[str]") -> DataFrame:
    """Return how often each error and detail occurs for each bar, the most frequent on top."""
    error = labels["error"].astype(str)
    detail = labels["detail"].fillna("").astype(str)
    counts = pd.crosstab([error, detail], bars)[bars.unique()]
    totals = counts.sum(axis=1).to_frame("of kind")
    totals["of error"] = totals.groupby("error")["of kind"].transform("sum")
    totals = totals.sort_values(
        ["of error", "error", "of kind"],
        ascending=[False, True, False],
    )
    return counts.loc[totals.index]


def _rows_of_causes(counts: DataFrame, by: str) -> DataFrame:
    """Return a row for each bar and cause, with its count and its percentage of the bar's."""
    data = counts.melt(var_name=by, value_name="count", ignore_index=False)
    data = data[data["count"] > 0].reset_index()
    data["percent"] = 100 * data["count"] / data.groupby(by)["count"].transform("sum")
    return data[[by, "error", "detail", "count", "percent"]]


def _with_paper(
    shares: DataFrame, counts: DataFrame, paper: Published, column: str
) -> tuple[DataFrame, DataFrame]:
    """Return our shares with rows for all causes of a paper, and the paper's values."""
    if _COLUMNS_OF_CHESS.keys() <= {*paper.columns}:
        shares = _with_causes(_with_sums(shares, counts), _COLUMNS_OF_CHESS.values())
        rows = style.printed(paper, shares.columns).set_axis(shares.columns)
        return shares, rows[[*_COLUMNS_OF_CHESS]].rename(columns=_COLUMNS_OF_CHESS).T
    column = column or paper.columns[0]
    one_of(paper.columns, column=column)
    shares = _with_causes(shares, paper.frame()["label"])
    values = style.printed(paper, shares.index)[[column]].set_axis(shares.index)
    return shares, values.set_axis(shares.columns[:1], axis=1)


def _with_causes(shares: DataFrame, causes: Iterable[str]) -> DataFrame:
    """Put rows of zeros below for a paper's causes that none of ours has."""
    known = {str(cause).casefold() for cause in shares.index}
    others = [cause for cause in causes if cause.casefold() not in known]
    return shares.reindex([*shares.index, *others], fill_value=0.0)


def _with_sums(shares: DataFrame, counts: DataFrame) -> DataFrame:
    """Put a row for a cause above those of its several kinds."""
    groups = []
    for error, kinds in counts.groupby("error", sort=False):
        part = shares[counts.index.get_level_values("error") == error]
        if len(kinds) > 1 and error not in part.index:
            groups.append(part.sum().to_frame(str(error)).T)
        groups.append(part)
    return pd.concat(groups)


def _with_ranks(shares: DataFrame, ranks: DataFrame) -> Any:
    """Return the names of the causes with their ranks in the paper."""
    names = []
    for cause, rank in zip(shares.index, ranks.iloc[:, 0], strict=True):
        names.append(f"{cause} ({rank:.0f})" if pd.notna(rank) else cause)
    return names
