"""Export labels to JSON lines, or to CSV whose cells no spreadsheet runs as formulas; import them again."""

import csv
import io
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

import orjson

from workbench.errors import BadInputError, content_of, naming
from workbench.label.store.label import FIELDS, Label, read_label, record_of
from workbench.label.store.store import LabelStore
from workbench.spreadsheet import csv_lines, plain

_BOOLEANS = {"true": True, "false": False}


def export(labels: Iterable[Label], path: Path) -> int:
    """Write the labels to a file that ends in .csv or .jsonl, and return their number."""
    records = [record_of(label) for label in labels]
    if _suffix(path) == ".jsonl":
        content = b"".join(orjson.dumps(record) + b"\n" for record in records)
    else:
        file = io.StringIO(newline="")
        writer = csv.writer(file, quoting=csv.QUOTE_ALL)  # keeps a lone carriage return
        writer.writerow(FIELDS)
        writer.writerows([_cell(value) for value in record.values()] for record in records)
        content = file.getvalue().encode()
    with naming(path):
        path.write_bytes(content)
    return len(records)


def load(path: Path) -> tuple[Label, ...]:
    """The labels that `export` wrote, field for field."""
    suffix = _suffix(path)
    try:
        text = content_of(path).decode("utf-8-sig")  # spreadsheets write a byte order mark
        if suffix == ".jsonl":
            records = [orjson.loads(line) for line in text.split("\n") if line.strip()]
        else:
            heads, *rows = [*csv_lines(text, strict=True)] or [[]]
            records = [_record(dict(zip_longest(heads, row[: len(heads)]))) for row in rows if row]
    except UnicodeDecodeError as error:
        raise BadInputError(f"{path}: not UTF-8 ({error})") from error
    except csv.Error as error:
        raise BadInputError(
            f"{path}: not CSV; a quote may be open, or text may follow a closing quote. Export the labels again"
        ) from error
    except ValueError as error:
        raise BadInputError(f"{path}: not {suffix[1:].upper()} ({error})") from error
    return tuple(
        read_label(record, f"{path}, label {number}") for number, record in enumerate(records, 1)
    )


@dataclass(frozen=True, slots=True)
class Imported:
    """The number of labels of a file that were added, and of those that a later label in the store replaces."""

    added: int
    replaced: int

    def __str__(self) -> str:
        text = f"{self.added} labels added"
        if self.replaced:
            text += f"; {self.replaced} left out, since their annotator gave the case a later label"
        return text


def import_labels(path: Path, store: LabelStore) -> Imported:
    """Add the labels of a file that the store does not have.

    The last label that is added counts, so an annotator's earlier label of a case is left out, and a file's labels are
    added in the order of their times. A label that was edited needs an id of its own.
    """
    given = sorted(load(path), key=lambda label: label.at)
    stored = store.labels(latest=False)
    known = {label.id: label for label in stored}
    for label in given:
        if known.setdefault(label.id, label) != label:
            raise BadInputError(
                f"{path}: two different labels have the id {label.id!r}: give a label that was edited another id and"
                " time"
            )
    ids = {label.id for label in stored}
    latest = {_subject(label): label.at for label in sorted(stored, key=lambda label: label.at)}
    new = [label for label in given if label.id not in ids]
    kept = [label for label in new if label.at >= latest.get(_subject(label), "")]
    return Imported(store.add(kept), len(new) - len(kept))


def _subject(label: Label) -> tuple[object, ...]:
    return label.taxonomy, label.annotator, label.key


def _cell(value: str | bool) -> str:
    return str(value).lower() if isinstance(value, bool) else str(plain(value))


def _record(row: dict[str, str | None]) -> dict[str, object]:
    record: dict[str, object] = {
        name: str(cell or "").removeprefix("'") for name, cell in row.items() if name
    }
    automatic = str(record.get("automatic", ""))
    return record | {"automatic": _BOOLEANS.get(automatic.lower(), automatic)}


def _suffix(path: Path) -> str:
    if path.suffix not in {".csv", ".jsonl"}:
        raise BadInputError(f"{path}: give a file of labels that ends in .csv or .jsonl")
    return path.suffix
