"""The values of a database: which they are, and that a file of them answers for one content alone."""

import pytest

from workbench.errors import BadInputError
from workbench.retrieve.values import LSH, Spelling, open_values
from workbench.sql.executor import Executor

SCRIPT = f"""
CREATE TABLE "odd ""name" (a TEXT, "b c", n INTEGER);
INSERT INTO "odd ""name" VALUES ('Bad Ems', 'Bad Ems', 1), ('Köln', 'x', 2), (NULL, 7.5, 3), ('x', x'00', 4);
INSERT INTO "odd ""name" VALUES ('{"y" * 200}', '{"z" * 201}', 5), (CAST(x'ff41' AS TEXT), '', 6);
CREATE TABLE town (name TEXT);
INSERT INTO town VALUES ('Bad Ems'), ('bad ems');
CREATE VIEW seen AS SELECT name AS again FROM town;
"""
BOTH = pytest.mark.parametrize("by", [LSH(), Spelling()], ids=["lsh", "spelling"])


@BOTH
def test_every_short_text_of_a_table_is_a_value_of_each_of_its_columns(
    database, opened, by
):
    values = open_values(database(SCRIPT), by, opened().executor)
    assert list(values.texts) == ["", "Bad Ems", "Köln", "bad ems", "x", "y" * 200]
    found = values.search("Bad Ems", 1)
    assert found == [
        ('odd "name', "a", "Bad Ems"),
        ('odd "name', "b c", "Bad Ems"),
        ("town", "name", "Bad Ems"),
    ]


@BOTH
@pytest.mark.parametrize(
    "script", ["", "CREATE TABLE t (n INTEGER); INSERT INTO t VALUES (1)"]
)
def test_a_database_without_texts_has_no_values(database, opened, by, script):
    values = open_values(database(script), by, opened().executor)
    assert (values.search("Bad Ems", 10), list(values.texts)) == ([], [])


@BOTH
def test_a_file_answers_as_the_values_that_were_read(
    database, opened, by, tmp_path, monkeypatch
):
    path, executor = database(SCRIPT), opened().executor
    new = open_values(path, by, executor)
    (file,) = (tmp_path / "lab" / "values").iterdir()
    # Nothing is read again.
    monkeypatch.setattr("workbench.retrieve.values.texts_of", None)
    kept = open_values(path, by, opened().executor)
    assert new.search("Bad Enns", 3) == kept.search("Bad Enns", 3) != []
    assert file.suffix == ".npz"


def test_another_content_has_other_values_and_the_old_content_its_own(
    database, opened, tmp_path
):
    executor = opened().executor
    for script in ("SELECT 1", "INSERT INTO town VALUES ('Ulm')", "SELECT 1"):
        values = open_values(database(f"{SCRIPT}; {script}"), LSH(), executor)
        assert ("Ulm" in values.texts) == ("Ulm" in script)
    assert len(list((tmp_path / "lab" / "values").iterdir())) == 2


@pytest.mark.parametrize("damage", [b"", b"PK\x03\x04", b"no archive"])
def test_a_damaged_file_is_written_anew(database, opened, tmp_path, damage):
    path, executor = database(SCRIPT), opened().executor
    open_values(path, LSH(), executor)
    (file,) = (tmp_path / "lab" / "values").iterdir()
    whole = file.read_bytes()
    file.write_bytes(damage or whole[: len(whole) // 2])
    assert "Köln" in open_values(path, LSH(), opened().executor).texts
    assert len(file.read_bytes()) == len(whole)


def test_a_column_that_cannot_be_read_is_named_and_left_out(
    database, opened, monkeypatch
):
    def ask(executor, path, request):
        broken = request.get("column") == "name"
        return {"error": "malformed"} if broken else asking(executor, path, request)

    path, executor, asking = database(SCRIPT), opened().executor, Executor.ask
    monkeypatch.setattr(Executor, "ask", ask)
    with pytest.warns(UserWarning, match=r"town.name: malformed"):
        values = open_values(path, LSH(), executor)
    assert ("Köln" in values.texts, "bad ems" in values.texts) == (True, False)


def test_a_killed_build_leaves_no_file_under_the_name(
    database, opened, tmp_path, monkeypatch
):
    def killed(file, **_):
        file.write(b"half")
        raise KeyboardInterrupt

    path, executor = database(SCRIPT), opened().executor
    monkeypatch.setattr("numpy.savez", killed)
    with pytest.raises(KeyboardInterrupt):
        open_values(path, LSH(), executor)
    assert not list((tmp_path / "lab" / "values").glob("*.npz"))
    monkeypatch.undo()
    assert "Köln" in open_values(path, LSH(), executor).texts


def test_where_nothing_can_be_written_the_error_names_the_place(
    database, opened, tmp_path
):
    path, executor = database(SCRIPT), opened().executor
    (tmp_path / "lab" / "values").write_text("a file in the way")
    with pytest.raises(BadInputError, match="values"):
        open_values(path, LSH(), executor)
