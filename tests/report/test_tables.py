"""Ours beside the paper's: nothing dropped, nothing mixed up, nothing that acts as markup."""

import re
from dataclasses import replace

import pandas as pd
import pytest

from workbench.errors import BadInputError
from workbench.report.drawing.rendering import ResultTable
from workbench.report.papers import Published, all_published
from workbench.report.stamp import Stamp
from workbench.report.tables import alone, beside

STAMP = Stamp("embedded/parser", "bundled", 1234)
PAPER = Published(
    paper="CHASE-SQL",
    source="table 4",
    title="Generators",
    benchmark="BIRD dev",
    metric="EX (BIRD)",
    n=1534,
    model="Gemini 1.5 Pro",
    columns=("EX", "fixed"),
    rows=(
        ("query plan", 63.62, 65.51),
        ("divide and conquer", 63.92, 65.77),
        ("synthetic examples", 67.09, None),
    ),
    note="One candidate.",
)


def row(generator, **more):
    return {"generator": generator, "EX": 36.345, "low": 27.81, "high": 45.87, "run": "abc"} | more


def ours(*generators):
    return pd.DataFrame([row(generator) for generator in generators])


def cells(html):
    """The body's rows, without markup."""
    body = html.partition("<tbody>")[2].partition("</tbody>")[0]
    return [
        [re.sub("<[^>]*>", "", one) for one in re.findall(r"<t[hd].*?</t[hd]>", line)]
        for line in body.split("</tr>")[:-1]
    ]


def test_rows_are_joined_where_their_labels_say_the_same_and_none_is_dropped():
    table = beside(
        ours("synthetic_examples", "DIVIDE_AND_CONQUER", "decomposer"),
        PAPER,
        STAMP,
        label="generator",
    )
    assert table.frame["generator"].tolist() == [
        "synthetic_examples",
        "DIVIDE_AND_CONQUER",
        "decomposer",
        "query plan",
    ]
    assert table.frame["EX"].fillna(0).tolist() == [36.345, 36.345, 36.345, 0]
    assert table.frame["CHASE-SQL: EX"].fillna(0).tolist() == [67.09, 63.92, 0, 63.62]


def test_a_missing_number_is_an_empty_cell():
    table = beside(ours("decomposer"), PAPER, STAMP, label="generator")
    assert cells(table.to_html())[0] == ["decomposer", "36.3 (27.8 to 45.9)", ""]
    assert cells(table.to_html())[1] == ["query plan", "", "63.62"]


def test_the_papers_columns_stand_right_beside_ours_under_a_common_head():
    frame = pd.DataFrame([row("query plan", calls=2, mended=50.0)])
    pairs = {"EX": ("EX", "fixed")}
    table = beside(frame, PAPER, STAMP, label="generator", columns=pairs)
    assert list(table.frame) == [
        *("generator", "EX", "low", "high", "CHASE-SQL: EX", "CHASE-SQL: fixed"),
        *("calls", "mended", "run"),
    ]
    assert 'colspan="3">EX</th>' in table.to_html()
    for name in ("embedded/<wbr>parser", "CHASE-SQL", "CHASE-SQL, fixed"):
        assert f">{name}</th>" in table.to_html()


def test_an_interval_may_carry_its_columns_name():
    frame = pd.DataFrame([{"step": "a", "F1": 50.0, "F1 low": 40.25, "F1 high": 60.75, "low": 1}])
    assert cells(alone(frame, STAMP, "t").to_html()) == [["a", "50.0 (40.2 to 60.8)", "1"]]


def test_the_run_is_kept_in_the_frame_and_not_shown():
    table = beside(ours("query plan"), PAPER, STAMP, label="generator")
    assert table.frame["run"][0] == "abc"
    assert "abc" not in table.to_html() + table.to_markdown()


def test_the_caption_names_model_and_benchmark_of_both_sides():
    table = beside(ours("query plan"), PAPER, STAMP, label="generator", note="Mind the gap.")
    assert table.caption == (
        f"Here: {STAMP}. Intervals: 95%, clustered by database.",
        "CHASE-SQL, table 4: Gemini 1.5 Pro on BIRD dev, N = 1,534, EX (BIRD). One candidate.",
        "Mind the gap.",
    )


def test_a_column_names_the_models_of_a_papers_rows_if_there_are_several():
    mixed = PAPER.model_copy(
        update={
            "model": "",
            "columns": ("model", "EX"),
            "rows": (("query plan", "GPT-4", 46.35), ("direct", None, 50.0)),
        }
    )
    table = beside(ours("query plan", "decomposer"), mixed, STAMP, label="generator")
    assert cells(table.to_html()) == [
        ["query plan", "36.3 (27.8 to 45.9)", "46.35", "GPT-4"],
        ["decomposer", "36.3 (27.8 to 45.9)", "", ""],
        ["direct", "", "50.00", ""],
    ]
    assert "| EX: CHASE-SQL | CHASE-SQL: model |" in table.to_markdown()


@pytest.mark.parametrize("paper", [one for one in all_published() if not one.model and "model" in one.columns],
                         ids=lambda one: f"{one.paper} {one.source}")  # fmt: skip
