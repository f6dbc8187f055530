"""Which generators solve which questions: the regions of CHASE-SQL's Venn diagram (figure 3a).

A generator solves a question when any of its candidates is right. Every question stands in exactly one
region, so the regions add up to all questions, and those but the unsolved to the oracle's upper bound.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations

from workbench.errors import BadInputError
from workbench.evaluate.bounds import oracle

Region = tuple[str, ...]
"""The generators that solve a question while the others do not, in their order; () for the unsolved."""


def regions(verdicts: Mapping[str, Mapping[str, Sequence[float]]]) -> dict[Region, int]:
    """How many questions each combination of generators solves, those of no question included.

    Of each generator the verdicts on its candidates are given by question; a question that a generator
    did not answer is one that it does not solve.
    """
    if not verdicts:
        raise BadInputError("no generators: an overlap needs the verdicts of at least one")
    questions = dict.fromkeys(question for given in verdicts.values() for question in given)
    counts = Counter(
        tuple(name for name, given in verdicts.items() if oracle(given.get(question, ())))
        for question in questions
    )
    sizes = range(len(verdicts) + 1)
    return {region: counts[region] for size in sizes for region in combinations(verdicts, size)}


def unique_solves(found: Mapping[Region, int]) -> dict[str, int]:
    """Of each generator the questions that it alone solves."""
    return {region[0]: count for region, count in found.items() if len(region) == 1}
