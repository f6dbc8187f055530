"""Out and back: field for field, and with nothing in it that a spreadsheet would run."""

import csv
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from workbench.errors import BadInputError
from workbench.label.store import LabelStore, label_of
from workbench.label.store.transfer import Imported, export, import_labels, load

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
    "long" * 50_000,
]


def labelled(case, note, **more):
    category = note if note.strip() else "a"
    return label_of(case, "T", category, annotator="me", note=note, **more)


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
    assert import_labels(tmp_path / "out.csv", other) == Imported(added=1, replaced=0)
    assert import_labels(tmp_path / "out.csv", other) == Imported(added=0, replaced=0)
    assert import_labels(tmp_path / "both.jsonl", other) == Imported(added=1, replaced=0)
    assert other.labels() == labels.labels()


def test_an_imported_label_replaces_no_later_one_of_its_annotator(make_case, labels, tmp_path):
    earlier, later = (
        replace(labelled(make_case(), note), at=f"2026-01-0{day}T10:00:00+00:00")
        for day, note in ((1, "earlier"), (2, "later"))
    )
    labels.add([later])
    export([later, earlier, replace(earlier, id="b", annotator="bob")], tmp_path / "old.csv")
    found = import_labels(tmp_path / "old.csv", labels)
    assert str(found) == (
        "1 labels added; 1 left out, since their annotator gave the case a later label"
    )
    assert [one.note for one in labels.labels()] == ["later", "earlier"]

    other = LabelStore(tmp_path / "other.sqlite")
    import_labels(tmp_path / "old.csv", other)
    assert other.labels(annotator="me") == (later,)


def test_an_edited_label_under_its_old_id_is_refused(make_case, labels, tmp_path):
    label = labelled(make_case(), "one")
    labels.add([label])
    export([replace(label, category="edited")], tmp_path / "edited.csv")
    with pytest.raises(BadInputError, match="two different labels have the id"):
        import_labels(tmp_path / "edited.csv", labels)


@pytest.mark.parametrize(
    ("field", "value", "what"),
    [
        ("at", "yesterday", "the time of a label cannot be 'yesterday'"),
        ("at", "2026-01-01T10:00:00", "give it with its zone"),
        ("id", "", "the id of a label is empty"),
        ("annotator", " ", "the annotator of a label is empty"),
        ("category", "", "the category of a label is empty"),
    ],
)
def test_a_label_without_a_time_or_a_name_is_refused(
    make_case, labels, tmp_path, field, value, what
):
    export([replace(labelled(make_case(), "one"), **{field: value})], tmp_path / "out.csv")
    with pytest.raises(BadInputError, match=what):
        import_labels(tmp_path / "out.csv", labels)


def test_times_of_other_zones_are_stored_in_utc(make_case, tmp_path):
    label = replace(labelled(make_case(), "one"), at="2026-01-01T10:00:00+02:00")
    export([label], tmp_path / "out.csv")
    assert load(tmp_path / "out.csv")[0].at == "2026-01-01T08:00:00+00:00"


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


def test_a_csv_file_with_an_open_quote_is_refused_in_plain_words(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text('id,note\n1,"open\n')
    with pytest.raises(
        BadInputError, match=r"not CSV; a quote may be open.*Export the labels again"
    ):
        load(path)
