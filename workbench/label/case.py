"""A case to label: a wrong prediction, the gold query, both results, and what the generator saw."""

import hashlib
import random
from dataclasses import dataclass, field

from workbench.benchmarks.benchmark import Sense
from workbench.sql.reading import normal_form
from workbench.types import Execution, Question, Schema, ValueMatch


@dataclass(frozen=True, slots=True)
class Case:
    """A wrong prediction with its gold query."""

    question: Question
    difficulty: str
    gold: str  # SQL
    predicted: str  # SQL
    generator: str
    gold_execution: Execution
    execution: Execution
    database: Schema  # the whole schema
    schema: Schema  # the schema and values that the generator saw
    values: tuple[ValueMatch, ...] = ()
    agreeing: int = 1  # candidates of the question with the same result as the prediction
    candidates: int = 1
    sense: Sense = "bird"  # the sense of EX that judged the prediction
    benchmark: str = ""  # the benchmark's name
    key: tuple[str, str] = field(init=False)  # see `case_key`

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "key", case_key(self.question.db_id, self.question.text, self.predicted)
        )


def case_key(db_id: str, question: str, sql: str) -> tuple[str, str]:
    """The key by which labels find a case: a hash of the question's text, and the query in its normal form."""
    return f"{db_id}:{hashlib.sha256(question.encode()).hexdigest()[:16]}", normal_form(sql)


def draw(*parts: object) -> float:
    """A random number from 0 up to 1 that depends on these parts alone."""
    return random.Random(" ".join(map(str, parts))).random()  # noqa: S311  a sample, no secret
