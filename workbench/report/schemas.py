"""Figures of pruned schemas (CHESS, 5, 16, 17), of the features of queries, of causes of errors."""

from collections.abc import Iterable, Mapping
from itertools import cycle
from operator import itemgetter
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.transforms import Bbox
from pandas import DataFrame

from workbench.errors import BadInputError, one_of
from workbench.report import style
from workbench.report.names import leaders, shown
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
    logarithmic,
    name_rows,
    need,
    percent,
    printed_look,
)
from workbench.sql.facts import features
from workbench.types import Schema, lower_name

_ACROSS = 4  # blocks side by side
_HEADING = "none"  # the ground of a table's name
_SURVIVAL = ("table", "column", "stage", "place", "stages", "used")


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
        printed = paper.frame().iloc[-1]
        look = printed_look(paper)
        look["label"] += f": {printed['label']}"
        axes.plot([printed["columns"]] * len(rows), rows, **look)
    name_rows(axes, [*means.index])
    logarithmic(axes)
    axes.set_xlabel("columns left (mean)")
    left = stages.groupby("stage", sort=False)["columns"].mean()
    title = f"{left.iloc[-1]:.0f} of {left.iloc[0]:.0f} columns are left on average"
    return finish(figure, data, stamp, title)


def _shades(number: int) -> list[Any]:
    """Return blues for so many stages, each darker than the one before."""
    return [(BLUE, (place + 1) / number) for place in range(number)]


@style.settings
def funnel(
    stages: DataFrame, *, paper: Published | None = None, stamp: object
) -> Picture:
    """Draw figure 16: one question's tables and columns after each stage.

    `stages` have the columns `stage`, `tables` and `columns`.
    """
    need(stages, "stage", "tables", "columns")
    counts = stages.set_index("stage")[["tables", "columns"]]
    theirs = None
    if paper is not None:
        theirs = style.printed(paper, counts.index).set_axis(counts.index)
    looks = style.looks(counts)
    figure, axes = style.bars(counts, looks, ONE, "{:,.0f}", theirs, paper)
    axes.set_xticks([])
    first, last = counts.iloc[0], counts.iloc[-1]
    title = (
        f"{last['columns']:,} of {first['columns']:,} columns are left, "
        f"{last['tables']:,} of {first['tables']:,} tables"
    )
    return finish(figure, stages, stamp, title)


def survival(
    stages: Mapping[str, Schema], used: Iterable[tuple[str, str]] = ()
) -> DataFrame:
    """Return for each column the last stage that kept it, and whether gold uses it.

    `stages` maps each stage's name to the schema that it left, the whole schema first, which has
    every column.
    """
    names = list(stages)
    kept_by_stage = [_lowered(schema.columns()) for schema in stages.values()]
    wanted = _lowered(used)
    rows = []
    for table, column in stages[names[0]].columns():
        key = (lower_name(table), lower_name(column))
        last = max(stage for stage, kept in enumerate(kept_by_stage) if key in kept)
        rows.append((table, column, names[last], last, len(names), key in wanted))
    return DataFrame(rows, columns=_SURVIVAL)


def _lowered(columns: Iterable[tuple[str, str]]) -> set[tuple[str, str]]:
    return {(lower_name(table), lower_name(column)) for table, column in columns}


@style.settings
def pruned_schema(columns: DataFrame, *, stamp: object) -> Picture:
    """Draw figure 17: a block for each table; a column that more stages kept is darker.

    `survival` makes `columns`. The gold query's columns have a star. The legend counts the columns
    that each stage left.
    """
    need(columns, *_SURVIVAL)
    stacks: list[list[tuple[str, Any]]] = [[] for _ in range(_ACROSS)]
    for table, block in columns.groupby("table", sort=False):
        shortest = min(stacks, key=len)
        shortest.append((style.text(table, 20), _HEADING))
        for row in block.to_dict("records"):
            star = "\N{BLACK STAR} " if row["used"] else ""
            shade = _shade(row["place"], row["stages"])
            shortest.append((style.text(star + row["column"], 24), shade))
        shortest.append(("", _HEADING))
    height = max(map(len, stacks))
    for stack in stacks:
        while len(stack) < height:
            stack.append(("", _HEADING))
    figure, axes = blank(0.1 + 0.135 * height, TWO)
    axes.set_axis_off()
    _draw_cells(axes, DataFrame(stacks).T)
    _name_stages(axes, columns)

    used = columns["used"]
    kept = columns["place"] == columns["stages"] - 1
    title = f"{kept.sum():,} of {len(columns):,} columns are left"
    if used.any():
        axes.plot([], [], "*", color=style.INK, ms=7, label="used by the gold query")
        kept_and_used = (kept & used).sum()
        title += f", with {kept_and_used} of the {used.sum()} that the gold query uses"
    return finish(figure, columns, stamp, title)


def _name_stages(axes: Axes, columns: DataFrame) -> None:
    """Say in the legend how many columns each stage left."""
    stages = columns.drop_duplicates("place").sort_values("place")
    for row in stages.to_dict("records"):  # each an empty patch, for the legend
        place, stage = row["place"], row["stage"]
        count = (columns["place"] >= place).sum()
        label = style.text(f"left by {stage}" if place else stage, 40)
        shade = _shade(place, row["stages"])
        label += f": {count:,}"
        axes.fill([], [], fc=shade, ec=GREY, lw=0.5, label=label)


