"""An experiment's tables and figures on one page: Markdown for the repository, and one HTML file with all images.

A page begins with table 1 and figure 2 of CHASE-SQL and says at the top when the embedded parser answered.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import orjson

from workbench.html.parts import STYLE, image, page
from workbench.html.tree import Element, Raw, element
from workbench.report.papers import all_published
from workbench.study.saved import verdict

_PAPERS = {
    "chase": "CHASE-SQL",
    "chess": "CHESS",
    "mac": "MAC-SQL",
    "pool": "Any pool of candidates",
    "beyond": "Beyond the papers",
}


_PARSER = " (a small statistical parser, no language model)"
PARSER_ANSWERED = (
    "A small statistical parser answered every question here, no language model. These tables and figures"
    " check that the machinery works; they reproduce nothing of the papers, and no claim of a paper is judged."
)


@dataclass(frozen=True, slots=True)
class Piece:
    """A figure or a table with what its .json says of it."""

    folder: Path
    name: str
    kind: str
    title: str
    stamp: str
    claims: Sequence[Mapping[str, Any]]

    @property
    def group(self) -> str:
        """The paper, by the name's first word."""
        word = self.name.split("_")[0]
        return _PAPERS.get(word, word)

    @property
    def heading(self) -> str:
        """Which table or figure it is and its title, ours or the paper's."""
        _, *words = self.name.split("_")
        source = " ".join(words[:2])
        known = {(p.paper, p.source): p.title for p in all_published()}
        title = self.title or known.get((self.group, source), "")
        label = " ".join(words) or self.name
        return f"{label[:1].upper()}{label[1:]}{': ' if title else ''}{title}"

    @property
    def order(self) -> tuple[Any, ...]:
        """Paper by paper; in a paper its numbered tables and figures by number, then the rest by name."""
        groups = list(_PAPERS.values())
        paper = groups.index(self.group) if self.group in groups else len(groups)
        known = re.match(r"[^_]+_(figure|table|section)_(\d+)", self.name)
        number = int(known[2]) if known else float("inf")
        return (paper, self.group, number, self.name)


def pieces(folder: Path) -> list[Piece]:
    """All tables and figures of an experiment's folder, in the order in which a page shows them."""
    saved = [(path.stem, orjson.loads(path.read_bytes())) for path in folder.glob("*.json")]
    keys = ("kind", "title", "stamp", "claims")
    found = [Piece(folder, name, *(record[key] for key in keys)) for name, record in saved]
    return sorted(found, key=lambda piece: piece.order)


def write_gallery(figures: Path) -> Path:
    """`README.md` in the folder of all figures: a part for each experiment that has some.

    Runs with a limit, in folders like `embedded-3`, are left out.
    """
    lines = [
        "# Figures",
        "",
        "The tables and figures of the committed experiments. Beside each lie its data (`NAME.csv`) and the",
        "runs that they come from (`NAME.json`). `make reproduce` draws all of it again.",
    ]
    for folder in sorted(path for path in figures.iterdir() if path.is_dir()):
        own = figures.parent / "experiments" / f"{folder.name}.yaml"
        if re.search(r"-\d+$", folder.name) and not own.is_file():
            continue
        if found := pieces(folder):
            lines += ["", f"## {folder.name}", "", *_opening(folder, found), *_markdown(found)]
    path = figures / "README.md"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def write_report(folder: Path) -> Path:
    """`report.html` in an experiment's folder: everything in one file, which needs no network."""
    found = pieces(folder)
    parts: list[Element] = [element("h1", folder.name)]
    if _by_parser(found):
        parts.append(element("p", PARSER_ANSWERED))
    for group, members in groupby(found, key=lambda piece: piece.group):
        parts += [element("h2", group), *map(_section, members)]
    path = folder / "report.html"
    path.write_text(page(folder.name, *parts), encoding="utf-8")
    return path


def _by_parser(found: Sequence[Piece]) -> bool:
    return any(piece.stamp.startswith("embedded/") for piece in found)


def _opening(folder: Path, found: Sequence[Piece]) -> Iterator[str]:
    """Who answered, and links to the executed notebooks."""
    if _by_parser(found):
        yield from (PARSER_ANSWERED, "")
    if pages := sorted(folder.glob("*-*.html")):
        links = (f"[{page.stem.replace('-', '/')}]({folder.name}/{page.name})" for page in pages)
        yield from (f"Executed notebooks: {', '.join(links)}.", "")


def _markdown(found: Sequence[Piece]) -> Iterator[str]:
    for group, members in groupby(found, key=lambda piece: piece.group):
        yield from (f"### {group}", "")
        for piece in members:
            file = f"{piece.folder.name}/{piece.name}"
            yield from (f"#### {_plain(piece.heading)}", "")
            if piece.kind == "figure":
                yield f"![{_plain(piece.heading)}]({file}.png)"
            else:
                table = piece.folder / f"{piece.name}.md"
                yield table.read_text(encoding="utf-8").rstrip() if table.is_file() else ""
            yield from ("", f"{_plain(piece.stamp.replace(_PARSER, ''))} ([data]({file}.csv))", "")
            for claim in piece.claims:
                text = f"{_plain(claim['text'])} {_plain(claim['detail'])}".rstrip()
                yield f"- **{verdict(claim['holds'])}**: {text}"
            if piece.claims:
                yield ""


def _section(piece: Piece) -> Element:
    if piece.kind == "figure":
        shown = image((piece.folder / f"{piece.name}.png").read_bytes(), piece.heading)
    else:
        table = (piece.folder / f"{piece.name}.html").read_text(encoding="utf-8")
        shown = Raw(table.replace(f"<style>{STYLE}</style>", ""))  # the page has it
    claims = []
    for claim in piece.claims:
        word, detail = element("b", verdict(claim["holds"])), element("i", claim["detail"])
        claims.append(element("li", word, f": {claim['text']} ", detail))
    return element(
        "article",
        element("h3", piece.heading),
        shown,
        element("p", piece.stamp.replace(_PARSER, ""), class_="quiet"),
        element("ul", *claims) if claims else None,
        id=piece.name,
    )


def _plain(text: str) -> str:
    """Text without special characters of Markdown."""
    return re.sub(r"([\\`*_{}\[\]<>#|$])", r"\\\1", " ".join(text.split()))
