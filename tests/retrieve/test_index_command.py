import pytest
from click.testing import CliRunner

from workbench.cli import cli


@pytest.mark.parametrize("kind", ["trigram", "minhash"])
def test_an_index_is_built_and_skipped_cells_are_listed(database, tmp_path, kind):
    path = database("CREATE TABLE t (c, d); INSERT INTO t VALUES ('x', 1), ('y', 2), ('z' || 1, 3)")
    folder = tmp_path / "here"
    result = CliRunner().invoke(cli, ["index", str(path), "--kind", kind, "--folder", str(folder)])
    assert result.exit_code == 0
    left_out, summary = result.output.splitlines()
    assert left_out == "left out: t.d: no text: 3"
    assert summary.startswith(str(folder / "shop-"))
    assert ": 3 values of 1 columns, " in summary
    assert len(list(folder.glob("*.values"))) == 1


def test_a_missing_database_is_one_line(tmp_path):
    result = CliRunner().invoke(cli, ["index", str(tmp_path / "none.sqlite")])
    assert str(result.exception).startswith("none.sqlite: No such file")
