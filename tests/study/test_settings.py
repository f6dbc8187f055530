"""An experiment's YAML is checked before anything runs."""

import pytest

from workbench.errors import BadInputError
from workbench.retrieve.named import settings_of
from workbench.retrieve.similarity import Embedding
from workbench.study.settings import load_experiment


@pytest.fixture
def write(tmp_path):
    folder = tmp_path / "experiments"
    folder.mkdir()

    def write(text):
        path = folder / "mine.yaml"
        path.write_text(text)
        return str(path)

    return write


def test_a_file_becomes_an_experiment_named_after_it(write, tmp_path):
    settings = load_experiment(
        write("benchmark: bundled-train\nlimit: 5\nnotebooks:\n  a/b: {samples: 3}\n  c:\n")
    )
    assert (settings.name, settings.benchmark, settings.limit) == ("mine", "bundled-train", 5)
    assert settings.notebooks == {"a/b": {"samples": 3}, "c": {}}
    assert settings.folder == tmp_path


def test_variables_of_the_environment_name_folders(write, monkeypatch, tmp_path):
    monkeypatch.setenv("BIRD", str(tmp_path / "bird"))
    assert load_experiment(write("root: $BIRD/dev")).root == tmp_path / "bird" / "dev"


def test_a_relative_folder_is_relative_to_the_file(write, tmp_path):
    assert load_experiment(write("prompts: mine")).prompts == tmp_path / "experiments" / "mine"


def test_a_benchmark_of_one_s_own_is_relative_to_the_file_too(write, tmp_path):
    settings = load_experiment(write("benchmark: ../mine.json"))
    assert settings.benchmark == str(tmp_path / "experiments/../mine.json")
    assert load_experiment(write("benchmark: bird-dev")).benchmark == "bird-dev"


def test_the_folder_does_not_depend_on_how_the_file_s_path_is_written(write, tmp_path, monkeypatch):
    write("about: mine")
    (tmp_path / "experiments" / "below").mkdir()
    monkeypatch.chdir(tmp_path / "experiments" / "below")
    settings = load_experiment("../mine.yaml")
    assert (settings.folder, settings.path) == (tmp_path, tmp_path / "experiments" / "mine.yaml")


def test_parameters_are_set_by_model(write):
    text = "model: openai/gpt-5\nparameters: {openai/gpt-5: {reasoning_effort: low, temperature: null}}"
    given = {"reasoning_effort": "low", "temperature": None}
    assert load_experiment(write(text)).parameters == {"openai/gpt-5": given}


def test_a_preview_without_the_data_takes_bundled_questions(write, monkeypatch):
    monkeypatch.delenv("BIRD", raising=False)
    monkeypatch.setenv("WORKBENCH_PREVIEW", "3")
    settings = load_experiment(
        write("benchmark: bird-dev\nroot: $BIRD\noptions: {train: bird-train, other: [1]}\n")
    )
    assert (settings.benchmark, settings.root, settings.stands_for) == ("bundled-dev", None, 1534)
    assert settings.options == {"train": "bundled-train", "other": [1]}


def test_retrieval_is_a_name_or_settings(write):
    assert load_experiment(write("retrieval: trigram")).retrieval == "trigram"
    text = "retrieval: {similarity: minilm, edit: 0.4}"
    assert load_experiment(write(text)).retrieval == {"similarity": "minilm", "edit": 0.4}


@pytest.mark.parametrize(
    "name",
    ["chase_bird_gemini", "chase_bird_claude", "chase_bird_mistral", "chase_spider", "chess_bird"],
)
def test_the_papers_experiments_name_their_embedding_model(name, monkeypatch):
    for variable in ("BIRD", "SPIDER"):
        monkeypatch.setenv(variable, "/nowhere")
    (similarity,) = settings_of(load_experiment(name).retrieval).values()
    assert isinstance(similarity, Embedding)


def test_a_name_is_looked_for_in_the_folders_above(write, tmp_path, monkeypatch):
    write("limit: 3")
    deep = tmp_path / "notebooks" / "deep"
    deep.mkdir(parents=True)
    monkeypatch.chdir(deep)
    assert load_experiment("mine").limit == 3


def test_an_unknown_name_lists_the_known_names(write, tmp_path, monkeypatch):
    write("limit: 3")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BadInputError, match=r"no experiment 'other'; there are .*mine"):
        load_experiment("other")
