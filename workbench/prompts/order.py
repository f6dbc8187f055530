"""The order of a prompt's sections, where a folder of prompts says one: the file `order.txt`.

Providers cache the beginning of a prompt, and read it again at a tenth to a quarter of its price. The papers'
prompts begin with a task of their own, and the schema, which is most of their text, stands behind it, so that no
two generators share it. `cacheable/order.txt` puts first what calls share. The prompts themselves stay as they are.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
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
_TITLE = re.compile(r"^## (.+?) *$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Order:
    """system: the system message of all prompts. titles: the sections that come first, in this order."""

    system: str
    titles: tuple[str, ...]


def read_order(folder: Path | None) -> Order | None:
    """The order that a folder of prompts says; None for the order of the prompts' own files."""
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
    return Order(found["system"].strip(), tuple(_TITLE.findall(found["titles"])))


def arranged(messages: Sequence[Message], order: Order | None, *, whole: bool) -> Sequence[Message]:
    """A prompt's messages in this order; its own system message then opens its task.

    A schema that is not the `whole` one of a database is particular to a question, and keeps its place. A
    prompt without a task, such as another author's, stays as it is.
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
    """Where the parts of the user message end that calls share, in characters.

    They are the schema, if the message begins with one, and the instructions.
    """
    found = list(_TITLE.finditer(str(messages[-1]["content"])))
    leading = next(
        (n for n, part in enumerate(found) if part[1] not in {_SCHEMA, *_INSTRUCTIONS}), len(found)
    )
    schema = bool(found) and found[0][1] == _SCHEMA
    if not schema and _SCHEMA in {part[1] for part in found[:leading]}:
        leading = [part[1] for part in found].index(_SCHEMA)
    counts = sorted({*([1] if schema else []), leading} - {0})
    return tuple(found[count].start() for count in counts if count < len(found))
