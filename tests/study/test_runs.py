"""A run keeps what a system did with every question, judges it, and is not done twice."""

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from workbench.errors import BadInputError
from workbench.evaluate.judge import judge
from workbench.lab import Lab
from workbench.llm.client import Client
from workbench.llm.faults import Refusal
from workbench.llm.send import reply_with
from workbench.prompts import Prompt
from workbench.study.measures import notes_on
from workbench.study.run import Runs, accuracy, across, costs
from workbench.study.solve import cached_records, keys_of
from workbench.study.study import Study, open_study
from workbench.study.trace import candidates
from workbench.systems.agent import agent
from workbench.systems.baselines import direct
from workbench.systems.chase_sql import chase_sql
from workbench.systems.generate import Generate
from workbench.systems.mac_sql import mac_sql
from workbench.systems.select import Majority
from workbench.types import Candidate, Limits, Selection

CHECKOUT = Path(__file__).parents[2]

DIRECT = CHECKOUT / "workbench" / "prompts" / "generate" / "direct.md"
SEVERAL = replace(
    chase_sql(samples=2), generate=chase_sql(samples=2).generate[:2], select=Majority()
)


@pytest.fixture(scope="module")
def several(tmp_path_factory):
    """A study of eight questions and its run of two generators with two candidates each."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKBENCH_HOME", str(tmp_path_factory.mktemp("home")))
        with open_study(
            "embedded", limit=8, figures=tmp_path_factory.mktemp("f")
        ) as study:
            yield study, study.run(SEVERAL)


def test_there_is_a_row_for_every_candidate_and_every_question(several):
    study, run = several
    assert run.questions["question_id"].tolist() == [
        q.id for q in study.benchmark.questions
    ]
    counted = run.trials.groupby("question_id").size()
    assert set(counted) == {4}
    assert run.questions["candidates"].tolist() == [4] * 8
    assert (run.trials.groupby("question_id")["chosen"].sum() <= 1).all()


def test_verdicts_are_those_of_the_judge(several):
    study, run = several
    judged = judge(study.benchmark, run.answers, study.lab.executor)
    assert run.questions["correct"].astype(float).tolist() == judged["ex_bird"].tolist()


@pytest.mark.parametrize(
    ("sense", "told", "expected"),
    [
        ("bird", None, "empty"),
        ("spider", None, "empty"),
        ("spider", "failed", "failed"),
    ],
)
def test_what_is_suspect_is_the_systems_own_on_every_benchmark_unless_the_experiment_says(
    several, sense, told, expected
):
    study, _ = several
    benchmark = replace(
        study.benchmark, sense=sense, questions=study.benchmark.questions[:1]
    )
    here = replace(
        study,
        benchmark=benchmark,
        session=study.session.with_settings({"suspect": told}),
    )
    system = here.with_settings(chase_sql())
    assert [step.suspect for step in (*system.fix, system.select)] == [expected] * 2


def test_each_difficulty_has_its_accuracy_and_interval_the_easiest_first(several):
    study, run = several
    asked = run.questions
    mixed = asked.assign(
        difficulty=["hard", "", "easy", "hard", "medium", "easy", "hard", ""]
    )
    runs = Runs({"it": replace(run, questions=mixed)}, study.stamp)
    (row,) = runs.accuracy(by="difficulty").to_dict("records")
    levels = ("easy", "medium", "hard", "all")
    columns = [
        part for name in levels for part in (name, f"{name} low", f"{name} high")
    ]
    assert list(row) == ["system", "n", *columns, "run"]
    hard = asked["correct"][mixed["difficulty"] == "hard"]
    assert row["hard"] == pytest.approx(100 * hard.mean())
    assert row["all"] == accuracy(asked)["EX"]


def test_accuracies_across_a_column_stand_side_by_side_with_their_intervals():
    found = {"n": 8, "low": 10.0, "high": 30.0}
    rows = [
        {"system": "b", "EX": 20.0, "run": "r1 r2", "examples": "5"} | found,
        {"system": "b", "EX": 21.0, "run": "r2", "examples": "25"} | found,
        {"system": "a", "EX": 22.0, "run": "r3", "examples": "5"} | found,
    ]
    wide = across(pd.DataFrame(rows), "examples")
    assert list(wide) == [
        "system",
        "n",
        "5",
        "5 low",
        "5 high",
        "25",
        "25 low",
        "25 high",
        "run",
    ]
    assert wide["system"].tolist() == ["b", "a"]
    assert wide.loc[0, ["5", "25 low", "25", "run"]].tolist() == [
        20.0,
        10.0,
        21.0,
        "r1 r2",
    ]
    assert wide["25"].isna().tolist() == [False, True]


def test_running_again_asks_nothing_and_gives_the_same(several):
    study, run = several
    again = study.run(SEVERAL)
    assert again.id == run.id
    assert again.trials.equals(run.trials)
    assert again.questions.equals(run.questions)


def test_a_selection_comes_back_whole(several):
    study, run = several
    question = study.benchmark.questions[2]
    selection = run.selection(question.id)
    assert [t.candidate.sql for t in selection.trials] == run.trials.query(
        "question_id == @question.id"
    )["sql"].tolist()
    ran = study.lab.run(question, selection.sql)
    assert selection.trial.execution == ran
    assert all(
        key.startswith("call:")
        for t in selection.trials
        for key in t.candidate.call_keys
    )


def test_other_selectors_share_the_candidates(several):
    study, run = several
    other = study.run(replace(SEVERAL, select=Majority("failed")))
    assert other.id != run.id
    assert other.trials["sql"].tolist() == run.trials["sql"].tolist()
    count = "SELECT count(*) FROM attempts"
    assert study.lab.client.cache.read(count) == [(8,)]


@pytest.fixture
def answer(study, monkeypatch):
    """`answer(sql)` runs a system whose package code was changed so that it answers every question with this."""

    def answer(sql):
        monkeypatch.setattr("workbench.study.solve.code_hash", lambda: sql)
        monkeypatch.setattr(
            Generate, "__call__", lambda *_: (Candidate(sql, "direct"),)
        )
        return study.run(direct(study.model))

    return answer


def test_a_run_of_changed_code_leaves_the_older_run_of_other_answers(study, answer):
    before, after = answer("SELECT 1"), answer("SELECT 2")
    store = study.lab.client.cache
    assert set(candidates(before.id, store)["sql"]) == {"SELECT 1"}
    assert set(candidates(after.id, store)["sql"]) == {"SELECT 2"}


def test_a_question_that_failed_stays_without_answer_in_its_run(study):
    down = True

    def send(*_):
        if down:
            raise Refusal("rejected", "no such thing today")
        return {
            "choices": [
                {
                    "message": {"content": "```sql\nSELECT 1\n```"},
                    "finish_reason": "stop",
                }
            ],
            "usage": {"prompt_tokens": 3, "completion_tokens": 2},
        }

    store = study.lab.client.cache
    here = replace(
        study.sample(2), lab=replace(study.lab, client=Client(store, send=send))
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Study, "_client", lambda _: here.lab.client)
        before = here.run(direct("elsewhere/model"))
        down = False
        after = here.run(direct("elsewhere/model"))
    assert set(candidates(before.id, store)["sql"]) == {""}
    assert set(candidates(after.id, store)["sql"]) == {"SELECT 1"}


def test_keys_differ_wherever_systems_do(study):
    lab, asked = study.lab, study.benchmark.questions[:1]
    whole = chase_sql()
    others = [
        whole,
        replace(whole, fix=()),
        replace(whole, retrieve=replace(whole.retrieve, index=None)),
        replace(whole, generate=whole.generate[::-1]),
        chase_sql(temperature=0.5),
        mac_sql(),
    ]
    made = [keys_of(system, asked, lab)[asked[0].id] for system in others]
    assert len({one.candidates for one in made}) == len(others)
    (by_majority,) = keys_of(replace(whole, select=Majority()), asked, lab).values()
    assert made[0].candidates == by_majority.candidates
    assert made[0].selection != by_majority.selection
    assert keys_of(whole, asked, lab) == keys_of(
        replace(whole, name="other"), asked, lab
    )


def test_prompts_of_the_users_own_are_part_of_the_key(study, tmp_path):
    mine = tmp_path / "mine" / "generate"
    mine.mkdir(parents=True)
    asked = study.benchmark.questions[:1]
    ours = keys_of(direct(), asked, study.lab)
    lab = replace(study.lab, prompts=tmp_path / "mine")
    (mine / "direct.md").write_text("one")
    one = keys_of(direct(), asked, lab)
    (mine / "direct.md").write_text("two")
    two = keys_of(direct(), asked, lab)
    mine.rename(tmp_path / "mine" / "fix")  # the same text as another call's prompt
    four = [
        *ours.values(),
        *one.values(),
        *two.values(),
        *keys_of(direct(), asked, lab).values(),
    ]
    assert len(set(four)) == 4


def test_a_selector_that_sorts_the_trials_is_refused_before_its_index_means_another_query(
    study,
):
    def best_first(lab, context, trials):
        return Selection(context.question.id, tuple(trials)[::-1], 0, "best first")

    system = replace(SEVERAL, select=best_first)
    with pytest.raises(BadInputError, match=r"best_first returned .* in another order"):
        study.run(system)


def test_the_dollars_of_calls_of_unknown_price_are_unknown_and_not_nothing(
    study, monkeypatch
):
    """A server of one's own answers under a name that no list of prices has."""
    choice = {
        "message": {"role": "assistant", "content": "SELECT 1"},
        "finish_reason": "stop",
    }
    reply = {"choices": [choice], "usage": {"prompt_tokens": 1, "completion_tokens": 1}}
    free = study.run(direct(), "free")
    client = Client(study.lab.client.cache, send=lambda *_: reply)
    monkeypatch.setattr(Study, "_client", lambda _: client)
    unknown = study.run(direct("openai/of-my-own"), "mine")
    assert costs(unknown.questions, unknown.name)["calls"] == 1.0
    rows = study.costs({"mine": unknown, "free": free})
    assert rows["dollars"].isna().tolist() == [True, False]
    assert notes_on({"mine": unknown, "free": free}) == "Calls of unknown price: 6."
    assert "nan" not in rows.alone("Rows").to_markdown().lower()


