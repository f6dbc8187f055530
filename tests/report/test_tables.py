"""Ours beside the paper's: nothing dropped, nothing mixed up, nothing that acts as markup."""

import re
from dataclasses import replace
from html import unescape

import pandas as pd
import pytest

from workbench.errors import BadInputError
from workbench.report.published import Published, published
from workbench.report.stamp import Origin, Stamp, stamped
from workbench.report.tables import ResultTable, alone, beside
from workbench.study.run import Table

PARSER = "embedded/parser"
STAMP = Stamp((PARSER,), "bundled", 1234)
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
    return {
        "generator": generator,
        "EX": 36.345,
        "low": 27.81,
        "high": 45.87,
        "run": "abc",
    } | more


def ours(*generators):
    return pd.DataFrame([row(generator) for generator in generators])


def cells(html, part="tbody"):
    """The rows of a part of a table, without markup."""
    body = html.partition(f"<{part}>")[2].partition(f"</{part}>")[0]
    lines = [
        re.findall(r"<t[hd].*?</t[hd]>", line) for line in body.split("</tr>")[:-1]
    ]
    return [
        [unescape(re.sub("<[^>]*>", "", one)).strip() for one in line] for line in lines
    ]


def test_rows_are_joined_where_their_labels_say_the_same_and_none_is_dropped():
    frame = ours("synthetic_examples", "DIVIDE_AND_CONQUER", "decomposer")
    table = beside(frame, PAPER, STAMP, label="generator", note="Mind the gap.")
    assert table.frame.to_csv(index=False).splitlines() == [
        'generator,EX,low,high,"CHASE-SQL, Gemini 1.5 Pro: EX",run',
        "synthetic_examples,36.345,27.81,45.87,67.09,abc",
        "DIVIDE_AND_CONQUER,36.345,27.81,45.87,63.92,abc",
        "decomposer,36.345,27.81,45.87,,abc",
        "query plan,,,,63.62,",
    ]
    assert cells(table.to_html(), "thead") == [
        ["generator", "EX", "CHASE-SQL, Gemini 1.5 Pro: EX"]
    ]
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
    ],
)
def test_a_run_stands_beside_the_papers_row_of_its_own_model(model, printed):
    table = table_2_of(model)
    assert table["CHASE-SQL: EX dev"][0] == printed
    assert sorted(table["CHASE-SQL: EX dev"]) == sorted(
        published("CHASE-SQL", "table 2").frame()["EX dev"]
    )


@pytest.mark.parametrize(
    "model", ["anthropic/claude-sonnet-4-5", "gemini/gemini-2.5-pro", PARSER]
)
def test_a_run_of_another_model_stands_alone_and_the_paper_names_its_engines(model):
    table = table_2_of(model)
    assert table["CHASE-SQL: EX dev"].isna().tolist() == [True] + [False] * (
        len(table) - 1
    )
    theirs = table.set_index("system").loc["CHASE-SQL + Gemini 1.5 (Ours)"]
    assert theirs[["CHASE-SQL: EX dev", "CHASE-SQL: model"]].tolist() == [
        73.01,
        "Gemini 1.5 Pro",
    ]


def table_2_of(model):
    stamp = Stamp(
        ("openai/o9",), "bird", 9, origins={"r": Origin((model, "openai/o1"))}
    )
    frame = pd.DataFrame([{"system": "CHASE-SQL", "EX": 50.0, "run": "r"}])
    return beside(
        frame, published("CHASE-SQL", "table 2"), stamp, columns={"EX": "EX dev"}
    ).frame


