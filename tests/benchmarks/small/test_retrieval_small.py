"""What the benchmark of retrieval measures, on 2,000 values: what is meant is found, by both kinds."""

from collections import Counter

import pytest

from tests.benchmarks.gazetteer import Gazetteer, queries, write
from workbench.retrieve.index.minhash import MinHash
from workbench.retrieve.index.trigram import Trigram
from workbench.retrieve.index.values import open_index


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    values = Gazetteer().values(2_000)
    path = tmp_path_factory.mktemp("gazetteer") / "made.sqlite"
    write(path, values)
    return path, values


def found(made, kind):
    """Of twenty queries of each sort, for how many the value that is meant is among the first ten."""
    path, values = made
    index = open_index(path, kind, path.parent)
    count = Counter()
    for sort, text, meant in queries(values, 20):
        count[sort] += any(one.value == meant for one in index.search(text, 10))
    return count


def test_the_trigram_index_finds_what_is_meant_whatever_was_done_to_it(made):
    count = found(made, Trigram())
    assert min(count.values()) >= 19
    assert count["0 typos"] == count["1 typo"] == count["2 typos"] == count["another case"] == 20


def test_the_minhash_index_finds_what_is_spelled_alike(made):
    count = found(made, MinHash())
    assert count["0 typos"] == count["1 typo"] == 20
    assert min(count["2 typos"], count["prefix"]) >= 19


def test_made_values_are_distinct_and_the_same_again():
    values = Gazetteer().values(2_000)
    every = [value for column in values.values() for value in column]
    assert len(set(every)) == len(every) == 2_000
    assert values == Gazetteer().values(2_000)
