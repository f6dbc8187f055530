"""Adaptive sampling: candidates are asked for in rounds, until the most frequent result can hardly change.

After Adaptive-Consistency (Aggarwal et al., EMNLP 2023): the votes for the leading result and for another one are
draws of a coin whose bias has a Beta(1, 1) prior, so the votes to come follow a Beta-binomial distribution. That paper
asks whether any number of further votes would change the majority; here the generators' samples limit the votes to
come. The chances of all other results, and of a result that no candidate has yet, are added up, each as if all votes to
come were for it or for the leader; a tie counts as a change. So the sum is an upper bound.

A candidate without a result, which a fixer may repair, counts as a vote to come. No experiment of the papers uses this.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from math import comb

from workbench.errors import BadInputError, one_of
from workbench.generate.prompt_generator import PromptGenerator
from workbench.lab import Lab
from workbench.types import SUSPECT, Candidate, Context, Suspect


@dataclass(frozen=True, slots=True)
class Adaptive:
    """Asks each generator for one sample a round, and stops when more rounds can hardly change the most frequent result.

    generators: each is asked for at most its own number of samples.
    budget: the highest accepted chance, from 0 to below 1, that more candidates change the most frequent result. With
        0, sampling stops only when no further candidates can change it.
    suspect: which results a fixer may still change.
    """

    generators: tuple[PromptGenerator, ...]
    budget: float = 0.05
    suspect: Suspect = "nulls"

    def __post_init__(self) -> None:
        if not 0 <= self.budget < 1:
            raise BadInputError(f"budget is {self.budget}: it is a chance, from 0 to below 1")
        one_of(SUSPECT, suspect=self.suspect)

    @property
    def samples(self) -> int:
        return sum(generator.samples for generator in self.generators)

    def __call__(self, lab: Lab, context: Context) -> tuple[Candidate, ...]:
        """The candidates, those of one generator together, in the order of their samples."""
        data = lab.each(lambda generator: generator.data(lab, context), self.generators)
        found: list[list[Candidate]] = [[] for _ in self.generators]
        results: list[str] = []
        for number in range(max(generator.samples for generator in self.generators)):
            asked = [n for n, one in enumerate(self.generators) if number < one.samples]
            replies = lab.ask_many(
                self.generators[n].sample(lab, context, number, data[n]) for n in asked
            )
            for n, reply in zip(asked, replies, strict=True):
                found[n] += self.generators[n].read([reply], number)
            executions = lab.run_many(context.question, [found[n][-1].sql for n in asked])
            # A fixer may still give a suspect result's candidate any result, so it has no vote yet.
            results += ["" if e.is_suspect(self.suspect) else e.fingerprint for e in executions]
            if chance_of_change(results, self.samples) <= self.budget:
                break
        return tuple(chain.from_iterable(found))


def chance_of_change(results: Sequence[str], samples: int) -> float:
    """A bound on the chance that the most frequent result of all `samples` candidates is not that of `results`.

    `results` has the fingerprint of each candidate's result, "" where it has none yet.
    """
    votes = sorted((results.count(result) for result in set(results) - {""}), reverse=True)
    if not votes:
        return 1.0
    to_come = samples - sum(votes)
    leader, *others = votes
    return min(1.0, sum(_overtakes(leader, other, to_come) for other in (*others, 0)))


@lru_cache(maxsize=4096)
def _overtakes(leader: int, other: int, to_come: int) -> float:
    """The chance that a result with `other` votes has at least as many as the leader, after `to_come` more for the two.

    The sum of the Beta-binomial probabilities that `n` of the further votes are for the other, in whole numbers.
    """
    least = (to_come + leader - other + 1) // 2  # so that other + n >= leader + to_come - n
    total = comb(leader + other + to_come + 1, to_come)
    ways = sum(
        comb(other + n, n) * comb(leader + to_come - n, to_come - n)
        for n in range(max(0, least), to_come + 1)
    )
    return ways / total
