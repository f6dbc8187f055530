"""The parts that views are made of: headings, tables, foldable details, and the whole view.

Each part is a node of `tree`; `view` writes a whole view as HTML with the style sheet. Classes of the view
keep MathJax 3 and 2 away, so that a `$` stays a dollar. Differences are marked by words first and by colour
second; long lines wrap, so that a reader does not scroll sideways.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

from workbench.html.tree import Element, Node, Raw, element, html

STYLE = Path(__file__).with_name("style.css").read_text(encoding="utf-8")
NO_MATH = "mathjax_ignore tex2jax_ignore"


class Html(str):
    """A whole view, written: as the last line of a notebook's cell it shows itself."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return str(self)


def view(title: str, *parts: Node, kind: str = "") -> Html:
    """A section with a heading. `kind` is a class by which tests and widgets find it."""
    return written(element("h3", title), *parts, label=title, kind=kind)


def written(*parts: Node, label: str, kind: str) -> Html:
    """A section with the style sheet; screen readers announce it by `label`."""
    section = element(
        "section",
        element("style", Raw(STYLE)),
        *parts,
        class_=" ".join(filter(None, ("wb", NO_MATH, kind))),
        aria_label=label,
    )
    return Html(html(section))


def without_style(view: str) -> str:
    """A view without its copy of the style sheet."""
    return view.replace(f"<style>{STYLE}</style>", "")


def note(text: str, kind: str = "") -> Html:
    """A sentence without a heading."""
    return written(line(text), label="Note", kind=kind)


def views(*parts: Html) -> Html:
    """Views one below the other."""
    return Html("".join(parts))


def counted(number: int, noun: str) -> str:
    """A number with its noun, in the plural unless the number is 1."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def heading(text: str) -> Element:
    return element("h4", text)


def line(text: str) -> Element:
    return element("p", text)


def pre(text: str) -> Element:
    """Text with its line breaks; long lines wrap."""
    return element("pre", text)


def details(
    summary: str, *parts: Node | None, shown: bool = False, **attributes: str | None
) -> Element:
    """Parts that a click or the Enter key shows and hides."""
    is_open = "" if shown else None
    return element("details", element("summary", summary), *parts, open=is_open, **attributes)


def beside(*parts: Node, close: bool = False) -> Element:
    """Parts side by side if the page is wide enough, else one below the other; `close` ones need little width."""
    kind = "beside close" if close else "beside"
    return element("div", *(element("div", part) for part in parts), class_=kind)


def stack(*parts: Node | None) -> Element:
    """Parts one below the other, as one node."""
    return element("div", *parts)


def listed(items: Iterable[str]) -> Element:
    return element("ul", *(element("li", item) for item in items), class_="plain")


def table(
    columns: Sequence[object],
    rows: Iterable[Sequence[object]],
    caption: str = "",
    marks: Sequence[str] = (),
    kind: str | None = None,
) -> Element:
    """A table; a cell that is no node is written by `str`.

    `marks` has "plus", "minus" or "" for each row: a colour for what the row also says in words.
    `kind` sets narrow columns: the first column in "signs", every column in a "matrix".
    """
    body = [
        element(
            "tr",
            *(_cell(value) for value in row),
            class_=(marks[number] or None) if marks else None,
        )
        for number, row in enumerate(rows)
    ]
    return element(
        "table",
        element("caption", caption) if caption else None,
        element("thead", element("tr", *(element("th", str(c), scope="col") for c in columns))),
        element("tbody", *body),
        class_=kind,
    )


def _cell(value: object) -> Element:
    if isinstance(value, Element) and value.tag in {"td", "th"}:
        return value
    return element("td", value if isinstance(value, Element) else str(value))


def alert(text: str) -> Html:
    """An error, read out at once by a screen reader."""
    return view("This went wrong", element("p", text, class_="alert", role="alert"))