def test_the_queries_that_an_agent_ran_stand_beside_its_calls(study, monkeypatch):
    look, end = "```sql\nSELECT 1\n```", "**Final SQL**\n```sql\nSELECT 2\n```"

    def reply(request, *_):
        turns = len(request.messages) // 2
        return reply_with(look if turns < 3 else end, "stop", 1, 1)

    plain = study.run(direct(), "plain")
    client = Client(study.lab.client.cache, send=reply)
    monkeypatch.setattr(Study, "_client", lambda _: client)
    looking = study.run(agent("openai/of-my-own"), "looking")
    assert set(looking.questions["queries"]) == {2}
    table = study.costs({"plain": plain, "looking": looking})
    assert list(table)[list(table).index("calls") + 1] == "queries"
    assert table[["calls", "queries"]].to_numpy().tolist() == [[1.0, 0.0], [3.0, 2.0]]
    # A system that looks at nothing.
    assert "queries" not in study.costs({"plain": plain})
    again = study.run(looking.system, "looking")
    assert (again.id, set(again.questions["queries"])) == (looking.id, {2})


def test_a_fresh_run_sees_an_edited_helper_and_replaces_what_was_kept(study):
    def helper():
        return "SELECT 1"

    def generate(lab, context):
        return (Candidate(globals()["_answer"](), "mine"),)

    globals()["_answer"] = helper
    system = replace(direct(), generate=(generate,))
    before = study.run(system)
    globals()["_answer"] = lambda: "SELECT 2"
    assert study.run(system).id == before.id
    after = study.run(system, fresh=True)
    assert set(after.trials["sql"]) == {"SELECT 2"}
    assert study.run(system).id == after.id
    assert set(candidates(after.id, study.lab.client.cache)["sql"]) == {"SELECT 2"}


