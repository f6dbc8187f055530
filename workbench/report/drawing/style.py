"""One look for every figure: print sizes, a footer that says what is shown, files that repeat byte for byte.

Every figure is one or two columns wide, so that its letters have the same size in print. Text stays text: an SVG names
its fonts, and a PDF embeds the font as TrueType, which venues ask for.
"""

from base64 import b64encode
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pandas as pd
from matplotlib.figure import Figure

from workbench.errors import BadInputError
from workbench.report.drawing.lettering import FONTS, SIZE, SMALL, lines
from workbench.report.drawing.palette import GREY, INK, PALE
from workbench.report.stamp import stamped

ONE, TWO = 3.35, 6.9
"""The width of one and of two columns of print, in inches."""
KINDS = ("svg", "pdf", "png")
_METADATA = {  # left out, since the date and the program would make equal figures differ
    "svg": ("Date", "Creator"), "pdf": ("CreationDate", "Creator", "Producer"), "png": ("Software",),
}  # fmt: skip
_ON_SCREEN = 110
"""Pixels in a notebook for an inch of print."""

_LOOK: dict[Any, Any] = {
    "font.family": ["sans-serif"],
    "font.sans-serif": FONTS,
    **dict.fromkeys(("font.size", "axes.titlesize", "axes.labelsize", "legend.fontsize"), SIZE),
    **dict.fromkeys(("xtick.labelsize", "ytick.labelsize"), SIZE),
    **dict.fromkeys(("text.color", "axes.labelcolor", "xtick.color", "ytick.color"), INK),
    "axes.edgecolor": GREY,
    "axes.linewidth": 0.6,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": False,
    "grid.color": PALE,
    "grid.linewidth": 0.5,
    "lines.linewidth": 1.3,
    "lines.markersize": 4.0,
    "hatch.linewidth": 0.6,
    "legend.frameon": False,
    "legend.handlelength": 2.2,
    "figure.constrained_layout.w_pad": 0.06,
    "figure.constrained_layout.h_pad": 0.06,
    "text.hinting": "none",
    "figure.dpi": 200,
    "savefig.dpi": 200,
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
    "svg.hashsalt": "workbench",
}


class Picture(Figure):
    """A figure with the data that it shows; a notebook displays it."""

    data: pd.DataFrame
    """The rows that the figure shows, for the CSV beside it."""
    files: dict[str, bytes]
    """The images that were rendered since the figure last changed, by kind."""

    def _repr_mimebundle_(self, **_: Any) -> tuple[dict[str, str], dict[str, Any]]:
        """The image of the file, at the size of print."""
        image = b64encode(_rendered(self, "png")).decode()
        wide, high = (round(_ON_SCREEN * inches) for inches in self.get_size_inches())
        return {"image/png": image, "text/plain": str(self)}, {
            "image/png": {"width": wide, "height": high}
        }


@contextmanager
def _settings() -> Iterator[None]:
    """Our settings over Matplotlib's defaults, whatever a notebook has changed."""
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(_LOOK)
        yield


@contextmanager
def canvas(
    wide: float, high: float, data: pd.DataFrame, stamp: object, note: str = ""
) -> Iterator[Picture]:
    """A figure to draw on, in inches; `note` follows the stamp. At the end its layout is computed once and fixed."""
    with _settings():
        text = f"{stamped(stamp, data).removesuffix('.')}. {note}" if note else stamped(stamp, data)
        footer = lines(text, wide * 72 - 8, SMALL)
        figure = Picture(
            figsize=(wide, max(1.0, high) + 0.1 * (1 + footer.count("\n"))), layout="constrained"
        )
        figure.data, figure.files = data, {}
        figure.supxlabel(footer, x=0.01, ha="left", fontsize=SMALL, color="#555555")
        yield figure
        figure.draw_without_rendering()
        figure.set_layout_engine("none")


def save(figure: Figure, path: Path) -> None:
    """Write path.svg, path.pdf and path.png (200 dots an inch): equal figures give equal bytes."""
    for kind in KINDS:
        path.with_name(f"{path.name}.{kind}").write_bytes(_rendered(figure, kind))


def _rendered(figure: Figure, kind: str) -> bytes:
    """The image. A figure that is saved and then shown is rendered once, unless it changes in between."""
    files = figure.files if isinstance(figure, Picture) else {}
    if figure.stale:
        files.clear()
    if kind not in files:
        files[kind] = _render(figure, kind)
        figure.stale = False  # rendering sets the background and restores it, which marks a change
    return files[kind]


def _render(figure: Figure, kind: str) -> bytes:
    file = BytesIO()
    with _settings():
        figure.savefig(file, format=kind, metadata=dict.fromkeys(_METADATA[kind]))
    return file.getvalue()


def need(frame: pd.DataFrame, *columns: str) -> None:
    """Raise BadInputError if the frame lacks one of the columns, or has no rows."""
    missing = [name for name in columns if name not in frame.columns]
    if missing:
        raise BadInputError(
            f"the table has no column {missing[0]}: the figure needs {', '.join(columns)}"
        )
    if frame.empty:
        raise BadInputError("the table has no rows: there is nothing to draw")


def runs(frame: pd.DataFrame) -> str:
    """The ids of the runs that a table's rows came from."""
    ids: Sequence[str] = frame["run"].astype(str).tolist() if "run" in frame else []
    return " ".join(dict.fromkeys(" ".join(ids).split()))


def question_ids(frame: pd.DataFrame) -> str:
    """The ids of the questions of a table's rows."""
    return " ".join(dict.fromkeys(frame["question_id"].astype(str)))
