"""What the explorer's page asks for, as it is answered: shown, priced, run, kept, compared and saved."""

import json
import math
import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace

import pytest

import workbench as wb
from tests.explore.conftest import RIGHT, WRONG
from workbench.errors import BadInputError
from workbench.explorer.compare import prompt_changes, summary
from workbench.explorer.recording import asked_prompts
from workbench.explorer.variants import Variant
from workbench.prompts import load
from workbench.store import home
from workbench.types import Execution
from workbench.widgets import ROWS, differing, result

BRIEF = {"source": "# User\nBe brief. {{ question }}"}


def ask(explorer, do, **given):
    answer = explorer.answer({"do": do, "ref": 1, **given})
    assert json.dumps(answer)
    return answer


def test_a_missing_call_and_an_edited_prompt_are_priced_and_run_when_asked(
    zoo, explorer
):
    steps = {step["name"]: step for step in explorer.detail["steps"]}
    assert (steps["generate"]["missing"], steps["select"]["reached"]) == (1, False)
    assert steps["generate"]["price"].startswith("$0.0")
    assert zoo.asked == []
    ask(explorer, "choose", key="0", pay=True)
    assert (
        explorer.detail["answer"]["status"]
        == explorer.detail["call"]["status"]
        == "right"
    )
    (group,) = explorer.detail["pool"]
    assert (group["chosen"], group["queries"]) == (
        True,
        ["SELECT count(*) FROM animal"],
    )
    edit = {"key": "0", "n": 0, "edit": BRIEF}
    found = ask(explorer, "render", **edit)["answer"]
    part = {
        "role": "User",
        "title": "",
        "text": "Be brief. zoo, question 0?",
        "tokens": 2,
    }
    assert found["parts"] == [part]
    assert (found["price"][:4], found["count"], found["many"][:3]) == (
        "$0.0",
        12,
        "$0.",
    )
    now = ask(explorer, "run", **edit)["answer"]
    assert (now["was"], now["status"], now["sql"]) == (
        "right",
        "wrong",
        "SELECT legs FROM animal",
    )
    assert (now["paid"], now["result"]["total"]) == ("$0.0100", 4)
    assert ask(explorer, "render", **edit)["answer"]["price"] == "cached"
    assert "another question" in ask(explorer, "run", **edit | {"key": "7"})["error"]
    assert len(zoo.asked) == 2


def test_an_edit_of_a_call_that_was_never_made_is_judged(zoo, explorer):
    ask(explorer, "choose", key="3")
    now = ask(explorer, "run", key="3", n=0, edit=BRIEF)["answer"]
    assert (now["was"], now["status"], now["sql"]) == (
        "none",
        "wrong",
        "SELECT legs FROM animal",
    )


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
    again = wb.compare(zoo.system, folder / "v1", study=zoo.study.sample(4))
    assert again.table.frame["EX"].tolist() == [25.0, 0.0]
    assert len(zoo.asked) == calls


def test_a_variant_is_saved_alone_and_one_without_a_prompt_is_not(zoo, explorer):
    ask(explorer, "keep", edits={"generate/direct": {"temperature": 0.5}})
    refused = ask(explorer, "save", name="warm")["error"]
    assert "no prompt" in refused
    assert refused.endswith("not saved: v1's T 0.5")
    for _ in range(2):
        ask(explorer, "keep", edits={"generate/direct": BRIEF})
    said = ask(explorer, "save", name="all")["answer"]
    assert said.endswith("all: v2, v3; not saved: v1's T 0.5")
    assert ask(explorer, "save", name="one", variant="v3")["answer"].endswith("one: v3")
    assert [path.name for path in (home() / "variants/one").iterdir()] == ["v3"]


def test_the_first_comparison_has_a_price(zoo, explorer):
    assert explorer.grid["more"] == 12
    assert ask(explorer, "price")["answer"].startswith("from $0.0")
    assert zoo.asked == []
    ask(explorer, "compare", count=12)
    assert ask(explorer, "price")["answer"] == "cached"
    with wb.open_study("embedded", limit=3) as study:
        assert ask(wb.explore(study, study.direct()), "price")["answer"] == "free"


