"""`report.html` of an experiment: a summary, the papers' tables and figures, and a way from each number to its prompts."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from workbench.experiment.report.bundle import Bundle, write_bundle
from workbench.experiment.report.pieces import PARSER, Piece, pieces
from workbench.experiment.report.summary import behind_link, provenance, summary
from workbench.html.parts import details, image, page, without_style
from workbench.html.tree import Element, Node, Raw, element, html
from workbench.report.drawing.palette import shown
from workbench.store import Store
from workbench.study.saved import verdict

_BODY = re.compile(r"(?s)(.*<tbody>)(.*)(</tbody>.*)")
_ROW = re.compile(r"(?s)<tr>(.*?)</tr>")
_LABEL = re.compile(r"(?s)<th[^>]*>(?:<span>)?(.*?)(?:</span>)?</th>")
_NUMBER = re.compile(r"<td><span>([^<]+)</span>")  # a paper's number stands in a cell with a class


def write_report(
    folder: Path, store: Store, manifest: Mapping[str, Any], root: Path | None = None
) -> tuple[Path, Bundle]:
    """Write `report.html` and, beside it, the bundle to which its numbers lead; neither needs a network."""
    found = pieces(folder)
    bundle = write_bundle(folder, found, store, root)
    main = [piece for piece in found if not piece.is_appendix]
    rest = [piece for piece in found if piece.is_appendix]
    parts: list[Node] = [
        element("h1", folder.name),
        *summary(found, bundle, manifest),
        _contents(main, rest),
        *_papers(main, bundle),
    ]
    if rest:
        parts += [element("h1", "Appendices", id="appendices"), *_papers(rest, bundle)]
    parts.append(provenance(bundle, manifest))
    path = folder / "report.html"
    path.write_text(page(folder.name, *parts), encoding="utf-8")
    return path, bundle


def _contents(main: Sequence[Piece], rest: Sequence[Piece]) -> Element:
    lists = [
        element("div", element("h4", group), element("ul", *map(_entry, members), class_="plain"))
        for group, members in groupby(main, key=lambda piece: piece.group)
    ]
    appendices = details("Appendices", element("ul", *map(_entry, rest), class_="plain"))
    return element(
        "nav",
        element("h2", "Contents", id="contents"),
        element("div", *lists, class_="beside"),
        appendices if rest else None,
        element("p", element("a", "Provenance", href="#provenance")),
    )


def _entry(piece: Piece) -> Element:
    return element("li", element("a", piece.heading, href=f"#{piece.name}"))


def _papers(found: Sequence[Piece], bundle: Bundle) -> Iterator[Element]:
    for group, members in groupby(found, key=lambda piece: piece.group):
        yield element("h2", group)
        for piece in members:
            yield _section(piece, bundle)


def _section(piece: Piece, bundle: Bundle) -> Element:
    if piece.kind == "figure":
        drawn: Node = image((piece.folder / f"{piece.name}.png").read_bytes(), piece.heading)
    else:
        saved = (piece.folder / f"{piece.name}.html").read_text(encoding="utf-8")
        drawn = Raw(_linked(without_style(saved), piece.name, bundle))
    claims = []
    for claim in piece.claims:
        word, detail = element("b", verdict(claim["holds"])), element("i", claim["detail"])
        claims.append(element("li", word, f": {claim['text']} ", detail))
    leads = any(name == piece.name for name, _ in bundle.linked)
    return element(
        "article",
        element("h3", piece.heading),
        element("div", drawn, class_="scroll"),
        element(
            "p",
            piece.stamp.replace(PARSER, ""),
            " " if leads else None,
            behind_link(piece.name, None, "The numbers and what is behind them") if leads else None,
            class_="quiet",
        ),
        element("ul", *claims) if claims else None,
        id=piece.name,
    )


def _linked(table: str, name: str, bundle: Bundle) -> str:
    """A saved table whose numbers, other than a paper's, are links to the row of the data with the same label."""
    rows = bundle.rows.get(name, [])
    labels = [html(shown(next(iter(row.values()), ""))) for row in rows]
    parts = _BODY.fullmatch(table)
    if not parts or not any(owner == name for owner, _ in bundle.linked):
        return table

    def row(number: int, cells: str) -> str:
        label = _LABEL.match(cells)
        text = label[1] if label else ""
        same = [n for n, own in enumerate(labels) if own == text]
        at = number if number in same else same[0] if len(same) == 1 else None
        if at is not None and (name, at) not in bundle.linked:
            return cells  # a paper's row, or one that counts no answers
        # A number that sums up several rows of the data leads to all of them.
        link = html(behind_link(name, at, "")).removesuffix("</a>")
        return _NUMBER.sub(lambda found: f"<td>{link}{found[1]}</a>", cells)

    body = "".join(
        f"<tr>{row(number, cells)}</tr>" for number, cells in enumerate(_ROW.findall(parts[2]))
    )
    return parts[1] + body + parts[3]
