"""Pairs to learn from, the chats that they become, and the three forms in which these are written."""

import json
import re
from collections import Counter
from dataclasses import replace
from types import SimpleNamespace

import pytest

from tests.train.pools import answers
from workbench.benchmarks.benchmark import open_benchmark
from workbench.errors import BadInputError
from workbench.lab import Lab
from workbench.sql.executor import Executor
from workbench.systems.baselines import direct
from workbench.train.data import Pairs, write
from workbench.types import Candidate

# Its context is the whole schema, and no model is asked for it.
SIMPLE = direct("any/model")


@pytest.fixture(scope="module")
def small(tmp_path_factory, tiny):
    benchmark = open_benchmark(
        "bird-dev", tiny.write_bird(tmp_path_factory.mktemp("bird"))
    )
    with Executor(workers=1) as executor:

        def pool(*generators):
            given = {name: answers(benchmark)[name] for name in generators}
            return {
                q.id: tuple(
                    Candidate(given[n][q.id], n) for n in given if q.id in given[n]
                )
                for q in benchmark.questions
            }

        yield SimpleNamespace(
            lab=Lab(None, executor, benchmark.database), benchmark=benchmark, pool=pool
        )


def made(small, *generators, **settings):
    return list(
        Pairs(SIMPLE, **settings)(small.lab, small.benchmark, small.pool(*generators))
    )


def shown(talk):
    """The two queries of the judge's prompt."""
    return re.findall(
        r"Query:\n```sql\n(.*?)\n```", talk.messages[1]["content"], re.DOTALL
    )


def letters(talks):
    return "".join(talk.messages[-1]["content"] for talk in talks)


def right_of(talk):
    return shown(talk)["AB".index(letters([talk]))]


def test_the_right_group_meets_each_wrong_one_once(small):
    talks = made(small, "poor", "good", "poorer")
    assert len(talks) == 12
    good, wrong = (answers(small.benchmark)[name] for name in ("good", "poor"))
    for talk in talks:
        assert talk.agent == "select/pairwise"
        assert [one["role"] for one in talk.messages] == ["system", "user", "assistant"]
        assert right_of(talk) == good[talk.question_id]
        both = {good[talk.question_id].lower(), wrong[talk.question_id].lower()}
        assert {sql.lower() for sql in shown(talk)} == both


def test_the_order_in_a_pair_is_drawn_by_the_seed(small):
    drawn = letters(made(small, "poor", "good"))
    assert drawn == letters(made(small, "poor", "good"))
    assert drawn != letters(made(small, "poor", "good", seed=1))
    assert min(Counter(drawn)["A"], Counter(drawn)["B"]) > 1


def test_gold_is_the_right_candidate_where_there_is_no_other_and_it_is_asked_for(small):
    talks = made(small, "poor", hinted=False, gold=True)
    golds = small.benchmark.golds
    assert [right_of(talk) for talk in talks] == [
        golds[talk.question_id].sql for talk in talks
    ]
    assert len(talks) == 12
    assert made(small, "poor", hinted=False) == []


def test_where_no_candidate_is_right_the_generators_get_gold_as_a_hint(small):
    def generate(lab, context):
        hint = r"hint .*A query that answers the question: (.*)"  # after the question's own
        hinted = re.search(hint, context.question.evidence)
        return (Candidate(f"{hinted[1]} -- guided", "g"), Candidate("SELECT 'no'", "g"))

    system = replace(SIMPLE, generate=(generate, lambda *_: ()))
    talks = list(Pairs(system)(small.lab, small.benchmark, small.pool("poor")))
    assert len(talks) == 12
    assert all(right_of(talk).endswith("-- guided") for talk in talks)
    assert not any(
        "A query that answers" in talk.messages[1]["content"] for talk in talks
    )
    failing = replace(SIMPLE, generate=(lambda *_: (),))
    assert list(Pairs(failing)(small.lab, small.benchmark, small.pool("poor"))) == []


def test_a_prompt_shows_the_union_of_the_schemas_that_the_two_queries_use(small):
    (talk,) = (talk for talk in made(small, "poor", "good") if talk.question_id == "5")
    schema = re.search(
        r"```sql\n(CREATE.*?)```", talk.messages[1]["content"], re.DOTALL
    )[1]
    assert "label" in schema
    assert "price" in schema


def test_each_form_has_what_its_reader_takes(small, tmp_path):
    talk = made(small, "poor", "good")[0]
    system, asked, answer = talk.messages
    messages = {"messages": list(talk.messages)}
    named = {
        "question_id": talk.question_id,
        "db_id": talk.db_id,
        "agent": "select/pairwise",
    }
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
