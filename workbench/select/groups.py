"""Trials grouped by result: what a selector chooses among, in an order that no arrival order changes."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from workbench.canonical import content_hash
from workbench.db.spelling import one_spelling
from workbench.db.sql.normal_form import normal_form
from workbench.types import Trial


@dataclass(frozen=True, slots=True)
class Group:
    """Trials with equal results, by their places. The `speaker` is shown to a judge for all of them.

    The members stand in the order of their queries, generators and samples, not in that of their places.
    """

    result: str
    members: tuple[int, ...]
    speaker: int


def groups(trials: Sequence[Trial], seed: str, *, empty_apart: bool = True) -> tuple[Group, ...]:
    """The groups that a selector may choose among, in an order drawn from the seed and their results.

    Trials with rows come first: one without rows counts only where none has any (unless `empty_apart` is
    false), one that failed only where all did, and one without a query only where none has any. A group
    speaks through the query that most of its members wrote.
    """
    for statuses in ({"ok"}, {"empty"}, None) if empty_apart else ({"ok", "empty"}, None):
        places = [
            place
            for place, trial in sorted(enumerate(trials), key=_identity)
            if statuses is None or (trial.execution and trial.execution.status in statuses)
        ]
        if places:
            break
    places = [place for place in places if trials[place].candidate.sql.strip()] or places
    by_result: dict[str, list[int]] = {}
    for place in places:
        by_result.setdefault(_result(trials[place]), []).append(place)
    found = []
    for result, members in by_result.items():
        spelled = {
            place: normal_form(one_spelling(trials[place].candidate.sql)) for place in members
        }
        counts = Counter(spelled.values())
        speaker = min(members, key=lambda place: (-counts[spelled[place]], spelled[place]))
        found.append(Group(result, tuple(members), speaker))
    return tuple(sorted(found, key=lambda group: content_hash("tie", [seed, group.result])))


def _identity(arrived: tuple[int, Trial]) -> tuple[str, str, int]:
    """What tells trials apart wherever they stand."""
    candidate = arrived[1].candidate
    return candidate.sql, candidate.generator, candidate.sample


def _result(trial: Trial) -> str:
    """What trials with equal results share; a failure equals only that of the same query."""
    known = trial.execution.fingerprint if trial.execution else ""
    return known or normal_form(trial.candidate.sql)
