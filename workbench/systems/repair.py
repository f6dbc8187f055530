"""The repair loop: show the model its query and what the database said, and run a better one.

CHASE-SQL's fixer (algorithm 4), CHESS's revise (section 3.1) and MAC-SQL's Refiner (algorithm 1)
are one loop: repeat until a result is sound or no try is left, and keep the last query. They differ
in the prompt and in what it shows.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from workbench import replies
from workbench.errors import BadInputError, at_least, one_of
from workbench.lab import Lab
from workbench.prompts import Prompt
from workbench.sql.reading import normal_form
from workbench.sql.texts import create_table_text, result_text
from workbench.types import SUSPECT, Context, Schema, Suspect, Trial


def shown_result(context: Context, trial: Trial) -> Mapping[str, Any]:
    """Return the result of the query as the prompt's variable `result`."""
    del context
    return {"result": result_text(trial.result)}


@dataclass(frozen=True)
class Repair:
    """Repairs one trial; each repair keeps the trial before it as `repaired_from`.

    tries: how many repairs are asked for at most.
    suspect: the results that call for a repair: "failed", or "empty" as in the papers; "nulls" is
        ours.
    sound: also review sound results, until a query comes back unchanged (CHESS, appendix A.4).
    samples: of so many repairs, the first with the most frequent result is kept (CHESS, section
        4.3).
    data: what the prompt shows of a trial beside its `query`.
    """

    prompt: str | Prompt
    model: str
    tries: int = 3
    temperature: float = 0.0
    suspect: Suspect = "empty"
    sound: bool = False
    samples: int = 1
    schema_text: Callable[[Schema], str] = create_table_text
    read: Callable[[str], str] = replies.sql
    data: Callable[[Context, Trial], Mapping[str, Any]] = shown_result

    def __post_init__(self) -> None:
        at_least(0, tries=self.tries)
        at_least(1, samples=self.samples)
        one_of(SUSPECT, suspect=self.suspect)
        if self.samples > 1 and not self.temperature:
            raise BadInputError(
                f"samples is {self.samples} and temperature 0: all samples are the same; give a "
                "temperature above 0"
            )

    def __call__(self, lab: Lab, context: Context, trial: Trial) -> Trial:
        for _ in range(self.tries):
            is_broken = trial.result.is_suspect(self.suspect)
            needs_no_repair = not is_broken and not self.sound
            if trial.execution is None or needs_no_repair:
                break
            before = trial
            trial = self._repaired(lab, context, before)
            if normal_form(trial.candidate.sql) == normal_form(before.candidate.sql):
                if not is_broken:
                    # It was reviewed, which is no repair: the one before it is still the last.
                    trial = replace(trial, repaired_from=before.repaired_from)
                break  # the same prompt again would get the same reply
        return trial

    def _repaired(self, lab: Lab, context: Context, trial: Trial) -> Trial:
        """Return the repair that the model gives; the query unchanged where no reply has one."""
        old = trial.candidate
        # Equal queries of a generator's samples get repairs of their own, by the numbers of the
        # calls, unless nothing is drawn.
        first_sample = old.sample * self.samples if self.temperature else 0
        data = {"query": old.sql, **self.data(context, trial)}
        ask = partial(
            lab.request,
            self,
            self.prompt,
            context,
            schema_text=self.schema_text,
            **data,
        )
        samples = range(first_sample, first_sample + self.samples)
        answers = lab.ask_many(list(map(ask, samples)), self.read)

        keys = old.call_keys  # each repair has those of all answers
        for answer in answers:
            keys += answer.keys
        repairs = []
        for answer in answers:
            if answer.value:
                text = answer.completion.text
                repair = replace(old, sql=answer.value, reasoning=text, problem="")
                repairs.append(replace(repair, call_keys=keys))
        repairs = repairs or [replace(old, call_keys=keys)]

        runs = lab.run_many(context.question, [candidate.sql for candidate in repairs])
        votes = Counter(run.fingerprint for run in runs if run.is_complete)
        # The first of several results with as many votes. An incomplete one has none, so that the
        # first repair stays where all are incomplete.
        best = max(range(len(runs)), key=lambda n: votes[runs[n].fingerprint])
        return Trial(repairs[best], runs[best], trial)
