"""A YAML file is read as plain data, or refused in one line."""

import pytest

from workbench.errors import BadInputError, read_yaml


def test_a_file_becomes_plain_data(tmp_path):
    path = tmp_path / "it.yaml"
    path.write_text("a: [1, è]\n", encoding="utf-8")
    assert read_yaml(path) == {"a": [1, "è"]}


@pytest.mark.parametrize(
    "content",
    [b"a: [", b"a: \xff", b"a: !!python/object/apply:os.getcwd []", b"a: 2020-13-45"],
)
def test_what_is_no_yaml_or_more_than_data_is_refused_in_one_line(tmp_path, content):
    path = tmp_path / "it.yaml"
    path.write_bytes(content)
    with pytest.raises(BadInputError) as raised:
        read_yaml(path)
    assert str(raised.value).startswith(f"{path}: not YAML (")
    assert "\n" not in str(raised.value)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(BadInputError, match=r"none\.yaml: No such file"):
        read_yaml(tmp_path / "none.yaml")