def test_what_is_no_system_is_refused_with_what_is_one(study):
    with pytest.raises(
        BadInputError, match=r"chase_sql is a function .* study\.chase_sql\(\)"
    ):
        study.run(chase_sql)
    with pytest.raises(
        BadInputError, match=r"'chase' is no system: give one of study\.chase_sql"
    ):
        study.run("chase")


def test_a_prompt_stands_for_one_call_with_it(study):
    prompt = Prompt("# User\n{{ question }} {{ schema | fence }}", "generate/mine")
    runs = study.run({"mine": prompt, "direct": direct()})
    assert len(runs.accuracy(against="direct")) == 2
    assert set(runs["mine"].trials["generator"]) == {"mine"}


def test_one_run_has_its_accuracy_and_its_costs(study):
    run = study.run(direct())
    assert run.accuracy()["EX"].tolist() == [100 * run.questions["correct"].mean()]
    assert run.costs()["calls"].tolist() == [1.0]
    assert run.stamp.of(run.questions).models == "embedded/parser"
    html = run.accuracy()._repr_html_()
    assert run.id not in html


def test_a_metric_of_ones_own_has_its_interval_in_every_table(study):
    def same_size(gold, predicted):
        return float(gold.row_count == predicted.row_count)

    plain = study.run(direct())
    runs = study.run({"direct": direct()}, metrics={"same size": same_size})
    run = runs["direct"]
    assert run.id == study.run(direct(), "direct").id
    sizes = [
        study.lab.run(q, study.benchmark.golds[q.id].sql).row_count
        for q in study.benchmark.questions
    ]
    predicted = [
        study.lab.run(q, sql).row_count
        for q, sql in zip(study.benchmark.questions, run.questions["sql"], strict=True)
    ]
    assert run.questions["same size"].tolist() == [
        float(a == b) for a, b in zip(sizes, predicted, strict=True)
    ]
    for table in (run.accuracy(), runs.accuracy(), runs.costs(), study.costs(runs)):
        (row,) = table.to_dict("records")
        assert row["same size"] == run.questions["same size"].mean()
        assert row["same size low"] <= row["same size"] <= row["same size high"]
    assert "same size" not in plain.accuracy()