def _shade(place: int, stages: int) -> Any:
    """Return a blue, the darker the later the last stage is, and white for the whole schema."""
    return (BLUE, 0.6 * place / max(1, stages - 1))


def _draw_cells(axes: Axes, cells: DataFrame) -> None:
    """Draw a table of texts, each on its ground; headings have none."""
    texts = cells.map(itemgetter(0))
    grounds = cells.map(itemgetter(1))
    table = axes.table(
        texts.to_numpy().tolist(),
        grounds.to_numpy().tolist(),
        cellLoc="left",
        bbox=Bbox.unit(),
    )
    table.auto_set_font_size(False)
    for place, cell in table.get_celld().items():
        cell.PAD = 0.02
        cell.set(edgecolor=GREY, linewidth=0.4)
        cell.set_text_props(size=SMALL)
        if grounds.iloc[place] == _HEADING:
            cell.set(linewidth=0)
            cell.set_text_props(size=8, weight="bold")


@style.settings
def feature_distribution(queries: DataFrame, *, stamp: object) -> Picture:
    """Draw figure 25: the percentage of each `source`'s queries that have each feature.

    Unreadable `sql` is not counted.
    """
    need(queries, "source", "sql")
    sources = queries.groupby("source", sort=False)
    parts = [_feature_shares(str(source), part) for source, part in sources]
    data = pd.concat(parts, ignore_index=True)
    wide = data.pivot_table("percent", "feature", "source", sort=False)
    numbers = data.groupby("source")["n"].first()
    looks = style.looks(wide, numbers)
    figure, axes = style.bars(wide, looks, ONE)
    percent(axes.xaxis, "queries that have it")

    distances = wide.max(axis=1) - wide.min(axis=1)
    feature: Any = distances.idxmax()
    shares = wide.loc[feature]
    title = (
        f"Most different: {leaders(distances)}, {leaders(shares)} {shares.max():.0f}%, "
        f"{leaders(-shares)} {shares.min():.0f}%"
    )
    if len(looks) == 1:
        title = f"Most frequent: {leaders(wide.iloc[:, 0])}"
    elif distances.max() == 0:
        title = "All features are equally frequent"
    return finish(figure, data, stamp, title)


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
    need(labels, "error", "detail", "automatic", *([panel] if panel else []))
    bars = _bar_of(labels, panel)
    counts = _counts_of_causes(labels, bars)
    data = _rows_of_causes(counts, panel or "panel").assign(run=runs(labels))
    shares = _shares_of_causes(counts)
    first = shares.columns[0]
    title = _most_frequent_cause(counts[first])
    if panel:
        title += f" of the errors of {style.text(shown(first), 30)}"
    note = ""
    theirs = None
    if paper is not None and paper.metric == "rank":
        order = ", ".join(paper.frame()["label"])
        note = f"In {paper.engine}, the most frequent first: {order}."
        paper = None  # it has no numbers
    elif paper is not None:
        shares = _with_causes(
            shares, paper.columns if panel else paper.frame()["label"]
        )
        theirs = _printed_shares(paper, shares, panel, column)
    looks = style.looks(shares, counts.sum())
    figure, axes = style.bars(shares, looks, TWO, theirs=theirs, paper=paper)
    number = f" (N = {len(labels):,})" if len(looks) == 1 else ""
    percent(axes.xaxis, f"errors{number}")
    return finish(figure, data, stamp, title, note)


def _most_frequent_cause(counts: "pd.Series[int]") -> str:
    of_error = counts.groupby("error").sum()
    share = 100 * of_error.max() / of_error.sum()
    return f"Most frequent cause: {style.text(leaders(of_error), 60)}, {share:.0f}%"


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


def _shares_of_causes(counts: DataFrame) -> DataFrame:
    """Return the percentage of each cause, "error: detail", for each bar.

    Above the kinds of an error stands their sum, unless some labels have the error without a kind.
    """
    shares = 100 * counts / counts.sum()
    rows: dict[str, Any] = {}
    for error, part in shares.groupby("error", sort=False):
        kinds = part.droplevel("error")
        if len(kinds) > 1 and "" not in kinds.index:
            rows[str(error)] = kinds.sum()
        for kind, row in kinds.iterrows():
            rows[f"{error}: {kind}" if kind else str(error)] = row
    return DataFrame(rows).T


def _with_causes(shares: DataFrame, causes: Iterable[str]) -> DataFrame:
    """Put rows of zeros below for a paper's causes that none of ours has."""
    known = {str(cause).casefold() for cause in shares.index}
    others = [cause for cause in causes if cause.casefold() not in known]
    return shares.reindex([*shares.index, *others], fill_value=0.0)


def _printed_shares(
    paper: Published, shares: DataFrame, panel: str | None, column: str
) -> DataFrame:
    """Return a paper's values of our causes and bars.

    Its rows are our bars if these are of a `panel`; else they are causes, and one of its columns
    stands beside our first bar.
    """
    if panel:
        return style.printed(paper, shares.columns).set_axis(shares.columns).T
    column = column or paper.columns[0]
    one_of(paper.columns, column=column)
    printed = style.printed(paper, shares.index)[[column]].set_axis(shares.index)
    return printed.set_axis(shares.columns[:1], axis=1)
