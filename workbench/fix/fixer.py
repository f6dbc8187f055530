"""CHASE-SQL's query fixer (section 2.4, algorithm 4): a query that fails or finds nothing is asked for again.

The model sees the query, what the database said, and all that was tried before, up to `attempts` times
(the paper's beta, 3); it stops at the first query that gives rows. Departs from algorithm 4 where no
attempt helps: the paper drops the candidate, here it stays with its whole history, last attempt first, and
selectors prefer those with rows. At temperature 0 equal queries share their calls, whichever samples they are.
"""

from dataclasses import dataclass

from workbench.db.context_text import context_data, result_text
from workbench.db.sql.reply import extract_sql
from workbench.errors import at_least
from workbench.lab import Lab
from workbench.types import Candidate, Context, Execution, Trial


@dataclass(frozen=True, slots=True)
class Fixer:
    """Repairs one trial, until it gives rows, the attempts are spent, or a reply holds no SQL."""

    model: str
    attempts: int = 3
    temperature: float = 0.0

    def __post_init__(self) -> None:
        at_least(0, attempts=self.attempts)

    def __call__(self, lab: Lab, context: Context, trial: Trial) -> Trial:
        for _ in range(self.attempts):
            execution = trial.execution
            if execution is None or execution.status == "ok":
                break
            candidate = self._ask(lab, context, trial, execution)
            if candidate is None:  # asked again, the same question gets the same answer
                break
            trial = Trial(candidate, lab.run(context.question, candidate.sql), trial)
        return trial

    def _ask(
        self, lab: Lab, context: Context, trial: Trial, execution: Execution
    ) -> Candidate | None:
        history = [
            {"query": t.candidate.sql, "result": result_text(t.execution)}
            for t in trial.history[:-1]
            if t.execution
        ]
        last = trial.candidate
        answer = lab.client.complete(
            lab.request(
                "fix/fixer",
                self.model,
                context.question,
                {"temperature": self.temperature},
                last.sample if self.temperature else 0,
                query=last.sql,
                result=result_text(execution),
                history=history,
                **context_data(context),
            )
        )
        sql = extract_sql(answer.text).sql
        keys = (*last.call_keys, answer.key)
        return Candidate(sql, last.generator, last.sample, answer.text, keys) if sql else None
