"""LSH answers what datasketch's MinHashLSH answers; trigrams find what is meant, whatever was done to its spelling."""

import datasketch
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz import fuzz

from tests.benchmarks.gazetteer import Gazetteer, queries
from workbench.retrieve.values import LSH, Trigram, folded

MADE = Gazetteer().values(2_000)
TEXTS = sorted({value for column in MADE.values() for value in column})


def sketch(text):
    made = datasketch.MinHash(100, scheme="legacy")
    made.update_batch([text[i : i + 3].encode() for i in range(max(1, len(text) - 2))])
    return made


def peers(texts):
    """A function that returns MinHashLSH's ten best, as CHESS's code ranks them, with their similarity."""
    lsh = datasketch.MinHashLSH(0.01, 100)
    sketches = {number: sketch(text) for number, text in enumerate(texts)}
    for number, one in sketches.items():
        lsh.insert(number, one)

    def search(text):
        asked = sketch(text)
        found = [
            (asked.jaccard(sketches[number]), number) for number in lsh.query(asked)
        ]
        return sorted(found, key=lambda pair: (-pair[0], pair[1]))[:10]

    return search


def test_lsh_has_the_top_ten_of_minhashlsh():
    search, by = peers(TEXTS), LSH()
    arrays = by.build(TEXTS)
    asked = [text for _, text, _ in queries(MADE, 10)]
    for text in [*asked, "TX", "é", "a text like no other", "x" * 300]:
        found = by.find(arrays, TEXTS, text, 10).tolist()
        assert found == [number for _, number in search(text)]


@given(
    st.lists(st.text(min_size=1, max_size=12), min_size=1, max_size=30, unique=True),
    st.text(),
)
def test_lsh_equals_minhashlsh_on_any_texts(texts, asked):
    texts = sorted(text for text in texts if text.isprintable()) or ["a"]
    asked = "".join(filter(str.isprintable, asked))
    by = LSH()
    found = by.find(by.build(texts), texts, asked, 10).tolist()
    assert found == [number for _, number in peers(texts)(asked)]


@pytest.mark.parametrize(
    ("sort", "least"),
    [
        ("0 typos", 20),
        ("1 typo", 20),
        ("2 typos", 19),
        ("prefix", 19),
        ("another case", 20),
    ],
)
def test_trigrams_find_what_is_meant(sort, least):
    by = Trigram()
    arrays = by.build(TEXTS)
    asked = [(text, meant) for kind, text, meant in queries(MADE, 20) if kind == sort]
    found = [
        meant in [TEXTS[n] for n in by.find(arrays, TEXTS, text, 10)]
        for text, meant in asked
    ]
    assert sum(found) >= least


def test_trigrams_find_nine_of_the_ten_that_comparing_everything_finds():
    by, keys = Trigram(), [folded(text) for text in TEXTS]
    arrays, good = by.build(TEXTS), []
    for _, text, _ in queries(MADE, 10):
        scores = np.array([fuzz.WRatio(folded(text), key) for key in keys])
        tenth = np.sort(scores)[-10]
        good += [scores[n] >= tenth - 1e-3 for n in by.find(arrays, TEXTS, text, 10)]
    assert np.mean(good) >= 0.9


@given(st.lists(st.text(max_size=12), min_size=1, max_size=20, unique=True), st.data())
def test_an_exact_text_comes_first(texts, data):
    asked = data.draw(st.sampled_from(texts))
    best = {
        by: by.find(by.build(texts), texts, asked, 20).tolist()
        for by in (LSH(), Trigram())
    }
    assert all(len(set(found)) == len(found) for found in best.values())
    assert texts.index(asked) in best[LSH()]
    if folded(asked):
        assert texts.index(asked) == best[Trigram()][0]
