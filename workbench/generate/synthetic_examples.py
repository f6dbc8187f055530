"""Online synthetic examples (CHASE-SQL, section 2.3, algorithm 2, figures 26 and 27): few-shot examples on the fly.

For each question the model first writes examples about the question's own database: some cover SQL features
over the whole schema, some use the columns that were selected for the question. A shuffled mix of both then
stands in the prompt that asks for the query, in an order of its own for each sample.

Departs from the paper by checking the examples, which takes no model call: an example is shown only if it can
be read and its query returns rows, and none is shown twice.
"""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from workbench.canonical import content_hash
from workbench.errors import at_least, one_of
from workbench.generate.prompt_generator import PromptGenerator
from workbench.lab import Lab
from workbench.replies.examples import read_examples
from workbench.sql.context_text import examples_text
from workbench.sql.reading import normal_form
from workbench.sql.schema_text import create_table_text
from workbench.types import Context, Example, Schema


@dataclass(frozen=True, slots=True)
class SyntheticExamples(PromptGenerator):
    """The generator that the paper abbreviates as OS; its examples are 75 in the paper.

    by_feature: how many examples to write about SQL features, over the whole schema.
    by_column: how many examples to write about the selected columns.
    columns: a step of `prune` that selects columns for the question; None uses the whole schema.
    shots: how many of ten examples about another database the model sees when it writes examples about columns.
    """

    prompt = "generate/synthetic_examples"
    shuffle: bool = False
    by_feature: int = 38
    by_column: int = 37
    columns: Callable[[Lab, Context], Context] | None = None
    shots: int = 10

    def __post_init__(self) -> None:
        PromptGenerator.__post_init__(self)
        at_least(0, by_feature=self.by_feature, by_column=self.by_column)
        one_of(range(11), shots=self.shots)

    def data(self, lab: Lab, context: Context) -> Mapping[str, Any]:
        return {"examples": self.examples(lab, context)}

    def data_of(self, data: Mapping[str, Any], context: Context, sample: int) -> Mapping[str, Any]:
        seed = content_hash("mix", [context.question.id, sample if self.shuffle else 0])
        examples = random.Random(seed).sample(data["examples"], len(data["examples"]))  # noqa: S311  no secret
        return {"examples": examples_text(examples)}

    def examples(self, lab: Lab, context: Context) -> tuple[Example, ...]:
        """The checked examples for a question: those by feature, then those by column."""
        selected = self.columns(lab, context) if self.columns else context
        feature, column = "generate/examples_by_feature", "generate/examples_by_column"
        kinds: tuple[tuple[str, Schema, dict[str, Any]], ...] = (
            (feature, context.schema, {"count": self.by_feature}),
            (column, selected.schema, {"count": self.by_column, "shots": self.shots}),
        )
        kinds = tuple(kind for kind in kinds if kind[2]["count"])
        replies = lab.ask_many(
            lab.request(self, prompt, context.question, schema=create_table_text(schema), **data)
            for prompt, schema, data in kinds
        )
        by_sql: dict[str, Example] = {}
        for (_, _, data), reply in zip(kinds, replies, strict=True):
            for row in read_examples(reply.text)[: data["count"]]:
                example = Example(**row)
                by_sql.setdefault(normal_form(example.sql), example)
        examples = tuple(by_sql.values())
        path = lab.database(context.question.db_id)
        statuses = lab.executor.statuses([(path, one.sql) for one in examples], lab.limits)
        return tuple(one for one, status in zip(examples, statuses, strict=True) if status == "ok")
