"""CHESS's data to fine-tune its candidate generator (appendix B): gold queries under schemas that are partly wrong.

Earlier steps do not always find the right columns. So that the generator learns to choose, its prompt shows the
tables and columns of the gold query, and wrong ones with similar names and meanings. Keywords are extracted
from the question, and the values that they match are shown, as when the tuned model is asked.

The paper does not give its heuristic. Here, each right column adds `wrong` columns of any table, those with the most
similar names and descriptions. The reply has no reasoning, as gold has none.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
import orjson

from workbench.benchmarks.benchmark import Benchmark
from workbench.errors import at_least
from workbench.lab import Lab
from workbench.retrieve.retrieval import description, spaced
from workbench.retrieve.similarity import Lexical, Similarity
from workbench.sql.schema import union_schema
from workbench.systems.chess import chess_ir_ss_cg, proposing
from workbench.systems.system import Retrieve
from workbench.train.export import Conversation, conversation
from workbench.types import Gold, Schema


@dataclass(frozen=True)
class NoisySchema:
    """Makes a conversation of each question: the generator's prompt, and the gold query as its reply.

    retrieve: the retrieval of the system in which the generator will be asked.
    wrong: how many wrong columns are added for each right one.
    """

    retrieve: Retrieve = field(default_factory=lambda: chess_ir_ss_cg().retrieve)
    wrong: int = 2
    similarity: Similarity = field(default_factory=Lexical)

    def __post_init__(self) -> None:
        at_least(0, wrong=self.wrong)

    def __call__(self, lab: Lab, benchmark: Benchmark) -> Iterator[Conversation]:
        generate = proposing(model="")  # the model is no part of the prompt
        for question in benchmark.questions:
            gold = benchmark.golds[question.id]
            context = self.retrieve(lab, question, lab.schema(question.db_id))
            context = replace(context, schema=self.noisy(lab, context.schema, gold))
            request = generate.request(lab, context)
            reply = orjson.dumps({"chain_of_thought_reasoning": "", "SQL": gold.sql}).decode()
            yield conversation(question, request, reply)

    def noisy(self, lab: Lab, schema: Schema, gold: Gold) -> Schema:
        """The gold query's tables and columns with their keys, and the wrong columns most like them.

        The schema stays whole if the gold query cannot be read.
        """
        right = union_schema(schema, [gold.sql]).columns()
        others = [pair for pair in schema.columns() if pair not in set(right)]
        if not self.wrong or not others:
            return schema.only(right)
        known, texts = ([_shown(schema, *pair) for pair in pairs] for pairs in (right, others))
        likeness = self.similarity(lab, known, texts)
        best = np.argsort(-likeness, axis=1, kind="stable")[:, : self.wrong]
        return schema.only({*right, *(others[n] for n in best.ravel().tolist())})


def _shown(schema: Schema, table: str, name: str) -> str:
    """A column's name and description."""
    column = schema.column(table, name)
    return f"{spaced(name)} {description(column) if column else ''}"
