"""The examples in docstrings of public names run and print what they say."""

import doctest
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
    test.globs = {"wb": wb, "replace": replace}
    assert doctest.DocTestRunner().run(test).failed == 0


def test_names_that_open_a_file_a_study_or_a_model_have_one():
    assert set(EXAMPLES) >= {
        *("Budget", "Cache", "Client", "Lab", "Request", "register", "scripted"),
        "chase_sql",
        "chess_ir_cg_ut",
        "chess_ir_ss_cg",
        "mac_sql",
        "solve",
        "Prompt",
    }
