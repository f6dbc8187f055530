"""LSH answers what datasketch's MinHashLSH answers; spelling finds what is meant, whatever was done to it."""

import datasketch
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.benchmarks.gazetteer import Gazetteer, queries
from workbench.retrieve.values import LSH, Spelling, Values

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


def finder(by, texts):
    """A function that returns the numbers of the texts that a search finds."""
    values = Values(by, by.build(texts), [], texts, [])
    return lambda text, limit: list(by.find(values, text, limit))


def test_lsh_has_the_top_ten_of_minhashlsh():
    search, find = peers(TEXTS), finder(LSH(), TEXTS)
    asked = [text for _, text, _ in queries(MADE, 10)]
    for text in [*asked, "TX", "é", "a text like no other", "x" * 300]:
        assert find(text, 10) == [number for _, number in search(text)]


@given(
    st.lists(st.text(min_size=1, max_size=12), min_size=1, max_size=30, unique=True),
    st.text(),
)
def test_lsh_equals_minhashlsh_on_any_texts(texts, asked):
    texts = sorted(text for text in texts if text.isprintable()) or ["a"]
    asked = "".join(filter(str.isprintable, asked))
    found = finder(LSH(), texts)(asked, 10)
    assert found == [number for _, number in peers(texts)(asked)]


@pytest.mark.parametrize(
    ("sort", "least"),
    [
        ("0 typos", 20),
        ("1 typo", 20),
        ("2 typos", 20),
        ("prefix", 19),
        ("another case", 20),
    ],
)
def test_spelling_finds_what_is_meant(sort, least):
    find = finder(Spelling(), TEXTS)
    asked = [(text, meant) for kind, text, meant in queries(MADE, 20) if kind == sort]
    found = [meant in [TEXTS[n] for n in find(text, 10)] for text, meant in asked]
    assert sum(found) >= least


@given(st.lists(st.text(max_size=12), min_size=1, max_size=20, unique=True), st.data())
def test_an_exact_text_comes_first(texts, data):
    asked = data.draw(st.sampled_from(texts))
    lsh, spelling = (finder(by, texts)(asked, 20) for by in (LSH(), Spelling()))
    assert len(set(lsh)) == len(lsh)
    assert len(set(spelling)) == len(spelling)
    assert texts.index(asked) in lsh
    assert texts.index(asked) == spelling[0]


@pytest.mark.parametrize("asked", ["CA", "Ca", "cA", "ca"])
@pytest.mark.parametrize("limit", [1, 2, 4])
def test_an_equal_text_comes_first_and_others_in_the_order_of_the_texts(asked, limit):
    texts = ["CA", "Ca", "cA", "ca"]
    others = [number for number, text in enumerate(texts) if text != asked]
    numbers = [texts.index(asked), *others]
    assert finder(Spelling(), texts)(asked, limit) == numbers[:limit]


def test_texts_that_are_equally_like_it_stay_in_their_order():
    texts = [f"Bad Em{letter}" for letter in "zaybxcwdve"] * 9
    assert finder(Spelling(), texts)("Bad Em!", 7) == list(range(7))


def test_a_text_without_a_common_letter_is_not_found():
    assert finder(Spelling(), ["xyz", "ab"])("a", 10) == [1]
