"""The explorer and the variants by Tab, arrow keys, Enter and Escape alone, with the focus in sight at each stop."""

from tests.browser.desk import ROOT

CHANGED = """
import workbench as wb
from pathlib import Path

changed = Path("brief")
(changed / "generate").mkdir(parents=True, exist_ok=True)
template = Path({template!r}).read_text().replace("{{{{ hint or", '{{{{ "" or')
(changed / "generate" / "direct.md").write_text(template)
study = wb.open_study("embedded", limit=6)
wb.PromptExplorer(study, {{"direct": wb.direct(study.model)}})
"""
COMPARE = 'wb.compare(wb.direct, prompts=[None, "brief"], limit=20)'

# Whether the focused element, or the box that it lies in, looks other than without the focus. JupyterLab's own buttons
# count as seen: how they show the focus is JupyterLab's matter.
IN_SIGHT = """() => {
  const one = document.activeElement;
  if (!one.closest(".jp-OutputArea")) return true;
  const parts = [one, one.parentElement];
  const look = () => parts.map((part) => {
    const style = getComputedStyle(part);
    const outline = style.outlineStyle === "none" ? "" : style.outlineWidth + style.outlineColor;
    return [outline, style.boxShadow, style.borderColor, style.backgroundColor].join(" ");
  }).join("; ");
  const focused = look();
  one.blur();
  const blurred = look();
  one.focus();
  return focused !== blurred;
}"""


def test_the_explorer_and_the_variants_need_no_mouse(desk, expect):
    template = str(ROOT / "workbench" / "prompts" / "generate" / "direct.md")
    desk.open(desk.write("keyboard.ipynb", CHANGED.format(template=template), COMPARE))
    assert desk.run_all() == []
    explorer = desk.page.locator(".wb-prompt-explorer")
    variants = desk.page.locator(".wb-variants").last
    keys = desk.page.keyboard
    unseen = []

    def view(name):
        return explorer.locator(f".{name}")

    def is_marked():
        desk.page.wait_for_timeout(200)
        return desk.page.evaluate(IN_SIGHT)

    def walk_to(locator):
        for _ in range(40):
            keys.press("Tab")
            # On a busy machine, a mark may take a second to appear.
            if not any(is_marked() for _ in range(10)):
                unseen.append(desk.page.evaluate("document.activeElement.outerHTML.slice(0, 200)"))
            if locator.evaluate("element => element.contains(document.activeElement)"):
                return
        raise AssertionError(f"40 times Tab do not lead to {locator}")

    desk.stand_on("wb.PromptExplorer(")
    walk_to(view("wb-question"))
    desk.picture("keyboard_focus_question")
    keys.press("ArrowDown")
    expect(view("wb-answer-view")).to_contain_text("Gold's query")
    walk_to(view("wb-template"))
    desk.picture("keyboard_focus_template")
    keys.press("Control+End")
    keys.type("\nBe brief.")
    expect(view("wb-price-view")).to_contain_text("Not cached")
    walk_to(view("wb-run"))
    desk.picture("keyboard_focus_run")
    keys.press("Enter")
    expect(view("wb-answer-view")).to_contain_text("asked now")
    walk_to(view("wb-plans"))
    keys.press("Enter")
    expect(view("wb-answer-view")).to_contain_text("Their plans")
    desk.picture("keyboard_result")

    keys.press("Escape")
    keys.press("ArrowDown")
    active = desk.page.locator(".jp-Cell.jp-mod-active")
    expect(active).to_contain_text("wb.compare(")
    walk_to(variants.locator(".wb-questions tbody"))
    keys.press("ArrowDown")
    keys.press("Enter")
    opened = variants.locator(".wb-variants-question")
    expect(opened).to_contain_text("EX (BIRD)")
    expect(opened.locator("h3")).to_be_in_viewport(ratio=1)
    desk.picture("keyboard_variants")
    walk_to(variants.locator(".wb-variants-plans"))
    keys.press("Enter")
    expect(opened).to_contain_text("Their plans")
    desk.picture("keyboard_variants_plans")
    assert unseen == []
