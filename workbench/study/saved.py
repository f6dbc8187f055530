"""The committed files of an experiment: figures and tables with their data, executed notebooks, and one page of all.

index.json has for each figure and table the stamp of its numbers, the ids and names of their runs, the paper's claims,
and a table as Markdown. The files contain no time and no path, so saving the same numbers again does not change them.
"""

import fcntl
import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from itertools import groupby
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
from workbench.report.published import all_published
from workbench.report.tables import ResultTable, markdown

VERDICTS = {True: "holds here", False: "does not hold here", None: "not judged: a parser answered"}
_PAPERS = {"chase": "CHASE-SQL", "chess": "CHESS", "mac": "MAC-SQL", "pool": "Any pool of candidates",
           "beyond": "Beyond the papers"}  # fmt: skip
_MOST_ROWS = 20  # of a table on the page; a list of cases is a link
_PARSER = " (a small statistical parser, no language model)"
# The name of what a notebook saves, in a cell or in its JSON, where quotes are escaped.
SAVED = re.compile(r"""\.save\((?:\\n|[\s",])*(?:study, )?\\?["'](\w+)""")


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


def write_executed(executed: Path, figures: Path, experiment: Path) -> None:
    """Write an executed notebook beside its figures, without times, ids and what a process printed.

    A figure becomes a link to the PNG that the notebook saved, and the experiment's path its name.
    """
    content = json.loads(executed.read_text("utf-8").replace(str(experiment), experiment.stem))
    content["metadata"] = {key: content["metadata"][key] for key in ("kernelspec", "language_info")}
    for number, cell in enumerate(content["cells"]):
        tags = cell["metadata"].get("tags")
        cell |= {"id": f"cell-{number}", "metadata": {"tags": tags} if tags else {}}
        if cell["cell_type"] == "code":
            saved = reversed(SAVED.findall("".join(cell["source"])))
            png = next((name for name in saved if (figures / f"{name}.png").is_file()), "")
            cell["outputs"] = [_linked(out, png) for out in cell["outputs"] if "data" in out]
    text = json.dumps(content, indent=1, ensure_ascii=False, sort_keys=True)
    (figures / executed.name).write_text(f"{text}\n", "utf-8")


def _linked(output: dict[str, Any], png: str) -> dict[str, Any]:
    """The output with a link to the saved figure in place of its image, and without style sheets."""
    data = output["data"]
    if data.keys() & {"image/png", "image/svg+xml"}:
        data = {"text/markdown": f"![{png}]({png}.png)" if png else "a figure that was not saved"}
    elif "text/html" in data:
        html = "".join(data["text/html"])
        data = {"text/html": re.sub(r"<style\b.*?</style>\s*", "", html, flags=re.DOTALL)}
    return output | {"data": data, "metadata": {}}


def write_gallery(figures: Path) -> Path:
    """Write README.md in the folder of all figures. Runs with a limit, in folders like `embedded-3`, are left out."""
    lines = ["# Figures"]
    for folder in sorted(path for path in figures.iterdir() if path.is_dir()):
        own = figures.parent / "experiments" / f"{folder.name}.yaml"
        limited = re.search(r"-[\d.]+$", folder.name) and not own.is_file()
        if not limited and (index := read_index(folder)):
            lines += ["", f"## {folder.name}", "", *_page(folder, index)]
    path = figures / "README.md"
    path.write_text("\n".join(lines).rstrip() + "\n", "utf-8")
    return path


def _order(name: str) -> tuple[Any, ...]:
    """Sorts by paper; in a paper, numbered tables and figures come first, then the others by name."""
    word, *_ = name.split("_")
    numbered = re.match(r"[^_]+_(?:figure|table|section)_(\d+)", name)
    paper = list(_PAPERS).index(word) if word in _PAPERS else len(_PAPERS)
    return paper, word, int(numbered[1]) if numbered else float("inf"), name


def _page(folder: Path, index: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    if any(record["stamp"].startswith("embedded/") for record in index.values()):
        yield from ("Machinery check: a parser answered, no language model.", "")
    links = [f"[{page.stem}]({folder.name}/{page.name})" for page in sorted(folder.glob("*.ipynb"))]
    yield f"Executed notebooks: {', '.join(links) or 'none'}. `index.json` names the runs behind each piece."
    titles = {(each.paper, each.source): each.title for each in all_published()}
    for word, names in groupby(sorted(index, key=_order), key=lambda name: name.split("_")[0]):
        paper = _PAPERS.get(word, word)
        yield from ("", f"### {paper}")
        for name in names:
            record, words = index[name], name.split("_")[1:]
            title = record["title"] or titles.get((paper, " ".join(words[:2])), "")
            label = (" ".join(words) or name).capitalize()
            yield from ("", f"#### {markdown(f'{label}: {title}' if title else label)}", "")
            link = f"[data]({folder.name}/{name}.csv)"
            if record["kind"] == "figure":
                yield f"![{markdown(label)}]({folder.name}/{name}.png)"
            elif (rows := record["table"].count("\n|") - 2) > _MOST_ROWS:
                link = f"[{rows} rows]({folder.name}/{name}.csv)"
            else:  # its title is in the heading
                yield re.sub(r"^\*\*.*?\*\*\n\n", "", record["table"]).replace(_PARSER, "").rstrip()
            stamp = "" if "Here: " in record["table"] else record["stamp"].replace(_PARSER, "")
            yield from ("", f"{markdown(stamp)} ({link})".strip())
            for claim in record["claims"]:
                if claim["holds"] is not None:
                    told = markdown(f"{claim['text']} {claim['detail']}")
                    yield from ("", f"- **{VERDICTS[claim['holds']]}**: {told}")
