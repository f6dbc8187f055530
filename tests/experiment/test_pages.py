"""Executed notebooks lie beside their figures as pages that link the figures and never change by themselves."""

import re

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from workbench.experiment.pages import write_page


@pytest.fixture
def page(tmp_path):
    """Write the page of a notebook that saved one figure and showed another; its text."""

    def page():
        image = {"image/png": "QUJD" * 100, "text/plain": "<Figure size 640x480 with 1 Axes>"}
        noise = new_output("stream", name="stderr", text="/home/me/secret: warning at 12:30")
        cells = [
            new_markdown_cell("# A title"),
            new_code_cell(
                'x = "<b>"\nstudy.save("chase_figure_6", figure)',
                outputs=[noise, new_output("display_data", image)],
                execution_count=1,
            ),
            new_code_cell("draw()", outputs=[new_output("display_data", image)]),
            new_code_cell("2", outputs=[new_output("execute_result", {"text/plain": "two"})]),
        ]
        executed = tmp_path / "run.ipynb"
        nbformat.write(new_notebook(cells=cells), executed)
        (tmp_path / "chase_figure_6.svg").write_text("<svg/>")
        return write_page("chase_sql/selection", executed, tmp_path)

    return page


def test_a_page_links_the_figure_that_the_notebook_saved(page):
    path = page()
    text = path.read_text()
    assert path.name == "chase_sql-selection.html"
    (image,) = re.findall("<img [^>]*>", text)
    assert 'src="chase_figure_6.svg"' in image
    assert 'alt="chase_figure_6"' in image
    assert "a figure that was not saved" in text
    assert "QUJD" not in text
    assert "A title" in text
    assert "two" in text


def test_a_page_shows_code_as_text_and_neither_paths_nor_other_hosts(page):
    text = page().read_text()
    assert 'x = "&lt;b&gt;"' in text.replace("&quot;", '"')
    for absent in ("secret", "<script", "http", 'src="/'):
        assert absent not in text


def test_the_pages_of_a_folder_share_one_style_sheet(page):
    path = page()
    text = path.read_text()
    assert "<style" not in text
    (file,) = re.findall('<link rel="stylesheet" href="([^"]*)">', text)
    assert ".wb" in (path.parent / file).read_text()


def test_a_page_is_the_same_each_time(page):
    assert page().read_bytes() == page().read_bytes()
