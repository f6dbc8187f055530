"""The queries stand clause by clause, and what differs is marked by a sign with a name."""

import re

from workbench.html.tree import html
from workbench.label.widget.view import clauses_node


def test_clauses_that_differ_have_a_row_and_equal_clauses_are_named(make_case):
    case = make_case("SELECT imo FROM vessel LIMIT 2", "SELECT imo FROM vessel LIMIT 1")
    shown = html(clauses_node(case))
    assert shown.count('scope="row"') == 1
    assert 'aria-label="only in gold">≠</span><code>LIMIT 1</code>' in re.sub(
        r' (title|class)="[^"]*"', "", shown
    )
    assert "The same in both: SELECT, FROM." in shown


def test_a_query_that_cannot_be_read_says_why(make_case):
    assert "the prediction cannot be read: no query" in html(clauses_node(make_case("DROP")))
