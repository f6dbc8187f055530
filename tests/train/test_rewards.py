"""Execution accuracy as a reward, and rollouts with verdicts; GRPO takes both."""

import json
from dataclasses import replace

import pytest

import workbench as wb
from workbench.errors import BadInputError
from workbench.lab import Lab
from workbench.llm.cache import Cache
from workbench.llm.client import Client
from workbench.llm.faults import Refusal
from workbench.llm.send import reply_with, scripted
from workbench.replies import final_sql
from workbench.sql.executor import Executor
from workbench.systems.agent import agent
from workbench.systems.baselines import direct
from workbench.train.data import write_lines
from workbench.train.rewards import execution_reward, rollouts

RIGHT = "Think.\n```sql\nSELECT count(*) FROM animal\n```"
WRONG = "```sql\nSELECT 5\n```"


@pytest.fixture(scope="module")
def benchmark(tmp_path_factory, tiny):
    return wb.open_benchmark("bird", tiny.write_bird(tmp_path_factory.mktemp("bird")))


def test_a_right_reply_earns_1_a_wrong_one_0_and_one_without_a_query_the_penalty(
    benchmark, sandbox
):
    reward = execution_reward(
        benchmark, unread=-0.2, executor=Executor(sandbox=sandbox)
    )
    replies = [RIGHT, WRONG, "I do not know.", RIGHT]
    given = {
        "prompts": ["?"] * 4,
        "question_id": [0, "0", "0", 4],
        "trainer_state": None,
    }
    assert reward(completions=replies, **given) == [1.0, 0.0, -0.2, 0.0]
    chats = [[{"role": "assistant", "content": reply}] for reply in replies]
    assert reward(completions=chats, **given) == [1.0, 0.0, -0.2, 0.0]
    assert reward.__name__ == "execution_accuracy"  # by which TRL reports it


def test_the_reply_is_read_as_the_prompt_asks_for_it(benchmark, sandbox):
    reward = execution_reward(benchmark, final_sql, -1.0, Executor(sandbox=sandbox))
    final = "**Final SQL**\n" + RIGHT.partition("\n")[2]
    assert reward(["?"], [final], question_id=["0"]) == [1.0]


@pytest.fixture
def lab_of(tmp_path, benchmark, sandbox):
    def lab_of(*said):
        store = Cache(tmp_path / "lab.sqlite")
        client = (
            Client(store, send=scripted(list(said)))
            if said
            else Client(store, offline=True)
        )
        return Lab(client, Executor(store, sandbox=sandbox), benchmark.database)

    return lab_of


def test_rollouts_are_prompts_and_replies_with_verdicts_and_come_from_the_cache(
    benchmark, lab_of, tmp_path
):
    few = benchmark.limited(1)
    made = rollouts(few, direct("m/x"), lab_of(RIGHT, WRONG), samples=2)
    assert [rollout.correct for rollout in made] == [True, False]
    assert len({rollout.key for rollout in made}) == 2
    assert rollouts(few, direct("m/x"), lab_of(), samples=2) == made
    assert write_lines(made, tmp_path / "out.jsonl") == 2
    first = json.loads((tmp_path / "out.jsonl").read_text().splitlines()[0])
    assert first["completion"] == [{"role": "assistant", "content": RIGHT}]
    assert first["prompt"][-1]["role"] == "user"
    assert (first["question_id"], first["db_id"], first["correct"]) == (
        "0",
        "zoo",
        True,
    )


def test_the_rollout_of_a_reply_that_was_asked_again_holds_the_unread_one(
    benchmark, lab_of
):
    (made,) = rollouts(benchmark.limited(1), direct("m/x"), lab_of("What?", RIGHT))
    assert (made.correct, made.completion[0]["content"]) == (True, RIGHT)
    assert made.prompt[-2]["content"] == "What?"


@pytest.mark.parametrize(
    "failure",
    [
        Refusal("rejected", "no such model"),
        reply_with("SELECT 1", "content_filter", 1, 1),
    ],
)
def test_a_call_that_fails_has_no_rollout(benchmark, lab_of, failure):
    lab = lab_of(failure, RIGHT)
    made = rollouts(benchmark.limited(1), direct("m/x"), lab, samples=2)
    assert [rollout.correct for rollout in made] == [True]


def test_an_agents_rollout_is_its_last_turn(benchmark, lab_of):
    final = f"**Final SQL**\n{RIGHT}"
    (made,) = rollouts(benchmark.limited(1), agent("m/x"), lab_of(WRONG, final))
    assert (made.correct, made.completion[0]["content"]) == (True, final)
    assert made.prompt[-2]["content"] == WRONG


def test_a_generator_without_samples_has_no_rollouts(benchmark, lab_of):
    system = replace(direct("m/x"), generate=(lambda *_: (),))
    with pytest.raises(BadInputError, match=r"use wb\.Generate"):
        rollouts(benchmark, system, lab_of(RIGHT))
