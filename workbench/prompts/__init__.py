"""Prompts: one Markdown file for each kind of model call, `VERB/METHOD.md`, or a text in a cell.

YAML between two lines `---` may come first: the prompt's role and output limit. A line `# User`
opens the user message, and a line `# System` before it the system message, if there is one. The
text is split there before data is inserted, so no data can change a role. A value stands on one
line unless the template asks for a `block` or a `fence`; none of its lines can open a section or
close a fence. README.md lists the variables.
"""

import re
import traceback
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import jinja2
import yaml
from jinja2 import meta, nodes
from jinja2.sandbox import ImmutableSandboxedEnvironment

from workbench.errors import BadInputError, at_least, content_of, one_of
from workbench.types import ROLES, Message, Role

_OURS = Path(__file__).parent
_FORBIDDEN = (nodes.Call, nodes.Include, nodes.Import, nodes.FromImport, nodes.Extends)
_FRONT_MATTER = re.compile(r"\A---\n(.*?)^---\n", re.DOTALL | re.MULTILINE)
_COMMENT = re.compile(r"\{#.*?#\}", re.DOTALL)
_HEADINGS = re.compile(r"^# (System|User)[ \t]*$", re.MULTILINE)
_SECTIONS = re.compile(r"^## (.*)\n?", re.MULTILINE)
_ROLES_OF_MESSAGES = (["user"], ["system", "user"])
_BREAKS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]+")
_OPENS = re.compile(r"^(?= {0,3}(?:##+(?:\s|$)|```|~~~))", re.MULTILINE)


class BadTemplateError(BadInputError):
    """A template that cannot be read or filled, and the `line` of its file where that shows."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line


class _Parsed(NamedTuple):
    """The settings and variables of a prompt, and its compiled messages by role."""

    role: Role | None
    output_limit: int | None
    variables: frozenset[str]
    messages: Mapping[str, jinja2.Template]


@dataclass(frozen=True)
class Prompt:
    r"""The source of a prompt, and the name under which its calls are counted.

    >>> wb.Prompt("# User\nHow many {{ what }} are there?").messages(what="tugs")
    ({'role': 'user', 'content': 'How many tugs are there?'},)
    >>> wb.Prompt("---\nrole: judge\noutput_limit: 64\n---\n# User\nA or B?").role
    'judge'
    """

    source: str = field(repr=False)
    name: str = "generate/own"

    def __post_init__(self) -> None:
        _parsed(self.source, self.name)  # a faulty template is refused where it is made

    @property
    def variables(self) -> frozenset[str]:
        return _parsed(self.source, self.name).variables

    @property
    def role(self) -> Role | None:
        """The role whose parameters its calls get, of those that a user sets by role."""
        return _parsed(self.source, self.name).role

    @property
    def output_limit(self) -> int | None:
        """The tokens into which an answer fits."""
        return _parsed(self.source, self.name).output_limit

    def messages(self, **data: Any) -> tuple[Message, ...]:
        """Return the messages with the data in them. A prompt need not show all of the data."""
        messages = []
        for role, template in _parsed(self.source, self.name).messages.items():
            try:
                content = template.render(data).strip()
            except (jinja2.TemplateError, TypeError) as error:
                message = f"prompt {self.name}: {error}; given are {sorted(data)}"
                raise BadTemplateError(message, _line(error)) from None
            messages.append({"role": role, "content": content})
        return tuple(messages)


def load(name: str | Prompt, folder: Path | None = None) -> Prompt:
    """Return the prompt of that name, from `folder` if it has one, else from this package.

    A `Prompt` is returned as it is. A file of `folder` is read at each call, one of this package
    once in a process.
    """
    if isinstance(name, Prompt):
        return name
    if not re.fullmatch(r"\w+/\w+", name, re.ASCII):
        raise _unknown(name)
    if folder and (folder / f"{name}.md").is_file():
        return _read(folder / f"{name}.md", name)
    return _packaged(name)


@cache
def _packaged(name: str) -> Prompt:
    path = _OURS / f"{name}.md"
    if not path.is_file():
        raise _unknown(name)
    return _read(path, name)


def _read(path: Path, name: str) -> Prompt:
    return Prompt(content_of(path).decode("utf-8-sig"), name)


def _unknown(name: str) -> BadInputError:
    listed = ", ".join(names())
    return BadInputError(f"there is no prompt {name!r}; the prompts are {listed}")


def names(folder: Path = _OURS) -> list[str]:
    """Return the names of the prompts in a folder, by default the packaged ones."""
    paths = [path.relative_to(folder) for path in folder.glob("*/*.md")]
    return sorted(path.with_suffix("").as_posix() for path in paths)


def check_folder(folder: Path) -> None:
    """Raise BadInputError for a folder in which no file has the name of a packaged prompt."""
    there = names(folder)
    packaged = names()
    if set(there).isdisjoint(packaged):
        listed = ", ".join(there) or "no VERB/METHOD.md"
        raise BadInputError(
            f"{folder} has {listed}; a prompt replaces one of {', '.join(packaged)}"
        )


def sections(text: str) -> list[tuple[str, str]]:
    """Return the sections of a rendered message: title and text, "" the title of what is before."""
    before, titled = _split(_SECTIONS, text)
    pairs = [("", before)] if before.strip() else []
    pairs += titled
    return [(title.strip(), body.strip("\n")) for title, body in pairs]


def _split(title: re.Pattern[str], text: str) -> tuple[str, list[tuple[str, str]]]:
    """Return what is before the first title, and the pairs of a title and the text below it."""
    before, *parts = title.split(text)
    return before, list(zip(parts[::2], parts[1::2], strict=True))


@lru_cache(maxsize=256)
def _parsed(source: str, name: str) -> _Parsed:
    front_matter = _FRONT_MATTER.match(source)
    settings = _settings(front_matter[1], name) if front_matter else {}
    template = source[front_matter.end() :] if front_matter else source
    before, parts = _split(_HEADINGS, template)
    roles = [title.lower() for title, _ in parts]
    outside = _COMMENT.sub("", before).strip()
    if outside or roles not in _ROLES_OF_MESSAGES:
        raise BadTemplateError(
            f"prompt {name}: expected front matter between two lines ---, a comment {{# ... #}}, "
            "# System and its message, # User and its message; all but the last may be left out"
        )
    variables: set[str] = set()
    messages = {}
    for title, text in parts:
        try:
            # Errors name lines of the file, so it has all line breaks above the message.
            lines_above = source[: source.rindex(text)].count("\n")
            tree = _ENVIRONMENT.parse("\n" * lines_above + text)
            messages[title.lower()] = _ENVIRONMENT.from_string(tree)
        except jinja2.TemplateSyntaxError as error:
            message = f"prompt {name}.md:{error.lineno}: {error.message}"
            raise BadTemplateError(message, error.lineno) from None
        if next(tree.find_all(_FORBIDDEN), None):
            message = (
                f"prompt {name}: it cannot call, include, import or extend anything"
            )
            raise BadTemplateError(message)
        variables |= meta.find_undeclared_variables(tree)
    role = settings.get("role")
    limit = settings.get("output_limit")
    return _Parsed(role, limit, frozenset(variables), messages)


def _settings(text: str, name: str) -> Mapping[str, Any]:
    """Return the settings in a prompt's front matter; BadTemplateError says what is wrong."""
    try:
        settings = yaml.safe_load(text) or {}
        for setting in settings:
            one_of(("follows", "role", "output_limit"), setting=setting)
        one_of((*ROLES, None), role=settings.get("role"))
        at_least(1, output_limit=settings.get("output_limit", 1))
    except (yaml.YAMLError, BadInputError, TypeError, AttributeError) as error:
        message = " ".join(str(error).split())
        raise BadTemplateError(f"prompt {name}: its front matter: {message}") from None
    return settings


