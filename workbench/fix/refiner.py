"""MAC-SQL's Refiner (section 3.4, algorithm 1): repair a query that fails or returns no rows.

The prompt shows SQLite's message and the class of the exception. The published code refines less on Spider,
where an empty result may be right: only queries that fail (`suspect="failed"`). On BIRD it refines every query whose
result contains a NULL; here only queries whose results are nothing but NULL.

Departs from algorithm 1, which returns its last repair without running it: here every repair is run, and if all
results are suspect, the best query is kept.
"""

from dataclasses import dataclass

from workbench.errors import at_least, one_of
from workbench.fix.repair_loop import repair_loop
from workbench.lab import Lab
from workbench.sql.context_text import result_text
from workbench.sql.schema_text import mac_sql_text
from workbench.types import SUSPECT, Context, Execution, Suspect, Trial

# The exception that Python's sqlite3 raises for each status; an empty result raises none.
_CLASSES = {
    "error": "sqlite3.OperationalError",
    "timeout": "sqlite3.OperationalError",
    "denied": "sqlite3.DatabaseError",
    "too_large": "sqlite3.DataError",
}


@dataclass(frozen=True, slots=True)
class Refiner:
    """The last agent of MAC-SQL: asks up to `tries` times, until a query's result is not suspect."""

    model: str
    tries: int = 3
    temperature: float = 0.1
    suspect: Suspect = "nulls"

    def __post_init__(self) -> None:
        at_least(0, tries=self.tries)
        one_of(SUSPECT, suspect=self.suspect)

    def __call__(self, lab: Lab, context: Context, trial: Trial) -> Trial:
        return repair_loop(
            lab,
            context,
            trial,
            self,
            "fix/refiner",
            self.tries,
            suspect=self.suspect,
            schema_text=mac_sql_text,
            describe=describe,
        )


def describe(execution: Execution) -> str:
    """The result as the Refiner's prompt shows it: the rows, or the error with its exception class."""
    raised = _CLASSES.get(execution.status)
    return result_text(execution) + (f"\nException class: {raised}" if raised else "")
