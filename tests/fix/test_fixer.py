"""Algorithm 4: failures and empty results are asked for again, with all that was tried before."""

import sqlite3
from contextlib import closing

import pytest

from workbench.fix.fixer import Fixer
from workbench.lab import Lab
from workbench.llm.cache import Cache
from workbench.llm.client import Client
from workbench.llm.faults import Refusal
from workbench.llm.scripted import scripted
from workbench.sql.executor import Executor
from workbench.types import Candidate, Context, Question, Trial

QUESTION = Question("q1", "zoo", "Which animals have four legs?")
RIGHT = "SELECT name FROM animal WHERE legs = 4"
EMPTY = "SELECT name FROM animal WHERE legs = 'four'"
BROKEN = "SELECT nome FROM animal"


@pytest.fixture
def zoo(tmp_path, sandbox):
    path = tmp_path / "zoo.sqlite"
    with closing(sqlite3.connect(path)) as database:
        database.executescript(
            "CREATE TABLE animal(name TEXT, legs INTEGER); INSERT INTO animal VALUES ('cat', 4);"
        )
    with Cache(tmp_path / "lab.sqlite") as store:
        executor = Executor(store, sandbox=sandbox)

        def fixed(sql, replies, **parameters):
            script = scripted(replies)
            lab = Lab(Client(store, send=script), executor, lambda _: path)
            context = Context(QUESTION, lab.schema("zoo"))
            trial = Trial(Candidate(sql, "direct", 2), executor.execute(path, sql))
            return Fixer("test/model", **parameters)(lab, context, trial), script

        yield fixed


def answer(sql):
    return f"It was wrong.\n\nFinal answer: {sql}"


def test_a_query_with_rows_is_not_repaired(zoo):
    trial, script = zoo(RIGHT, [])
    assert trial.candidate.sql == RIGHT
    assert script.history == []


@pytest.mark.parametrize("sql", [BROKEN, EMPTY])
def test_an_error_and_an_empty_result_are_repaired(zoo, sql):
    trial, _ = zoo(sql, [answer(RIGHT)])
    assert (trial.candidate.sql, trial.execution.status) == (RIGHT, "ok")
    assert trial.repaired_from.candidate.sql == sql


def test_the_repaired_candidate_keeps_generator_sample_and_calls(zoo):
    trial, _ = zoo(BROKEN, [answer(RIGHT)])
    assert (trial.candidate.generator, trial.candidate.sample) == ("direct", 2)
    assert len(trial.candidate.call_keys) == 1


def test_it_stops_after_the_last_attempt_and_keeps_the_history(zoo):
    tries = [EMPTY, "SELECT name FROM animal WHERE legs = 5", "SELECT nom FROM animal"]
    trial, script = zoo(BROKEN, map(answer, [*tries, RIGHT]))
    assert [t.candidate.sql for t in trial.history[:-1]] == [BROKEN, *tries[:2]]
    assert trial.candidate.sql == tries[2]
    assert len(script.history) == 3


def test_the_prompt_shows_earlier_attempts(zoo):
    _, script = zoo(BROKEN, [answer(EMPTY), answer(RIGHT)])
    second = script.history[1].messages[-1]["content"]
    assert second.index(BROKEN) < second.index("no such column: nome") < second.index(EMPTY)


@pytest.mark.parametrize(
    "reply",
    [
        f"The table has no such column.\n\nFinal answer: {RIGHT}",
        f"Final answer: {RIGHT};",
        f"FINAL ANSWER:\n{RIGHT}",
        f"**Final answer:** `{RIGHT}`",
        f"It reads `{BROKEN}`.\n\nFinal answer:\n```sql\n{RIGHT}\n```",
        f"```sql\n{RIGHT}",
        f'{{"analysis": "no such column", "sql": "{RIGHT}"}}',
        f"<think>{EMPTY}</think>{RIGHT}",
        RIGHT,
    ],
)
def test_a_repair_is_read_from_every_form_of_reply(zoo, reply):
    trial, _ = zoo(BROKEN, [reply])
    assert trial.candidate.sql == RIGHT


@pytest.mark.parametrize(
    "reply", ["I cannot help with that.", "", "Final answer:", "{}", '{"sql": null}', "[]"]
)
def test_a_reply_without_sql_ends_the_repairs(zoo, reply):
    trial, script = zoo(BROKEN, [reply or Refusal("rejected", "no")])
    assert trial.candidate.sql == BROKEN
    assert len(script.history) == 1


def test_no_attempts_change_nothing(zoo):
    trial, script = zoo(BROKEN, [], attempts=0)
    assert trial.candidate.sql == BROKEN
    assert script.history == []


@pytest.mark.parametrize(("temperature", "sample"), [(0.0, 0), (0.7, 2)])
def test_at_temperature_0_equal_queries_of_different_samples_share_their_calls(
    zoo, temperature, sample
):
    _, script = zoo(BROKEN, [answer(RIGHT)], temperature=temperature)
    assert script.history[0].parameters["temperature"] == temperature
    assert script.history[0].sample == sample
