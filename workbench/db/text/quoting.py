"""Quote names and values for SQL and prompts. They may contain any text, which must not end the quotation."""

import re

from workbench.types import Value

DESCRIPTION_LENGTH = 1_000
VALUE_LENGTH = 100  # characters of one value that a prompt shows
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_KEYWORDS = frozenset(
    re.findall(
        r"\w+",
        """
    ABORT ACTION ADD AFTER ALL ALTER ALWAYS ANALYZE AND AS ASC ATTACH AUTOINCREMENT BEFORE BEGIN BETWEEN
    BY CASCADE CASE CAST CHECK COLLATE COLUMN COMMIT CONFLICT CONSTRAINT CREATE CROSS CURRENT CURRENT_DATE
    CURRENT_TIME CURRENT_TIMESTAMP DATABASE DEFAULT DEFERRABLE DEFERRED DELETE DESC DETACH DISTINCT DO DROP
    EACH ELSE END ESCAPE EXCEPT EXCLUDE EXCLUSIVE EXISTS EXPLAIN FAIL FALSE FILTER FIRST FOLLOWING FOR
    FOREIGN FROM FULL GENERATED GLOB GROUP GROUPS HAVING IF IGNORE IMMEDIATE IN INDEX INDEXED INITIALLY
    INNER INSERT INSTEAD INTERSECT INTO IS ISNULL JOIN KEY LAST LEFT LIKE LIMIT MATCH MATERIALIZED NATURAL
    NO NOT NOTHING NOTNULL NULL NULLS OF OFFSET ON OR ORDER OTHERS OUTER OVER PARTITION PLAN PRAGMA
    PRECEDING PRIMARY QUERY RAISE RANGE RECURSIVE REFERENCES REGEXP REINDEX RELEASE RENAME REPLACE RESTRICT
    RETURNING RIGHT ROLLBACK ROW ROWS SAVEPOINT SELECT SET STORED TABLE TEMP TEMPORARY THEN TIES TO
    TRANSACTION TRIGGER TRUE UNBOUNDED UNION UNIQUE UPDATE USING VACUUM VALUES VIEW VIRTUAL WHEN WHERE
    WINDOW WITH WITHIN WITHOUT
    """,
    )
)


def quote(identifier: str) -> str:
    """The name as an SQL identifier: plain if possible, else in backticks, as in BIRD's queries.

    A name that contains a backtick gets double quotes. The result is valid wherever SQLite expects an
    identifier, for every name that SQLite allows.
    """
    if _PLAIN.fullmatch(identifier) and identifier.upper() not in _KEYWORDS:
        return identifier
    mark = '"' if "`" in identifier else "`"
    return mark + identifier.replace(mark, mark * 2) + mark


def one_line(text: str, length: int = DESCRIPTION_LENGTH) -> str:
    """The text without control characters, cut to `length`: data must not end an SQL comment."""
    text = _CONTROL.sub(" ", text)
    return text if len(text) <= length else text[: length - 1] + "…"


def literal(value: Value, length: int = VALUE_LENGTH) -> str:
    """The value as an SQL literal on one line; a text or a blob is cut to `length`."""
    if isinstance(value, str):
        return "'" + one_line(value, length).replace("'", "''") + "'"
    if isinstance(value, bytes):
        return f"x'{one_line(value.hex(), length)}'"
    return "NULL" if value is None else repr(value)
