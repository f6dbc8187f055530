"""One query's rows, counted while they come, and made ready for JSON."""

import base64
import hashlib
import math
import sqlite3
from typing import Any


def fetch(
    connection: sqlite3.Connection, sql: str, max_rows: int, max_bytes: int
) -> dict[str, Any]:
    """Columns, rows and fingerprint; or the rows that fit, where there are more than may be.

    Raises what sqlite3 raises, and ValueError where the text is no query.
    """
    cursor = connection.execute(sql)
    if cursor.description is None:
        raise ValueError("no statement in it that returns rows")
    columns = [column[0] for column in cursor.description]
    rows: list[tuple[Any, ...]] = []
    kinds: set[type] = set()
    size = 0
    for row in cursor:  # one at a time: sixty-four rows of 20 MB would be past every cap
        rows.append(row)
        size += 16 * len(row)
        for value in row:
            kind = type(value)
            kinds.add(kind)
            if kind is bytes:
                size += len(value)
            elif kind is str:  # in JSON, a character outside ASCII takes up to four bytes
                size += len(value) if value.isascii() else 4 * len(value)
        if size > max_bytes or len(rows) > max_rows:
            rows.pop()
            cap = f"{max_rows:,} rows" if size <= max_bytes else f"{max_bytes:,} bytes"
            answer = {
                "status": "too_large",
                "error": f"the result is larger than {cap}",
                "truncated": True,
            }
            break
    else:
        answer = {
            "status": "ok" if rows else "empty",
            "fingerprint": fingerprint(rows, float in kinds),
        }
    if bytes in kinds or float in kinds:
        return answer | {"columns": columns, "rows": [list(map(_tagged, row)) for row in rows]}
    return answer | {"columns": columns, "rows": rows}


def fingerprint(rows: list[tuple[Any, ...]], with_floats: bool) -> str:
    """A hash of the set of rows, equal for two results exactly when Python's sets of them are equal.

    So 1 and 1.0 agree, 1 and "1" do not, duplicates and order do not matter: BIRD's comparison.
    """
    distinct = set(rows)
    spelled = [tuple(map(_number, row)) for row in distinct] if with_floats else distinct
    return hashlib.sha256("\n".join(sorted(map(repr, spelled))).encode()).hexdigest()


def _number(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _tagged(value: Any) -> Any:
    """JSON has no bytes and no infinity: a one-entry object stands for them."""
    if isinstance(value, bytes):
        return {"blob": base64.b64encode(value).decode()}
    if isinstance(value, float) and math.isinf(value):
        return {"float": repr(value)}
    return value
