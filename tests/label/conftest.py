"""A harbour of two tables, cases about it made by hand, and a run of the tiny benchmark with wrong answers."""

from types import SimpleNamespace

import pandas as pd
import pytest

from workbench.benchmarks.benchmark import open_benchmark
from workbench.lab import Lab
from workbench.label.cases import Case
from workbench.label.results import compare_results
from workbench.label.store import LabelStore
from workbench.llm.cache import Cache
from workbench.llm.client import Client
from workbench.sql.executor import Executor
from workbench.systems.baselines import direct
from workbench.types import Column, Execution, ForeignKey, Question, Schema, Table

IMO = Column("imo", "INTEGER")
VNAME = Column("vname", "TEXT", "vessel name")
VTYPE = Column("vtype", "TEXT", "", "GC: general cargo", ("GC", "FV"))
OF_VESSEL = ForeignKey(("imo",), "vessel", ("imo",))
VESSEL = Table("vessel", (IMO, VNAME, VTYPE), ("imo",))
INSPECTION = Table("inspection", (IMO, Column("n_def", "INTEGER")), (), (OF_VESSEL,))
HARBOUR = Schema("harbour", (VESSEL, INSPECTION))


def result(*rows, error=""):
    status = "error" if error else "ok" if rows else "empty"
    return Execution(status, ("a",), rows, len(rows), "f", error)


TWO, ULVA = result((1,), (2,)), result(("Ulva",))


def case(
    predicted="SELECT vname FROM vessel", gold="SELECT imo FROM vessel", *, text="Which vessels?", hint="",
    number="7", gold_ran=TWO, ran=ULVA,
):  # fmt: skip
    question = Question(number, "harbour", text, hint)
    results = compare_results(gold_ran, ran)
    return Case(question, "simple", gold, predicted, direct(), "direct", gold_ran, ran, HARBOUR, results)  # fmt: skip


@pytest.fixture
def store(tmp_path, monkeypatch):
    """The labels of the tiny benchmark, of which there are none yet."""
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path))
    return LabelStore.named("bird-dev")


ANSWERS = {  # by question: candidates as (query, result group, right); the last one is chosen
    "0": [("SELECT count(*) FROM animal", 0, True)],
    "1": [("SELECT name FROM animal ORDER BY name", 0, True), ("SELECT legs FROM animal", 1, False)],
    "2": [("SELECT name FROM animal", 0, False), ("SELECT a.name FROM animal AS a", 0, False)],
    "3": [("SELECT wings FROM animal", -1, False)],
    "4": [("SELECT 3 FROM item WHERE label = 'x'", 0, False)],
}  # fmt: skip


@pytest.fixture(scope="session")
def opened(tmp_path_factory, tiny):
    """A study of the tiny benchmark, and a run: 1 was lost in selection, 2, 3 and 4 had no right candidate."""
    benchmark = open_benchmark(
        "bird-dev", tiny.write_bird(tmp_path_factory.mktemp("bird"))
    )
    trials = [
        {
            "question_id": key,
            "sql": sql,
            "group": group,
            "correct": right,
            "generator": "direct",
        }
        | {"chosen": n + 1 == len(own), "difficulty": "simple"}
        for key, own in ANSWERS.items()
        for n, (sql, group, right) in enumerate(own)
    ]
    oracle = {key: any(right for *_, right in own) for key, own in ANSWERS.items()}
    questions = pd.DataFrame({"question_id": oracle.keys(), "oracle": oracle.values()})
    run = SimpleNamespace(id="r", trials=pd.DataFrame(trials), questions=questions, system=direct("m/x"))  # fmt: skip
    path = tmp_path_factory.mktemp("store") / "lab.sqlite"
    with Cache(path) as cache, Executor(cache, workers=1) as executor:
        lab = Lab(Client(cache), executor, benchmark.database)
        yield SimpleNamespace(benchmark=benchmark, lab=lab), run
