"""The SQL that a reply proposes.

A reply may hold several queries: a draft, the old query that it quotes, a query that only checks something,
an alternative, and the answer. `pieces.py` finds them all, in tags, JSON, fences and prose; `standing.py`
reads from the words around each whether it is the answer, a draft, an aside or the old query; `choice.py`
chooses.
"""

from workbench.replies.sql.choice import Extracted, read_sql

__all__ = ["Extracted", "read_sql"]
