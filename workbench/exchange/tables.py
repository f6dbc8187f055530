"""Runs and cached calls as tables in CSV or Parquet files.

CSV is written row by row through `spreadsheet.plain`, so that no cell is taken for a formula. Parquet needs pyarrow.
Secrets in the environment are never written.
"""

import csv
import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from workbench.errors import BadInputError, redact, secrets
from workbench.exchange.stored_run import Answered, StoredRun
from workbench.llm.cache.rows import Call
from workbench.llm.provider import without_secrets
from workbench.spreadsheet import plain

Row = Mapping[str, Any]
_RUN = (
    "run", "system", "question_id", "db_id", "difficulty", "question", "hint", "gold_sql", "generator", "sample",
    "sql", "status", "chosen", "correct", "calls",
)  # fmt: skip
_CALL = (
    "key", "prompt", "endpoint", "model", "sample", "parameters", "messages", "reply", "finish_reason",
    "input_tokens", "output_tokens", "cached_tokens", "dollars", "seconds", "created",
)  # fmt: skip


def write_run(path: Path, run: StoredRun, answered: Iterable[Answered]) -> int:
    """Write a row for each final candidate of a run; a question without a candidate has a row without SQL."""
    return _write(path, _RUN, (row for one in answered for row in _run_rows(run, one)))


def write_calls(path: Path, calls: Iterable[Call]) -> int:
    """Write a row for each call, with `messages` and `parameters` as JSON."""
    return _write(path, _CALL, map(_call_row, calls))


def _run_rows(run: StoredRun, one: Answered) -> Iterator[Row]:
    question = one.question
    about = {
        "run": run.id,
        "system": run.name,
        "question_id": question.id,
        "db_id": question.db_id,
        "difficulty": one.difficulty,
        "question": question.text,
        "hint": question.evidence,
        "gold_sql": one.gold.sql,
    }
    if not one.candidates:
        missing = {"generator": "", "sample": 0, "sql": "", "status": "missing", "calls": ""}
        yield about | missing | {"chosen": False, "correct": False}
    for record in one.records():
        yield about | record | {"calls": " ".join(record["calls"])}


def _call_row(call: Call) -> Row:
    return {
        "key": call.key,
        "prompt": call.prompt,
        "endpoint": redact(call.endpoint),
        "model": call.model,
        "sample": call.sample,
        "parameters": redact(json.dumps(dict(call.parameters), ensure_ascii=False)),
        "messages": json.dumps([dict(message) for message in call.messages], ensure_ascii=False),
        "reply": call.text,
        "finish_reason": call.finish_reason,
        "input_tokens": call.usage.input,
        "output_tokens": call.usage.output,
        "cached_tokens": call.usage.cached,
        "dollars": call.cost,
        "seconds": call.seconds,
        "created": datetime.fromtimestamp(call.created, UTC).isoformat(),
    }


def _write(path: Path, columns: tuple[str, ...], rows: Iterable[Row]) -> int:
    known = secrets()
    cells = ([without_secrets(known, row[name]) for name in columns] for row in rows)
    if path.suffix == ".parquet":
        return _parquet(path, columns, cells)
    number = 0
    with path.open("w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(columns)
        for number, row in enumerate(cells, 1):  # noqa: B007  returned below
            lines.writerow(map(plain, row))
    return number


def _parquet(path: Path, columns: tuple[str, ...], rows: Iterator[list[Any]]) -> int:
    import pandas as pd  # noqa: PLC0415  half a second that CSV saves

    frame = pd.DataFrame(rows, columns=list(columns))
    try:
        frame.to_parquet(path, engine="pyarrow", index=False)
    except ImportError as error:
        raise BadInputError(
            f"{path}: Parquet needs pyarrow, which is not installed: pip install pyarrow, or name a .csv file"
        ) from error
    return len(frame)
