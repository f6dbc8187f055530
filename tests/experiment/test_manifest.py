"""The manifest of an experiment has its parameters and what its models refuse; so has the stamp of its figures."""

import json
from dataclasses import replace

import pytest

from workbench.experiment.manifest import write_manifest
from workbench.llm.cache import Cache
from workbench.llm.client import Client
from workbench.llm.scripted import scripted
from workbench.study import open_study
from workbench.study.experiment import Experiment
from workbench.types import Request


@pytest.fixture
def experiment(tmp_path, monkeypatch):
    """An experiment whose judge has refused a temperature."""
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path / "home"))
    message = {"role": "user", "content": "hello"}
    with Cache() as store:
        model = scripted(["x"])
        request = Request("p", "openai/thinker", (message,), {"temperature": 0.2})
        Client(store, send=model).complete(request)
        with store.write() as db:
            db.execute("UPDATE calls SET dropped = 'temperature'")
    return Experiment(
        "mine",
        models={"judge": "openai/thinker"},
        parameters={"judge": {"reasoning_effort": "low"}},
        folder=tmp_path,
    )


def test_the_manifest_has_what_is_set_and_what_is_refused(experiment):
    written = json.loads(write_manifest(experiment, [], [], None).read_bytes())
    assert written["parameters"] == {"judge": {"reasoning_effort": "low"}}
    assert written["left_out"] == {"openai/thinker": ["temperature"]}


def test_the_manifest_has_the_limit_of_the_experiment_or_that_of_the_command(experiment):
    small = replace(experiment, limit=20)
    limits = [
        json.loads(write_manifest(small, [], [], of).read_bytes())["limit"] for of in (None, 5)
    ]
    assert limits == [20, 5]


def test_the_stamp_of_a_study_says_what_its_models_refuse(experiment):
    with open_study(experiment, model="openai/thinker", limit=2) as study:
        assert "openai/thinker (takes no temperature) on bundled-dev" in str(study.stamp)
