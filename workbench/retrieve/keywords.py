"""Extracts the keywords of a question, which are then looked up in the database.

CHASE-SQL (section 2.2) and CHESS (extract_keywords, figure 7) ask a model. `spoken` needs none: it takes quoted
phrases, names, codes, the hint's literals, and every run of content words, since names may be in lower case.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from workbench import replies
from workbench.lab import Lab
from workbench.retrieve.index.trigram import search_form
from workbench.retrieve.lexical import words
from workbench.types import Question

MOST = 60  # keywords taken from one reply
LONGEST = 200  # characters of a keyword


@dataclass(frozen=True, slots=True)
class Keywords:
    """Asks a model for the keywords of a question, at CHESS's temperature of 0.2."""

    model: str
    temperature: float = 0.2

    def __call__(self, lab: Lab, question: Question) -> tuple[str, ...]:
        """The keywords of the model's reply; none where it cannot be read."""
        data = {"question": question.text, "hint": question.evidence}
        answer = lab.ask(self, "retrieve/keywords", question, replies.strings, **data)
        return distinct(answer.value or ())[:MOST]


def spoken(question: Question) -> tuple[str, ...]:
    """The keywords that need no model: names and literals, and every run of content words."""
    runs = [run for text in (question.text, question.evidence) for run in _runs(text, _is_content)]
    return distinct([*named(question), *runs])


def named(question: Question) -> tuple[str, ...]:
    """Quoted phrases, the hint's literals, and runs of words with capitals or digits."""
    text, hint = question.text, question.evidence
    names = [name for part in (text, hint) for name in _runs(part, _is_name, _JOINING)]
    return distinct([*_quoted(text), *_literals(hint), *names])


def distinct(keywords: Iterable[str]) -> tuple[str, ...]:
    """The keywords in order, without surrounding marks; one of several spellings is kept."""
    found: dict[str, str] = {}
    for keyword in keywords:
        tidy = " ".join(keyword.split()).strip(" '\"`*“”\u2018\u2019«».,;:?!%")
        if words(tidy) and len(tidy) <= LONGEST:
            found.setdefault(search_form(tidy), tidy)
    return tuple(found.values())


# Names and literals.

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
    """A hint's quoted texts, and the texts after its equals signs."""
    bare = [_NEXT.split(match[1])[0] for match in _EQUALS.finditer(hint)]
    return [*_quoted(hint), *(text for text in bare if len(text.split()) <= 6)]


def _is_content(word: str) -> bool:
    return search_form(word) not in STOP


def _is_name(word: str) -> bool:
    """Whether a word has a capital or a digit, or is of a script without capitals."""
    odd = word != word.lower() or word == word.upper() or any(c.isdigit() for c in word)
    return odd and _is_content(word)


def _runs(
    text: str, belongs: Callable[[str], bool], joining: frozenset[str] = frozenset()
) -> Iterator[str]:
    """The longest runs of words for which `belongs` is true, with only spaces between them.

    Words of `joining` may stand inside a run ("Bank of Rome"), and so may a full stop after a short word ("St. John's").
    """
    run: list[re.Match[str]] = []
    for match in [*_TOKEN.finditer(text), None]:
        gap = text[run[-1].end() : match.start()] if run and match else ""
        near = not gap.strip(" &." if run and len(run[-1][0]) <= 3 else " &")
        if run and (
            match is None or not near or not (belongs(match[0]) or search_form(match[0]) in joining)
        ):
            while search_form(run[-1][0]) in joining:
                run.pop()
            yield text[run[0].start() : run[-1].end()]
            run = []
        if match and (run or belongs(match[0])):
            run.append(match)
