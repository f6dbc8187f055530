"""A preview counts the calls of each model without calling any."""

import pytest

from workbench.errors import BadInputError
from workbench.experiment.preview import preview_experiment, preview_work
from workbench.llm.keys import endpoint, register
from workbench.prompts.prompt import load
from workbench.store import Store
from workbench.study import open_study
from workbench.study.previewing import stand_in
from workbench.systems.baselines import direct
from workbench.types import Request

RUNS = """from workbench.systems.chase_sql import Ranker
from workbench.study import open_study
from workbench.systems.baselines import direct
study = open_study(experiment, limit=limit)
run = study.run(direct(study.model))
part = study.sample(10).run(direct(study.models["judge"]))"""


def settings(tmp_path, **values):
    path = tmp_path / "experiments" / "mine.yaml"
    path.write_text(
        path.read_text() + "".join(f"{key}: {value}\n" for key, value in values.items())
    )
    from workbench.study.experiment import load_experiment

    return load_experiment(str(path))


def test_a_preview_counts_the_calls_of_every_model_and_leaves_no_files(
    checkout, tmp_path, monkeypatch
):
    monkeypatch.setenv("WORKBENCH_PREVIEW", "2")
    monkeypatch.delenv("BIRD", raising=False)
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path / "home"))
    checkout(one=[RUNS])
    experiment = settings(
        tmp_path, benchmark="bird-dev", root="$BIRD", model="openai/gpt-4",
        models="{judge: openai/gpt-3.5-turbo}",
    )  # fmt: skip
    with Store() as store:
        total, failed = preview_experiment(experiment, 2, store)
        assert store.read("SELECT count(*) FROM calls") == [(0,)]
    counted = {row.model: row.calls for row in total.rows}
    assert counted == {"openai/gpt-4": 1534, "openai/gpt-3.5-turbo": 10}
    assert failed == []
    low, high = total.together.low, total.together.high
    assert 1 < low < high


def test_no_reply_is_estimated_longer_than_its_step_allows(tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path / "home"))

    def dollars(**parameters):
        def run():
            given = {"openai/gpt-4": parameters}
            with open_study(
                "bundled-dev", model="openai/gpt-4", limit=10, parameters=given
            ) as study:
                study.run(direct(study.model))

        with Store() as store:
            return preview_work(run, 2, store).together.high

    whole, short = dollars(), dollars(max_tokens=10)
    output = 0.06 / 1000  # dollars for a token of GPT-4's output
    assert whole - short == pytest.approx(10 * (1000 - 10) * output, rel=0.02)


def test_a_model_that_runs_in_this_process_is_not_asked():
    def answer(request, seed):
        raise AssertionError("the model was asked")

    register("inside", answer, lambda model: f"{model}@1")
    messages = load("retrieve/keywords").messages(question="How many tugs are there?", hint="")
    reply = stand_in(Request("retrieve/keywords", "inside/model", messages))
    assert "tugs" in reply["choices"][0]["message"]["content"]
    keys = {endpoint("inside/model", url) for url in ("", "http://stand-in.invalid")}
    assert len(keys) == 2  # so that the parser's replies are not taken for the model's


def test_an_experiment_without_model_calls_cannot_be_previewed(checkout, monkeypatch):
    monkeypatch.setenv("WORKBENCH_PREVIEW", "2")
    experiment = checkout(one=["1 / 0"])
    with Store() as store, pytest.raises(BadInputError, match="no notebook made a model call"):
        preview_experiment(experiment, 2, store)