def test_an_agents_turns_are_a_conversation_and_each_query_is_its_own(zoo):
    zoo.replies[:] = ["<think>Hm.</think>I look.\n" + WRONG, "**Final SQL**\n" + RIGHT]
    explorer = wb.explore(zoo.study, wb.agent(zoo.study.model))
    ask(explorer, "choose", key="0", pay=True)
    first, last = explorer.detail["call"], ask(explorer, "call", key="0", n=1)["answer"]
    assert first["turns"] == last["turns"]
    assert [turn["n"] for turn in first["turns"]] == [0, 1]
    assert [turn["said"] for turn in first["turns"]] == ["I look.", "**Final SQL**"]
    look, end = (turn["sql"] for turn in first["turns"])
    assert (look, end) == ("SELECT legs FROM animal", "SELECT count(*) FROM animal")
    assert first["turns"][0]["seen"].startswith("4 rows:\nlegs")
    assert (first["sql"], last["sql"], last["status"]) == ("", end, "right")
    assert dict(row[:2] for row in last["data"])["question"] == "zoo, question 0?"
    found = ask(explorer, "render", key="0", n=1, edit=BRIEF)["answer"]
    assert [part["role"] for part in found["parts"]][:2] == ["User", "Assistant"]
    assert wb.explore(zoo.study, zoo.system).detail["call"]["turns"] == []


def test_the_temperature_of_a_step_is_kept_and_that_of_another_refused(zoo, explorer):
    ask(explorer, "keep", edits={"generate/direct": {"temperature": 0.5}})
    ask(explorer, "compare", count=2)
    assert {one.parameters["temperature"] for one in zoo.asked} == {0.0, 0.5}
    refused = ask(explorer, "keep", edits={"retrieve/keywords": {"temperature": 0.5}})
    assert "retrieve/keywords" in refused["error"]


def test_numbers_that_javascript_cannot_hold_reach_the_page_as_text():
    cells = (2**53, -(2**53), math.inf, 2**53 - 1, 0.5, None)
    sent = result(Execution("ok", tuple("abcdef"), (cells,), 1, "f"))["rows"]
    assert sent == [
        ["9007199254740992", "-9007199254740992", "inf", 2**53 - 1, 0.5, None]
    ]


def test_outcomes_of_cached_runs_mark_the_questions_of_each_system(zoo):
    run = zoo.study.run(zoo.system)
    explorer = wb.explore(zoo.study, run, wb.chess_ir_ss_cg(zoo.study.model))
    assert [row["status"] for row in explorer.rows].count("right") == 1
    ask(explorer, "list", system="CHESS (IR, SS, CG)")
    assert {row["status"] for row in explorer.rows} == {"none"}
    assert explorer.detail["steps"][0]["missing"] == 1
    with pytest.raises(BadInputError, match="no system"):
        wb.explore(zoo.study)


def test_edits_and_variants_are_there_again_after_a_restart(zoo, explorer):
    ask(explorer, "draft", edits={"generate/direct": BRIEF})
    ask(explorer, "keep", edits={"generate/direct": BRIEF})
    hot = {"generate/direct": {"temperature": 0.5}}
    assert ask(explorer, "keep", edits=hot)["answer"] == "v2"
    again = wb.explore(zoo.study, zoo.system)
    assert again.setup["draft"] == {"generate/direct": BRIEF}
    names = [name for name, *_ in again.grid["kept"]]
    assert names == ["v1", "v2"]
    ask(again, "compare", count=2)
    assert [head["name"] for head in again.grid["heads"]] == [
        zoo.system.name,
        "v1",
        "v2",
    ]
    assert [row["cells"][1]["sql"] for row in again.grid["rows"]] == [
        "SELECT legs FROM animal"
    ] * 2


def test_a_variant_is_renamed_reopened_and_removed(zoo, explorer):
    ask(explorer, "keep", edits={"generate/direct": BRIEF})
    ask(explorer, "compare", count=2)
    ask(explorer, "rename", name="v1", to="short words")
    assert [head["name"] for head in explorer.grid["heads"]] == [
        zoo.system.name,
        "short words",
    ]
    for taken in ("short words", zoo.system.name, "a/b", ""):
        ask(explorer, "keep", edits={"generate/direct": BRIEF})
        assert ask(explorer, "rename", name="v1", to=taken)["error"]
        ask(explorer, "remove", name="v1")
    ask(explorer, "draft", edits={})
    reopened = ask(explorer, "reopen", name="short words")["answer"]
    assert reopened == {"draft": {"generate/direct": BRIEF}}
    again = wb.explore(zoo.study, zoo.system)
    assert again.setup["draft"] == {"generate/direct": BRIEF}
    ask(again, "compare", count=2)
    ask(again, "remove", name="short words")
    assert [head["name"] for head in again.grid["heads"]] == [zoo.system.name]
    assert wb.explore(zoo.study, zoo.system).grid["kept"] == []


