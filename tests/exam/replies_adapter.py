"""The readers of replies as an outside exam calls them: one function for every kind of answer."""

from typing import Any

from workbench.replies.choices import read_choices
from workbench.replies.examples import read_examples
from workbench.replies.keywords import read_keywords
from workbench.replies.names import read_columns, read_decisions, read_tables
from workbench.replies.ranking import read_ranking
from workbench.replies.relevance import read_relevance
from workbench.replies.sql import read_sql
from workbench.replies.verdict import read_verdict


def read(kind: str, reply: str, allowed: Any) -> Any:
    """What the reply says; None, an empty text or an empty list where it says nothing."""
    match kind:
        case "sql" | "fixed_sql":
            return read_sql(reply).sql
        case "verdict":
            return read_verdict(reply)
        case "ranking":
            return read_ranking(reply, allowed)
        case "choice":
            return read_choices(reply, allowed["label"], allowed["count"])
        case "yes_no":
            return read_relevance(reply)
        case "names":
            readers = {"tables": read_tables, "columns": read_columns, "decisions": read_decisions}
            return readers[allowed["want"]](reply, allowed["schema"])
        case "keywords":
            return read_keywords(reply, allowed)
        case "examples":
            return read_examples(reply)
    raise ValueError(f"kind is {kind!r}")
