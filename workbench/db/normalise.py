"""Normalise the layout and letter case of a query, so that equal queries run once."""

import re
from functools import lru_cache

from workbench.types import lower_name

_QUOTED = re.compile(r"""('[^']*'|"[^"]*"|`[^`]*`|\[[^\]]*\])""")
_SPACE = re.compile(r"[ \t\n\f\r]+")  # to SQLite, other white space is part of a name


@lru_cache(maxsize=4096)  # many candidates of a question are equal
def normalise_text(sql: str) -> str:
    """The query in lower case with single spaces and no final semicolon; quoted parts stay as they are.

    It returns the same rows, perhaps under other column names. A query with a comment is returned as it is.
    """
    if "--" in sql or "/*" in sql:
        return sql
    if "'" in sql or '"' in sql or "`" in sql or "[" in sql:
        parts = _QUOTED.split(sql)
        parts[::2] = map(_unquoted, parts[::2])
        normal = "".join(parts)
    else:
        normal = _unquoted(sql)
    return normal.strip(" ").removesuffix(";").rstrip(" ")


def _unquoted(text: str) -> str:
    text = lower_name(text)
    return _SPACE.sub(" ", text) if "  " in text or not text.isprintable() else text
