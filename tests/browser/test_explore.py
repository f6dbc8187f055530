"""The exploring notebook in JupyterLab, by keyboard alone: find a question, edit a prompt, run it."""

import pytest

pytestmark = pytest.mark.browser

CHOSEN = "select => select.selectedOptions[0].text.replaceAll('\\u00a0', ' ')"


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
    desk.picture("explore_question")

    desk.tab_to(view("wb-step"))
    keys.press("ArrowDown")
    expect(view("wb-prompt-view")).to_contain_text("generate/divide_and_conquer")
    expect(view("wb-price-view")).to_contain_text("In the lab book")
    desk.tab_to(view("wb-template"))
    keys.press("Control+End")
    keys.type("\nBe brief: name no column twice.")
    expect(view("wb-price-view")).to_contain_text("Not in the lab book")
    desk.picture("explore_edit")
    desk.tab_to(view("wb-run"))
    keys.press("Enter")
    expect(view("wb-answer-view")).to_contain_text("asked now")
    expect(view("wb-answer-view")).to_contain_text("name no column twice")
    expect(view("wb-price-view")).to_contain_text("In the lab book")
    desk.top(view("wb-answer-view"))
    desk.picture("explore_answer")

    assert desk.cells() == cells
    assert desk.sideways() == []
    for name in ("pool", "cache"):
        desk.top(desk.page.locator(f".wb-{name}-browser"))
        desk.picture(f"explore_{name}")
