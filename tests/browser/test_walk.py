"""From an idea to its table, as the README says it, by keyboard alone: three steps, each timed."""

import re
import time

from tests.browser.desk import ROOT

STEPS = re.findall(r"(?m)^(\d)\. .*?\*([^*]+)\*", (ROOT / "README.md").read_text())
LIMIT = 10  # times the seconds that a step takes on two idle cores


def test_a_changed_prompt_comes_to_its_table_in_three_steps(desk, expect, record_property):
    assert [name for _, name in STEPS] == ["Template", "Save the template", "Compare"]
    notebook = desk.small("notebooks/explore.ipynb", limit=12)
    desk.open(notebook)
    assert desk.run_all() == []
    explorer = desk.page.locator(".wb-prompt-explorer")
    keys = desk.page.keyboard
    seconds = []

    def view(name):
        return explorer.locator(f".{name}")

    def step(do):
        began = time.monotonic()
        do()
        seconds.append(time.monotonic() - began)

    def edit():
        desk.tab_to(view("wb-template"))
        keys.press("Control+End")
        keys.type("\nName no column twice.")
        expect(view("wb-price-view")).to_contain_text("Not cached")

    def save():
        desk.tab_to(view("wb-save"))
        keys.press("Enter")
        expect(view("wb-saved")).to_contain_text("my_prompts")

    def compare():
        desk.stand_on("wb.PromptExplorer(")
        desk.tab_to(explorer.get_by_role("button", name="Variants", exact=True))
        keys.press("Enter")
        desk.tab_to(view("wb-variants-run"))
        keys.press("Enter")
        expect(view("wb-variants-view")).to_contain_text("Variants side by side")
        expect(view("wb-questions")).to_contain_text("The variants disagree on")
        expect(view("wb-variants-view")).to_be_in_viewport()

    desk.stand_on("wb.PromptExplorer(")
    expect(view("wb-prompt-view")).to_contain_text("The prompt as sent")
    desk.tab_to(view("wb-system"))
    keys.type("zero")
    expect(view("wb-prompt-view")).to_contain_text("generate/zero_shot")
    for one in (edit, save, compare):
        step(one)
    for name, took in zip(("edit", "save", "compare"), seconds, strict=True):
        record_property(f"seconds to {name}", round(took, 1))
    print("seconds:", [round(took, 1) for took in seconds])
    assert len(seconds) == len(STEPS) == 3
    desk.picture("walk_table")

    desk.tab_to(view("wb-questions").locator("tbody"))
    keys.press("ArrowDown")
    keys.press("Enter")
    expect(view("wb-variants-question")).to_contain_text("my_prompts: ")
    desk.picture("walk_question")
    assert desk.sideways() == []
    assert desk.console_errors == []