def test_no_paper_that_compares_models_loses_them(paper):
    metric = next(name for name in paper.columns if name.startswith(("EX", "all")))
    none = pd.DataFrame({"system": [], metric: []}, dtype=object)
    shown = beside(none, paper, STAMP).to_markdown()
    assert {row[1] for row in paper.rows if row[1] and row[1] not in shown} == set()


def test_our_column_names_the_models_of_its_runs():
    stamp = replace(STAMP, models_by_run={"abc": ("openai/o9", "openai/o1")})
    table = beside(ours("query plan"), PAPER, stamp, label="generator")
    assert table.caption[0].startswith("Here: openai/o9, openai/o1 on bundled, N = 1,234")
    assert table.heads["EX"] == ("EX", "openai/o9, openai/o1")
    assert alone(ours("a"), stamp, "t").caption == table.caption[:1]


def test_a_table_of_another_metric_does_not_mention_execution_accuracy():
    table = beside(ours("a"), PAPER.model_copy(update={"metric": "rank"}), STAMP, label="generator")
    assert not any("EX (BIRD)" in line for line in table.caption)


def test_numbers_are_rounded_for_the_reader_and_kept_for_the_file():
    frame = pd.DataFrame(
        {
            "step": ["a", "b"],
            "calls": [1200, 3],
            "tokens": [12345.678, 7.1],
            "share": [0.98765, 1.0],
            "printed": [63.62, 73.0],
            "dollars": [0.00123, 0.0],
            "p": [0.30001, 0.0004],
        }
    )
    table = alone(frame, STAMP, "t")
    assert cells(table.to_html()) == [
        ["a", "1,200", "12,345.7", "0.99", "63.62", "0.0012", "0.30"],
        ["b", "3", "7.1", "1.00", "73.00", "0.0000", "&lt;0.01"],
    ]
    assert table.frame is frame


def test_counts_stay_integers_beside_rows_that_only_the_paper_has():
    frame = pd.DataFrame([row("query plan", calls=2)])
    table = beside(frame, PAPER, STAMP, label="generator")
    assert [line[-1] for line in cells(table.to_html())] == ["2", "", ""]


def test_numbers_stand_right_and_words_left():
    html = alone(pd.DataFrame({"step": ["a"], "EX": [1.5], "why": ["b"]}), STAMP, "t").to_html()
    assert (
        '<th scope="row" class="words">a</th><td><span>1.5</span></td><td class="words">b</td>'
        in html
    )


EVIL = '<script>alert("x")</script> $a$ | _b_'


def test_html_shows_text_as_it_is():
    frame = pd.DataFrame([{EVIL: EVIL, f"{EVIL}2": EVIL}])
    html = ResultTable(EVIL, (EVIL,), frame, {EVIL: (EVIL, EVIL)}).to_html()
    assert "<script" not in html
    assert (
        html.replace("<wbr>", "").count(
            "&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt; $a$ | _b_"
        )
        == 8
    )


def test_text_that_no_file_could_hold_is_shown_as_an_escape():
    table = alone(ours("a\ud800\u202eb"), STAMP, "t")
    for shown in (table.to_html(), table.to_markdown()):
        assert "a\\ud800\\u202eb" in shown


def test_mathjax_is_kept_out_of_a_table():
    html = alone(ours("$a$"), STAMP, "t")._repr_html_()
    assert html.startswith('<section class="wb mathjax_ignore tex2jax_ignore wb-table"')


def test_markdown_escapes_entities_once():
    assert "BIRD&#x27;s" in alone(ours("a"), STAMP, "BIRD's").to_markdown()


def test_markdown_shows_text_as_it_is_and_keeps_its_columns():
    lines = alone(ours(f"{EVIL}\nc"), STAMP, "t").to_markdown().splitlines()
    assert lines[:4] == ["**t**", "", "| generator | EX |", "|:--|--:|"]
    assert lines[4] == (
        "| &lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt; \\$a\\$ \\| \\_b\\_ c | 36.3 (27.8 to 45.9) |"
    )


@pytest.mark.parametrize(
    ("frame", "more", "message"),
    [
        (ours("a"), {}, "no column 'system' of ours; there are generator, EX, low, high, run"),
        (ours("a"), {"columns": {"F1": "EX"}}, "no column 'F1' of ours"),
        (ours("a"), {"columns": {"EX": "F1"}}, "no column 'F1' in CHASE-SQL, table 4; there are EX, fixed"),
        (ours("a"), {"columns": {"EX": "EX", "low": "EX"}}, "is beside two of our columns"),
        (pd.DataFrame([{"generator": "a"}]), {}, "none has the same name, so say with `columns`"),
        (ours("query_plan", "query plan"), {"label": "generator"}, "our rows have the label 'query plan' twice"),
    ],
)  # fmt: skip
def test_frames_that_cannot_be_joined_are_an_error_in_one_line(frame, more, message):
    with pytest.raises(BadInputError, match=re.escape(message)) as caught:
        beside(frame, PAPER, STAMP, **({"label": "generator"} if "columns" in more else {}) | more)
    assert "\n" not in str(caught.value)
