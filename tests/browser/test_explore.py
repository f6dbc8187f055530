"""The exploring notebook in JupyterLab, by keyboard alone: find a question, edit a prompt, run it."""

import pytest

CHOSEN = "select => select.selectedOptions[0].text.replaceAll('\\u00a0', ' ')"
NAMELESS = """box => [...box.querySelectorAll("input, select, textarea, button, canvas, [tabindex='0']")]
    .filter((one) => !(one.labels?.length || one.ariaLabel || one.textContent.trim() || one.title))
    .map((one) => one.outerHTML)"""
SMALL = """
from workbench.benchmarks.load import open_benchmark
from workbench.explore.prompt_explorer import PromptExplorer
from workbench.study import open_study
from workbench.systems.baselines import direct

study = open_study("embedded", limit=2)
both = [study.benchmark, open_benchmark("bundled-train")]
PromptExplorer(study, {"zero-shot": direct(study.model)}, benchmarks=both)
"""


def test_a_question_is_explored_and_an_edited_prompt_runs(desk, expect):
    desk.open(desk.small("notebooks/explore.ipynb", limit=2))
    assert desk.run_all() == []
    cells = desk.cells()
    explorer = desk.page.locator(".wb-prompt-explorer")
    keys = desk.page.keyboard

    def view(name):
        return explorer.locator(f".{name}")

    desk.stand_on("PromptExplorer(")
    desk.tab_to(view("wb-question"))
    before = view("wb-question").locator("select").evaluate(CHOSEN)
    keys.type("dd")  # deletes a cell, had JupyterLab seen it
    keys.press("ArrowDown")
    question = view("wb-question").locator("select").evaluate(CHOSEN)
    assert question != before
    expect(view("wb-prompt-view")).to_contain_text(question.split(" · ")[-1])
    desk.top(explorer)
    for name in ("wb-prompt-view", "wb-template", "wb-answer-view", "wb-save"):
        expect(view(name)).to_be_in_viewport(ratio=0.2)
    desk.picture("explore_question")

    desk.tab_to(view("wb-step"))
    keys.press("ArrowDown")
    expect(view("wb-prompt-view")).to_contain_text("generate/query_plan")
    expect(view("wb-answer-view")).to_contain_text("Gold's result")
    expect(view("wb-price-view")).to_contain_text("✓ Cached")
    desk.tab_to(view("wb-template"))
    keys.press("Control+End")
    keys.type("\nBe brief: name no column twice.")
    expect(view("wb-price-view")).to_contain_text("Not cached")
    desk.picture("explore_edit")
    desk.tab_to(view("wb-run"))
    keys.press("Enter")
    expect(view("wb-answer-view")).to_contain_text("asked now")
    expect(view("wb-answer-view")).to_contain_text("name no column twice")
    expect(view("wb-price-view")).to_contain_text("✓ Cached")
    desk.top(view("wb-answer-view"))
    desk.picture("explore_answer")

    assert desk.cells() == cells
    assert desk.sideways() == []
    for name in ("pool", "run", "cache"):
        desk.top(desk.page.locator(f".wb-{name}-browser"))
        desk.picture(f"explore_{name}")


def test_a_view_that_opens_again_leaves_the_reader_where_she_was(desk, expect):
    desk.open(desk.small("notebooks/explore.ipynb", limit=2))
    assert desk.run_all() == []
    for name in ("PoolBrowser", "PromptExplorer"):
        desk.stand_on(f"wb.{name}(")
        code = desk.page.locator(".jp-mod-active .jp-InputArea")
        before = desk.where(code)
        desk.page.keyboard.press("Control+Enter")
        desk.page.wait_for_timeout(3000)
        expect(desk.page.locator(".jp-mod-active .wb-question option")).not_to_have_count(0)
        assert desk.where(code) == pytest.approx(before, abs=5)
        assert desk.page.evaluate("document.activeElement.closest('.wb-explorer')") is None


def test_every_control_of_the_views_has_a_name(desk):
    desk.open(desk.small("notebooks/explore.ipynb", limit=2))
    assert desk.run_all() == []
    for name in ("prompt-explorer", "pool-browser", "run-browser", "cache-browser"):
        desk.top(desk.page.locator(f".wb-{name}"))
        assert desk.page.locator(f".wb-{name}").evaluate(NAMELESS) == []


def test_another_benchmark_shows_its_own_question_and_what_went_wrong_is_on_the_screen(
    desk, expect
):
    desk.open(desk.write("small_explore.ipynb", SMALL))
    assert desk.run_all() == []
    explorer = desk.page.locator(".wb-prompt-explorer")
    keys = desk.page.keyboard

    def view(name):
        return explorer.locator(f".{name}")

    def press(name):
        """As the last thing on the screen: what it says must come into sight of its own."""
        view(name).evaluate("button => { button.scrollIntoView({ block: 'end' }); button.focus() }")
        keys.press("Enter")

    before = view("wb-question").locator("select").evaluate(CHOSEN)
    view("wb-benchmark").locator("select").select_option("bundled-train")
    expect(view("wb-question").locator("option")).not_to_have_count(2)
    question = view("wb-question").locator("select").evaluate(CHOSEN)
    number, *_, text = question.removesuffix("…").split(" · ")
    assert number == before.split(" · ")[0]  # under the same id
    assert text not in before
    expect(view("wb-prompt-view")).to_contain_text(text)
    expect(view("wb-prompt-view")).not_to_contain_text(before.split(" · ")[-1])

    view("wb-model").locator("input").fill("nonsense")
    press("wb-run")
    expect(explorer.get_by_role("alert")).to_contain_text("names no provider")
    expect(explorer.get_by_role("alert")).to_be_in_viewport(ratio=1)
    expect(view("wb-run")).to_be_in_viewport(ratio=1)
    desk.picture("explore_wrong")
    press("wb-save")
    expect(view("wb-saved")).to_contain_text(str(desk.folder / "my_prompts"))
    expect(view("wb-saved")).to_be_in_viewport(ratio=1)
    desk.picture("explore_saved")

    view("wb-template").locator("textarea").fill("# System\n# User\n{{ question")
    expect(view("wb-price-view")).to_contain_text("generate/direct.md:3")
    expect(view("wb-price-view")).not_to_contain_text("ached")
    desk.picture("explore_broken")
