"""Two prompts or replies side by side: the lines that differ."""

from difflib import SequenceMatcher

from workbench.html.parts import Html, line, table, view
from workbench.types import Request

_AROUND = 3  # equal lines shown before and after a change
_MARKS = {"+": "plus", "-": "minus"}


def text_diff(before: str, after: str, title: str = "What changed") -> Html:
    """Two texts line by line: + and - stand before lines that only one of them has."""
    old, new = before.split("\n"), after.split("\n")
    rows: list[tuple[str, str]] = []
    groups = SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(_AROUND)
    for number, group in enumerate(groups):
        if number:
            rows.append(("…", ""))
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                rows += [("", text) for text in old[i1:i2]]
            else:
                rows += [("-", text) for text in old[i1:i2]]
                rows += [("+", text) for text in new[j1:j2]]
    if not rows:
        return view(title, line("The two are equal."), kind="wb-diff")
    marks = [_MARKS.get(sign, "") for sign, _ in rows]
    return view(title, table(("", "line"), rows, marks=marks, kind="signs"), kind="wb-diff")


def text(request: Request) -> str:
    """A request's messages as one text."""
    return "\n\n".join(f"# {m.get('role')}\n{m.get('content')}" for m in request.messages)
