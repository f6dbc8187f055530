"""The papers' taxonomies are there as published; a user's own is read strictly."""

from fractions import Fraction
from pathlib import Path

import pytest

from workbench.errors import BadInputError
from workbench.label import taxonomy
from workbench.label.taxonomy import (
    CAUSES,
    FILTERS,
    WHICH,
    load_taxonomy,
    open_taxonomy,
    published,
)


def names(found):
    return [category.name for category in found.categories]


def test_chase_sql_sorts_unanswered_cases_by_five_and_sets_wrong_gold_apart():
    found = open_taxonomy("CHASE-SQL")
    assert names(found) == [
        "Schema Linking",
        "Wrong Logic",
        "SQL Functions",
        "Joins",
        "Ignoring Evidence",
        "Wrong Golden Query",
    ]
    assert [category.name for category in found.categories if category.apart] == [
        "Wrong Golden Query"
    ]
    assert (found.cases, found.share) == ("no correct candidate", Fraction(1, 3))


def test_chase_sql_sorts_failed_selections_by_four():
    found = open_taxonomy("chase-sql selection")
    assert names(found) == [
        "Wrong Picking",
        "Wrong Golden Query",
        "Vague Question",
        "Data Integrity",
    ]
    assert found.cases == "selection failed"


def test_chess_has_three_categories_with_sub_categories():
    found = open_taxonomy("CHESS")
    assert [(category.name, len(category.parts)) for category in found.categories] == [
        ("Incorrectly Predicted SQL", 9),
        ("Vague Question", 1),
        ("Incorrect Golden SQL", 6),
    ]


def test_mac_sql_has_eight():
    assert len(names(open_taxonomy("MAC-SQL"))) == 8


@pytest.mark.parametrize("name", sorted(published()))
def test_every_cause_leads_to_one_category_of_a_paper_at_most(name):
    choices = [one.suggested_by for _, one in open_taxonomy(name).choices()]
    given = [cause for causes in choices for cause in causes]
    assert len(given) == len(set(given))
    assert set(given) <= set(CAUSES)
    assert {cause for cause in CAUSES if open_taxonomy(name).suggested(cause)} == set(given)


def test_a_users_taxonomy_can_be_a_list_of_names(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text("name: mine\ncategories: [wrong, {name: right, parts: [nearly]}]\n")
    found = open_taxonomy(str(path))
    assert [choice for choice, _ in found.choices()] == [
        ("wrong", ""),
        ("right", ""),
        ("right", "nearly"),
    ]
    assert (found.cases, found.share) == (WHICH[0], 1)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("name: [", "not YAML"),
        ("- a\n- b", "the file: expected fields such as name"),
        ("name: mine", "categories: the field is missing"),
        ("name: mine\ncategories: []", "categories: name at least one category"),
        ("name: mine\ncategories: a", "categories: it must be a valid list, not 'a'"),
        (
            "name: mine\ncategories: [3]",
            "categories, number 1: expected fields such as name, not 3",
        ),
        ("name: 3\ncategories: [a]", "name: it must be a valid string, not 3"),
        ("name: mine\ncategories: [a, a]", "the name 'a' is used twice"),
        (
            "name: mine\ncategories: [{name: a, color: red}]",
            "number 1, color: no such field; there are name, meaning",
        ),
        (
            "name: mine\ncategories: [{name: a, suggested_by: [luck]}]",
            "suggested_by, number 1: it must be 'gold likely wrong', 'hint ignored'",
        ),
        (
            "name: mine\ncategories: [{name: a, suggested_by: luck}]",
            "suggested_by: it must be a valid list, not 'luck'",
        ),
        (
            "name: mine\ncategories: [{name: a, parts: [{name: b, parts: [c]}]}]",
            "parts: no such field; there are name, meaning, suggested_by, apart",
        ),
        (
            "name: mine\ncategories: [a]\ncases: some",
            "cases: it must be 'wrong', 'no correct candidate' or 'selection failed', not 'some'",
        ),
        ("name: mine\ncategories: [a]\nshare: 1/0", "share: it is not a valid fraction, not '1/0'"),
        (
            "name: mine\ncategories: [a]\nshare: 2",
            "share: it must be less than or equal to 1, not 2",
        ),
        ("name: mine\ncategories: [a, ' a ']", "the name 'a' is used twice"),
        ("name: mine\ncategories: ['  ']", "number 1, name: a name is one line of text, not '  '"),
        ('name: mine\ncategories: ["a\\nb"]', "name: a name is one line of text, not"),
        ('name: "mi\\nne"\ncategories: [a]', "name: a name is one line of text, not"),
        *(
            (f"name: mine\ncategories: [{name}]", f"'{name}' is the name of a filter")
            for name in (*FILTERS, "To do")
        ),
        (
            "name: mine\ncategories: [{name: a, apart: maybe}]",
            "apart: it must be a valid boolean, not 'maybe'",
        ),
        ("name: 2020-13-45\ncategories: [a]", "not YAML (month must be in 1..12)"),
        ("!!python/object/apply:os.getcwd []", "not YAML"),
    ],
)
def test_an_error_in_a_file_is_one_line_that_names_the_field(tmp_path, text, what):
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    with pytest.raises(BadInputError) as raised:
        load_taxonomy(path)
    assert what in str(raised.value)
    assert str(raised.value).startswith(f"{path}: ")
    assert "\n" not in str(raised.value)


def test_an_unknown_taxonomy_is_an_error_that_lists_the_known_ones():
    with pytest.raises(
        BadInputError, match="there are CHASE-SQL selection, CHASE-SQL, CHESS, MAC-SQL"
    ):
        open_taxonomy("DIN-SQL")


def test_a_name_has_no_space_around_it(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text("name: ' mine '\ncategories: [' a ', {name: b, parts: ['c ', all]}]")
    found = load_taxonomy(path)
    assert found.name == "mine"
    assert [choice for choice, _ in found.choices()] == [
        ("a", ""),
        ("b", ""),
        ("b", "c"),
        ("b", "all"),
    ]


def test_a_changed_copy_of_a_papers_taxonomy_needs_a_name_of_its_own(tmp_path):
    path = tmp_path / "mine.yaml"
    text = (Path(taxonomy.__file__).parent / "taxonomies/chess.yaml").read_text()
    path.write_text(text)
    assert open_taxonomy(str(path)) == open_taxonomy("CHESS")
    for changed in (
        text.replace("name: Column", "name: Columns", 1),
        text.replace("CHESS", "chess"),
    ):
        path.write_text(changed)
        with pytest.raises(BadInputError, match="a paper's taxonomy has the name"):
            open_taxonomy(str(path))
    path.write_text(changed.replace("name: chess", "name: ours"))
    assert open_taxonomy(str(path)).name == "ours"


def test_an_unknown_category_is_refused():
    found = open_taxonomy("CHESS")
    found.check("Vague Question", "Column")
    with pytest.raises(BadInputError, match="no category 'Vague Question / Table'"):
        found.check("Vague Question", "Table")
