"""Loads and renders prompts. Each kind of model call has one Markdown file, `VERB/METHOD.md`.

A file holds a comment, a line `# System` with the system message, and a line `# User` with the user message, whose
sections open with `## Title`. It is split into these roles before any data is inserted. See README.md.
"""

import re
import stat
import warnings
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.canonical import content_hash
from workbench.errors import BadInputError
from workbench.types import Message

if TYPE_CHECKING:
    from workbench.prompts.template import Template

PACKAGED = "packaged"  # the word for the prompts of the package, in place of a folder
_OURS = Path(__file__).parent
_NAME = re.compile(r"\w+/\w+", re.ASCII)
_LIMIT = re.compile(r"^Output limit:(.*)$", re.MULTILINE)
_SECTION = re.compile(r"^## (.*)\n?", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Prompt:
    """A parsed prompt.

    name: VERB/METHOD.
    fingerprint: a hash of the source, which changes with every edit.
    variables: the names of the data that the prompt takes.
    output_limit: the most tokens that an answer needs, from the comment's line `Output limit: N tokens.`; None
        without that line.
    """

    name: str
    path: Path
    fingerprint: str
    variables: tuple[str, ...]
    output_limit: int | None
    _template: "Template" = field(repr=False, compare=False)

    def messages(self, **data: Any) -> tuple[Message, ...]:
        """The system and the user message. The data must be exactly the prompt's variables."""
        system, user = self._rendered(data)
        return ({"role": "system", "content": system}, {"role": "user", "content": user})

    def sections(self, **data: Any) -> tuple[tuple[str, str], ...]:
        """The rendered sections as pairs of title and text, the system message first."""
        system, user = self._rendered(data)
        return (("System", system), *split_sections(user))

    def _rendered(self, data: dict[str, Any]) -> tuple[str, str]:
        wanted = set(self.variables)
        if data.keys() != wanted:
            faults = {"missing": wanted - data.keys(), "unknown": data.keys() - wanted}
            wrong = [f"{', '.join(sorted(some))} {fault}" for fault, some in faults.items() if some]
            takes = ", ".join(self.variables) or "no data"
            raise BadInputError(f"prompt {self.name}: {' and '.join(wrong)}; it takes {takes}")
        return self._template.render(data)


def load(name: str, folder: Path | None = None) -> Prompt:
    """The prompt of that name, from `folder` if it has one, else from this package.

    A prompt that replaces one of the package is given the same data, and need not use all of it. Its output
    limit is that of the package's prompt unless it states its own.
    """
    if folder is not None and not folder.is_dir():
        raise BadInputError(
            f"{folder} is not a folder; a folder of prompts holds VERB/METHOD.md files"
        )
    found = None
    for base in (_OURS, folder) if _NAME.fullmatch(name) else ():
        if base is not None:
            found = _read(name, base / f"{name}.md", found) or found
    if not found:
        known = ", ".join(names(folder))
        raise BadInputError(f"there is no prompt {name!r}; the prompts are {known}")
    return found


def names(folder: Path | None = None) -> tuple[str, ...]:
    """The names of all prompts, those of the folder included."""
    files = {
        path.relative_to(base).with_suffix("").as_posix()
        for base in (folder, _OURS)
        if base is not None
        for path in base.glob("*/*.md")
    }
    return tuple(sorted(filter(_NAME.fullmatch, files)))


def check_folder(folder: Path) -> None:
    """Raise BadInputError for a folder without a prompt, whose runs would be those of the packaged prompts.

    A file whose name is nearly that of a packaged prompt is misspelt: alone it is refused, else named in a warning.
    """
    if not folder.is_dir():
        raise BadInputError(f"{folder}: no such folder of prompts")
    ours = set(names())
    own = {
        path.relative_to(folder).as_posix().removesuffix(".md") for path in folder.glob("*/*.md")
    }
    close = ((name, get_close_matches(name, ours, 1, 0.8)) for name in sorted(own - ours))
    misspelt = [f"{name}.md (did you mean {known[0]}.md?)" for name, known in close if known]
    if not own & ours and (misspelt or not own):
        found = f"{', '.join(misspelt)} replaces none" if misspelt else "there is no VERB/METHOD.md"
        raise BadInputError(
            f"{folder}: {found}; copy a prompt of the package there, such as generate/direct.md"
        )
    if misspelt:
        warnings.warn(f"{folder}: {', '.join(misspelt)} replaces no prompt", stacklevel=3)


def split_sections(text: str) -> tuple[tuple[str, str], ...]:
    """The sections of a rendered user message as pairs of title and text; text before the first has title ""."""
    before, *rest = _SECTION.split(text)
    pairs = zip(rest[::2], rest[1::2], strict=True)
    sections = tuple((title.strip(), body.strip("\n")) for title, body in pairs)
    return (("", before.strip("\n")), *sections) if before.strip() else sections


def _read(name: str, path: Path, ours: Prompt | None) -> Prompt | None:
    """The prompt in a file, None if there is no file; `ours` is the prompt of the package that it replaces."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            return None
        source = _source(path, status.st_mtime_ns, status.st_size)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise BadInputError(f"{path} cannot be read: {reason}") from None
    return _parsed(name, path, source, ours)


@lru_cache(maxsize=256)
def _source(path: Path, changed: int, size: int) -> str:
    """The text of a file, cached until the file changes, since every call of a prompt loads it."""
    del changed, size
    return path.read_text(encoding="utf-8-sig")


@lru_cache(maxsize=256)
def _parsed(name: str, path: Path, source: str, ours: Prompt | None) -> Prompt:
    from workbench.prompts.template import parse  # noqa: PLC0415  Jinja takes 40 ms to import

    template = parse(source, path)
    variables = ours.variables if ours else template.variables
    if unknown := set(template.variables) - set(variables):
        raise BadInputError(
            f"{path}: {', '.join(sorted(unknown))} unknown; {name} is given {', '.join(variables)}"
        )
    limit = _output_limit(source, path) or (ours.output_limit if ours else None)
    return Prompt(name, path, content_hash("prompt", source), variables, limit, template)


def _output_limit(source: str, path: Path) -> int | None:
    """The number in the comment's line `Output limit: N tokens.`; None without that line."""
    comment = source.partition("# System")[0]
    if not (stated := _LIMIT.search(comment)):
        return None
    limit = re.fullmatch(r" *([1-9][\d,]*) tokens\.? *", stated[1])
    if not limit:
        raise BadInputError(f"{path}: {stated[0]!r} is not 'Output limit: N tokens.'")
    return int(limit[1].replace(",", ""))
