"""`workbench ask`: what it says of an answer, of none, and of what asking costs."""

import sqlite3
from contextlib import closing
from functools import partial

import pytest
from click.testing import CliRunner

import workbench as wb
from workbench.cli.ask import ask as command
from workbench.errors import BadInputError, BudgetError, UnreadableDatabaseError
from workbench.llm.client import Client
from workbench.llm.scripted import scripted as model_of

COUNT = "How many animals are there?"
GREETING = "How are you today?"


@pytest.fixture
def zoo(tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path / "home"))
    return written(
        tmp_path / "zoo.sqlite",
        """CREATE TABLE animal(id INTEGER PRIMARY KEY, name TEXT, legs INTEGER);
        INSERT INTO animal VALUES (1, 'ant', 6), (2, 'bat', 2), (3, 'cat', 4);""",
    )


def written(path, script):
    with closing(sqlite3.connect(path)) as database:
        database.executescript(script)
    return path


def ask(*arguments):
    return CliRunner().invoke(command, [str(argument) for argument in arguments])


@pytest.fixture
def scripted(monkeypatch):
    """`scripted(reply)`: a model somewhere that always says so; what it was asked is its `history`."""

    def scripted(reply):
        model = model_of(otherwise=reply)
        monkeypatch.setattr(wb, "Client", partial(Client, send=model))
        return model

    return scripted


def test_an_answer_names_the_generators_that_agree(zoo):
    ended = ask(zoo, COUNT)
    assert ended.exit_code == 0
    assert ended.stdout.startswith("1 row:\n")
    assert "of 21 candidates gave this answer" in ended.stdout


def test_the_embedded_model_is_named_first_and_last_and_its_agreement_is_put_right(zoo):
    ended = ask(zoo, COUNT)
    parser = "a small statistical parser and no language model"
    first, second = ended.stderr.splitlines()
    assert first == f"embedded/parser answers: {parser}"
    assert second.startswith("asking embedded/parser for 21 candidates")
    assert "One parser wrote them all" in ended.stdout
    assert "calls, which cost nothing\n" in ended.stdout
    assert "$" not in ended.stdout
    assert ended.stdout.endswith(f"embedded/parser answered: {parser}\n")


def test_a_bundled_database_is_addressed_by_name(monkeypatch, tmp_path):
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path))
    ended = ask("harbour", "How many vessels are there?", "--system", "direct")
    assert ended.exit_code == 0
    assert "SELECT COUNT(*) FROM vessel" in ended.stdout
    with pytest.raises(BadInputError, match=r"nowhere: no such file; .* bundled .*harbour"):
        CliRunner().invoke(command, ["nowhere", COUNT], catch_exceptions=False)


@pytest.mark.filterwarnings("ignore:values are not searched")
def test_a_damaged_database_is_refused_by_its_column(zoo):
    whole = zoo.read_bytes()
    zoo.write_bytes(whole[:4096] + b"\xff" * (len(whole) - 4096))
    ended = ask(zoo, "What are the names of all animals?", "--system", "chess")
    assert ended.exit_code == 1
    assert isinstance(ended.exception, UnreadableDatabaseError)
    assert "animal" in str(ended.exception)


def test_the_embedded_model_without_an_answer_explains_itself(zoo):
    written(zoo, "DROP TABLE animal; CREATE TABLE t1(c1 BLOB, c2 BLOB);")
    ended = ask(zoo, GREETING, "--system", "direct")
    assert ended.exit_code == 1
    assert "found no word in the question that names a table or column here" in ended.stdout
    assert "not a language model" in " ".join(ended.stdout.split())
    assert "There is no schema" not in ended.stdout


def test_a_model_without_a_query_is_quoted(zoo, scripted):
    scripted("I would rather not.")
    ended = ask(zoo, COUNT, "--system", "direct", "--model", "somewhere/model")
    assert ended.exit_code == 1
    assert "No candidate has a query. I would rather not." in ended.stdout


def test_a_database_without_tables_is_refused_before_a_model_is_called(zoo, scripted):
    written(zoo, "DROP TABLE animal;")
    model = scripted("SELECT 1")
    ended = ask(zoo, COUNT, "--model", "somewhere/model")
    assert isinstance(ended.exception, BadInputError)
    assert "zoo.sqlite has no tables" in str(ended.exception)
    assert model.history == []


@pytest.mark.parametrize(
    ("system", "expected"),
    [
        ("chase", "for 21 candidates and about each of 3 columns that is not a key; "),
        ("chess", "for 20 candidates; "),
        ("direct", "for 1 candidate; "),
    ],
)
def test_the_least_number_of_calls_is_printed_before_a_provider_is_called(
    zoo, scripted, system, expected
):
    scripted("SELECT count(*) FROM animal")
    ended = ask(zoo, COUNT, "--system", system, "--model", "somewhere/model")
    assert ended.exit_code == 0
    assert ended.stderr.startswith(f"asking somewhere/model {expected}")
    assert "--dollars and --calls" in ended.stderr


def test_parameters_are_set_for_the_model_as_json_or_text(zoo, scripted):
    model = scripted("SELECT count(*) FROM animal")
    given = ("--parameter", "reasoning_effort=low", "--parameter", "max_tokens=800")
    given += ("--parameter", "temperature=null")
    ended = ask(zoo, COUNT, "--system", "direct", "--model", "somewhere/model", *given)
    assert ended.exit_code == 0
    assert model.history[0].parameters == {"reasoning_effort": "low", "max_tokens": 800}
    assert ask(zoo, COUNT, "--parameter", "low").exit_code == 2


def test_a_budget_of_zero_dollars_stops_the_first_paid_call(zoo, scripted):
    model = scripted("SELECT count(*) FROM animal")
    given = ("--system", "direct", "--model", "openai/gpt-4o-mini", "--dollars")
    assert isinstance(ask(zoo, COUNT, *given, 0).exception, BudgetError)
    assert model.history == []
    assert ask(zoo, COUNT, *given, 1).exit_code == 0
    assert len(model.history) == 1


def test_free_calls_fit_into_a_budget_of_zero_dollars(zoo):
    assert ask(zoo, COUNT, "--system", "direct", "--dollars", 0).exit_code == 0


def test_calls_can_be_limited(zoo, scripted):
    model = scripted("SELECT count(*) FROM animal")
    ended = ask(zoo, COUNT, "--model", "somewhere/model", "--calls", 2)
    assert isinstance(ended.exception, BudgetError)
    assert len(model.history) == 2


@pytest.mark.parametrize("option", ["--dollars", "--calls"])
def test_a_negative_budget_is_refused(zoo, option):
    ended = ask(zoo, COUNT, option, -1)
    assert ended.exit_code == 2
    assert "is not in the range x>=0" in ended.stderr
