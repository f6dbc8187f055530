"""Every figure shows what evaluation computes, and is legible: few rows and many, usual names and hostile ones."""

from functools import cache, partial
from itertools import combinations
from pathlib import Path

import matplotlib as mpl
import pandas as pd
import pytest
from matplotlib.colors import to_rgba

from workbench.errors import BadInputError
from workbench.report import figures, pools, schemas, style
from workbench.report.published import published
from workbench.types import Column, ForeignKey, Schema, Table

STAMP = "embedded/parser, a statistical parser and no language model; bundled-dev, N = 36, EX (BIRD)"
USUAL = ("divide_and_conquer", "query_plan", "synthetic_examples")
HOSTILE = (
    "$x_1$ costs 100 % \N{FOX FACE}",
    "a name\nof several lines that goes on and on and on without any end in sight",
    "\u6f22\u5b57_" + "wide" * 60,
)
STAGES = ("whole schema", "filter_column", "select_tables", "select_columns")
GOLDEN = Path(__file__).with_name("golden.csv")


def stages_of(name):
    tables = tuple(
        Table(
            f"{name} table_{t}",
            tuple(Column(f"{name} column_{c}") for c in range(9)),
            (f"{name} column_0",),
            (
                ForeignKey(
                    (f"{name} column_1",), f"{name} table_0", (f"{name} column_0",)
                ),
            ),
        )
        for t in range(6)
    )
    whole = Schema("shop", tables)
    pairs = whole.columns()
    left = (whole, whole.only(pairs[::3]), whole.only(pairs[:3]), whole.only(pairs[:1]))
    return dict(zip(STAGES, left, strict=True))


def costs(names):
    rows = [
        (name, 40 + 5 * n, 35 + 5 * n, 48 + 5 * n, 900 * 7**n)
        for n, name in enumerate(names)
    ]
    return pd.DataFrame(rows, columns=["system", "EX", "low", "high", "tokens"]).assign(
        dollars=0.0
    )


def labels(names):
    rows = [
        (kind, detail, system, True)
        for system in names
        for number, kind in enumerate((*names, "gold is wrong"))
        for detail in ("column", "", names[0])
        for _ in range(3 + 7 * number)
    ]
    return pd.DataFrame(rows, columns=["error", "detail", "system", "automatic"])