def test_columns_say_what_they_change_and_what_they_cost(zoo, explorer):
    source = explorer.detail["call"]["source"]
    ask(explorer, "keep", edits={"generate/direct": {"source": f"{source}\nBe brief."}})
    other = {"source": f"{source}\nBe kind.\nNow.", "temperature": 0.5}
    ask(explorer, "keep", edits={"generate/direct": other})
    ask(explorer, "keep", edits={"generate/direct": {"model": "openai/gpt-4o"}})
    ask(explorer, "compare", count=2)
    _, first, second, third = explorer.grid["heads"]
    assert first["note"] != second["note"]
    assert second["note"].endswith("T 0.5")
    assert (third["models"], third["note"]) == (
        "openai/gpt-4o",
        "direct, openai/gpt-4o",
    )
    assert first["cost"] == "1.0 calls, $0.010 a question"
    assert explorer.grid["rows"][0]["cells"][1]["took"] == "1 call, $0.010"
    (change,) = ask(explorer, "changes", name="v1")["answer"]
    assert (change["before"], change["after"]) == (source, f"{source}\nBe brief.")


def test_the_line_of_a_template_at_fault_is_told(explorer):
    for line, text in (
        (2, "{{ question"),
        (3, "\n{{ qestion }}"),
        (2, "{% if hint %}"),
    ):
        edit = {"source": f"# User\n{text}"}
        found = ask(explorer, "render", key="0", n=0, edit=edit)["answer"]
        assert (found["line"], "generate/direct" in found["fault"]) == (line, True)
    assert "parts" in ask(explorer, "render", key="0", n=0, edit={})["answer"]


def ran(columns, *rows):
    return Execution("ok", tuple(columns), rows, len(rows), "f")


def test_rows_that_both_results_have_are_in_neither_alone_however_many_there_are():
    rows = [(n, f"name {n}") for n in range(500)]
    gold, other = (
        ran(["id", "name"], *rows),
        ran(["id", "name"], *reversed(rows), (-1, "new")),
    )
    assert differing(gold, other)[0] == {
        "columns": [False, False],
        "rows": [False] * ROWS,
    }
    last = ran(["id", "name"], (-1, "new"), *rows)
    assert differing(last, gold)[0]["rows"] == [True] + [False] * (ROWS - 1)


def test_columns_are_matched_one_to_one():
    """Two columns with the same values in another order are two columns."""
    gold = ran(["a", "b"], (1, 2), (2, 1), (3, 3))
    assert not any(differing(gold, ran(["a", "b"], (2, 1), (1, 2), (3, 3)))[0]["rows"])
    wider = ran(["x", "a", "b"], (0, 1, 2), (0, 2, 1), (0, 3, 3))
    only_gold, only_wider = differing(gold, wider)
    assert only_gold == {"columns": [False, False], "rows": [False] * 3}
    assert only_wider["columns"] == [True, False, False]
    assert differing(gold, ran(["c"], ("z",)))[1] == {"columns": [True], "rows": [True]}
    failed = Execution("error", error="no")
    assert differing(gold, failed)[0]["rows"] == []


def test_kept_work_of_several_programs_stays(zoo, explorer):
    other = wb.explore(zoo.study, zoo.system)
    ask(explorer, "keep", edits={"generate/direct": BRIEF})
    ask(other, "keep", edits={"generate/direct": {"temperature": 0.5}})
    names = [variant.name for variant in explorer.store.variants()]
    assert names == ["v1", "v2"]
    # Nobody here was told the price of the other program's variant.
    assert [name for name, *_ in other.grid["kept"]] == ["v2"]
    with pytest.raises(BadInputError, match="already"):
        other.store.rename("v1", "v2")
    with pytest.raises(BadInputError, match="already"):
        other.store.keep(Variant("v1", zoo.system.name, {}))
    assert explorer.store.variant("v1").edits == {"generate/direct": BRIEF}
    assert [variant.name for variant in other.store.variants()] == names
    ask(other, "remove", name="v1")
    assert "removed or renamed" in ask(explorer, "reopen", name="v1")["error"]


