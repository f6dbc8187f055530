"""Renders prompts with Jinja, restricted so that data cannot change a prompt's roles and a template cannot run code.

A value is put on one line unless the template asks for a block or a fence, and no line of a value can open a
section or close a fence. A template cannot call anything or read another file. This module is apart from
`prompt.py` because importing Jinja takes 40 ms.
"""

import re
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import StrictUndefined, TemplateError, TemplateSyntaxError, Undefined, meta, nodes
from jinja2 import Template as JinjaTemplate
from jinja2.sandbox import ImmutableSandboxedEnvironment

from workbench.errors import BadInputError

_FORBIDDEN = (nodes.Call, nodes.Include, nodes.Import, nodes.FromImport, nodes.Extends)
_PARTS = ("# System", "# User")
_COMMENT = re.compile(r"\{#.*?#\}", re.DOTALL)
# Half surrogate pairs are included, because they cannot be encoded and sent.
_BREAKS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]+")
_BREAKS_IN_BLOCK = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]+")
_LINE_END = re.compile("\r\n?")
_OPENS = re.compile(r"^(?= {0,3}(?:##+(?:\s|$)|```|~~~))", re.MULTILINE)
_HEADING = re.compile(r"^(?= {0,3}##+(?:\s|$))", re.MULTILINE)
_TICKS = re.compile(r"`{3,}")


class _Block(str):
    """Text that is already safe to insert."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Template:
    """A prompt's compiled system and user parts, and the variables they take."""

    path: Path
    variables: tuple[str, ...]
    parts: tuple[JinjaTemplate, JinjaTemplate]

    def render(self, data: Mapping[str, Any]) -> tuple[str, str]:
        try:
            system, user = (part.render(data).strip() for part in self.parts)
        except (TemplateError, TypeError) as error:
            frames = traceback.extract_tb(error.__traceback__)
            lines = [frame.lineno for frame in frames if frame.filename == str(self.path)]
            position = f"{self.path}:{lines[-1]}" if lines else str(self.path)
            raise BadInputError(f"{position}: {error}") from None
        return system, user


def parse(source: str, path: Path) -> Template:
    """The compiled template of a prompt's source; errors name the file and line."""
    environment = ImmutableSandboxedEnvironment(
        undefined=StrictUndefined, finalize=_shown, trim_blocks=True, lstrip_blocks=True
    )
    environment.globals.clear()
    environment.filters |= {"block": _block, "fence": _fence}
    parts: list[JinjaTemplate] = []
    variables: set[str] = set()
    for part in _split(source, path):
        try:
            tree = environment.parse(part, filename=str(path))
            code = environment.compile(tree, filename=str(path))
        except TemplateSyntaxError as error:
            raise BadInputError(f"{path}:{error.lineno}: {error.message}") from None
        if banned := next(tree.find_all(_FORBIDDEN), None):
            raise BadInputError(
                f"{path}:{banned.lineno}: a prompt cannot call, include, import or extend anything"
            )
        variables |= meta.find_undeclared_variables(tree)
        parts.append(JinjaTemplate.from_code(environment, code, {}))
    return Template(path, tuple(sorted(variables)), (parts[0], parts[1]))


def _split(source: str, path: Path) -> tuple[str, str]:
    """The sources of both parts. Empty lines in front keep the line numbers of the file."""
    lines = source.splitlines()
    headings = [
        [number for number, line in enumerate(lines) if line.rstrip() == part] for part in _PARTS
    ]
    for part, numbers in zip(_PARTS, headings, strict=True):
        if len(numbers) != 1:
            problem = f":{numbers[1] + 1}: a second" if numbers else ": no"
            raise BadInputError(
                f"{path}{problem} line '{part}'; a prompt has one, {_PARTS[0]} first"
            )
    (system,), (user,) = headings
    if user < system or _COMMENT.sub("", "\n".join(lines[:system])).strip():
        raise BadInputError(
            f"{path}:{min(system, user) + 1}: before '{_PARTS[0]}' only a {{# comment #}} may stand"
        )
    return (
        "\n" * (system + 1) + "\n".join(lines[system + 1 : user]),
        "\n" * (user + 1) + "\n".join(lines[user + 1 :]),
    )


def _shown(value: object) -> str:
    """The text of an expression: a block unchanged, any other value on one line that opens no section."""
    if isinstance(value, _Block):
        return value
    return _indented(_BREAKS.sub(" ", _text(value)))


def _block(value: object) -> _Block:
    """The filter `block`: keeps the value's lines, none of which opens a section or a fence."""
    return _Block(_indented(_lines(value)))


def _indented(text: str) -> str:
    """The text with each line indented that would open a section or a fence."""
    # These checks take a quarter of the search's time, and most texts pass them.
    return _OPENS.sub("    ", text) if "##" in text or "```" in text or "~~~" in text else text


def _fence(value: object, language: str = "sql") -> _Block:
    """The filter `fence`: puts the value into a code fence longer than any run of backticks in it."""
    text = _lines(value)
    if "##" in text:  # this check halves the time for a large schema
        text = _HEADING.sub("    ", text)
    runs = _TICKS.findall(text) if "```" in text else []
    ticks = "`" * max([3, *(len(run) + 1 for run in runs)])
    return _Block(f"{ticks}{language}\n{text}\n{ticks}")


def _lines(value: object) -> str:
    text = _text(value)
    # This check is four times as fast as the search, and nearly every text passes it.
    if text.replace("\n", "").replace("\t", "").isprintable():
        return text
    return _BREAKS_IN_BLOCK.sub(" ", _LINE_END.sub("\n", text))


def _text(value: object) -> str:
    if isinstance(value, str | int | float | Undefined):  # str() of an undefined variable raises
        return str(value)
    raise TypeError(f"a prompt shows text and numbers, not a {type(value).__name__}")
