"""Schemas as they are narrowed, and what queries are made of."""

import pandas as pd
import pytest

from workbench.errors import BadInputError
from workbench.report.figures.examples import feature_distribution, feature_shares
from workbench.report.figures.pruning import accuracy_by_columns, columns_left, sizes
from workbench.report.figures.schema import pruned_schema, survival
from workbench.types import Column, ForeignKey, Schema, Table

WHOLE = Schema(
    "race",
    (
        Table("driver", tuple(map(Column, ("id", "Name", "born"))), ("id",)),
        Table(
            "lap",
            tuple(map(Column, ("lap", "driver", "time"))),
            ("lap",),
            (ForeignKey(("driver",), "driver", ("id",)),),
        ),
    ),
)
STAGES = {
    "all": WHOLE,
    "filter": WHOLE.only([("driver", "name"), ("lap", "time")]),
    "select": WHOLE.only([("driver", "name")]),
}


def test_sizes_count_tables_and_columns_of_each_stage():
    assert sizes(STAGES).to_numpy().tolist() == [["all", 2, 6], ["filter", 2, 5], ["select", 1, 2]]


def test_each_column_has_the_last_stage_that_kept_it():
    data = survival(STAGES, [("LAP", "TIME")]).set_index(["table", "column"])
    assert data["stage"].to_dict() == {
        ("driver", "id"): "select",
        ("driver", "Name"): "select",
        ("driver", "born"): "all",
        ("lap", "lap"): "filter",
        ("lap", "driver"): "filter",
        ("lap", "time"): "filter",
    }
    assert data.index[data["used"]].tolist() == [("lap", "time")]
    assert data.index[data["primary_key"]].tolist() == [("driver", "id"), ("lap", "lap")]
    assert data.loc[("lap", "driver"), "foreign_key"] == "driver"


def test_the_diagram_names_every_table_column_and_stage(shown_text):
    text = shown_text(pruned_schema(survival(STAGES), stamp="s"))
    for name in (
        "driver",
        "Name",
        "lap",
        "time",
        "left by filter",
        "left by select",
        "only in all",
    ):
        assert name in text
    assert "gold" not in text


def test_no_stages_is_a_clear_error():
    with pytest.raises(BadInputError, match="no stages"):
        survival({})


def test_columns_left_are_means_over_questions():
    rows = [("d", stage, n) for stage, ns in (("all", (6, 6)), ("select", (2, 3))) for n in ns]
    data = columns_left(pd.DataFrame(rows, columns=["db_id", "stage", "columns"]), stamp="s").data
    assert data[["stage", "columns"]].to_numpy().tolist() == [["all", 6.0], ["select", 2.5]]


def test_the_axis_of_columns_is_logarithmic_with_the_sizes_on_it(shown_text):
    points = pd.DataFrame({"columns": [12, 4337], "EX": [70.0, 60.0], "metric": "pass@1"})
    figure = accuracy_by_columns(points, stamp="s")
    assert figure.axes[0].get_xscale() == "log"
    assert "4,337" in shown_text(figure)


def test_shares_count_queries_that_have_a_feature():
    queries = pd.DataFrame(
        {"source": "gold", "sql": ["SELECT 1", "SELECT a FROM t JOIN u ON 1", "not SQL at all ("]}
    )
    shares = feature_shares(queries).set_index("feature")
    assert shares.loc["JOIN", "percent"] == 50
    assert set(shares["n"]) == {2}


def test_a_source_without_readable_queries_is_a_clear_error():
    queries = pd.DataFrame({"source": "gold", "sql": ["not SQL at all ("]})
    with pytest.raises(BadInputError, match="gold"):
        feature_distribution(queries, stamp="s")
