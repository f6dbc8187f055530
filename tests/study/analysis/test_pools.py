"""A pool that is there already is a run like any other; what selection lost in it can be listed."""

import json
from dataclasses import replace

import pytest

from workbench.errors import BadInputError
from workbench.evaluate.judge import gold_candidates
from workbench.report.figures.candidates import bounds_by_generator, venn
from workbench.study import open_study
from workbench.study.measures import answers, lost, predicted
from workbench.study.settings import Experiment
from workbench.study.trace import trace
from workbench.systems.baselines import direct, replayed
from workbench.systems.select import Majority

RIGHT = "SELECT count(*) FROM animal"


@pytest.fixture
def files(tiny, tmp_path):
    """An experiment on the tiny BIRD, and three systems' files: one all right, two alike on question 0."""
    root = tiny.write_bird(tmp_path / "bird")
    folder = tmp_path / "predictions"
    folder.mkdir()
    golds = {str(number): sql for number, sql in enumerate(tiny.gold)}
    for name in ("one", "other"):
        wrong = golds | {"0": "SELECT 5"}
        (folder / f"{name}.json").write_text(
            json.dumps(wrong if name == "one" else {"0": "SELECT 5 "})
        )
    (folder / "right.json").write_text(json.dumps(golds))
    options = {"predictions": "predictions"}
    return Experiment("files", benchmark="bird-dev", root=root, options=options, folder=tmp_path)


def test_files_are_a_pool_however_few_questions_are_asked(files):
    with open_study(files, limit=3) as study:
        renamed, pool = predicted(study)
        assert [candidate.generator for candidate in pool["0"]] == ["one", "other", "right"]
        assert str(renamed.stamp) == "predictions of 3 systems on bird-dev, N = 3, EX (BIRD)"
        run = renamed.run(replayed("majority", pool, Majority()))
        assert run.trials.groupby("generator")["correct"].sum().to_dict() == {
            "one": 2,
            "other": 0,
            "right": 3,
        }
        assert len(run.trials) == 9
        assert run.questions["calls"].sum() == 0


def test_a_list_names_single_files(files):
    one = replace(files, options={"predictions": ["predictions/right.json"]})
    with open_study(one, limit=2) as study:
        assert {c.generator for found in predicted(study)[1].values() for c in found} == {"right"}
    nowhere = replace(files, options={"predictions": "nowhere.json"})
    with open_study(nowhere, limit=2) as study, pytest.raises(BadInputError, match="nowhere"):
        predicted(study)


def test_what_the_majority_lost_is_listed_with_who_had_it_right(files):
    with open_study(files) as study:
        _, pool = predicted(study)
        (row,) = lost(study.run(replayed("majority", pool, Majority())), study).to_dict("records")
    assert row["question_id"] == "0"
    assert row["question"] == "zoo, question 0?"
    assert (row["chosen"].strip(), row["votes"]) == ("SELECT 5", 2)
    assert (row["right"], row["right votes"], row["right by"]) == (RIGHT, 1, "right")


def test_a_pool_without_losses_is_a_table_without_rows(files):
    with open_study(replace(files, options={"predictions": "predictions/right.json"})) as study:
        _, pool = predicted(study)
        found = lost(study.run(replayed("majority", pool, Majority())), study)
    assert found.empty
    assert "right by" in found


def test_pools_that_differ_in_a_query_are_different_runs(files):
    with open_study(files, limit=2) as study:
        _, pool = predicted(study)
        runs = [study.run(replayed("majority", pool, Majority())) for _ in range(2)]
        assert runs[0].id == runs[1].id
        assert runs[0].trials.equals(runs[1].trials)
        assert (
            study.run(replayed("gold", gold_candidates(study.benchmark), Majority())).id
            != runs[0].id
        )


def test_gold_as_a_prediction_is_right_wherever_it_runs(files):
    with open_study(files) as study:
        run = study.run(replayed("gold", gold_candidates(study.benchmark), Majority()))
        assert run.questions["correct"].tolist() == (~run.questions["gold_failed"]).tolist()
        assert run.row()["EX"] == 100


def test_answers_of_our_own_lead_back_to_their_calls(study):
    runs = [study.run(direct()), study.run(direct(think=False))]
    renamed, pool = answers(study, runs)
    assert str(renamed.stamp).startswith("embedded/parser, the answers of 2 systems (a small stat")
    run = renamed.run(replayed("majority", pool, Majority()))
    for one in runs:
        mine = run.trials[run.trials["generator"] == one.name]
        assert mine["correct"].tolist() == one.questions["correct"].tolist()
    renamed.save("pool_venn", venn(run.trials, stamp=renamed.stamp))
    _, found = trace(renamed.saved.folder / "pool_venn.csv", 0, study.lab.client.cache)
    assert {one.generator for one in found} == {one.name for one in runs}
    assert all(one.calls for one in found)


def test_a_number_of_all_generators_together_is_traced_to_them_all(files):
    with open_study(files, limit=2) as study:
        _, pool = predicted(study)
        run = study.run(replayed("majority", pool, Majority()))
        figure = bounds_by_generator(run.trials, stamp=str(study.stamp))
        study.save("pool_bounds", figure)
        row = figure.data["generator"].tolist().index("all together")
        _, found = trace(study.saved.folder / "pool_bounds.csv", row, study.lab.client.cache)
    assert {one.generator for one in found} == {"one", "other", "right"}
