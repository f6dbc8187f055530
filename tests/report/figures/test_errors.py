"""Labels tallied into taxonomies."""

import pandas as pd
import pytest

from workbench.report.figures.errors import error_bars, error_pies, tally

LABELS = pd.DataFrame(
    [
        ("BIRD", "gold error", "", 30),
        ("BIRD", "wrong schema linking", "column", 2),
        ("BIRD", "wrong schema linking", "table", 6),
        ("Spider", "gold error", "", 22),
        ("Spider", "wrong schema linking", "column", 8),
    ],
    columns=["benchmark", "error", "detail", "count"],
)


def test_shares_are_of_each_panel():
    found = tally(LABELS, "benchmark")
    assert found.groupby("benchmark")["percent"].sum().tolist() == pytest.approx([100, 100])
    assert found.iloc[0].tolist()[:5] == [
        "BIRD",
        "gold error",
        "",
        30,
        pytest.approx(100 * 30 / 38),
    ]
    assert found["detail"].tolist() == ["", "column", "table", "", "column"]


def test_one_row_a_label_is_counted():
    labels = pd.DataFrame({"error": ["join", "join", "logic"], "run": ["a", "b", "a"]})
    found = tally(labels)
    assert found[["error", "count"]].to_numpy().tolist() == [["join", 2], ["logic", 1]]
    assert set(found["run"]) == {"a b"}


@pytest.mark.parametrize("draw", [error_pies, error_bars])
def test_panels_kinds_and_details_are_all_named(draw, shown_text):
    text = shown_text(draw(LABELS, "benchmark", stamp="s"))
    for name in ("BIRD", "Spider", "gold error", "wrong schema linking", "column", "table"):
        assert name in text


def test_a_kind_has_one_colour_in_all_panels():
    figure = error_pies(LABELS.iloc[::-1], "benchmark", stamp="s")
    left, right = (axes for axes in figure.axes if len(axes.patches) > 1 and axes.get_title())
    assert left.patches[0].get_facecolor() == right.patches[0].get_facecolor()


@pytest.mark.parametrize("draw", [error_pies, error_bars])
@pytest.mark.parametrize("panel", [None, "system"])
def test_peoples_labels_have_a_panel_apart_from_rules(draw, panel, shown_text):
    labels = pd.DataFrame(
        {
            "error": ["join", "logic", "not labelled"],
            "automatic": [False, True, False],
            "system": "S",
        }
    )
    text = shown_text(draw(labels, panel, stamp="s"))
    assert "by people" in text
    assert "by rules" in text


def test_labels_by_rules_alone_have_one_panel(shown_text):
    labels = pd.DataFrame({"error": ["join", "not labelled"], "automatic": [True, False]})
    assert "by rules" not in shown_text(error_bars(labels, stamp="s"))
