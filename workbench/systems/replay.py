"""Runs a selector on existing candidates, for example those of another system's prediction files."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from workbench.canonical import content_hash
from workbench.lab import Lab
from workbench.systems.baselines import WHOLE_SCHEMA
from workbench.systems.system import Select, System
from workbench.types import Candidate, Context


@dataclass(frozen=True, slots=True)
class Proposed:
    """A generator that proposes given candidates.

    generators: their generators. One without a candidate for a question proposes an empty query.
    content: a hash of the queries, which stands for `candidates` when steps are compared.
    candidates: the candidates by question id.
    """

    generators: tuple[str, ...]
    content: str
    candidates: Mapping[str, tuple[Candidate, ...]] = field(repr=False, compare=False)

    def __call__(self, lab: Lab, context: Context) -> tuple[Candidate, ...]:
        del lab  # no model is asked
        own = self.candidates.get(context.question.id, ())
        answered = {candidate.generator for candidate in own}
        return *own, *(Candidate("", name) for name in self.generators if name not in answered)


def proposed(candidates: Mapping[str, tuple[Candidate, ...]]) -> Proposed:
    rows = [(key, c.generator, c.sample, c.sql) for key, cs in candidates.items() for c in cs]
    generators = tuple(dict.fromkeys(generator for _, generator, _, _ in rows))
    return Proposed(generators, content_hash("pool", rows), candidates)


def replayed(name: str, candidates: Mapping[str, tuple[Candidate, ...]], select: Select) -> System:
    """A system that proposes the candidates and selects one. With the gold queries it is a ceiling."""
    return System(name, WHOLE_SCHEMA, (), (proposed(candidates),), (), select)
