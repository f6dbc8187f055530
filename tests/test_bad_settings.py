"""A setting that cannot be is refused where it is given: the kind of error, and the setting's name in it."""

import re
from functools import partial

import pytest

import workbench as wb
from workbench.benchmarks.benchmark import some
from workbench.errors import BadInputError
from workbench.retrieve.retrieval import Descriptions, Matching, with_retrieval
from workbench.retrieve.values import LSH, Spelling
from workbench.systems.chase_sql import Synthetic
from workbench.systems.chess import UnitTester
from workbench.systems.mac_sql import SchemaWithValues, decomposer
from workbench.systems.prune import FilterColumns
from workbench.systems.repair import Repair
from workbench.train.data import NoisySchema

M = "test/model"
SUSPICIOUS = (wb.Majority, wb.Ranker, wb.Pairwise, partial(Repair, "fix/fixer"))
GENERATE, REPAIR = (
    partial(wb.Generate, "generate/direct"),
    partial(Repair, "fix/reviser"),
)

# Each step with settings of which the first named one cannot be.
STEPS = [
    *((step, {"suspect": "all"}) for step in SUSPICIOUS),
    (GENERATE, {"samples": 0}),
    (GENERATE, {"seeds": "day"}),
    (wb.Pairwise, {"by": "test"}),
    (wb.Pairwise, {"orders": "all"}),
    (UnitTester, {"by": "tests"}),
    (UnitTester, {"tests": 0}),
    (UnitTester, {"tests": 2.5}),
    (UnitTester, {"tests": "2"}),
    (UnitTester, {"tests": None}),
    (REPAIR, {"tries": -1}),
    (REPAIR, {"samples": 3, "temperature": 0}),
    (wb.mac_sql, {"shots": 3}),
    (decomposer, {"shots": 2, "decompose": False}),
    (decomposer, {"benchmark": "wikisql"}),
    (Synthetic, {"shots": 11}),
    (Synthetic, {"by_feature": -1}),
    (Synthetic, {"by_column": -1}),
    (FilterColumns, {"group": 0}),
    (SchemaWithValues, {"values": -1}),
    (LSH, {"permutations": 0}),
    (LSH, {"ngram": 0}),
    (Descriptions, {"top": 0}),
    (Matching, {"per_keyword": 0}),
    (Matching, {"candidates": 0}),
    (Matching, {"edit": 1.5}),
    (Matching, {"semantic": "high"}),
    (Matching, {"keep": float("nan")}),
    (NoisySchema, {"wrong": -1}),
]
WITHOUT_MODEL = {
    *(wb.Majority, LSH, Spelling, Descriptions, Matching, SchemaWithValues),
    NoisySchema,
}


def names(error, setting):
    return re.search(
        rf"\b{re.escape(setting)}\b", str(error.value)
    ) and "\n" not in str(error.value)


@pytest.mark.parametrize(("step", "wrong"), STEPS)
def test_a_step_names_the_setting_that_cannot_be(step, wrong):
    model = {} if step in WITHOUT_MODEL else {"model": M}
    with pytest.raises(BadInputError) as error:
        step(**model, **wrong)
    assert names(error, next(iter(wrong)))


@pytest.mark.parametrize(
    ("given", "setting"),
    [
        ("best", "retrieval"),
        ({"index": "faiss"}, "index"),
        ({"index": ["lsh"]}, "index"),
        ({"similarity": "bert"}, "similarity"),
        ({"similarity": ["a/b"]}, "similarity"),
        ({"edits": 1}, "edits"),
        ({"descriptions": 0}, "top"),
    ],
)
def test_retrieval_names_the_setting_that_cannot_be(given, setting):
    with pytest.raises(BadInputError) as error:
        with_retrieval(wb.Retrieval(None, descriptions=Descriptions()), given)
    assert names(error, setting)


@pytest.mark.parametrize(
    "wrong",
    [
        {"limit": 0},
        {"limit": True},
        {"limit": "3"},
        {"limit": 2.5},
        {"golds": "new.json"},
    ],
)
def test_a_study_names_the_setting_that_cannot_be(tmp_path, wrong):
    with pytest.raises(BadInputError) as error:
        wb.open_study("bundled-dev", figures=tmp_path, **wrong)
    assert names(error, next(iter(wrong)))


@pytest.mark.parametrize("limit", [0, -1, 1.0, 1.5, 0.0, True, "ten"])
def test_a_number_of_questions_is_a_count_or_a_share(limit):
    with pytest.raises(BadInputError) as error:
        some((), limit)
    assert names(error, "limit")
