"""Every figure is legible: with few rows and with many, and with unusual names."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, partial
from importlib import import_module

import pandas as pd
import pytest

from workbench.errors import BadInputError
from workbench.report.drawing import style
from workbench.report.figures import alone, compare, cost, errors, examples, pruning, schema
from workbench.types import Column, ForeignKey, Schema, Table

# Functions of the same names hide these modules in the package.
bounds, outcomes, overlap = (
    import_module(f"workbench.report.figures.{name}") for name in ("bounds", "outcomes", "overlap")
)

STAMP = (
    "embedded/parser, a statistical parser and no language model; bundled-dev, N = 36, EX (BIRD)"
)
HOSTILE = (
    "$x_1$ costs 100 % \N{FOX FACE}",
    "a name\nof several lines that goes on and on and on without any end in sight",
    "\u6f22\u5b57_" + "wide" * 60,
)
STAGES = ("whole schema", "filter_column", "select_tables", "select_columns")


def a_schema(tables=6, columns=9, prefix=""):
    return Schema(
        "shop",
        tuple(
            Table(
                f"{prefix}table_{t}",
                tuple(Column(f"{prefix}column_{c}") for c in range(columns)),
                (f"{prefix}column_0",),
                (ForeignKey((f"{prefix}column_1",), f"{prefix}table_0", (f"{prefix}column_0",)),),
            )
            for t in range(tables)
        ),
    )


def stages_of(whole):
    pairs = whole.columns()
    left = (whole, whole.only(pairs[::3]), whole.only(pairs[:3]), whole.only(pairs[:1]))
    return dict(zip(STAGES, left, strict=True))


def costs(names):
    return pd.DataFrame(
        {
            "system": names,
            "EX": [40.0 + 5 * n for n in range(len(names))],
            "low": [35.0 + 5 * n for n in range(len(names))],
            "high": [48.0 + 5 * n for n in range(len(names))],
            "calls": [2.0 * 4**n for n in range(len(names))],
            "tokens": [900.0 * 7**n for n in range(len(names))],
            "dollars": 0.0,
        }
    )


def labels(names):
    return pd.DataFrame(
        [
            {"error": kind, "detail": detail, "count": 3 + 7 * number, "system": system}
            for system in names
            for number, kind in enumerate((*names, "gold is wrong"))
            for detail in ("column", "", names[0])
        ]
    )


def points(names):
    return pd.DataFrame(
        [
            {
                "columns": n,
                "tests": n // 12,
                "EX": 70 - n / 90,
                "low": 60 - n / 90,
                "high": 75,
                "metric": m,
            }
            for n in (12, 77, 300, 1100, 4337)
            for m in names
        ]
    )


def queries(names):
    sql = ("SELECT a FROM t JOIN u ON t.x = u.x ORDER BY b LIMIT 1", "SELECT count(*) FROM t")
    return pd.DataFrame([{"source": name, "sql": one} for name in names for one in sql])


def left(databases):
    return pd.DataFrame(
        [
            {"db_id": db_id, "stage": stage, "columns": 90 // 2**n + 5 * number, "question_id": q}
            for number, db_id in enumerate(databases)
            for n, stage in enumerate(STAGES)
            for q in range(2)
        ]
    )


@dataclass
class Given:
    """What there is to draw: names of generators or systems, databases, and tables of them."""

    make_trials: Callable
    make_questions: Callable
    names: tuple = ("divide_and_conquer", "query_plan", "synthetic_examples")
    databases: tuple = ("clinic", "harbour", "cinema")
    options: dict = field(default_factory=dict)

    def trials(self, most=None):
        return self.make_trials(self.names[:most], self.databases, **self.options)

    def questions(self, most=None):
        return self.make_questions(self.names[:most], self.databases, **self.options)


@pytest.fixture
def given(trials, questions):
    """The usual names, unless others are given."""
    return partial(Given, trials, questions)


FIGURES = {
    "bounds by generator": lambda g: bounds.bounds_by_generator(
        g.trials(),
        pd.DataFrame({"generator": g.names[0], "k": [1, 3], "EX": [40.0, 50.0]}),
        stamp=STAMP,
    ),
    "bounds by difficulty": lambda g: bounds.bounds_by_difficulty(g.trials(), stamp=STAMP),
    "bounds by database": lambda g: bounds.bounds_by_difficulty(g.trials(), "db_id", stamp=STAMP),
    "venn": lambda g: overlap.venn(g.trials(3), stamp=STAMP),
    "unique by difficulty": lambda g: alone.unique_solves(g.trials(), stamp=STAMP),
    "unique by database": lambda g: alone.unique_solves(g.trials(), "db_id", stamp=STAMP),
    "agreement": lambda g: overlap.agreement(g.questions(), "system", stamp=STAMP),
    "row alone": lambda g: overlap.agreement(g.trials(), measure="row alone", stamp=STAMP),
    "outcome pie": lambda g: outcomes.outcome_pie(g.questions(1), [f"{g.databases[0]}/0"], stamp=STAMP),
    "exists and chosen": lambda g: outcomes.exists_and_chosen(g.questions(1), stamp=STAMP),
    "regret": lambda g: outcomes.regret(g.questions(), stamp=STAMP),
    "one error pie": lambda g: errors.error_pies(labels(g.names), stamp=STAMP),
    "error pies": lambda g: errors.error_pies(labels(g.names), "system", stamp=STAMP),
    "error bars": lambda g: errors.error_bars(labels(g.names[:2]), "system", stamp=STAMP),
    "feature distribution": lambda g: examples.feature_distribution(queries(g.names), stamp=STAMP),
    "pareto": lambda g: cost.pareto(costs(g.names), per="question", stamp=STAMP),
    "pareto, all free": lambda g: cost.pareto(costs(g.names), "dollars", stamp=STAMP),
    "accuracy by feature": lambda g: compare.accuracy_by(g.questions(), label="system", stamp=STAMP),
    "accuracy by database": lambda g: compare.accuracy_by(g.questions(1), "db_id", stamp=STAMP),
    "paired differences": lambda g: compare.paired_differences(g.questions(), stamp=STAMP),
    "accuracy by columns": lambda g: pruning.accuracy_by_columns(points(g.names), stamp=STAMP),
    "accuracy by tests": lambda g: pruning.accuracy_by_tests(points(g.names), "metric", stamp=STAMP),
    "columns left": lambda g: pruning.columns_left(left(g.databases), stamp=STAMP),
    "funnel": lambda _: pruning.funnel(pruning.sizes(stages_of(a_schema())), stamp=STAMP),
    "pruned schema": lambda g: schema.pruned_schema(
        schema.survival(stages_of(a_schema(prefix=g.names[0] + " ")), [(f"{g.names[0]} table_0", f"{g.names[0]} column_0")]),
        stamp=STAMP,
    ),
}  # fmt: skip
NO_VERDICTS = {
    "one error pie", "error pies", "error bars", "feature distribution", "pareto", "pareto, all free",
    "accuracy by columns", "accuracy by tests", "columns left", "funnel", "pruned schema",
}  # fmt: skip
OF_VERDICTS = [name for name in FIGURES if name not in NO_VERDICTS]


@pytest.fixture(scope="module")
def usual(trials, questions):
    """`usual(name)`: the figure of the usual names, drawn once for all tests that only look at it."""
    return cache(lambda name: FIGURES[name](Given(trials, questions)))


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_of_usual_names_is_legible(name, usual, faults, shown_text):
    figure = usual(name)
    assert faults(figure) == []
    assert "no language model" in shown_text(figure)
    assert len(figure.data)


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_fills_one_or_two_columns_and_its_legend_lies_on_no_data(name, usual):
    figure = usual(name)
    assert figure.get_figwidth() in {style.ONE, style.TWO}
    assert not [
        1
        for legend in figure.legends
        for axes in figure.axes
        if legend.get_window_extent().overlaps(axes.get_window_extent())
    ]
    assert not [1 for axes in figure.axes if axes.get_legend()]


@pytest.mark.parametrize("draw", FIGURES.values(), ids=FIGURES)
def test_a_figure_of_hostile_names_is_legible(draw, given, faults):
    assert faults(draw(given(HOSTILE, HOSTILE))) == []


@pytest.mark.parametrize("right", [True, False], ids=["all right", "all wrong"])
@pytest.mark.parametrize("name", OF_VERDICTS)
def test_a_figure_of_one_verdict_is_legible(name, right, given, faults):
    assert faults(FIGURES[name](given(options={"right": right}))) == []


ONE_IS_ENOUGH = [name for name in FIGURES if name not in {"venn", "paired differences"}]


@pytest.mark.parametrize("name", ONE_IS_ENOUGH)
def test_a_figure_of_one_name_and_one_question_is_legible(name, given, faults):
    assert faults(FIGURES[name](given(("query_plan",), ("clinic",), {"each": 1}))) == []


@pytest.mark.parametrize("name", ONE_IS_ENOUGH)
def test_a_figure_of_many_names_is_legible(name, given, faults):
    many = tuple(f"a system with a tool less, number {n}" for n in range(9))
    databases = tuple(f"database_{n}" for n in range(12))
    assert faults(FIGURES[name](given(many, databases, {"each": 3}))) == []


EMPTY = {
    "trials": pd.DataFrame(columns=["question_id", "db_id", "difficulty", "generator", "correct"]),
    "questions": pd.DataFrame(columns=["question_id", "db_id", "system", "feature", "correct", "oracle"]),
    "labels": pd.DataFrame(columns=["error"]),
    "rows": pd.DataFrame(columns=["system", "EX", "tokens"]),
    "points": pd.DataFrame(columns=["columns", "tests", "EX", "metric", "stage", "tables", "db_id"]),
    "queries": pd.DataFrame(columns=["source", "sql"]),
}  # fmt: skip
TAKES = {
    "trials": (bounds.bounds_by_generator, bounds.bounds_by_difficulty, overlap.venn, alone.unique_solves),
    "questions": (
        outcomes.outcome_pie, outcomes.exists_and_chosen, outcomes.regret,
        compare.accuracy_by, compare.paired_differences,
    ),
    "labels": (errors.error_pies, errors.error_bars),
    "rows": (cost.pareto,),
    "points": (
        pruning.accuracy_by_columns, pruning.accuracy_by_tests, pruning.columns_left, pruning.funnel,
    ),
    "queries": (examples.feature_distribution,),
}  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "draw"), [(k, d) for k, draws in TAKES.items() for d in draws], ids=lambda v: getattr(v, "__name__", v)
)  # fmt: skip
def test_an_empty_table_is_one_clear_error(kind, draw):
    with pytest.raises(BadInputError, match="no rows"):
        draw(EMPTY[kind], stamp=STAMP)
    with pytest.raises(BadInputError, match="no column"):
        draw(pd.DataFrame({"x": [1]}), stamp=STAMP)


@pytest.mark.parametrize("name", ["venn", "outcome pie", "agreement", "pruned schema"])
def test_a_figure_drawn_again_has_the_same_bytes(name, given, tmp_path):
    for file in ("one", "two"):
        style.save(FIGURES[name](given()), tmp_path / file)
    for kind in style.KINDS:
        assert (tmp_path / f"one.{kind}").read_bytes() == (tmp_path / f"two.{kind}").read_bytes()
