"""The samples of one prompt are one row with the different answers and their numbers."""

from dataclasses import replace

from workbench.explore.prompt.repeats import answer_option, answers, call_option, grouped
from workbench.explore.prompt.steps import record
from workbench.systems.generate import Generate


def recorded(zoo, *replies):
    first = Generate("generate/direct", "m/x", 0.5, 3, data={"think": False})
    second = Generate("generate/query_plan", "m/x", 0.5, data={"shots": 0})
    system = replace(zoo.system, generate=(first, second))
    zoo.model.replies.extend(replies)
    return record(system, zoo.questions[0], zoo.lab, pay=bool(replies)).steps


def test_the_samples_of_a_prompt_are_one_group(zoo):
    steps = recorded(zoo, "SELECT 1", "SELECT 1", "SELECT 1", "SELECT 1")
    assert grouped(steps) == [[0, 1, 2], [3]]


def test_different_answers_are_counted_the_most_frequent_first(zoo):
    steps = recorded(zoo, "SELECT 2", "```sql\nSELECT 1\n```", "SELECT  1", "SELECT 3")
    found = answers(zoo.lab.client, steps, [0, 1, 2])
    assert {text: len(same) for text, same in found.items()} == {"SELECT 1": 2, "SELECT 2": 1}
    assert [answer_option(text, len(same)) for text, same in found.items()] == [
        "2 times: SELECT 1",
        "1 time: SELECT 2",
    ]
    option = call_option(1, steps[0], found)
    assert option == "1 · generate/direct · 3 samples, 2 different answers · cached"


def test_a_call_without_a_cached_reply_says_so(zoo):
    steps = recorded(zoo)
    found = answers(zoo.lab.client, steps, [0])
    assert call_option(1, steps[0], found) == "1 · generate/direct · not cached"
    assert answer_option("", 1) == "1 time: not cached"
