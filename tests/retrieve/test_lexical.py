"""The similarity that needs no model."""

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.retrieve.lexical import Lexical, words

TEXTS = ["school of music", "school of law", "school of medicine", "date of birth"]


def similarity(query, text, **options):
    return float(Lexical()(None, [query], [text], **options)[0, 0])


def test_equal_texts_are_wholly_alike_and_texts_without_a_common_letter_are_not():
    assert similarity("Alameda High", "alameda HIGH") == pytest.approx(1)
    assert similarity("Alameda", "Fresno") == 0


def test_a_shared_word_counts_more_than_a_shared_beginning():
    assert similarity("Alameda", "Alameda High") > similarity("Alameda", "Alamo")


def test_other_forms_of_a_word_are_somewhat_alike():
    assert 0.25 < similarity("translation", "translations") < 1


def test_words_are_without_case_accents_and_marks():
    assert words("São-Paulo, (K_12)!") == ["sao", "paulo", "k", "12"]


def test_in_a_collection_a_word_that_all_texts_share_counts_little():
    alone = Lexical()(None, ["school music"], TEXTS)[0]
    whole = Lexical()(None, ["school music"], TEXTS, collection=True)[0]
    assert whole[1] < alone[1]
    assert whole.argmax() == 0


def test_there_is_a_row_for_each_query_and_a_column_for_each_text():
    assert Lexical()(None, ["a", "b"], TEXTS).shape == (2, 4)
    assert Lexical()(None, [], TEXTS).shape == (0, 4)
    assert Lexical()(None, ["a"], []).shape == (1, 0)


@given(st.lists(st.text(max_size=30), max_size=5), st.lists(st.text(max_size=30), max_size=5))
def test_every_similarity_is_between_0_and_1(queries, texts):
    scores = Lexical()(None, queries, texts, collection=True)
    assert np.all((scores >= 0) & (scores <= 1))


def test_four_thousand_descriptions_do_not_grow_quadratically():
    texts = [f"column {n} holds the {n * 7919 % 10007} of a thing measured" for n in range(4337)]
    queries = [f"measured {n}" for n in range(20)]
    Lexical()(None, queries, texts, collection=True)
    began = time.process_time()
    Lexical()(None, queries, texts, collection=True)
    assert time.process_time() - began < 10
