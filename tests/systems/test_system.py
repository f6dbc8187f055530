"""Systems of any steps: their text, their identity, a user's own steps, and what `cheaper` changes."""

import json
import subprocess
import sys
from dataclasses import dataclass, replace
from functools import partial

import pytest

import workbench as wb
from tests.systems.conftest import ALL, EMPTY, QUESTION, RIGHT, trials
from workbench.errors import BadInputError
from workbench.systems.system import (
    Unsourced,
    identity,
    stages,
    with_model,
    with_suspect,
)
from workbench.types import Candidate

SYSTEMS = [
    wb.chase_sql,
    wb.chess_ir_cg_ut,
    wb.chess_ir_ss_cg,
    wb.mac_sql,
    wb.zero_shot,
    wb.direct,
    wb.agent,
]


def test_a_printed_system_shows_one_step_a_line():
    lines = str(wb.chase_sql("m/x", samples=5)).splitlines()
    assert [line.split()[0] for line in lines[1:]] == [
        "retrieve",
        *["generate"] * 3,
        "fix",
        "select",
    ]
    assert "samples=5" in lines[2]
    assert "'generate/divide_and_conquer'" in lines[2]
    assert not any("0x" in line for line in lines)


@pytest.mark.parametrize("make", SYSTEMS)
def test_an_identity_is_json_and_differs_where_a_field_does(make):
    one, other = make("m/x"), make("m/y")
    assert json.dumps(identity(one)) == json.dumps(identity(make("m/x")))
    assert identity(one) != identity(other)
    assert identity(replace(one, fix=(None,))) != identity(one)


def test_an_identity_is_the_same_in_another_process():
    code = "import json, workbench as wb; from workbench.systems.system import identity; print(json.dumps(identity(wb.chess_ir_cg_ut('m/x'))))"
    told = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert json.loads(told.stdout) == json.loads(
        json.dumps(identity(wb.chess_ir_cg_ut("m/x")))
    )


@dataclass(frozen=True)
class Constant:
    sql: str

    def __call__(self, *_):
        return (Candidate(self.sql, "constant"), Candidate(ALL, "constant"))


def closing_over(number):
    return lambda *_: number


def test_the_identity_of_a_users_step_holds_its_source():
    assert "class Constant" in str(identity(Constant("a")))
    assert identity(Constant("a")) != identity(Constant("b"))
    assert identity(partial(Constant, sql="a")) != identity(partial(Constant, sql="b"))
    assert identity(closing_over(1)) != identity(closing_over(2))
    space = {}
    exec("def unsourced(lab, context): return ()", space)  # noqa: S102  as a step without source is made
    with pytest.raises(Unsourced):
        identity(space["unsourced"])
    with pytest.raises(BadInputError):
        identity(Constant(object()))


def test_users_steps_are_steps(zoo):
    def shortest(lab, context, found):
        return wb.choose(
            "shortest", context, found, [-len(t.candidate.sql) for t in found]
        )

    system = replace(
        wb.direct("m/x"), generate=(Constant(RIGHT), Constant(RIGHT)), select=shortest
    )
    selection = zoo.run(system)
    assert (selection.sql, selection.selector) == (ALL, "shortest")
    # Numbered by position.
    assert [t.candidate.sample for t in selection.trials] == [0, 1, 2, 3]


def test_a_prompt_in_a_cell_is_a_generator(zoo):
    prompt = wb.Prompt(
        "# User\nWrite one SQLite query.\n{{ schema | fence }}\n{{ question }}"
    )
    zoo.model.replies["generate/own"] = f"```sql\n{RIGHT}\n```"
    assert (
        zoo.run(replace(wb.direct("m/x"), generate=(wb.Generate(prompt, "m/x"),))).sql
        == RIGHT
    )
    (message,) = zoo.model.asked[-1].messages
    assert QUESTION.text in message["content"]


@pytest.mark.parametrize(
    "changes",
    [
        {"retrieve": lambda *_: None},
        {"prune": (lambda *_: "schema",)},
        {"generate": (lambda *_: None,)},
        {
            "generate": (lambda *_: (Candidate(RIGHT, "g"),),),
            "fix": (lambda *_: RIGHT,),
        },
        {"select": lambda *_: RIGHT},
        {"select": lambda _, context, found: wb.choose("odd", context, found, [])},
    ],
)
def test_a_step_that_returns_something_else_is_named(zoo, changes):
    with pytest.raises(BadInputError):
        zoo.run(replace(wb.direct("m/x"), **changes))


def test_replies_without_a_query_make_candidates_without_one(zoo):
    zoo.model.replies["generate/direct"] = "I am sorry."
    selection = zoo.run(wb.direct("m/x"))
    assert (selection.sql, selection.chosen) == ("", 0)
    assert selection.trial.candidate.problem
    assert selection.trial.candidate.reasoning == "I am sorry."


