"""The agent's turns: what is run and shown, when it ends, and that a stopped conversation goes on where it was."""

from dataclasses import replace

import pytest

import workbench as wb
from tests.systems.conftest import ALL, BROKEN, QUESTION, RIGHT
from workbench.errors import BudgetError
from workbench.lab import Lab
from workbench.llm.faults import Refusal
from workbench.study.experiment import Experiment, Session
from workbench.study.study import open_study

LOOKS = "SELECT DISTINCT home FROM animal"


def fence(sql):
    return f"I look.\n```sql\n{sql}\n```"


def final(sql):
    return f"I am sure.\n\n**Final SQL**\n```sql\n{sql}\n```"


def said(zoo):
    """The messages of the last call after those of the first."""
    return [m["content"] for m in zoo.model.asked[-1].messages[2:]]


def test_each_query_is_run_and_its_result_is_shown_until_the_answer(zoo):
    zoo.model.replies["generate/agent"] = [fence(LOOKS), fence(BROKEN), final(RIGHT)]
    selection = zoo.run(wb.agent("m/x"))
    assert selection.sql == RIGHT
    first, seen, second, error = said(zoo)
    assert (LOOKS in first, BROKEN in second) == (True, True)
    assert seen.startswith("## Result\n3 rows:\nhome\n'Gobi desert'")
    assert "no such column: nme" in error
    assert len(set(selection.trial.candidate.call_keys)) == 3
    # The answer itself is not one of them.
    assert selection.trial.candidate.queries == 2


@pytest.mark.parametrize("turns", [1, 2, 3])
def test_in_the_last_turn_an_answer_is_asked_for_and_any_query_is_it(zoo, turns):
    zoo.model.replies["generate/agent"] = lambda _: fence(ALL)
    selection = zoo.run(wb.agent("m/x", turns=turns))
    assert (selection.sql, len(zoo.model.asked)) == (ALL, turns)
    told = ["You work in turns" in zoo.model.asked[0].messages[1]["content"]]
    told += ["This is the last turn" not in message for message in said(zoo)[1::2]]
    assert told == [True] * (turns - 1) + [False]


def test_agents_that_differ_in_turns_alone_share_all_but_their_last_call(zoo):
    zoo.model.replies["generate/agent"] = lambda _: fence(ALL)
    long, short = (
        set(zoo.run(wb.agent("m/x", turns=n)).trial.candidate.call_keys) for n in (5, 3)
    )
    assert len(long & short) == 2


def test_a_thought_is_not_shown_again(zoo):
    zoo.model.replies["generate/agent"] = [
        f"<think>Hm.</think>{fence(LOOKS)}",
        final(RIGHT),
    ]
    zoo.run(wb.agent("m/x"))
    assert said(zoo)[0] == fence(LOOKS)


def test_a_reply_without_a_query_is_asked_for_again_and_then_ends_without_an_answer(
    zoo,
):
    zoo.model.replies["generate/agent"] = [fence(LOOKS), "Hm.", "Hm, hm."]
    selection = zoo.run(wb.agent("m/x"))
    candidate = selection.trial.candidate
    assert (selection.sql, len(candidate.call_keys)) == ("", 3)
    assert candidate.problem


def test_samples_are_conversations_of_their_own_for_any_selector(zoo):
    zoo.model.replies["generate/agent"] = lambda request: final(
        RIGHT if request.sample else ALL
    )
    system = replace(
        wb.agent("m/x", samples=3, temperature=0.8), select=wb.Pairwise("m/x")
    )
    selection = zoo.run(system)
    assert (selection.sql, selection.selector, len(selection.trials)) == (
        RIGHT,
        "pairwise",
        3,
    )


def test_a_prompt_of_ones_own_and_a_folders_turns_are_used(zoo, tmp_path):
    (tmp_path / "generate").mkdir()
    (tmp_path / "generate" / "agent_turn.md").write_text(
        "# User\nSeen: {{ result | block }}"
    )
    lab = replace(zoo.lab, prompts=tmp_path)
    zoo.model.replies["generate/own"] = [fence(LOOKS), final(RIGHT)]
    own = wb.Agent("m/x", prompt=wb.Prompt("# User\n{{ question }}"))
    assert own(lab, wb.Context(QUESTION, lab.schema("zoo")))[0].sql == RIGHT
    assert zoo.model.asked[-1].messages[-1]["content"].startswith("Seen: 3 rows")


class TestCached:
    """The conversation with a client and a cache of its own."""

    @pytest.fixture
    def talk(self, zoo, tmp_path):
        def talk(replies, **options):
            cache = wb.Cache(tmp_path / "cache.sqlite")
            client = wb.Client(cache, send=wb.scripted(replies), retries=0, **options)
            lab = Lab(client, zoo.lab.executor, zoo.lab.database, at_once=False)
            return lab, lambda: wb.solve(wb.agent("m/x"), QUESTION, lab)

        return talk

    def test_an_interrupted_conversation_goes_on_where_it_was(self, talk):
        def interrupt(request, _):
            if len(request.messages) == 6:
                raise KeyboardInterrupt

        lab, _ = talk([fence(LOOKS), fence(BROKEN)])
        with pytest.raises(KeyboardInterrupt):
            wb.solve(wb.agent("m/x"), QUESTION, replace(lab, watch=interrupt))
        self.goes_on(talk)

    def test_a_call_that_failed_in_the_middle_is_the_first_to_be_asked_again(
        self, talk
    ):
        _, run = talk([fence(LOOKS), fence(BROKEN), Refusal("server", "down")])
        assert run().trial.candidate.problem
        self.goes_on(talk)

    @staticmethod
    def goes_on(talk):
        lab, run = talk([final(RIGHT)])
        assert run().sql == RIGHT
        # The two turns before were in the cache.
        assert len(lab.client.send.history) == 1
        offline, again = talk([], offline=True)
        assert again().sql == RIGHT
        assert offline.client.ledger.total().calls == 0

    def test_a_budget_ends_a_conversation_and_a_larger_one_continues_it(self, talk):
        _, run = talk([fence(LOOKS), fence(ALL)], budget=wb.Budget(calls=2))
        with pytest.raises(BudgetError):
            run()
        _, run = talk([final(RIGHT)], budget=wb.Budget(calls=1))
        assert run().sql == RIGHT


def test_the_parser_answers_in_its_first_turn(tmp_path):
    with wb.open_study("bundled-dev", limit=2, figures=tmp_path) as study:
        run = study.run(wb.agent(study.model))
        assert [len(chosen.trial.candidate.call_keys) for chosen in run.selections] == [
            1,
            1,
        ]


def test_a_preview_counts_the_calls_of_all_turns(tmp_path):
    experiment = Session(Experiment("own", model="openai/gpt-4o"), preview=1)
    with open_study(experiment, limit=2, figures=tmp_path) as study:
        run = study.run(wb.agent(study.model, turns=4))
        assert [len(chosen.trial.candidate.call_keys) for chosen in run.selections] == [
            4
        ]
