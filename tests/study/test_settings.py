"""An experiment's YAML is checked before anything runs."""

import pytest

from workbench.errors import BadInputError
from workbench.retrieve.embed import Embedding
from workbench.retrieve.index.minhash import MinHash
from workbench.retrieve.matching import CHESS
from workbench.retrieve.named import retrieval_of
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


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("suspect: all", "suspect is 'all', and should be failed or empty or nulls"),
        ("retrieval: best", "retrieval is 'best', and should be default or paper"),
        ("retrieval: {edit: high}", "edit is 'high', and should be a number"),
        ("model: gpt-4o", "mine.yaml: model .gpt-4o. names no provider: write PROVIDER/MODEL"),
        ("modle: x", "no setting modle; there are about, batch, benchmark"),
        ("limit: many", "limit is 'many', and should be a whole number or a number"),
        ("limit: true", "limit is True, and should be a whole number or a number"),
        ("limit: 0", "limit is 0: it must be a number of questions"),
        ("dollars: -1", "dollars is -1, and should be 0 or more"),
        ("notebooks: [a]", "notebooks is .*should be values by name"),
        ("models: {1: a/b}", "models: 1 is 'a/b', and both should be texts"),
        ("golds: {new: [1]}", r"golds: 'new' is \[1\], and both should be texts"),
        ("notebooks: {a: 3}", "notebooks: a: give parameters by name, not 3"),
        (
            "parameters: {openai/o3: low}",
            "parameters: openai/o3: give parameters by name, not 'low'",
        ),
        ("parameters: {openai/o3: {seed: 1}}", "no other setting names the model openai/o3"),
        ("- a", "expected settings by name"),
        ("a: [", "not YAML"),
        ("root: $NOWHERE_SET/dev", r"\$NOWHERE_SET is not set; set this environment variable"),
        ("root: $", "root is"),
    ],
)
def test_a_mistake_is_one_line(write, text, complaint):
    with pytest.raises(BadInputError, match=complaint) as caught:
        load_experiment(write(text))
    assert "\n" not in str(caught.value)


def test_retrieval_is_a_name_or_settings(write):
    assert load_experiment(write("retrieval: paper")).retrieval == "paper"
    text = "retrieval: {like: paper, similarity: minilm, edit: 0.4}"
    assert load_experiment(write(text)).retrieval == {
        "like": "paper",
        "similarity": "minilm",
        "edit": 0.4,
    }


@pytest.mark.parametrize(
    "name",
    ["chase_bird_gemini", "chase_bird_claude", "chase_bird_mistral", "chase_spider", "chess_bird"],
)
def test_the_papers_experiments_retrieve_as_the_papers_do(name, monkeypatch):
    for variable in ("BIRD", "SPIDER"):
        monkeypatch.setenv(variable, "/nowhere")
    found = retrieval_of(load_experiment(name).retrieval)
    assert isinstance(found.index, MinHash)
    assert isinstance(found.similarity, Embedding)
    assert found.matching == CHESS


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


def test_code_in_a_file_is_not_run(write):
    with pytest.raises(BadInputError, match="not YAML"):
        load_experiment(write("about: !!python/object/apply:os.getcwd []"))
