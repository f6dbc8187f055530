"""The committed files of an experiment: figures and tables with their data, notebooks, a page.

index.json has for each figure and table the stamp of its numbers, the ids and names of their runs,
the paper's claims, and a table as Markdown. The files contain no time and no path, so saving the
same numbers again does not change them. What the last run of a notebook has not drawn is marked.
"""

import fcntl
import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import cache
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import orjson
import pandas as pd

from workbench.canonical import indented, plain
from workbench.errors import BadInputError, naming
from workbench.evaluate.stats import Decision, decide
from workbench.llm.calls import is_parser
from workbench.report.display import Html
from workbench.report.names import shown
from workbench.report.published import all_published
from workbench.report.stamp import PARSER, runs, stamped
from workbench.report.tables import ResultTable, markdown

if TYPE_CHECKING:
    import jinja2
    from matplotlib.figure import Figure

Verdict = Decision | Literal["not judged"]
VERDICTS = {
    "holds": "holds here",
    "fails": "does not hold here",
    "not decided": "is not decided here",
    "not judged": "not judged: a parser answered",
}
_PAPERS = {
    "chase": "CHASE-SQL",
    "chess": "CHESS",
    "mac": "MAC-SQL",
    "pool": "Any pool of candidates",
    "beyond": "Beyond the papers",
}
_POINTS = ["difference", "low", "high"]
_MOST_ROWS = 20  # of a table on the page; a list of cases is a link
_LIMITED = re.compile(r"-[\d.]+$")  # the name of a folder of a run with a limit
# The name of what a notebook saves: in a cell, `study.save("chase_table_1", table)`; in the JSON of
# a notebook, `study.save(\n", "    \"chase_table_1\",`.
SAVED = re.compile(r"""\.save\((?:\\n|[\s",])*(?:study, )?\\?["'](\w+)""")


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement of a paper, whether it holds, and in `detail` our numbers."""

    text: str
    verdict: Verdict
    detail: str = ""

    def _repr_html_(self) -> str:
        form = Html(
            '<p class="mathjax_ignore tex2jax_ignore"><b>{}</b>: {} <i>{}</i></p>'
        )
        return form.format(VERDICTS[self.verdict], self.text, self.detail)


def read_index(folder: Path) -> dict[str, dict[str, Any]]:
    """The record of each saved figure and table, by name; none if the folder has no index."""
    path = folder / "index.json"
    return dict(orjson.loads(path.read_bytes())) if path.exists() else {}


@dataclass(frozen=True, slots=True)
class Piece:
    """A saved figure or table, which a cell shows, with a paper's claims about it."""

    name: str
    shown: "Figure | ResultTable"
    data: pd.DataFrame
    saved: "Saved" = field(repr=False)
    judged: bool = True  # a parser's answers judge no claim

    def claim(
        self,
        text: str,
        holds: "bool | pd.Series[Any] | pd.DataFrame",
        of: object = None,
        least: float = 0.0,
    ) -> Claim:
        """Store whether a claim of the paper holds, in place of an earlier verdict on it.

        `holds` may have a verdict for each row: the claim holds if all do. A frame of differences,
        with `low` and `high` as `wb.leads` returns it, holds where the interval is above `least`,
        fails where it is below, and is not decided where it holds both. `of` are the numbers that
        the claim is about, by their labels, or a sentence; by default the differences, or those of
        the saved column that the verdicts are named after.
        """
        verdict = _verdict(holds, least) if self.judged else "not judged"
        if of is None:
            detail = self._numbers_of(holds)
        elif isinstance(of, pd.Series | Mapping):
            detail = _listed(of)
        else:
            detail = str(of)
        claim = Claim(text, verdict, detail)
        self.saved.add_claim(self.name, claim)
        return claim

    def _numbers_of(self, holds: Any) -> str:
        """Return the numbers that verdicts are about, by their labels."""
        if isinstance(holds, pd.DataFrame):
            points = holds[_POINTS].to_numpy().T
            return ", ".join(map(_difference, holds.index, *points))
        if isinstance(holds, pd.Series) and holds.name in self.data:
            rows = self.data.set_index(self.data.columns[0])
            return _listed(rows[str(holds.name)].reindex(holds.index))
        return ""

    def _repr_mimebundle_(self, **_: Any) -> Any:
        from IPython import get_ipython  # noqa: PLC0415  it asks for this

        return get_ipython().display_formatter.format(self.shown)


