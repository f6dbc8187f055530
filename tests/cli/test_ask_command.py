"""`workbench ask`: what it says of an answer, of none, of what was not understood, and of what asking costs."""

import sqlite3
from contextlib import closing
from functools import partial

import pytest
from click.testing import CliRunner

import workbench as wb
from workbench.cli.ask import ask as command
from workbench.errors import BadInputError, BudgetError
from workbench.llm.client import Client
from workbench.llm.send import scripted as model_of

COUNT = "How many animals are there?"


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


def test_an_answer_names_the_generators_that_agree_and_that_a_parser_wrote_them(zoo):
    ended = ask(zoo, COUNT)
    parser = "a small statistical parser and no language model"
    assert ended.exit_code == 0
    assert ended.stderr == ""
    assert ended.stdout.startswith("1 row:\n")
    assert "of 21 candidates gave this answer" in ended.stdout
    assert ended.stdout.endswith(f"embedded/parser answered: {parser}\n")


@pytest.mark.parametrize("system", ["direct", "chase"])
def test_what_the_parser_does_not_understand_is_said_before_the_rows(zoo, system):
    ended = ask(
        zoo, "What are the names of animals of the keeper Mueller?", "--system", system
    )
    assert ended.exit_code == 0
    first = ended.stdout.splitlines()[0]
    assert first.startswith("not understood: ")
    assert {"keeper", "Mueller"} <= {
        *first.removeprefix("not understood: ").split(", ")
    }
    assert "not understood" not in ask(zoo, COUNT, "--system", system).stdout


@pytest.mark.parametrize("system", ["direct", "chase", "mac"])
def test_a_question_that_asks_for_a_change_is_refused(zoo, system):
    ended = ask(zoo, "Delete all animals", "--system", system)
    assert ended.exit_code == 1
    assert ended.stdout.startswith(
        "No candidate has a query. The question asks for a change of data."
    )
    assert "SELECT" not in ended.stdout


def test_a_bundled_database_is_addressed_by_name(monkeypatch, tmp_path):
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path))
    ended = ask("harbour", "How many vessels are there?", "--system", "direct")
    assert (ended.exit_code, "SELECT COUNT(*) FROM vessel" in ended.stdout) == (0, True)


def test_a_question_without_an_answer_is_explained(zoo, scripted):
    written(zoo, "DROP TABLE animal; CREATE TABLE t1(c1 BLOB, c2 BLOB);")
    ended = ask(zoo, "How are you today?", "--system", "direct")
    assert (ended.exit_code, "names a table or a column" in ended.stdout) == (1, True)
    scripted("I would rather not.")
    ended = ask(zoo, COUNT, "--system", "direct", "--model", "somewhere/model")
    assert ended.exit_code == 1
    assert "No candidate has a query. I would rather not." in ended.stdout


def test_a_database_without_tables_is_refused_before_a_model_is_called(zoo, scripted):
    written(zoo, "DROP TABLE animal;")
    model = scripted("SELECT 1")
    ended = ask(zoo, COUNT, "--model", "somewhere/model")
    assert isinstance(ended.exception, BadInputError)
    assert model.history == []


def test_money_and_calls_are_limited(zoo, scripted):
    model = scripted("SELECT count(*) FROM animal")
    given = ("--system", "direct", "--model", "openai/gpt-4o-mini", "--dollars")
    assert isinstance(ask(zoo, COUNT, *given, 0).exception, BudgetError)
    assert model.history == []
    assert ask(zoo, COUNT, *given, 1).exit_code == 0
    model.history.clear()
    ended = ask(zoo, COUNT, "--model", "somewhere/model", "--calls", 2)
    assert isinstance(ended.exception, BudgetError)
    assert len(model.history) == 2


def test_free_calls_fit_into_a_budget_of_zero_dollars(zoo):
    assert ask(zoo, COUNT, "--system", "direct", "--dollars", 0).exit_code == 0