def test_one_of_many_programs_that_keep_a_name_gets_it(zoo, explorer):
    def keep(number):
        edits = {"generate/direct": {"temperature": number}}
        with suppress(BadInputError):
            explorer.store.keep(Variant("hot", zoo.system.name, edits))
            return number

    with ThreadPoolExecutor(8) as pool:
        (kept,) = filter(None, pool.map(keep, range(1, 30)))
    assert explorer.store.variant("hot").edits["generate/direct"]["temperature"] == kept
    assert [path.name for path in explorer.store.folder.iterdir()] == ["hot.json"]


@pytest.mark.parametrize("name", ["", ".", "..", "../x", "a/b", "/x", "a\n", "x" * 61])
def test_a_name_of_a_variant_stays_in_its_folder(explorer, name):
    ask(explorer, "keep", edits={"generate/direct": BRIEF})
    before = sorted(home().rglob("*"))
    for message in ({"do": "rename", "name": "v1", "to": name}, {"do": "rename", "name": name, "to": "v2"},
                    {"do": "remove", "name": name}, {"do": "reopen", "name": name}, {"do": "save", "name": name}):  # fmt: skip
        assert explorer.answer(message)["error"]
    assert sorted(home().rglob("*")) == before


def test_a_new_prompt_is_told_with_its_model(zoo):
    """And one of a folder, which a step may name in its code, with its lines."""
    asked = asked_prompts(wb.direct("m/x"), None)
    added = asked_prompts(wb.zero_shot("m/y"), None)
    added["generate/idle"] = {"source": "nothing"}
    packaged = load("prune/filter_column").source
    added["prune/filter_column"] = {"source": f"{packaged}More."}
    new, idle, edited = prompt_changes(asked, added)
    assert new["prompt"] == "generate/zero_shot"
    assert new["fields"].startswith("m/y")
    assert (idle["before"], idle["after"], idle["fields"]) == ("", "nothing", "")
    assert summary([edited]) == "filter_column +1 −0 lines"  # noqa: RUF001


def test_all_that_is_sent_is_safe_but_what_is_edited(zoo, explorer):
    hidden = "a\u202eb"
    edits = {"generate/direct": {"source": hidden, "data": {"question": hidden}}}
    ask(explorer, "draft", edits=edits)
    assert explorer.get_state(["setup"])["setup"]["draft"] == edits
    explorer.detail = {"key": hidden, "id": hidden, "texts": [hidden, {hidden: hidden}]}
    safe = "a\\u202eb"
    sent = explorer.get_state(["detail"])["detail"]
    assert sent == {"key": hidden, "id": safe, "texts": [safe, {safe: safe}]}
    assert explorer.answer({"do": hidden})["error"] == f"no action '{safe}'"


EDITS = {"generate/direct": BRIEF}


def kept(explorer):
    return [variant.name for variant in explorer.store.variants()]


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"{}"])
def test_an_odd_file_takes_a_name_and_stops_nothing(zoo, explorer, content):
    """As a program leaves it that is killed, or a system that copies a folder."""
    ask(explorer, "keep", edits=EDITS)
    for name in ("v2", "._v1", "v1 (1)"):
        (explorer.store.folder / f"{name}.json").write_bytes(content)
    (explorer.store.folder / "v3.json").symlink_to("nowhere")  # as if removed by now
    assert [name for name, *_ in wb.explore(zoo.study, zoo.system).grid["kept"]] == [
        "v1"
    ]
    assert ask(explorer, "keep", edits=EDITS)["answer"] == "v4"
    for message in ({"do": "rename", "to": "x"}, {"do": "reopen"}):
        assert "damaged" in explorer.answer(message | {"name": "v2"})["error"]
    assert kept(explorer) == ["v1", "v4"]


def test_a_program_that_is_killed_leaves_no_name_that_is_taken(explorer, monkeypatch):
    def killed(*_):
        raise KeyboardInterrupt

    variant = Variant("v1", explorer.system_name, EDITS)
    with monkeypatch.context() as patch:
        patch.setattr(os, "link", killed)
        patch.setattr("pathlib.Path.replace", killed)
        with pytest.raises(KeyboardInterrupt):
            explorer.store.keep(variant)
    assert list(explorer.store.folder.iterdir()) == []
    assert ask(explorer, "keep", edits=EDITS)["answer"] == "v1"


def test_a_variant_that_vanishes_while_it_is_renamed_leaves_nothing(
    explorer, monkeypatch
):
    monkeypatch.setattr(type(explorer.store), "variant", lambda *_: None)
    ask(explorer, "draft", edits={})
    assert ask(explorer, "rename", name="gone", to="new")["error"]
    assert list(explorer.store.folder.glob("*.json")) == []


