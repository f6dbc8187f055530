"""What an experiment drew, on one page: Markdown for the repository, and HTML that opens anywhere by itself."""

import base64
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby
from pathlib import Path
from typing import Any

import orjson

from workbench.report.papers import ALL

_PAPERS = {
    "chase": "CHASE-SQL",
    "chess": "CHESS",
    "mac": "MAC-SQL",
    "pool": "Any pool of candidates",
    "beyond": "Beyond the papers",
}


@dataclass(frozen=True, slots=True)
class Piece:
    """A figure or a table as its .json tells it."""

    folder: Path
    name: str
    kind: str
    title: str
    stamp: str
    claims: Sequence[Mapping[str, Any]]

    @property
    def group(self) -> str:
        """Whose it is: the name's first word."""
        word = self.name.split("_")[0]
        return _PAPERS.get(word, word)

    @property
    def heading(self) -> str:
        """Which table or figure it is, and what it shows; what the paper calls it, where it is one."""
        _, *words = self.name.split("_")
        source = " ".join(words[:2])
        known = {(p.paper, p.source): p.title for p in ALL}
        title = self.title or known.get((self.group, source), "")
        said = " ".join(words) or self.name
        return f"{said[:1].upper()}{said[1:]}{': ' if title else ''}{title}"


def pieces(folder: Path) -> list[Piece]:
    """All that lies in an experiment's folder, paper by paper, in the order of their numbers."""
    found = []
    for path in folder.glob("*.json"):
        told = orjson.loads(path.read_bytes())
        found.append(
            Piece(folder, path.stem, told["kind"], told["title"], told["stamp"], told["claims"])
        )
    groups = list(_PAPERS.values())
    order = {name: place for place, name in enumerate(groups)}
    return sorted(found, key=lambda p: (order.get(p.group, len(groups)), p.group, _natural(p.name)))


def write_gallery(figures: Path) -> Path:
    """`README.md` in the folder of all figures: a part for each experiment that drew some.

    Trials of fewer questions, in folders like `embedded-3`, have none.
    """
    lines = [
        "# Figures",
        "",
        "What the committed experiments drew, with the data behind each figure beside it (`NAME.csv`) and",
        "where that comes from (`NAME.json`). `make reproduce` makes all of it again.",
    ]
    for folder in sorted(path for path in figures.iterdir() if path.is_dir()):
        own = figures.parent / "experiments" / f"{folder.name}.yaml"
        if re.search(r"-\d+$", folder.name) and not own.is_file():
            continue
        if found := pieces(folder):
            lines += ["", f"## {folder.name}", "", *_markdown(found)]
    path = figures / "README.md"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def write_report(folder: Path) -> Path:
    """`report.html` in an experiment's folder: everything in one file, which needs no network."""
    parts = [
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>",
        "<meta name='viewport' content='width=device-width'>",
        f"<title>{escape(folder.name)}</title><style>{_STYLE}</style></head><body>",
        f"<h1>{escape(folder.name)}</h1>",
    ]
    found = pieces(folder)
    for group, members in groupby(found, key=lambda piece: piece.group):
        parts.append(f"<h2>{escape(group)}</h2>")
        parts += [_section(piece) for piece in members]
    parts.append("</body></html>")
    path = folder / "report.html"
    path.write_text("\n".join(parts), encoding="utf-8")
    return path


def _markdown(found: Sequence[Piece]) -> Iterator[str]:
    for group, members in groupby(found, key=lambda piece: piece.group):
        yield from (f"### {group}", "")
        for piece in members:
            place = f"{piece.folder.name}/{piece.name}"
            yield from (f"#### {_plain(piece.heading)}", "")
            if piece.kind == "figure":
                yield f"![{_plain(piece.heading)}]({place}.png)"
            else:
                table = piece.folder / f"{piece.name}.md"
                yield table.read_text(encoding="utf-8").rstrip() if table.is_file() else ""
            yield from ("", f"{_plain(piece.stamp)} ([data]({place}.csv))", "")
            for claim in piece.claims:
                holds = "holds here" if claim["holds"] else "does not hold here"
                yield f"- **{holds}**: {_plain(claim['text'])} {_plain(claim['detail'])}".rstrip()
            if piece.claims:
                yield ""


def _section(piece: Piece) -> str:
    if piece.kind == "figure":
        image = base64.b64encode((piece.folder / f"{piece.name}.png").read_bytes()).decode()
        shown = (
            f"<img src='data:image/png;base64,{image}' alt='{escape(piece.heading, quote=True)}'>"
        )
    else:
        shown = (piece.folder / f"{piece.name}.html").read_text(encoding="utf-8")
    claims = "".join(
        f"<li><b>{'holds here' if claim['holds'] else 'does not hold here'}</b>: "
        f"{escape(claim['text'])} <i>{escape(claim['detail'])}</i></li>"
        for claim in piece.claims
    )
    return (
        f"<section id='{escape(piece.name)}'><h3>{escape(piece.heading)}</h3>{shown}"
        f"<p class='stamp'>{escape(piece.stamp)}</p>{f'<ul>{claims}</ul>' if claims else ''}</section>"
    )


def _plain(text: str) -> str:
    """Text that means nothing more in Markdown."""
    return re.sub(r"([\\`*_{}\[\]<>#|$])", r"\\\1", " ".join(text.split()))


def _natural(name: str) -> list[tuple[int, str]]:
    """2 before 10."""
    return [(int(part), "") if part.isdigit() else (0, part) for part in re.split(r"(\d+)", name)]


_STYLE = (
    "body{font:15px/1.45 system-ui,sans-serif;max-width:62rem;margin:2rem auto;padding:0 1rem;color:#222}"
    "img{max-width:100%;height:auto}section{margin:0 0 2.5rem}.stamp{color:#555;font-size:.85em}"
    "table{border-collapse:collapse}"
)
