"""Two annotators to agreement and figure, by keyboard alone, in the steps that notebooks/README.md has."""

import re

import pytest

from tests.browser.desk import ROOT

PARTS = (
    "question", "hint", "gold-sql", "predicted-sql", "differences", "gold-result", "predicted-result",
)  # fmt: skip


def steps():
    """The numbers of the steps that the README has."""
    text = (ROOT / "notebooks/README.md").read_text(encoding="utf-8")
    (part,) = re.findall(r"## Label errors with others\n(.*?)\n## ", text, re.DOTALL)
    return re.findall(r"^(\d)\. ", part, re.MULTILINE)


@pytest.mark.usefixtures("no_labels")
def test_two_annotators_reach_agreement_and_a_figure_in_six_steps(desk, expect):
    assert steps() == ["1", "2", "3", "4", "5", "6"]
    direct = {"wb.chase_sql(study.model)": "wb.direct(study.model)"}  # one call a question
    notebook = desk.small(
        "notebooks/label_errors.ipynb", direct, limit=24, annotator="ann", taxonomy="MAC-SQL"
    )
    desk.open(notebook)
    assert desk.run_all() == []
    keys = desk.page.keyboard
    active = desk.page.locator(".jp-Cell.jp-mod-active")

    def part(name):
        return active.get_by_test_id(name)

    desk.stand_on("labeller = wb.labels.label(")
    desk.tab_to(part("labeller"))
    expect(part("found")).to_have_text("24 of 24 questions read, no limit")
    for name in PARTS:
        box = part(name).bounding_box()
        assert box, f"{name} is there"
        assert box["y"] >= 0, f"{name} is on the screen"
        assert box["y"] + box["height"] <= 800, f"{name} is on the screen"
    desk.picture("label_walk_case")
    for number, key in enumerate("12345", 1):
        keys.press(key)
        expect(part("progress")).to_contain_text(f"{number} of ")
    keys.press("Shift+A")
    keys.type("bob")
    keys.press("Enter")
    expect(part("status")).to_have_text("labelling as bob")
    for number, key in enumerate("12344", 1):
        keys.press(key)
        expect(part("progress")).to_contain_text(f"{number} of ")
    keys.press("Shift+J")
    keys.type("1")
    keys.press("Enter")
    expect(part("position")).to_contain_text("case 1 of ")
    keys.press("Shift+R")
    expect(part("status")).to_have_text("both queries are right")
    expect(part("error")).to_be_hidden()

    assert desk.run_all() == []
    desk.stand_on("wb.labels.agreement(given)")
    expect(active.locator("tbody tr")).to_have_count(2)
    expect(active.locator("tbody")).to_contain_text("0.8")
    desk.stand_on("confused = wb.labels.confused(")
    expect(active.locator("table")).to_contain_text("Question Misunderstand")
    desk.stand_on("wb.labels.adjudicate(")
    expect(part("position")).to_have_text("case 1 of 1")
    desk.stand_on("corrected = wb.labels.peoples_gold(")
    expect(active).to_contain_text("1 questions with further right queries")

    figure = desk.small(
        "notebooks/mac_sql/errors.ipynb",
        {"wb.mac_sql(study.model)": "wb.direct(study.model)"},
        limit=24,
    )
    desk.open(figure)
    assert desk.run_all() == []
    desk.stand_on('mac_figure_6"')
    expect(active.locator("img")).to_be_visible()
    desk.picture("label_walk_figure")