def test_a_tuned_models_row_meets_the_papers_row_of_that_model_alone():
    origins = {
        "r": Origin(("hosted_vllm/SQL-Llama-7B",)),
        "s": Origin(("openai/gpt-4",)),
    }
    stamp = Stamp(("openai/gpt-4",), "bird", 9, origins=origins)
    rows = [
        ("zero-shot, chain of thought, SQL-Llama", "r"),
        ("MAC-SQL, SQL-Llama", "s"),
    ]
    frame = pd.DataFrame(
        [{"system": name, "EX": 50.0, "run": run} for name, run in rows]
    )
    table = beside(
        frame, published("MAC-SQL", "table 1"), stamp, columns={"EX": "EX dev"}
    ).frame
    assert table["MAC-SQL: EX dev"][0] == 32.87
    assert pd.isna(table["MAC-SQL: EX dev"][1])


def test_the_papers_columns_stand_right_beside_ours():
    frame = pd.DataFrame([row("query plan", calls=2, mended=50.0)])
    table = beside(
        frame, PAPER, STAMP, label="generator", columns={"EX": ("EX", "fixed")}
    )
    engine = "CHASE-SQL, Gemini 1.5 Pro"
    heads = ["generator", "EX", f"{engine}: EX", f"{engine}: fixed", "calls", "mended"]
    assert cells(table.to_html(), "thead") == [heads]
    # A count stays whole.
    assert [line[-2] for line in cells(table.to_html())] == ["2", "", ""]


CAPTIONS = (
    ("EX", False, True),
    ("difference", True, False),
    ("EX change", True, True),
    ("n", False, False),
)


@pytest.mark.parametrize(("columns", "paired", "clustered"), CAPTIONS)
def test_a_caption_tells_paired_intervals_from_clustered_ones(
    columns, paired, clustered
):
    frame = pd.DataFrame({"system": ["a"]})
    for name in columns.split():
        frame = frame.assign(**{name: 1.5})
        if name != "n":
            frame = frame.assign(**{f"{name} low": 1.0, f"{name} high": 2.0})
    caption = alone(frame, STAMP, "t").caption[0]
    assert ("over questions" in caption, "clustered" in caption) == (paired, clustered)


def test_numbers_are_rounded_for_the_reader_and_kept_for_the_file():
    columns = {"step": ["a", "b"], "calls": [1200, 3], "tokens": [12345.678, 7.1]}
    columns |= {
        "share": [0.98765, 1.0],
        "printed": [63.62, 73.0],
        "dollars": [0.00123, 0.0],
    }
    columns |= {"p": [0.30001, 0.0004], "F1": [50.0, 1.0]}
    columns |= {"F1 low": [40.25, None], "F1 high": [60.0, None]}
    table = alone(pd.DataFrame(columns), STAMP, "t")
    assert cells(table.to_html()) == [
        [
            "a",
            "1,200",
            "12,345.7",
            "0.99",
            "63.62",
            "0.0012",
            "0.30",
            "50.0 (40.2 to 60.0)",
        ],
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
    assert [lines[0], " ".join(lines[2].split())] == [
        "**BIRD's**",
        "| generator | EX |",
    ]
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
        (ours("a"), {}, "'system'"),
        (ours("a"), {"columns": {"F1": "EX"}}, "F1"),
        (ours("a"), {"columns": {"EX": "F1"}}, "F1"),
        (ours("a"), {"columns": {"EX": "EX", "low": "EX"}}, "columns"),
        (pd.DataFrame([{"generator": "a"}]), {}, "columns"),
        (ours("query_plan", "query plan"), {"label": "generator"}, "query plan"),
    ],
)
def test_frames_that_cannot_be_joined_are_an_error_in_one_line(frame, more, named):
    with pytest.raises(BadInputError, match=named) as caught:
        beside(
            frame,
            PAPER,
            STAMP,
            **({"label": "generator"} if "columns" in more else {}) | more,
        )
    assert "\n" not in str(caught.value)


