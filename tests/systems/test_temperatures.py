"""Hyper-parameters asked for are the ones used: every step that asks a model, at 0 and above it."""

import importlib
import pkgutil
import sqlite3
from contextlib import closing
from dataclasses import fields, is_dataclass
from types import SimpleNamespace

import pytest

from workbench.generate.prompt_generator import PromptGenerator
from workbench.lab import Lab
from workbench.llm.cache import Cache
from workbench.llm.client import Client
from workbench.llm.scripted import scripted
from workbench.prompts.prompt import load, names
from workbench.prune.filter_columns import FilterColumns
from workbench.select.unit_tests import UnitTester
from workbench.sql.executor import Executor
from workbench.types import Candidate, Context, Question, Trial

QUESTION = Question("q1", "zoo", "Which animals have four legs?")
EMPTY = "SELECT name FROM animal WHERE legs = 'four'"
TWO = ("SELECT name FROM animal", "SELECT name FROM animal WHERE legs = 4")
CALLED_WITH = {
    "retrieve": lambda it: (it.lab, QUESTION),
    "prune": lambda it: (it.lab, it.context),
    "generate": lambda it: (it.lab, it.context),
    "fix": lambda it: (it.lab, it.context, it.trial(EMPTY)),
    "select": lambda it: (it.lab, it.context, [it.trial(sql) for sql in TWO]),
}
# Parameters without which a step makes no model call.
NEEDS = {"Selector": {"mean_columns": 1}}
# Parameters that choose between a step's prompts.
VARIANTS = {
    FilterColumns: [{"group": 1}, {"group": 2}],
    UnitTester: [{"by": "test"}, {"by": "candidate"}],
}


def _steps():
    """The dataclasses of the verbs' modules that have a temperature, by package."""
    for package_name in CALLED_WITH:
        package = importlib.import_module(f"workbench.{package_name}")
        for found in pkgutil.iter_modules(package.__path__):
            module = importlib.import_module(f"workbench.{package_name}.{found.name}")
            for kind in vars(module).values():
                own = is_dataclass(kind) and kind.__module__ == module.__name__
                concrete = kind is not PromptGenerator
                if own and concrete and any(field.name == "temperature" for field in fields(kind)):
                    yield pytest.param(package_name, kind, id=kind.__name__)


STEPS = list(_steps())


@pytest.fixture
def made(tmp_path, sandbox):
    path = tmp_path / "zoo.sqlite"
    with closing(sqlite3.connect(path)) as database:
        database.executescript(
            "CREATE TABLE animal(name TEXT, legs INTEGER);"
            "INSERT INTO animal VALUES ('bat', 2), ('cat', 4);"
        )
    script = scripted(otherwise='["The query should restrict legs to 4."]')
    with Cache(tmp_path / "lab.sqlite") as store:
        executor = Executor(store, sandbox=sandbox)
        lab = Lab(Client(store, send=script), executor, lambda _: path)
        yield SimpleNamespace(
            lab=lab,
            context=Context(QUESTION, lab.schema("zoo")),
            trial=lambda sql: Trial(Candidate(sql, "g", 2), executor.execute(path, sql)),
            asked=script.history,
        )


@pytest.mark.parametrize(("package_name", "kind"), STEPS)
@pytest.mark.parametrize("temperature", [0.0, 0.7])
def test_the_temperature_asked_for_is_the_one_sent(made, package_name, kind, temperature):
    every = [field.name for field in fields(kind) if field.name.endswith("temperature")]
    step = kind("test/model", **dict.fromkeys(every, temperature), **NEEDS.get(kind.__name__, {}))
    step(*CALLED_WITH[package_name](made))
    assert made.asked
    assert {request.parameters["temperature"] for request in made.asked} == {temperature}


@pytest.mark.parametrize(("package_name", "kind"), STEPS)
def test_every_request_has_the_output_limit_of_its_prompt(made, package_name, kind):
    kind("test/model", **NEEDS.get(kind.__name__, {}))(*CALLED_WITH[package_name](made))
    for request in made.asked:
        assert request.parameters["max_tokens"] == load(request.prompt).output_limit


def test_these_steps_ask_every_prompt_of_ours(made):
    for package_name, kind in (step.values for step in STEPS):
        needs = NEEDS.get(kind.__name__, {})
        variants = VARIANTS.get(kind, [{}])
        for variant in variants:
            kind("test/model", **needs, **variant)(*CALLED_WITH[package_name](made))
    assert {request.prompt for request in made.asked} == set(names())
