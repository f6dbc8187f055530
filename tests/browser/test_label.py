"""The labelling notebook in JupyterLab, by keyboard alone: ten cases, an undo, a note, a page loaded anew."""

import pytest

pytestmark = pytest.mark.browser


def test_ten_cases_are_labelled_and_found_again(desk, expect):
    notebook = desk.small(
        "notebooks/label_errors.ipynb",
        {
            "workbench.systems.chase_sql import chase_sql": "workbench.systems.baselines import direct"
        }
        | {"chase_sql(study.model)": "direct(study.model)"},  # one call a question
        limit=24,
        taxonomy="MAC-SQL",
    )
    desk.open(notebook)
    assert desk.run_all() == []
    cells = desk.cells()
    keys = desk.page.keyboard

    def part(name):
        return desk.page.get_by_test_id(name)

    def labelled(number):
        expect(part("progress")).to_contain_text(f"{number} of ")

    desk.stand_on("labeller = label(")
    desk.tab_to(part("labeller"))
    labelled(0)
    desk.picture("label_first")
    for number, key in enumerate("1234567", 1):
        keys.press(key)
        labelled(number)
    keys.press("u")
    labelled(6)
    expect(part("position")).to_contain_text("case 7 ")
    for number, key in enumerate("8765", 7):
        if number == 10:
            keys.press("/")
            keys.type("dd <b>two</b>")  # `d d` deletes a cell, had JupyterLab seen it
            keys.press("Escape")
        keys.press(key)
        labelled(number)
    expect(part("error")).to_be_hidden()
    desk.picture("label_ten")
    assert desk.sideways() == []
    assert desk.cells() == cells

    desk.reload(notebook)
    desk.stand_on("labeller = label(")
    labelled(10)
    assert desk.run_all() == []
    desk.stand_on("labeller = label(")
    labelled(10)
    desk.stand_on("labels_frame(given)")
    table = desk.page.locator(".jp-mod-active table")
    expect(table.locator("tbody tr")).to_have_count(10)
    expect(table).to_contain_text("dd <b>two</b>")
    expect(table).to_contain_text("Other")
    desk.picture("label_found")
