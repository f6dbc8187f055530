"""Whose numbers these are: the stamp in the footer of a figure and the caption of a table."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from pandas import DataFrame

from workbench.llm.calls import is_parser


@dataclass(frozen=True, slots=True)
class Stamp:
    """Which models answered, on how many questions of which benchmark, and the sense of EX."""

    model: str
    benchmark: str
    n: int
    ex: str = "EX (BIRD)"
    others: tuple[str, ...] = ()  # further models that were asked
    # Where a run departs from its paper: "similarity by letters".
    remarks: tuple[str, ...] = ()
    # By model, the parameters that it refuses, so that its calls were sent without them.
    dropped: Mapping[str, Sequence[str]] = field(default_factory=dict)
    models_by_run: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    remarks_by_run: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def asked(self) -> tuple[str, ...]:
        """All models that were asked."""
        return (self.model, *self.others)

    @property
    def models(self) -> str:
        return ", ".join(self.asked)

    def of(self, frame: DataFrame) -> "Stamp":
        """Return the stamp of these rows, with the models and remarks of their runs, if known."""
        models: list[str] = []
        remarks: list[str] = []
        for run in runs(frame).split():
            models += self.models_by_run.get(run, ())
            remarks += self.remarks_by_run.get(run, ())
        model, *others = dict.fromkeys(models or self.asked)
        remarked = tuple(dict.fromkeys(remarks or self.remarks))
        return replace(self, model=model, others=tuple(others), remarks=remarked)

    def __str__(self) -> str:
        models = []
        for model in self.asked:
            note = ""
            if is_parser(model):
                note = " (a small statistical parser, no language model)"
            elif refused := self.dropped.get(model):
                note = f" (takes no {', '.join(refused)})"
            models.append(model + note)
        what = f"{', '.join(models)} on {self.benchmark}"
        return measured(what, self.n, self.ex, *self.remarks)


def joined(stamps: Sequence[Stamp | None]) -> Stamp | None:
    """Return the stamp of a table made of several; None if they are on different questions."""
    whole = stamps[0]
    for stamp in stamps[1:]:
        if whole is None or stamp is None:
            return None
        if (whole.benchmark, whole.n) != (stamp.benchmark, stamp.n):
            return None
        _, *others = dict.fromkeys(whole.asked + stamp.asked)
        whole = replace(
            whole,
            others=tuple(others),
            ex=whole.ex or stamp.ex,
            remarks=tuple(dict.fromkeys(whole.remarks + stamp.remarks)),
            dropped={**whole.dropped, **stamp.dropped},
            models_by_run={**whole.models_by_run, **stamp.models_by_run},
            remarks_by_run={**whole.remarks_by_run, **stamp.remarks_by_run},
        )
    return whole


def runs(frame: DataFrame) -> str:
    """The ids of the runs that a table's rows came from, each once."""
    named = frame["run"].dropna().astype(str) if "run" in frame else ()
    return " ".join(dict.fromkeys(" ".join(named).split()))


def question_ids(frame: DataFrame) -> str:
    """The ids of the questions of a table's rows, each once."""
    return " ".join(dict.fromkeys(frame["question_id"].astype(str)))


def stamped(stamp: object, frame: DataFrame) -> str:
    return str(stamp.of(frame) if isinstance(stamp, Stamp) else stamp)


def measured(what: str, n: int | None, *rest: str) -> str:
    return ", ".join(filter(None, (what, f"N = {n:,}" if n else "", *rest)))
