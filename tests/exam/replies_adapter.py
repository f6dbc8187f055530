"""The readers of replies as an outside exam calls them: one function for every kind of answer."""

import re
from functools import partial
from typing import Any

from workbench import replies


def read(kind: str, reply: str, allowed: Any) -> Any:
    """What the reply says; "UNREAD" where it is refused, so that the model is asked once more."""
    match kind:
        # The form that MAC-SQL's prompt asks for.
        case "sql" if "sub question" in reply.casefold():
            reader: Any = replies.last_sql
        case "sql":
            reader = (
                replies.sql_object
                if re.search(r'["\']sql["\']', reply)
                else replies.sql
            )
        case "fixed_sql":
            reader = (
                replies.sql_object
                if re.search(r'["\']sql["\']', reply)
                else replies.final_sql
            )
        case "ranking":
            reader = partial(replies.ranking, count=allowed)
        case "choice":
            reader = partial(replies.verdicts, **allowed)
        case "names":
            reader = partial(
                getattr(replies, allowed["want"]), schema=allowed["schema"]
            )
        case _:
            reader = {
                "verdict": replies.letter,
                "yes_no": replies.relevant,
                "keywords": replies.strings,
                "examples": replies.examples,
            }[kind]
    try:
        found = reader(reply)
    except replies.Unread:
        return "UNREAD"
    if kind == "examples":
        return [
            {"question": one.question, "hint": one.hint, "sql": one.sql}
            for one in found
        ]
    return found
