"""Saved figures and tables, each with its data and its origin.

index.json has for each of them the stamp of the numbers, the ids and names of their runs, the paper's claims, and a
table as Markdown. The files contain no time and no path, so saving the same numbers again does not change them.
"""

import fcntl
import os
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import orjson
import pandas as pd
from matplotlib.figure import Figure

from workbench.canonical import canonical, indented
from workbench.errors import BadInputError, StoreError
from workbench.report import style
from workbench.report.display import Html
from workbench.report.stamp import stamped
from workbench.report.tables import ResultTable
from workbench.spreadsheet import plain
from workbench.store import Store
from workbench.study.progress import report
from workbench.systems.system import System

_INDEX = "index.json"


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement of a paper. `holds` is None where no language model answered; `detail` gives our numbers."""

    text: str
    holds: bool | None
    detail: str = ""

    def _repr_html_(self) -> str:
        form = Html('<p class="mathjax_ignore tex2jax_ignore"><b>{}</b>: {} <i>{}</i></p>')
        return form.format(verdict(self.holds), self.text, self.detail)


def verdict(holds: bool | None) -> str:
    """The words for a claim that holds, does not hold, or cannot be judged by a parser's answers."""
    words = {True: "holds here", False: "does not hold here", None: "not judged: a parser answered"}
    return words[holds]


def read_index(folder: Path) -> dict[str, dict[str, Any]]:
    """The record of each saved figure and table, by name; none if the folder has no index."""
    path = folder / _INDEX
    records: dict[str, dict[str, Any]] = orjson.loads(path.read_bytes()) if path.exists() else {}
    return records


class Saved:
    """The folder of an experiment's figures; the first figure creates it."""

    def __init__(self, folder: Path, store: Store) -> None:
        self.folder = folder
        self._store = store
        self._last_saved = ""
        self.models_by_run: dict[str, tuple[str, ...]] = {}  # of this study, by the run's id
        self.similarity_by_run: dict[str, str] = {}
        self._selections: dict[str, str] = {}  # of each stored run, by the run's id
        self._run_names: dict[str, str] = {}  # the first name of each run, by the run's id

    def store_run(
        self,
        run: str,
        name: str,
        benchmark: str,
        system: System,
        selections: Sequence[tuple[str, ...]],
    ) -> None:
        """Store a run and its selections, each a tuple of key, question, database and difficulty."""
        self._run_names.setdefault(run, name)
        selections_text = canonical(selections).decode()
        if self._selections.get(run) == selections_text or self._store.read_only:
            return
        self._selections[run] = selections_text
        row = (run, name, benchmark, repr(system), selections_text, time.time())
        with self._store.write() as database:
            database.execute("INSERT OR REPLACE INTO runs VALUES (?, ?, ?, ?, ?, ?)", row)

    def save(
        self, name: str, shown: Figure | ResultTable, data: pd.DataFrame | None, stamp: object
    ) -> None:
        """Write NAME.svg, .pdf and .png of a figure, NAME.csv, and the record in index.json."""
        if not name.replace("_", "").isalnum() or not name.isascii():
            raise BadInputError(
                f"the name {name!r} is not allowed: use ASCII letters, digits and '_' only"
            )
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            frame = getattr(shown, "data", None) if data is None else data
            if isinstance(shown, ResultTable):
                kind, title, table = "table", shown.title, shown.to_markdown()
                frame = shown.frame if frame is None else frame
            else:
                kind, title, table = "figure", "", ""  # the gallery has the paper's titles
                style.save(shown, self.folder / name)
            if frame is not None:
                cells = frame.rename(columns=plain).map(plain)
                self._write(f"{name}.csv", cells.to_csv(index=False, float_format="%.6g").encode())
            named = [] if frame is None or "run" not in frame else frame["run"].dropna()
            ids = sorted({run for cell in named for run in str(cell).split()})
            runs = {run: self._run_names.get(run, "") for run in ids}
            record = {"kind": kind, "title": title, "stamp": stamped(stamp, frame), "runs": runs}
            self._last_saved = name
            self._write_record(name, record | {"table": table, "claims": []})
            report(saved=name)
        except OSError as error:
            raise StoreError(
                f"{self.folder}: {error.strerror}; set WORKBENCH_FIGURES to a folder that can be written"
            ) from error

    def claim(self, claim: Claim) -> Claim:
        """Store a claim with the figure or table that was saved last."""
        if not self._last_saved:
            raise BadInputError(
                "a claim belongs to a figure or a table: save the figure or table first"
            )
        record = read_index(self.folder)[self._last_saved]
        self._write_record(
            self._last_saved, record | {"claims": [*record["claims"], asdict(claim)]}
        )
        return claim

    def _write_record(self, name: str, record: dict[str, Any]) -> None:
        """Put the record into the index, which several notebooks of an experiment write."""
        with (self.folder / ".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            records = read_index(self.folder) | {name: record}
            self._write(_INDEX, indented(dict(sorted(records.items()))))

    def _write(self, file: str, content: bytes) -> None:
        """Write a file in one step, so that no reader sees a part of it."""
        draft = self.folder / f".{file}.{os.getpid()}"
        draft.write_bytes(content)
        draft.replace(self.folder / file)