def test_a_stamp_names_models_benchmark_metric_similarity_and_dropped_parameters():
    by_letters = ("similarity by letters",)
    takes_less = {"openai/o1": ["temperature", "top_p"]}
    origins = {
        "a1": Origin(("openai/o9", "openai/o1"), dropped=takes_less),
        "b2": Origin((PARSER,)),
        "c3": Origin(()),
    }
    stamp = Stamp(("openai/o9",), "bird", 7, "EX (Spider)", by_letters, origins=origins)
    by_model = {"a1": Origin(("openai/o9",), ("similarity by openai/small",))}
    embedded = Stamp(("openai/o9",), "bird", 7, origins=by_model)
    assert str(embedded.of(pd.DataFrame({"run": ["a1 b2"]}))).endswith(
        "similarity by openai/small"
    )
    assert str(stamp) == "openai/o9 on bird, N = 7, EX (Spider), similarity by letters"
    several = stamped(stamp, pd.DataFrame({"run": ["a1 b2", None, "a1"]}))
    assert several.startswith(
        "openai/o9, openai/o1 (takes no temperature, top_p),"
        " embedded/parser (a small statistical parser, no language model) on bird, N = 7"
    )
    for frame in (pd.DataFrame({"run": ["c3", "other"]}), pd.DataFrame({"EX": [1.0]})):
        assert stamp.of(frame) == stamp
    assert stamped("of nobody", pd.DataFrame({"run": ["a1"]})) == "of nobody"
    origins["d4"] = Origin(("openai/o3",))  # a later run of the same study
    assert stamp.of(pd.DataFrame({"run": ["d4"]})).models == "openai/o3"


def test_a_joined_table_keeps_the_stamps_of_its_parts():
    rows = pd.DataFrame({"system": ["a"], "EX": [1.0], "run": ["r"]})
    scores = pd.DataFrame({"system": ["a"], "VES": [2.0]})
    stamp = Stamp(("openai/o9",), "bird", 9, origins={"r": Origin(("openai/o1",))})
    of_scores = Table.of(scores, replace(stamp, ex="")).drop(columns="system")
    table = Table.of(rows, stamp).join(of_scores)
    assert "openai/o1 on bird, N = 9, EX (BIRD)" in table.alone("t").caption[0]
    for parts in ([table, table], [of_scores, table]):
        caption = pd.concat(parts).alone("t").caption[0]
        assert "openai/o1 on bird, N = 9, EX (BIRD)" in caption


def test_a_joined_table_without_runs_names_the_models_of_all_its_parts():
    rows = pd.DataFrame({"system": ["a"], "EX": [1.0]})
    stamp = Stamp(("openai/o9",), "bird", 9, dropped={"openai/o9": ["seed"]})
    other = replace(stamp, asked=("openai/o1",), remarks=("letters",))
    joined = pd.concat([Table.of(rows, stamp), Table.of(rows, other)])
    caption = joined.alone("t").caption[0]
    assert "openai/o9 (takes no seed), openai/o1 on bird" in caption
    assert "letters" in caption


def test_rows_of_different_questions_have_no_stamp_and_are_not_saved():
    rows = pd.DataFrame({"system": ["a"], "EX": [1.0]})
    stamp = Stamp(("openai/o9",), "bird", 9)
    of_others = replace(stamp, benchmark="spider"), replace(stamp, n=8)
    of_another_study = Stamp(("openai/o9",), "bird", 9)
    ours = Table.of(rows, stamp)
    joined = [
        pd.concat([ours, Table.of(rows, other)])
        for other in (*of_others, of_another_study)
    ]
    for table in (*joined, Table(rows)):
        with pytest.raises(BadInputError, match=r"study\.table"):
            table.alone("t")
        with pytest.raises(BadInputError, match=r"study\.table"):
            table.beside("CHASE-SQL", "table 1")


@pytest.mark.extras
def test_words_are_not_shown_as_html_where_pandas_keeps_texts_in_arrow():
    """Any package may bring Arrow, as the extra `train` does."""
    pytest.importorskip("pyarrow", reason="needs the extra `train`: make test-extras")
    table = alone(pd.DataFrame({"system": ["a"], "n": [1]}), STAMP, "Rows")
    assert cells(table.to_html()) == [["a", "1"]]
