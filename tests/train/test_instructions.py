"""MAC-SQL's agent-instruction data: the calls behind right answers, and no others."""

import json
from contextlib import contextmanager
from dataclasses import replace

import pandas as pd
import pytest

from workbench.benchmarks.benchmark import open_benchmark
from workbench.benchmarks.predictions import COLUMNS
from workbench.evaluate.judge import judge
from workbench.lab import Lab
from workbench.llm.cache import Cache
from workbench.llm.client import Client
from workbench.llm.send import scripted
from workbench.sql.executor import Executor
from workbench.systems.mac_sql import mac_sql
from workbench.systems.system import solve
from workbench.train.data import instructions, write

RIGHT = "Sub question 1: ...\n```sql\nSELECT count(*) FROM {}\n```"
TABLES = {"zoo": "animal", "shop": "item", "pond": "fish"}


class Counting:
    """A model that answers each question by counting the rows of its table."""

    def __init__(self):
        self.calls = 0

    async def __call__(self, request, *more):
        self.calls += 1
        table = next(
            t
            for t in TABLES.values()
            if f"# Table: {t}" in request.messages[1]["content"]
        )
        return await self.reply(RIGHT.format(table), request, *more)

    async def reply(self, text, *more):
        return await scripted([text])(*more)


@pytest.fixture
def benchmark(tmp_path, tiny):
    return open_benchmark("bird-dev", tiny.write_bird(tmp_path / "bird"))


@pytest.fixture
def lab_of(tmp_path, benchmark, sandbox):
    """A lab with a scripted model; the labs of one test share a cache."""

    @contextmanager
    def lab_of(model, of=benchmark):
        with Cache(tmp_path / "lab.sqlite") as store:
            executor = Executor(store, sandbox=sandbox)
            client = Client(store, send=model) if model else Client(store)
            yield Lab(client, executor, of.database)

    return lab_of


def test_the_calls_of_every_agent_behind_right_answers_are_exported_as_chats(
    benchmark, lab_of, tmp_path
):
    class Stumbling(Counting):
        async def __call__(self, request, *more):
            if request.prompt == "generate/decomposer":
                return await self.reply(
                    "```sql\nSELECT count(*) FROM animals\n```", request, *more
                )
            return await super().__call__(request, *more)

    with lab_of(Stumbling()) as lab:
        found = instructions(benchmark, mac_sql("m/x"), lab)
    # Of the four questions about each database the first asks for the count.
    assert [(talk.question_id, talk.db_id, talk.agent) for talk in found] == [
        (number, db_id, agent)
        for number, db_id in (("0", "zoo"), ("4", "shop"), ("8", "pond"))
        for agent in ("generate/decomposer", "fix/refiner")
    ]
    assert write(found, tmp_path / "out.jsonl", "huggingface") == 6
    refined = json.loads((tmp_path / "out.jsonl").read_text().splitlines()[1])[
        "messages"
    ]
    assert [message["role"] for message in refined] == ["system", "user", "assistant"]
    assert refined[-1]["content"] == RIGHT.format("animal")


def test_calls_that_a_run_has_paid_are_not_paid_again(benchmark, lab_of):
    model, system = Counting(), mac_sql("m/x")
    with lab_of(model) as lab:
        for question in benchmark.questions:
            solve(system, question, lab)
        run = model.calls
        assert instructions(benchmark, system, lab)
    assert model.calls == run > 0


def test_a_candidate_that_answers_otherwise_than_the_right_one_is_left_out(
    benchmark, lab_of
):
    class Wavering(Counting):
        async def __call__(self, request, *more):
            if request.sample == 1:
                return await self.reply("```sql\nSELECT 0\n```", request, *more)
            return await super().__call__(request, *more)

    three = replace(
        mac_sql("m/x"), generate=(replace(mac_sql("m/x").generate[0], samples=3),)
    )
    with lab_of(Wavering()) as lab:
        found = instructions(benchmark, three, lab)
    answers = [talk.messages[-1]["content"] for talk in found if talk.db_id == "zoo"]
    assert answers == [RIGHT.format("animal")] * 2


def test_a_reply_that_was_cut_off_is_left_out(benchmark, lab_of):
    class Limited(Counting):
        async def reply(self, text, *more):
            reply = await super().reply(text, *more)
            reply["choices"][0]["finish_reason"] = "length"
            return reply

    with lab_of(Limited()) as lab:
        assert instructions(benchmark, mac_sql("m/x"), lab) == []


def test_of_the_embedded_models_answers_exactly_the_right_ones_are_kept(lab_of):
    train = open_benchmark("bundled-train")
    few = replace(train, questions=train.questions[4:9])
    system = mac_sql()
    with lab_of(None, few) as lab:
        found = instructions(few, system, lab)
        rows = [(q.id, "mac", 0, solve(system, q, lab).sql) for q in few.questions]
        verdicts = judge(few, pd.DataFrame(rows, columns=COLUMNS), lab.executor)
    right = verdicts.loc[verdicts["ex_bird"] == 1.0, "question_id"].tolist()
    assert 0 < len(right) < len(few.questions)
    assert list(dict.fromkeys(talk.question_id for talk in found)) == right
    for question_id in right:
        agents = {talk.agent for talk in found if talk.question_id == question_id}
        assert agents >= {"prune/mac_selector", "generate/decomposer"}
