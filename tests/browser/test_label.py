"""The labelling notebook in JupyterLab, by keyboard alone: ten cases, an undo, a note, a page loaded anew, disputes."""

import pytest

ANN = """
from workbench.label.store import label_of
if not store.labels(taxonomy=kinds.name, automatic=False):
    store.add(label_of(case, kinds.name, "Other", annotator="ann", note="so I say") for case in sample[:3])
given ="""


@pytest.mark.usefixtures("no_labels")
def test_ten_cases_are_labelled_and_found_again(desk, expect):
    notebook = desk.small(
        "notebooks/label_errors.ipynb",
        {
            "wb.chase_sql(study.model)": "wb.direct(study.model)",  # one call a question
            "given =": ANN,  # another annotator has been there
        },
        limit=24,
        taxonomy="MAC-SQL",
    )
    desk.open(notebook)
    assert desk.run_all() == []
    cells = desk.cells()
    keys = desk.page.keyboard
    active = desk.page.locator(".jp-mod-active")

    def part(name):
        return active.get_by_test_id(name)

    def labelled(number):
        expect(part("progress")).to_contain_text(f"{number} of ")

    desk.stand_on("labeller = wb.labels.label(")
    desk.tab_to(part("labeller"))
    labelled(0)
    desk.picture("label_first")
    for number, key in enumerate("1234567", 1):
        assert desk.sideways() == []
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
    desk.stand_on("labeller = wb.labels.label(")
    labelled(10)
    assert desk.run_all() == []
    desk.stand_on("labeller = wb.labels.label(")
    labelled(10)
    desk.stand_on("labels_frame(given)")
    table = active.locator("table")
    expect(table.locator("tbody tr")).to_have_count(10)
    expect(table).to_contain_text("dd <b>two</b>")
    expect(table).to_contain_text("Other")
    desk.picture("label_found")

    desk.stand_on("disputed = wb.labels.disputes(")
    expect(active.locator("tbody tr")).to_have_count(6)
    desk.stand_on("adjudicate(")
    expect(part("position")).to_have_text("case 1 of 3")
    expect(part("opinions")).to_contain_text("ann: Other (so I say)")
    desk.tab_to(part("labeller"))
    desk.picture("label_adjudicate")
    keys.press("?")
    expect(part("keys")).to_contain_text("take back the last label")
    expect(part("keys")).to_contain_text("The gold query contradicts the question")
    desk.picture("label_keys")
    keys.press("Escape")
    expect(part("opinions")).to_be_visible()
    keys.press("1")
    labelled(1)
    expect(part("position")).to_have_text("case 2 of 3")
    assert desk.sideways() == []

    desk.leave()
    keys.press("2")
    expect(part("error")).to_contain_text("Nothing was saved: the kernel is gone")
    desk.picture("label_kernel_gone")
