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
from workbench.types import SUSPECT, Comparison, Context, Execution, Selection, Suspect, Trial

_NOT_RUN = Execution("error", error="not run")


def result_of(trial: Trial) -> str:
    """The key that trials with equal results share. A failed query equals only itself."""
    found = trial.execution.fingerprint if trial.execution else ""
    return found or normal_form(trial.candidate.sql)


def is_suspect(trial: Trial, suspect: Suspect) -> bool:
    return (trial.execution or _NOT_RUN).is_suspect(suspect)


def shown(trial: Trial) -> dict[str, str]:
    """A candidate as the judges' prompts show it."""
    return {"query": trial.candidate.sql, "result": result_text(trial.execution or _NOT_RUN)}


def representatives(trials: Sequence[Trial], indices: Sequence[int]) -> dict[str, int]:
    """For each result the trial with its most frequent spelling, whatever the order of the trials."""
    spelled = {i: normal_form(trials[i].candidate.sql) for i in indices}
    counts = Counter(spelled.values())
    order = sorted(indices, key=lambda i: (-counts[spelled[i]], spelled[i], *_place(trials[i])))
    return {result_of(trials[i]): i for i in reversed(order)}


def drawn(context: Context, trials: Sequence[Trial], indices: Sequence[int]) -> list[int]:
    """The indices in an order drawn from the question and the queries, whatever the order of the trials."""

    def key(index: int) -> tuple[object, ...]:
        sql = trials[index].candidate.sql
        return (content_hash("order", [context.question.id, sql]), *_place(trials[index]))

    return sorted(indices, key=key)


def choose(
    selector: str,
    context: Context,
    trials: Sequence[Trial],
    scores: Sequence[float],
    comparisons: Sequence[Comparison] = (),
    call_keys: Sequence[str] = (),
) -> Selection:
    """The selection of the trial with the highest score.

    Of equal scores a sound result goes before a suspect one, a result that more trials share before
    a rarer one, and a draw decides the rest; the order of the trials never matters. A trial without
    a query is the last choice.
    """
    if len(scores) != len(trials):
        raise BadInputError(f"{len(scores)} scores for {len(trials)} trials: give one for each")
    results = [result_of(trial) for trial in trials]
    sizes = Counter(results)
    spellings = [normal_form(trial.candidate.sql) for trial in trials]
    counts = Counter(spellings)

    def key(i: int) -> tuple[object, ...]:
        draw = content_hash("tie", [context.question.id, results[i]])
        lacks = not trials[i].candidate.sql.strip()
        group = (lacks, -scores[i], is_suspect(trials[i], "empty"), -sizes[results[i]], draw)
        return (*group, -counts[spellings[i]], spellings[i], *_place(trials[i]))

    best = min(range(len(trials)), key=key, default=None)
    made = tuple(trials), best, selector, tuple(map(float, scores))
    return Selection(context.question.id, *made, tuple(comparisons), tuple(call_keys))


def _place(trial: Trial) -> tuple[str, int]:
    return trial.candidate.generator, trial.candidate.sample


@dataclass(frozen=True)
class Majority:
    """Self-consistency (Wang et al., 2023; CHASE-SQL, tables 6 and 7): the result that most candidates share.

    A suspect result gets no votes, so it wins only where there is no other.

    >>> replace(wb.chase_sql(), select=wb.Majority()).select
    Majority(suspect='empty')
    """

    suspect: Suspect = "empty"

    def __post_init__(self) -> None:
        one_of(SUSPECT, suspect=self.suspect)

    def __call__(self, lab: Lab, context: Context, trials: Sequence[Trial]) -> Selection:
        del lab  # no model is asked
        votes = Counter(result_of(t) for t in trials if not is_suspect(t, self.suspect))
        return choose("majority", context, trials, [votes[result_of(trial)] for trial in trials])
