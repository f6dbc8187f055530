import random

import datasketch
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.errors import BadInputError
from workbench.retrieve.index.minhash import MinHash, ranked
from workbench.retrieve.index.packed import Texts, pack

CHESS = MinHash()
KINDS = [
    CHESS,
    MinHash(scheme="affine32"),
    MinHash(scheme="affine64"),
    MinHash(128, 3, 0.5),
    MinHash(30, 2, 0.2, "affine32"),
    MinHash(300, 1, 0.7),
]
LETTERS = "abcdeé 日"
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)


def made(count, seed=1):
    chance = random.Random(seed)
    return sorted({"".join(chance.choices(LETTERS, k=chance.randint(3, 20))) for _ in range(count)})


def sketch(text, kind):
    """What the papers' code makes of a text; of a short one, itself."""
    found = datasketch.MinHash(kind.permutations, scheme=kind.scheme)
    starts = range(len(text) - kind.ngram + 1)
    for gram in [text[n : n + kind.ngram] for n in starts] or [text]:
        found.update(gram.encode())
    return found


def search(texts, query, limit=10, kind=CHESS):
    arrays = kind.build(texts) | pack(texts)
    numbers, scores = kind.search(arrays, Texts(arrays), query, limit)
    return {texts[number]: score for number, score in zip(numbers, scores, strict=True)}


@pytest.mark.parametrize("kind", KINDS, ids=repr)
def test_signatures_are_datasketchs_own_to_the_bit(kind):
    texts = [*made(150), "TX", "x", "", "a\0b", "İstanbul", "x" * 200]
    ranks, hashes = ranked(texts, kind)
    ours = np.stack([known[rank] for known, rank in zip(hashes, ranks, strict=True)], axis=1)
    theirs = [sketch(text, kind).hashvalues for text in texts]
    assert ours.dtype == theirs[0].dtype
    assert (ours == np.stack(theirs)).all()


@pytest.mark.parametrize("kind", KINDS, ids=repr)
def test_candidates_and_scores_are_those_of_datasketchs_lsh(kind):
    texts = made(200)
    sketches = {text: sketch(text, kind) for text in texts}
    lsh = datasketch.MinHashLSH(kind.threshold, kind.permutations)
    for text, its in sketches.items():
        lsh.insert(text, its)
    for query in [*made(5, seed=2), *texts[::40]]:
        its = sketch(query, kind)
        expected = {text: its.jaccard(sketches[text]) for text in lsh.query(its)}
        assert search(texts, query, len(texts), kind) == expected
        best = sorted(expected.values())[-10:]
        assert search(texts, query, 10, kind) == {
            text: score for text, score in expected.items() if score >= best[0]
        }


@given(st.lists(TEXT, max_size=20), TEXT)
def test_a_planted_value_has_the_highest_score(others, planted):
    assert search(sorted({*others, planted}), planted)[planted] == 1.0


def test_short_texts_have_different_signatures():
    assert search(["CA", "NY", "TX"], "TX") == {"TX": 1.0}


@pytest.mark.parametrize("query", ["", "\ud800\udfff", "x" * 10_000])
def test_odd_queries_raise_nothing(query):
    assert search(["a", "some text"], query) == {}
    assert search([], query) == {}


def test_texts_of_different_chunks_are_not_confused():
    texts = [f"value {n:05}" for n in range(5_000)]
    assert search(texts, "value 04999")["value 04999"] == 1.0


def test_ngrams_longer_than_the_hash_distinguishes_are_an_error():
    with pytest.raises(BadInputError, match=r"ngram is 30: .* at most 6"):
        MinHash(ngram=30).build(["".join(map(chr, range(1000)))])
