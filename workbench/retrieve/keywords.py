"""The words of a question that are worth looking up: those a model names, and those that name themselves.

CHASE-SQL (section 2.2) and CHESS (extract_keywords) ask a model. Models answer in every shape, refuse, and
now and then forget the one name that matters. So quoted phrases, names, codes and the hint's literals are
always looked up, and so is every run of content words: a name in lower case is one.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from workbench.lab import Lab
from workbench.llm.replies import read_list, read_object
from workbench.retrieve.lexical import words
from workbench.retrieve.trigram import fold
from workbench.types import Question

MOST = 60  # keywords of one reply
LONGEST = 200  # characters of one


@dataclass(frozen=True, slots=True)
class Keywords:
    """The keywords of a question by one model call. CHESS asks at temperature 0.2."""

    model: str
    temperature: float = 0.2

    def __call__(self, lab: Lab, question: Question) -> tuple[str, ...]:
        """What names itself, what the model adds, and the other content words, in this order."""
        request = lab.request(
            "retrieve/keywords",
            self.model,
            question,
            {"temperature": self.temperature},
            question=question.text,
            hint=question.evidence,
        )
        reply = lab.client.complete(request)
        asked = f"{question.text} {question.evidence}"
        said = () if reply.fault else read_keywords(reply.text, asked)
        return distinct([*named(question), *said, *spoken(question)])


def spoken(question: Question) -> tuple[str, ...]:
    """The keywords that need no model: what names itself, and every run of content words."""
    runs = [run for text in (question.text, question.evidence) for run in _runs(text, _is_content)]
    return distinct([*named(question), *runs])


def named(question: Question) -> tuple[str, ...]:
    """Quoted phrases, the hint's literals, and what is written as names and codes are."""
    text, hint = question.text, question.evidence
    names = [name for part in (text, hint) for name in _runs(part, _is_name, _JOINING)]
    return distinct([*_quoted(text), *_literals(hint), *names])


def read_keywords(reply: str, asked: str) -> tuple[str, ...]:
    """The keywords in a model's reply, whatever its shape.

    A list is taken at its word. From lines and prose only what was `asked` is taken, so that a refusal
    gives nothing.
    """
    if listed := _listed(reply):
        return distinct(listed)[:MOST]
    heard = f" {' '.join(words(asked))} "
    return distinct(item for item in _items(reply) if f" {' '.join(words(item))} " in heard)[:MOST]


def distinct(keywords: Iterable[str]) -> tuple[str, ...]:
    """The keywords in order, each once however it is written, without the marks around them."""
    found: dict[str, str] = {}
    for keyword in keywords:
        tidy = " ".join(keyword.split()).strip(" '\"`*“”\u2018\u2019«».,;:?!%")
        if words(tidy) and len(tidy) <= LONGEST:
            found.setdefault(fold(tidy), tidy)
    return tuple(found.values())


# What a model said.

_ITEM = re.compile(r"""(["'])((?:\\.|(?!\1).|(?<=\w)'(?=\w))*?)\1(?=\s*(?:[,\]}:\n]|\Z))(?!\s*:)""")
_BULLET = re.compile(r"^\s*(?:[-*•]|\(?\d{1,3}[.):])\s+")
_LABEL = re.compile(
    r"^[\s*#]*(?:key|named|entit|phrase|answer|term)[\w\s/&-]*:\**\s*", re.IGNORECASE
)


def _listed(text: str) -> list[str]:
    """The longest list of texts in it, as JSON or as far as quotes tell."""
    best = max(_leaves(read_object(text)), _leaves(read_list(text)), key=len)
    if any(isinstance(leaf, str) for leaf in best):  # numbers alone cite something
        return list(map(str, best))
    _, bracket, rest = text.partition("[")
    return [item[2].replace("\\", "") for item in _ITEM.finditer(rest)] if bracket else []


