"""What notebooks measure: pools, losses, a judge's duels, large schemas, and VES."""

import json
from dataclasses import replace

import pandas as pd
import pytest

from workbench.evaluate.judge import gold_candidates
from workbench.study.experiment import Experiment
from workbench.study.measures import (
    best_first,
    duels,
    flaws,
    flaws_from,
    judged,
    lost,
    merged,
    pooled,
    stamp_of_best,
    turns,
    ves,
)
from workbench.study.run import costs
from workbench.study.study import open_study
from workbench.systems.agent import agent
from workbench.systems.baselines import replayed
from workbench.systems.chase_sql import Pairwise, chase_sql
from workbench.systems.select import Majority

WHOLE = chase_sql(samples=3, temperature=1.5)
TWO = replace(
    WHOLE, generate=WHOLE.generate[:2], select=Pairwise(WHOLE.select.model, by="result")
)


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    folder = tmp_path_factory.mktemp("measured")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKBENCH_HOME", str(folder / "home"))
        with open_study("embedded", limit=10, figures=folder) as study:
            yield study


@pytest.fixture(scope="module")
def run(opened):
    return opened.run(TWO, "whole")


@pytest.fixture
def files(tiny, tmp_path):
    """An experiment on the tiny BIRD, and three systems' files: one all right, two alike on question 0."""
    root, folder = tiny.write_bird(tmp_path / "bird"), tmp_path / "predictions"
    folder.mkdir()
    golds = {str(number): sql for number, sql in enumerate(tiny.gold)}
    found = {
        "one": golds | {"0": "SELECT 5"},
        "other": {"0": "SELECT 5 "},
        "right": golds,
    }
    for name, queries in found.items():
        (folder / f"{name}.json").write_text(json.dumps(queries))
    return Experiment(
        "files", benchmark="bird-dev", root=root, predictions=(folder,), folder=tmp_path
    )


def test_files_are_a_pool_however_few_questions_are_asked(files):
    with open_study(files, limit=3) as study:
        renamed, pool = pooled(study)
        assert (
            str(renamed.stamp)
            == "predictions of 3 systems on bird-dev, N = 3, EX (BIRD)"
        )
        run = renamed.run(replayed("majority", pool, Majority()))
        assert run.id == study.run(replayed("majority", pool, Majority())).id
        two = str(stamp_of_best(renamed, run.trials, 2))
        assert two == "predictions of 3 systems, best 2 on bird-dev, N = 3, EX (BIRD)"
        assert stamp_of_best(renamed, run.trials, 3) == renamed.stamp
    right = run.trials.groupby("generator")["correct"].sum()
    assert right.to_dict() == {"one": 2, "other": 0, "right": 3}
    assert best_first(run.trials)["generator"].unique().tolist() == [
        "right",
        "one",
        "other",
    ]
    assert run.questions["calls"].sum() == 0


def test_without_files_the_pool_is_our_own_systems_with_their_calls(opened):
    few = opened.sample(2)
    renamed, pool = pooled(few)
    assert "the answers of 7 systems" in str(renamed.stamp)
    run = renamed.run(replayed("majority", pool, Majority()))
    assert run.trials["generator"].nunique() == 7
    assert all(one.call_keys for found in pool.values() for one in found if one.sql)


def test_what_the_majority_lost_is_listed_with_who_had_it_right(files):
    with open_study(files) as study:
        _, pool = pooled(study)
        (row,) = lost(study.run(replayed("majority", pool, Majority())), study).to_dict(
            "records"
        )
        gold = study.run(replayed("gold", gold_candidates(study.benchmark), Majority()))
        assert lost(gold, study).empty
        assert costs(gold.questions, gold.name)["EX"] == 100
    assert (row["question_id"], row["question"]) == ("0", "zoo, question 0?")
    assert row["chosen"].strip() == "SELECT 5"
    assert (row["right"], row["right by"]) == ("SELECT count(*) FROM animal", "right")


def test_each_pair_of_a_right_and_a_wrong_result_meets_in_both_orders(run):
    found = duels(run)
    assert not found.empty
    assert found["first"].value_counts().to_dict() == dict.fromkeys(
        ("right", "wrong"), len(found) / 2
    )
    several = run.trials.groupby("question_id")["correct"].nunique() == 2
    assert set(found["question_id"]) <= set(several[several].index)


@pytest.mark.parametrize("place", ["right", "wrong"])
def test_who_likes_a_place_is_right_in_half_of_the_duels(run, place):
    found = duels(run)
    assert (
        judged(found.assign(correct=found["first"] == place), "judge")["accuracy"] == 50
    )
    nothing = judged(found[:0], "judge")
    assert nothing["duels"] == 0
    assert pd.isna(nothing["accuracy"])


def test_schemas_of_both_splits_are_merged_and_no_table_comes_twice(opened):
    schemas = merged(opened)
    tables = [table for schema in schemas for table in schema.tables]
    assert (len(schemas), len(tables), sum(len(one.columns) for one in tables)) == (
        8,
        80,
        765,
    )
    assert (
        len({(one.name, *(column.name for column in one.columns)) for one in tables})
        == 80
    )


def test_gold_has_a_ves_of_100(tiny, tmp_path):
    spider = Experiment(
        "s",
        benchmark="spider-dev",
        root=tiny.write_spider(tmp_path / "spider"),
        folder=tmp_path,
    )
    with open_study(spider) as study:
        gold = study.run(replayed("gold", gold_candidates(study.benchmark), Majority()))
        (row,) = ves(study, {"gold": gold}).to_dict("records")
        assert row["VES, opcodes low"] < row["VES, opcodes"] == pytest.approx(100)


def test_a_gold_that_a_revision_answers_otherwise_is_a_wrong_one(
    opened, tmp_path, monkeypatch
):
    asked = opened.benchmark.questions[:3]
    golds = [opened.benchmark.golds[question.id].sql for question in asked]
    queries = [golds[0], f"SELECT * FROM ({golds[1]})", "SELECT 'another answer'"]
    items = [
        {"question_id": question.id, "SQL": sql}
        for question, sql in zip(asked, queries, strict=True)
    ]
    (tmp_path / "revised.json").write_text(json.dumps(items))
    before = {flaw.question_id for flaw in flaws(opened)}
    monkeypatch.setenv("WORKBENCH_GOLDS", str(tmp_path / "revised.json"))
    found = [flaw for flaw in flaws(opened) if "revised.json" in flaw.note]
    assert [(flaw.question_id, flaw.kind) for flaw in found] == [
        (asked[2].id, "wrong gold")
    ]
    assert before <= {flaw.question_id for flaw in flaws(opened)}
    assert flaws_from(opened) == "wrong golds are those that revised.json corrects"


def test_a_caption_says_where_wrong_golds_were_not_looked_for(opened):
    other = replace(opened, benchmark=replace(opened.benchmark, name="mine"))
    assert flaws_from(other) == "wrong golds were not looked for"


def test_an_agent_that_answers_at_once_used_one_turn(opened):
    run = opened.run(agent())
    rows = turns(opened, run)
    assert rows["turns"].tolist() == ["1"]
    assert rows["n"].tolist() == [10]
    assert rows["EX"].tolist() == pytest.approx([100 * run.questions["correct"].mean()])
    assert rows["without an answer"].tolist() == [(run.trials["sql"] == "").sum()]
