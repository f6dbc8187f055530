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
    remarks: tuple[
        str, ...
    ] = ()  # where a run departs from its paper: "similarity by letters"
    # By model, the parameters that it refuses, so that its calls were sent without them.
    dropped: Mapping[str, Sequence[str]] = field(default_factory=dict)
    models_by_run: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    remarks_by_run: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def models(self) -> str:
        return ", ".join((self.model, *self.others))

    def of(self, frame: DataFrame) -> "Stamp":
        """Return the stamp of these rows, with the models and remarks of their runs, if known."""
        models: list[str] = []
        remarks: list[str] = []
        for run in runs(frame).split():
            models += self.models_by_run.get(run, ())
            remarks += self.remarks_by_run.get(run, ())
        first, *others = dict.fromkeys(models or [self.model, *self.others])
        remarks = remarks or [*self.remarks]
        return replace(
            self,
            model=first,
            others=tuple(others),
            remarks=tuple(dict.fromkeys(remarks)),
        )

    def __str__(self) -> str:
        models = []
        for model in (self.model, *self.others):
            refused = ", ".join(self.dropped.get(model, ()))
            note = f" (takes no {refused})" if refused else ""
            if is_parser(model):
                note = " (a small statistical parser, no language model)"
            models.append(model + note)
        what = f"{', '.join(models)} on {self.benchmark}"
        return measured(what, self.n, self.ex, *self.remarks)


def joined(stamps: Sequence[Stamp | None]) -> Stamp | None:
    """Return the stamp of a table made of several; None if they are on different questions."""
    known = [stamp for stamp in stamps if stamp]
    if (
        len(known) < len(stamps)
        or len({(stamp.benchmark, stamp.n) for stamp in known}) > 1
    ):
        return None
    whole = known[0]
    for stamp in known[1:]:
        models = dict.fromkeys((*whole.models.split(", "), *stamp.models.split(", ")))
        whole = replace(
            whole,
            others=tuple(models)[1:],
            ex=whole.ex or stamp.ex,
            remarks=tuple(dict.fromkeys((*whole.remarks, *stamp.remarks))),
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


def measured(what: str, n: int | None, *metric: str) -> str:
    return ", ".join(filter(None, (what, f"N = {n:,}" if n else "", *metric)))
