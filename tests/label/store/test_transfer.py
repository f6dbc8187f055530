"""Out and back: field for field, and with nothing in it that a spreadsheet would run."""

import csv

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from workbench.errors import BadInputError
from workbench.label.store import LabelStore, label_of
from workbench.label.store.transfer import export, import_labels, load

WIDE = [chr(0xFEE0 + ord(sign)) for sign in "=+-@"]  # the full-width ones
NASTY = [
    "=1+1",
    "+1",
    "-1",
    "@SUM(A1)",
    *(f"{sign}1" for sign in WIDE),
    " =1+1",
    "\u3000@x",
    "\u00a0\u200b+1",
    "\ufeff-1",
    "\x1f=1",
    chr(0xFE66) + "1",
    "\tx",
    "\rx",
    "\nx",
    "'",
    "'=1",
    '"',
    "a,b",
    "",
    "\0",
    "é 😀",
]


def labelled(case, note, **more):
    return label_of(case, "T", note or "a", annotator="me", note=note, **more)


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_labels_are_loaded_as_they_were_exported(make_case, tmp_path, ending):
    labels = tuple(
        labelled(make_case(sql, text=sql), note, automatic=note == "=1+1")
        for note, sql in zip(NASTY, reversed(NASTY), strict=True)
    )
    path = tmp_path / f"labels.{ending}"
    assert export(labels, path) == len(NASTY)
    assert load(path) == labels


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(note=st.text(st.characters(exclude_categories=["Cs"])))
def test_any_note_is_exported_and_imported_unchanged(make_case, tmp_path, ending, note):
    path = tmp_path / f"any.{ending}"
    label = labelled(make_case(), note)
    export([label], path)
    assert load(path) == (label,)


def test_no_cell_begins_like_a_formula(make_case, tmp_path):
    path = tmp_path / "labels.csv"
    export([labelled(make_case(note, text=note), note) for note in NASTY], path)
    with path.open(newline="", encoding="utf-8") as file:
        cells = [cell for row in csv.reader(file) for cell in row]
    signs = ("=", "+", "-", "@", "\t", "\r", chr(0xFE66), *WIDE)
    blanks = " \u3000\u00a0\u200b\ufeff\x1f"
    assert not [c for c in cells if c.startswith(signs) or c.lstrip(blanks).startswith(signs)]


def test_a_file_that_a_spreadsheet_saved_can_be_imported(make_case, tmp_path):
    labels = tuple(labelled(make_case(), note, automatic=note == "one") for note in ("one", "two"))
    path = tmp_path / "labels.csv"
    export(labels, path)
    text = path.read_text().replace('"true"', "TRUE").replace('"false"', "FALSE")
    path.write_bytes(text.encode("utf-8-sig"))
    assert load(path) == labels


def test_labels_already_in_the_store_are_not_added_again(make_case, labels, tmp_path):
    labels.add([labelled(make_case(), "one")])
    export(labels.labels(), tmp_path / "out.csv")
    labels.add([labelled(make_case(), "two")])
    export(labels.labels(), tmp_path / "both.jsonl")

    other = LabelStore(tmp_path / "other.sqlite")
    assert import_labels(tmp_path / "out.csv", other) == 1
    assert import_labels(tmp_path / "out.csv", other) == 0
    assert import_labels(tmp_path / "both.jsonl", other) == 1
    assert other.labels() == labels.labels()


@pytest.mark.parametrize(
    ("name", "text", "what"),
    [
        ("a.csv", "id,note\n1,x\n", "label 1: the at of a label cannot be None"),
        ("a.jsonl", "{", "not JSONL"),
        ("a.jsonl", "3\n", "label 1: expected an object with the fields of a label, not 3"),
        ("a.csv", "automatic\nmaybe\n", "label 1: the id of a label cannot be None"),
        ("a.csv", 'a,"b', "not CSV"),
        ("a.xlsx", "", "ends in .csv or .jsonl"),
    ],
)
def test_a_file_of_anything_else_is_refused_in_one_line(labels, tmp_path, name, text, what):
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(BadInputError) as raised:
        import_labels(path, labels)
    assert what in str(raised.value)
    assert "\n" not in str(raised.value)
