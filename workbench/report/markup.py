"""HTML for notebooks: the only place where text of databases and models becomes markup.

Every text goes through `esc`. Every view stands in one `section` whose classes keep MathJax away, version 3
and 2, so that a `$` stays a dollar. Signs are text first and colour second; long lines wrap, so that
nothing scrolls sideways.
"""

import html
import re
from collections.abc import Iterable, Sequence

# `&` is the section, named so often that JupyterLab's own rules for tables and headings come second.
_STYLE = """<style>
&{max-width:100%;font-size:13px;line-height:1.4;word-break:normal;overflow-wrap:anywhere}
& h3{font-size:15px;font-weight:600;margin:.6em 0 .3em}
& h4{font-size:13px;font-weight:600;margin:.8em 0 .2em}
& p{margin:.2em 0}
& ul{list-style:none;margin:.2em 0;padding:0}
& li{padding-left:1.5em;text-indent:-1.5em}
& table{border-collapse:collapse;margin:.3em 0;max-width:100%;font-size:inherit}
& caption{text-align:left;font-weight:600;padding:.2em 0;white-space:nowrap}
& th,& td{border:1px solid var(--jp-border-color2,#bdbdbd);padding:2px 6px;text-align:left;
vertical-align:top;white-space:pre-wrap;min-width:5em}
& .signs td:first-child,& .signs th:first-child{min-width:1.5em}
& .matrix th,& .matrix td{min-width:1.2em;padding:2px 4px}
& th{background:var(--jp-layout-color2,#eee)}& td:empty{height:1.3em}
& tbody tr{background:none}
& pre{white-space:pre-wrap;word-break:normal;margin:.2em 0;padding:4px 8px;
background:var(--jp-layout-color2,#f5f5f5);color:inherit;font-size:12px}
& details{margin-left:1em}& summary{cursor:pointer;padding:2px 0;margin-left:-1em}
& .beside{display:flex;flex-wrap:wrap;gap:0 16px;align-items:flex-start}
& .beside>div{flex:1 1 320px;max-width:100%}
& tr.plus>*{box-shadow:inset 3px 0 #0072b2;background:rgba(0,114,178,.14)}
& tr.minus>*{box-shadow:inset 3px 0 #d55e00;background:rgba(213,94,0,.14)}
& .alert{border:2px solid #d55e00;padding:4px 8px}
</style>""".replace("&", "section.wb.wb")

# What HTML cannot hold, what no reader sees, and what turns the order of letters around.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]"
)


def esc(value: object) -> str:
    """The value as text of an element or an attribute; what cannot be seen is written as an escape."""
    text = _UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", str(value).replace("\r\n", "\n"))
    return html.escape(text)


class Html(str):
    """A whole view: as the last line of a cell it shows itself."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return str(self)


def view(title: str, *parts: str, kind: str = "") -> Html:
    """A section with a heading. `kind` is a class by which it can be found."""
    return Html(
        f'<section class="wb mathjax_ignore tex2jax_ignore {esc(kind)}" aria-label="{esc(title)}">'
        f"{_STYLE}<h3>{esc(title)}</h3>{''.join(parts)}</section>"
    )


def views(*parts: str) -> Html:
    """Views one below the other."""
    return Html("".join(parts))


def heading(text: str) -> str:
    return f"<h4>{esc(text)}</h4>"


def line(text: str) -> str:
    return f"<p>{esc(text)}</p>"


def pre(text: str) -> str:
    """Text as it stands, its long lines wrapped."""
    return f"<pre>{esc(text)}</pre>"


def fold(summary: str, *parts: str, shown: bool = False) -> str:
    """Parts that a click or the Enter key shows and hides."""
    return (
        f"<details{' open' if shown else ''}><summary>{esc(summary)}</summary>"
        f"{''.join(parts)}</details>"
    )


def beside(*parts: str) -> str:
    """Parts side by side where there is room, else one below the other."""
    return f'<div class="beside">{"".join(f"<div>{part}</div>" for part in parts)}</div>'


def listed(items: Iterable[str]) -> str:
    """A list of texts, as it is told."""
    return f"<ul>{''.join(f'<li>{esc(item)}</li>' for item in items)}</ul>"


def table(
    columns: Sequence[object],
    rows: Iterable[Sequence[object]],
    caption: str = "",
    marks: Sequence[str] = (),
    kind: str = "",
) -> str:
    """A table. A row's mark is "plus", "minus" or "": colour for what the row also says in words.

    `kind` says how narrow it may be: in "signs" the first column, in a "matrix" every one.
    """
    head = "".join(f'<th scope="col">{esc(name)}</th>' for name in columns)
    body = []
    for place, row in enumerate(rows):
        mark = f' class="{esc(marks[place])}"' if marks and marks[place] else ""
        body.append(f"<tr{mark}>{''.join(f'<td>{esc(cell)}</td>' for cell in row)}</tr>")
    told = f"<caption>{esc(caption)}</caption>" if caption else ""
    named = f' class="{esc(kind)}"' if kind else ""
    return (
        f"<table{named}>{told}<thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>"
    )


def alert(text: str) -> Html:
    """What went wrong, read out at once by a screen reader."""
    return view("This went wrong", f'<p class="alert" role="alert">{esc(text)}</p>')
