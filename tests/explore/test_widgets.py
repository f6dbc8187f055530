"""The explorers without a browser: inputs lead to views, and an error is shown where it happened."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import ipywidgets as w
import pytest

from workbench.errors import BadInputError
from workbench.explore.pool_browser import PoolBrowser
from workbench.explore.prompt.steps import record
from workbench.explore.prompt_explorer import PromptExplorer
from workbench.explore.widgets import button, guarded, watch
from workbench.label import labels
from workbench.label.cases import Case
from workbench.label.labeller import Labeller
from workbench.systems.baselines import direct
from workbench.systems.generate import Generate
from workbench.types import Execution, Schema


@pytest.fixture
def other(zoo):
    """Another benchmark whose questions have the same ids."""
    questions = tuple(replace(q, text=f"other, question {q.id}?") for q in zoo.questions)
    gold = replace(zoo.benchmark.golds["0"], sql="SELECT max(legs) FROM animal")
    golds = zoo.benchmark.golds | {"0": gold}
    return replace(zoo.benchmark, name="other", questions=questions, golds=golds)


@pytest.fixture
def explorer(zoo, other):
    for question in zoo.questions[:2]:
        record(zoo.system, question, zoo.lab, pay=True)
    study = SimpleNamespace(lab=zoo.lab, benchmark=zoo.benchmark)
    systems = {"one": zoo.system, "warm": direct("m/x", temperature=0.5)}
    return PromptExplorer(study, systems, benchmarks=[zoo.benchmark, other])


def test_an_exception_in_a_callback_is_shown_and_goes_with_the_next():
    message, text = w.HTML(), w.Text()
    watch([text], lambda: 1 / len(text.value), message)
    text.value = "x"
    assert message.value == ""
    text.value = ""
    assert "ZeroDivisionError" in message.value
    assert 'role="alert"' in message.value
    text.value = "y"
    assert message.value == ""


def test_the_message_of_an_exception_is_escaped():
    message = w.HTML()

    def fail():
        raise ValueError("<img src=x>")

    guarded(fail, message)()
    assert "<img" not in message.value


def test_a_callback_that_another_triggers_does_not_hide_its_exception():
    message, text = w.HTML(), w.Text()
    watch([text], lambda: None, message)

    def fail():
        text.value = "a"
        raise ValueError("it broke")

    guarded(fail, message)()
    assert "it broke" in message.value


def test_a_button_shows_that_its_action_is_running():
    message, seen = w.HTML(), []
    made = button("Run", "wb-run", lambda: seen.append(made.description), message)
    made.click()
    assert (seen, made.description) == (["Run: working"], "Run")
    assert "wb-run" in made._dom_classes


def test_a_question_opens_with_its_prompt_and_price(explorer):
    assert explorer.picker.question.id == "0"
    assert "zoo, question 0?" in explorer.prompt.value
    assert "running it costs nothing" in explorer.price.value
    assert explorer.message.value == ""


def test_picking_another_question_shows_its_prompt_reply_and_gold_without_a_call(zoo, explorer):
    asked = len(zoo.model.history)
    explorer.picker.list.value = "1"
    assert "zoo, question 1?" in explorer.prompt.value
    for shown in ("The cached reply", "EX (BIRD): wrong", "Gold&#x27;s result"):
        assert shown in explorer.answer.value
    assert len(zoo.model.history) == asked


def test_a_question_without_a_cached_reply_says_so_and_what_asking_costs(zoo, explorer):
    asked = len(zoo.model.history)
    explorer.picker.list.value = "3"
    assert "No reply is cached." in explorer.answer.value
    assert zoo.benchmark.golds["3"].sql in explorer.answer.value
    assert "1 call to make" in explorer.price.value
    assert len(zoo.model.history) == asked


def test_a_question_picked_in_one_view_is_the_question_of_the_others(zoo, explorer):
    selection = record(zoo.system, zoo.questions[0], zoo.lab, pay=True).selection
    study = SimpleNamespace(lab=zoo.lab, benchmark=zoo.benchmark)
    browser = PoolBrowser(study, a_run(selection, correct=True))
    explorer.picker.list.value = "1"
    assert browser.picker.question.id == "1"
    browser.picker.list.value = "0"
    assert explorer.picker.question.id == "0"
    assert "zoo, question 0?" in explorer.prompt.value


def test_the_labeller_and_the_explorer_show_the_same_question(zoo, explorer, tmp_path):
    wrong = [_case(question) for question in zoo.questions[1:]]
    store = labels.LabelStore(tmp_path / "labels.sqlite")
    study = SimpleNamespace(lab=zoo.lab, benchmark=zoo.benchmark)
    labeller = Labeller(study, None, wrong, labels.open_taxonomy("CHESS"), store, "me")
    said = []
    labeller.send = said.append
    explorer.picker.list.value = "3"
    assert said == [{"go": wrong[-1].key}]
    labeller.answer({"do": "at", "key": wrong[1].key})
    assert explorer.picker.question.id == "2"
    explorer.picker.list.value = "0"  # was answered right
    assert len(said) == 1


def _case(question):
    result = Execution("empty")
    return Case(question, "", "SELECT 1", "SELECT 2", "direct", result, result, Schema("zoo", ()))


def test_a_question_that_the_search_hides_is_shown_when_another_view_picks_it(zoo, explorer):
    explorer.picker.text.value = "question 1"
    explorer.picker.current.picked = (zoo.benchmark.name, "2")
    assert explorer.picker.text.value == ""
    assert explorer.picker.question.id == "2"


def test_picking_another_benchmark_shows_its_question_of_the_same_id(zoo, explorer, press):
    explorer.picker.name.value = "other"
    assert explorer.picker.question.id == "0"
    assert "other, question 0?" in explorer.prompt.value
    assert "zoo, question 0?" not in explorer.prompt.value
    press(explorer, "wb-run")
    assert "other, question 0?" in zoo.model.history[-1].messages[1]["content"]
    assert "SELECT max(legs) FROM animal" in explorer.answer.value
    assert "EX (BIRD): wrong" in explorer.answer.value


def test_a_question_that_cannot_be_opened_empties_the_views(zoo, other, tmp_path, press):
    broken = replace(other, databases=tmp_path / "nowhere")
    study = SimpleNamespace(lab=zoo.lab, benchmark=zoo.benchmark)
    explorer = PromptExplorer(study, {"one": zoo.system}, benchmarks=[zoo.benchmark, broken])
    explorer.picker.name.value = "other"
    assert "expected zoo/zoo.sqlite in" in explorer.message.value
    assert (explorer.prompt.value, explorer.step.options) == ("", ())
    press(explorer, "wb-run")
    assert "no call is chosen" in explorer.done.value
    assert zoo.model.history == []


def test_an_explorer_whose_first_question_cannot_be_opened_shows_the_error(zoo, other, tmp_path):
    broken = replace(other, databases=tmp_path / "nowhere")
    study = SimpleNamespace(lab=zoo.lab, benchmark=broken)
    assert "expected zoo/zoo.sqlite in" in PromptExplorer(study, {"one": zoo.system}).message.value


def test_an_explorer_of_no_system_is_refused(zoo):
    study = SimpleNamespace(lab=zoo.lab, benchmark=zoo.benchmark)
    with pytest.raises(BadInputError, match="no system is given"):
        PromptExplorer(study, {})


def test_a_search_narrows_the_list_and_a_search_without_hits_empties_the_views(explorer, press):
    explorer.picker.text.value = "question 1"
    assert [value for _, value in explorer.picker.list.options] == ["1"]
    assert "zoo, question 1?" in explorer.prompt.value
    explorer.picker.text.value = "no such words"
    assert explorer.picker.question is None
    assert "No question found." in explorer.picker.found.value
    assert explorer.prompt.value == ""
    press(explorer, "wb-run")
    assert "no call is chosen" in explorer.done.value


def test_a_system_that_was_not_run_shows_its_cost_before_it_is_asked(zoo, explorer, press):
    explorer.system.value = "warm"
    assert "1 call to make" in explorer.missing.value
    assert len(zoo.model.history) == 2
    press(explorer, "wb-ask-missing")
    assert explorer.missing.value == ""
    assert len(zoo.model.history) == 3


def test_an_edit_is_priced_before_it_is_run_and_undone_after(zoo, explorer, press):
    explorer.editor.source.value = explorer.editor.source.value.replace("expert", "novice")
    assert "1 call to make" in explorer.price.value
    assert len(zoo.model.history) == 2
    press(explorer, "wb-run")
    assert "novice" in zoo.model.history[-1].messages[0]["content"]
    assert "EX (BIRD): right" in explorer.answer.value
    assert "running it costs nothing" in explorer.price.value
    press(explorer, "wb-reset")
    assert "novice" not in explorer.editor.source.value


def test_a_text_of_the_context_is_edited_and_kept_while_another_is_looked_at(explorer, press):
    explorer.editor.variable.value = "hint"
    explorer.editor.data.value = "count them all"
    explorer.editor.variable.value = "question"
    explorer.editor.variable.value = "hint"
    assert explorer.editor.data.value == "count them all"
    press(explorer, "wb-diff-button")
    assert "<td>+</td><td>count them all</td>" in explorer.answer.value


def test_an_invalid_template_shows_the_line_of_its_error_and_no_price(explorer, press):
    press(explorer, "wb-run")
    assert "running it costs nothing" in explorer.price.value
    assert "EX (BIRD): right" in explorer.answer.value
    explorer.editor.source.value = "# System\n# User\n{{ question"
    assert "generate/direct.md:3" in explorer.price.value
    assert "costs nothing" not in explorer.price.value
    press(explorer, "wb-run")
    assert "generate/direct.md:3" in explorer.done.value
    assert explorer.answer.value == ""
    explorer.editor.source.value = "# System\n# User\n{{ question }}"
    assert "1 call to make" in explorer.price.value
    assert explorer.done.value == ""


def test_messages_of_buttons_are_shown_beside_the_buttons(explorer):
    (_, prompt, _) = explorer.box.children[0].children
    places = prompt.children
    (buttons,) = (
        n
        for n, each in enumerate(places)
        if explorer.editor.folder in getattr(each, "children", ())
    )
    assert places[buttons - 1] is explorer.done


def test_an_edited_template_is_saved_and_not_overwritten(explorer, tmp_path, press):
    explorer.editor.source.value = "# System\n# User\n{{ question }}"
    explorer.editor.folder.value = str(tmp_path / "mine")
    press(explorer, "wb-save")
    assert f"{tmp_path}/mine." in explorer.done.value
    assert f"<pre>prompts: {tmp_path}/mine</pre>" in explorer.done.value
    explorer.editor.source.value = "# System\n# User\n{{ hint }}"
    press(explorer, "wb-save")
    assert "exists and differs" in explorer.done.value
    assert (tmp_path / "mine/generate/direct.md").read_text().endswith("{{ question }}")


def test_the_path_of_a_saved_template_is_shown_until_another_question_is_picked(
    explorer, tmp_path, monkeypatch, press
):
    monkeypatch.chdir(tmp_path)
    press(explorer, "wb-save")
    assert f"{tmp_path}/my_prompts." in explorer.done.value
    explorer.picker.list.value = "1"
    assert explorer.done.value == ""


@pytest.mark.parametrize("name", ["", "  "])
def test_a_template_is_not_saved_in_a_folder_without_a_name(
    explorer, tmp_path, monkeypatch, name, press
):
    monkeypatch.chdir(tmp_path)
    explorer.editor.folder.value = name
    press(explorer, "wb-save")
    assert "no folder is named" in explorer.done.value
    assert not Path("generate").exists()


def test_the_cost_of_one_prompt_does_not_serve_another(zoo, press):
    two = replace(
        zoo.system,
        generate=(*zoo.system.generate, Generate("generate/query_plan", "m/x", data={"shots": 0})),
    )
    record(two, zoo.questions[0], zoo.lab, pay=True)
    explorer = PromptExplorer(SimpleNamespace(lab=zoo.lab, benchmark=zoo.benchmark), {"two": two})
    explorer.step.value = 1


def test_the_pool_browser_shows_candidates_with_their_verdicts(zoo):
    selection = record(zoo.system, zoo.questions[0], zoo.lab, pay=True).selection
    study = SimpleNamespace(lab=zoo.lab, benchmark=zoo.benchmark)
    browser = PoolBrowser(study, a_run(selection, correct=True))
    assert "Candidates: 1; results: 1." in browser.pool.value
    assert "right; ★ chosen" in browser.pool.value
    assert "Regrets: 0 of 1 questions" in browser.regrets.caption
    browser.picker.list.value = "3"
    assert "was not part of this run" in browser.pool.value


def a_run(selection, *, correct):
    import pandas as pd

    about = {"question_id": ["0"], "db_id": "zoo", "difficulty": "simple", "sql": selection.sql}
    questions = pd.DataFrame(about | {"correct": correct, "oracle": correct})
    page = {"generator": "direct", "group": 0, "correct": correct, "chosen": True}
    trials = pd.DataFrame(about | page)
    return SimpleNamespace(
        id="run", questions=questions, trials=trials, selection=lambda _: selection
    )