@pytest.mark.parametrize("make", SYSTEMS)
def test_every_system_answers_whatever_the_model_says(zoo, make):
    zoo.model.replies = dict.fromkeys(zoo.model.replies, "I am sorry.")
    assert zoo.run(make("m/x")).sql == ""


def test_a_model_or_what_is_suspect_is_changed_in_all_steps():
    changed = with_model(wb.chase_sql("m/x", filtering="m/cheap"), "m/x", "m/y")
    assert changed == wb.chase_sql("m/y", filtering="m/cheap")
    nulls = with_suspect(wb.chase_sql("m/x"), "nulls")
    assert (nulls.fix[0].suspect, nulls.select.suspect) == ("nulls", "nulls")


def test_the_context_after_each_step(zoo):
    sizes = [
        len(c.schema.columns())
        for c in stages(wb.chess_ir_ss_cg("m/x"), QUESTION, zoo.lab)
    ]
    assert sizes == [7, 7, 4, 3]


def test_the_majority_is_the_result_that_most_share_and_suspect_results_have_no_votes(
    zoo, context
):
    found = trials(
        zoo,
        "SELECT 1 WHERE 0",
        "SELECT 2 WHERE 0",
        RIGHT,
        ALL,
        f"{ALL} ORDER BY id",
        "SELECT nme",
    )
    selection = wb.Majority()(zoo.lab, context, found)
    assert (selection.sql, selection.scores) == (ALL, (0, 0, 1, 2, 2, 0))
    assert wb.Majority()(zoo.lab, context, found[:2]).sql in {
        "SELECT 1 WHERE 0",
        "SELECT 2 WHERE 0",
    }
    assert wb.Majority()(zoo.lab, context, ()).chosen is None


def test_given_candidates_are_replayed(zoo):
    own = tuple(
        Candidate(sql, name) for sql, name in ((RIGHT, "a"), (ALL, "b"), (ALL, "c"))
    )
    pool, other = {"q1": own}, {"q2": own}
    assert zoo.run(wb.replayed("pool", pool, wb.Majority())).sql == ALL
    assert [
        t.candidate.sql
        for t in zoo.run(wb.replayed("pool", other, wb.Majority())).trials
    ] == [""] * 3
    assert identity(wb.replayed("pool", pool, None)) != identity(
        wb.replayed("pool", other, None)
    )


class TestCheaper:
    def test_fewer_calls_and_prompts_that_begin_alike(self, zoo):
        chase = wb.cheaper(wb.chase_sql("m/x", samples=2), "m/cheap")
        zoo.model.replies["generate/query_plan"] = (
            f"**Final Optimized SQL Query:**\n{ALL}"
        )
        zoo.run(chase)
        counts = zoo.model.counts()
        assert (counts["prune/filter_column_group"], counts["select/pairwise"]) == (
            1,
            2,
        )
        assert {r.model for r in zoo.model.of("prune/filter_column_group")} == {
            "m/cheap"
        }
        first = [r.messages for r in zoo.model.of("generate/divide_and_conquer")]
        zoo.model.asked.clear()
        wb.solve(chase, replace(QUESTION, id="q2", text="Another?"), zoo.lab)
        second = [r.messages for r in zoo.model.of("generate/divide_and_conquer")]
        for one, other in zip(first, second, strict=True):
            beginning = one[-1]["content"].partition("## Values found")[0]
            assert other[-1]["content"].startswith(beginning)

    def test_anthropics_models_are_told_where_the_common_part_ends(self, zoo, context):
        for model in ("anthropic/claude-x", "openai/x"):
            step = wb.cheaper(wb.direct(model)).generate[0]
            request = step.request(zoo.lab, context)
            plain = replace(step, marked=False).request(zoo.lab, context)
            content = request.messages[-1]["content"]
            if model == "openai/x":
                assert request == plain
                continue
            common, own = content
            assert common["text"] + own["text"] == plain.messages[-1]["content"]
            assert common["cache_control"] == {"type": "ephemeral"}
            assert "CREATE TABLE" in common["text"]
            assert QUESTION.text not in common["text"]


@pytest.mark.parametrize(
    "order", [(EMPTY, RIGHT), (RIGHT, EMPTY), (EMPTY, EMPTY, RIGHT)]
)
def test_in_a_tie_a_sound_result_goes_before_a_suspect_one(zoo, context, order):
    found = trials(zoo, *order)
    assert wb.choose("tied", context, found, [1] * len(found)).sql == RIGHT
    better = [1 + (trial.candidate.sql == EMPTY) for trial in found]
    assert wb.choose("not tied", context, found, better).sql == EMPTY
