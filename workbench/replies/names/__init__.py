"""The tables and columns of a schema that a reply names, in the schema's spelling, without invented ones.

`spelling.py` finds a name of the schema by what a reply calls it. `tables.py`, `columns.py`, `decisions.py` and
`verdicts.py` read the four forms of answer, first from JSON and then from lines and prose, with the help of
`values.py`. A list that is cut off is no answer: the part that is missing may be what the question needs.
"""

from workbench.replies.names.columns import read_columns, read_named_columns
from workbench.replies.names.decisions import Decision, read_decisions
from workbench.replies.names.spelling import Tables
from workbench.replies.names.tables import read_tables
from workbench.replies.names.verdicts import read_column_verdicts

__all__ = [
    "Decision",
    "Tables",
    "read_column_verdicts",
    "read_columns",
    "read_decisions",
    "read_named_columns",
    "read_tables",
]
