"""A case: a wrong answer beside the right one, with all that tells why it is wrong."""

import hashlib
from dataclasses import dataclass, field

from workbench.db.sql.normal_form import normal_form
from workbench.types import Execution, Question, Schema, ValueMatch


@dataclass(frozen=True, slots=True)
class Case:
    """A wrong answer beside the right one.

    `schema` and `values` are what the generator was shown, `database` the whole schema. `agreeing` of the
    question's `candidates` give the same result as the predicted query.
    """

    question: Question
    difficulty: str
    gold: str
    predicted: str
    generator: str
    gold_execution: Execution
    execution: Execution
    database: Schema
    schema: Schema
    values: tuple[ValueMatch, ...] = ()
    agreeing: int = 1
    candidates: int = 1
    key: tuple[str, str] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "key", case_key(self.question.db_id, self.question.text, self.predicted)
        )


def case_key(db_id: str, question: str, sql: str) -> tuple[str, str]:
    """What a label is about: the question by its text, and the query whatever its layout."""
    return f"{db_id}:{hashlib.sha256(question.encode()).hexdigest()[:16]}", normal_form(sql)
