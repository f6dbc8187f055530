"""Systems of one call, without retrieval, pruning and fixing; and a system that replays candidates.

`zero_shot` is the baseline of the papers' tables: BIRD's prompt with chain of thought (CHASE-SQL,
table 4; CHESS, table 6) or without it (MAC-SQL, table 1). `direct` is our own prompt in its place,
with rules.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain

from workbench.canonical import content_hash
from workbench.lab import Lab
from workbench.retrieve.retrieval import Retrieval
from workbench.sql.texts import bare_create_table_text
from workbench.systems.generate import Generate
from workbench.systems.select import Majority
from workbench.systems.system import Select, System
from workbench.types import Candidate, Context

WHOLE_SCHEMA = Retrieval(keywords=None, index=None, descriptions=None)
"""Retrieves nothing: the context is the schema with all its descriptions and example values."""


def zero_shot(
    model: str = "embedded/parser", *, think: bool = True, temperature: float = 0.0
) -> System:
    """Return the papers' baseline, BIRD's zero-shot prompt; `think` asks for chain of thought.

    >>> wb.zero_shot("openai/gpt-4o", think=False).name
    'zero-shot'
    """
    step = Generate(
        "generate/zero_shot",
        model,
        temperature,
        data={"think": think},
        schema_text=bare_create_table_text,
    )
    name = "zero-shot, chain of thought" if think else "zero-shot"
    return System(name, WHOLE_SCHEMA, (), (step,), (), Majority())


def direct(
    model: str = "embedded/parser", *, think: bool = True, temperature: float = 0.0
) -> System:
    """Return one call with our own prompt; `think` asks for chain of thought."""
    step = Generate("generate/direct", model, temperature, data={"think": think})
    name = "direct, chain of thought" if think else "direct"
    return System(name, WHOLE_SCHEMA, (), (step,), (), Majority())


@dataclass(frozen=True)
class Proposed:
    """Proposes the candidates of each question, by its id.

    A generator without a candidate for a question proposes an empty query.

    content: a hash of the queries, which stands for `candidates` when steps are compared: a step's
        fields are hashed for each question, and a pool has many queries.
    """

    candidates: Mapping[str, tuple[Candidate, ...]] = field(repr=False, compare=False)
    content: str = field(init=False)

    def __post_init__(self) -> None:
        rows = []
        for question_id, candidates in self.candidates.items():
            rows += [(question_id, c.generator, c.sample, c.sql) for c in candidates]
        object.__setattr__(self, "content", content_hash("pool", rows))

    def __call__(self, lab: Lab, context: Context) -> tuple[Candidate, ...]:
        del lab  # no model is asked
        proposed = self.candidates.get(context.question.id, ())
        answered = {candidate.generator for candidate in proposed}
        silent = [name for name in self._generators if name not in answered]
        return (*proposed, *(Candidate("", name) for name in silent))

    @cached_property
    def _generators(self) -> tuple[str, ...]:
        """The generators of all questions, as they come."""
        every = chain.from_iterable(self.candidates.values())
        return tuple(dict.fromkeys(candidate.generator for candidate in every))


def replayed(
    name: str, candidates: Mapping[str, tuple[Candidate, ...]], select: Select
) -> System:
    """Return a system that proposes the candidates and selects one.

    With the gold queries it is a ceiling.

    >>> with wb.open_study("bundled-dev", limit=3) as study:
    ...     ceiling = wb.replayed("ceiling", wb.gold_candidates(study.benchmark), wb.Majority())
    ...     print(study.run(ceiling).questions["correct"].mean())
    1.0
    """
    return System(name, WHOLE_SCHEMA, (), (Proposed(candidates),), (), select)
