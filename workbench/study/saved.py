"""What an experiment leaves behind: figures and tables with the data behind them, and where each came from.

Beside NAME.csv lies NAME.json, which says what the numbers are, which runs they are of and which of the
paper's claims hold. Nothing in these files depends on when or where they were made, so that making them
again changes nothing.
"""

import os
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from html import escape
from pathlib import Path
from typing import Any

import orjson
import pandas as pd
from matplotlib.figure import Figure

from workbench.canonical import canonical
from workbench.errors import BadInputError, StoreError
from workbench.report import style
from workbench.report.stamp import stamped
from workbench.report.tables import Table
from workbench.store import Store
from workbench.study.progress import tell
from workbench.systems.system import System


@dataclass(frozen=True, slots=True)
class Claim:
    """What the paper says, whether it holds here, and by which numbers."""

    text: str
    holds: bool
    detail: str = ""

    def _repr_html_(self) -> str:
        said = "holds here" if self.holds else "does not hold here"
        return f"<p class='mathjax_ignore'><b>{said}</b>: {escape(self.text)} <i>{escape(self.detail)}</i></p>"


class Saved:
    """The folder of an experiment's figures; made with the first one."""

    def __init__(self, folder: Path, store: Store) -> None:
        self.folder = folder
        self._store = store
        self._last = ""
        self.asked: dict[str, tuple[str, ...]] = {}  # the models of this study's runs, by id
        self._runs: dict[str, str] = {}  # of this study, by id: nothing is written twice

    def keep_run(
        self,
        run: str,
        name: str,
        benchmark: str,
        system: System,
        selections: Sequence[tuple[str, ...]],
    ) -> None:
        """Note in the lab book which selections a run is made of: key, question, database, difficulty."""
        told = canonical(selections).decode()
        if self._runs.get(run) == told or self._store.read_only:
            return
        self._runs[run] = told
        row = (run, name, benchmark, repr(system), told, time.time())
        with self._store.write() as book:
            book.execute("INSERT OR REPLACE INTO runs VALUES (?, ?, ?, ?, ?, ?)", row)

    def save(
        self, name: str, shown: Figure | Table, data: pd.DataFrame | None, stamp: object
    ) -> None:
        """Write NAME.svg and .png or NAME.html, NAME.csv, and NAME.json."""
        if not name.replace("_", "").isalnum() or not name.isascii():
            raise BadInputError(f"a figure's name is letters, digits and '_', and not {name!r}")
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            frame = getattr(shown, "data", None) if data is None else data
            if isinstance(shown, Table):
                kind, title = "table", shown.title
                frame = shown.frame if frame is None else frame
                self._write(f"{name}.html", shown.to_html().encode())
                self._write(f"{name}.md", shown.to_markdown().encode())
            else:
                kind, title = "figure", ""  # the gallery knows what the paper calls it
                style.save(shown, self.folder / name)
            if frame is not None:
                self._write(f"{name}.csv", frame.to_csv(index=False, float_format="%.6g").encode())
            runs = _runs(frame)
            of = stamped(stamp, frame)
            told = {"name": name, "kind": kind, "title": title, "stamp": of, "runs": runs}
            self._last = name
            self._tell(told | {"claims": []})
            tell(saved=name)
        except OSError as error:
            raise StoreError(
                f"{self.folder}: {error.strerror}; set WORKBENCH_FIGURES to a folder that can be written"
            ) from error

    def claim(self, claim: Claim) -> Claim:
        """Keep a claim with what was saved last."""
        if not self._last:
            raise BadInputError("a claim belongs to a figure or a table: save that first")
        told = orjson.loads((self.folder / f"{self._last}.json").read_bytes())
        self._tell(told | {"claims": [*told["claims"], asdict(claim)]})
        return claim

    def _tell(self, told: dict[str, Any]) -> None:
        text = orjson.dumps(told, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
        self._write(f"{told['name']}.json", text)

    def _write(self, file: str, content: bytes) -> None:
        """The file, whole or not at all."""
        draft = self.folder / f".{file}.{os.getpid()}"
        draft.write_bytes(content)
        draft.replace(self.folder / file)


def _runs(frame: pd.DataFrame | None) -> list[str]:
    if frame is None or "run" not in frame:
        return []
    return sorted({run for cell in frame["run"].dropna() for run in str(cell).split()})
