"""Canonical JSON is one spelling of a value, a folder's hash that of its texts; no cell of a CSV file is a formula."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.canonical import canonical, folder_hash, indented, plain
from workbench.errors import BadInputError
from workbench.types import Limits

json_values = st.recursive(
    st.none() | st.integers(-(2**63), 2**63 - 1) | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4)
    ),
    max_leaves=8,  # larger values take ten times as long and meet the same branches
)


@given(json_values, json_values)
def test_two_values_share_a_spelling_only_if_they_are_equal(a, b):
    assert (a == b) == (canonical(a) == canonical(b))
    assert canonical({"a": a, "b": b}) == canonical({"b": b, "a": a})


def test_a_dataclass_is_spelled_as_its_fields_in_their_order():
    assert canonical(Limits(1.0, 2, 3)) == b'{"seconds":1.0,"rows":2,"bytes":3}'


@pytest.mark.parametrize("value", [b"bytes", {1, 2}, {1: "int key"}, 2**64])
def test_what_json_cannot_say_is_refused(value):
    with pytest.raises(TypeError):
        canonical(value)


@pytest.mark.parametrize("write", [canonical, indented])
def test_half_a_character_is_refused_as_bad_input(write):
    with pytest.raises(BadInputError, match="half of a surrogate pair"):
        write(["a", {"b": "\ud800"}])


def test_a_folders_hash_is_that_of_its_files_and_their_paths(tmp_path):
    code = tmp_path / "code"
    for name in ("a.py", "b/c.md", "out/d.py"):
        (code / name).parent.mkdir(parents=True, exist_ok=True)
        (code / name).write_text(name)
    before = folder_hash(code, {"out"})
    without_numbers = ("out/d.py", "a.pyc", "a.pyc.14023", "b/desk.css", "b/desk.js")
    beside = (".DS_Store", "b/c.md~", "b/.c.md.swp", ".ipynb_checkpoints/c.md")
    for name in (*without_numbers, *beside):
        (code / name).parent.mkdir(exist_ok=True)
        (code / name).write_text("changed")
        assert folder_hash(code, {"out"}) == before
    code = code.rename(tmp_path / "another place")
    assert folder_hash(code, {"out"}) == before
    seen = {before}
    for name in (
        "a.py",
        "b/c.md",
        "new.json",
        "b/papers.yaml",
        "b/page.md.j2",
        "x.sql",
    ):
        (code / name).write_text("changed")
        seen.add(folder_hash(code, {"out"}))
    (code / "b" / "c.md").rename(code / "b" / "d.md")
    assert len(seen | {folder_hash(code, {"out"})}) == 8


BLANKS = [
    "",
    "   ",
    "\t",
    "\r\n ",
    "\u00a0",
    "\u3000",
    "\u200b",
    "\ufeff",
    "\x00",
    "\x1f",
]


@pytest.mark.parametrize("sign", "=+-@\uff1d\uff0b\ufe66")  # and other forms of = and +
@pytest.mark.parametrize("blanks", BLANKS)
def test_a_formula_has_an_apostrophe_before_it_whatever_blanks_it_begins_with(
    sign, blanks
):
    assert plain(f"{blanks}{sign}1+1") == f"'{blanks}{sign}1+1"


@pytest.mark.parametrize(
    "cell", ["", " ", "SELECT -1", "a=b", "w/o Refiner", "(+1)", '"=', -1, None, 2.5]
)
def test_a_cell_that_is_no_formula_stays_as_it_is(cell):
    assert plain(cell) == cell


@given(st.text())
def test_without_one_leading_apostrophe_the_text_is_what_it_was(cell):
    assert plain(cell).removeprefix("'") == cell


def test_half_a_character_is_written_as_an_escape():
    assert plain("a\ud800b").encode() == b"a\\ud800b"
