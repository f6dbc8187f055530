"""What is saved says what it is of, can be made again byte for byte, and leads back to SQL and calls."""

import multiprocessing
import re
import subprocess
import sys
from dataclasses import replace

import nbformat
import pandas as pd
import pytest
from PIL import Image

from workbench.errors import BadInputError
from workbench.report.figures import unique_solves
from workbench.report.tables import ResultTable, alone
from workbench.study.experiment import Session
from workbench.study.run import costs
from workbench.study.saved import Saved, read_index, write_executed
from workbench.study.study import open_study
from workbench.systems.baselines import direct
from workbench.systems.chess import chess_ir_ss_cg


@pytest.fixture
def table(study):
    run = study.run(direct())
    return run, alone(
        pd.DataFrame([costs(run.questions, run.name)]), study.stamp, "A table"
    )


def test_a_table_is_saved_beside_its_data(study, table):
    run, shown = table
    assert study.save("a_table", shown).shown is shown
    folder = study.saved.folder
    data = pd.read_csv(folder / "a_table.csv")
    assert data["run"].tolist() == [run.id]
    record = read_index(folder)["a_table"]
    assert (record["title"], record["rows"]) == ("A table", 1)
    assert record["runs"] == {run.id: run.name}
    assert "no language model" in record["stamp"]


def test_a_saved_figure_names_the_models_of_its_runs(experiment):
    # In a preview, a stand-in answers for all of them.
    record = replace(experiment, model="a/one", models={"rest": "b/two"})
    with open_study(Session(record, preview=2), limit=6) as study:
        roles = chess_ir_ss_cg(
            study.models["rest"], filtering=study.models["filtering"]
        )
        others = chess_ir_ss_cg(study.models["rest"])
        for system, who in (
            (chess_ir_ss_cg("a/one"), "a/one on"),
            (roles, "a/one, b/two on"),
            (others, "b/two on"),
        ):
            run = study.run(system)
            study.save(
                "a_table",
                alone(
                    pd.DataFrame([costs(run.questions, run.name)]),
                    study.stamp,
                    "A table",
                ),
            )
            study.save("a_figure", unique_solves(run.trials, stamp=study.stamp))
            for name in ("a_table", "a_figure"):
                assert read_index(study.saved.folder)[name]["stamp"].startswith(who)
            assert f"Here: {who}" in read_index(study.saved.folder)["a_table"]["table"]
        assert str(study.stamp).startswith("a/one on")


def save_twenty(folder, worker):
    saved = Saved(folder)
    for number in range(20):
        frame = pd.DataFrame({"system": ["a"]})
        saved.save(
            f"table_{worker}_{number}", ResultTable("T", (), frame), None, "a stamp"
        )


def test_notebooks_that_save_at_the_same_time_lose_no_record(tmp_path):
    spawn = multiprocessing.get_context("spawn")
    workers = [spawn.Process(target=save_twenty, args=(tmp_path, n)) for n in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(read_index(tmp_path)) == 60


def test_saving_again_changes_nothing(study, table):
    _, shown = table
    folder = study.saved.folder

    def save():
        saved = study.save("a_table", shown)
        saved.claim("It is so.", holds=True, of="1 of 1")
        return {path.name: path.read_bytes() for path in folder.iterdir()}

    assert save() == save()


def test_a_claim_is_escaped_and_says_whether_it_was_judged(study, table):
    saved = study.save("a_table", table[1])
    shown = saved.claim("More is <better>.", holds=False)._repr_html_()
    assert "&lt;better&gt;" in shown
    assert "<b>not judged: a parser answered</b>" in shown


def test_claims_are_stored_with_their_piece_in_any_order_and_each_once(study, table):
    first, second = study.save("first", table[1]), study.save("second", table[1])
    first.claim("This.", holds=True, of="1")
    second.claim("That.", holds=True)
    first.claim("This.", holds=True, of="2")
    index = read_index(study.saved.folder)
    told = {
        name: [(c["text"], c["detail"]) for c in index[name]["claims"]]
        for name in index
    }
    assert told == {"first": [("This.", "2")], "second": [("That.", "")]}


def test_a_cell_shows_what_was_saved_as_if_it_were_not_saved():
    program = """
from IPython.core.interactiveshell import InteractiveShell
format = InteractiveShell.instance().display_formatter.format
import pandas as pd
from workbench.report.tables import ResultTable
from workbench.study.saved import Piece
shown = ResultTable("T", (), pd.DataFrame({"system": ["a"]}))
html = [format(thing)[0]["text/html"] for thing in (shown, Piece("t", shown, shown.frame, None))]
assert html[0] == html[1]
"""
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize("name", ["../up", "a b", "", "ä", "a.b", "Table_1"])
def test_a_name_never_becomes_a_path(study, table, name):
    with pytest.raises(BadInputError, match="use lower-case ASCII letters, digits"):
        study.save(name, table[1])


def test_figures_of_an_executed_notebook_have_their_natural_size(tmp_path):
    """One is half as wide as the other, and its text is as large."""
    image = {"image/png": "iVBORw0KGgo="}
    cells = []
    for name, width in [("wide", 1280), ("narrow", 640), ("", 0)]:
        if name:
            Image.new("RGB", (width, 480)).save(tmp_path / f"{name}.png")
        cell = nbformat.v4.new_code_cell(
            f"study.save('{name}', figure)" if name else "figure"
        )
        cell.outputs = [nbformat.v4.new_output("display_data", image)]
        cells.append(cell)
    kernel = {"kernelspec": {"name": "python3", "display_name": ""}}
    notebook = nbformat.v4.new_notebook(
        cells=cells, metadata=kernel | {"language_info": {"name": "python"}}
    )
    (tmp_path / "run").mkdir()
    executed = tmp_path / "run" / "a.ipynb"
    nbformat.write(notebook, executed)
    write_executed(executed, tmp_path, tmp_path / "embedded.yaml")
    written = nbformat.read(tmp_path / "a.ipynb", 4)
    shown = [cell.outputs[0].data["text/markdown"] for cell in written.cells]
    wide, narrow = (int(re.search(r'width="(\d+)"', text)[1]) for text in shown[:2])
    assert wide == 2 * narrow
    assert shown[0].startswith('<img src="wide.png"')
    assert shown[2] == "a figure that was not saved"
