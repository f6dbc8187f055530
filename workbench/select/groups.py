"""Trials grouped by equal results: the groups a selector chooses among, and the selection made of one of them.

The order of the groups, and of the members in a group, does not depend on the order of the trials.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from workbench.canonical import content_hash
from workbench.sql.context_text import result_text
from workbench.sql.reading import normal_form, normalise_text
from workbench.types import Comparison, Context, Execution, Selection, Suspect, Trial

_NOT_RUN = Execution("error", error="not run")


@dataclass(frozen=True, slots=True)
class Group:
    """Trials with equal results.

    result: the fingerprint that the results share; for failed queries, the query.
    members: indices of the trials, ordered by query, generator and sample.
    representative: index of the trial whose query a judge sees for the whole group.
    """

    result: str
    members: tuple[int, ...]
    representative: int


def groups(trials: Sequence[Trial], seed: str, *, suspect: Suspect = "nulls") -> tuple[Group, ...]:
    """The groups that a selector may choose among, in an order drawn from the seed and their results.

    Trials with a suspect result are left out unless all have one; then failed ones are left out unless all
    failed. Trials without a query are left out unless all lack one. The query that most members wrote
    represents the group.
    """
    candidates = [trial.candidate for trial in trials]
    executions = [trial.execution or _NOT_RUN for trial in trials]
    indices = sorted(
        range(len(trials)),
        key=lambda i: (candidates[i].sql, candidates[i].generator, candidates[i].sample),
    )
    kinds: tuple[Suspect, Suspect] = ("failed", suspect)
    for kind in kinds:
        indices = [i for i in indices if not executions[i].is_suspect(kind)] or indices
    indices = [i for i in indices if candidates[i].sql.strip()] or indices
    by_result: dict[str, list[int]] = {}
    for index in indices:
        # A failed query has no fingerprint, and equals only itself.
        result = executions[index].fingerprint or normal_form(candidates[index].sql)
        by_result.setdefault(result, []).append(index)
    found = []
    for result, members in by_result.items():
        spelled = {i: normal_form(normalise_text(candidates[i].sql)) for i in members}
        counts = Counter(spelled.values())
        # The alphabet decides between equally frequent spellings, and not the order of the trials.
        representative = min(members, key=lambda index: (-counts[spelled[index]], spelled[index]))
        found.append(Group(result, tuple(members), representative))
    return tuple(sorted(found, key=lambda group: content_hash("tie", [seed, group.result])))


def select_group(
    selector: str,
    context: Context,
    trials: Sequence[Trial],
    found: Sequence[Group],
    scores: Sequence[float],
    best: int | None,
    comparisons: Sequence[Comparison] = (),
    call_keys: Sequence[str] = (),
) -> Selection:
    """The selection of the group with index `best`; each trial has its group's score, others 0."""
    by_trial = [0.0] * len(trials)
    for group, score in zip(found, scores, strict=True):
        for index in group.members:
            by_trial[index] = float(score)
    chosen = None if best is None else found[best].representative
    scored, compared, keys = tuple(by_trial), tuple(comparisons), tuple(call_keys)
    return Selection(context.question.id, tuple(trials), chosen, selector, scored, compared, keys)


def query_and_result(trial: Trial) -> dict[str, str]:
    """A candidate as the judges' prompts show it."""
    result = result_text(trial.execution or _NOT_RUN)
    return {"query": trial.candidate.sql, "result": result}