def points(names):
    rows = [
        (n, n // 12, 70 - n / 90, 60 - n / 90, 75, m)
        for n in (12, 300, 4337)
        for m in names
    ]
    return pd.DataFrame(
        rows, columns=["columns", "tests", "EX", "low", "high", "metric"]
    )


def queries(names):
    sql = (
        "SELECT a FROM t JOIN u ON t.x = u.x ORDER BY b LIMIT 1",
        "SELECT count(*) FROM t",
    )
    return pd.DataFrame(
        [(name, one) for name in names for one in sql], columns=["source", "sql"]
    )


def left(databases):
    pairs = [
        (k, d, n, s) for k, d in enumerate(databases) for n, s in enumerate(STAGES)
    ]
    rows = [(d, s, 90 // 2**n + 5 * k) for k, d, n, s in pairs]
    return pd.DataFrame(rows, columns=["db_id", "stage", "columns"])


FIGURES = {
    "bounds_by_generator": lambda n, _, t, __: figures.bounds_by_generator(
        t,
        pd.DataFrame({"generator": n[0], "k": [1, 3], "EX": [40.0, 50.0]}),
        stamp=STAMP,
    ),
    "bounds_by_difficulty": lambda _, __, t, ___: figures.bounds_by_difficulty(
        t, stamp=STAMP
    ),
    "venn": lambda n, _, t, __: figures.venn(
        t[t["generator"].isin(n[:3])], stamp=STAMP
    ),
    "unique_solves": lambda _, __, t, ___: figures.unique_solves(t, stamp=STAMP),
    "agreement": lambda _, __, t, ___: figures.agreement(t, stamp=STAMP),
    "row alone": lambda _, __, t, ___: figures.agreement(
        t, measure="row alone", stamp=STAMP
    ),
    "exists_and_chosen": lambda _, __, ___, q: figures.exists_and_chosen(
        q, stamp=STAMP
    ),
    "regret": lambda _, d, __, q: figures.regret(q, [f"{d[0]}/0"], stamp=STAMP),
    "accuracy_by": lambda _, __, ___, q: figures.accuracy_by(
        q, "feature", "system", stamp=STAMP
    ),
    "paired_differences": lambda _, __, ___, q: figures.paired_differences(
        q, stamp=STAMP
    ),
    "error_bars": lambda n, *_: figures.error_bars(
        labels(n[:2]), "system", stamp=STAMP
    ),
    "feature_distribution": lambda n, *_: figures.feature_distribution(
        queries(n), stamp=STAMP
    ),
    "pareto": lambda n, *_: figures.pareto(costs(n), per="question", stamp=STAMP),
    "pareto, all free": lambda n, *_: figures.pareto(costs(n), "dollars", stamp=STAMP),
    "accuracy_against": lambda n, *_: figures.accuracy_against(
        points(n), "columns", "metric", stamp=STAMP
    ),
    "accuracy_against, tests": lambda n, *_: figures.accuracy_against(
        points(n), "tests", stamp=STAMP
    ),
    "columns_left": lambda _, d, *__: figures.columns_left(left(d), stamp=STAMP),
    "funnel": lambda n, *_: figures.funnel(figures.sizes(stages_of(n[0])), stamp=STAMP),
    "pruned_schema": lambda n, *_: figures.pruned_schema(
        figures.survival(stages_of(n[0]), [(f"{n[0]} table_0", f"{n[0]} column_0")]),
        stamp=STAMP,
    ),
}
every = pytest.mark.parametrize("name", FIGURES)


@pytest.fixture(scope="module")
def draw(trials, questions):
    """`draw(name)`: the figure of the usual names, drawn once for all tests that only look at it."""

    @cache
    def drawn(name, names=USUAL, databases=("clinic", "harbour", "cinema"), each=12):
        t, q = (make(names, databases, each) for make in (trials, questions))
        return FIGURES[name](names, databases, t, q)

    return drawn


@every
def test_a_figure_is_legible_and_whole(name, draw, faults, shown_text):
    figure = draw(name)
    assert faults(figure) == []
    assert "no language model" in " ".join(shown_text(figure).split())
    assert figure.get_figwidth() in {style.ONE, style.TWO}
    boxes = [axes.get_window_extent() for axes in figure.axes]
    assert not [
        1
        for one in figure.legends
        for b in boxes
        if one.get_window_extent().overlaps(b)
    ]
    for axes in figure.axes:  # none cuts off what is drawn
        for side, low, high in (
            ("y", *axes.dataLim.intervaly),
            ("x", *axes.dataLim.intervalx),
        ):
            ends = sorted(getattr(axes, f"get_{side}lim")())
            assert not axes.lines or (ends[0] <= low and high <= ends[1]), side


@every
def test_a_figure_of_hostile_names_of_one_and_of_many_is_legible(name, draw, faults):
    assert faults(draw(name, HOSTILE, HOSTILE)) == []
    if name not in {"venn", "paired_differences", "agreement", "row alone"}:
        assert faults(draw(name, ("query_plan",), ("clinic",), 1)) == []
    many = tuple(f"a system with a tool less, number {n}" for n in range(9))
    assert faults(draw(name, many, tuple(f"database_{n}" for n in range(12)), 3)) == []


@every
def test_an_empty_table_and_one_without_its_columns_are_one_clear_error(name):
    of_stages = {"funnel", "pruned_schema"}
    function = getattr(
        figures, {"row alone": "agreement"}.get(name, name.split(",")[0])
    )
    more = {
        figures.accuracy_against: {"x": "tests"},
        figures.accuracy_by: {"by": "db_id", "label": "system"},
    }
    function = partial(function, **more.get(function, {}))
    with pytest.raises(BadInputError, match="no column"):
        function(pd.DataFrame({"x": [1]}), stamp=STAMP)
    if name not in of_stages:
        columns = "question_id db_id difficulty generator sample system feature correct oracle"
        columns += (
            " error detail automatic EX tokens columns tests metric stage source sql"
        )
        with pytest.raises(BadInputError, match=r"no rows|two or more"):
            function(pd.DataFrame(columns=columns.split()), stamp=STAMP)


def test_the_data_of_every_figure_are_the_golden_ones(draw):
    csv = {
        name: draw(name).data.to_csv(index=False, float_format="%.6g")
        for name in FIGURES
    }
    assert (
        "\n".join(f"{name}\n{text}" for name, text in csv.items()) == GOLDEN.read_text()
    )


def test_a_choice_among_the_first_candidates_lies_within_their_bounds(trials):
    frame = trials()
    first = frame[(frame["generator"] == USUAL[0]) & (frame["sample"] == 0)]
    once = 100 * first["correct"].mean()
    chosen = pd.DataFrame({"generator": [USUAL[0]], "k": [1], "EX": [once]})
    data = figures.bounds_by_generator(frame, chosen, stamp="s").data.dropna(
        subset="selected"
    )
    assert data[["lower", "selected", "upper"]].to_numpy() == pytest.approx(once)
    last = figures.bounds(frame).groupby("generator").last()
    same = figures.bounds(frame, first=True).groupby("generator").last()
    ends = ["k", "lower", "upper"]
    assert same[ends].to_numpy() == pytest.approx(last[ends].to_numpy())


def test_the_papers_own_venn_diagram_is_counted_as_it_prints_it(shown_text):
    a, b, c = "query_plan", "synthetic_examples", "divide_and_conquer"
    # As figure 3a has them.
    regions = ((a,), (b,), (a, b), (c,), (a, c), (b, c), (a, b, c), ())
    printed = published("CHASE-SQL", "figure 3a").frame()["questions"]
    rows = [
        (f"{solvers}{n}", name, name in solvers, "simple", 0)
        for solvers, count in zip(regions, printed, strict=True)
        for n in range(count)
        for name in (a, b, c)
    ]
    frame = pd.DataFrame(
        rows, columns=["question_id", "generator", "correct", "difficulty", "sample"]
    )
    figure = figures.venn(frame, stamp="s")
    counts = figure.data.set_index("solved_by")["n"].to_dict()
    assert counts == dict(zip(map(" & ".join, regions), printed, strict=True))
    assert {"1,045", "none: 258 of 1,534 (16.8%); areas not to scale"} <= set(
        shown_text(figure).splitlines()
    )
    lone = figures.solved_alone(frame).set_index("generator")["n"]
    assert lone.to_dict() == {a: 35, b: 30, c: 38}


def test_an_accuracy_of_one_sample_alone_says_which_so_that_it_can_be_traced(trials):
    frame = trials()
    one = figures.accuracies(frame.tail(1), ["generator"])
    assert one["sample"].tolist() == frame["sample"].tail(1).tolist() != [0]
    assert "sample" not in figures.accuracies(frame, ["generator"])


def test_the_agreement_of_one_generator_is_refused(trials):
    with pytest.raises(BadInputError, match="two generators"):
        figures.agreement(trials(["a"]), stamp="s")


@pytest.mark.parametrize("count", [1, 4])
def test_a_venn_diagram_of_other_numbers_is_refused_with_a_way_out(trials, count):
    with pytest.raises(BadInputError, match="agreement"):
        figures.venn(trials([f"g{n}" for n in range(count)]), stamp="s")


def test_the_frontier_has_the_systems_that_no_cheaper_system_beats():
    frame = pd.DataFrame({"EX": [50.0, 40.0, 60.0, 60.0], "tokens": [10, 20, 30, 40]})
    for rows in (frame, frame.iloc[::-1]):
        data = figures.pareto(rows.assign(system=list("abcd")), stamp="s").data
        assert data["best"].tolist() == [row in {(50, 10), (60, 30)} for row in zip(rows["EX"], rows["tokens"], strict=True)]  # fmt: skip


def test_the_most_accurate_is_the_cheapest_of_equal_systems(shown_text):
    rows = pd.DataFrame({"EX": [50.0, 60.0, 60.0], "tokens": [10, 12_345.6, 40_000]})
    text = shown_text(figures.pareto(rows.assign(system=list("abc")), stamp="s"))
    assert "b is most accurate, 60.0%, with 12,346 tokens" in text


def test_an_unknown_cost_is_an_error_and_an_unknown_price_leaves_its_system_out(
    shown_text,
):
    with pytest.raises(BadInputError, match="cost"):
        figures.pareto(costs("ab"), "euros", stamp="s")
    with pytest.raises(BadInputError, match="price"):
        figures.pareto(costs("ab").assign(dollars=float("nan")), "dollars", stamp="s")
    some = costs(["left out", "kept"]).assign(dollars=[float("nan"), 5.0])
    assert "left out" not in shown_text(figures.pareto(some, "dollars", stamp="s"))


def test_peoples_labels_have_bars_apart_from_those_of_rules(shown_text):
    frame = pd.DataFrame(
        {"error": ["join", "logic", "not labelled"], "automatic": [0, 1, 0]}
    )
    frame["detail"] = ""
    text = shown_text(figures.error_bars(frame, stamp="s"))
    assert "by people" in text
    assert "by rules" in text
    assert "by rules" not in shown_text(figures.error_bars(frame[1:], stamp="s"))


def test_each_column_has_the_last_stage_that_kept_it():
    stages = stages_of("x")
    data = figures.survival(stages, [("X TABLE_0", "x column_0")]).set_index(
        ["table", "column"]
    )
    kept = [set(schema.columns()) for schema in stages.values()]
    for column, place in data["place"].items():
        assert [column in names for names in kept[place:]] == [True] + [False] * (
            3 - place
        )
    assert data.index[data["used"]].tolist() == [("x table_0", "x column_0")]


def test_a_schema_that_no_stage_pruned_is_left_whole(shown_text):
    whole = dict([next(iter(stages_of("x").items()))])
    figure = figures.pruned_schema(figures.survival(whole), stamp="s")
    assert "54 of 54 columns are left" in shown_text(figure)


def test_a_source_without_readable_queries_is_a_clear_error():
    frame = pd.DataFrame({"source": ["gold"], "sql": ["not SQL at all ("]})
    with pytest.raises(BadInputError, match="gold"):
        figures.feature_distribution(frame, stamp="s")


@pytest.mark.parametrize(("databases", "few"), [(1, True), (9, True), (10, False)])
def test_a_comparison_on_few_databases_says_that_it_speaks_of_no_others(
    questions, shown_text, databases, few
):
    frame = questions()
    number = frame.groupby("system").cumcount() % databases
    frame = frame.assign(db_id=number.map("db{}".format))
    figure = figures.paired_differences(frame, stamp="s")
    assert ("too few to speak of others" in shown_text(figure)) == few
    assert ("clustered low" in figure.data) == (not few)


def answers(databases):
    """Two answers on each database, one right and one lost in selection."""
    rows = [(f"{db}{n}", db, n == 0, True) for db in databases for n in range(2)]
    return pd.DataFrame(rows, columns=["question_id", "db_id", "correct", "oracle"])


def drawn_values(figure, name):
    """The values at which a paper's marks stand, by the axis `name`."""
    values = []
    for axes in figure.axes:
        for line in axes.lines:
            if str(line.get_label()).startswith("paper"):
                values.extend(line.get_xdata() if name == "x" else line.get_ydata())
    return sorted(values)


def with_paper(source, trials):
    """The figure of ours that stands beside a paper's one, with the paper's values."""
    theirs = published(*source)
    causes = labels(["Wrong Logic", "Wrong Picking", "Schema Linking Error"])
    of_errors = causes.assign(system="zero-shot, chain of thought")
    whole = stages_of("x")
    with_stamp = {"paper": theirs, "stamp": "s"}
    match source:
        case ("CHASE-SQL", "figure 2"):
            return figures.bounds_by_generator(trials(), **with_stamp)
        case ("CHASE-SQL", "figure 3a"):
            return figures.venn(trials(), **with_stamp)
        case ("CHASE-SQL", "figure 5"):
            return figures.unique_solves(trials(), **with_stamp)
        case ("CHASE-SQL", "figure 6"):
            one = answers(["a"]).assign(system="here")
            return figures.regret(one, **with_stamp)
        case ("CHASE-SQL", "figure 7"):
            return figures.exists_and_chosen(
                answers(theirs.frame()["label"]), **with_stamp
            )
        case ("CHESS", "figure 3"):
            return figures.accuracy_against(
                points(["pass@1"]), "columns", "metric", **with_stamp
            )
        case ("CHESS", "figure 4"):
            return figures.accuracy_against(points(["EX"]), "tests", **with_stamp)
        case ("CHESS", "figure 5"):
            return figures.columns_left(left(["shop"]), **with_stamp)
        case ("CHESS", "figure 16"):
            return figures.funnel(figures.sizes(whole), **with_stamp)
        case ("CHESS", "figure 18"):
            return figures.error_bars(of_errors, "system", **with_stamp)
    return figures.error_bars(of_errors, column=theirs.columns[0], **with_stamp)


@pytest.mark.parametrize(
    ("source", "axis", "values"),
    [
        (("CHASE-SQL", "figure 2"), "y", [82.79]),
        (("CHESS", "figure 3"), "y", [61, 63]),
        (("CHESS", "figure 3"), "x", [4337, 4337]),
        (("CHESS", "figure 4"), "y", [68.31]),
        (("CHESS", "figure 5"), "x", [10]),
    ],
)
def test_the_papers_values_stand_at_their_places(trials, source, axis, values):
    assert drawn_values(with_paper(source, trials), axis) == values


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (
            ("CHASE-SQL", "figure 3a"),
            ["(35)", "(1,045)", "(paper, Gemini 1.5 Pro: 258 of 1,534)"],
        ),
        (
            ("CHASE-SQL", "figure 6"),
            ["72.9", "10.4", "6.7", "10.0", "paper, Gemini 1.5 Pro"],
        ),
        (("CHASE-SQL", "figure 5"), ["(30)", "(35)", "(38)"]),
        (("CHASE-SQL", "figure 7"), ["100.0 (84.3)", "50.0 (67.4)"]),
        (("CHASE-SQL", "figure 8"), ["wrong picking, wrong golden query, vague"]),
        (("CHASE-SQL", "figure 13"), ["schema linking, wrong logic, SQL"]),
        (("CHESS", "figure 16"), ["(13)", "(96)", "(2)", "(5)"]),
        (("CHESS", "figure 18"), ["(26)", "(57.1)"]),
        (("MAC-SQL", "figure 6"), ["(2)", "(14)", "(30)"]),
    ],
)
def test_the_papers_values_that_have_no_mark_are_written(
    trials, shown_text, source, said
):
    text = " ".join(shown_text(with_paper(source, trials)).split())
    assert [one for one in said if one not in text] == []


def test_the_legend_of_a_pruned_schema_counts_what_each_stage_left(shown_text):
    columns = figures.survival(stages_of("x"))
    text = shown_text(figures.pruned_schema(columns, stamp="s"))
    assert "whole schema: 54" in text
    assert "left by filter_column: 25" in text


def test_the_marks_of_costs_and_sizes_stand_at_their_values(shown_text):
    rows = costs(["a", "b"]).assign(tokens=[1.0, 1.0])
    figure = figures.pareto(rows, stamp="s")
    marks = [
        line.get_xdata()
        for line in figure.axes[0].lines
        if line.get_marker() in style.MARKERS
    ]
    assert {float(x) for data in marks for x in data} == {1.0}
    of_sizes = points(["pass@1", "pass@5"]).replace({"columns": {4337: 765}})
    figure = figures.accuracy_against(of_sizes, "columns", "metric", stamp="s")
    assert {float(x) for line in figure.axes[0].lines for x in line.get_xdata()} == {
        12,
        300,
        765,
    }
    assert "765" in shown_text(figure).splitlines()


def test_where_nothing_differs_a_table_says_so(questions, trials):
    flat = figures.accuracy_against(points(["a"]).assign(EX=32.0), "tests", stamp="s")
    assert flat.title == "EX is 32.0% whatever the number of tests"
    once = questions(systems=("a",))
    every_row = figures.accuracy_by(
        once.assign(correct=True), "difficulty", "system", stamp="s"
    )
    assert every_row.title == "EX is 100% in every row"
    same = figures.paired_differences(
        pd.concat([once, once.assign(system="b")]), stamp="s"
    )
    assert same.title == "No verdict differs from those of a"
    alike = trials(("a",))
    both = pd.concat([alike, alike.assign(generator="b")])
    assert "No question" in figures.unique_solves(both, stamp="s").title


def test_a_system_whose_verdicts_are_the_same_has_no_interval(questions, shown_text):
    frame = questions()
    same = frame[frame["system"] == "chase_sql"].assign(system="same")
    figure = figures.paired_differences(pd.concat([frame, same]), stamp="s")
    assert "no verdict differs" in shown_text(figure)
    assert len(figure.axes[0].collections) == 1


def test_a_row_of_few_questions_is_left_out_and_the_figure_says_so(
    questions, shown_text
):
    frame = questions()
    frame["feature"] = [["window"] if n < 3 else ["JOIN"] for n in range(len(frame))]
    text = shown_text(figures.accuracy_by(frame, "feature", "system", stamp="s"))
    assert "window (3)" in " ".join(text.split())
    assert "window (N" not in text


@pytest.mark.parametrize(("by", "clustered"), [("db_id", False), ("difficulty", True)])
def test_intervals_are_clustered_where_a_row_has_several_databases(
    questions, shown_text, by, clustered
):
    frame = questions()
    frame.loc[0, "correct"] = not frame["correct"][0]  # else all databases are alike
    text = shown_text(figures.accuracy_by(frame, by, "system", stamp="s"))
    assert ("clustered by database" in text) == clustered


def test_a_frame_of_answers_in_place_of_candidates_is_a_clear_error(questions):
    with pytest.raises(BadInputError, match=r"run\.trials"):
        figures.venn(questions(), stamp="s")


def test_figures_offers_figures_and_their_numbers_alone():
    assert not {"np", "pd", "Any", "DataFrame"} & set(vars(figures))
    assert [name for name in figures.__all__ if not hasattr(figures, name)] == []


@pytest.mark.parametrize("number", [3, 7, 30])
def test_a_figure_of_so_many_systems_is_legible(number, trials, questions, faults):
    names = [f"system number {n}" for n in range(number)]
    tried, answered = trials(names, each=4), questions(names, each=12)
    for figure in (
        figures.regret(answered, stamp=STAMP),
        figures.exists_and_chosen(answered, stamp=STAMP),
        figures.accuracy_by(answered, "difficulty", "system", stamp=STAMP),
        figures.agreement(tried, stamp=STAMP),
    ):
        assert faults(figure) == []


PRINTED = {
    ("CHASE-SQL", "figure 2"): lambda t, q, **o: figures.bounds_by_generator(t, **o),
    ("CHASE-SQL", "figure 3a"): lambda t, q, **o: figures.venn(t, **o),
    ("CHASE-SQL", "figure 5"): lambda t, q, **o: figures.unique_solves(t, **o),
    ("CHASE-SQL", "figure 6"): lambda t, q, **o: figures.regret(q, **o),
    ("CHASE-SQL", "figure 7"): lambda t, q, **o: figures.exists_and_chosen(
        q.replace("clinic", "financial"), **o
    ),
    ("CHASE-SQL", "figure 8"): lambda t, q, **o: figures.error_bars(
        labels(["wrong picking"]), **o
    ),
    ("CHASE-SQL", "figure 13"): lambda t, q, **o: figures.error_bars(
        labels(["joins"]), **o
    ),
    ("CHESS", "figure 3"): lambda t, q, **o: figures.accuracy_against(
        points(USUAL), "columns", "metric", **o
    ),
    ("CHESS", "figure 4"): lambda t, q, **o: figures.accuracy_against(
        points(USUAL), "tests", **o
    ),
    ("CHESS", "figure 5"): lambda t, q, **o: figures.columns_left(
        left(["clinic"]), **o
    ),
    ("CHESS", "figure 16"): lambda t, q, **o: figures.funnel(
        figures.sizes(stages_of("a")), **o
    ),
    ("CHESS", "figure 18"): lambda t, q, **o: figures.error_bars(
        labels(["CHESS (IR, SS, CG)"]).replace(
            "gold is wrong", "Incorrectly Predicted SQL"
        ),
        "system",
        **o,
    ),
    ("MAC-SQL", "figure 6"): lambda t, q, **o: figures.error_bars(
        labels(["gold error"]), **o
    ),
}


@pytest.mark.parametrize(("paper", "source"), PRINTED)
def test_a_figure_shows_the_papers_values_unless_it_is_told_not_to(
    paper, source, trials, questions, shown_text, faults
):
    t, q = trials(), questions()
    printed = published(paper, source)
    with_them = PRINTED[paper, source](t, q, paper=printed, stamp=STAMP)
    without = PRINTED[paper, source](t, q, stamp=STAMP)
    named = printed.engine if "rank" in printed.metric else style.printed_name(printed)
    assert named in " ".join(shown_text(with_them).split())
    assert named not in " ".join(shown_text(without).split())
    assert faults(with_them) == []


def test_black_text_is_well_read_on_every_ground():
    """A contrast of at least 4.5, as WCAG asks for."""
    grounds = [style.fill(colour) for colour in style.COLOURS]
    grounds += [schemas._shade(1, 2), mpl.colormaps["Blues"](0.5)]
    for three in combinations(style.COLOURS[:-1], 3):
        grounds.append(pools._overlap(three))
    for ground in grounds:
        *channels, alpha = to_rgba(ground)
        light = 0.0
        for channel, weight in zip(channels, (0.2126, 0.7152, 0.0722), strict=True):
            on_white = 1 - alpha + alpha * channel
            light += weight * ((on_white + 0.055) / 1.055) ** 2.4
        assert (light + 0.05) / 0.05 >= 4.5


def test_the_stamp_of_a_narrow_figure_takes_two_lines(trials):
    stamp = "embedded/parser (a small statistical parser, no language model) on bundled-dev, N = 278"
    figure = figures.unique_solves(
        trials(), stamp=f"{stamp}, EX (BIRD), similarity by letters"
    )
    assert figure._supxlabel.get_text().count("\n") == 1
