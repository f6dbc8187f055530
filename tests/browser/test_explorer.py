"""The explorer and the comparison in a browser: walked through, timed, in both themes, with hostile texts."""

import re
import time

import pytest

import workbench as wb
from tests.browser.desk import PICTURES
from tests.browser.hostile import HOSTILE, case, explorer
from tests.browser.page import mount
from tests.browser.test_label import labeller
from workbench.label.store import Label

SCREENS = [("light", 1280, 800), ("dark", 1600, 1000)]
SIDEWAYS = "[...document.querySelectorAll('.wb, .wb > *')].filter(e => e.scrollWidth > e.clientWidth + 1).length"
NAMELESS = """[...document.querySelectorAll('.wb :is(input, select, textarea, button, [tabindex="0"])')]
    .filter(one => !(one.labels?.length || one.ariaLabel || one.textContent.trim() || one.title)).map(one => one.outerHTML)"""
IN_SIGHT = """() => { const one = document.activeElement, parts = [one, one.parentElement, one.closest('.scroll')].filter(Boolean);
    const look = () => parts.map(part => { const s = getComputedStyle(part); return [s.outlineStyle, s.outlineWidth, s.boxShadow, s.borderColor].join(); }).join();
    const focused = look(); one.blur(); const blurred = look(); one.focus(); return focused !== blurred; }"""


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKBENCH_HOME", str(tmp_path_factory.mktemp("explorer")))
        with wb.open_study("embedded") as study:
            study.sample(20).run(wb.zero_shot(study.model))
            yield study


@pytest.fixture
def widget(study):
    return wb.explore(study, wb.zero_shot(study.model), wb.direct(study.model))  # fmt: skip


def picture(page, name):
    PICTURES.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=PICTURES / f"explorer_{name}.png")


def part(page, name):
    return page.locator(f"[data-part={name}]")


@pytest.mark.parametrize(("theme", "wide", "high"), SCREENS)
def test_an_edited_prompt_turns_right_into_wrong_and_comes_to_the_grid(
    page, widget, expect, theme, wide, high
):
    page.set_viewport_size({"width": wide, "height": high})
    mount(page, widget, theme)
    keys, template = page.keyboard, page.get_by_label("template")
    page.get_by_role("button", name="Right", exact=True).click()
    page.locator(".row").first.click()
    expect(part(page, "verdict")).to_contain_text("RIGHT")
    assert part(page, "many").is_disabled()
    question = part(page, "question").text_content()
    picture(page, f"{theme}_right")

    keys.press("2")
    expect(page.locator("[data-section=Question] pre")).to_have_text(question)
    keys.press("1")
    template.fill(f"# User\n## Question\nWhat is {theme}?\n")
    expect(part(page, "run")).to_contain_text("free")
    page.get_by_role("button", name="Rendered").click()
    expect(page.locator("[data-section=Question] pre")).to_have_text(f"What is {theme}?")
    keys.press("Control+Enter")
    expect(part(page, "verdict")).to_contain_text("WRONG")
    expect(part(page, "verdict")).to_contain_text("was  RIGHT")
    expect(part(page, "reply")).to_contain_text("no schema")
    keys.press("3")
    picture(page, f"{theme}_wrong")
    part(page, "many").click()
    heads = part(page, "head")
    expect(heads).to_have_count(2)
    expect(heads.nth(1)).to_contain_text(
        re.compile(r"v1.*.*won 0, lost \d+, p 0.*generate/zero_shot")
    )
    lines = page.locator("tr.line")
    expect(lines).to_have_count(20)
    assert lines.first.get_by_label("differs").count() == 1
    lines.first.focus()
    keys.press("Enter")
    expect(page.locator("tr.open")).to_contain_text("Gold")
    picture(page, f"{theme}_compare")
    page.get_by_label("add a system").select_option("direct, chain of thought")
    expect(heads).to_have_count(3)
    page.get_by_role("button", name="Save variants").click()
    keys.type(f"{theme}")
    keys.press("Enter")
    expect(page.locator(".wb")).to_contain_text(f"variants/mine{theme}: v1")
    assert page.evaluate(SIDEWAYS) == 0
    assert page.evaluate(NAMELESS) == []


