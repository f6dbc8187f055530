"""Who solves what, counted right: the paper's own Venn diagram is the worked example."""

import pandas as pd
import pytest

from workbench.errors import BadInputError
from workbench.report.figures.alone import unique_solves
from workbench.report.figures.overlap import agreement, overlap, solved, venn
from workbench.report.papers import published

A, B, C = "query_plan", "synthetic_examples", "divide_and_conquer"
REGIONS = ((A,), (B,), (A, B), (C,), (A, C), (B, C), (A, B, C), ())  # as figure 3a has them
PAPER = dict(zip(REGIONS, published("CHASE-SQL", "figure 3a").frame()["questions"], strict=True))


@pytest.fixture(scope="module")
def paper():
    rows = []
    for solvers, count in PAPER.items():
        for number in range(count):
            rows += [
                {"question_id": f"{solvers}{number}", "generator": name, "correct": name in solvers}
                for name in (A, B, C)
            ]
    return pd.DataFrame(rows).assign(run="r", difficulty="simple", db_id="d")


def test_the_regions_are_counted_and_shared_out(paper):
    data = overlap(paper).set_index("solved_by")
    assert data["n"].to_dict() == {" & ".join(names): n for names, n in PAPER.items()}
    assert data["percent"].sum() == pytest.approx(100)


def test_the_diagram_shows_all_regions_and_what_none_solves(paper, shown_text):
    text = shown_text(venn(paper, stamp="BIRD dev"))
    for label in ("1,045", "68.1%", "258", "16.8%", "synthetic examples"):
        assert label in text


def test_two_sets_and_an_empty_one_are_drawn(paper, shown_text):
    two = paper[paper["generator"] != B]
    nothing = two.assign(correct=two["correct"] & (two["generator"] == A))
    assert "not in proportion" in shown_text(venn(nothing, stamp="s"))


@pytest.mark.parametrize("count", [1, 4])
def test_other_numbers_of_sets_are_refused_with_a_way_out(trials, count):
    names = [f"g{n}" for n in range(count)]
    with pytest.raises(BadInputError, match="agreement"):
        venn(trials(names), stamp="s")


def test_a_question_is_solved_by_any_sample(trials):
    frame = trials()
    wide = solved(frame)
    for question, row in wide.iterrows():
        mine = frame[frame["question_id"] == question]
        assert row.tolist() == [mine[mine["generator"] == g]["correct"].any() for g in wide]


def test_unique_solves_count_questions_that_one_generator_alone_solves(paper):
    alone = unique_solves(paper, stamp="s").data.set_index("generator")["n"]
    assert alone.to_dict() == {A: 35, B: 30, C: 38}
    every = unique_solves(paper, alone=False, stamp="s").data.set_index("generator")["n"]
    assert every.to_dict() == {A: 1185, B: 1131, C: 1178}  # in the order of table 6's oracles


def test_a_few_questions_are_numbers_and_many_are_bars(paper):
    few = paper[paper["question_id"].isin(paper["question_id"].unique()[::100])]
    assert not unique_solves(few, stamp="s").axes[0].patches
    assert unique_solves(paper, stamp="s").axes[0].patches


def test_every_database_has_its_row_even_without_unique_solves(trials):
    data = unique_solves(trials(right=True), "db_id", stamp="s").data
    assert data["db_id"].nunique() == 3
    assert data["n"].sum() == 0


def test_agreement_counts_equal_verdicts_and_the_diagonal_what_is_solved(paper):
    data = agreement(paper, stamp="s").data.set_index(["generator", "other"])["percent"]
    assert data[A, C] == data[C, A] == pytest.approx(100 * (72 + 1045 + 30 + 258) / 1534)
    assert data[A, A] == pytest.approx(100 * 1185 / 1534)
    lone = agreement(paper, measure="row alone", stamp="s").data.set_index(["generator", "other"])
    assert lone["percent"][A, C] == pytest.approx(100 * (35 + 33) / 1534)


def test_the_longest_of_our_names_fits_into_a_heat_map(trials, shown_text, faults):
    names = ("zero-shot, chain of thought", "zero-shot", *(f"system {n}" for n in range(4)))
    figure = agreement(trials(names), stamp="s")
    assert shown_text(figure).count(names[0]) == 2
    assert faults(figure) == []


def test_an_unknown_measure_is_refused(paper):
    with pytest.raises(BadInputError, match="it must be 'same verdict' or 'row alone'"):
        agreement(paper, measure="kappa", stamp="s")
