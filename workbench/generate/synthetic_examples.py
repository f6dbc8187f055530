"""Online synthetic examples (CHASE-SQL, section 2.3, algorithm 2, figures 26 and 27): many shots, made to measure.

For each question the model first writes examples over its very database: some that cover the features of
SQL over the whole schema, some about the columns that were selected for the question. Mixed, they stand
in the prompt that asks for the query. Departs from the paper where that helps and costs no call: an
example must be readable and run, with rows, before it is shown, and none is shown twice.
"""

import json
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from workbench.canonical import content_hash
from workbench.db.context_text import examples_text
from workbench.db.schema_text import create_table_text
from workbench.db.sql.normal_form import normal_form
from workbench.errors import at_least
from workbench.generate.candidates import propose
from workbench.lab import Lab
from workbench.llm.replies import read_object
from workbench.types import Candidate, Context, Example, Schema


@dataclass(frozen=True, slots=True)
class SyntheticExamples:
    """The generator that the paper calls OS: `by_feature` + `by_column` examples, 75 in the paper.

    `columns` selects columns for a question, as one of the steps in `prune` does; without it the second
    half of the examples is over the whole schema, too.
    """

    model: str
    temperature: float = 0.0
    samples: int = 1
    shuffle: bool = False
    by_feature: int = 38
    by_column: int = 37
    columns: Callable[[Lab, Context], Context] | None = None

    def __post_init__(self) -> None:
        at_least(1, samples=self.samples)
        at_least(0, by_feature=self.by_feature, by_column=self.by_column)

    def __call__(self, lab: Lab, context: Context) -> tuple[Candidate, ...]:
        return propose(
            lab,
            context,
            "generate/online_examples",
            self.model,
            self.temperature,
            self.samples,
            shuffle=self.shuffle,
            examples=examples_text(self.examples(lab, context)),
        )

    def examples(self, lab: Lab, context: Context) -> tuple[Example, ...]:
        """The examples for a question, mixed in an order drawn from it."""
        narrow = self.columns(lab, context) if self.columns else context
        asked = (
            ("generate/examples_by_feature", context.schema, self.by_feature),
            ("generate/examples_by_column", narrow.schema, self.by_column),
        )
        found: dict[str, Example] = {}
        for prompt, schema, count in asked:
            if count:
                written = self._written(lab, context, prompt, schema, count)
                found = {normal_form(e.sql): e for e in written} | found
        path = lab.database(context.question.db_id)
        runs = lab.executor.execute_many([(path, example.sql) for example in found.values()])
        good = [e for e, run in zip(found.values(), runs, strict=True) if run.status == "ok"]
        random.Random(content_hash("mix", context.question.id)).shuffle(good)  # noqa: S311  no secret
        return tuple(good)

    def _written(
        self, lab: Lab, context: Context, prompt: str, schema: Schema, count: int
    ) -> list[Example]:
        answer = lab.client.complete(
            lab.request(
                prompt,
                self.model,
                context.question,
                {"temperature": self.temperature},
                schema=create_table_text(schema),
                count=count,
            )
        )
        return read_examples(answer.text)[:count]


def read_examples(reply: str) -> list[Example]:
    """The examples of a reply: objects on lines of their own, in a list, in a fence, whatever is whole."""
    found = [example for item in _objects(reply) if (example := _example(item))]
    if found:
        return found
    lines = map(read_object, reply.splitlines())  # Python's quotes, a comma too many
    return [example for item in lines if (example := _example(item))]


def _objects(reply: str) -> Iterator[dict[str, Any]]:
    """The JSON objects in a reply; those in others only where the outer one is no example."""
    decoder = json.JSONDecoder(strict=False)
    place = 0
    while (place := reply.find("{", place)) >= 0:
        try:
            item, end = decoder.raw_decode(reply, place)
        except (ValueError, RecursionError):
            place += 1
            continue
        yield item
        place = end if _example(item) else place + 1


def _example(item: Mapping[str, Any]) -> Example | None:
    told = {key.lower(): value for key, value in item.items() if isinstance(value, str)}
    question = told.get("question") or told.get("input")
    sql = told.get("sql") or told.get("output")
    return Example(question, sql, told.get("hint", "")) if question and sql else None
