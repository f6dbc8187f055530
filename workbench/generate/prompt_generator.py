"""The base class of generators: render one prompt, ask for samples, take the SQL out of each reply.

A generator is a subclass that names its prompt. It adds fields for its own parameters and names in `shown` those that
its prompt has as variables. A method `data` adds variables that are made from the context.
"""

import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from workbench.canonical import content_hash
from workbench.errors import at_least
from workbench.lab import Lab
from workbench.replies.sql import read_sql
from workbench.sql.schema_text import create_table_text
from workbench.types import Candidate, Completion, Context, Request, Schema

CUT_OFF = "the reply was cut off by its output limit"


@dataclass(frozen=True, slots=True)
class PromptGenerator:
    """Proposes `samples` candidates, each from its own call of the prompt.

    A subclass may declare a field `shuffle: bool`. If it is true, each sample's prompt shows the tables and
    columns, and examples if it has some, in its own order, drawn from question and sample so it
    makes the candidates more diverse (CHASE-SQL, section 2.3).
    """

    prompt: ClassVar[str]
    shown: ClassVar[tuple[str, ...]] = ()
    schema_text = staticmethod(create_table_text)

    model: str
    temperature: float = 0.0
    samples: int = 1

    def __post_init__(self) -> None:
        at_least(1, samples=self.samples)

    @property
    def shuffle(self) -> bool:
        """Whether each sample sees another order of tables and columns."""
        return False

    def data(self, lab: Lab, context: Context) -> Mapping[str, Any]:
        """The prompt's variables beyond the five of a context."""
        del lab, context
        return {name: getattr(self, name) for name in self.shown}

    def data_of(self, data: Mapping[str, Any], context: Context, sample: int) -> Mapping[str, Any]:
        """The variables `data`, changed for the prompt of one sample."""
        del context, sample
        return data

    def __call__(self, lab: Lab, context: Context) -> tuple[Candidate, ...]:
        """The candidates, in the order of their samples."""
        data = self.data(lab, context)
        samples = (self.sample(lab, context, n, data) for n in range(self.samples))
        return self.read(lab.ask_many(samples))

    def request(self, lab: Lab, context: Context) -> Request:
        """The call for the first sample; generators are fine-tuned on the same prompt."""
        return self.sample(lab, context, 0, self.data(lab, context))

    def read(self, replies: Iterable[Completion], first: int = 0) -> tuple[Candidate, ...]:
        """The candidates in the replies for samples from number `first` on."""
        return read_candidates(self.prompt.rpartition("/")[2], replies, first)

    def sample(self, lab: Lab, context: Context, sample: int, data: Mapping[str, Any]) -> Request:
        """The call for one sample; `data` is that of all samples."""
        variables = self.data_of(data, context, sample)
        if self.shuffle:
            seed = content_hash("shuffle", [context.question.id, sample])
            context = replace(context, schema=shuffled(context.schema, seed))
        return lab.request(
            self, self.prompt, context, sample, schema_text=self.schema_text, **variables
        )


def read_candidates(
    generator: str, replies: Iterable[Completion], first: int = 0
) -> tuple[Candidate, ...]:
    """A candidate for each reply. A failed call gives a candidate without SQL whose reasoning is the error."""
    candidates = []
    for sample, reply in enumerate(replies, first):
        found = read_sql(reply.text)
        cut_off = CUT_OFF if reply.finish_reason == "length" else found.reason
        problem = "" if found.sql else reply.error or cut_off
        text = reply.text or reply.error
        candidates.append(Candidate(found.sql, generator, sample, text, (reply.key,), problem))
    return tuple(candidates)


def shuffled(schema: Schema, seed: str) -> Schema:
    """The schema with its tables, and each table's columns, in an order drawn from the seed."""
    rng = random.Random(seed)  # noqa: S311  no secret
    tables = [
        replace(table, columns=tuple(rng.sample(table.columns, len(table.columns))))
        for table in schema.tables
    ]
    return replace(schema, tables=tuple(rng.sample(tables, len(tables))))
