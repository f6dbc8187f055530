"""The examples in docstrings of public names run and print what they say."""

import doctest
import pathlib
from dataclasses import replace

import pytest

import workbench as wb

FOUND = doctest.DocTestFinder(recurse=False)
EXAMPLES = {
    name: test
    for name in wb.__all__
    for test in FOUND.find(getattr(wb, name), name)
    if test.examples
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_prints_what_it_says(name, tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    test = EXAMPLES[name]
    test.globs = {"wb": wb, "replace": replace, "pathlib": pathlib}
    assert doctest.DocTestRunner().run(test).failed == 0


def test_thirty_names_have_one_and_among_them_all_that_open_something():
    assert len(EXAMPLES) >= 30
    opening = {
        "Budget",
        "Cache",
        "Client",
        "Executor",
        "Lab",
        "Request",
        "register",
        "scripted",
    }
    systems = {
        "chase_sql",
        "chess_ir_cg_ut",
        "chess_ir_ss_cg",
        "mac_sql",
        "solve",
        "Prompt",
    }
    assert EXAMPLES.keys() >= opening | systems | {"open_benchmark", "open_study"}
