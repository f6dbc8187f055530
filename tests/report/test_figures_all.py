"""Every figure is legible: with few rows and with many, with names that nobody would give."""

import pandas as pd
import pytest

from workbench.errors import BadInputError
from workbench.report import style
from workbench.report.figures import (
    bounds,
    compare,
    cost,
    errors,
    examples,
    linking,
    outcomes,
    overlap,
    schema,
)
from workbench.types import Column, ForeignKey, Schema, Table

STAMP = "embedded/parser, a statistical parser and no language model; bundled-dev, N = 36, EX (BIRD)"
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
            "paper": [70.0 - 2 * n for n in range(len(names))],
            "calls": [2.0 * 4**n for n in range(len(names))],
            "tokens": [900.0 * 7**n for n in range(len(names))],
            "dollars": 0.0,
        }
    )


def labels(names):
    return pd.DataFrame(
        [
            {"error": kind, "detail": detail, "count": 3 + 7 * place, "system": system}
            for system in names
            for place, kind in enumerate((*names, "gold is wrong"))
            for detail in ("column", "", names[0])
        ]
    )


def points(names):
    return pd.DataFrame(
        [
            {"columns": n, "tests": n // 12, "EX": 70 - n / 90, "low": 60 - n / 90, "high": 75, "metric": m}
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
            {"db_id": db_id, "stage": stage, "columns": 90 // 2**n + 5 * place, "question_id": q}
            for place, db_id in enumerate(databases)
            for n, stage in enumerate(STAGES)
            for q in range(2)
        ]
    )


FIGURES = {
    "bounds by generator": lambda t, q, n, d: bounds.bounds_by_generator(
        t(n, d),
        pd.DataFrame({"generator": n[0], "k": [1, 3], "EX": [40.0, 50.0]}),
        stamp=STAMP,
    ),
    "bounds by difficulty": lambda t, q, n, d: bounds.bounds_by_difficulty(t(n, d), stamp=STAMP),
    "bounds by database": lambda t, q, n, d: bounds.bounds_by_difficulty(t(n, d), "db_id", stamp=STAMP),
    "venn": lambda t, q, n, d: overlap.venn(t(n[:3], d), stamp=STAMP),
    "unique by difficulty": lambda t, q, n, d: overlap.unique_solves(t(n, d), stamp=STAMP),
    "unique by database": lambda t, q, n, d: overlap.unique_solves(t(n, d), "db_id", stamp=STAMP),
    "agreement": lambda t, q, n, d: overlap.agreement(q(n, d), "system", stamp=STAMP),
    "row alone": lambda t, q, n, d: overlap.agreement(t(n, d), measure="row alone", stamp=STAMP),
    "outcome pie": lambda t, q, n, d: outcomes.outcome_pie(q(n[:1], d), [f"{d[0]}/0"], stamp=STAMP),
    "exists and chosen": lambda t, q, n, d: outcomes.exists_and_chosen(q(n[:1], d), stamp=STAMP),
    "regret": lambda t, q, n, d: outcomes.regret(q(n, d), stamp=STAMP),
    "one error pie": lambda t, q, n, d: errors.error_pies(labels(n), stamp=STAMP),
    "error pies": lambda t, q, n, d: errors.error_pies(labels(n), "system", stamp=STAMP),
    "error bars": lambda t, q, n, d: errors.error_bars(labels(n[:2]), "system", stamp=STAMP),
    "feature distribution": lambda t, q, n, d: examples.feature_distribution(queries(n), stamp=STAMP),
    "pareto": lambda t, q, n, d: cost.pareto(costs(n), per="question", stamp=STAMP),
    "pareto, all free": lambda t, q, n, d: cost.pareto(costs(n), "dollars", stamp=STAMP),
    "accuracy by feature": lambda t, q, n, d: compare.accuracy_by(q(n, d), label="system", stamp=STAMP),
    "accuracy by database": lambda t, q, n, d: compare.accuracy_by(q(n[:1], d), "db_id", stamp=STAMP),
    "paired differences": lambda t, q, n, d: compare.paired_differences(q(n, d), stamp=STAMP),
    "ours and the paper's": lambda t, q, n, d: compare.ours_and_paper(costs(n), stamp=STAMP),
    "accuracy by columns": lambda t, q, n, d: linking.accuracy_by_columns(points(n), stamp=STAMP),
    "accuracy by tests": lambda t, q, n, d: linking.accuracy_by_tests(points(n), "metric", stamp=STAMP),
    "columns left": lambda t, q, n, d: linking.columns_left(left(d), stamp=STAMP),
    "funnel": lambda t, q, n, d: linking.funnel(linking.sizes(stages_of(a_schema())), stamp=STAMP),
    "pruned schema": lambda t, q, n, d: schema.pruned_schema(
        schema.survival(stages_of(a_schema(prefix=n[0] + " ")), [(f"{n[0]} table_0", f"{n[0]} column_0")]),
        stamp=STAMP,
    ),
}  # fmt: skip
OF_VERDICTS = [name for name, draw in FIGURES.items() if {"t", "q"} & set(draw.__code__.co_names)]
USUAL = (("divide_and_conquer", "query_plan", "online_examples"), ("clinic", "harbour", "cinema"))


@pytest.mark.parametrize("draw", FIGURES.values(), ids=FIGURES)
def test_a_figure_of_usual_names_is_legible(draw, trials, questions, faults, shown_text):
    figure = draw(trials, questions, *USUAL)
    assert faults(figure) == []
    assert "no language model" in shown_text(figure)
    assert len(figure.data)


@pytest.mark.parametrize("draw", FIGURES.values(), ids=FIGURES)
def test_a_figure_of_hostile_names_is_legible(draw, trials, questions, faults):
    assert faults(draw(trials, questions, HOSTILE, HOSTILE)) == []


@pytest.mark.parametrize("right", [True, False], ids=["all right", "all wrong"])
@pytest.mark.parametrize("name", OF_VERDICTS)
def test_a_figure_of_one_verdict_is_legible(name, right, trials, questions, faults):
    def same_trials(names, databases):
        return trials(names, databases, right=right)

    def same_questions(names, databases):
        return questions(names, databases, right=right)

    assert faults(FIGURES[name](same_trials, same_questions, *USUAL)) == []


ONE_IS_ENOUGH = [name for name in FIGURES if name not in {"venn", "paired differences"}]


@pytest.mark.parametrize("name", ONE_IS_ENOUGH)
def test_a_figure_of_one_name_and_one_question_is_legible(name, trials, questions, faults):
    def one_trial(names, databases):
        return trials(names, databases, samples=1, each=1)

    def one_question(names, databases):
        return questions(names, databases, each=1)

    assert faults(FIGURES[name](one_trial, one_question, ("query_plan",), ("clinic",))) == []


@pytest.mark.parametrize("name", ONE_IS_ENOUGH)
def test_a_figure_of_many_names_is_legible(name, trials, questions, faults):
    many = tuple(f"a system with a tool less, number {n}" for n in range(9))
    databases = tuple(f"database_{n}" for n in range(12))
    assert faults(FIGURES[name](trials, questions, many, databases)) == []


EMPTY = {
    "trials": pd.DataFrame(columns=["question_id", "db_id", "difficulty", "generator", "correct"]),
    "questions": pd.DataFrame(columns=["question_id", "db_id", "system", "feature", "correct", "oracle"]),
    "labels": pd.DataFrame(columns=["error"]),
    "rows": pd.DataFrame(columns=["system", "EX", "paper", "tokens"]),
    "points": pd.DataFrame(columns=["columns", "tests", "EX", "metric", "stage", "tables", "db_id"]),
    "queries": pd.DataFrame(columns=["source", "sql"]),
}  # fmt: skip
TAKES = {
    "trials": (bounds.bounds_by_generator, bounds.bounds_by_difficulty, overlap.venn, overlap.unique_solves),
    "questions": (
        outcomes.outcome_pie, outcomes.exists_and_chosen, outcomes.regret,
        compare.accuracy_by, compare.paired_differences,
    ),
    "labels": (errors.error_pies, errors.error_bars),
    "rows": (cost.pareto, compare.ours_and_paper),
    "points": (
        linking.accuracy_by_columns, linking.accuracy_by_tests, linking.columns_left, linking.funnel,
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
def test_a_figure_drawn_again_has_the_same_bytes(name, trials, questions, tmp_path):
    for place in ("one", "two"):
        style.save(FIGURES[name](trials, questions, *USUAL), tmp_path / place)
    for kind in ("svg", "png"):
        assert (tmp_path / f"one.{kind}").read_bytes() == (tmp_path / f"two.{kind}").read_bytes()
