"""An exported run is a log that inspect_ai reads, and its answers come back as a pool of predictions."""

import json

import pytest

from tests.exchange.conftest import write
from workbench.benchmarks.predictions import load_predictions
from workbench.errors import BadInputError
from workbench.evaluate.judge import judge


@pytest.fixture
def log(exported):
    return json.loads(exported("log.json").read_bytes())


def test_a_sample_is_a_question_with_its_answer_and_the_verdict(run, log):
    asked = run.questions.set_index("question_id")
    for sample in log["samples"]:
        mine = asked.loc[sample["id"]]
        assert sample["output"]["completion"] == mine["sql"]
        assert sample["scores"]["ex"] == {
            "value": "C" if mine["correct"] else "I",
            "answer": mine["sql"],
        }
        assert sample["metadata"]["db_id"] == mine["db_id"]
    assert log["results"]["scores"][0]["metrics"]["accuracy"]["value"] == pytest.approx(
        asked["correct"].mean()
    )


def test_the_events_are_the_calls_behind_the_answer_with_their_prompts(study, log):
    sample = log["samples"][0]
    chosen = next(one for one in sample["metadata"]["candidates"] if one["chosen"])
    assert [event["metadata"]["key"] for event in sample["events"]] == chosen["calls"]
    content = sample["events"][0]["input"][-1]["content"]
    text = sample["attachments"][content.removeprefix("attachment://")]
    assert sample["input"].splitlines()[0] in text


def test_tokens_are_those_of_the_calls_in_the_log(log):
    (usage,) = log["stats"]["model_usage"].values()
    events = [event for sample in log["samples"] for event in sample["events"]]
    assert usage["input_tokens"] == sum(e["output"]["usage"]["input_tokens"] for e in events)


def test_the_cost_of_calls_of_unknown_price_is_null(study, exported):
    free = json.loads(exported("log.json").read_bytes())
    with study.lab.client.store.write() as database:
        database.execute("UPDATE calls SET cost = NULL")
    unknown = json.loads(exported("log.json").read_bytes())
    costs = [
        next(iter(log["stats"]["model_usage"].values()))["total_cost"] for log in (free, unknown)
    ]
    assert costs == [0, None]
    with study.lab.client.store.write() as database:
        database.execute("UPDATE calls SET cost = 0")


def test_without_calls_a_log_has_samples_alone(exported):
    log = json.loads(exported("log.json", "--calls", "none").read_bytes())
    assert log["samples"]
    assert not any(sample["events"] for sample in log["samples"])


def test_an_exported_log_comes_back_as_the_same_predictions(study, run, exported):
    pool = load_predictions(exported("log.json"), study.benchmark)
    assert pool.generators() == (run.name,)
    verdicts = judge(study.benchmark, pool, study.lab.executor).set_index("question_id")
    for row in run.questions.itertuples():
        assert pool.trials[row.question_id][0].candidate.sql == row.sql
        assert verdicts["ex_bird"][row.question_id] == row.correct


def test_no_secret_of_the_environment_is_written(log, exported, monkeypatch):
    beginning = log["samples"][0]["input"][:12]
    monkeypatch.setenv("ANY_API_KEY", beginning)
    assert beginning not in exported("again.json").read_text()


def test_an_unknown_run_is_told_with_those_that_are_there(run, tmp_path):
    with pytest.raises(BadInputError, match=f"no run 'mine'.* such as {run.id}"):
        write("mine", tmp_path / "x.json")
    assert not (tmp_path / "x.json").exists()


@pytest.mark.interop
def test_inspect_ai_reads_the_log(run, exported):
    reader = pytest.importorskip("inspect_ai.log", reason="needs inspect_ai: make test-interop")
    log = reader.read_eval_log(str(exported("log.json")), resolve_attachments=True)
    assert (log.version, log.status, log.eval.solver) == (2, "success", run.name)
    for sample, row in zip(log.samples, run.questions.itertuples(), strict=True):
        assert sample.id == row.question_id
        assert sample.output.completion == row.sql
        assert sample.scores["ex"].value == ("C" if row.correct else "I")
        assert sample.input.splitlines()[0] in sample.events[0].input[-1].text


@pytest.mark.interop
def test_a_log_that_inspect_ai_wrote_is_read_as_predictions(study, exported, tmp_path):
    reader = pytest.importorskip("inspect_ai.log", reason="needs inspect_ai: make test-interop")
    log = reader.read_eval_log(str(exported("log.json")))
    reader.write_eval_log(log, str(tmp_path / "theirs.json"))
    assert load_predictions(tmp_path / "theirs.json", study.benchmark) == load_predictions(
        exported("log.json"), study.benchmark
    )
