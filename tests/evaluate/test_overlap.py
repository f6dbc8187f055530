"""Who solves what: counted by hand, and as CHASE-SQL's figure 3a counts it."""

import pytest

from workbench.errors import BadInputError
from workbench.evaluate.bounds import upper_bound
from workbench.evaluate.overlap import regions, unique_solves

QP, OS, DC = "query plan", "synthetic examples", "divide and conquer"

# The numbers of figure 3a: of 1,534 questions, 258 are unsolved.
FIGURE_3A = {
    (): 258,
    (QP,): 35,
    (OS,): 30,
    (DC,): 38,
    (QP, OS): 33,
    (QP, DC): 72,
    (OS, DC): 23,
    (QP, OS, DC): 1045,
}


@pytest.fixture
def paper():
    """Verdicts on seven candidates of each generator that give the figure's regions."""
    numbered = [region for region, count in FIGURE_3A.items() for _ in range(count)]
    return {
        name: {
            str(question): [False] * 3 + [name in region] + [False] * 3
            for question, region in enumerate(numbered)
        }
        for name in (QP, OS, DC)
    }


def together(verdicts):
    """All candidates of a question, whoever made them."""
    return {
        question: [v for given in verdicts.values() for v in given[question]]
        for question in verdicts[QP]
    }


def test_regions_by_hand():
    verdicts = {
        "a": {"1": [True, False], "2": [True], "3": [False]},
        "b": {"1": [False, True], "2": [False], "4": [False]},
    }
    assert regions(verdicts) == {(): 2, ("a",): 1, ("b",): 0, ("a", "b"): 1}


def test_the_papers_regions_are_found_and_add_up_to_bird_dev(paper):
    found = regions(paper)
    assert found == FIGURE_3A
    assert sum(found.values()) == 1534


def test_the_solved_regions_are_the_papers_upper_bound_but_for_six_questions(paper):
    """The regions add up to 83.18%; the text quotes 82.79, which is 1,270 questions and not 1,276."""
    bound = upper_bound(together(paper))
    solved = sum(count for region, count in regions(paper).items() if region)
    assert solved == 1276
    assert bound == pytest.approx(100 * solved / 1534)
    assert round(bound, 2) == 83.18
    assert round(100 * (solved - 6) / 1534, 2) == 82.79


def test_each_of_the_papers_generators_solves_what_no_other_does(paper):
    assert unique_solves(regions(paper)) == {QP: 35, OS: 30, DC: 38}


def test_each_generators_regions_are_its_own_upper_bound(paper):
    found = regions(paper)
    for name, questions in ((QP, 1185), (OS, 1131), (DC, 1178)):
        assert sum(count for region, count in found.items() if name in region) == questions
        assert upper_bound(paper[name]) == pytest.approx(100 * questions / 1534)


def test_one_generator_alone_solves_or_does_not():
    found = regions({"a": {"1": [True], "2": []}})
    assert found == {(): 1, ("a",): 1}
    assert unique_solves(found) == {"a": 1}


def test_without_generators_there_is_no_overlap():
    with pytest.raises(BadInputError, match="no generators"):
        regions({})
