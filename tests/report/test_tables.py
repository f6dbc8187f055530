"""Ours beside the paper's: nothing dropped, nothing mixed up, nothing that acts as markup."""

import re
from html import unescape

import pandas as pd
import pytest

from workbench.errors import BadInputError
from workbench.report.style import Stamp, stamped
from workbench.report.tables import Published, ResultTable, alone, beside, published

PARSER = "embedded/parser"
STAMP = Stamp(PARSER, "bundled", 1234)
ROWS = (
    ("query plan", 63.62, 65.51),
    ("divide and conquer", 63.92, 65.77),
    ("synthetic examples", 67.09, None),
)
PAPER = Published(
    paper="CHASE-SQL", source="table 4", title="Generators", benchmark="BIRD dev", metric="EX (BIRD)", n=1534,
    model="Gemini 1.5 Pro", columns=("EX", "fixed"), rows=ROWS, note="One candidate.",
)  # fmt: skip
EVIL = '<script>alert("x")</script> $a$ | _b_ \u202e'


def row(generator, **more):
    return {"generator": generator, "EX": 36.345, "low": 27.81, "high": 45.87, "run": "abc"} | more


def ours(*generators):
    return pd.DataFrame([row(generator) for generator in generators])


def cells(html, part="tbody"):
    """The rows of a part of a table, without markup."""
    body = html.partition(f"<{part}>")[2].partition(f"</{part}>")[0]
    lines = [re.findall(r"<t[hd].*?</t[hd]>", line) for line in body.split("</tr>")[:-1]]
    return [[unescape(re.sub("<[^>]*>", "", one)).strip() for one in line] for line in lines]


def test_rows_are_joined_where_their_labels_say_the_same_and_none_is_dropped():
    frame = ours("synthetic_examples", "DIVIDE_AND_CONQUER", "decomposer")
    table = beside(frame, PAPER, STAMP, label="generator", note="Mind the gap.")
    assert table.frame.to_csv(index=False).splitlines() == [
        "generator,EX,low,high,CHASE-SQL: EX,run",
        "synthetic_examples,36.345,27.81,45.87,67.09,abc",
        "DIVIDE_AND_CONQUER,36.345,27.81,45.87,63.92,abc",
        "decomposer,36.345,27.81,45.87,,abc",
        "query plan,,,,63.62,",
    ]
    assert cells(table.to_html(), "thead") == [["generator", "EX", "CHASE-SQL: EX"]]
    assert cells(table.to_html())[2:] == [
        ["decomposer", "36.3 (27.8 to 45.9)", ""],
        ["query plan", "", "63.62"],
    ]
    assert table.caption == (
        f"Here: {STAMP}. Intervals: 95%, clustered by database.",
        "CHASE-SQL, table 4: Gemini 1.5 Pro on BIRD dev, N = 1,534, EX (BIRD). One candidate.",
        "Mind the gap.",
    )
    assert "abc" not in table.to_html() + table.to_markdown()


@pytest.mark.parametrize(
    ("model", "printed"),
    [
        ("anthropic/claude-3-5-sonnet-20240620", 69.53),
        ("mistral/mistral-large-2407", 70.33),
        ("gemini/gemini-1.5-pro", 73.01),
        (PARSER, 73.01),
    ],
)
def test_a_run_stands_beside_the_papers_row_of_its_own_model(model, printed):
    stamp = Stamp("openai/o9", "bird", 9, models_by_run={"r": (model, "openai/o1")})
    frame = pd.DataFrame([{"system": "CHASE-SQL", "EX": 50.0, "run": "r"}])
    paper = published("CHASE-SQL", "table 2")
    table = beside(frame, paper, stamp, columns={"EX": "EX dev"}).frame
    assert table["CHASE-SQL: EX dev"][0] == printed
    assert sorted(table["CHASE-SQL: EX dev"]) == sorted(paper.frame()["EX dev"])


def test_the_papers_columns_stand_right_beside_ours():
    frame = pd.DataFrame([row("query plan", calls=2, mended=50.0)])
    table = beside(frame, PAPER, STAMP, label="generator", columns={"EX": ("EX", "fixed")})
    heads = ["generator", "EX", "CHASE-SQL: EX", "CHASE-SQL: fixed", "calls", "mended"]
    assert cells(table.to_html(), "thead") == [heads]
    assert [line[-2] for line in cells(table.to_html())] == ["2", "", ""]  # a count stays whole


CAPTIONS = (
    ("EX", False, True),
    ("difference", True, False),
    ("EX change", True, True),
    ("n", False, False),
)


@pytest.mark.parametrize(("columns", "paired", "clustered"), CAPTIONS)
def test_a_caption_tells_paired_intervals_from_clustered_ones(columns, paired, clustered):
    frame = pd.DataFrame({"system": ["a"]})
    for name in columns.split():
        frame = frame.assign(**{name: 1.5})
        if name != "n":
            frame = frame.assign(**{f"{name} low": 1.0, f"{name} high": 2.0})
    caption = alone(frame, STAMP, "t").caption[0]
    assert ("over questions" in caption, "clustered" in caption) == (paired, clustered)


