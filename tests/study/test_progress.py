"""The bar of a run goes where a reader does not take it for an error."""

import io
import sys

import pytest

from workbench.llm.money import Tally
from workbench.study.progress import Progress


class NotebookStream(io.StringIO):
    """What a notebook's kernel has for stderr."""

    __module__ = "ipykernel.iostream"


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("stream", "place"), [(NotebookStream, "stdout"), (Terminal, "stderr")]
)
def test_the_bar_is_on_stderr_but_not_in_a_notebook_which_shows_that_on_red(
    stream, place, monkeypatch
):
    for name in ("stdout", "stderr"):
        monkeypatch.setattr(sys, name, stream())
    with Progress("a run", 2) as progress:
        assert progress.fp._wrapped is getattr(sys, place)


def test_a_file_that_takes_stderr_gets_no_bar(monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with Progress("a run", 2) as progress:
        assert progress.disable


def test_a_run_in_a_notebook_leaves_one_line_behind(monkeypatch):
    for name in ("stdout", "stderr"):
        monkeypatch.setattr(sys, name, NotebookStream())
    with Progress("a run", 2) as progress:
        progress(1, Tally(calls=3, hits=1200))
        progress(2, Tally(calls=4, hits=1200, cost=0.5))
    said = sys.stdout.getvalue().rpartition("\r")[2]  # what overwrites the rest
    assert said == "a run: 2 of 2 questions, 4 calls asked, 1,200 cached, $0.5000\n"
