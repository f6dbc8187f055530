"""A command of the command line, run in the tests' own process."""

import sys
from typing import NamedTuple

import pytest

from workbench.cli import main


class Done(NamedTuple):
    """What a command that ended leaves."""

    code: int
    out: str
    err: str


@pytest.fixture
def run(monkeypatch, capsys):
    """`workbench ...` in this process: its exit code, standard output and standard error."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["workbench", *map(str, arguments)])
        try:
            main()
            code = 0
        except SystemExit as end:
            code = end.code
        return Done(code, *capsys.readouterr())

    return run
