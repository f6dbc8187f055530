"""Selection: trials grouped by equal results, the choice by scores, and self-consistency.

A selector scores the trials, and `choose` makes the selection, so a selector of your own is a few
lines:

    def shortest(lab, context, trials):
        return wb.choose("shortest", context, trials, [-len(t.candidate.sql) for t in trials])
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from workbench.canonical import content_hash
from workbench.errors import BadInputError, one_of
from workbench.lab import Lab
from workbench.sql.reading import normal_form
from workbench.sql.texts import result_text
from workbench.types import (
    SUSPECT,
    Comparison,
    Context,
    Selection,
    Suspect,
    Trial,
)


def result_of(trial: Trial) -> str:
    """Return the key that trials with equal results share. A failed query equals only itself."""
    return trial.result.fingerprint or normal_form(trial.candidate.sql)


def shown(trial: Trial) -> dict[str, str]:
    """Return a candidate as the judges' prompts show it."""
    return {"query": trial.candidate.sql, "result": result_text(trial.result)}


def representatives(trials: Sequence[Trial], indices: Sequence[int]) -> dict[str, int]:
    """Return for each result the trial with its most frequent spelling.

    The order of the trials does not matter.
    """
    spelling = {i: normal_form(trials[i].candidate.sql) for i in indices}
    counts = Counter(spelling.values())

    def best_first(i: int) -> tuple[object, ...]:
        return (-counts[spelling[i]], spelling[i], _place(trials[i]))

    best: dict[str, int] = {}
    for i in sorted(indices, key=best_first):
        result = result_of(trials[i])
        if result not in best:
            best[result] = i
    return best


def drawn(
    context: Context, trials: Sequence[Trial], indices: Sequence[int]
) -> list[int]:
    """Return the indices in an order drawn from the question and the queries.

    The order of the trials does not matter.
    """

    def lot(i: int) -> tuple[object, ...]:
        query = trials[i].candidate.sql
        number = content_hash("order", [context.question.id, query])
        return number, _place(trials[i])

    return sorted(indices, key=lot)


def choose(
    selector: str,
    context: Context,
    trials: Sequence[Trial],
    scores: Sequence[float],
    comparisons: Sequence[Comparison] = (),
    call_keys: Sequence[str] = (),
) -> Selection:
    """Return the selection of the trial with the highest score.

    Of equal scores a sound result goes before a suspect one, a result that more trials share before
    a rarer one, and a draw decides the rest; the order of the trials never matters. A trial without
    a query is the last choice.
    """
    if len(scores) != len(trials):
        raise BadInputError(
            f"{len(scores)} scores for {len(trials)} trials: give one for each"
        )
    results = [result_of(trial) for trial in trials]
    spellings = [normal_form(trial.candidate.sql) for trial in trials]
    sharing = Counter(results)
    spelled = Counter(spellings)

    def key(i: int) -> tuple[object, ...]:
        """Return what decides, in its order; the least comes first."""
        return (
            trials[i].candidate.sql.strip() == "",
            -scores[i],
            trials[i].result.is_suspect("empty"),
            -sharing[results[i]],
            content_hash("tie", [context.question.id, results[i]]),
            # Of one result, its most frequent spelling.
            -spelled[spellings[i]],
            spellings[i],
            _place(trials[i]),
        )

    return Selection(
        context.question.id,
        tuple(trials),
        chosen=min(range(len(trials)), key=key, default=None),
        selector=selector,
        scores=tuple(map(float, scores)),
        comparisons=tuple(comparisons),
        call_keys=tuple(call_keys),
    )


def _place(trial: Trial) -> tuple[str, int]:
    return trial.candidate.generator, trial.candidate.sample


@dataclass(frozen=True)
class Majority:
    """Self-consistency (Wang et al., 2023; CHASE-SQL, tables 6 and 7).

    The result that most candidates share wins. A suspect result gets no votes, so it wins only
    where there is no other.

    >>> replace(wb.chase_sql(), select=wb.Majority()).select
    Majority(suspect='empty')
    """

    suspect: Suspect = "empty"

    def __post_init__(self) -> None:
        one_of(SUSPECT, suspect=self.suspect)

    def __call__(
        self, lab: Lab, context: Context, trials: Sequence[Trial]
    ) -> Selection:
        del lab  # no model is asked
        voters = [
            trial for trial in trials if not trial.result.is_suspect(self.suspect)
        ]
        votes = Counter(map(result_of, voters))
        scores = [votes[result_of(trial)] for trial in trials]
        return choose("majority", context, trials, scores)
