"""CHESS's revise and MAC-SQL's Refiner: when they ask, what they show, when they stop, what they keep."""

import sqlite3
from contextlib import closing
from dataclasses import replace

import pytest

from workbench.fix.fixer import Fixer
from workbench.fix.refiner import Refiner, describe
from workbench.fix.reviser import Reviser
from workbench.lab import Lab
from workbench.llm.cache import Cache
from workbench.llm.client import Client
from workbench.llm.faults import Refusal
from workbench.llm.scripted import scripted
from workbench.sql.executor import Executor
from workbench.types import Candidate, Context, Execution, Question, Trial

QUESTION = Question("q1", "zoo", "Which animals have four legs?")
RIGHT = "SELECT name FROM animal WHERE legs = 4"
OTHER = "SELECT name, legs FROM animal WHERE legs = 4"
EMPTY = "SELECT name FROM animal WHERE legs = 'four'"
BROKEN = "SELECT nome FROM animal"
NULL = "SELECT MAX(legs) FROM animal WHERE legs = 9"
BOTH = [Reviser("test/model"), Refiner("test/model")]


@pytest.fixture
def repair(tmp_path, sandbox):
    """`repair(step, sql, replies)`: the trial that comes of it, and what was asked."""
    path = tmp_path / "zoo.sqlite"
    with closing(sqlite3.connect(path)) as database:
        database.executescript(
            "CREATE TABLE animal(name TEXT, legs INTEGER); INSERT INTO animal VALUES ('cat', 4);"
        )
    with Cache(tmp_path / "lab.sqlite") as store:
        executor = Executor(store, sandbox=sandbox)

        def repair(step, sql, replies, sample=2):
            script = scripted(replies)
            lab = Lab(Client(store, send=script), executor, lambda _: path)
            context = Context(QUESTION, lab.schema("zoo"))
            trial = Trial(Candidate(sql, "g", sample), executor.execute(path, sql))
            return step(lab, context, trial), script.history

        yield repair


def chain(trial):
    return [tried.candidate.sql for tried in trial.history]


@pytest.mark.parametrize("step", BOTH)
def test_a_query_with_rows_is_not_repaired(repair, step):
    trial, asked = repair(step, RIGHT, [])
    assert chain(trial) == [RIGHT]
    assert asked == []


@pytest.mark.parametrize("step", BOTH)
@pytest.mark.parametrize("sql", [BROKEN, EMPTY, ""])
def test_failed_and_empty_queries_are_repaired(repair, step, sql):
    trial, asked = repair(step, sql, [f"```sql\n{RIGHT}\n```"])
    assert chain(trial) == [sql, RIGHT]
    assert trial.execution.status == "ok"
    assert len(asked) == 1
    assert (trial.candidate.generator, trial.candidate.sample) == ("g", 2)


@pytest.mark.parametrize("step", [Reviser, Refiner, Fixer])
@pytest.mark.parametrize(
    ("suspect", "repaired"),
    [("failed", {BROKEN}), ("empty", {BROKEN, EMPTY}), ("nulls", {BROKEN, EMPTY, NULL})],
)
def test_what_is_repaired_is_a_field(repair, step, suspect, repaired):
    for sql in (RIGHT, BROKEN, EMPTY, NULL):
        trial, asked = repair(step("test/model", suspect=suspect), sql, [f"```sql\n{RIGHT}\n```"])
        assert len(asked) == (sql in repaired)
        assert trial.candidate.sql == (RIGHT if sql in repaired else sql)


@pytest.mark.parametrize("step", [Reviser, Refiner, Fixer])
def test_a_result_of_only_nulls_is_repaired_unless_told_otherwise(repair, step):
    _, asked = repair(step("test/model"), NULL, [f"```sql\n{RIGHT}\n```"])
    assert "`MAX(legs)`\nNULL" in asked[0].messages[1]["content"]


@pytest.mark.parametrize("step", BOTH)
def test_a_null_among_other_values_is_no_reason_to_repair(repair, step):
    _, asked = repair(step, "SELECT name, NULL FROM animal", [])
    assert asked == []


@pytest.mark.parametrize("step", BOTH)
def test_a_query_with_values_is_kept_before_one_of_only_nulls(repair, step):
    trial, _ = repair(replace(step, suspect="nulls"), EMPTY, [NULL, BROKEN, BROKEN])
    assert chain(trial) == [EMPTY, NULL, BROKEN, NULL]


@pytest.mark.parametrize("step", BOTH)
def test_the_prompt_shows_the_query_and_its_result(repair, step):
    _, asked = repair(step, BROKEN, [RIGHT])
    text = asked[0].messages[1]["content"]
    assert f"## Query\n```sql\n{BROKEN}\n```" in text
    assert "Error: no such column: nome" in text


def test_the_refiners_prompt_names_the_exception_class(repair):
    _, asked = repair(Refiner("test/model"), BROKEN, [RIGHT])
    assert "Exception class: sqlite3.OperationalError" in asked[0].messages[1]["content"]
    assert "Exception" not in describe(Execution("empty", ("name",)))


def test_the_word_error_in_a_query_does_not_hide_its_error(repair):
    trial, _ = repair(Refiner("test/model"), "SELECT error FROM animal", [RIGHT])
    assert trial.candidate.sql == RIGHT


