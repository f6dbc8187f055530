"""Prompts: one Markdown file for each kind of model call, `VERB/METHOD.md`, or a text in a notebook's cell.

A line `# User` opens the user message, and a line `# System` before it the system message, if there
is one. The text is split there before data is inserted, so no data can change a role. A value
stands on one line unless the template asks for a `block` or a `fence`; none of its lines can open a
section or close a fence. README.md lists the variables.
"""

import re
import traceback
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import jinja2
from jinja2 import meta, nodes
from jinja2.sandbox import ImmutableSandboxedEnvironment

from workbench.errors import BadInputError, content_of
from workbench.types import Message

_OURS = Path(__file__).parent
_FORBIDDEN = (nodes.Call, nodes.Include, nodes.Import, nodes.FromImport, nodes.Extends)
_HEADINGS = re.compile(r"^# (System|User)[ \t]*$", re.MULTILINE)
_BREAKS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]+")
_OPENS = re.compile(r"^(?= {0,3}(?:##+(?:\s|$)|```|~~~))", re.MULTILINE)


class BadTemplateError(BadInputError):
    """A template that cannot be read or filled, and the `line` of its file where that shows."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line


@dataclass(frozen=True)
class Prompt:
    r"""The source of a prompt, and the name under which its calls are counted.

    >>> wb.Prompt("# User\nHow many {{ what }} are there?").messages(what="tugs")
    ({'role': 'user', 'content': 'How many tugs are there?'},)
    """

    source: str = field(repr=False)
    name: str = "generate/own"

    def __post_init__(self) -> None:
        _parsed(self.source, self.name)  # a faulty template is refused where it is made

    @property
    def variables(self) -> frozenset[str]:
        return _parsed(self.source, self.name)[0]

    @property
    def output_limit(self) -> int | None:
        """The tokens into which an answer fits, from the comment's line `Output limit: N tokens.`; None without it."""
        stated = re.search(r"^Output limit: (\d+) tokens\.$", self.source, re.MULTILINE)
        return int(stated[1]) if stated else None

    def messages(self, **data: Any) -> tuple[Message, ...]:
        """The messages with the data in them. A prompt need not show all of the data."""
        _, parts = _parsed(self.source, self.name)
        try:
            texts = {role: part.render(data).strip() for role, part in parts.items()}
        except (jinja2.TemplateError, TypeError) as error:
            message = f"prompt {self.name}: {error}; given are {sorted(data)}"
            raise BadTemplateError(message, _line(error)) from None
        return tuple({"role": role, "content": text} for role, text in texts.items())


def load(name: str | Prompt, folder: Path | None = None) -> Prompt:
    """The prompt of that name, from `folder` if it has one, else from this package; a `Prompt` is itself."""
    if isinstance(name, Prompt):
        return name
    folders = filter(None, (folder, _OURS)) if re.fullmatch(r"\w+/\w+", name, re.ASCII) else ()
    for base in folders:
        path = base / f"{name}.md"
        if path.is_file():
            return Prompt(content_of(path).decode("utf-8-sig"), name)
    raise BadInputError(f"there is no prompt {name!r}; the prompts are {', '.join(names())}")


def names(folder: Path = _OURS) -> list[str]:
    """The names of the prompts in a folder, by default the packaged ones."""
    paths = [path.relative_to(folder) for path in folder.glob("*/*.md")]
    return sorted(path.with_suffix("").as_posix() for path in paths)


def check_folder(folder: Path) -> None:
    """Raise BadInputError for a folder in which no file has the name of a packaged prompt."""
    there, packaged = names(folder), names()
    if set(there).isdisjoint(packaged):
        listed = ", ".join(there) or "no VERB/METHOD.md"
        raise BadInputError(
            f"{folder} has {listed}; a prompt replaces one of {', '.join(packaged)}"
        )


def sections(text: str) -> list[tuple[str, str]]:
    """The sections of a rendered message as pairs of title and text; text before the first has title ""."""
    before, *rest = re.split(r"^## (.*)\n?", text, flags=re.MULTILINE)
    pairs = [("", before)] if before.strip() else []
    pairs += zip(rest[::2], rest[1::2], strict=True)
    return [(title.strip(), body.strip("\n")) for title, body in pairs]


@lru_cache(maxsize=256)
def _parsed(source: str, name: str) -> tuple[frozenset[str], dict[str, jinja2.Template]]:
    """The variables and the compiled messages, by role."""
    before, *rest = _HEADINGS.split(source)
    roles = [title.lower() for title in rest[::2]]
    outside = re.sub(r"(?s)\{#.*?#\}", "", before).strip()
    if outside or roles not in (["user"], ["system", "user"]):
        form = "a comment {# ... #}, # System and its message, # User and its message"
        raise BadTemplateError(f"prompt {name}: expected {form}; the first two may be left out")
    try:
        trees = [_ENVIRONMENT.parse(_in_place(source, text)) for text in rest[1::2]]
        parts = [_ENVIRONMENT.from_string(tree) for tree in trees]
    except jinja2.TemplateSyntaxError as error:
        message = f"prompt {name}.md:{error.lineno}: {error.message}"
        raise BadTemplateError(message, error.lineno) from None
    if any(next(tree.find_all(_FORBIDDEN), None) for tree in trees):
        raise BadTemplateError(f"prompt {name}: it cannot call, include, import or extend anything")
    variables = frozenset[str]().union(*map(meta.find_undeclared_variables, trees))
    return variables, dict(zip(roles, parts, strict=True))


def _in_place(source: str, text: str) -> str:
    """A message's text below as many line breaks as in its file, so that errors name the file's lines."""
    above = source[: source.rindex(text)]
    return "\n" * above.count("\n") + text


def _line(error: Exception) -> int | None:
    """The line of the template that raised; Jinja names its frames so."""
    frames = traceback.extract_tb(error.__traceback__)
    return next((one.lineno for one in reversed(frames) if one.filename == "<template>"), None)


class _Safe(str):  # noqa: SLOT000  a mark
    """Text that a filter made safe to insert."""


def _shown(value: object) -> str:
    """An expression's text: as a filter left it, else on one line that opens no section."""
    return value if isinstance(value, _Safe) else _block(value).replace("\n", " ")


def _block(value: object) -> _Safe:
    if not isinstance(value, str | int | float | jinja2.Undefined):
        raise TypeError(f"a prompt shows text and numbers, not a {type(value).__name__}")
    lines = re.sub("\r\n?", "\n", str(value))  # of an undefined variable it raises
    return _Safe(_OPENS.sub("    ", _BREAKS.sub(" ", lines)))


def _fence(value: object, language: str = "sql") -> _Safe:
    """A code fence that is longer than any run of backticks in the value."""
    text = _block(value)
    runs = re.findall("`{3,}", text)
    ticks = max(map(len, runs), default=2) * "`" + "`"
    return _Safe(f"{ticks}{language}\n{text}\n{ticks}")


_ENVIRONMENT = ImmutableSandboxedEnvironment(
    undefined=jinja2.StrictUndefined, finalize=_shown, trim_blocks=True, lstrip_blocks=True
)
_ENVIRONMENT.globals.clear()
_ENVIRONMENT.filters |= {"block": _block, "fence": _fence}
