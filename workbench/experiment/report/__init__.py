"""`report.html` of an experiment: a summary, the papers' tables and figures, and links from each number to its prompts."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from workbench.experiment.report.bundle import Bundle, write_bundle
from workbench.experiment.report.pieces import PARSER, Piece, claim_item, pieces
from workbench.experiment.report.summary import answers_link, provenance, summary
from workbench.html.parts import details, image, page, without_style
from workbench.html.tree import Element, Node, Raw, element, html
from workbench.report.drawing.palette import shown
from workbench.store import Store

_BODY = re.compile(r"(?s)(.*<tbody>)(.*)(</tbody>.*)")
_ROW = re.compile(r"(?s)<tr>(.*?)</tr>")
_LABEL = re.compile(r"(?s)<th[^>]*>(?:<span>)?(.*?)(?:</span>)?</th>")
_NUMBER = re.compile(r"<td><span>([^<]+)</span>")  # a paper's number stands in a cell with a class


def write_report(
    folder: Path,
    store: Store,
    manifest: Mapping[str, Any],
    root: Path | None = None,
    own: str = "",
) -> tuple[Path, Bundle]:
    """Write `report.html` and, beside it, the bundle to which its numbers lead; neither needs a network.

    `root` is the folder of the unpacked benchmark, and `own` the file of a user's own benchmark.
    """
    saved = pieces(folder)
    bundle = write_bundle(folder, saved, store, root, own)
    numbered = [piece for piece in saved if not piece.is_appendix]
    appendices = [piece for piece in saved if piece.is_appendix]
    parts: list[Node] = [
        element("h1", folder.name),
        *summary(saved, bundle, manifest),
        _contents(numbered, appendices),
        *_papers(numbered, bundle),
    ]
    if appendices:
        parts += [element("h1", "Appendices", id="appendices"), *_papers(appendices, bundle)]
    parts.append(provenance(bundle, manifest))
    path = folder / "report.html"
    path.write_text(page(folder.name, *parts), encoding="utf-8")
    return path, bundle


def _contents(numbered: Sequence[Piece], appendix_pieces: Sequence[Piece]) -> Element:
    lists = [
        element("div", element("h4", group), element("ul", *map(_entry, members), class_="plain"))
        for group, members in groupby(numbered, key=lambda piece: piece.group)
    ]
    appendices = details("Appendices", element("ul", *map(_entry, appendix_pieces), class_="plain"))
    return element(
        "nav",
        element("h2", "Contents", id="contents"),
        element("div", *lists, class_="beside"),
        appendices if appendix_pieces else None,
        element("p", element("a", "Provenance", href="#provenance")),
    )


def _entry(piece: Piece) -> Element:
    return element("li", element("a", piece.heading, href=f"#{piece.name}"))


def _papers(saved: Sequence[Piece], bundle: Bundle) -> Iterator[Element]:
    for group, members in groupby(saved, key=lambda piece: piece.group):
        yield element("h2", group)
        for piece in members:
            yield _section(piece, bundle)


def _section(piece: Piece, bundle: Bundle) -> Element:
    if piece.kind == "figure":
        content: Node = image((piece.folder / f"{piece.name}.png").read_bytes(), piece.heading)
    else:
        saved = (piece.folder / f"{piece.name}.html").read_text(encoding="utf-8")
        content = Raw(_with_links(without_style(saved), piece.name, bundle))
    claims = [claim_item(claim, claim["text"]) for claim in piece.claims]
    stamp: list[Node] = [piece.stamp.replace(PARSER, "")]
    if any(name == piece.name for name, _ in bundle.linked):
        stamp += [" ", answers_link(piece.name, None, "The numbers and their answers")]
    return element(
        "article",
        element("h3", piece.heading),
        element("div", content, class_="scroll"),
        element("p", *stamp, class_="quiet"),
        element("ul", *claims) if claims else None,
        id=piece.name,
    )


def _with_links(table: str, name: str, bundle: Bundle) -> str:
    """A saved table whose numbers, other than a paper's, are links to the row of the data with the same label."""
    rows = bundle.rows.get(name, [])
    labels = [html(shown(next(iter(row.values()), ""))) for row in rows]
    split = _BODY.fullmatch(table)
    if not split or not any(owner == name for owner, _ in bundle.linked):
        return table

    def row(number: int, cells: str) -> str:
        label = _LABEL.match(cells)
        text = label[1] if label else ""
        same = [n for n, row_label in enumerate(labels) if row_label == text]
        index = number if number in same else same[0] if len(same) == 1 else None
        if index is not None and (name, index) not in bundle.linked:
            return cells  # a paper's row, or one that counts no answers
        # A number that sums up several rows of the data leads to all of them.
        link = html(answers_link(name, index, "")).removesuffix("</a>")
        return _NUMBER.sub(lambda found: f"<td>{link}{found[1]}</a>", cells)

    cells = enumerate(_ROW.findall(split[2]))
    return split[1] + "".join(f"<tr>{row(*numbered)}</tr>" for numbered in cells) + split[3]