@pytest.mark.parametrize("step", BOTH)
def test_there_are_three_tries_and_the_last_is_run(repair, step):
    tries = [f"SELECT name FROM animal WHERE legs = {n}" for n in (5, 6, 7, 8)]
    trial, asked = repair(step, BROKEN, tries)
    assert chain(trial) == [BROKEN, *tries[:3]]
    assert trial.execution.status == "empty"
    assert len(asked) == 3


@pytest.mark.parametrize("step", BOTH)
def test_if_all_tries_do_worse_the_first_query_returns_with_the_whole_history(repair, step):
    tries = ["SELECT a FROM animal", "SELECT b FROM animal", "SELECT c FROM animal"]
    trial, _ = repair(step, EMPTY, tries)
    assert chain(trial) == [EMPTY, *tries, EMPTY]
    assert trial.execution.status == "empty"
    assert len(trial.candidate.call_keys) == 3


@pytest.mark.parametrize("step", BOTH)
@pytest.mark.parametrize(
    "reply", ["", "I cannot.", "{}", '{"sql": null}', BROKEN, "select  NOME from animal"]
)
def test_a_reply_without_another_query_ends_the_repairs_and_keeps_the_query(repair, step, reply):
    trial, asked = repair(step, BROKEN, [reply or Refusal("rejected", "no")])
    assert chain(trial) == [BROKEN]
    assert len(asked) == 1


@pytest.mark.parametrize(
    "reply",
    [
        f'{{"reasoning": "legs is a number", "sql": "{RIGHT}"}}',
        f'```json\n{{"reasoning": "the "legs"", "sql": "{RIGHT}"}}\n```',
        f"{{'sql': '{RIGHT}'}}",
        f"```sql\n{RIGHT};\n```",
        RIGHT,
    ],
)
def test_a_revision_is_read_from_every_form_of_reply(repair, reply):
    trial, _ = repair(Reviser("test/model"), EMPTY, [reply])
    assert trial.candidate.sql == RIGHT


@pytest.mark.parametrize(
    "reply",
    [
        RIGHT,
        f"```sql\n{RIGHT}\n```",
        f"There is no column nome.\n```SQL\n{RIGHT};\n```\nNow it runs.",
        f"【correct SQL】\n```sql\n{RIGHT}",
        f'{{"sql": "{RIGHT}"}}',
        f"First I had\n```sql\n{BROKEN}\n```\nbut it is\n```sql\n{RIGHT}\n```",
    ],
)
def test_a_refinement_is_read_from_every_form_of_reply(repair, reply):
    trial, _ = repair(Refiner("test/model"), BROKEN, [reply])
    assert trial.candidate.sql == RIGHT


def test_with_sound_a_query_with_rows_is_reviewed(repair):
    trial, asked = repair(Reviser("test/model", sound=True), OTHER, [RIGHT, RIGHT])
    assert chain(trial) == [OTHER, RIGHT]
    assert len(asked) == 2  # the second says that nothing is to be changed
    assert "'cat' | 4" in asked[0].messages[1]["content"]


def test_a_revision_that_loses_the_rows_is_not_kept(repair):
    trial, _ = repair(Reviser("test/model", revisions=1, sound=True), RIGHT, [EMPTY])
    assert chain(trial) == [RIGHT, EMPTY, RIGHT]
    assert trial.execution.rows == (("cat",),)


@pytest.mark.parametrize("step", [Reviser, Refiner])
@pytest.mark.parametrize(("temperature", "sample"), [(0.0, 0), (0.7, 2)])
def test_the_temperature_asked_for_is_sent_and_at_0_samples_share_their_calls(
    repair, step, temperature, sample
):
    _, asked = repair(step("test/model", temperature=temperature), BROKEN, [RIGHT])
    assert asked[0].parameters["temperature"] == temperature
    assert asked[0].sample == sample


class TestSelfConsistency:
    """CHESS, section 4.3: several samples of a revision, of which the most frequent result wins."""

    def test_the_most_frequent_result_of_the_samples_wins(self, repair):
        step = Reviser("test/model", 1, samples=3, temperature=0.5)
        same = "SELECT name FROM animal WHERE legs = 4 LIMIT 9"
        trial, asked = repair(step, BROKEN, [OTHER, RIGHT, same])
        assert chain(trial)[0] == BROKEN
        assert trial.candidate.sql in {RIGHT, same}, "two of the three have this result"
        assert len({request.sample for request in asked}) == len(asked) == 3
        assert len(trial.candidate.call_keys) == 3

    def test_failed_samples_have_no_vote(self, repair):
        step = Reviser("test/model", 1, samples=3, temperature=0.5)
        trial, _ = repair(step, BROKEN, ["SELECT x", "SELECT x", RIGHT])
        assert chain(trial) == [BROKEN, RIGHT]

    def test_candidates_of_other_samples_ask_for_other_revisions(self, repair):
        step = Reviser("test/model", 1, samples=2, temperature=0.5)
        numbers = [
            {request.sample for request in repair(step, BROKEN, [RIGHT, RIGHT], sample)[1]}
            for sample in (0, 1)
        ]
        assert numbers == [{0, 1}, {2, 3}]
