"""An entry of a prediction file, whatever its format."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Prediction:
    """An entry of a prediction file: its query, and all that it states of the question it answers.

    `line` names the entry in messages. `index` is the question's position in the benchmark; `counted` says that
    the file does not state it, and that it is the entry's position in the file.
    """

    line: str
    sql: str
    id: str | None = None
    index: int | None = None
    counted: bool = False
    db_id: str | None = None
    text: str | None = None
    generator: str | None = None
    sample: int = 0
