"""One spelling for queries that SQLite reads alike.

A pool holds the same query many times over in other layouts and letter cases. Spelled alike, it runs once.
"""

import re

from workbench.types import fold

_QUOTED = re.compile(r"""('[^']*'|"[^"]*"|`[^`]*`|\[[^\]]*\])""")
_SPACE = re.compile(r"[ \t\n\f\r]+")  # SQLite's; it takes other white space for letters


def one_spelling(sql: str) -> str:
    """The query in lower case with single spaces and no final semicolon, what is quoted left as it is.

    It gives the same rows as the query as it was written; its columns may be called otherwise. A query
    with a comment in it comes back untouched.
    """
    if "--" in sql or "/*" in sql:
        return sql
    parts = _QUOTED.split(sql)
    parts[::2] = [fold(_SPACE.sub(" ", part)) for part in parts[::2]]
    return "".join(parts).strip(" ").removesuffix(";").rstrip(" ")