def test_a_missing_call_is_a_dashed_chip_with_its_price_and_is_asked(page, widget, expect):
    mount(page, widget)
    keys = page.keyboard
    page.locator(".list").focus()
    keys.press("ArrowDown")
    chip = page.locator(".chip.missing")
    expect(chip).to_contain_text("generate1 missing · free")
    expect(part(page, "verdict")).to_contain_text("no answer yet")
    chip.focus()
    keys.press("Enter")
    picture(page, "missing")
    keys.press("Enter")
    expect(page.locator(".chip.missing")).to_have_count(0)
    expect(part(page, "verdict")).to_contain_text(re.compile("RIGHT|WRONG"))
    page.get_by_label("template").fill("# User\n{{ question")
    expect(page.get_by_role("alert")).to_contain_text("zero_shot.md:2")
    assert part(page, "run").is_disabled()
    picture(page, "fault")


def test_it_goes_by_keyboard_with_the_focus_in_sight(page, widget, expect):
    mount(page, widget)
    keys, seen = page.keyboard, set()
    for _ in range(60):
        keys.press("Tab")
        if page.evaluate("document.activeElement === document.body"):
            break
        seen.add(
            page.evaluate(
                "document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent"
            )
        )
        assert page.evaluate(IN_SIGHT), page.evaluate("document.activeElement.outerHTML")
    assert {"system", "search questions", "questions", "template", "model", "result"} <= seen
    page.locator(".list").focus()
    keys.press("/")
    keys.type("submarine in a teapot")
    expect(page.locator(".list")).to_contain_text("No question has")
    keys.press("Escape")
    expect(part(page, "hits")).to_have_text("278")
    for key, shown in (("v", "Variables"), ("?", "Keys")):
        keys.press(key)
        expect(page.get_by_role("dialog")).to_contain_text(shown)
        keys.press("Escape")
    keys.press("c")
    expect(part(page, "more")).to_be_visible()
    keys.press("p")
    expect(page.locator(".list")).to_be_visible()


def test_questions_and_comparisons_come_at_once(page, study, widget):
    systems = [wb.zero_shot(study.model, think=think) for think in (True, False)]
    asked = [*systems, wb.direct(study.model)]
    wb.compare(*asked, study=study, limit=50)
    began = time.monotonic()
    found = wb.compare(*asked, study=study, limit=50).grid()
    assert len(found["rows"]) == 50
    assert time.monotonic() - began < 2
    chase = wb.chase_sql(study.model)
    study.sample(2).run(chase)
    big = wb.explore(study, chase)
    last, took = study.sample(2).benchmark.questions[-1].id, []
    for _ in range(5):
        began = time.monotonic()
        big.do_choose(last)
        took.append(time.monotonic() - began)
    assert sorted(took)[2] < 0.4  # on a busy machine
    rows = widget.rows
    widget.rows = [{**rows[n % len(rows)], "id": str(n)} for n in range(32_000)]
    mount(page, widget)
    times = page.evaluate(
        """() => { const timed = act => { const start = performance.now(); act(); document.body.getBoundingClientRect(); return performance.now() - start; };
        const list = document.querySelector('.list'), find = document.querySelector('.find input');
        return [timed(() => { list.scrollTop = 900000; list.dispatchEvent(new Event('scroll')); }),
          timed(() => { find.value = 'the'; find.dispatchEvent(new Event('input')); }),
          timed(() => list.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowDown', bubbles: true })))]; }"""
    )
    assert max(times) < 200
    assert page.locator(".row").count() < 40


