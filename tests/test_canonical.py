from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.canonical import canonical, content_hash, folder_hash, indented
from workbench.errors import BadInputError
from workbench.types import Limits

json_values = st.recursive(
    st.none() | st.integers(-(2**63), 2**63 - 1) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,  # larger values take ten times as long and meet the same branches
)


@given(st.dictionaries(st.text(), json_values, max_size=6))
def test_the_order_of_keys_does_not_matter(value: dict[str, object]) -> None:
    assert canonical(value) == canonical(dict(reversed(value.items())))


@given(json_values, json_values)
def test_two_values_share_a_spelling_only_if_they_are_equal(a: object, b: object) -> None:
    assert (a == b) == (canonical(a) == canonical(b))


def test_a_dataclass_is_spelled_as_its_fields_in_their_order() -> None:
    assert canonical(Limits(1.0, 2, 3)) == b'{"seconds":1.0,"rows":2,"bytes":3}'


def test_a_hash_begins_with_its_tag() -> None:
    assert content_hash("call", {}).startswith("call:44136fa355b3678a")


@pytest.mark.parametrize("value", [b"bytes", {1, 2}, "\ud800", {1: "int key"}, 2**64])
def test_what_json_cannot_say_is_refused(value: object) -> None:
    with pytest.raises(TypeError):
        canonical(value)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("a.py", "b/c.md", "out/d.py"):
        file = tmp_path / "code" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(name)
    return tmp_path / "code"


def test_a_folder_that_is_moved_keeps_its_hash(folder: Path) -> None:
    before = folder_hash(folder)
    assert folder_hash(folder.rename(folder.with_name("other place"))) == before


@pytest.mark.parametrize("name", ["a.py", "b/c.md", "new.json"])
def test_a_change_of_a_text_changes_its_folders_hash(folder: Path, name: str) -> None:
    before = folder_hash(folder, {"out"})
    (folder / name).write_text("changed")
    assert folder_hash(folder, {"out"}) != before


@pytest.mark.parametrize("name", ["out/d.py", "a.pyc", "b/picture.png"])
def test_entries_left_out_and_files_that_are_no_texts_do_not_count(folder: Path, name: str) -> None:
    before = folder_hash(folder, {"out"})
    (folder / name).write_text("changed")
    assert folder_hash(folder, {"out"}) == before


@pytest.mark.parametrize("write", [canonical, indented])
def test_half_a_character_is_refused_as_bad_input(write: Callable[[object], bytes]) -> None:
    with pytest.raises(BadInputError, match="half of a surrogate pair"):
        write(["a", {"b": "\ud800"}])
