"""A tiny benchmark, a model with scripted replies, and a system that makes one call for each question."""

from dataclasses import replace
from types import SimpleNamespace

import ipywidgets as w
import pandas as pd
import pytest

from workbench.benchmarks.load import open_benchmark
from workbench.current_question import CURRENT, CurrentQuestion
from workbench.lab import Lab
from workbench.llm.cache import Cache
from workbench.llm.client import Client
from workbench.llm.scripted import scripted
from workbench.sql.executor import Executor
from workbench.systems.baselines import direct

RIGHT = "```sql\nSELECT count(*) FROM animal\n```"


@pytest.fixture
def zoo(tmp_path, tiny, sandbox):
    """`lab`, `benchmark` (four questions about one table), `system`, and the `model` with its history."""
    root = tiny.write_bird(tmp_path / "bird")
    with Cache(tmp_path / "lab.sqlite") as store:
        executor = Executor(store, sandbox=sandbox)
        whole = open_benchmark("bird-dev", root)
        benchmark = replace(whole, questions=whole.questions[:4])
        model = scripted(otherwise=RIGHT)
        lab = Lab(Client(store, send=model), executor, benchmark.database)
        yield SimpleNamespace(
            lab=lab,
            benchmark=benchmark,
            questions=benchmark.questions,
            system=direct("m/x"),
            model=model,
        )


@pytest.fixture
def outcomes():
    """A run's two tables: question 0 is right, 1 was lost in the selection, 2 had no right candidate."""
    questions = pd.DataFrame(
        {
            "question_id": ["0", "1", "2"],
            "db_id": "zoo",
            "difficulty": "simple",
            "sql": ["SELECT 1", "SELECT 2", "SELECT 3"],
            "correct": [True, False, False],
            "oracle": [True, True, False],
        }
    )
    trials = pd.DataFrame(
        {
            "question_id": ["0", "1", "1", "2"],
            "db_id": "zoo",
            "difficulty": "simple",
            "group": [0, 0, 1, 0],
            "generator": ["a", "a", "b", "a"],
            "sql": ["SELECT 1", "SELECT 2", "SELECT 2 + 0", "SELECT 3"],
            "correct": [True, False, True, False],
            "chosen": [True, True, False, True],
        }
    )
    return SimpleNamespace(id="run", questions=questions, trials=trials)


@pytest.fixture
def press():
    """`press(explorer, kind)` clicks the explorer's button of that class, without a browser."""

    def click(explorer, kind):
        waiting = [explorer.box]
        while waiting:
            widget = waiting.pop()
            if kind in widget._dom_classes and isinstance(widget, w.Button):
                widget.click()
                return
            waiting += getattr(widget, "children", ())
        raise AssertionError(f"no button {kind}")

    return click


@pytest.fixture(autouse=True)
def _no_question_of_another_test():
    """The views of a test share a question with each other only."""
    CURRENT.unobserve_all()
    CURRENT.picked = CurrentQuestion().picked
