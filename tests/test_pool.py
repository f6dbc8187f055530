"""Pools: what is saved comes back."""

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.errors import BadInputError
from workbench.pool import Pool, pool_of
from workbench.types import Candidate, Execution, Trial

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
CANDIDATES = st.builds(
    Candidate,
    TEXT,
    TEXT,
    st.integers(0, 99),
    TEXT,
    st.lists(TEXT, max_size=2).map(tuple),
)
TRIALS = st.recursive(
    st.builds(Trial, CANDIDATES),
    lambda before: st.builds(Trial, CANDIDATES, st.none(), before),
    max_leaves=3,
)


@given(st.lists(st.tuples(TEXT, TRIALS), max_size=6))
def test_what_is_saved_is_loaded(tmp_path_factory, pairs):
    path = tmp_path_factory.mktemp("pool") / "pool.jsonl"
    pool = pool_of(pairs)
    pool.save(path)
    assert Pool.load(path) == pool
    assert list(Pool.load(path).trials) == list(pool.trials)


def trial(name, result="", generator="g"):
    return Trial(Candidate(name, generator), Execution("ok", fingerprint=result))


def test_executions_are_not_saved_since_the_cache_has_them(tmp_path):
    pool_of([("1", trial("SELECT 1", "a"))]).save(tmp_path / "p")
    assert Pool.load(tmp_path / "p") == pool_of([("1", Trial(Candidate("SELECT 1", "g")))])


def test_what_cannot_be_saved_leaves_the_file_as_it_was(tmp_path):
    path = tmp_path / "p"
    pool_of([("1", trial("SELECT 1"))]).save(path)
    before = path.read_bytes()
    with pytest.raises(TypeError):
        pool_of([("1", trial("SELECT 2")), ("2", trial("\ud83d"))]).save(path)
    assert path.read_bytes() == before


def test_generators_are_named_in_order_of_appearance():
    pool = pool_of(
        [("2", trial("", "", "b")), ("1", trial("", "", "a")), ("1", trial("", "", "b"))]
    )
    assert pool.generators() == ("b", "a")


GOOD = {
    "question_id": "1",
    "generator": "g",
    "sample": 0,
    "sql": "SELECT 1",
    "reasoning": "",
    "call_keys": [],
    "repaired_from": None,
}


@pytest.mark.parametrize(
    "bad",
    [
        b"{",
        b"",
        b"5",
        b"[]",
        b"null",
        b"{}",
        b"\xff",
        *(orjson.dumps({k: v for k, v in GOOD.items() if k != name}) for name in GOOD),
        orjson.dumps(GOOD | {"question_id": 1}),
        orjson.dumps(GOOD | {"sql": None}),
        orjson.dumps(GOOD | {"sample": "0"}),
        orjson.dumps(GOOD | {"sample": True}),
        orjson.dumps(GOOD | {"call_keys": "abc"}),
        orjson.dumps(GOOD | {"call_keys": [1]}),
        orjson.dumps(GOOD | {"repaired_from": {"sql": "x"}}),
        orjson.dumps(GOOD | {"repaired_from": "x"}),
    ],
)
def test_a_malformed_line_is_named_by_file_and_number(tmp_path, bad):
    path = tmp_path / "pool.jsonl"
    path.write_bytes(orjson.dumps(GOOD) + b"\n" + bad + b"\n" + orjson.dumps(GOOD) + b"\n")
    with pytest.raises(
        BadInputError, match=r"pool\.jsonl, line 2: .* that Pool\.save writes"
    ) as raised:
        Pool.load(path)
    assert "Error" not in str(raised.value)
    assert "object" not in str(raised.value)


def test_a_missing_file_is_an_error_of_one_line(tmp_path):
    with pytest.raises(BadInputError, match=r"none\.jsonl: No such file"):
        Pool.load(tmp_path / "none.jsonl")
