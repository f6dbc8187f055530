"""A harbour of two tables, and cases about it made by hand: no database is opened."""

import pytest

from workbench.benchmarks.load import open_benchmark
from workbench.current_question import CURRENT, CurrentQuestion
from workbench.lab import Lab
from workbench.label.case import Case
from workbench.label.store import LabelStore
from workbench.llm.cache import Cache
from workbench.llm.client import Client
from workbench.sql.executor import Executor
from workbench.types import Column, Execution, ForeignKey, Question, Schema, Table, ValueMatch

HARBOUR = Schema(
    "harbour",
    (
        Table(
            "vessel",
            (
                Column("imo", "INTEGER"),
                Column("vname", "TEXT", "vessel name"),
                Column("vtype", "TEXT", "", "GC: general cargo", ("GC", "FV")),
            ),
            ("imo",),
        ),
        Table(
            "inspection",
            (
                Column("imo", "INTEGER"),
                Column("idate", "TEXT", "", "DD/MM/YYYY", ("08/05/2021", "31/12/2023")),
                Column("n_def", "INTEGER"),
            ),
            (),
            (ForeignKey(("imo",), "vessel", ("imo",)),),
        ),
    ),
)


def result(*rows, status=None, error="", columns=("a",)):
    return Execution(status or ("ok" if rows else "empty"), columns, rows, len(rows), "f", error)


def case(
    predicted="SELECT vname FROM vessel",
    gold="SELECT imo FROM vessel",
    *,
    text="Which vessels?",
    hint="",
    gold_rows=((1,), (2,)),
    rows=(("Ulva",),),
    schema=HARBOUR,
    number="7",
    **more,
):
    return Case(
        question=Question(number, "harbour", text, hint),
        difficulty="simple",
        gold=gold,
        predicted=predicted,
        generator="direct",
        gold_execution=more.pop("gold_execution", result(*gold_rows)),
        execution=more.pop("execution", result(*rows)),
        database=more.pop("database", HARBOUR),
        schema=schema,
        values=more.pop("values", (ValueMatch("vessel", "vname", "Ulva Sun", "Ulva", 0.8, 0.0),)),
        **more,
    )


@pytest.fixture(autouse=True)
def _no_question_of_another_test():
    """The labellers of a test share a question with each other only."""
    CURRENT.unobserve_all()
    CURRENT.picked = CurrentQuestion().picked


@pytest.fixture
def make_case():
    return case


@pytest.fixture
def make_result():
    return result


@pytest.fixture
def harbour():
    return HARBOUR


@pytest.fixture
def labels(tmp_path):
    """An empty store of labels."""
    return LabelStore(tmp_path / "labels" / "of-mine.sqlite")


@pytest.fixture(scope="session")
def bird(tmp_path_factory, tiny):
    """The twelve questions over three databases."""
    return open_benchmark("bird-dev", tiny.write_bird(tmp_path_factory.mktemp("bird")))


@pytest.fixture(scope="session")
def lab(tmp_path_factory, bird):
    with (
        Cache(tmp_path_factory.mktemp("store") / "lab.sqlite") as store,
        Executor(store, workers=1) as executor,
    ):
        yield Lab(Client(store), executor, bird.database)
