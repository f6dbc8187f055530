"""Saved figures and tables, each with its data and its origin.

index.json has for each of them the stamp of the numbers, the ids and names of their runs, the paper's claims, and a
table as Markdown. The files contain no time and no path, so saving the same numbers again does not change them.
"""

import fcntl
import os
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from numbers import Integral
from pathlib import Path
from typing import Any

import orjson
import pandas as pd
from matplotlib.figure import Figure

from workbench.canonical import indented, plain
from workbench.errors import BadInputError, naming
from workbench.report import style
from workbench.report.display import Html
from workbench.report.style import runs, stamped
from workbench.report.tables import ResultTable

VERDICTS = {True: "holds here", False: "does not hold here", None: "not judged: a parser answered"}


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement of a paper. `holds` is None where no language model answered; `detail` gives our numbers."""

    text: str
    holds: bool | None
    detail: str = ""

    def _repr_html_(self) -> str:
        form = Html('<p class="mathjax_ignore tex2jax_ignore"><b>{}</b>: {} <i>{}</i></p>')
        return form.format(VERDICTS[self.holds], self.text, self.detail)


def read_index(folder: Path) -> dict[str, dict[str, Any]]:
    """The record of each saved figure and table, by name; none if the folder has no index."""
    path = folder / "index.json"
    return dict(orjson.loads(path.read_bytes())) if path.exists() else {}


@dataclass
class Saved:
    """The folder of an experiment's figures; the first one saved creates it."""

    folder: Path
    names: dict[str, str] = field(default_factory=dict)  # of runs, by their ids
    last: tuple[str, pd.DataFrame] = "", pd.DataFrame()

    def save(self, name: str, shown: Figure | ResultTable, data: pd.DataFrame | None, stamp: object) -> None:  # fmt: skip
        """Write NAME.png of a figure, NAME.csv, and the record in index.json."""
        if not re.fullmatch(r"\w+", name, re.ASCII):
            raise BadInputError(f"the name {name!r} is not allowed: use ASCII letters, digits, '_'")
        if isinstance(shown, ResultTable):
            record = {"kind": "table", "title": shown.title, "table": shown.to_markdown()}
            frame = shown.frame
        else:
            record = {"kind": "figure", "title": "", "table": ""}
            frame = getattr(shown, "data", pd.DataFrame())
        frame = frame if data is None else data
        ids = {i: self.names.get(i, "") for i in sorted(runs(frame).split())}
        with naming(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            if isinstance(shown, Figure):
                style.save(shown, self.folder / name)
            cells = frame.rename(columns=plain).map(plain)
            self._write(f"{name}.csv", cells.to_csv(index=False, float_format="%.6g").encode())
            self._record(name, record | {"claims": [], "stamp": stamped(stamp, frame), "runs": ids})
        self.last = name, frame

    def claim(self, text: str, holds: "bool | pd.Series[Any]", of: object, judged: bool) -> Claim:
        """Store a claim, and the numbers that it is about, with the figure or table that was saved last."""
        name, frame = self.last
        if not name:
            raise BadInputError("a claim is about a figure or a table: save that first")
        if isinstance(holds, pd.Series):
            if of is None and holds.name in frame:
                of = frame.set_index(frame.columns[0])[str(holds.name)].reindex(holds.index)
            judged, holds = judged and len(holds) > 0, bool(holds.all())
        if isinstance(of, pd.Series | Mapping):
            of = ", ".join(f"{style.shown(label)} {_number(x)}" for label, x in of.items())
        claim = Claim(text, bool(holds) if judged else None, "" if of is None else str(of))
        record = read_index(self.folder)[name]
        self._record(name, record | {"claims": [*record["claims"], asdict(claim)]})
        return claim

    def _record(self, name: str, record: dict[str, Any]) -> None:
        """Put the record into the index, which several notebooks may write at once."""
        with (self.folder / ".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            records = read_index(self.folder) | {name: record}
            self._write("index.json", indented(dict(sorted(records.items()))))

    def _write(self, file: str, content: bytes) -> None:
        """Write a file in one step, so that no reader sees a part of it."""
        draft = self.folder / f".{file}.{os.getpid()}"
        draft.write_bytes(content)
        draft.replace(self.folder / file)


def _number(value: Any) -> str:
    if isinstance(value, str | Integral):
        return str(value)
    return f"{value:,.1f}" if abs(value) >= 1 or not value else f"{value:.2g}"
