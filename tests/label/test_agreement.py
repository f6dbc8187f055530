"""Agreement: the kappas of published examples, and what is left to settle."""

import math

import pytest

from workbench.label.agreement.coefficients import (
    all_categories,
    alpha,
    cohen,
    coincidences,
    confusions,
    fleiss,
)
from workbench.label.agreement.disputes import disputes, final
from workbench.label.agreement.tables import agreement
from workbench.label.store import label_of


def cohen_kappa(first, second):
    given = list(zip(first, second, strict=True))
    return float(cohen(confusions(given, all_categories(given)).sum(0)))


def fleiss_kappa(counts):
    """Each row has, for one case, the number of annotators that chose each category."""
    given = [[n for n, count in enumerate(row) for _ in range(count)] for row in counts]
    return float(fleiss(coincidences(given, all_categories(given)).sum(0)))


def krippendorff_alpha(given):
    return float(alpha(coincidences(given, all_categories(given)).sum(0)))


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


def test_krippendorffs_own_examples():
    # "Computing Krippendorff's alpha-reliability" (2011), sections A to C; "-" is missing.
    assert krippendorff_alpha(list(zip("0100000010", "1110010000", strict=True))) == pytest.approx(
        0.095, abs=5e-4
    )
    two = zip("aabbdcccedda", "babbbccceddd", strict=True)
    assert krippendorff_alpha(list(two)) == pytest.approx(0.692, abs=5e-4)
    observers = ("123321412---", "1233224125-3", "-3332342251-", "12332441251-")
    four = [[c for c in given if c != "-"] for given in zip(*observers, strict=True)]
    assert krippendorff_alpha(four) == pytest.approx(0.743, abs=5e-4)


def test_full_agreement_is_one_and_chance_is_nought():
    assert cohen_kappa("aabb", "aabb") == 1
    assert cohen_kappa("aabb", "abab") == 0
    assert fleiss_kappa([[3, 0], [0, 3]]) == 1


def test_kappa_is_nan_if_chance_alone_makes_annotators_agree():
    assert math.isnan(cohen_kappa("aa", "aa"))
    assert math.isnan(cohen_kappa("", ""))
    assert math.isnan(fleiss_kappa([[2], [2]]))
    assert math.isnan(fleiss_kappa([]))


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
    every = "ann, bob, eve"
    assert list(table.annotators) == ["ann, bob", "ann, eve", "bob, eve", every, every]
    assert list(table.cases) == [4, 4, 5, 4, 5]
    assert list(table.agree) == [0.75, 1, 0.8, 0.75, 0.8]
    assert list(table.method) == ["Cohen", "Cohen", "Cohen", "Fleiss", "alpha"]
    assert table.value[0] == pytest.approx(0.5)
    assert (table.low <= table.value).all()
    assert (table.value <= table.high).all()


def test_one_annotator_has_no_row_of_agreement(given):
    assert agreement(given(ann="ab")).empty


def test_neither_rules_nor_the_adjudicator_are_annotators(given):
    people = given(ann="ab", bob="aa")
    with_others = [*people, *given(rule="bb", adjudicator="ab")]
    assert agreement(with_others).equals(agreement(people))


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
