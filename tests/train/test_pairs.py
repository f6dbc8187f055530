"""Pairs to learn from, the chats that they become, and the three forms in which these are written."""

import json
import re
from collections import Counter
from dataclasses import replace
from types import SimpleNamespace

import pytest

from tests.train.pools import answers
from workbench.benchmarks.load import open_benchmark
from workbench.errors import BadInputError
from workbench.lab import Lab
from workbench.sql.executor import Executor
from workbench.systems.baselines import direct
from workbench.train.export import conversations, write
from workbench.train.pairs import Pairs
from workbench.types import Candidate

SIMPLE = direct("any/model")  # its context is the whole schema, and no model is asked for it


@pytest.fixture(scope="module")
def small(tmp_path_factory, tiny):
    benchmark = open_benchmark("bird-dev", tiny.write_bird(tmp_path_factory.mktemp("bird")))
    with Executor(workers=1) as executor:

        def pool(*generators):
            given = {name: answers(benchmark)[name] for name in generators}
            return {
                q.id: tuple(Candidate(given[n][q.id], n) for n in given if q.id in given[n])
                for q in benchmark.questions
            }

        yield SimpleNamespace(
            lab=Lab(None, executor, benchmark.database), benchmark=benchmark, pool=pool
        )


def made(small, *generators, **settings):
    return list(Pairs(SIMPLE, **settings)(small.lab, small.benchmark, small.pool(*generators)))


def right_of(pair):
    return pair.first if pair.right == "A" else pair.second


def test_the_right_group_meets_each_wrong_one_once(small):
    pairs = made(small, "poor", "good", "poorer")
    assert len(pairs) == 12
    assert {right_of(pair).candidate.generator for pair in pairs} == {"good"}
    assert all(pair.first.execution != pair.second.execution for pair in pairs)


def test_the_order_in_a_pair_is_drawn_by_the_seed(small):
    letters = "".join(pair.right for pair in made(small, "poor", "good"))
    assert letters == "".join(pair.right for pair in made(small, "poor", "good"))
    assert letters != "".join(pair.right for pair in made(small, "poor", "good", seed=1))
    assert min(Counter(letters)["A"], Counter(letters)["B"]) > 1


def test_gold_is_the_right_candidate_where_there_is_no_other_and_it_is_asked_for(small):
    pairs = made(small, "poor", hinted=False, gold=True)
    assert len(pairs) == 12
    assert {right_of(pair).candidate.generator for pair in pairs} == {"gold"}
    assert made(small, "poor", hinted=False) == []


def test_where_no_candidate_is_right_the_generators_get_gold_as_a_hint(small):
    def generate(lab, context):
        hint = r"hint .*A query that answers the question: (.*)"  # after the question's own
        hinted = re.search(hint, context.question.evidence)
        return (Candidate(hinted[1], "guided"), Candidate("SELECT 'no'", "guided"))

    system = replace(SIMPLE, generate=(generate, lambda *_: ()))
    pairs = list(Pairs(system)(small.lab, small.benchmark, small.pool("poor")))
    assert len(pairs) == 12
    assert {right_of(pair).candidate.generator for pair in pairs} == {"guided"}
    assert all("A query that answers" not in pair.context.question.evidence for pair in pairs)
    failing = replace(SIMPLE, generate=(lambda *_: (),))
    assert list(Pairs(failing)(small.lab, small.benchmark, small.pool("poor"))) == []


def test_a_conversation_is_the_judges_prompt_and_its_answer(small):
    pairs = made(small, "poor", "good")
    for pair, talk in zip(pairs, conversations(small.lab, pairs), strict=True):
        question = pair.context.question
        about = (talk.question_id, talk.db_id, talk.agent)
        assert about == (question.id, question.db_id, "select/pairwise")
        system, asked, answer = talk.messages
        assert [one["role"] for one in (system, asked, answer)] == ["system", "user", "assistant"]
        assert answer["content"] == pair.right
        shown = re.findall(r"Query:\n```sql\n(.*?)\n```", asked["content"], re.DOTALL)
        assert shown == [pair.first.candidate.sql, pair.second.candidate.sql]


def test_a_prompt_shows_the_union_of_the_schemas_that_the_two_queries_use(small):
    pair = next(p for p in made(small, "poor", "good") if p.context.question.id == "5")
    (talk,) = conversations(small.lab, [pair])
    _, asked, _ = talk.messages
    schema = re.search(r"```sql\n(CREATE.*?)```", asked["content"], re.DOTALL)[1]
    assert "label" in schema
    assert "price" in schema


def test_each_form_has_what_its_reader_takes(small, tmp_path):
    talk = next(conversations(small.lab, made(small, "poor", "good")))
    system, asked, answer = talk.messages
    messages = {"messages": list(talk.messages)}
    named = {"question_id": talk.question_id, "db_id": talk.db_id, "agent": "select/pairwise"}
    told = {"role": "system", "parts": [{"text": system["content"]}]}
    said = [("user", asked["content"]), ("model", answer["content"])]
    contents = [{"role": role, "parts": [{"text": text}]} for role, text in said]
    gemini = {"systemInstruction": told, "contents": contents}
    for form, wanted in {
        "openai": messages,
        "huggingface": named | messages,
        "gemini": gemini,
    }.items():
        assert write([talk, talk], tmp_path / "pairs.jsonl", form) == 2
        lines = (tmp_path / "pairs.jsonl").read_text().splitlines()
        assert [json.loads(line) for line in lines] == [wanted] * 2


def test_a_file_that_cannot_be_written_is_refused(tmp_path):
    with pytest.raises(BadInputError, match="No such file"):
        write([], tmp_path / "nowhere" / "pairs.jsonl", "openai")
