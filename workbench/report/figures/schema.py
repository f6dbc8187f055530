"""How pruning narrows a schema: CHESS's figures 5, 16 and 17; and what queries are made of: CHASE-SQL's figure 25."""

from collections.abc import Iterable, Mapping

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import Patch, Rectangle
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from workbench.errors import BadInputError
from workbench.report import style
from workbench.report.figures.frames import bars, need, series
from workbench.report.stamp import runs
from workbench.report.style import INK, ONE, PALE, SMALL, TWO, Look, Picture, shown, text
from workbench.sql.facts import features
from workbench.types import Schema, lower_name

_LINE, _ACROSS = 0.135, 4  # inches a line; blocks side by side


def sizes(stages: Mapping[str, Schema]) -> pd.DataFrame:
    """The numbers of tables and columns of one question's schema that each stage leaves, by the stage's name."""
    rows = [(name, len(left.tables), len(left.columns())) for name, left in stages.items()]
    return pd.DataFrame(rows, columns=["stage", "tables", "columns"])


@style.settings
def columns_left(stages: pd.DataFrame, *, stamp: object) -> Picture:
    """Figure 5: the mean number of columns left after each stage, by database.

    Columns `db_id`, `stage` and `columns`: a row for each question and stage, stages in their order.
    """
    need(stages, "db_id", "stage", "columns")
    means = stages.groupby(["db_id", "stage"], sort=False)["columns"].agg(["mean", "size"])
    data = means.set_axis(["columns", "n"], axis=1).reset_index().assign(run=runs(stages))
    rows, names = list(dict.fromkeys(data["db_id"])), list(dict.fromkeys(data["stage"]))
    figure, axes = style.canvas(ONE, 0.5 + 0.2 * len(rows))
    ends = data.groupby("db_id", sort=False)["columns"].agg(["min", "max"])
    axes.hlines(range(len(rows)), ends["min"], ends["max"], color=PALE, linewidth=1, zorder=0)
    keys = {}
    for number, (name, colour) in enumerate(zip(names, style.shades(len(names)), strict=True)):
        part, look = data[data["stage"] == name], Look(colour, style.SHAPES[number % 8][0])
        at = part["db_id"].map(rows.index)
        axes.plot(part["columns"], at, look.marker, color=look.colour, markersize=5)
        keys[str(name)] = style.line_key(look, linestyle="none")
    style.name_rows(axes, rows)
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axes.set_xlabel("columns left (mean)")
    axes.grid(axis="x")
    style.legend(figure, keys)
    return style.finish(figure, data, stamp)


@style.settings
def funnel(stages: pd.DataFrame, *, stamp: object) -> Picture:
    """Figure 16: one question's tables and columns after each stage: columns `stage`, `tables`, `columns`."""
    need(stages, "stage", "tables", "columns")
    figure, axes = style.canvas(ONE, 0.2 + 0.36 * len(stages))
    share = stages["columns"] / max(1, stages["columns"].max())
    rows = range(len(stages))
    axes.barh(rows, share, 0.8, left=-share / 2, color=style.shades(len(stages)))
    style.name_rows(axes, stages["stage"].tolist(), 80)
    for row, (_, stage) in zip(rows, stages.iterrows(), strict=True):
        note = f"tables {stage['tables']:,}\ncolumns {stage['columns']:,}"
        axes.text(0.56, row, note, va="center", fontsize=SMALL)
    axes.set(xlim=(-0.52, 0.86), xticks=[])
    axes.spines[:].set_visible(False)
    return style.finish(figure, stages, stamp)


def survival(stages: Mapping[str, Schema], used: Iterable[tuple[str, str]] = ()) -> pd.DataFrame:
    """A row for each column: the last stage that kept it, its keys, and whether the gold query uses it.

    `stages` maps each stage's name to the schema that it left, the whole schema first; `used` are the gold
    query's columns.
    """
    if not stages:
        raise BadInputError("no stages: give the whole schema, and what each stage left of it")
    left = [{(lower_name(t), lower_name(c)) for t, c in s.columns()} for s in stages.values()]
    wanted = {(lower_name(table), lower_name(column)) for table, column in used}
    rows = []
    for table in next(iter(stages.values())).tables:
        for column in table.columns:
            key = (lower_name(table.name), lower_name(column.name))
            place = max(place for place, names in enumerate(left) if key in names)
            leads = [k.ref_table for k in table.foreign_keys if column.name in k.columns]
            row: dict[str, object] = {"table": table.name, "column": column.name, "stage": list(stages)[place]}
            row |= {"place": place, "stages": len(left), "used": key in wanted}
            row |= {"primary_key": column.name in table.primary_key}
            rows.append(row | {"foreign_key": ", ".join(leads)})
    return pd.DataFrame(rows)


