"""Words are known again in other forms, in names and in abbreviations."""

import pytest

from workbench.english.words import alike, name_words, stem, tokens


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("cities", "city"),
        ("located", "location"),
        ("classes", "class"),
        ("born", "birth"),
        ("ships", "ship"),
    ],
)
def test_forms_of_a_word_have_one_stem(one, other):
    assert stem(one) == stem(other)


@pytest.mark.parametrize("name", ["first_name", "FirstName", "First Name", "firstName"])
def test_a_name_s_words_are_found_however_it_is_written(name):
    assert name_words(name) == (stem("first"), stem("name"))


@pytest.mark.parametrize(
    ("word", "name"),
    [("quantity", "qty"), ("country", "countryname"), ("status", "st"), ("maker", "make")],
)
def test_abbreviations_and_parts_are_alike_but_not_the_same(word, name):
    assert 0 < alike(word, name) < 1


def test_words_that_only_begin_alike_are_not():
    assert alike("ship", "shop") == alike("price", "pilot") == 0


def test_quotations_numbers_and_capitals_are_marked():
    found = {t.low: t for t in tokens("Did St Mary's 'red clover' cost 1,200.50 in the U.K.?")}
    assert (found["red"].quoted, found["cost"].quoted) == (1, 0)
    assert found["1,200.50"].number == 1200.5
    assert found["mary"].capital
    assert not found["did"].capital
    assert found["uk"].text == "UK"