@dataclass(frozen=True, slots=True)
class Saved:
    """The folder of an experiment's figures; the first one saved creates it."""

    folder: Path

    def save(
        self,
        name: str,
        shown: "Figure | ResultTable",
        data: pd.DataFrame | None,
        stamp: object,
        names: Mapping[str, str] | None = None,
    ) -> pd.DataFrame:
        """Write NAME.png of a figure, NAME.csv, and the record in index.json; return the data.

        `names` are those of runs, by their ids.
        """
        # macOS ignores the case of a file's name.
        if not re.fullmatch("[a-z0-9_]+", name):
            allowed = "use lower-case ASCII letters, digits, '_'"
            raise BadInputError(f"the name {name!r} is not allowed: {allowed}")
        if isinstance(shown, ResultTable):
            frame = shown.frame
            record = {
                "kind": "table",
                "title": shown.title,
                "table": shown.rows_and_caption(),
                "rows": len(shown.frame),
            }
        else:
            frame = getattr(shown, "data", pd.DataFrame())
            record = {"kind": "figure", "title": "", "table": "", "rows": 0}
        if data is not None:
            frame = data
        named = names or {}
        record["claims"] = []
        record["stamp"] = stamped(stamp, frame)
        record["runs"] = {
            id_: named.get(id_, "") for id_ in sorted(runs(frame).split())
        }
        with naming(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            if not isinstance(shown, ResultTable):
                from workbench.report import style  # noqa: PLC0415  draws

                style.save(shown, self.folder / name)
            cells = frame.rename(columns=plain).map(plain)
            csv = cells.to_csv(index=False, float_format="%.6g")
            self._write(f"{name}.csv", csv.encode())
            with self._index() as index:
                index[name] = record
        return frame

    def add_claim(self, name: str, claim: Claim) -> None:
        """Store a claim about what was saved under a name; it replaces one with the same text."""
        with self._index() as index:
            claims = index[name]["claims"]
            others = [other for other in claims if other["text"] != claim.text]
            index[name]["claims"] = [*others, asdict(claim)]

    def mark_earlier(self, names: Iterable[str]) -> None:
        """Mark these as drawn by an earlier run; saving one again takes its mark away."""
        if not (self.folder / "index.json").is_file():
            return
        with self._index() as index:
            for name in index.keys() & set(names):
                index[name]["earlier"] = True

    @contextmanager
    def _index(self) -> Iterator[dict[str, dict[str, Any]]]:
        """The records by name, written when the block ends; several notebooks may write at once."""
        with (self.folder / ".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            records = read_index(self.folder)
            yield records
            self._write("index.json", indented(dict(sorted(records.items()))))

    def _write(self, file: str, content: bytes) -> None:
        """Write a file in one step, so that no reader sees a part of it."""
        draft = self.folder / f".{file}.{os.getpid()}"
        draft.write_bytes(content)
        draft.replace(self.folder / file)


def _verdict(holds: Any, least: float) -> Verdict:
    """Return the worst verdict of a claim's rows; without rows there is none."""
    verdicts: Sequence[Verdict]
    if isinstance(holds, pd.DataFrame):
        bounds = zip(holds["low"], holds["high"], strict=True)
        verdicts = [decide(low, high, least) for low, high in bounds]
    elif isinstance(holds, pd.Series):
        verdicts = ["holds" if row else "fails" for row in holds]
    else:
        verdicts = ["holds" if holds else "fails"]
    worst_first: tuple[Verdict, ...] = ("fails", "not decided", "holds")
    return min(verdicts, key=worst_first.index, default="not judged")


def _listed(numbers: "pd.Series[Any] | Mapping[Any, Any]") -> str:
    cells = [f"{shown(label)} {_number(value)}" for label, value in numbers.items()]
    return ", ".join(cells)


def _difference(label: object, difference: float, low: float, high: float) -> str:
    return f"{shown(label)} {difference:+.1f} ({low:+.1f} to {high:+.1f})"


def _number(value: Any) -> str:
    if isinstance(value, str | Integral):
        return str(value)
    return f"{value:,.1f}" if abs(value) >= 1 or not value else f"{value:.2g}"


def write_executed(executed: Path, figures: Path, experiment: Path) -> None:
    """Write an executed notebook beside its figures, without times, ids and what a process printed.

    A figure becomes the PNG that the notebook saved, in its natural size, so that text is as large
    in all, and the experiment's path its name.
    """
    text = executed.read_text("utf-8")
    # The path stands in a cell, and in what a cell shows of its study.
    content = json.loads(text.replace(str(experiment), experiment.stem))
    content["metadata"] = {
        key: content["metadata"][key] for key in ("kernelspec", "language_info")
    }
    for number, cell in enumerate(content["cells"]):
        tags = cell["metadata"].get("tags")
        cell["id"] = f"cell-{number}"
        cell["metadata"] = {"tags": tags} if tags else {}
        if cell["cell_type"] == "code":
            names = SAVED.findall("".join(cell["source"]))
            last_picture = None  # which the cell shows
            for name in names:
                png = figures / f"{name}.png"
                if png.is_file():
                    last_picture = png
            shown = [output for output in cell["outputs"] if "data" in output]
            cell["outputs"] = [_linked(output, last_picture) for output in shown]
    text = json.dumps(content, indent=1, ensure_ascii=False, sort_keys=True)
    (figures / executed.name).write_text(f"{text}\n", "utf-8")


def _linked(output: dict[str, Any], png: Path | None) -> dict[str, Any]:
    """Return the output with the saved figure in place of its image, and without style sheets."""
    data = output["data"]
    if data.keys() & {"image/png", "image/svg+xml"}:
        image = _image(png) if png else "a figure that was not saved"
        data = {"text/markdown": image}
    elif "text/html" in data:
        html = "".join(data["text/html"])
        html = re.sub(r"<style\b.*?</style>\s*", "", html, flags=re.DOTALL)
        data = {"text/html": html}
    return output | {"data": data, "metadata": {}}


def _image(png: Path) -> str:
    """Return the HTML of a figure in its natural size."""
    from workbench.report.style import page_width  # noqa: PLC0415  draws

    return f'<img src="{png.name}" width="{page_width(png)}" alt="{png.stem}">'


def write_gallery(figures: Path) -> Path:
    """Write README.md in the folder of all figures, without runs with a limit, as `embedded-3`.

    Its text is `gallery.md.j2`.
    """
    experiments = figures.parent / "experiments"
    pages = {}
    for folder in sorted(path for path in figures.iterdir() if path.is_dir()):
        index = read_index(folder)
        is_experiment = (experiments / f"{folder.name}.yaml").is_file()
        if index and (is_experiment or not _LIMITED.search(folder.name)):
            pages[folder.name] = _page(folder, index)
    text = _template().render(pages=pages, verdicts=VERDICTS, most_rows=_MOST_ROWS)
    path = figures / "README.md"
    path.write_text(f"{text.rstrip()}\n", "utf-8")
    return path


@cache
def _template() -> "jinja2.Template":
    import jinja2  # noqa: PLC0415  takes long to import

    environment = jinja2.Environment(  # noqa: S701  its filter `md` escapes
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["md"] = markdown
    environment.filters["short"] = lambda text: text.replace(PARSER, "")
    return environment.get_template("gallery.md.j2")


def _page(folder: Path, index: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return what the template shows of an experiment: its stamp, and its pieces by paper."""
    notebooks = {}
    for path in sorted(folder.glob("*.ipynb")):
        for name in SAVED.findall(path.read_text("utf-8")):
            notebooks[name] = path.name
    papers: dict[str, list[dict[str, Any]]] = {}
    for name in sorted(index, key=_order):
        piece = _piece(folder, name, index[name])
        piece["notebook"] = notebooks.get(name, "")
        papers.setdefault(_paper(name), []).append(piece)
    stamps = Counter(record["stamp"] for record in index.values())
    ((usual_stamp, _),) = stamps.most_common(1)
    return {
        "papers": papers,
        "stamp": usual_stamp,
        "is_parsed": any(map(is_parser, stamps)),
        "number": len(index),
        "earlier": sum("earlier" in record for record in index.values()),
    }


def _piece(folder: Path, name: str, record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the record of a figure or table, with its heading and the place that links lead to."""
    _, *words = name.split("_")
    # A section's number has points.
    label = re.sub(r"(?<=\d) (?=\d)", ".", " ".join(words) or name).capitalize()
    title = record["title"] or _published_title(_paper(name), words)
    piece = {
        **record,
        "name": name,
        "label": label,
        "heading": f"{label}: {title}" if title else label,
        "anchor": re.sub(r"\W", "-", f"{folder.name}-{name}", flags=re.ASCII),
    }
    if record["kind"] == "figure":
        from workbench.report.style import page_width  # noqa: PLC0415  draws

        # Its natural size, so that text is as large in every figure.
        piece["width"] = page_width(folder / f"{name}.png")
    return piece


def _paper(name: str) -> str:
    word = name.split("_", maxsplit=1)[0]
    return _PAPERS.get(word, word)


def _order(name: str) -> tuple[Any, ...]:
    """Sort by paper; in a paper, numbered pieces come first, then the others by name."""
    word, *_ = name.split("_")
    numbered = re.match(r"[^_]+_(?:figure|table|section)_(\d+)", name)
    paper = list(_PAPERS).index(word) if word in _PAPERS else len(_PAPERS)
    return paper, word, int(numbered[1]) if numbered else float("inf"), name


def _published_title(paper: str, words: Sequence[str]) -> str:
    """Return the paper's title of its figure or table, or of the whole of which it is a part.

    The words are those of a piece's name, such as "figure", "2abc", "numbers".
    """
    titles = {
        table.source: table.title for table in all_published() if table.paper == paper
    }
    part = " ".join(words[:2])
    return titles.get(part) or titles.get(part.rstrip("abcd"), "")
