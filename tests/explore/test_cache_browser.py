"""The cache browser without a browser: calls are listed, opened and asked again."""

from types import SimpleNamespace

import pytest

from workbench.explore import calls
from workbench.explore.cache_browser import CacheBrowser
from workbench.explore.prompt.steps import record
from workbench.types import Request


@pytest.fixture
def ask(zoo):
    """A reply to each of the texts, by a prompt of that name."""

    def ask(*texts, prompt="p"):
        return zoo.lab.client.complete_many(
            [Request(prompt, "m/x", ({"role": "user", "content": text},), {}) for text in texts]
        )

    return ask


def browse(zoo):
    return CacheBrowser(SimpleNamespace(lab=zoo.lab, benchmark=zoo.benchmark))


def test_the_cache_browser_opens_a_call_and_asks_again(zoo, press):
    record(zoo.system, zoo.questions[0], zoo.lab, pay=True)
    browser = browse(zoo)
    assert "Call of generate/direct" in browser.call.value
    assert "would cost about" in browser.price.value
    zoo.model.otherwise = "SELECT 2"
    press(browser, "wb-ask-again")
    assert "<td>+</td><td>SELECT 2</td>" in browser.call.value
    browser.text.value = "not in any reply"
    assert browser.call.value == ""
    press(browser, "wb-ask-again")
    assert "no call is chosen" in browser.message.value


def test_an_empty_cache_has_an_empty_list(zoo):
    browser = browse(zoo)
    assert browser.list.options == ()
    assert "No call found." in browser.listed.value
    assert browser.message.value == ""


def test_a_list_that_is_cut_names_the_number_of_calls_and_grows_on_request(
    zoo, ask, monkeypatch, press
):
    monkeypatch.setattr(calls, "LISTED", 2)
    ask(*"abcde")
    browser = browse(zoo)
    assert len(browser.list.options) == 2
    assert "The first 2 of 5 matching" in browser.listed.value
    press(browser, "wb-more")
    assert "The first 4 of 5 matching" in browser.listed.value
    press(browser, "wb-more")
    assert len(browser.list.options) == 5
    assert "All 5 matching" in browser.listed.value


def test_filters_search_calls_that_are_not_listed(zoo, ask, monkeypatch):
    monkeypatch.setattr(calls, "LISTED", 2)
    zoo.model.otherwise = "the oldest"
    (oldest,) = ask("a", prompt="q")
    zoo.model.otherwise = "younger"
    ask(*"bcde")
    browser = browse(zoo)
    assert oldest.key not in dict(browser.list.options).values()
    browser.text.value = "oldest"
    assert browser.list.value == oldest.key
    browser.text.value = ""
    browser.prompt.value = "q"
    assert browser.list.value == oldest.key
    assert "All 1 matching" in browser.listed.value


def test_a_refresh_lists_the_calls_made_since(zoo, ask, press):
    (first,) = ask("a")
    browser = browse(zoo)
    ask("b", prompt="later")
    press(browser, "wb-refresh")
    assert len(browser.list.options) == 2
    assert browser.list.value == first.key
    assert "later" in dict(browser.prompt.options)
    assert "<td>later</td>" in browser.totals.value
    assert "2 calls by prompt and model" in browser.totals.value


def test_a_filter_and_a_call_outlive_a_refresh(zoo, ask, monkeypatch, press):
    monkeypatch.setattr(calls, "LISTED", 1)
    (oldest,) = ask("a")
    ask("b")
    browser = browse(zoo)
    browser.prompt.value = "p"
    press(browser, "wb-more")
    browser.list.value = oldest.key
    ask("c", prompt="later")
    press(browser, "wb-refresh")
    assert (browser.prompt.value, browser.list.value) == ("p", oldest.key)


def test_after_asking_again_list_and_totals_are_those_of_the_new_reply(zoo, ask, press):
    ask("a")
    browser = browse(zoo)
    zoo.model.otherwise = "one two three four"
    press(browser, "wb-ask-again")
    (option,) = dict(browser.list.options)
    assert " + 4 tokens" in option
    assert "<td>4</td>" in browser.totals.value


def test_a_search_without_hits_says_so(zoo, ask):
    ask("a")
    browser = browse(zoo)
    browser.text.value = "nowhere"
    assert "No call found." in browser.listed.value


def test_a_call_carries_its_question_and_leads_to_it(zoo):
    for question in zoo.questions[:2]:
        record(zoo.system, question, zoo.lab, pay=True)
    browser = browse(zoo)
    options = dict(browser.list.options)
    (wanted,) = (text for text in options if "0: zoo, question 0?" in text)
    browser.list.value = options[wanted]
    assert browser._current.picked == (zoo.benchmark.name, "0")


def test_the_calls_of_the_question_that_another_view_picked_are_listed(zoo):
    for question in zoo.questions[:2]:
        record(zoo.system, question, zoo.lab, pay=True)
    browser = browse(zoo)
    browser.of.value = "the current one"
    browser._current.picked = (zoo.benchmark.name, "1")
    (option,) = dict(browser.list.options)
    assert "1: zoo, question 1?" in option
