"""MAC-SQL's Refiner (section 3.4, algorithm 1): a query that fails or finds nothing is mended from its error.

The model is told what SQLite said and the exception's class, up to `tries` times. Every try is run, the
last one too, which the paper's algorithm returns unseen; where none has rows, the best of all is kept.
"""

from dataclasses import dataclass

from workbench.db.context_text import result_text
from workbench.db.schema_text import mac_sql_text
from workbench.errors import at_least
from workbench.fix.again import mended
from workbench.lab import Lab
from workbench.types import Context, Execution, Trial

# What Python's sqlite3 raises for each; a query that merely finds nothing raises nothing.
_CLASSES = {
    "error": "sqlite3.OperationalError",
    "timeout": "sqlite3.OperationalError",
    "denied": "sqlite3.DatabaseError",
    "too_large": "sqlite3.DataError",
}


@dataclass(frozen=True, slots=True)
class Refiner:
    """The last agent of MAC-SQL: it asks until a query has rows or the tries are spent."""

    model: str
    tries: int = 3
    temperature: float = 0.1

    def __post_init__(self) -> None:
        at_least(0, tries=self.tries)

    def __call__(self, lab: Lab, context: Context, trial: Trial) -> Trial:
        return mended(
            lab,
            context,
            trial,
            "fix/refiner",
            self.model,
            self.temperature,
            self.tries,
            schema_text=mac_sql_text,
            told=told,
        )


def told(execution: Execution) -> str:
    """The result as the Refiner reads it: SQLite's error and the exception's class, or what was found."""
    raised = _CLASSES.get(execution.status)
    return result_text(execution) + (f"\nException class: {raised}" if raised else "")
