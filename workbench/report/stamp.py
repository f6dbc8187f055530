"""Whose numbers these are: the stamp in the footer of a figure and the caption of a table."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pandas import DataFrame

from workbench.llm.calls import is_parser

# What a stamp says behind the name of a parser.
PARSER = " (a small statistical parser, no language model)"


@dataclass(frozen=True, slots=True)
class Origin:
    """The models that a run asked, and where it departs from its paper."""

    models: tuple[str, ...]
    remarks: tuple[str, ...] = ()  # "similarity by letters"
    # By model, the parameters that it refuses, so that its calls were sent without them.
    dropped: Mapping[str, Sequence[str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Stamp:
    """Which models answered, on how many questions of which benchmark, and the sense of EX."""

    asked: tuple[str, ...]
    benchmark: str
    n: int
    ex: str = "EX (BIRD)"
    remarks: tuple[str, ...] = ()
    dropped: Mapping[str, Sequence[str]] = field(default_factory=dict)
    # By the ids of a study's runs. All of its stamps share them, so that each knows later runs.
    origins: Mapping[str, Origin] = field(default_factory=dict, repr=False)

    @property
    def models(self) -> str:
        return ", ".join(self.asked)

    def of(self, frame: DataFrame) -> "Stamp":
        """Return the stamp of these rows, with the models and remarks of their runs, if known."""
        models: list[str] = []
        remarks: list[str] = []
        dropped = {**self.dropped}
        for run in run_ids(frame):
            if origin := self.origins.get(run):
                models += origin.models
                remarks += origin.remarks
                dropped |= origin.dropped
        return replace(
            self,
            asked=_each_once(models) or self.asked,
            remarks=_each_once(remarks) or self.remarks,
            dropped=dropped,
        )

    def __str__(self) -> str:
        models = []
        for model in self.asked:
            note = PARSER if is_parser(model) else ""
            if refused := self.dropped.get(model):
                note += f" (takes no {', '.join(refused)})"
            models.append(model + note)
        what = f"{', '.join(models)} on {self.benchmark}"
        return measured(what, self.n, self.ex, *self.remarks)


def common(stamps: Sequence[Stamp | None]) -> Stamp | None:
    """Return the stamp of a table made of several tables, if all are of one study's questions."""
    first = stamps[0]
    models: list[str] = []
    remarks: list[str] = []
    dropped: dict[str, Sequence[str]] = {}
    ex = ""  # a table without EX has a stamp without its sense
    for stamp in stamps:
        if not (first and stamp and stamp.origins is first.origins):
            return None
        if (stamp.benchmark, stamp.n) != (first.benchmark, first.n):
            return None
        models += stamp.asked
        remarks += stamp.remarks
        dropped |= stamp.dropped
        ex = ex or stamp.ex
    if first is None:
        return None
    return replace(
        first,
        asked=_each_once(models),
        remarks=_each_once(remarks),
        dropped=dropped,
        ex=ex,
    )


def _each_once(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))


def run_ids(frame: DataFrame) -> list[str]:
    """The ids of the runs that a table's rows came from, each once."""
    named = frame["run"].dropna().astype(str) if "run" in frame else ()
    return [*dict.fromkeys(" ".join(named).split())]


def runs(frame: DataFrame) -> str:
    """The ids of the runs as a cell of a CSV has them."""
    return " ".join(run_ids(frame))


def question_ids(frame: DataFrame) -> str:
    """The ids of the questions of a table's rows, each once."""
    return " ".join(dict.fromkeys(frame["question_id"].astype(str)))


def stamped(stamp: object, frame: DataFrame) -> str:
    return str(stamp.of(frame) if isinstance(stamp, Stamp) else stamp)


def measured(what: str, n: int | None, *rest: str) -> str:
    """Join what was measured on what, the number of questions, and the rest that is not empty."""
    parts = [what, f"N = {n:,}" if n else "", *rest]
    return ", ".join(part for part in parts if part)
