"""A label: an annotator's category for the error in a case."""

import uuid
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime

from workbench.label.case import Case, case_key


@dataclass(frozen=True, slots=True)
class Label:
    """An annotator's label of a case; `automatic` if a rule gave it."""

    id: str
    at: str  # the time, in ISO 8601
    annotator: str
    taxonomy: str
    category: str
    subcategory: str  # "" for none
    note: str
    automatic: bool
    db_id: str
    question_id: str
    question: str
    sql: str
    key: tuple[str, str] = field(init=False, repr=False)  # the case's, see `case_key`

    def __post_init__(self) -> None:
        object.__setattr__(self, "key", case_key(self.db_id, self.question, self.sql))


FIELDS = tuple(one.name for one in fields(Label) if one.init)


def label_of(
    case: Case,
    taxonomy: str,
    category: str,
    subcategory: str = "",
    *,
    annotator: str,
    note: str = "",
    automatic: bool = False,
) -> Label:
    return Label(
        id=uuid.uuid4().hex,
        at=now(),
        annotator=_encodable(annotator),
        taxonomy=taxonomy,
        category=category,
        subcategory=subcategory,
        note=_encodable(note),
        automatic=automatic,
        db_id=case.question.db_id,
        question_id=case.question.id,
        question=case.question.text,
        sql=case.predicted,
    )


def record_of(label: Label) -> dict[str, str | bool]:
    """The fields of a label, as they are stored."""
    return {name: getattr(label, name) for name in FIELDS}


def now() -> str:
    """The time as labels store it."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def _encodable(text: str) -> str:
    """The text with `?` for lone surrogates, which UTF-8 cannot encode."""
    return text.encode("utf-8", "replace").decode()
