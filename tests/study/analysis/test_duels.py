"""A judge meets a right and a wrong query of a question in both orders."""

import json
from dataclasses import replace

import pandas as pd
import pytest

from workbench.llm.client import Client
from workbench.llm.money import Tally
from workbench.llm.scripted import scripted
from workbench.study import open_study
from workbench.study.measures import duels, judged
from workbench.study.progress import counts
from workbench.systems.chase_sql import Pairwise, chase_sql
from workbench.systems.select import Majority

SYSTEM = replace(
    chase_sql(samples=4, temperature=1.5), generate=chase_sql(samples=4, temperature=1.5).generate[:2],
    select=Majority(),
)  # fmt: skip


@pytest.fixture(scope="module")
def solved(tmp_path_factory):
    """A study of a few questions, some with right and wrong candidates."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKBENCH_HOME", str(tmp_path_factory.mktemp("home")))
        with open_study("embedded", limit=10, figures=tmp_path_factory.mktemp("f")) as study:
            yield study, study.run(SYSTEM)


def met(solved, reply):
    study, run = solved
    client = Client(study.lab.client.cache, send=scripted(otherwise=reply))
    asked = replace(study, lab=replace(study.lab, client=client))
    return duels(asked, run, Pairwise(f"somewhere/{reply}"))


def test_its_calls_are_reported_as_those_of_a_run(solved, tmp_path, monkeypatch):
    """`workbench reproduce` sums every count over all lines, beside an experiment's preview."""
    monkeypatch.setenv("WORKBENCH_PROGRESS", str(tmp_path / "progress.jsonl"))
    met(solved, "B")
    (line,) = map(json.loads, (tmp_path / "progress.jsonl").read_text().splitlines())
    assert line.keys() >= counts(Tally()).keys()
    assert line["calls"] == line["unpriced"] > 0


def test_each_pair_meets_in_both_orders(solved):
    found = met(solved, "A")
    assert not found.empty
    assert set(found.groupby(["question_id", "right", "wrong"]).size()) == {2}
    assert set(found["first"]) == {"right", "wrong"}


def test_right_and_wrong_are_what_the_run_says(solved):
    _, run = solved
    verdicts = dict(zip(zip(run.trials["question_id"], run.trials["sql"], strict=True),
                        run.trials["correct"], strict=True))  # fmt: skip
    found = met(solved, "A")
    assert all(verdicts[pair] for pair in zip(found["question_id"], found["right"], strict=True))
    assert not any(
        verdicts[pair] for pair in zip(found["question_id"], found["wrong"], strict=True)
    )


@pytest.mark.parametrize(("reply", "first"), [("A", 100), ("B", 0)])
def test_who_likes_a_place_is_right_in_half_of_the_duels(solved, reply, first):
    row = judged(met(solved, reply), "judge")
    assert (row["accuracy"], row["steady"], row["first"]) == (50, 0, first)


def test_votes_judge_for_the_larger_group():
    rows = [("right", True), ("wrong", True), ("right", True), ("wrong", False)]
    frame = pd.DataFrame(rows, columns=["first", "by_votes"]).assign(
        run="r", question_id="1", db_id="d", right="x", wrong=["y", "y", "z", "z"], correct=False
    )
    row = judged(frame, "votes", "by_votes")
    assert (row["duels"], row["accuracy"], row["steady"]) == (4, 75, 50)


def test_without_duels_the_accuracy_is_nan(solved):
    row = judged(met(solved, "A")[:0], "judge")
    assert row["duels"] == 0
    assert pd.isna(row["accuracy"])
