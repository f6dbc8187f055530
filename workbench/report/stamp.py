"""What numbers of ours are of: without it nobody can tell a small parser's from a model's."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import pandas as pd


@dataclass(frozen=True, slots=True)
class Stamp:
    """Who was asked, on how many questions of which benchmark, and in which sense answers are right.

    `asked` has the models of runs, by a run's id: with it a stamp can speak of the runs in a frame.
    """

    model: str
    benchmark: str
    n: int
    ex: str = "EX (BIRD)"
    others: tuple[str, ...] = ()
    asked: Mapping[str, tuple[str, ...]] = field(default_factory=dict, repr=False, compare=False)

    @property
    def models(self) -> str:
        """The names of all models that were asked."""
        return ", ".join((self.model, *self.others))

    def of(self, frame: pd.DataFrame) -> "Stamp":
        """The stamp of these rows: it names the models that their runs asked, as far as that is known."""
        runs = " ".join(map(str, frame["run"])).split() if "run" in frame else []
        found = list(dict.fromkeys(name for run in runs for name in self.asked.get(run, ())))
        return replace(self, model=found[0], others=tuple(found[1:])) if found else self

    def __str__(self) -> str:
        who = ", ".join(map(_told, (self.model, *self.others)))
        return said(f"{who} on {self.benchmark}", self.n, self.ex)


def stamped(stamp: object, frame: pd.DataFrame | None) -> str:
    """What is said below a figure or a table: a stamp speaks of the frame, any other text stays."""
    return str(stamp.of(frame) if isinstance(stamp, Stamp) and frame is not None else stamp)


def said(what: str, n: int | None, metric: str) -> str:
    """What was measured, on how many questions, by which metric; a part that there is not is left out."""
    return ", ".join(filter(None, (what, f"N = {n:,}" if n else "", metric)))


def _told(model: str) -> str:
    embedded = model.startswith("embedded/")
    return f"{model} (a small statistical parser, no language model)" if embedded else model