def test_a_run_lists_the_replies_that_were_not_read_also_when_it_is_cached(
    study, monkeypatch
):
    def send(request, *_):
        told = "```sql\nSELECT 1\n```" if request.again else "I cannot tell."
        text = "Nor can I." if request.question == first.id else told
        return reply_with(text, "stop", 10, 5)

    first, *others = study.benchmark.questions
    client = Client(study.lab.client.cache, send=send)
    monkeypatch.setattr(Study, "_client", lambda _: client)
    for run in (study.run(direct("some/model")), study.run(direct("some/model"))):
        unread = run.unread()
        assert list(unread["question_id"]) == [first.id, *(q.id for q in others)]
        assert set(unread["prompt"]) == {"generate/direct"}
        assert list(unread["reply"]) == ["Nor can I."] + ["I cannot tell."] * len(
            others
        )
        assert unread["wanted"].str.contains("```sql", regex=False).all()
        assert list(unread["read"]) == [False] + [True] * len(others)
    monkeypatch.undo()
    assert study.run(direct()).unread().empty


def test_a_failed_call_makes_no_other_question_missing(study, monkeypatch):
    first, *others = study.benchmark.questions

    def send(request, *_):
        if request.question == first.id:
            raise Refusal("rejected", "not this one")
        return {
            "choices": [
                {
                    "message": {"content": "```sql\nSELECT 1\n```"},
                    "finish_reason": "stop",
                }
            ],
            "usage": {},
        }

    client = Client(study.lab.client.cache, send=send)
    monkeypatch.setattr(Study, "_client", lambda _: client)
    run = study.run(direct("failing/model"))
    keys = keys_of(run.system, study.benchmark.questions, study.lab)
    kept = cached_records(study.lab.client.cache, keys)
    assert set(kept) == {question.id for question in others}


def test_keys_of_records_differ_with_the_limits_of_sql_and_the_parameters_of_roles(
    study,
):
    lab, asked = study.lab, study.benchmark.questions[:1]
    given = {"generation": {"seed": 1}}
    labs = [lab, replace(lab, limits=Limits(seconds=3)), replace(lab, parameters=given)]
    keys = [keys_of(direct(), asked, one)[asked[0].id] for one in labs]
    assert len(set(keys)) == len({key.candidates for key in keys}) == 3


def test_keys_of_records_differ_with_the_schema_that_prompts_show(study, monkeypatch):
    lab, asked = study.lab, study.benchmark.questions[:1]
    before = keys_of(direct(), asked, lab)[asked[0].id]
    schema = lab.schema(asked[0].db_id)
    other = replace(schema, tables=schema.tables[:-1])
    monkeypatch.setattr(Lab, "schema", lambda *_: other)
    after = keys_of(direct(), asked, lab)[asked[0].id]
    assert not set(before) & set(after)
