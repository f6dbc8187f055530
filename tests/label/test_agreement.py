"""Agreement: the kappas of published examples, and what is left to settle."""

import math

import pytest

from workbench.errors import BadInputError
from workbench.label.agreement import (
    agreement,
    cohen_kappa,
    confusion,
    disputes,
    final,
    fleiss_kappa,
)
from workbench.label.store import label_of


def raters(table):
    """The categories that two annotators gave, from the table of how often they gave which."""
    pairs = [
        (row, column)
        for row, counts in enumerate(table)
        for column, count in enumerate(counts)
        for _ in range(count)
    ]
    return [row for row, _ in pairs], [column for _, column in pairs]


def test_cohens_own_example():
    # Table 1 of Cohen (1960): 200 patients, three diagnoses, kappa .492.
    first, second = raters([[88, 10, 2], [14, 40, 6], [18, 10, 12]])
    assert cohen_kappa(first, second) == pytest.approx(0.492, abs=5e-4)


def test_two_readers_of_fifty_proposals():
    assert cohen_kappa(*raters([[20, 5], [10, 15]])) == pytest.approx(0.4)


def test_fourteen_annotators_of_ten_cases():
    # The worked example that texts on Fleiss (1971) share: kappa .210.
    counts = [
        [0, 0, 0, 0, 14],
        [0, 2, 6, 4, 2],
        [0, 0, 3, 5, 6],
        [0, 3, 9, 2, 0],
        [2, 2, 8, 1, 1],
        [7, 7, 0, 0, 0],
        [3, 2, 6, 3, 0],
        [2, 5, 3, 2, 2],
        [6, 5, 2, 1, 0],
        [0, 2, 2, 3, 7],
    ]
    assert fleiss_kappa(counts) == pytest.approx(0.210, abs=5e-4)


def test_full_agreement_is_one_and_chance_is_nought():
    assert cohen_kappa("aabb", "aabb") == 1
    assert cohen_kappa("aabb", "abab") == 0
    assert fleiss_kappa([[3, 0], [0, 3]]) == 1


def test_kappa_is_nan_if_chance_alone_makes_annotators_agree():
    assert math.isnan(cohen_kappa("aa", "aa"))
    assert math.isnan(cohen_kappa("", ""))
    assert math.isnan(fleiss_kappa([[2], [2]]))
    assert math.isnan(fleiss_kappa([]))


def test_kappas_of_what_does_not_fit_together_are_refused():
    with pytest.raises(BadInputError, match="2 and 1 categories"):
        cohen_kappa("ab", "a")
    with pytest.raises(BadInputError, match="cases with 2, 3"):
        fleiss_kappa([[2, 0], [1, 2]])
    with pytest.raises(BadInputError):
        fleiss_kappa([[1], [1]])


@pytest.fixture
def given(make_case):
    """Labels by annotator and category, of cases by number."""

    def given(**categories):
        return [
            label_of(
                make_case(f"SELECT {number}"),
                "T",
                category,
                annotator=name,
                automatic=name == "rule",
            )
            for name, given in categories.items()
            for number, category in enumerate(given)
            if category != "-"
        ]

    return given


def test_every_two_annotators_have_a_row_and_all_of_them_one(given):
    table = agreement(given(ann="aab-b", bob="abbab", eve="aabab"))
    assert list(table.annotators) == ["ann, bob", "ann, eve", "bob, eve", "ann, bob, eve"]
    assert list(table.cases) == [4, 4, 5, 4]
    assert list(table.agree) == [0.75, 1, 0.8, 0.75]
    assert list(table.method) == ["Cohen", "Cohen", "Cohen", "Fleiss"]
    assert table.kappa[0] == pytest.approx(0.5)


def test_one_annotator_has_no_row_of_agreement(given):
    assert agreement(given(ann="ab")).empty


def test_neither_rules_nor_the_adjudicator_are_annotators(given):
    people = given(ann="ab", bob="aa")
    with_others = [*people, *given(rule="bb", adjudicator="ab")]
    assert agreement(with_others).equals(agreement(people))


def test_confusion_counts_pairs_of_categories():
    table = confusion(
        {("q", "1"): "a", ("q", "2"): "a", ("q", "3"): "b"}, {("q", "1"): "a", ("q", "2"): "b"}
    )
    assert table.loc["a", "a"] == table.loc["a", "b"] == 1
    assert table.loc["b"].sum() == 0


def test_what_annotators_dispute_waits_for_the_adjudicator(given):
    labels = given(ann="ab", bob="aa")
    ((key, disputed),) = disputes(labels).items()
    assert [label.annotator for label in disputed] == ["ann", "bob"]
    assert final(labels)[key] is None

    settled = [*labels, *given(adjudicator="-b")]
    assert not disputes(settled)
    assert final(settled)[key].annotator == "adjudicator"


def test_an_annotators_label_counts_before_a_rules_and_is_no_dispute_with_it(given):
    labels = given(rule="ab", ann="b-")
    assert not disputes(labels)
    assert sorted(label.annotator for label in final(labels).values()) == ["ann", "rule"]