def _leaves(value: Any, *, listed: bool = False) -> list[str | float]:
    """The texts in lists, however deep; of an object in a list its first value.

    A text beside lists, such as a reasoning, is none, unless its key says that keywords follow.
    """
    if isinstance(value, str | int | float):
        return [value] if listed else []
    if isinstance(value, list | tuple):
        return [leaf for item in value for leaf in _leaves(item, listed=True)]
    if not isinstance(value, dict):
        return []
    if listed:
        return _leaves(next(iter(value.values()), None), listed=True)
    texts = (
        item.split(",") if isinstance(item, str) and _LABEL.match(f"{key}:") else item
        for key, item in value.items()
    )
    return [leaf for item in texts for leaf in _leaves(item)]


def _items(text: str) -> Iterator[str]:
    """The items of lines and of commas."""
    for line in text[:20_000].splitlines():
        item = _LABEL.sub("", _BULLET.sub("", line.strip(" []")))
        yield item
        yield from re.split(r"[,;]|:\s|\s[-\u2013\u2014]\s|\s*\(", item)
        yield from _quoted(item)


# What names itself.

_QUOTES = re.compile(
    r"""(?<!\w)(?:'(.+?)'|"(.+?)"|“(.+?)”|\u2018(.+?)\u2019|«(.+?)»|`(.+?)`)(?!\w)"""
)
_EQUALS = re.compile(r"""(?:[=<>]|\brefers? to\b)\s*([^=<>'"();,]+)""", re.IGNORECASE)
_NEXT = re.compile(r"\b(?:and|or|means?|is|in|like|refers?)\b", re.IGNORECASE)
_TOKEN = re.compile(r"[^\W_]+(?:[-.'\u2019&/:@+][^\W_]+)*")
_JOINING = frozenset({"of", "the", "de", "la", "van", "von", "der", "du", "del", "and"})
STOP = frozenset(
    re.findall(
        r"\w+",
        """
    a about above after all along also among an and any are as at average be been before being below between
    both but by calculate can count did different do does done during each either every find for from give
    had has have having he her his how i identify if in into is it its least less list many max me mean
    mention min more most much must name named no not null number of on one only or other out over per
    percentage please provide ratio refer refers several she should show since so some such sum tell than
    that the their them then there these they this those to together total under until up was were what
    when where whether which while who whom whose why will with within without would you your
    """,
    )
)


def _quoted(text: str) -> list[str]:
    return [next(filter(None, match.groups())) for match in _QUOTES.finditer(text)]


def _literals(hint: str) -> list[str]:
    """What a hint puts in quotes, and what follows its equals signs."""
    bare = [_NEXT.split(match[1])[0] for match in _EQUALS.finditer(hint)]
    return [*_quoted(hint), *(text for text in bare if len(text.split()) <= 6)]


def _is_content(word: str) -> bool:
    return fold(word) not in STOP


def _is_name(word: str) -> bool:
    """Whether a word has a capital or a digit, or stands in a script that has no capitals."""
    odd = word != word.lower() or word == word.upper() or any(c.isdigit() for c in word)
    return odd and _is_content(word)


def _runs(
    text: str, belongs: Callable[[str], bool], joining: frozenset[str] = frozenset()
) -> Iterator[str]:
    """The longest runs of words that belong, with nothing but spaces between them.

    Words that join may stand inside a run. A point after a short word is an abbreviation's: St. John's.
    """
    run: list[re.Match[str]] = []
    for match in [*_TOKEN.finditer(text), None]:
        gap = text[run[-1].end() : match.start()] if run and match else ""
        near = not gap.strip(" &." if run and len(run[-1][0]) <= 3 else " &")
        if run and (
            match is None or not near or not (belongs(match[0]) or fold(match[0]) in joining)
        ):
            while fold(run[-1][0]) in joining:
                run.pop()
            yield text[run[0].start() : run[-1].end()]
            run = []
        if match and (run or belongs(match[0])):
            run.append(match)