@style.settings
def pruned_schema(columns: pd.DataFrame, *, stamp: object) -> Picture:
    """Figure 17: tables as blocks of columns, as `survival` returns them; the longer kept, the darker.

    Primary keys are underlined, foreign keys in italics with the table that they refer to, and the gold
    query's columns starred.
    """
    need(columns, *"table column stage place stages primary_key foreign_key used".split())
    blocks = columns.groupby("table", sort=False)
    last = max(1, int(columns["stages"].iloc[0]) - 1)
    wide, heights = (TWO * 72 - 20) / _ACROSS, [0.0] * min(_ACROSS, len(blocks))
    rows_high = 1 + sum(len(block) + 2 for _, block in blocks) / len(heights)
    figure, axes = style.canvas(TWO, 0.1 + _LINE * rows_high)
    axes.set_axis_off()
    for name, block in blocks:  # each block under the shortest stack
        stack = heights.index(min(heights))
        _block(axes, stack * wide, heights[stack], wide - 10, str(name), block, last)
        heights[stack] += len(block) + 2
    figure.set_figheight(0.1 + _LINE * max(heights))
    axes.set(xlim=(0, wide * _ACROSS), ylim=(max(heights), 0))
    keys: dict[str, object] = {
        f"left by {row['stage']}" if row["place"] else f"only in {row['stage']}": Patch(
            facecolor=_depth(row["place"] / last), edgecolor=style.GREY, linewidth=0.5
        )
        for row in columns.drop_duplicates("place").sort_values("place").to_dict("records")
    }
    if columns["used"].any():
        star = style.line_key(Look(INK, "*"), linestyle="none", markersize=7)
        keys["used by the gold query"] = star
    style.legend(figure, keys)
    return style.finish(figure, columns, stamp)


def _block(
    axes: Axes, x: float, y: float, wide: float, name: str, block: pd.DataFrame, last: int
) -> None:
    head = text(name, 0.85 * wide - 8)  # bold is wider than what is measured
    colour = INK if block["place"].max() else style.GREY
    axes.text(x + 3, y + 0.5, head, va="center", fontweight="bold", color=colour)
    for at, row in enumerate(block.to_dict("records"), int(y) + 1):
        depth = row["place"] / last
        axes.add_patch(Rectangle((x, at), wide, 1, fc=_depth(depth), ec=PALE, lw=0.4))
        star = "\N{BLACK STAR} " if row["used"] else ""
        lead = f" \N{RIGHTWARDS ARROW} {row['foreign_key']}" if row["foreign_key"] else ""
        label = text(f"{star}{row['column']}{lead}", wide - 8, SMALL)
        ink, slant = "white" if depth > 0.7 else INK, "italic" if lead else "normal"
        axes.text(x + 3, at + 0.5, label, va="center", size=SMALL, style=slant, color=ink)
        if row["primary_key"]:
            under = x + 3 + style.width(label.replace(r"\$", "$"), SMALL)
            axes.plot([x + 3, under], [at + 0.92] * 2, color=ink, linewidth=0.5)
    axes.add_patch(Rectangle((x, y + 1), wide, len(block), fill=False, ec=style.GREY, lw=0.7))


def _depth(depth: float) -> str:
    """From white for columns that went first to dark blue for those that stayed."""
    return style.shade(style.BLUE, 1 - depth)


def feature_shares(queries: pd.DataFrame) -> pd.DataFrame:
    """The percentage of each source's readable queries with each feature; the column `sql` has the queries."""
    need(queries, "source", "sql")
    rows = []
    for name, group in queries.groupby("source", sort=False):
        counts = pd.DataFrame([read for sql in group["sql"] if (read := features(str(sql)))])
        if counts.empty:
            raise BadInputError(f"none of the {len(group)} queries of {name} can be read as SQL")
        shares = (100 * (counts > 0).mean()).rename_axis("feature").reset_index(name="percent")
        shares.insert(0, "source", str(name))
        rows.append(shares.assign(n=len(counts), run=runs(group)))
    return pd.concat(rows, ignore_index=True)


@style.settings
def feature_distribution(queries: pd.DataFrame, *, stamp: object) -> Picture:
    """Figure 25: how often each feature occurs in synthetic examples and in gold ("source" and "sql")."""
    data = feature_shares(queries)
    most = data.groupby("feature", sort=False)["percent"].transform("max")
    drawn = data[most > 0].rename(columns={"percent": "value"})
    parts = series(data, "source")
    looks = style.looks(parts)
    figure, axes = bars(ONE, drawn, "feature", "source", looks, "{:.0f}")
    style.percent(axes, "x", "queries that have it", whole=True)
    numbers = {name: f"{shown(name)} (N = {part['n'].iloc[0]:,})" for name, part in parts.items()}
    style.legend(figure, {numbers[name]: look for name, look in looks.items()})
    without = ", ".join(dict.fromkeys(data["feature"][most == 0]))
    return style.finish(figure, data, stamp, f"No query has: {without}." if without else "")
