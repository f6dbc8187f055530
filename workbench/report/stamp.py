"""The line below each figure and table: which model answered, on which questions, by which metric."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import pandas as pd


@dataclass(frozen=True, slots=True)
class Stamp:
    """Which models answered, on how many questions of which benchmark, and the sense of EX."""

    model: str
    benchmark: str
    n: int
    ex: str = "EX (BIRD)"
    others: tuple[str, ...] = ()  # further models that were asked
    similarity: str = ""  # "letters" where retrieval compares texts by them
    dropped: Mapping[str, Sequence[str]] = field(default_factory=dict, repr=False, hash=False)
    """The parameters that a model refuses, so that its calls were sent without them."""
    models_by_run: Mapping[str, tuple[str, ...]] = field(
        default_factory=dict, repr=False, compare=False
    )
    similarity_by_run: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)

    @property
    def models(self) -> str:
        return ", ".join((self.model, *self.others))

    def of(self, frame: pd.DataFrame) -> "Stamp":
        """The stamp of these rows: it names the models and similarities of their runs, if known."""
        ids = runs(frame).split()
        asked = [name for run in ids for name in self.models_by_run.get(run, ())]
        alike = dict.fromkeys(filter(None, (self.similarity_by_run.get(run) for run in ids)))
        first, *others = dict.fromkeys(asked or [self.model, *self.others])
        similarity = ", ".join(alike) or self.similarity
        return replace(self, model=first, others=tuple(others), similarity=similarity)

    def __str__(self) -> str:
        said = []
        for model in (self.model, *self.others):
            refused = ", ".join(self.dropped.get(model, ()))
            note = f" (takes no {refused})" if refused else ""
            parser = " (a small statistical parser, no language model)"
            said.append(model + (parser if model.startswith("embedded/") else note))
        similarity = f"similarity by {self.similarity}" if self.similarity else ""
        return measured(f"{', '.join(said)} on {self.benchmark}", self.n, self.ex, similarity)


def runs(frame: pd.DataFrame) -> str:
    """The ids of the runs that a table's rows came from, each once."""
    named = frame["run"].dropna().astype(str) if "run" in frame else ()
    return " ".join(dict.fromkeys(" ".join(named).split()))


def question_ids(frame: pd.DataFrame) -> str:
    """The ids of the questions of a table's rows, each once."""
    return " ".join(dict.fromkeys(frame["question_id"].astype(str)))


def stamped(stamp: object, frame: pd.DataFrame) -> str:
    """The stamp as text; a `Stamp` names the models that the frame's runs asked."""
    return str(stamp.of(frame) if isinstance(stamp, Stamp) else stamp)


def measured(what: str, n: int | None, *metric: str) -> str:
    """The model, benchmark, number of questions and metric of a number; empty parts are left out."""
    return ", ".join(filter(None, (what, f"N = {n:,}" if n else "", *metric)))
