"""The explorer and the comparison in a browser: walked through, timed, in both themes, with hostile texts."""

import re
import shutil
import time

import pytest

import workbench as wb
from tests.browser.hostile import HOSTILE, case, explorer
from tests.browser.page import SCREENS, SIDEWAYS, mount, part, picture
from tests.browser.test_label import labeller
from tests.explore.conftest import RIGHT, WRONG, zoo  # noqa: F401
from workbench.label.store import Label, LabelStore
from workbench.store import home

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
    shutil.rmtree(home() / "variants", ignore_errors=True)
    return wb.explore(study, wb.zero_shot(study.model), wb.direct(study.model))


@pytest.mark.parametrize(("theme", "wide", "high"), SCREENS)
def test_an_edit_turns_right_into_wrong_in_the_grid(
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
    picture(page, f"explorer_{theme}_right")

    keys.press("2")
    expect(page.locator("[data-section=Question] pre")).to_have_text(question)
    keys.press("1")
    template.fill(f"# User\n## Question\nWhat is {theme}?\n")
    expect(part(page, "run")).to_contain_text("free")
    page.get_by_role("button", name="Rendered").click()
    expect(page.locator("[data-section=Question] pre")).to_have_text(
        f"What is {theme}?"
    )
    keys.press("Control+Enter")
    expect(part(page, "verdict")).to_contain_text("WRONG")
    expect(part(page, "verdict")).to_contain_text("was  RIGHT")
    expect(part(page, "reply")).to_contain_text("no schema")
    keys.press("3")
    picture(page, f"explorer_{theme}_wrong")
    part(page, "many").click()
    heads = part(page, "head")
    expect(heads).to_have_count(2)
    expect(heads.nth(1)).to_contain_text(re.compile(r"v1.*won 0, lost \d+, p [01]"))
    lines = page.locator("tr.line")
    expect(lines).to_have_count(20)
    assert lines.first.get_by_label("differs").count() == 1
    lines.first.focus()
    keys.press("Enter")
    expect(page.locator("tr.open")).to_contain_text("Gold")
    picture(page, f"explorer_{theme}_compare")
    page.get_by_label("add a system").select_option("direct, chain of thought")
    expect(heads).to_have_count(3)
    page.get_by_role("button", name="Save variants").click()
    keys.type(theme)
    keys.press("Enter")
    expect(page.locator(".wb")).to_contain_text(f"variants/{theme}: v1")
    assert page.evaluate(SIDEWAYS) == 0
    assert page.evaluate(NAMELESS) == []


def test_a_missing_call_is_a_dashed_chip_with_its_price_and_is_asked(
    page, widget, expect
):
    mount(page, widget)
    keys = page.keyboard
    page.locator(".list").focus()
    keys.press("ArrowDown")
    chip = page.locator(".chip.missing")
    expect(chip).to_contain_text("generate1 missing · free")
    expect(part(page, "verdict")).to_contain_text("no answer yet")
    chip.focus()
    keys.press("Enter")
    picture(page, "explorer_missing")
    keys.press("Enter")
    expect(page.locator(".chip.missing")).to_have_count(0)
    expect(part(page, "verdict")).to_contain_text(re.compile("RIGHT|WRONG"))
    page.get_by_label("template").fill("# User\n{{ question")
    expect(page.get_by_role("alert")).to_contain_text("zero_shot.md:10")
    assert part(page, "run").is_disabled()
    picture(page, "explorer_fault")


def test_a_template_has_numbered_lines_and_its_fault_is_at_its_line(
    page, widget, expect
):
    """The front matter is folded, and the message lies over the template, which stays where it is."""
    mount(page, widget)
    template, gutter = page.get_by_label("template"), page.locator(".no")
    expect(gutter.first).to_have_text("9")
    assert template.input_value().startswith("# System")
    page.locator(".fold").click()
    expect(gutter.first).to_have_text("1")
    assert template.input_value().startswith("---")
    page.locator(".fold").click()
    before = page.locator(".edit").bounding_box()
    template.fill("# User\n{{ question }}\n{{ qestion }}")
    expect(page.locator(".at.fault .no")).to_have_text("✕ 11")
    expect(page.get_by_role("alert")).to_contain_text("qestion")
    after = page.locator(".edit").bounding_box()
    assert (before["x"], before["y"]) == (after["x"], after["y"])
    page.locator(".list").press("r")
    expect(page.locator(".at.fault")).to_have_count(0)


def test_edits_and_variants_come_back_and_are_told_apart(page, study, widget, expect):
    mount(page, widget)
    keys, heads = page.keyboard, part(page, "head")
    template = page.get_by_label("template")
    template.fill("# User\n## Question\n{{ question }}")
    expect(part(page, "many")).to_be_enabled()
    keys.press("Control+Shift+Enter")
    expect(heads).to_have_count(2)
    keys.press("p")
    template.fill("# User\n## Question\n{{ question }}\n{{ schema }}\nBe brief.")
    expect(part(page, "many")).to_be_enabled()
    keys.press("Control+Shift+Enter")
    expect(heads).to_have_count(3)
    notes = [heads.nth(n).text_content() for n in (1, 2)]
    assert notes[0][2:] != notes[1][2:]
    heads.nth(2).get_by_role("button").click()
    menu = page.get_by_role("dialog")
    expect(menu.locator(".dline.p").last).to_contain_text("Be brief.")
    keys.type("brief")
    keys.press("Enter")
    expect(heads.nth(2).get_by_role("button")).to_have_text("brief")  # in place of v2
    picture(page, "explorer_variants")
    with page.context.new_page() as other:
        mount(other, wb.explore(study, wb.zero_shot(study.model)), "dark")
        expect(other.get_by_label("template")).to_have_value(re.compile("Be brief"))
        other.locator(".list").press("c")
        expect(other.locator(".variant-line")).to_have_count(2)
        picture(other, "explorer_after_a_restart")
        other.locator(".variant-line button").first.click()
        other.get_by_role("button", name="Edit again").click()
        expect(other.get_by_label("template")).not_to_have_value(re.compile("Be brief"))
        other.locator(".list").press("c")
        other.locator(".variant-line button").last.click()
        other.get_by_role("button", name="Remove").click()
        expect(other.locator(".variant-line")).to_have_count(1)


def test_a_comparison_in_which_nothing_differs_is_one_line(page, widget, expect):
    mount(page, widget)
    source = page.get_by_label("template").input_value()
    page.get_by_label("template").fill(f"{source}\n")
    expect(part(page, "many")).to_be_enabled()
    part(page, "many").click()
    expect(page.locator(".nothing")).to_contain_text(
        "all columns are right on 1 of 20 questions"
    )
    assert page.locator("tr.line").count() == 0
    picture(page, "explorer_nothing_differs")
    part(page, "equal").click()
    expect(page.locator("tr.line")).to_have_count(20)


def test_a_kernel_that_is_gone_is_told_and_ends_the_waiting(page, widget, expect):
    mount(page, widget)
    page.get_by_label("template").fill("# User\n{{ question }}")
    expect(part(page, "run")).to_contain_text("free")
    page.evaluate("window.silent = true")
    part(page, "run").click()
    expect(part(page, "run")).to_have_text("Running…")
    page.evaluate("fire('comm_live_update')")
    expect(page.get_by_role("alert")).to_contain_text("the kernel is gone")
    expect(part(page, "run")).to_be_enabled()
    page.evaluate("window.dead = true")
    page.locator(".list").press("r")
    expect(page.get_by_role("alert")).to_contain_text("the kernel is gone")
    picture(page, "explorer_kernel_gone")


@pytest.mark.parametrize(("theme", "wide", "high"), SCREENS)
def test_an_agents_turns_are_read_as_a_conversation(
    zoo,  # noqa: F811
    page,
    expect,
    theme,
    wide,
    high,
):
    page.set_viewport_size({"width": wide, "height": high})
    zoo.replies[:] = ["I look at the legs first.\n" + WRONG, "**Final SQL**\n" + RIGHT]
    widget = wb.explore(zoo.study, wb.agent(zoo.study.model))
    widget.do_choose("0", pay=True)
    mount(page, widget, theme)
    turns = part(page, "turn")
    expect(turns).to_have_count(2)
    expect(turns.first).to_contain_text(
        "I look at the legs first.SELECT legsFROM animal4 rows:"
    )
    expect(turns.first).to_have_attribute("aria-current", "step")
    turns.last.get_by_role("button").click()
    expect(turns.last).to_have_attribute("aria-current", "step")
    expect(part(page, "verdict")).to_contain_text("RIGHT")
    picture(page, f"explorer_{theme}_conversation")
    assert page.evaluate(SIDEWAYS) == 0


def test_another_model_has_no_price_before_it_is_known(page, widget, expect):
    mount(page, widget)
    expect(part(page, "run")).to_contain_text("cached")
    model = page.get_by_role("combobox", name="model")
    model.select_option("another model…")
    page.keyboard.type("openai/gpt-4o-mini")  # in place of the old name
    widget.do_render = lambda **_: (
        {"fault": ""} | {"model": "still unknown", "parts": []}
    )
    page.keyboard.press("Enter")
    expect(model).to_have_value("openai/gpt-4o-mini")
    expect(part(page, "run")).to_contain_text("…")
    assert part(page, "run").is_disabled()
    del widget.do_render
    page.locator(".list").press("r")
    expect(part(page, "run")).to_contain_text("cached")


def test_the_keys_go_on_from_the_search_and_from_a_choice(page, widget, expect):
    mount(page, widget)
    keys = page.keyboard
    page.locator(".list").press("/")
    keys.type("berths at the fish dock")
    keys.press("Enter")
    expect(part(page, "question")).to_contain_text("berths at the fish dock")
    keys.press("ArrowDown")
    expect(page.locator(".row[aria-selected=true]")).to_have_count(1)
    page.get_by_label("system").focus()
    keys.press("2")
    expect(page.get_by_role("button", name="Rendered")).to_have_attribute(
        "aria-pressed", "true"
    )
    keys.press("?")
    expect(page.get_by_role("dialog")).to_contain_text("Keys")


def test_it_goes_by_keyboard_with_the_focus_in_sight(page, widget, expect):
    mount(page, widget)
    keys, seen = page.keyboard, set()
    for _ in range(60):
        keys.press("Tab")
        if page.evaluate("document.activeElement === document.body"):
            break
        seen.add(page.evaluate("document.activeElement.ariaLabel ?? document.activeElement.textContent"))  # fmt: skip
        assert page.evaluate(IN_SIGHT), page.evaluate(
            "document.activeElement.outerHTML"
        )
    assert {
        "system",
        "search questions",
        "questions",
        "template",
        "model",
        "result",
    } <= seen
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


def test_questions_and_comparisons_come_at_once(page, study, widget, expect):
    systems = [wb.zero_shot(study.model, think=think) for think in (True, False)]
    asked = [*systems, wb.direct(study.model)]
    wb.compare(*asked, study=study.sample(50))
    began = time.monotonic()
    found = wb.compare(*asked, study=study.sample(50)).grid()
    assert len(found["rows"]) == 50
    assert time.monotonic() - began < 2
    chase = wb.chase_sql(study.model)
    study.sample(2).run(chase)
    big = wb.explore(study, chase)
    last, took = study.sample(2).benchmark.questions[-1].id, []
    for _ in range(5):
        began = time.thread_time()
        big.do_choose(last)
        took.append(time.thread_time() - began)
    assert min(took) < 0.3
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
    for _ in range(25):
        page.locator(".list").press("ArrowDown")
    expect(page.locator(".row[aria-selected=true]")).to_be_in_viewport(ratio=1)


def test_hostile_text_stays_text(page, tmp_path, monkeypatch):
    shapes = """() => { const shape = e => [e.tagName, [...e.getAttributeNames()].sort(), [...e.children].map(shape)];
        return JSON.stringify([...document.querySelectorAll('.wb')].map(shape)); }"""
    tags = {}
    for n, text in enumerate(["plain", *HOSTILE]):
        folder, seen = tmp_path / str(n), []
        widget = explorer(text, folder, monkeypatch)
        with page.context.new_page() as other:
            mount(other, widget)
            other.get_by_text("▸ Reply").click()
            seen.append(other.evaluate(shapes))
            for key in ("2", "v", "Escape"):
                other.locator(".list").press(key)
            for step in ("generate", "select"):
                other.locator(f"[data-step={step}]").click()
                seen.append(other.evaluate(shapes))
            source = f"# User\n{{% raw %}}{text.replace('{%', '')}{{% endraw %}}"
            widget.do_keep({"generate/direct": {"source": source}})
            other.locator(".list").press("c")
            part(other, "more").click()
            part(other, "equal").click()
            other.locator("tr.line").first.click()
            other.locator("tr.open table").first.wait_for()
            seen.append(other.evaluate(shapes))
        labels = LabelStore(folder / "labels.sqlite")
        for name, title in ((f"{text} ann", "Other"), (f"{text} ben", "Gold Error")):
            labels.add([Label.of(case(text), name, "MAC-SQL", [title], text)])
        with page.context.new_page() as other:
            mount(other, labeller(folder, [case(text)], "MAC-SQL", f"{text} ann"))
            other.locator("details").last.evaluate("e => { e.open = true; }")
            other.locator("details pre").first.wait_for()
            seen.append(other.evaluate(shapes))
        tags[text] = set(re.findall(r'"([A-Z0-9]+)"', "".join(seen)))
    # A text of several words has tokens of its own.
    allowed = tags["plain"] | {"SPAN", "MARK"}
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
    expect(root.locator("[data-part=verdict]")).to_contain_text("as before")
    desk.top(root)
    desk.picture("explorer_lab")
    assert desk.cells() == cells
    assert desk.sideways() == []
    grid = desk.page.locator(".jp-OutputArea-output .wb:not(:has(.list))")
    expect(grid.locator("[data-part=head]")).to_have_count(2)
    desk.page.set_viewport_size({"width": 1600, "height": 1000})
    desk.page.evaluate("desk.darken()")
    desk.page.wait_for_function("document.body.dataset.jpThemeLight === 'false'")
    desk.top(grid)
    desk.picture("explorer_lab_grid")
    desk.top(root)
    desk.picture("explorer_lab_dark")
    assert desk.console_errors == []
