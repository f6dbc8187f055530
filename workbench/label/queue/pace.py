"""How fast annotators label, and how long their remaining cases will take."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from itertools import pairwise

import pandas as pd

from workbench.label.case import Case
from workbench.label.queue.plan import Plan
from workbench.label.store import Label

_PAUSE = timedelta(minutes=10)  # a longer time between two labels is a break and does not count


def pace(sample: Sequence[Case], labels: Iterable[Label], plan: Plan | None = None) -> pd.DataFrame:
    """A row for each annotator: labels, labels an hour without breaks, cases left, and hours left at that speed.

    The labels are those of one taxonomy, the latest of each case. Without a plan, every annotator labels every case.
    """
    given: dict[str, list[Label]] = {name: [] for name in plan.annotators} if plan else {}
    for label in labels:
        if not label.automatic:
            given.setdefault(label.annotator, []).append(label)
    rows = []
    for name, own in given.items():
        done = {label.key for label in own}
        asked = [case for case in sample if plan is None or name in plan(case)]
        left = sum(case.key not in done for case in asked)
        speed = _per_hour([datetime.fromisoformat(label.at) for label in own])
        hours = left / speed if speed else None
        rows.append((name, len(asked) - left, speed, left, hours))
    return pd.DataFrame(rows, columns=["annotator", "labels", "per hour", "left", "hours left"])


def _per_hour(times: list[datetime]) -> float | None:
    """Labels an hour without breaks; None if no label follows another within `_PAUSE`."""
    gaps = [b - a for a, b in pairwise(sorted(times)) if b - a <= _PAUSE]
    worked = sum(gaps, timedelta()).total_seconds()
    return len(gaps) * 3600 / worked if worked else None