def _line(error: Exception) -> int | None:
    """Return the line of the template that raised; Jinja names its frames so."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if frame.filename == "<template>":
            return frame.lineno
    return None


class _Safe(str):  # noqa: SLOT000  a mark
    """Text that a filter made safe to insert."""


def _shown(value: object) -> str:
    """Return an expression's text: as a filter left it, else on one line that opens no section."""
    if isinstance(value, _Safe):
        return value
    return _block(value).replace("\n", " ")


def _block(value: object) -> _Safe:
    if not isinstance(value, str | int | float | jinja2.Undefined):
        raise TypeError(
            f"a prompt shows text and numbers, not a {type(value).__name__}"
        )
    return _safe(str(value))  # of an undefined variable it raises


@lru_cache(maxsize=1024)  # many prompts show the same schema
def _safe(text: str) -> _Safe:
    lines = re.sub("\r\n?", "\n", text)
    return _Safe(_OPENS.sub("    ", _BREAKS.sub(" ", lines)))


def _fence(value: object, language: str = "sql") -> _Safe:
    """Return a code fence that is longer than any run of backticks in the value."""
    text = _block(value)
    longest_run = max(re.findall("`{3,}", text), key=len, default="``")
    ticks = f"{longest_run}`"
    return _Safe(f"{ticks}{language}\n{text}\n{ticks}")


_ENVIRONMENT = ImmutableSandboxedEnvironment(
    undefined=jinja2.StrictUndefined,
    finalize=_shown,
    trim_blocks=True,
    lstrip_blocks=True,
)
_ENVIRONMENT.globals.clear()
_ENVIRONMENT.filters |= {"block": _block, "fence": _fence}
