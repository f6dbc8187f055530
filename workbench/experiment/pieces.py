"""The figures and tables that an experiment has saved, in the order in which a page shows them.

A paper's pieces are in the order of their numbers in the paper. Pieces that belong to such a table or figure, and
pieces without a number, are its appendix.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench.report.papers import all_published
from workbench.study.saved import read_index

_PAPERS = {
    "chase": "CHASE-SQL",
    "chess": "CHESS",
    "mac": "MAC-SQL",
    "pool": "Any pool of candidates",
    "beyond": "Beyond the papers",
}
PARSER = " (a small statistical parser, no language model)"
PARSER_NOTE = (
    "A small statistical parser answered every question here, no language model. These tables and figures"
    " check that the machinery works; they reproduce nothing of the papers, and no claim of a paper is judged."
)


@dataclass(frozen=True, slots=True)
class Piece:
    """A saved figure or table, with the fields of its record in the index."""

    folder: Path
    name: str
    kind: str
    title: str
    stamp: str
    table: str
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
        published = {(p.paper, p.source): p.title for p in all_published()}
        title = self.title or published.get((self.group, source), "")
        label = " ".join(words) or self.name
        return f"{label[:1].upper()}{label[1:]}{': ' if title else ''}{title}"

    @property
    def order(self) -> tuple[Any, ...]:
        """Paper by paper; in a paper its numbered tables and figures by number, then the rest by name."""
        groups = list(_PAPERS.values())
        paper = groups.index(self.group) if self.group in groups else len(groups)
        numbered = re.match(r"[^_]+_(figure|table|section)_(\d+)", self.name)
        number = int(numbered[2]) if numbered else float("inf")
        return (paper, self.group, number, self.name)


def pieces(folder: Path) -> list[Piece]:
    """All tables and figures of an experiment's folder, in the order in which a page shows them."""
    keys = ("kind", "title", "stamp", "table", "claims")
    saved = read_index(folder).items()
    found = [Piece(folder, name, *(record[key] for key in keys)) for name, record in saved]
    return sorted(found, key=lambda piece: piece.order)


def by_parser(pieces: Sequence[Piece]) -> bool:
    """Whether the embedded parser answered, so that no claim of a paper is judged."""
    return any(piece.stamp.startswith("embedded/") for piece in pieces)
