"""One spelling for queries that SQLite reads alike.

A pool holds the same query many times over in other layouts and letter cases. Spelled alike, it runs once.
"""

import re
from functools import lru_cache

from workbench.types import fold

_QUOTED = re.compile(r"""('[^']*'|"[^"]*"|`[^`]*`|\[[^\]]*\])""")
_SPACE = re.compile(r"[ \t\n\f\r]+")  # SQLite's; it takes other white space for letters


@lru_cache(maxsize=4096)  # the candidates of one question are often the same text
def one_spelling(sql: str) -> str:
    """The query in lower case with single spaces and no final semicolon, what is quoted left as it is.

    It gives the same rows as the query as it was written; its columns may be called otherwise. A query
    with a comment in it comes back untouched.
    """
    if "--" in sql or "/*" in sql:
        return sql
    if "'" in sql or '"' in sql or "`" in sql or "[" in sql:
        parts = _QUOTED.split(sql)
        parts[::2] = map(_unquoted, parts[::2])
        spelled = "".join(parts)
    else:
        spelled = _unquoted(sql)
    return spelled.strip(" ").removesuffix(";").rstrip(" ")


def _unquoted(text: str) -> str:
    text = fold(text)
    return _SPACE.sub(" ", text) if "  " in text or not text.isprintable() else text
