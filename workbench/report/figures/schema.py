"""How pruning narrows a schema: CHESS's figures 5, 16 and 17; and what queries are made of: CHASE-SQL's figure 25."""

from collections.abc import Iterable, Mapping

import pandas as pd
from matplotlib.patches import Patch, Rectangle

from workbench.errors import BadInputError
from workbench.report import style
from workbench.report.stamp import runs
from workbench.report.style import ONE, TWO, Look, Picture
from workbench.sql.facts import features
from workbench.types import Schema, lower_name

_LINE, _ACROSS = 0.135, 4  # inches a line; blocks side by side
_SURVIVAL = "table column stage place stages used primary_key foreign_key".split()  # noqa: SIM905


def sizes(stages: Mapping[str, Schema]) -> pd.DataFrame:
    """The numbers of tables and columns of one question's schema that each stage leaves, by the stage's name."""
    rows = [(name, len(left.tables), len(left.columns())) for name, left in stages.items()]
    return pd.DataFrame(rows, columns=["stage", "tables", "columns"])


@style.settings
def columns_left(stages: pd.DataFrame, *, stamp: object) -> Picture:
    """Figure 5: the mean number of columns left after each stage, by database.

    Columns `db_id`, `stage` and `columns`: a row for each question and stage, stages in their order.
    """
    style.need(stages, "db_id", "stage", "columns")
    means = stages.groupby(["db_id", "stage"], sort=False)["columns"].agg(["mean", "size"])
    data = means.set_axis(["columns", "n"], axis=1).reset_index().assign(run=runs(stages))
    rows, parts = list(dict.fromkeys(data["db_id"])), style.series(data, "stage")
    figure, (axes,) = style.panels(ONE, 0.5 + 0.2 * len(rows))
    ends = data.groupby("db_id", sort=False)["columns"].agg(["min", "max"])
    axes.hlines(range(len(rows)), ends["min"], ends["max"], color=style.PALE, linewidth=1, zorder=0)
    keys = {}
    for place, (name, part) in enumerate(parts.items(), 1):
        paler = style.shade(style.BLUE, 1 - place / len(parts))
        look = Look(paler, style.MARKERS[(place - 1) % 8])
        axes.plot(part["columns"], part["db_id"].map(rows.index), linestyle="", ms=5, **look.mark)
        keys[name] = style.line_key(look, "")
    style.name_rows(axes, rows)
    style.logarithmic(axes)
    axes.set_xlabel("columns left (mean)")
    axes.grid(axis="x")
    style.legend(figure, keys)
    return style.finish(figure, data, stamp)


@style.settings
def funnel(stages: pd.DataFrame, *, stamp: object) -> Picture:
    """Figure 16: one question's tables and columns after each stage: columns `stage`, `tables`, `columns`."""
    style.need(stages, "stage", "tables", "columns")
    figure, (axes,) = style.panels(ONE, 0.2 + 0.36 * len(stages))
    share = stages["columns"] / max(1, stages["columns"].max())
    for place, (row, wide) in enumerate(zip(stages.to_dict("records"), share, strict=True)):
        paler = style.shade(style.BLUE, 1 - (place + 1) / len(stages))
        axes.barh(place, wide, 0.8, left=-wide / 2, color=paler)
        note = f"tables {row['tables']:,}\ncolumns {row['columns']:,}"
        axes.text(0.56, place, note, va="center", fontsize=style.SMALL)
    style.name_rows(axes, stages["stage"].tolist(), 16)
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
            about = (table.name, column.name, list(stages)[place], place, len(left), key in wanted)
            rows.append((*about, column.name in table.primary_key, ", ".join(leads)))
    return pd.DataFrame(rows, columns=_SURVIVAL)


@style.settings
def pruned_schema(columns: pd.DataFrame, *, stamp: object) -> Picture:
    """Figure 17: tables as blocks of columns, as `survival` returns them; the longer kept, the darker.

    Primary keys are bold, foreign keys in italics with the table that they refer to, and the gold
    query's columns starred.
    """
    style.need(columns, *_SURVIVAL)
    last = max(1, int(columns["stages"].iloc[0]) - 1)
    columns = columns.assign(fill=[style.shade(style.BLUE, 1 - n / last) for n in columns["place"]])
    blocks = columns.groupby("table", sort=False)
    heights = [0] * min(_ACROSS, len(blocks))
    figure, (axes,) = style.panels(TWO, 1)
    axes.set_axis_off()
    for name, block in blocks:  # each block under the shortest stack
        x = heights.index(min(heights))
        axes.text(x + 0.02, heights[x] + 0.5, style.text(name, 20), va="center", weight="bold")
        for y, row in enumerate(block.to_dict("records"), heights[x] + 1):
            axes.add_patch(Rectangle((x, y), 0.94, 1, fc=row["fill"], ec=style.GREY, lw=0.4))
            lead = f" \N{RIGHTWARDS ARROW} {row['foreign_key']}" if row["foreign_key"] else ""
            label = ("\N{BLACK STAR} " if row["used"] else "") + row["column"] + lead
            axes.text(
                x + 0.02, y + 0.5, style.text(label, 25), va="center", size=style.SMALL,
                weight="bold" if row["primary_key"] else "normal",
                style="italic" if lead else "normal",
                color="white" if row["place"] > 0.6 * last else style.INK,
            )  # fmt: skip
        heights[x] += len(block) + 2
    figure.set_figheight(0.1 + _LINE * max(heights))
    axes.set(xlim=(0, _ACROSS), ylim=(max(heights), 0))
    keys: dict[str, object] = {}
    for row in columns.drop_duplicates("place").sort_values("place").to_dict("records"):
        name = f"left by {row['stage']}" if row["place"] else f"only in {row['stage']}"
        keys[name] = Patch(fc=row["fill"], ec=style.GREY, lw=0.5)
    if columns["used"].any():
        keys["used by the gold query"] = style.line_key(Look(style.INK, "*"), "", markersize=7)
    style.legend(figure, keys)
    return style.finish(figure, columns.drop(columns="fill"), stamp)


@style.settings
def feature_distribution(queries: pd.DataFrame, *, stamp: object) -> Picture:
    """Figure 25: the percentage of each source's readable queries with each feature; the column `sql` has the queries."""
    style.need(queries, "source", "sql")
    rows = []
    for name, group in queries.groupby("source", sort=False):
        counts = pd.DataFrame([read for sql in group["sql"] if (read := features(str(sql)))])
        if counts.empty:
            raise BadInputError(f"none of the {len(group)} queries of {name} can be read as SQL")
        shares = (100 * (counts > 0).mean()).rename_axis("feature").reset_index(name="percent")
        shares.insert(0, "source", str(name))
        rows.append(shares.assign(n=len(counts), run=runs(group)))
    data = pd.concat(rows, ignore_index=True)
    most = data.groupby("feature", sort=False)["percent"].transform("max")
    wide = data[most > 0].pivot_table("percent", "feature", "source", sort=False).fillna(0)
    parts = style.series(data, "source")
    looks = style.looks(parts)
    figure, axes = style.bars(ONE, wide, looks, "{:.0f}")
    style.percent(axes, "x", "queries that have it", whole=True)
    sizes = {name: f"(N = {part['n'].iloc[0]:,})" for name, part in parts.items()}
    style.legend(figure, {f"{style.shown(name)} {sizes[name]}": looks[name] for name in looks})
    without = ", ".join(dict.fromkeys(data["feature"][most == 0]))
    return style.finish(figure, data, stamp, f"No query has: {without}." if without else "")
