"""What the explorer's page asks for, as it is answered: shown, priced, run, kept, compared and saved."""

import json
import math

import pytest

import workbench as wb
from workbench.errors import BadInputError
from workbench.store import home
from workbench.types import Execution
from workbench.widgets import result

BRIEF = {"source": "# User\nBe brief. {{ question }}"}


def ask(explorer, do, **given):
    answer = explorer.answer({"do": do, "ref": 1, **given})
    assert json.dumps(answer)
    return answer


def test_a_missing_call_and_an_edited_prompt_are_priced_and_run_when_asked(zoo, explorer):
    steps = {step["name"]: step for step in explorer.detail["steps"]}
    assert (steps["generate"]["missing"], steps["select"]["reached"]) == (1, False)
    assert steps["generate"]["price"].startswith("$0.0")
    assert zoo.asked == []
    ask(explorer, "choose", key="0", pay=True)
    assert explorer.detail["answer"]["status"] == explorer.detail["call"]["status"] == "right"
    (group,) = explorer.detail["pool"]
    assert (group["chosen"], group["queries"]) == (True, ["SELECT count(*) FROM animal"])
    edit = {"key": "0", "n": 0, "edit": BRIEF}
    found = ask(explorer, "render", **edit)["answer"]
    assert found["parts"] == [["User", "", "Be brief. zoo, question 0?", 2]]
    assert (found["price"][:4], found["count"], found["many"][:3]) == ("$0.0", 12, "$0.")
    now = ask(explorer, "run", **edit)["answer"]
    assert (now["was"], now["status"], now["sql"]) == ("right", "wrong", "SELECT legs FROM animal")
    assert (now["paid"], now["result"]["total"]) == ("$0.0100", 4)
    assert ask(explorer, "render", **edit)["answer"]["price"] == "cached"
    assert "another question" in ask(explorer, "run", **edit | {"key": "7"})["error"]
    assert len(zoo.asked) == 2


def test_an_edit_of_a_call_that_was_never_made_is_judged(zoo, explorer):
    ask(explorer, "choose", key="3")
    now = ask(explorer, "run", key="3", n=0, edit=BRIEF)["answer"]
    assert (now["was"], now["status"], now["sql"]) == ("none", "wrong", "SELECT legs FROM animal")


def test_a_variant_is_compared_and_saved_outside_the_notebooks(zoo, explorer):
    ask(explorer, "keep", edits={"generate/direct": BRIEF})
    ask(explorer, "compare", count=4)
    first, variant = explorer.grid["heads"]
    assert (first["name"], variant["name"]) == (zoo.system.name, "v1")
    assert (variant["won"], variant["lost"], variant["difference"]) == (0, 1, -25.0)
    assert [row["id"] for row in explorer.grid["rows"]] == ["0", "3", "6", "9"]
    cells = ask(explorer, "open", key="0")["answer"]["cells"]
    assert [cell["sql"] for cell in cells] == ["SELECT count(*) FROM animal", "SELECT legs FROM animal"]  # fmt: skip
    assert ask(explorer, "save", name="../out")["error"]
    folder = home() / "variants" / "mine"
    assert "mine: v1" in ask(explorer, "save", name="mine")["answer"]
    assert (folder / "v1/generate/direct.md").read_text() == BRIEF["source"]
    assert "taken" in ask(explorer, "save", name="mine")["error"]
    calls = len(zoo.asked)
    with wb.open_study(str(folder / "v1.yaml"), limit=4) as study:
        assert study.run(study.with_settings(zoo.system)).questions["correct"].sum() == 0
    assert len(zoo.asked) == calls


def test_the_temperature_of_a_step_is_kept_and_that_of_another_refused(zoo, explorer):
    ask(explorer, "keep", edits={"generate/direct": {"temperature": 0.5}})
    ask(explorer, "compare", count=2)
    assert {one.parameters["temperature"] for one in zoo.asked} == {0.0, 0.5}
    refused = ask(explorer, "keep", edits={"retrieve/keywords": {"temperature": 0.5}})
    assert "retrieve/keywords" in refused["error"]


def test_numbers_that_javascript_cannot_hold_reach_the_page_as_text():
    cells = (2**53, -(2**53), math.inf, 2**53 - 1, 0.5, None)
    sent = result(Execution("ok", tuple("abcdef"), (cells,), 1, "f"))["rows"]
    assert sent == [["9007199254740992", "-9007199254740992", "inf", 2**53 - 1, 0.5, None]]


def test_outcomes_of_cached_runs_mark_the_questions_of_each_system(zoo):
    run = zoo.study.run(zoo.system)
    explorer = wb.explore(zoo.study, run, wb.chess_ir_ss_cg(zoo.study.model))
    assert [row["status"] for row in explorer.rows].count("right") == 1
    ask(explorer, "list", system="CHESS (IR, SS, CG)")
    assert {row["status"] for row in explorer.rows} == {"none"}
    assert explorer.detail["steps"][0]["missing"] == 1
    with pytest.raises(BadInputError, match="no system"):
        wb.explore(zoo.study)
