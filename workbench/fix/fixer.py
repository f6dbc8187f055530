"""CHASE-SQL's query fixer (section 2.4, algorithm 4): repair a query that fails or returns no rows.

The prompt shows the query, the database's message, and all earlier attempts. The fixer stops at the first
query whose result is not suspect, or after `attempts` calls (beta in the paper, 3).

Departs from algorithm 4 in two ways. A result of nothing but NULL counts as empty. If no attempt helps, the paper
drops the candidate; here the candidate stays, with its whole history, and selectors prefer others.
"""

from dataclasses import dataclass

from workbench.errors import at_least, one_of
from workbench.fix.repair_loop import ask_repairs
from workbench.lab import Lab
from workbench.sql.context_text import result_text
from workbench.types import SUSPECT, Context, Suspect, Trial


@dataclass(frozen=True, slots=True)
class Fixer:
    """Repairs one trial until its result is not suspect, no attempts are left, or a reply has no SQL."""

    model: str
    attempts: int = 3
    temperature: float = 0.0
    suspect: Suspect = "nulls"

    def __post_init__(self) -> None:
        at_least(0, attempts=self.attempts)
        one_of(SUSPECT, suspect=self.suspect)

    def __call__(self, lab: Lab, context: Context, trial: Trial) -> Trial:
        for _ in range(self.attempts):
            if trial.execution is None or not trial.execution.is_suspect(self.suspect):
                break
            *history, last = [
                {"query": t.candidate.sql, "result": result_text(t.execution)}
                for t in trial.history
                if t.execution
            ]
            repairs = ask_repairs(
                lab, context, trial, self, "fix/fixer", result=last["result"], history=history
            )
            if not repairs:  # the same prompt again would get the same cached reply
                break
            trial = Trial(repairs[0], lab.run(context.question, repairs[0].sql), trial)
        return trial
