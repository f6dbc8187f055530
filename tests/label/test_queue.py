"""Who labels which case, in which order, how fast, and what is left."""

from collections import Counter
from dataclasses import replace

import pytest

from workbench.errors import BadInputError
from workbench.label.queue.pace import pace
from workbench.label.queue.plan import Plan
from workbench.label.queue.worth import in_order, worth
from workbench.label.store import label_of
from workbench.label.taxonomy import open_taxonomy

NAMES = ("ann", "bob", "eve")


@pytest.fixture
def sample(make_case):
    """Cases of 300 questions with one wrong answer."""
    first = make_case()
    questions = (replace(first.question, id=str(n), text=f"Which {n}?") for n in range(300))
    return [replace(first, question=question) for question in questions]


def test_a_part_of_the_cases_has_several_annotators_and_the_work_is_even(sample):
    plan = Plan(NAMES, labels=2, overlap=0.3)
    given = [plan(case) for case in sample]
    assert {len(names) for names in given} == {1, 2}
    assert sum(len(names) == 2 for names in given) == pytest.approx(90, abs=25)
    assert all(100 <= n <= 160 for n in Counter(name for names in given for name in names).values())


def test_a_plan_is_the_same_for_a_seed_and_another_for_another(sample):
    plans = [[Plan(NAMES, seed=seed)(case) for case in sample] for seed in (0, 0, 1)]
    assert plans[0] == plans[1] != plans[2]


def test_another_annotator_takes_cases_over_and_moves_no_other(sample):
    before, after = Plan(NAMES[:2], labels=1), Plan(NAMES, labels=1)
    moved = [(before(case), after(case)) for case in sample if before(case) != after(case)]
    assert moved
    assert {new for _, new in moved} == {("eve",)}


@pytest.mark.parametrize(
    "plan",
    [
        lambda: Plan(()),
        lambda: Plan(("ann",), labels=2),
        lambda: Plan(("ann", "ann")),
        lambda: Plan(NAMES, overlap=2),
        lambda: Plan(NAMES, labels=0),
    ],
)
def test_a_plan_that_cannot_be_is_refused(plan):
    with pytest.raises(BadInputError):
        plan()


def test_a_queue_is_an_annotators_cases(sample):
    plan = Plan(NAMES, labels=1)
    queues = [plan.queue(name, sample) for name in NAMES]
    assert sorted(case.question.id for queue in queues for case in queue) == sorted(
        case.question.id for case in sample
    )
    with pytest.raises(BadInputError, match="no annotator 'me' in the plan"):
        plan.queue("me", sample)


@pytest.fixture
def three(make_case):
    """A case of which rules say one thing, one of which they say several, and one of which they say nothing."""
    return [
        make_case("SELECT vname FROM vessel", text="one"),
        make_case(
            "SELECT count(DISTINCT vname) FROM vessel WHERE vtype = 'FV' LIMIT 1",
            "SELECT imo FROM vessel WHERE vtype = 'GC'",
            text="several",
        ),
        make_case("SELECT imo FROM vessel", text="none"),
    ]


def test_what_is_uncertain_or_rare_is_worth_more(three):
    one, several, none = worth(three, open_taxonomy("CHASE-SQL"))
    assert one.uncertainty == 0.5 < several.uncertainty < none.uncertainty == 1
    assert one.rarity == pytest.approx(1 / 3)
    assert none.rarity == pytest.approx(2 / 3)


def test_a_disputed_case_comes_first(three):
    labels = [
        label_of(three[1], "CHASE-SQL", category, annotator=name)
        for name, category in {"ann": "Joins", "bob": "Wrong Logic"}.items()
    ]
    for seed in range(5):
        given = worth(three, open_taxonomy("CHASE-SQL"), labels)
        assert in_order(three, given, seed)[0] is three[1]


def test_cases_of_more_worth_are_earlier_more_often(sample):
    given = [
        replace(one, uncertainty=0.1 if n % 2 else 1.0, rarity=0.1 if n % 2 else 1.0)
        for n, one in enumerate(worth(sample, open_taxonomy("CHESS")))
    ]
    first = [int(case.question.id) % 2 for case in in_order(sample, given)[:60]]
    assert sum(first) < 15


def test_labels_an_hour_leave_out_breaks(sample):
    labels = [
        replace(label_of(case, "T", "a", annotator="ann"), at=f"2026-01-01T{at}:00+00:00")
        for case, at in zip(sample, ("10:00", "10:01", "10:02", "12:00", "12:01"), strict=False)
    ]
    table = pace(sample[:11], labels).set_index("annotator")
    assert table.loc["ann", "per hour"] == 60
    assert table.loc["ann", "left"] == 6
    assert table.loc["ann", "hours left"] == pytest.approx(0.1)


def test_an_annotator_of_the_plan_who_has_not_begun_has_all_left(sample):
    plan = Plan(("ann", "bob"), labels=1)
    table = pace(sample, [], plan)
    assert table["left"].sum() == len(sample)
    assert table["hours left"].isna().all()
