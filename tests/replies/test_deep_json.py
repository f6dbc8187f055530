"""JSON that is nested hundreds of levels deep, as a model that repeats itself writes it, ends no reader."""

import pytest

from workbench.replies.choices import read_choices
from workbench.replies.examples import read_examples
from workbench.replies.keywords import read_keywords
from workbench.replies.names.columns import read_columns
from workbench.replies.names.decisions import read_decisions
from workbench.replies.names.tables import read_tables
from workbench.replies.names.verdicts import read_column_verdicts
from workbench.replies.ranking import read_ranking
from workbench.replies.relevance import read_relevance
from workbench.replies.sql.choice import read_sql
from workbench.replies.unit_tests import read_tests
from workbench.replies.verdict.forms import read_verdict

TABLES = {"ferry": ["id", "name"], "route": ["id"]}
READERS = {
    "choices": lambda reply: read_choices(reply, "candidate", 3),
    "columns": lambda reply: read_columns(reply, TABLES),
    "column verdicts": lambda reply: read_column_verdicts(reply, TABLES),
    "decisions": lambda reply: read_decisions(reply, TABLES),
    "examples": read_examples,
    "keywords": lambda reply: read_keywords(reply, "the ferry's name"),
    "ranking": lambda reply: read_ranking(reply, 4),
    "relevance": read_relevance,
    "sql": read_sql,
    "tables": lambda reply: read_tables(reply, TABLES),
    "unit tests": read_tests,
    "verdict": read_verdict,
}
SHAPES = {
    "lists": ('["ferry",', "1", "]"),
    "objects": ('{"ferry":', "true", "}"),
    "queries": ('{"sql":', '"SELECT 1"', "}"),
    "calls": ('{"function":', '{"name": "x", "arguments": {"a": 1}}', "}"),
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("levels", [101, 500, 900, 5000])
def test_it_is_read_without_an_error(reader, shape, levels):
    opening, inner, closing = SHAPES[shape]
    READERS[reader](opening * levels + inner + closing * levels)


def test_a_hundred_levels_are_read():
    assert read_relevance('{"relevant":' * 99 + "true" + "}" * 99) is True
