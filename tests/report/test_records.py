"""Records show themselves in a cell: what they hold, in words, and without a running IPython not at all."""

import sys
from dataclasses import replace

import pandas as pd
import pytest
from IPython.core.interactiveshell import InteractiveShell

from workbench.report.display import DISPLAYS, install
from workbench.report.display.records import context_html, execution_html, schema_html, trial_html
from workbench.report.display.selections import pool_html
from workbench.types import (
    Candidate,
    Column,
    Comparison,
    Context,
    Example,
    Execution,
    ForeignKey,
    Question,
    Schema,
    Selection,
    Table,
    Trial,
    ValueMatch,
)

ROWS = Execution("ok", ("n",), ((1,), (None,)), 2, "first")
OTHER = Execution("ok", ("n",), ((2,),), 1, "second")
FAILED = Execution("error", error="no such column: legs")
SCHEMA = Schema(
    "zoo",
    (
        Table("animal", (Column("id", "INTEGER", "its number", examples=(1, 2)),), ("id",)),
        Table("cage", (Column("of", "INT"),), (), (ForeignKey(("of",), "animal", ("id",)),)),
    ),
    ("view broken: no such table",),
)


def trial(sql, execution, generator="query_plan", sample=0, before=None):
    return Trial(Candidate(sql, generator, sample, "because"), execution, before)


SELECTION = Selection(
    "q1",
    (
        trial("SELECT 1", OTHER),
        trial("SELECT 2", ROWS, before=trial("SELECT legs", FAILED)),
        trial("SELECT 3", ROWS, "direct"),
        trial("SELECT 4", FAILED, "direct", 1),
    ),
    2,
    "pairwise",
    (1.0, 3.0, 3.0, 0.0),
    (Comparison(0, 2, 2), Comparison(2, 0, 2)),
)


def test_an_execution_shows_rows_as_sql_writes_them():
    page = execution_html(ROWS)
    assert "2 rows" in page
    assert "<td>NULL</td>" in page
    assert "Error: no such column: legs" in execution_html(FAILED)


def test_a_wide_or_long_result_says_what_is_left_out():
    wide = Execution("ok", tuple("abcdefghijklmnop"), ((0,) * 16,) * 50, 50, "x", truncated=True)
    page = execution_html(wide)
    assert "50 rows, 20 shown, cut short at the limit" in page
    assert "and 8 more columns" in page


def test_a_trial_shows_its_history_and_the_reply():
    page = trial_html(SELECTION.trials[1])
    assert "Candidate of query_plan, sample 0" in page
    assert "The query before the last repair" in page
    assert "SELECT legs" in page
    assert "because" in page
    assert "not run" in trial_html(trial("", None))


def test_a_schema_shows_keys_descriptions_and_what_was_skipped():
    page = schema_html(SCHEMA)
    assert "primary key" in page
    assert "→ animal.id" in page
    assert "its number" in page
    assert "Not read: view broken: no such table" in page


def test_a_context_shows_what_was_found():
    found = ValueMatch("animal", "id", "ant", "ants", 0.8, 0.5)
    context = Context(
        Question("q", "zoo", "How many?", "count"),
        SCHEMA,
        (found,),
        (),
        (Example("Q?", "SELECT 9"),),
    )
    page = context_html(context)
    assert "How many?" in page
    assert "Values found: 1" in page
    assert "<td>animal.id</td><td>ant</td><td>ants</td><td>0.80</td>" in page
    assert "SELECT 9" in page


def test_the_pool_names_the_generators_of_each_result_and_the_choice():
    page = pool_html(SELECTION, (False, True, True, False))
    assert "4 candidates, 2 different results. pairwise chose 2: direct 0." in page
    assert "Result 1, 2 of 4 candidates: query_plan 1, direct 1; right; ★ chosen" in page
    assert "No complete result, 1 of 4 candidates: direct 1; wrong" in page
    assert "fixed 1 time<" in page
    assert page.index("As proposed") < page.index("After fix 1")


def test_a_pool_without_verdicts_or_choice_is_shown():
    page = pool_html(Selection("q", (), None, "majority"))
    assert "0 candidates, 0 different results. majority chose none." in page


def test_a_count_of_one_is_in_the_singular():
    page = pool_html(Selection("q", SELECTION.trials[:1], 0, "majority"))
    assert "1 candidate, 1 different result. majority" in page
    assert "Result 1, 1 of 1 candidate: query_plan 1" in page


def test_a_row_of_the_comparisons_is_the_candidate_shown_first():
    page = pool_html(SELECTION)
    assert "<tr><td>0: query_plan 0</td><td></td><td>L</td></tr>" in page
    assert "<tr><td>2: direct 0</td><td>W</td><td></td></tr>" in page


def test_comparisons_in_which_neither_was_named_are_marked():
    unsaid = replace(SELECTION, comparisons=(replace(SELECTION.comparisons[0], winner=None),))
    assert "<td>N</td>" in pool_html(unsaid)


@pytest.mark.parametrize("record", [SELECTION, SELECTION.trials[0], SCHEMA, ROWS])
def test_records_show_themselves_in_ipython(record, monkeypatch):
    shell = InteractiveShell()
    monkeypatch.setattr(sys.modules["IPython"], "get_ipython", lambda: shell)
    with pd.option_context("display.html.use_mathjax", True):
        install()
        assert not pd.get_option("display.html.use_mathjax")
    shown, _ = shell.display_formatter.format(record)
    assert shown["text/html"] == DISPLAYS[type(record)](record)


def test_without_ipython_no_display_is_registered(monkeypatch):
    monkeypatch.delitem(sys.modules, "IPython")
    assert install() is None
