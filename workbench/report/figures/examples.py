"""SQL features of synthetic examples beside those of gold queries: CHASE-SQL's figure 25."""

import pandas as pd

from workbench.db.sql.features import features
from workbench.errors import BadInputError
from workbench.report.drawing import palette
from workbench.report.drawing.style import ONE, Picture, canvas, need, runs
from workbench.report.figures.marks import (
    bar_key,
    by_series,
    grouped_bars,
    legend,
    percent,
    rows_high,
)


def feature_shares(queries: pd.DataFrame, by: str = "source") -> pd.DataFrame:
    """The percentage of each source's readable queries with each feature; the column `sql` has the queries."""
    need(queries, by, "sql")
    rows = []
    for name, group in queries.groupby(by, sort=False):
        counts = [read for sql in group["sql"] if (read := features(str(sql)))]
        if not counts:
            raise BadInputError(f"none of the {len(group)} queries of {name} can be read as SQL")
        rows += [
            {
                by: name,
                "feature": feature,
                "percent": 100 * sum(bool(count[feature]) for count in counts) / len(counts),
                "n": len(counts),
                "run": runs(group),
            }
            for feature in counts[0]
        ]
    return pd.DataFrame(rows)


def feature_distribution(queries: pd.DataFrame, by: str = "source", *, stamp: object) -> Picture:
    """Figure 25: how often each feature occurs in synthetic examples and in gold ("source" and "sql")."""
    data = feature_shares(queries, by)
    parts = by_series(data, by)
    looks = palette.looks(parts)
    used = data.groupby("feature", sort=False)["percent"].max() > 0
    rows, without = list(used.index[used]), ", ".join(used.index[~used])
    shown = data[data["feature"].isin(rows)]
    series = {name: part["percent"].tolist() for name, part in by_series(shown, by).items()}
    note = f"No query has: {without}." if without else ""
    with canvas(ONE, rows_high(len(rows), len(parts)), data, stamp, note) as figure:
        axes = figure.subplots()
        grouped_bars(axes, rows, series, looks, "{:.0f}")
        percent(axes, "x", "queries that have it", whole=True)
        keys = {
            f"{palette.shown(name)} (N = {part['n'].iloc[0]:,})": bar_key(looks[name])
            for name, part in parts.items()
        }
        legend(figure, keys)
    return figure
