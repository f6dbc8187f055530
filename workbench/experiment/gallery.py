"""The figures and tables of all experiments as one page of Markdown, for the repository."""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

from workbench.experiment.pieces import PARSER, PARSER_NOTE, Piece, by_parser, pieces
from workbench.report.tables import markdown
from workbench.study.saved import verdict


def write_gallery(figures: Path) -> Path:
    """`README.md` in the folder of all figures: a part for each experiment that has some.

    Runs with a limit, in folders like `embedded-3`, are left out.
    """
    lines = [
        "# Figures",
        "",
        "The tables and figures of the committed experiments. Beside each lies its data (`NAME.csv`); `index.json`",
        "names the runs that they come from. `make reproduce` draws all of it again.",
    ]
    for folder in sorted(path for path in figures.iterdir() if path.is_dir()):
        experiment_file = figures.parent / "experiments" / f"{folder.name}.yaml"
        if re.search(r"-\d+$", folder.name) and not experiment_file.is_file():
            continue
        if saved := pieces(folder):
            lines += ["", f"## {folder.name}", "", *_introduction(folder, saved), *_markdown(saved)]
    path = figures / "README.md"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def _introduction(folder: Path, saved: Sequence[Piece]) -> Iterator[str]:
    """A note if the embedded parser answered, and links to the executed notebooks."""
    if by_parser(saved):
        yield from (PARSER_NOTE, "")
    if pages := sorted(folder.glob("*.ipynb")):
        links = (f"[{page.stem.replace('-', '/')}]({folder.name}/{page.name})" for page in pages)
        yield from (f"Executed notebooks: {', '.join(links)}.", "")


def _markdown(saved: Sequence[Piece]) -> Iterator[str]:
    for group, members in groupby(saved, key=lambda piece: piece.group):
        yield from (f"### {group}", "")
        for piece in members:
            file = f"{piece.folder.name}/{piece.name}"
            yield from (f"#### {markdown(piece.heading)}", "")
            if piece.kind == "figure":
                yield f"![{markdown(piece.heading)}]({file}.png)"
            else:
                yield piece.table.rstrip()
            stamp = markdown(piece.stamp.replace(PARSER, ""))
            yield from ("", f"{stamp} ([data]({file}.csv))", "")
            for claim in piece.claims:
                text = f"{markdown(claim['text'])} {markdown(claim['detail'])}".rstrip()
                yield f"- **{verdict(claim['holds'])}**: {text}"
            if piece.claims:
                yield ""
