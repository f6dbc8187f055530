r"""The generator: render one prompt, ask for samples, read the SQL of each reply.

Generators differ in data, so each is a value of `Generate`. One of your own is a line in a cell:

    prompt = wb.Prompt("# User\nWrite one SQLite query. {{ schema | fence }} {{ question }}")
    wb.Generate(prompt, model)
"""

import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from workbench import replies
from workbench.canonical import content_hash
from workbench.errors import at_least, one_of
from workbench.lab import Lab
from workbench.prompts import Prompt
from workbench.sql.texts import create_table_text, examples_text
from workbench.types import Candidate, Context, Example, Message, Request, Schema

# A prompt's schema, up to the next heading.
_SCHEMA = re.compile(r"(?ms)^## Database schema\n.*?(?=^## )")


@dataclass(frozen=True)
class Generate:
    """Proposes `samples` candidates, each from its own call of the prompt.

    prompt: its packaged name, such as "generate/query_plan", or a `Prompt`.
    shuffle: each sample sees tables and columns in an order of its own (CHASE-SQL, section 2.3).
    data: the prompt's variables beyond those of a context.
    schema_text: writes the schema.
    read: finds the query in a reply.
    examples: finds examples for a question, which the prompt shows as `examples`.
    name: the candidates' generator; by default the last part of the prompt's name.
    seeds, marked: whether a shuffled order belongs to a "question" or to its "database", and
        whether the end of what is common is marked for Anthropic's models (ours, see `cheaper`).
    """

    prompt: str | Prompt
    model: str
    temperature: float = 0.0
    samples: int = 1
    shuffle: bool = False
    data: Mapping[str, Any] = field(default_factory=dict, hash=False)
    schema_text: Callable[[Schema], str] = create_table_text
    read: Callable[[str], str] = replies.sql
    examples: Callable[[Lab, Context], tuple[Example, ...]] | None = None
    name: str = ""
    seeds: Literal["question", "database"] = "question"
    marked: bool = False

    def __post_init__(self) -> None:
        at_least(1, samples=self.samples)
        one_of(("question", "database"), seeds=self.seeds)

    def __call__(self, lab: Lab, context: Context) -> tuple[Candidate, ...]:
        """Return the candidates, in the order of their samples.

        A reply without a query gives a candidate with a `problem`.
        """
        data = self.variables(lab, context)
        requests = [
            self.request(lab, context, sample, data) for sample in range(self.samples)
        ]
        candidates = []
        for sample, answer in enumerate(lab.ask_many(requests, self.read)):
            candidate = Candidate(
                sql=answer.value or "",
                generator=self._generator(),
                sample=sample,
                reasoning=answer.completion.text,
                call_keys=answer.keys,
                problem=answer.problem,
            )
            candidates.append(candidate)
        return tuple(candidates)

    def _generator(self) -> str:
        prompt = self.prompt.name if isinstance(self.prompt, Prompt) else self.prompt
        return self.name or prompt.rpartition("/")[2]

    def variables(self, lab: Lab, context: Context) -> Mapping[str, Any]:
        """Return the prompt's variables that all samples share."""
        if self.examples is None:
            return self.data
        return {**self.data, "examples": examples_text(self.examples(lab, context))}

    def request(
        self,
        lab: Lab,
        context: Context,
        sample: int = 0,
        data: Mapping[str, Any] | None = None,
    ) -> Request:
        """Return the call for one sample, with the `variables` that samples share as `data`.

        They are made here where only one sample is asked for; models are tuned on the same prompt
        (`train`).
        """
        if data is None:
            data = self.variables(lab, context)
        if self.shuffle:
            question = context.question
            drawn_for = question.id if self.seeds == "question" else question.db_id
            seed = content_hash("shuffle", [drawn_for, sample])
            schema = shuffled(context.schema, seed)
            context = replace(context, schema=schema)
        request = lab.request(
            self, self.prompt, context, sample, schema_text=self.schema_text, **data
        )
        if self.marked and request.model.startswith("anthropic/"):
            return replace(request, messages=_marked(request.messages))
        return request


def shuffled(schema: Schema, seed: str) -> Schema:
    """Return the schema with its tables, and their columns, in an order drawn by the seed."""
    rng = random.Random(seed)  # noqa: S311  no secret
    tables = []
    for table in schema.tables:
        columns = rng.sample(table.columns, len(table.columns))
        tables.append(replace(table, columns=tuple(columns)))
    return replace(schema, tables=tuple(rng.sample(tables, len(tables))))


def _marked(messages: Sequence[Message]) -> Sequence[Message]:
    """Return the messages with a mark of Anthropic's where the user message's schema ends."""
    *system, user = messages
    text = user["content"]
    schema = _SCHEMA.search(text)
    if not schema:
        return messages
    common = {
        "type": "text",
        "text": text[: schema.end()],
        "cache_control": {"type": "ephemeral"},
    }
    rest = {"type": "text", "text": text[schema.end() :]}
    return (*system, {"role": "user", "content": [common, rest]})
