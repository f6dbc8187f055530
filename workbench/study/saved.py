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
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import cache, partial
from itertools import groupby
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
from workbench.report.stamp import runs, stamped
from workbench.report.tables import ResultTable, markdown

if TYPE_CHECKING:
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
_PARSER = " (a small statistical parser, no language model)"
# The name of what a notebook saves, in a cell or in its JSON, where quotes are escaped.
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
        if isinstance(holds, pd.DataFrame):
            verdict = _together(
                map(partial(decide, least=least), holds["low"], holds["high"])
            )
        elif isinstance(holds, pd.Series):
            verdict = _together("holds" if row else "fails" for row in holds)
        else:
            verdict = "holds" if holds else "fails"
        if of is None:
            of = self._numbers(holds)
        if isinstance(of, pd.Series | Mapping):
            of = ", ".join(f"{shown(label)} {_number(x)}" for label, x in of.items())
        claim = Claim(text, verdict if self.judged else "not judged", str(of))
        self.saved.add_claim(self.name, claim)
        return claim

    def _numbers(self, holds: Any) -> object:
        """Return the numbers that verdicts are about, as a sentence or by their labels."""
        if isinstance(holds, pd.DataFrame):
            points = holds[_POINTS].to_numpy().T
            return ", ".join(map(_difference, holds.index, *points))
        if isinstance(holds, pd.Series) and holds.name in self.data:
            rows = self.data.set_index(self.data.columns[0])
            return rows[str(holds.name)].reindex(holds.index)
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
        kind, title, table = "figure", "", ""
        frame = getattr(shown, "data", pd.DataFrame())
        if isinstance(shown, ResultTable):
            kind, title, table = "table", shown.title, shown.to_markdown()
            frame = shown.frame
        if data is not None:
            frame = data
        named = names or {}
        record = {
            "kind": kind,
            "title": title,
            "table": table,
            "claims": [],
            "stamp": stamped(stamp, frame),
            "runs": {id_: named.get(id_, "") for id_ in sorted(runs(frame).split())},
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


def _together(verdicts: Iterable[Verdict]) -> Verdict:
    """Return the verdict on a claim about several rows; without rows there is none."""
    order: tuple[Verdict, ...] = ("fails", "not decided", "holds", "not judged")
    return min(verdicts, key=order.index, default="not judged")


def _difference(label: object, difference: float, low: float, high: float) -> str:
    return f"{shown(label)} {difference:+.1f} ({low:+.1f} to {high:+.1f})"


def _number(value: Any) -> str:
    if isinstance(value, str | Integral):
        return str(value)
    return f"{value:,.1f}" if abs(value) >= 1 or not value else f"{value:.2g}"


def write_executed(executed: Path, figures: Path, experiment: Path) -> None:
    """Write an executed notebook beside its figures, without times, ids and what a process printed.

    A figure becomes a link to the PNG that the notebook saved, and the experiment's path its name.
    """
    content = json.loads(
        executed.read_text("utf-8").replace(str(experiment), experiment.stem)
    )
    content["metadata"] = {
        key: content["metadata"][key] for key in ("kernelspec", "language_info")
    }
    for number, cell in enumerate(content["cells"]):
        tags = cell["metadata"].get("tags")
        cell["id"] = f"cell-{number}"
        cell["metadata"] = {"tags": tags} if tags else {}
        if cell["cell_type"] == "code":
            names = SAVED.findall("".join(cell["source"]))
            pictures = [name for name in names if (figures / f"{name}.png").is_file()]
            png = next(reversed(pictures), "")
            shown = [output for output in cell["outputs"] if "data" in output]
            cell["outputs"] = [_linked(output, png) for output in shown]
    text = json.dumps(content, indent=1, ensure_ascii=False, sort_keys=True)
    (figures / executed.name).write_text(f"{text}\n", "utf-8")


def _linked(output: dict[str, Any], png: str) -> dict[str, Any]:
    """Return the output with a link in place of its image, and without style sheets."""
    data = output["data"]
    if data.keys() & {"image/png", "image/svg+xml"}:
        link = f"![{png}]({png}.png)" if png else "a figure that was not saved"
        data = {"text/markdown": link}
    elif "text/html" in data:
        html = "".join(data["text/html"])
        html = re.sub(r"<style\b.*?</style>\s*", "", html, flags=re.DOTALL)
        data = {"text/html": html}
    return output | {"data": data, "metadata": {}}


def write_gallery(figures: Path) -> Path:
    """Write README.md in the folder of all figures, without runs with a limit, as `embedded-3`."""
    lines = ["# Figures"]
    for folder in sorted(path for path in figures.iterdir() if path.is_dir()):
        experiment = figures.parent / "experiments" / f"{folder.name}.yaml"
        limited = re.search(r"-[\d.]+$", folder.name) and not experiment.is_file()
        index = read_index(folder)
        if index and not limited:
            lines += ["", f"## {folder.name}", "", *_page(folder, index)]
    path = figures / "README.md"
    path.write_text("\n".join(lines).rstrip() + "\n", "utf-8")
    return path


def _order(name: str) -> tuple[Any, ...]:
    """Sort by paper; in a paper, numbered pieces come first, then the others by name."""
    word, *_ = name.split("_")
    numbered = re.match(r"[^_]+_(?:figure|table|section)_(\d+)", name)
    paper = list(_PAPERS).index(word) if word in _PAPERS else len(_PAPERS)
    return paper, word, int(numbered[1]) if numbered else float("inf"), name


def _page(folder: Path, index: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Yield the lines about an experiment: what was run, the contents, then each piece."""
    stamps = Counter(record["stamp"] for record in index.values())
    if any(is_parser(stamp) for stamp in stamps):
        yield "Machinery check: a parser answered, no language model, so no claim is judged."
        yield ""
    earlier = sum("earlier" in record for record in index.values())
    if earlier:
        yield f"**{earlier} of {len(index)} pieces are of an earlier run**; each says so."
        yield ""
    usual_stamp, _ = stamps.most_common(1)[0]
    yield f"Most pieces: {markdown(usual_stamp.replace(_PARSER, ''))}."
    yield "Each piece leads to its data and its notebook; `index.json` names the runs behind it."
    yield ""
    notebooks = {}
    for path in sorted(folder.glob("*.ipynb")):
        for name in SAVED.findall(path.read_text("utf-8")):
            notebooks[name] = path.name
    pieces = []
    for paper, names in groupby(sorted(index, key=_order), key=_paper):
        links = []
        pieces += ["", f"### {paper}"]
        for name in names:
            anchor = re.sub(r"\W", "-", f"{folder.name}-{name}", flags=re.ASCII)
            links.append(f"[{_label(name)}](#{anchor})")
            pieces += ["", f'<a id="{anchor}"></a>']
            pieces += _piece(folder, name, index[name], notebooks.get(name, ""))
        yield f"- {paper}: {', '.join(links)}"
    yield from pieces


def _paper(name: str) -> str:
    word = name.split("_", maxsplit=1)[0]
    return _PAPERS.get(word, word)


def _label(name: str) -> str:
    """Return what a piece is called under its paper: `Table 1` of chase_table_1."""
    _, *words = name.split("_")
    return (" ".join(words) or name).capitalize()


def _piece(
    folder: Path, name: str, record: Mapping[str, Any], notebook: str
) -> Iterator[str]:
    """Yield the lines about a figure or table: heading, itself, stamp and the paper's claims."""
    label = _label(name)
    source = " ".join(name.split("_")[1:3])
    title = record["title"] or _published_titles().get((_paper(name), source), "")
    heading = f"{label}: {title}" if title else label
    yield from ("", f"#### {markdown(heading)}", "")
    if "earlier" in record:
        yield from ("**Not drawn in the last run**: this is of an earlier one.", "")

    data = f"{folder.name}/{name}.csv"
    link = f"[data]({data})"
    rows = record["table"].count("\n|") - 2
    if record["kind"] == "figure":
        yield _image(folder / f"{name}.png", label)
    elif rows > _MOST_ROWS:
        link = f"[{rows} rows]({data})"
    else:
        without_title = re.sub(r"^\*\*.*?\*\*\n\n", "", record["table"])
        yield without_title.replace(_PARSER, "").rstrip()
    stamp = record["stamp"].replace(_PARSER, "")
    if "Here: " in record["table"]:  # the table says it
        stamp = ""
    if notebook:
        link += f", [notebook]({folder.name}/{notebook})"
    yield from ("", f"{markdown(stamp)} ({link})".strip())

    for claim in record["claims"]:
        if claim["verdict"] != "not judged":
            text = markdown(f"{claim['text']} {claim['detail']}")
            yield from ("", f"- **{VERDICTS[claim['verdict']]}**: {text}")


def _image(png: Path, label: str) -> str:
    """Return the tag of a figure at its natural size, so that text is as large in every figure."""
    from workbench.report.style import page_width  # noqa: PLC0415  draws

    width = page_width(png)
    return f'<img src="{png.parent.name}/{png.name}" width="{width}" alt="{label}">'


@cache
def _published_titles() -> dict[tuple[str, str], str]:
    return {(table.paper, table.source): table.title for table in all_published()}
