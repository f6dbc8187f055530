"""An experiment's YAML is checked before anything runs."""

from dataclasses import replace
from pathlib import Path

import pytest

import workbench as wb
from workbench.errors import BadInputError
from workbench.retrieve.retrieval import Embedding, with_retrieval
from workbench.study.experiment import (
    Experiment,
    Session,
    load_experiment,
    session_of,
    shipped,
)

ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.setenv("BIRD", "/bird")
    folder = tmp_path / "experiments"
    folder.mkdir()

    def write(text):
        path = folder / "mine.yaml"
        path.write_text(text)
        return str(path)

    return write


def test_a_file_becomes_an_experiment_named_after_it_with_paths_relative_to_it(
    write, tmp_path
):
    text = """
        benchmark: ../mine.json
        root: $BIRD/dev
        prompts: mine
        predictions: [a, $BIRD/b]
        limit: 5
        notebooks: {a/b: {samples: 3}, c: }"""
    read = load_experiment(write(text))
    assert (read.name, read.limit, read.folder) == ("mine", 5, tmp_path)
    assert read.benchmark == str(tmp_path / "experiments/../mine.json")
    assert (read.root, read.prompts) == (
        Path("/bird/dev"),
        tmp_path / "experiments/mine",
    )
    assert read.predictions == (tmp_path / "experiments/a", Path("/bird/b"))
    assert read.notebooks == {"a/b": {"samples": 3}, "c": {}}


@pytest.mark.parametrize(
    "path", sorted(shipped("experiments").glob("*.yaml")), ids=lambda p: p.stem
)
def test_every_experiment_is_written_and_read_back_whole(path, tmp_path, monkeypatch):
    for variable in ("BIRD", "SPIDER", "PREDICTIONS", "BIRD_MINIDEV"):
        monkeypatch.setenv(variable, f"/{variable}")
    whole = load_experiment(str(path))
    assert whole.about
    changed = replace(whole, cheaper=True)
    resolved = Session(changed, figures=tmp_path, preview=3, budget="b", offline=True)
    assert session_of(resolved.write(tmp_path / "deep" / "experiment.yaml")) == resolved


def test_a_name_is_looked_for_in_the_folders_above_however_its_path_is_written(
    write, tmp_path, monkeypatch
):
    write("limit: 0.5")
    deep = tmp_path / "notebooks" / "deep"
    deep.mkdir(parents=True)
    monkeypatch.chdir(deep)
    assert load_experiment("mine") == load_experiment("../../experiments/mine.yaml")
    with pytest.raises(
        BadInputError, match=r"no experiment 'other'; There are .*mine.*bundled-dev"
    ):
        load_experiment("other")


# What no file may have: the settings, and the one that the error names.
WRONG = {
    "suspect: all": "suspect",
    "retrieval: best": "retrieval",
    "retrieval: {edit: high}": "edit",
    "model: gpt-4o": "model",
    "judges: [gpt-4o]": "gpt-4o",
    "modle: x": "modle",
    "options: {train: x}": "options",
    "limit: many": "limit",
    "limit: true": "limit",
    "limit: 0": "limit",
    "dollars: -1": "dollars",
    "dollars: .nan": "dollars",
    "calls: 1.5": "calls",
    "calls: true": "calls",
    "batch: maybe": "batch",
    "sql_seconds: 0": "seconds",
    "sql_seconds: 1.0e+9": "seconds",
    "notebooks: [a]": "notebooks",
    "notebooks: {a: 3}": "notebooks.a",
    "models: {1: a/b}": "models",
    "models: {judg: a/b}": "judg",
    "predictions: [[1]]": "predictions.0",
    "parameters: {openai/o3: low}": "parameters.openai/o3",
    "parameters: {openai/o3: {seed: 1}}": "openai/o3",
    "- a": "mine.yaml",
    "a: [": "mine.yaml",
    "about: !!python/object/apply:os.getcwd []": "mine.yaml",
    "root: $NOWHERE_SET/dev": "NOWHERE_SET",
    "root: $": "root",
    "root: $OPENAI_API_KEY": "OPENAI_API_KEY",
    "name: ../../x": "name",
    "name: a/b": "name",
    "name: ''": "name",
    "output: ../x": "output",
    "output: /x": "output",
    "notebooks: {/abs/x: }": "notebooks",
    "notebooks: {../x: }": "notebooks",
}


@pytest.mark.parametrize(("text", "setting"), WRONG.items())
def test_a_wrong_setting_is_one_error_that_names_the_file_and_the_field(
    write, text, setting, monkeypatch
):
    monkeypatch.setenv("OPENAI_API_KEY", "very-secret")
    with pytest.raises(BadInputError) as error:
        load_experiment(write(text))
    assert "mine.yaml: " in str(error.value)
    assert setting in str(error.value)
    assert "\n" not in str(error.value)
    assert "very-secret" not in str(error.value)


def test_a_query_runs_within_the_experiments_time(tmp_path):
    experiment = Experiment("small", sql_seconds=0.2, folder=tmp_path)
    with wb.open_study(experiment, limit=1) as study:
        (question,) = study.benchmark.questions
        result = study.lab.run(question, ENDLESS)
    assert result.status == "timeout"
    assert "0.2" in result.error


def test_the_papers_experiments_have_the_papers_limits_and_name_their_embeddings(
    monkeypatch,
):
    for variable in ("BIRD", "SPIDER"):
        monkeypatch.setenv(variable, "/nowhere")
    limits = {"chase_bird_gemini": 30, "chess_bird": 60, "mac_bird": 120}
    assert {name: load_experiment(name).sql_seconds for name in limits} == limits
    spent = (
        "chase_spider",
        "mac_spider",
        "chase_bird_claude",
        "chase_bird_mistral",
        *limits,
    )
    assert all(load_experiment(name).dollars for name in spent)
    for name in (
        "chase_bird_gemini",
        "chase_bird_claude",
        "chase_bird_mistral",
        "chess_bird",
    ):
        found = with_retrieval(wb.Retrieval(None), load_experiment(name).retrieval)
        assert isinstance(found.similarity, Embedding)


def test_settings_that_are_empty_or_false_replace_the_experiments(tmp_path):
    whole = Experiment(
        "whole",
        retrieval="spelling",
        suspect="nulls",
        models={"judge": "a/b"},
        parameters={"judge": {"seed": 1}},
        batch=True,
        folder=tmp_path,
    )
    none = {
        "retrieval": "",
        "suspect": None,
        "models": {},
        "parameters": {},
        "batch": False,
    }
    with wb.open_study(whole, limit=1, **none) as study:
        assert {name: getattr(study.experiment, name) for name in none} == none


def test_an_unknown_setting_or_name_is_answered_with_the_nearest_one():
    with pytest.raises(
        BadInputError, match="unknown setting 'limt'; did you mean 'limit'"
    ):
        wb.open_study("bundled-dev", limt=3)
    with pytest.raises(BadInputError, match="did you mean 'figures'"):
        wb.open_study("bundled-dev", figure="x")
    with pytest.raises(BadInputError, match="did you mean 'bundled-dev'"):
        wb.open_study("bundeld-dev")


def test_a_study_is_opened_from_a_name_a_path_an_experiment_or_a_benchmark(
    write, tmp_path
):
    benchmark = wb.open_benchmark("bundled-dev").limited(3)
    sources = ["bundled-dev", Path(write("limit: 3")), Experiment("own"), benchmark]
    for source in sources:
        with wb.open_study(source, limit=3, figures=tmp_path) as study:
            asked = [question.id for question in study.benchmark.questions]
            assert asked == [question.id for question in benchmark.questions]
