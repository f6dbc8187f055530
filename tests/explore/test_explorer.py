"""What the explorer's page asks for, as it is answered: shown, priced, run, kept, compared and saved."""

import json

import pytest
import yaml

import workbench as wb
from workbench.errors import BadInputError
from workbench.store import home

BRIEF = {"source": "# User\nBe brief. {{ question }}"}


def ask(explorer, do, **given):
    answer = explorer.answer({"do": do, "ref": 1, **given})
    assert json.dumps(answer)
    return answer


def test_a_missing_call_has_a_price_and_is_made_when_asked(zoo, explorer):
    steps = {step["name"]: step for step in explorer.detail["steps"]}
    assert (steps["generate"]["missing"], steps["select"]["reached"]) == (1, False)
    assert steps["generate"]["price"].startswith("$0.0")
    assert zoo.asked == []
    ask(explorer, "choose", key="0", pay=True)
    assert len(zoo.asked) == 1
    assert explorer.detail["answer"]["status"] == explorer.detail["call"]["status"] == "right"
    assert explorer.detail["pool"] == [{"size": 1, "status": "right", "rows": "1 rows",
        "chosen": True, "queries": ["SELECT count(*) FROM animal"]}]  # fmt: skip


def test_an_edited_prompt_is_rendered_priced_and_run(zoo, explorer):
    ask(explorer, "choose", key="0", pay=True)
    found = ask(explorer, "render", key="0", n=0, edit=BRIEF)["answer"]
    assert found["parts"] == [["User", "", "Be brief. zoo, question 0?", 2]]
    assert found["price"].startswith("$0.0")
    assert (found["count"], found["many"][:3]) == (12, "$0.")
    now = ask(explorer, "run", key="0", n=0, edit=BRIEF)["answer"]
    assert (now["was"], now["status"], now["sql"]) == ("right", "wrong", "SELECT legs FROM animal")
    assert now["paid"] == "$0.0100"
    assert now["result"]["total"] == 4
    assert ask(explorer, "render", key="0", n=0, edit=BRIEF)["answer"]["price"] == "cached"
    assert len(zoo.asked) == 2


def test_a_fault_in_a_prompt_and_a_page_that_is_behind_are_told(explorer):
    broken = ask(explorer, "render", key="0", n=0, edit={"source": "# User\n\n{{ question"})
    assert "generate/direct.md:3" in broken["error"]
    assert "another question" in ask(explorer, "run", key="7", n=0, edit={})["error"]
    assert "no action" in ask(explorer, "reset")["error"]


def test_a_variant_is_compared_and_saved_outside_the_notebooks(zoo, explorer):
    ask(explorer, "keep", edits={"generate/direct": BRIEF})
    ask(explorer, "compare", count=4)
    first, variant = explorer.grid["heads"]
    assert (first["name"], variant["name"], variant["note"]) == (zoo.system.name, "v1", "generate/direct")  # fmt: skip
    assert (variant["won"], variant["lost"], variant["difference"]) == (0, 1, -25.0)
    assert [row["id"] for row in explorer.grid["rows"]] == ["0", "3", "6", "9"]
    assert (explorer.grid["more"], explorer.grid["price"][:2]) == (12, "$0")
    row = ask(explorer, "open", key="0")["answer"]
    assert [cell["sql"] for cell in row["cells"]] == ["SELECT count(*) FROM animal", "SELECT legs FROM animal"]  # fmt: skip
    assert ask(explorer, "save", name="../out")["error"]
    assert "mine: v1" in ask(explorer, "save", name="mine")["answer"]
    folder = home() / "variants" / "mine"
    assert (folder / "v1/generate/direct.md").read_text() == BRIEF["source"]
    assert yaml.safe_load((folder / "v1.yaml").read_text())["prompts"] == "v1"
    assert "taken" in ask(explorer, "save", name="mine")["error"]
    calls = len(zoo.asked)
    with wb.open_study(str(folder / "v1.yaml"), limit=4) as study:
        assert study.run(study.with_settings(zoo.system)).questions["correct"].sum() == 0
    assert len(zoo.asked) == calls


def test_model_and_temperature_of_a_step_are_kept_and_those_of_others_refused(zoo, explorer):
    ask(explorer, "keep", edits={"generate/direct": {"temperature": 0.5}})
    ask(explorer, "compare", count=2)
    assert {one.parameters["temperature"] for one in zoo.asked} == {0.0, 0.5}
    assert explorer.grid["heads"][1]["note"] == "generate/direct 0.5"
    refused = ask(explorer, "keep", edits={"retrieve/keywords": {"temperature": 0.5}})
    assert "retrieve/keywords" in refused["error"]


def test_outcomes_of_cached_runs_mark_the_questions(zoo):
    explorer = wb.explore(zoo.study, zoo.study.run(zoo.system))
    assert [row["status"] for row in explorer.rows].count("right") == 1
    with pytest.raises(BadInputError, match="no system"):
        wb.explore(zoo.study)


def test_another_system_is_listed(zoo):
    explorer = wb.explore(zoo.study, zoo.system, wb.chess_ir_ss_cg(zoo.study.model))
    ask(explorer, "list", system="CHESS (IR, SS, CG)")
    assert len(explorer.rows) == len(zoo.questions)
    assert explorer.detail["steps"][0]["missing"] == 1
    assert explorer.setup["system"] == "CHESS (IR, SS, CG)"
