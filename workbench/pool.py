"""The trials of many questions by many generators, for selection, bounds and error analysis."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import orjson

from workbench.errors import BadInputError, content_of, fault
from workbench.types import Candidate, Selection, Trial

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Pool:
    """Each question's trials by question id, in the order in which they were generated."""

    trials: Mapping[str, tuple[Trial, ...]]

    def generators(self) -> tuple[str, ...]:
        """The names of the generators, in order of first appearance."""
        return tuple(dict.fromkeys(t.candidate.generator for _, t in self.items()))

    def items(self) -> Iterator[tuple[str, Trial]]:
        """Every (question id, trial)."""
        return ((key, trial) for key, trials in self.trials.items() for trial in trials)

    def save(self, path: str | Path) -> None:
        """Write a JSON line for each trial, without its execution, which the cache has."""
        lines = [
            orjson.dumps({"question_id": key} | record_of(trial)) for key, trial in self.items()
        ]
        Path(path).write_bytes(b"".join(line + b"\n" for line in lines))

    @classmethod
    def load(cls, path: str | Path) -> "Pool":
        """Read a file that `save` wrote."""
        lines = content_of(Path(path)).splitlines()
        pairs = []
        for number, line in enumerate(lines, 1):
            try:
                record = orjson.loads(line)
                pairs.append((_typed(record.pop("question_id"), str), trial_of(record)))
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                raise BadInputError(
                    f"{path}, line {number}: {fault(error)}; expected the JSON lines that Pool.save writes"
                ) from error
        return pool_of(pairs)


def pool_of(pairs: Iterable[tuple[str, Trial]]) -> Pool:
    """A pool from (question id, trial) pairs."""
    trials: dict[str, list[Trial]] = {}
    for question_id, trial in pairs:
        trials.setdefault(question_id, []).append(trial)
    return Pool({question_id: tuple(group) for question_id, group in trials.items()})


def chosen(name: str, selections: Iterable[Selection]) -> Pool:
    """The selected trials as a pool of one generator `name`; empty selections are left out."""
    return pool_of(
        (
            selection.question_id,
            replace(trial, candidate=replace(trial.candidate, generator=name, sample=0)),
        )
        for selection in selections
        if (trial := selection.trial)
    )


def record_of(trial: Trial) -> dict[str, Any]:
    """A trial with its history and without executions, as JSON data."""
    before = trial.repaired_from
    candidate = trial.candidate
    return {
        "generator": candidate.generator,
        "sample": candidate.sample,
        "sql": candidate.sql,
        "reasoning": candidate.reasoning,
        "call_keys": candidate.call_keys,
        "problem": candidate.problem,
        "repaired_from": record_of(before) if before else None,
    }


def trial_of(record: dict[str, Any]) -> Trial:
    """The trial of a record that `record_of` made."""
    before = record["repaired_from"]
    return Trial(
        Candidate(
            sql=_typed(record["sql"], str),
            generator=_typed(record["generator"], str),
            sample=_typed(record["sample"], int),
            reasoning=_typed(record["reasoning"], str),
            call_keys=tuple(_typed(key, str) for key in _typed(record["call_keys"], list)),
            problem=_typed(record.get("problem", ""), str),
        ),
        repaired_from=trial_of(before) if before else None,
    )


def _typed(value: Any, kind: type[T]) -> T:
    if type(value) is not kind:
        raise ValueError(f"{value!r:.60} is not of type {kind.__name__}")
    return value
