"""Reorder the sections of prompts, as the file `order.txt` in a folder of prompts says.

Providers cache the prefix of a prompt and read it again at a tenth to a quarter of its price. Each of the papers'
prompts begins with its own task, and the schema, which is most of the text, follows. No two generators therefore
share a prefix. `cacheable/order.txt` puts the shared sections first; the prompt files stay unchanged.
"""

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

from workbench.errors import BadInputError
from workbench.prompts.prompt import split_sections
from workbench.types import Message

CACHEABLE = Path(__file__).with_name("cacheable")  # for `Lab(prompts=...)`
_SCHEMA = "Database schema"
_INSTRUCTIONS = {"Task", "Worked example"}  # equal in all calls of a prompt
_FILE = re.compile(
    r"\s*(?:\{#.*?#\}\s*)?# System\n(?P<system>.+?)\n# User\n(?P<titles>(?:## [^\n]+\n?)+)\s*",
    re.DOTALL,
)
_TITLE = re.compile(r"\n## (.+?) *(?=\n|\Z)")  # is found several times as fast as with ^


@dataclass(frozen=True, slots=True)
class Order:
    """system: the system message of all prompts. titles: the sections that come first, in this order."""

    system: str
    titles: tuple[str, ...]


def read_order(folder: Path | None) -> Order | None:
    """The order in a folder's `order.txt`; None without one, which leaves sections as the prompt files have them."""
    path = folder and folder / "order.txt"
    if not path or not path.is_file():
        return None
    try:
        return _parsed(path, path.read_text(encoding="utf-8-sig"))
    except UnicodeDecodeError as error:
        raise BadInputError(f"{path}: not UTF-8 text ({error.reason}); save it as UTF-8") from None


@lru_cache(maxsize=8)
def _parsed(path: Path, source: str) -> Order:
    found = _FILE.fullmatch(source)
    if not found:
        raise BadInputError(
            f"{path}: expected a line '# System' with a message below it, and a line '# User' with lines"
            " '## Title' below it"
        )
    return Order(found["system"].strip(), tuple(_TITLE.findall("\n" + found["titles"])))


@cache
def warn_without_order(folder: Path) -> None:
    """Say once that a provider caches little of the prompts in a folder without an `order.txt`."""
    if not read_order(folder):
        print(
            f"workbench: {folder} has no order.txt, so its prompts keep the order of their files and a provider caches"
            f" little of them; for the order of --cheaper, copy {CACHEABLE / 'order.txt'} into it",
            file=sys.stderr,
        )


def arranged(messages: Sequence[Message], order: Order | None, *, whole: bool) -> Sequence[Message]:
    """A prompt's messages with their sections in this order; the task then begins with the prompt's system message.

    A pruned schema (`whole` is false) belongs to one question and keeps its place. A prompt without a task
    section, such as another author's, stays unchanged.
    """
    if order is None:
        return messages
    system, user = (str(message["content"]) for message in messages)
    sections = split_sections(user)
    if "Task" not in dict(sections):
        return messages
    first = [title for title in order.titles if whole or title != _SCHEMA]
    places = {title: number for number, title in enumerate(first)}
    texts = [
        f"## {title}\n{system}\n\n{text}" if title == "Task" else f"## {title}\n{text}"
        for title, text in sorted(sections, key=lambda part: places.get(part[0], len(first)))
    ]
    contents = {"system": order.system, "user": "\n\n".join(texts)}
    return tuple({"role": role, "content": content} for role, content in contents.items())


def shared_ends(messages: Sequence[Message]) -> tuple[int, ...]:
    """The positions, in characters of the user message, at which the prefixes end that calls share.

    One prefix is the schema, if the message begins with it; the other also has the instructions.
    """
    headings = list(_TITLE.finditer(f"\n{messages[-1]['content']}"))
    titles = [heading[1] for heading in headings]
    leading = next(
        (n for n, title in enumerate(titles) if title not in {_SCHEMA, *_INSTRUCTIONS}), len(titles)
    )
    schema = titles[:1] == [_SCHEMA]
    if not schema and _SCHEMA in titles[:leading]:
        leading = titles.index(_SCHEMA)
    counts = sorted({*([1] if schema else []), leading} - {0})
    return tuple(headings[count].start() for count in counts if count < len(headings))
