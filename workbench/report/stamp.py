"""The line below each figure and table: which model answered, on which questions, by which metric."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import pandas as pd


@dataclass(frozen=True, slots=True)
class Stamp:
    """Which model answered, on how many questions of which benchmark, and the sense of EX."""

    model: str
    benchmark: str
    n: int
    ex: str = "EX (BIRD)"
    others: tuple[str, ...] = ()
    """Further models that were asked."""
    models_by_run: Mapping[str, tuple[str, ...]] = field(
        default_factory=dict, repr=False, compare=False
    )
    """The models that each run asked, by the run's id; `of` looks them up."""
    left_out: Mapping[str, Sequence[str]] = field(default_factory=dict, repr=False, hash=False)
    """The parameters that a model refuses, so that its calls lack them."""

    @property
    def models(self) -> str:
        """The names of all models, separated by commas."""
        return ", ".join((self.model, *self.others))

    def of(self, frame: pd.DataFrame) -> "Stamp":
        """The stamp of these rows: it names the models that their runs asked, if that is known."""
        runs = " ".join(map(str, frame["run"])).split() if "run" in frame else []
        models = list(
            dict.fromkeys(name for run in runs for name in self.models_by_run.get(run, ()))
        )
        return replace(self, model=models[0], others=tuple(models[1:])) if models else self

    def __str__(self) -> str:
        who = ", ".join(map(self._described, (self.model, *self.others)))
        return measured(f"{who} on {self.benchmark}", self.n, self.ex)

    def _described(self, model: str) -> str:
        if model.startswith("embedded/"):
            return f"{model} (a small statistical parser, no language model)"
        refused = self.left_out.get(model, ())
        return f"{model} (takes no {', '.join(refused)})" if refused else model


def stamped(stamp: object, frame: pd.DataFrame | None) -> str:
    """The stamp as text; a `Stamp` first takes the models that the frame's runs asked."""
    return str(stamp.of(frame) if isinstance(stamp, Stamp) and frame is not None else stamp)


def measured(what: str, n: int | None, metric: str) -> str:
    """What was measured, on how many questions, by which metric; empty parts are left out."""
    return ", ".join(filter(None, (what, f"N = {n:,}" if n else "", metric)))