def test_a_table_of_the_parsers_names_the_parts_that_change_no_verdict():
    """Two parts change nothing in the mean; only one changes no verdict (the interval of the other is wider)."""
    paired = {
        "change": [0.0, 0.0, -5.0],
        "change low": [-6.0, -12.0, -15.0],
        "change high": [6.0, 12.0, 4.0],
    }
    frame = pd.DataFrame({"system": ["w/o fixer", "w/o plan", "w/o values"], "n": 60, **paired})
    (caption,) = alone(frame, STAMP, "t").caption
    assert caption.endswith("No effect with the parser (no verdict differs): w/o fixer.")
    assert "No effect" not in alone(frame, Stamp("openai/gpt-4o", "bundled", 60), "t").caption[0]


def test_numbers_are_rounded_for_the_reader_and_kept_for_the_file():
    columns = {"step": ["a", "b"], "calls": [1200, 3], "tokens": [12345.678, 7.1]}
    columns |= {"share": [0.98765, 1.0], "printed": [63.62, 73.0], "dollars": [0.00123, 0.0]}
    columns |= {"p": [0.30001, 0.0004], "F1": [50.0, 1.0]}
    columns |= {"F1 low": [40.25, None], "F1 high": [60.0, None]}
    table = alone(pd.DataFrame(columns), STAMP, "t")
    assert cells(table.to_html()) == [
        ["a", "1,200", "12,345.7", "0.99", "63.62", "0.0012", "0.30", "50.0 (40.2 to 60.0)"],
        ["b", "3", "7.1", "1.00", "73.00", "0.0000", "<0.01", "1.0 ( to )"],
    ]


def test_html_shows_hostile_text_as_it_is_everywhere():
    frame = pd.DataFrame([{EVIL: EVIL, f"{EVIL}2": EVIL}])
    html = ResultTable(EVIL, (EVIL,), frame).to_html()
    assert "<script" not in html
    shown = EVIL.replace("\u202e", r"\u202e")
    assert unescape(html).count(shown) == 6
    assert html.startswith('<section class="mathjax_ignore tex2jax_ignore"')
    assert html == ResultTable(EVIL, (EVIL,), frame).to_html()


def test_markdown_shows_hostile_text_as_it_is_and_keeps_its_columns():
    lines = alone(ours(f"{EVIL}\nc"), STAMP, "BIRD's").to_markdown().splitlines()
    assert [lines[0], " ".join(lines[2].split())] == ["**BIRD's**", "| generator | EX |"]
    assert " ".join(lines[4].split()) == (
        r'| \<script\>alert("x")\</script\> \$a\$ \| \_b\_ \\u202e c | 36.3 (27.8 to 45.9) |'
    )
    assert re.fullmatch(r"\|:-+\|-+:\|", lines[3])


def test_a_table_without_rows_is_shown():
    table = beside(ours("a")[:0], PAPER, STAMP, label="generator")
    assert len(cells(table.to_html())) == 3
    assert alone(ours("a")[:0], STAMP, "nothing").to_markdown().count("\n") >= 3


@pytest.mark.parametrize(
    ("frame", "more", "named"),
    [
        (ours("a"), {}, "system"),
        (ours("a"), {"columns": {"F1": "EX"}}, "F1"),
        (ours("a"), {"columns": {"EX": "F1"}}, "F1"),
        (ours("a"), {"columns": {"EX": "EX", "low": "EX"}}, "columns"),
        (pd.DataFrame([{"generator": "a"}]), {}, "columns"),
        (ours("query_plan", "query plan"), {"label": "generator"}, "query plan"),
    ],
)
def test_frames_that_cannot_be_joined_are_an_error_in_one_line(frame, more, named):
    with pytest.raises(BadInputError, match=named) as caught:
        beside(frame, PAPER, STAMP, **({"label": "generator"} if "columns" in more else {}) | more)
    assert "\n" not in str(caught.value)


def test_a_stamp_names_models_benchmark_metric_similarity_and_dropped_parameters():
    by_run = {"a1": ("openai/o9", "openai/o1"), "b2": (PARSER,), "c3": ()}
    dropped = {"openai/o1": ["temperature", "top_p"]}
    stamp = Stamp("openai/o9", "bird", 7, "EX (Spider)", (), "letters", dropped, by_run)
    embedded = Stamp("openai/o9", "bird", 7, similarity_by_run={"a1": "openai/small", "b2": ""})
    assert str(embedded.of(pd.DataFrame({"run": ["a1 b2"]}))).endswith("similarity by openai/small")
    assert str(stamp) == "openai/o9 on bird, N = 7, EX (Spider), similarity by letters"
    several = stamped(stamp, pd.DataFrame({"run": ["a1 b2", None, "a1"]}))
    assert several.startswith(
        "openai/o9, openai/o1 (takes no temperature, top_p),"
        " embedded/parser (a small statistical parser, no language model) on bird, N = 7"
    )
    for frame in (pd.DataFrame({"run": ["c3", "other"]}), pd.DataFrame({"EX": [1.0]})):
        assert stamp.of(frame) == stamp
    assert stamped("of nobody", pd.DataFrame({"run": ["a1"]})) == "of nobody"
