"""SQL features of synthetic examples beside those of gold queries: CHASE-SQL's figure 25."""

import pandas as pd

from workbench.sql.facts import features
from workbench.errors import BadInputError
from workbench.report.drawing import palette
from workbench.report.drawing.style import ONE, Picture, canvas, need, runs
from workbench.report.figures import marks


def feature_shares(queries: pd.DataFrame) -> pd.DataFrame:
    """The percentage of each source's readable queries with each feature; the column `sql` has the queries."""
    need(queries, "source", "sql")
    rows = []
    for name, group in queries.groupby("source", sort=False):
        counts = [read for sql in group["sql"] if (read := features(str(sql)))]
        if not counts:
            raise BadInputError(f"none of the {len(group)} queries of {name} can be read as SQL")
        rows += [
            {
                "source": name,
                "feature": feature,
                "percent": 100 * sum(bool(count[feature]) for count in counts) / len(counts),
                "n": len(counts),
                "run": runs(group),
            }
            for feature in counts[0]
        ]
    return pd.DataFrame(rows)


def feature_distribution(queries: pd.DataFrame, *, stamp: object) -> Picture:
    """Figure 25: how often each feature occurs in synthetic examples and in gold ("source" and "sql")."""
    data = feature_shares(queries)
    parts = marks.by_series(data, "source")
    looks = palette.looks(parts)
    used = data.groupby("feature", sort=False)["percent"].max() > 0
    rows, without = list(used.index[used]), ", ".join(used.index[~used])
    shown = data[data["feature"].isin(rows)]
    series = {
        name: part["percent"].tolist() for name, part in marks.by_series(shown, "source").items()
    }
    note = f"No query has: {without}." if without else ""
    with canvas(ONE, marks.rows_high(len(rows), len(parts)), data, stamp, note) as figure:
        axes = figure.subplots()
        marks.grouped_bars(axes, rows, series, looks, "{:.0f}")
        marks.percent(axes, "x", "queries that have it", whole=True)
        keys = {
            f"{palette.shown(name)} (N = {part['n'].iloc[0]:,})": marks.bar_key(looks[name])
            for name, part in parts.items()
        }
        marks.legend(figure, keys)
    return figure
