"""Examples from training questions: the most alike first, as many as are asked for."""

import json
from dataclasses import replace

import pytest

from workbench.benchmarks.load import open_benchmark
from workbench.errors import BadInputError
from workbench.generate.synthetic_examples import SyntheticExamples
from workbench.lab import Lab
from workbench.llm.cache import Cache
from workbench.llm.client import Client
from workbench.llm.scripted import scripted
from workbench.prompts.prompt import split_sections
from workbench.sql.executor import Executor
from workbench.systems.baselines import direct
from workbench.systems.few_shot import GivenExamples, NearestExamples
from workbench.systems.system import solve
from workbench.train.examples import examples_of, training_examples
from workbench.types import Example

EXAMPLES = (
    Example("How tall is the oldest tower?", "SELECT 1"),
    Example("How many ships fly a flag?", "SELECT 2"),
    Example("How many cargo ships fly the flag of Malta?", "SELECT 3", "a hint"),
)


@pytest.fixture
def asked(tmp_path, sandbox):
    """What the model is asked with so many examples, and what came of it."""
    benchmark = open_benchmark("bundled-dev")
    question = replace(benchmark.questions[0], text="How many cargo ships fly a flag of Cyprus?")

    def ask(shown, *replies, generator=None):
        model = scripted(replies, otherwise="```sql\nSELECT 4\n```")
        lab = Lab(Client(store, send=model), executor, benchmark.database)
        generator = generator or NearestExamples("some/model", EXAMPLES, shown)
        selection = solve(replace(direct("some/model"), generate=(generator,)), question, lab)
        return model.history[-1].messages[-1]["content"], selection

    with Cache(tmp_path / "lab.sqlite") as store:
        executor = Executor(store, sandbox=sandbox)
        yield ask


def test_the_most_similar_examples_come_first(asked):
    prompt, selection = asked(3)
    places = [prompt.index(f"SQL: SELECT {n}") for n in (3, 2, 1)]
    assert places == sorted(places)
    assert "Hint: a hint" in prompt
    assert selection.trials[0].candidate.generator == "training_examples"


def test_at_most_the_requested_number_of_examples_is_shown(asked):
    prompt, _ = asked(1)
    assert prompt.count("\nSQL: ") == 1


def test_nothing_but_the_examples_differs_from_a_prompt_with_synthetic_ones(asked):
    of_training, _ = asked(2)
    example = '{"question": "How many ships are there?", "sql": "SELECT count(*) FROM vessel"}'
    synthetic = SyntheticExamples("some/model", by_feature=1, by_column=0)
    of_model, _ = asked(0, example, generator=synthetic)
    first, second = (dict(split_sections(text)) for text in (of_training, of_model))
    assert first.pop("Examples") != second.pop("Examples")
    assert first == second


def test_a_training_split_becomes_examples():
    split = open_benchmark("bundled-train")
    found = training_examples(split)
    assert len(found) == len(split.questions)
    first = split.questions[0]
    assert found[0] == Example(first.text, split.golds[first.id].sql, first.evidence)


def test_a_negative_number_of_examples_is_refused():
    with pytest.raises(BadInputError, match=r"^shown is -1"):
        NearestExamples("some/model", EXAMPLES, -1)


def write(path, *records):
    path.write_text("\n".join(map(json.dumps, records)))
    return path


def test_another_systems_examples_are_read_for_each_question(tmp_path):
    benchmark = open_benchmark("bundled-dev")
    first, second = (question.id for question in benchmark.questions[:2])
    path = write(
        tmp_path / "codes.jsonl",
        {"question_id": first, "question": "How many?", "sql": "SELECT 1", "sample": 0},
        {"question_id": first, "question": "Which?", "sql": "SELECT 2", "sample": 1},
        {"question_id": second, "question": "Who?", "sql": "SELECT 3"},
    )
    assert examples_of(path, benchmark) == {
        first: (Example("How many?", "SELECT 1"), Example("Which?", "SELECT 2")),
        second: (Example("Who?", "SELECT 3"),),
    }


@pytest.mark.parametrize(
    "record", [{"question_id": "none", "question": "Who?"}, {"question_id": "{}"}]
)
def test_a_record_that_is_no_example_of_a_question_is_named(tmp_path, record):
    benchmark = open_benchmark("bundled-dev")
    record = {key: text.format(benchmark.questions[0].id) for key, text in record.items()}
    path = write(tmp_path / "codes.jsonl", record | {"sql": "SELECT 1"})
    with pytest.raises(BadInputError, match="item 0"):
        examples_of(path, benchmark)


def test_the_prompt_shows_the_first_of_the_examples_written_for_its_question(asked):
    question = open_benchmark("bundled-dev").questions[0]
    given = {question.id: EXAMPLES, "another": (Example("Another?", "SELECT 9"),)}
    prompt, selection = asked(2, generator=GivenExamples("some/model", given, 2))
    assert [f"SQL: SELECT {n}" in prompt for n in (1, 2, 3, 9)] == [True, True, False, False]
    assert selection.trials[0].candidate.generator == "given_examples"
