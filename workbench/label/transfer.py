"""Labels out to other programs and back: JSON lines, or CSV that no spreadsheet takes for formulas."""

import csv
import io
from collections.abc import Iterable
from pathlib import Path

import orjson

from workbench.errors import BadInputError, naming
from workbench.label.store import FIELDS, Label, LabelStore, read_label

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "'", *"＝＋－＠")  # noqa: RUF001  full-width ones as well


def export(labels: Iterable[Label], path: Path) -> int:
    """Write the labels to a file that ends in .csv or .jsonl; how many there are."""
    kept = tuple(labels)
    records = [{name: getattr(label, name) for name in FIELDS} for label in kept]
    if _suffix(path) == ".jsonl":
        text = b"".join(orjson.dumps(record) + b"\n" for record in records)
    else:
        file = io.StringIO(newline="")
        writer = csv.writer(file, quoting=csv.QUOTE_ALL)  # or a lone carriage return is lost
        writer.writerow(FIELDS)
        for record in records:
            writer.writerow([_safe(_text(record[name])) for name in FIELDS])
        text = file.getvalue().encode()
    with naming(path):
        path.write_bytes(text)
    return len(kept)


def load(path: Path) -> tuple[Label, ...]:
    """The labels that `export` wrote, field for field."""
    suffix = _suffix(path)
    try:
        with naming(path):
            text = path.read_bytes().decode("utf-8-sig")  # with the mark that spreadsheets write
    except UnicodeDecodeError as error:
        raise BadInputError(f"{path}: not UTF-8 ({error})") from error
    try:
        if suffix == ".jsonl":
            records = [orjson.loads(line) for line in text.split("\n") if line.strip()]
        else:
            rows = csv.DictReader(io.StringIO(text, newline=""), strict=True)
            records = [
                {name: _plain(str(value or "")) for name, value in row.items() if name}
                for row in rows
            ]
    except (ValueError, csv.Error) as error:
        raise BadInputError(f"{path}: not {suffix[1:].upper()} ({error})") from error
    labels = []
    for number, record in enumerate(records, 1):
        if not isinstance(record, dict):
            raise BadInputError(f"{path}, label {number}: not an object but {record!r:.60}")
        if suffix == ".csv":
            said = record.get("automatic", "")
            record["automatic"] = {"true": True, "false": False}.get(said.lower(), said)
        labels.append(read_label(record, f"{path}, label {number}"))
    return tuple(labels)


def import_labels(path: Path, store: LabelStore) -> int:
    """Add the labels of a file that the store does not have; how many those are."""
    known = {label.id for label in store.labels(latest=False)}
    new = [label for label in load(path) if label.id not in known]
    store.add(new)
    return len(new)


def _text(value: str | bool) -> str:
    return str(value).lower() if isinstance(value, bool) else value


def _safe(cell: str) -> str:
    """A cell that starts like a formula gets an apostrophe, and so does one that starts with it."""
    return f"'{cell}" if cell.startswith(_FORMULA) else cell


def _plain(cell: str) -> str:
    return cell.removeprefix("'")


def _suffix(path: Path) -> str:
    if path.suffix not in {".csv", ".jsonl"}:
        raise BadInputError(f"{path}: labels go to a file that ends in .csv or .jsonl")
    return path.suffix