def test_hostile_text_stays_text(page, tmp_path, monkeypatch):
    shapes = """() => { const shape = e => [e.tagName, [...e.getAttributeNames()].sort(), [...e.children].map(shape)];
        return JSON.stringify([...document.querySelectorAll('.wb')].map(shape)); }"""
    seen = {}
    for n, text in enumerate(["plain", *HOSTILE]):
        widget = explorer(text, tmp_path / str(n), monkeypatch)
        with page.context.new_page() as other:
            alarms = []
            other.on(
                "dialog", lambda dialog, a=alarms: (a.append(dialog.message), dialog.dismiss())
            )
            other.on("request", lambda request, a=alarms: a.append(request.url))
            mount(other, widget)
            other.get_by_text("▸ Reply").click()
            seen[text] = other.evaluate(shapes)
            for key in ("2", "v", "Escape"):
                other.locator(".list").press(key)
            for step in ("generate", "select"):
                other.locator(f"[data-step={step}]").click()
                seen[text] += other.evaluate(shapes)
            source = f"# User\n{{% raw %}}{text.replace('{%', '')}{{% endraw %}}"
            widget.do_keep({"generate/direct": {"source": source}})
            other.locator(".list").press("c")
            part(other, "more").click()
            other.locator("tr.line").first.click()
            other.locator("tr.open table").first.wait_for()
            seen[text] += other.evaluate(shapes)
            who = f"{text} ann"
            for name, title in ((who, "Other"), (f"{text} ben", "Gold Error")):
                labels = labeller(tmp_path / str(n), [case(text)], "MAC-SQL", who)
                labels.store.add(
                    [Label.of(case(text), "MAC-SQL", title, annotator=name, note=text)]
                )
            with other.context.new_page() as another:
                mount(another, labeller(tmp_path / str(n), [case(text)], "MAC-SQL", who))
                another.locator("details").last.evaluate("e => { e.open = true; }")
                another.locator("details pre").first.wait_for()
                seen[text] += another.evaluate(shapes)
            assert alarms == []
    tags = {text: set(re.findall(r'"([A-Z0-9]+)"', shape)) for text, shape in seen.items()}
    allowed = tags["plain"] | {"SPAN", "MARK"}  # a text of several words has tokens of its own
    assert [text for text, own in tags.items() if own - allowed] == []


def test_it_works_in_jupyterlab_in_both_themes(desk, expect):
    """The keys are the widget's, the cells stay, and the comparison of an idea stands below."""
    notebook = desk.small("notebooks/explore.ipynb", sample=6)
    desk.open(notebook)
    assert desk.run_all() == []
    cells, keys = desk.cells(), desk.page.keyboard
    root = desk.page.locator(".jp-OutputArea-output .wb:has(.list)")
    desk.stand_on("wb.explore(")
    desk.tab_to(root.locator(".list"))
    keys.type("dd")  # deletes a cell, had JupyterLab seen it
    keys.press("ArrowDown")
    expect(root.locator(".row[aria-selected=true]")).to_have_attribute("id", "q46")
    expect(root.locator("[data-part=question]")).to_contain_text("Danish owners")
    desk.tab_to(root.get_by_label("template"))
    keys.press("Control+A")
    keys.type("# User\n## Question\nWhat?")
    keys.press("Control+Enter")
    expect(root.locator("[data-part=verdict]")).to_contain_text("WRONG")
    desk.top(root)
    desk.picture("explorer_lab")
    assert desk.cells() == cells
    assert desk.sideways() == []
    grid = desk.page.locator(".jp-OutputArea-output .wb:not(:has(.list))")
    expect(grid.locator("[data-part=head]")).to_have_count(2)
    desk.page.set_viewport_size({"width": 1600, "height": 1000})
    desk.page.evaluate(
        "window.jupyterapp.commands.execute('apputils:change-theme', { theme: 'JupyterLab Dark' }).then(() => null)"
    )
    desk.page.wait_for_function("document.body.dataset.jpThemeLight === 'false'")
    desk.top(grid)
    desk.picture("explorer_lab_grid")
    desk.top(root)
    desk.picture("explorer_lab_dark")
    assert desk.console_errors == []
