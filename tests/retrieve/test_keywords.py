"""Whatever a model replies, the question's own names are looked up, and each keyword once."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.retrieve.fakes import scripted_lab
from workbench.llm.faults import Refusal
from workbench.replies.keywords import read_keywords as listed_keywords
from workbench.retrieve.keywords import MOST, Keywords, distinct, named, spoken
from workbench.types import Question


def read_keywords(reply, asked):
    """The keywords that are looked up for a reply."""
    return distinct(listed_keywords(reply, asked))[:MOST]


ASKED = "How many free meals did Alameda County serve? free meals refers to kind = 'FM'"


@pytest.mark.parametrize(
    "reply",
    [
        '["Alameda County", "free meals"]',
        "['Alameda County', 'free meals']",
        '```json\n[\n  "Alameda County",\n  "free meals"\n]\n```',
        "```python\nkeywords = ['Alameda County', \"free meals\"]\n```",
        "Here they are, as in [1]: ['Alameda County', 'free meals']. Anything else?",
        "<think>perhaps [\"meals\"]</think>['Alameda County', 'free meals']",
        '{"reasoning": "see [1]", "keywords": ["Alameda County", "free meals"]}',
        '{"keywords": ["Alameda County"], "phrases": ["free meals"]}',
        '{"keywords": "Alameda County, free meals"}',
        '[{"keyword": "Alameda County", "type": "place"}, {"keyword": "free meals"}]',
        "[['Alameda County'], ['free meals']]",
        '["Alameda County", "free meals", "unfinish',
        '["Alameda County", "free meals",]',
        "1. Alameda County\n2. **free meals**\n",
        "- `Alameda County`\n- free meals: what was served",
        "Alameda County, free meals",
        "Keywords: Alameda County; free meals",
        "[Alameda County, free meals]",
    ],
)
def test_a_reply_of_any_shape_is_read(reply):
    assert read_keywords(reply, ASKED) == ("Alameda County", "free meals")


def test_an_apostrophe_ends_no_keyword():
    assert read_keywords("['Women's League', 'b']", "") == ("Women's League", "b")


@pytest.mark.parametrize(
    "reply",
    ["", "[]", "null", "I'm sorry, but I can't help with that.", "[" * 50_000, "No [1] [2]."],
)
def test_a_reply_without_keywords_gives_none(reply):
    began = time.process_time()
    assert read_keywords(reply, ASKED) == ()
    assert time.process_time() - began < 20


@given(st.text(max_size=300))
def test_reading_any_reply_raises_nothing(reply):
    assert all(isinstance(keyword, str) and keyword for keyword in read_keywords(reply, ASKED))


def test_a_reply_that_never_ends_gives_a_bounded_number():
    assert len(read_keywords(str([f"word {n}" for n in range(5000)]), "")) == 60


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


def test_names_come_first_then_the_models_keywords_then_other_words(tmp_path):
    question = Question("1", "d", "which town of Kent has a treasurer?")
    with scripted_lab(tmp_path, ['["town"]']) as (lab, _):
        assert Keywords("maker/model")(lab, question) == ("Kent", "town", "treasurer")


@pytest.mark.parametrize("reply", [Refusal("server", "down"), "no idea", '["nonsense"]'])
def test_a_bad_reply_never_loses_the_question(tmp_path, reply):
    question = Question("1", "d", "which town of Kent has a treasurer?")
    with scripted_lab(tmp_path, [reply]) as (lab, _):
        assert set(spoken(question)) <= set(Keywords("maker/model")(lab, question))
