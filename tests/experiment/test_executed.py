"""Executed notebooks lie beside their figures, link them, and never change by themselves."""

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from workbench.experiment.executed import write_executed


@pytest.fixture
def write(tmp_path):
    """Write a notebook that saved one figure and showed another as it is committed."""

    def write(seconds=1.0):
        image = {"image/png": "QUJD" * 100, "text/plain": "<Figure size 640x480 with 1 Axes>"}
        noise = new_output("stream", name="stderr", text="/home/me/secret: warning at 12:30")
        cells = [
            new_markdown_cell("# A title"),
            new_code_cell(
                'study.save("chase_figure_6", figure)',
                outputs=[noise, new_output("display_data", image)],
                execution_count=1,
                metadata={"papermill": {"duration": seconds}, "tags": ["parameters"]},
            ),
            new_code_cell("draw()", outputs=[new_output("display_data", image)]),
            new_code_cell(
                "x", outputs=[new_output("execute_result", {"text/html": "<p>two</p>"})]
            ),
        ]
        executed = tmp_path / "run.ipynb"
        notebook = new_notebook(cells=cells, metadata={"papermill": {"duration": seconds}})
        nbformat.write(notebook, executed)
        (tmp_path / "chase_figure_6.png").write_bytes(b"a picture")
        return write_executed("chase_sql/selection", executed, tmp_path)

    return write


def test_it_links_the_figure_that_the_notebook_saved_and_keeps_what_was_shown(write):
    path = write()
    assert path.name == "chase_sql-selection.ipynb"
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    title, saved, drawn, result = notebook.cells
    assert title.source == "# A title"
    assert saved.metadata == {"tags": ["parameters"]}
    assert [out.data for out in saved.outputs] == [
        {"text/markdown": "![chase_figure_6](chase_figure_6.png)"}
    ]
    assert drawn.outputs[0].data == {"text/markdown": "a figure that was not saved"}
    assert "two" in result.outputs[0].data["text/html"]


def test_it_has_neither_times_nor_ids_nor_what_the_process_printed(write):
    text = write().read_text()
    for absent in ("secret", "papermill", "QUJD", "<style"):
        assert absent not in text
    assert write(seconds=2.0).read_text() == text, "cells have new ids and times in each run"