def test_names_that_differ_in_capitals_alone_are_one_name_to_keep(
    explorer, monkeypatch
):
    ask(explorer, "keep", edits=EDITS)
    assert "error" not in ask(explorer, "rename", name="v1", to="V1")
    assert kept(explorer) == ["V1"]
    assert ask(explorer, "keep", edits=EDITS)["answer"] == "v2"

    # Where capitals do not count, both names are of one file.
    def link(source, to):
        source.rename(to)
        raise FileExistsError

    with monkeypatch.context() as patch:
        patch.setattr(os, "link", link)
        patch.setattr("pathlib.Path.samefile", lambda *_: True)
        patch.setattr("pathlib.Path.replace", lambda *_: None)
        assert "error" not in ask(explorer, "rename", name="V1", to="v1")
    assert kept(explorer) == ["v1", "v2"]


def test_the_order_of_variants_is_kept_in_their_files(zoo, explorer):
    for _ in range(11):
        ask(explorer, "keep", edits=EDITS)
    ask(explorer, "rename", name="v1", to="z")
    folder = explorer.store.folder
    for file in folder.glob("*.json"):
        os.utime(file, (0, 0))  # as a copy of the folder may have them
    copy = folder.with_name("copy")
    shutil.copytree(folder, copy)
    names = [variant.name for variant in type(explorer.store)(copy).variants()]
    assert names == ["z", *(f"v{number}" for number in range(2, 12))]


def test_a_name_in_the_comparison_is_not_given_to_another_variant(zoo, explorer):
    """Though its variant was removed in another window."""
    for _ in range(2):
        ask(explorer, "keep", edits=EDITS)
    ask(explorer, "compare", count=2)
    other = wb.explore(zoo.study, zoo.system)
    ask(other, "remove", name="v1")
    assert "column" in ask(explorer, "rename", name="v2", to="v1")["error"]
    hot = {"generate/direct": {"temperature": 0.5}}
    assert ask(explorer, "keep", edits=hot)["answer"] == "v3"
    ask(explorer, "rename", name="v2", to="short")
    heads = [head["name"] for head in explorer.grid["heads"]]
    assert heads == [zoo.system.name, "v1", "short"]
    assert ask(explorer, "changes", name="v1")["answer"][0]["after"] == BRIEF["source"]
    # A new variant of an old name is another one, whose price nobody was told here.
    assert ask(other, "keep", edits=hot)["answer"] == "v1"
    ask(explorer, "remove", name="v3")
    assert [name for name, *_ in explorer.grid["kept"]] == ["short"]


def test_only_a_folder_that_can_be_used_is_saved(zoo):
    """A prompt from a cell has a name that no system looks for in a folder."""
    own = wb.Prompt("# User\nMine. {{ question }}")
    mine = replace(zoo.system, generate=(wb.Generate(own, zoo.study.model),))
    explorer = wb.explore(zoo.study, mine)
    assert ask(explorer, "keep", edits={"generate/own": BRIEF})["answer"] == "v1"
    assert "generate/own" in ask(explorer, "save", name="mine")["error"]
    assert not (home() / "variants/mine").exists()
    assert "nothing to save" in ask(explorer, "save", name="x", variant="v9")["error"]


def test_a_model_that_is_not_saved_is_named(explorer):
    edit = BRIEF | {"model": "openai/gpt-4o"}
    ask(explorer, "keep", edits={"generate/direct": edit})
    said = ask(explorer, "save", name="mine")["answer"]
    assert said.endswith("mine: v1; not saved: v1's openai/gpt-4o")


def test_a_variant_that_does_not_fit_is_told_once(zoo, explorer, capsys):
    edits = {"retrieve/keywords": {"temperature": 0.5}}
    explorer.store.keep(Variant("cold", zoo.system.name, edits))
    again = wb.explore(zoo.study, zoo.system)
    ask(again, "compare", count=2)
    ask(again, "keep", edits=EDITS)
    assert capsys.readouterr().err.count("cold is left out") == 1


def test_a_step_of_ones_own_may_ask_a_packaged_prompt_about_other_data(zoo, explorer):
    ask(explorer, "choose", key="0")
    (call,) = explorer._recorded.calls
    request = replace(call.request, prompt="prune/filter_column")
    own = replace(call, request=request, data={})
    explorer._recorded = replace(explorer._recorded, calls=(own,))
    assert explorer._calls()[0][:2] == ["prune/filter_column", "1"]
