"""The errors that a figure draws: a person's label where there is one, else a rule's."""

import pytest

from workbench.benchmarks.bundled import Flaw
from workbench.label.frames import errors
from workbench.label.store import label_of
from workbench.label.taxonomy import Category, Taxonomy
from workbench.report.style import UNLABELLED

KINDS = Taxonomy(
    "mine",
    (
        Category("Columns", suggested_by=("other column",)),
        Category("Gold", suggested_by=("gold likely wrong",), apart=True),
        Category("Logic"),
    ),
)


def error_rows(cases, *labels, flaws=()):
    return errors(cases, KINDS, labels, flaws).to_dict("records")


def test_a_rule_labels_cases_that_no_person_labelled(make_case):
    (row,) = error_rows([make_case()])
    assert (row["error"], row["automatic"], row["apart"]) == ("Columns", True, False)
    assert "vessel.vname" in row["note"]


def test_a_person_has_the_last_word(make_case):
    case = make_case()
    (row,) = error_rows([case], label_of(case, "mine", "Logic", annotator="ada", note="see there"))
    assert (row["error"], row["automatic"], row["note"]) == ("Logic", False, "see there")


def test_labels_of_another_taxonomy_do_not_count(make_case):
    case = make_case()
    (row,) = error_rows([case], label_of(case, "theirs", "Logic", annotator="ada"))
    assert row["error"] == "Columns"


def test_people_who_differ_leave_a_dispute(make_case):
    case = make_case()
    given = [label_of(case, "mine", kind, annotator=kind) for kind in ("Logic", "Gold")]
    (row,) = error_rows([case], *given)
    assert (row["error"], row["automatic"]) == ("disputed", False)


def test_what_no_rule_explains_is_not_labelled(make_case):
    (row,) = error_rows([make_case(predicted="SELECT imo FROM vessel")])
    assert (row["error"], row["automatic"]) == (UNLABELLED, False)


def test_known_flaws_of_gold_are_set_apart(make_case):
    (row,) = error_rows([make_case(number="7")], flaws=(Flaw("7", "wrong gold", "it is"),))
    assert (row["error"], row["apart"]) == ("Gold", True)


@pytest.mark.parametrize("column", ["question_id", "error", "detail", "automatic", "note"])
def test_a_frame_without_cases_has_its_columns(column):
    assert column in errors([], KINDS)
