"""JSON as models write it: whatever can be read is read, and nothing raises."""

import time

import pytest

from workbench.llm.replies import answer_of, read_list, read_member, read_object, read_values

OBJECTS = {
    '{"a": 1}': {"a": 1},
    'Sure! Here it is:\n```json\n{"a": ["b"]}\n```\nAnything else?': {"a": ["b"]},
    '{"a": 1,}': {"a": 1},
    '{"a": ["b",], "c": {"d": 1,},}': {"a": ["b"], "c": {"d": 1}},
    "{'a': 'it\\'s', 'b': True, 'c': None}": {"a": "it's", "b": True, "c": None},
    "{'a': ['owner's name', 'b']}": {"a": ["owner's name", "b"]},
    '{"a": "first line\nsecond line"}': {"a": "first line\nsecond line"},
    "{“a”: “b”}": {"a": "b"},
    'Of {x, y} I take {"a": 1}': {"a": 1},
    '<think>{"a": 0, "b": 0}</think>{"a": 1}': {"a": 1},
    '{"draft": 1} and then {"final": 1, "more": 2}': {"final": 1, "more": 2},
    '{"a": "True"}': {"a": "True"},
    "": {},
    "I cannot say.": {},
    "[1, 2]": {},
    '{"a": ': {},
}


@pytest.mark.parametrize("reply", OBJECTS)
def test_the_object_of_a_reply(reply):
    assert read_object(reply) == OBJECTS[reply]


LISTS = {
    '["a", "b"]': ["a", "b"],
    "The list is ['a', 'b'].": ["a", "b"],
    'By [1]: ["a", "b"]': ["a", "b"],
    '["a", "b",]': ["a", "b"],
    '{"tables": ["a"]}': ["a"],
    "a, b": [],
    '["a", ': [],
}


@pytest.mark.parametrize("reply", LISTS)
def test_the_list_of_a_reply(reply):
    assert read_list(reply) == LISTS[reply]


MEMBERS = {
    '{"relevant": "no"}': "no",
    '{"Relevant": "No"}': "No",
    '{"reasoning": "it is the "name" column", "relevant": "no"}': "no",
    '{"reasoning": "cut off, but late", "relevant": "no"': "no",
    "Reasoning: none. Relevant: no.": "no",
    "**Relevant**: no": "no",
    '{"relevant": "yes", "reasoning": "not that it said relevant: no"}': "yes",
    "It is irrelevant: yes": None,
    "relevant": None,
    "": None,
}


@pytest.mark.parametrize("reply", MEMBERS)
def test_a_member_by_its_name(reply):
    assert read_member(reply, "relevant") == MEMBERS[reply]


VALUES = {
    '{"a": 1}\n{"b": {"c": 2}}': [{"a": 1}, {"b": {"c": 2}}],
    'By [1] and {x}: {"a": ["b"]} or ["c"]': [[1], {"a": ["b"]}, ["c"]],
    '<think>{"a": 0}</think>{"a": 1}': [{"a": 1}],
    '{"a": 1} [{"b": 2}, {"c': [{"a": 1}, '[{"b": 2}, {"c', {"b": 2}, '{"c'],
    '{"a": "the "x"", "b": [2]}': ['{"a": "the "x"", "b": [2]}', [2]],
    "[a, b]": [],
    "": [],
}


@pytest.mark.parametrize("reply", VALUES)
def test_all_values_of_a_reply_and_where_one_cannot_be_read(reply):
    assert read_values(reply) == VALUES[reply]


def test_however_many_values_there_are():
    assert len(read_values('{"a": {"b": 1}}\n' * 100)) == 100


def test_what_was_only_thought_is_no_answer():
    assert answer_of("<think>no</think>yes<think>no") == "yes"


def test_a_member_that_is_whole_where_its_object_is_not():
    reply = '{"reasoning": "the "old" tables: none", "tables": ["a", "b"], "more": ['
    assert read_member(reply, "tables") == ["a", "b"]


def test_a_member_of_an_inner_object():
    assert read_member('{"answer": {"tables": ["a"]}}', "tables") == ["a"]


@pytest.mark.parametrize(
    "reply",
    [
        "[" * 100_000,
        "{" * 50_000 + "}" * 50_000,
        '{"a":' * 20_000,
        "['a'," * 20_000,
        "a: " * 30_000,
    ],
    ids=["open", "nested", "deep", "python", "labels"],
)
def test_no_reply_takes_long(reply):
    begun = time.process_time()
    read_object(reply)
    read_list(reply)
    read_values(reply)
    read_member(reply, "a")
    assert time.process_time() - begun < 5
