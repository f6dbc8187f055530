import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz import fuzz

from workbench.retrieve.index.packed import Texts, pack
from workbench.retrieve.index.trigram import Trigram, search_form

DEFAULT = Trigram()
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)


def search(texts, query, limit=10, kind=DEFAULT):
    """Texts and scores, best first."""
    texts = sorted(set(texts))
    arrays = kind.build(texts) | pack(texts)
    numbers, scores = kind.search(arrays, Texts(arrays), query, limit)
    found = [(texts[number], score) for number, score in zip(numbers, scores, strict=True)]
    return sorted(found, key=lambda pair: (-pair[1], pair[0]))[:limit]


CITIES = [
    "São Paulo",
    "Sao Tome",
    "San Pablo",
    "Santiago",
    "Saint Paul",
    "PAULO",
    "東京都",
    "TX",
    "M",
]


@pytest.mark.parametrize(
    ("query", "value"),
    [
        ("São Paulo", "São Paulo"),
        ("sao paulo", "São Paulo"),
        ("SÃO PAULO", "São Paulo"),
        ("Sao Pualo", "São Paulo"),
        ("Sa\u0303o Paulo", "São Paulo"),
        ("Saint Pau", "Saint Paul"),
        ("paulo", "PAULO"),
        ("東京", "東京都"),
        ("tx", "TX"),
        ("m", "M"),
        ("\uff2d", "M"),
    ],
)
def test_the_intended_value_comes_first(query, value):
    assert search(CITIES, query)[0][0] == value


def test_the_exact_text_has_score_1_and_comes_before_other_spellings():
    found = search(["cafe", "Cafe", "CAFÉ", "café"], "Cafe")
    assert found[0] == ("Cafe", 1.0)
    assert [score for _, score in found[1:]] == pytest.approx([0.999] * 3)


def test_one_word_of_a_value_finds_it():
    filler = [f"number {n} of many" for n in range(2000)]
    assert search([*filler, "the Kettle of Doom"], "kettle")[0][0] == "the Kettle of Doom"


def test_a_short_value_is_found_in_a_long_query_among_many_others():
    filler = [f"state of {n} counties" for n in range(2000)]
    found = search([*filler, "TX", "Q"], "all counties of the state of tx or q", limit=2000)
    assert {"TX", "Q"} <= {text for text, _ in found}


def test_equal_shares_are_broken_by_order_alone():
    texts = [f"{a}{b}{c} word" for a in "abcdefgh" for b in "ijklmnop" for c in "qrstuvwx"]
    first = search(texts, "word", kind=Trigram(candidates=20))
    random.Random(1).shuffle(texts)
    assert search(texts, "word", kind=Trigram(candidates=20)) == first


@pytest.mark.parametrize("query", ["", " ", "\u0301", "\0", "\ud800", "x" * 100_000, "%_'\"\\"])
def test_odd_queries_raise_nothing(query):
    assert len(search([*CITIES, "", " "], query)) <= 10
    assert search([], query) == []


@given(st.lists(TEXT, max_size=30), TEXT)
def test_a_planted_value_is_found_first(others, planted):
    text, score = search([*others, planted], planted)[0]
    assert (text, score) == (planted, 1.0)


@given(st.lists(TEXT, max_size=20), TEXT)
def test_scores_are_those_of_rapidfuzz(texts, query):
    others = set(texts) - {query}
    nearest = max((fuzz.ratio(search_form(query), search_form(text)) for text in others), default=0)
    for text, score in search(others, query):
        whole, parts = (
            f(search_form(query), search_form(text)) / 100 for f in (fuzz.ratio, fuzz.WRatio)
        )
        if whole * 100 < max(nearest, 80):
            assert score == pytest.approx(0.998 * parts + 0.0005 * whole)


def test_the_text_that_is_most_alike_as_a_whole_comes_first():
    others = [f"{n} South Lalder Boulevard" for n in range(100)]
    found = search([*others, "Fasten Lalder"], "Fsatne Lalder")
    assert fuzz.WRatio("fsatne lalder", "1 south lalder boulevard") > fuzz.WRatio(
        "fsatne lalder", "fasten lalder"
    )
    assert found[0][0] == "Fasten Lalder"


@given(st.lists(TEXT, max_size=20))
def test_every_text_has_each_of_its_trigrams_once(texts):
    texts = sorted(set(texts))
    arrays = Trigram().build(texts)
    assert len(arrays["postings"]) == arrays["sizes"].sum()
    keys = [f" {search_form(text)} " for text in texts]
    most = [len({key[n : n + 3] for n in range(len(key) - 2)}) for key in keys]
    assert (arrays["sizes"] <= most).all()  # two trigrams may share a bucket
    assert (arrays["sizes"] >= np.array(most) - 2).all()


def test_texts_of_different_chunks_are_not_confused():
    texts = [f"value {n:05}" for n in range(40_000)]
    assert search(texts, "value 39999")[0] == ("value 39999", 1.0)
    assert search(texts, "value 16384")[0] == ("value 16384", 1.0)
