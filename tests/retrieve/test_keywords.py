"""The keywords of a question are the model's; without a model, the question's own words."""

import pytest

from tests.retrieve.fakes import scripted_lab
from workbench.llm.faults import Refusal
from workbench.retrieve.keywords import MOST, Keywords, distinct, named, spoken
from workbench.types import Question


def test_quoted_phrases_names_and_codes_name_themselves():
    question = Question("1", "d", 'Did "the old mill" or St. John\'s in Great Holme buy K-12 maps?')
    assert named(question) == ("the old mill", "St. John's", "Great Holme", "K-12")


def test_a_hint_gives_its_literals_with_and_without_quotes():
    hint = (
        "alive refers to st = 'A'; older means age > 60; from the east refers to region = Far East"
    )
    assert {"A", "60", "Far East"} <= set(named(Question("1", "d", "", hint)))


def test_a_like_pattern_is_looked_up_without_its_wildcards():
    assert "survey" in named(Question("1", "d", "", "ours refers to name LIKE '%survey%'"))


def test_a_name_in_a_script_without_capitals_is_found():
    assert "東京" in named(Question("1", "d", "show 東京 please"))


def test_without_a_model_every_run_of_content_words_is_looked_up():
    question = Question("1", "d", "who is the treasurer of the bee keepers?")
    assert spoken(question) == ("treasurer", "bee keepers")


def test_a_keyword_counts_once_however_it_is_written():
    assert distinct(["São Paulo", "'sao paulo'", " SAO  PAULO. ", "??"]) == ("São Paulo",)


def test_the_model_is_asked_with_question_and_hint(tmp_path):
    question = Question("1", "d", "which town?", "town refers to place")
    with scripted_lab(tmp_path, ['["town"]']) as (lab, model):
        Keywords("maker/model", temperature=0.1)(lab, question)
    (request,) = model.history
    assert request.prompt == "retrieve/keywords"
    assert request.parameters["temperature"] == 0.1
    assert "which town?" in str(request.messages)
    assert "town refers to place" in str(request.messages)


@pytest.mark.parametrize(
    ("reply", "found"),
    [
        ("['Alameda County', 'free meals']", ("Alameda County", "free meals")),
        (str([f"word {n}" for n in range(500)]), tuple(f"word {n}" for n in range(MOST))),
        ("no idea", ()),
        (Refusal("server", "down"), ()),
    ],
)
def test_the_keywords_are_those_of_the_model_alone(tmp_path, reply, found):
    question = Question("1", "d", "which town of Kent has a treasurer?")
    with scripted_lab(tmp_path, [reply, reply]) as (lab, _):
        assert Keywords("maker/model")(lab, question) == found
