"""The words of a question that ask for result columns, and the candidates whose columns answer them.

A question names the columns that it asks for before its conditions: "names and ages of singers who ..." asks for two.
A word counts as asking for a column if the result column of any candidate answers it.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

from workbench.db.sql.facts import Output
from workbench.english.lexicon import Cue
from workbench.english.words import Token, alike, name_words

# The similarity with which a word is answered, by the word's position in the question.
Answered = Mapping[int, float]

_MENTIONED = 0.6  # the least likeness at which a word of the question mentions a word of a name
_OPENING, _CLOSING = (
    frozenset(re.findall(r"\S+", words))
    for words in (
        "what which who is are was were list show find give return tell me us please the all each for and ,",
        """that which who whose whom where with without in from have having has are is was were did do does by
        ordered sorted among when if on at after before than for to not""",
    )
)
_CUES_BY_FUNCTION = {
    "count": {"count", "number"},
    "sum": {"sum"},
    "avg": {"avg"},
    "max": {"max", "most"},
    "min": {"min", "fewest"},
}


def mention(name: str, question: Sequence[Token]) -> int | None:
    """The position of the word that is most similar to a column's name; None if no word mentions the column."""
    words = name_words(name)
    likeness = [max((alike(token.stem, word) for word in words), default=0.0) for token in question]
    best = max(likeness, default=0.0)
    return likeness.index(best) if best >= _MENTIONED else None


def out_of_order(outputs: Iterable[Output], question: Sequence[Token]) -> bool:
    """Whether the question mentions the columns in another order than that of the result."""
    names = [output.column[1] for output in outputs if output.column and not output.function]
    mentions = [place for name in names if (place := mention(name, question)) is not None]
    return mentions != sorted(mentions)


def beginning(question: Sequence[Token]) -> range:
    """The positions of the words between the question's opening ("Which", "List all") and its first condition."""
    positions = range(len(question))
    first = next((n for n in positions if question[n].low not in _OPENING), len(question))
    end = next((n for n in positions[first + 1 :] if question[n].low in _CLOSING), len(question))
    return range(first, end)


def answered(
    outputs: Iterable[Output], question: Sequence[Token], found: Sequence[Cue]
) -> Answered:
    """The words at the question's beginning that mention the result columns or call for their functions."""
    positions = beginning(question)
    likeness = dict.fromkeys(positions, 0.0)
    for output in outputs:
        kinds = _CUES_BY_FUNCTION.get(output.function, set())
        for cue in found:
            if cue.kind in kinds:
                likeness |= {n: 1.0 for n in range(cue.first, cue.end) if n in positions}
        names = name_words(output.column[1]) if output.column else ()
        for n in positions:
            best = max((alike(question[n].stem, word) for word in names), default=0.0)
            if best >= _MENTIONED:
                likeness[n] = max(likeness[n], best)
    return likeness


def missing_columns(own: Answered, others: Sequence[Answered]) -> float:
    """The number of words that other candidates answer better, up to 2; a word answered in part counts in part."""
    best = {n: max((other[n] for other in others), default=0.0) for n in own}
    return min(2.0, sum(max(0.0, best[n] - likeness) for n, likeness in own.items()))
