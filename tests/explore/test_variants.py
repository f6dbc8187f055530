"""Variants of a system: one table, the questions on which they disagree first, and an experiment of each."""

from dataclasses import replace
from pathlib import Path

import pytest

import workbench as wb
from workbench.errors import BadInputError
from workbench.explore.compare.variants_view import VariantsView

CHECKOUT = Path(__file__).parents[2]

DIRECT = CHECKOUT / "workbench" / "prompts" / "generate" / "direct.md"


@pytest.fixture(scope="module")
def variants(tmp_path_factory):
    """The packaged prompt, one that shows no hint, and the packaged one again."""
    folder = tmp_path_factory.mktemp("prompts") / "no_hint"
    (folder / "generate").mkdir(parents=True)
    text = DIRECT.read_text().replace("{{ hint or", '{{ "" or')
    (folder / "generate" / "direct.md").write_text(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKBENCH_HOME", str(tmp_path_factory.mktemp("home")))
        patch.chdir(tmp_path_factory.mktemp("here"))
        with wb.compare(wb.direct, prompts=[None, folder, None], limit=20) as found:
            yield found


def test_each_variant_has_a_row_with_its_difference_from_the_first(variants):
    rows = variants.table().frame.set_index("system")
    assert list(rows.index) == ["packaged prompts", "no_hint"]
    base, other = rows["EX"]
    assert rows.loc["no_hint", "difference"] == pytest.approx(other - base)
    assert rows.loc["no_hint", "won"] + rows.loc["no_hint", "lost"] > 0
    assert rows.loc["packaged prompts", ["difference", "p"]].isna().all()


def test_questions_on_which_the_variants_disagree_come_first(variants):
    found = variants.matrix()
    assert len(found) == 20
    assert found["flips"].is_monotonic_decreasing
    disagree = found["packaged prompts"] != found["no_hint"]
    assert disagree.equals(found["flips"])


def test_a_picked_question_opens_the_replies_and_the_results_beside_golds(variants):
    shown = VariantsView("bundled-dev")
    shown.show(variants)
    (flip, *_) = variants.matrix()["question_id"]
    shown.matrix.chosen = flip
    assert shown.matrix.rows[0][:2] == [flip, "≠"]
    assert shown.question.value.count("The reply behind it") == 2
    assert "Gold&#x27;s query" in shown.question.value


def test_the_button_of_an_open_question_shows_the_plans_of_its_answers_and_of_gold(variants, press):
    shown = VariantsView("bundled-dev")
    shown.show(variants)
    assert shown.plans.layout.display == "none"
    (flip, *_) = variants.matrix()["question_id"]
    shown.matrix.chosen = flip
    assert shown.plans.layout.display is None
    press(shown, "wb-variants-plans")
    assert shown.question.value.count("Their plans") == 2


def test_a_page_without_a_kernel_holds_the_table_and_the_first_verdicts_alone(
    variants, monkeypatch
):
    monkeypatch.setattr("workbench.explore.compare.variants.LISTED", 7)
    page = variants._repr_html_()
    assert page.count("✓ right") + page.count("✗ wrong") == 2 * 7
    assert "The first 7 of 20 are listed; run the cell again to open any question." in page
    assert "The reply behind it" not in page


def test_a_notebook_shows_variants_as_a_widget(variants):
    assert "application/vnd.jupyter.widget-view+json" in variants._repr_mimebundle_()


def test_a_folder_that_is_not_there_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path))
    with pytest.raises(BadInputError, match="nowhere"):
        wb.compare(wb.direct, prompts=[tmp_path / "nowhere"], limit=1)


def test_a_system_that_asks_one_model_may_be_given_itself(tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path))
    with wb.compare(wb.zero_shot(), limit=1) as made:
        assert made.study.model == "embedded/parser"
    several = replace(
        wb.direct("a/b"), generate=(*wb.direct("a/b").generate, *wb.direct("a/c").generate)
    )
    with pytest.raises(BadInputError, match="asks a/b and a/c: give a function"):
        wb.compare(several, limit=1)


@pytest.mark.parametrize("prompts", ["mine", []])
def test_prompts_that_are_no_list_of_folders_are_refused(tmp_path, monkeypatch, prompts):
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path))
    with pytest.raises(BadInputError, match="give a list of folders"):
        wb.compare(wb.direct, prompts=prompts, limit=1)


@pytest.mark.parametrize(
    ("system", "fault"),
    [
        (lambda model: {"one": model}, "which makes"),
        (lambda: None, "which cannot be called with a model alone"),
        (3, "system is 3"),
        ("direct", "system is 'direct'"),
    ],
)
def test_anything_but_a_system_or_a_function_that_makes_it_is_refused(
    tmp_path, monkeypatch, system, fault
):
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path))
    with pytest.raises(BadInputError, match=f"{fault}.*give a function that makes the system"):
        wb.compare(system, limit=1)
