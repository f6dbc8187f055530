"""What every generator does with its prompt: render it, ask for samples, take the SQL out of the replies."""

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from workbench.canonical import content_hash
from workbench.db.context_text import context_data
from workbench.db.schema_text import create_table_text
from workbench.db.sql.reply import extract_sql
from workbench.lab import Lab
from workbench.types import Candidate, Context, Schema


def propose(
    lab: Lab,
    context: Context,
    prompt: str,
    model: str,
    temperature: float,
    samples: int,
    *,
    shuffle: bool = False,
    schema_text: Callable[[Schema], str] = create_table_text,
    **more: Any,
) -> tuple[Candidate, ...]:
    """The samples' candidates, in order. A call that failed is a candidate without SQL that says why.

    With `shuffle`, tables and columns stand in another order in each sample's prompt, drawn from
    question and sample: another way to diversity (CHASE-SQL, section 2.3).
    """
    requests = []
    for sample in range(samples):
        schema = context.schema
        if shuffle:
            schema = shuffled(schema, content_hash("shuffle", [context.question.id, sample]))
        data = context_data(replace(context, schema=schema), schema_text)
        parameters = {"temperature": temperature}
        requests.append(
            lab.request(prompt, model, context.question, parameters, sample, **data | more)
        )
    return tuple(
        Candidate(
            extract_sql(answer.text).sql,
            prompt.rpartition("/")[2],
            sample,
            answer.text or answer.error,
            (answer.key,),
        )
        for sample, answer in enumerate(lab.client.complete_many(requests))
    )


def shuffled(schema: Schema, seed: str) -> Schema:
    """The schema with its tables, and each table's columns, in an order drawn from the seed."""
    chance = random.Random(seed)  # noqa: S311  no secret
    tables = [
        replace(table, columns=tuple(chance.sample(table.columns, len(table.columns))))
        for table in schema.tables
    ]
    return replace(schema, tables=tuple(chance.sample(tables, len(tables))))
