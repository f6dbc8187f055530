"""Assign cases to annotators: several annotators for a share of the cases (the overlap), one for each other case.

Who labels a case depends on the seed and the case alone (rendezvous hashing, Thaler and Ravishankar 1998): cases that
are found later change no other case's annotators, and a new annotator takes over only the cases assigned to them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from workbench.errors import BadInputError
from workbench.label.agreement.disputes import ADJUDICATOR
from workbench.label.case import Case, draw
from workbench.label.queue.worth import Worth, in_order
from workbench.label.suggest import AUTOMATIC


@dataclass(frozen=True, slots=True)
class Plan:
    """Who labels which case. With `Plan(("ann", "bob"), labels=2, overlap=0.2)` both label the same fifth."""

    annotators: tuple[str, ...]
    labels: int = 2
    """How many annotators label each case of the overlap."""
    overlap: float = 1.0
    """The share of the cases with that many annotators, on which agreement is measured; the others have one."""
    seed: int = 0

    def __post_init__(self) -> None:
        if not 1 <= self.labels <= len(set(self.annotators)) == len(self.annotators):
            raise BadInputError(
                f"labels is {self.labels}, annotators are {', '.join(self.annotators) or 'none'}: name each annotator"
                " once, and give labels from 1 to their number"
            )
        if not 0 <= self.overlap <= 1:
            raise BadInputError(f"overlap is {self.overlap}: it must be from 0 to 1")

    def __call__(self, case: Case) -> tuple[str, ...]:
        """The annotators of the case."""
        ranked = sorted(self.annotators, key=lambda name: draw(self.seed, case.key, name))
        shared = draw(self.seed, case.key, "\noverlap") < self.overlap
        return tuple(ranked[: self.labels if shared else 1])

    def queue(
        self, annotator: str, sample: Sequence[Case], worth: Iterable[Worth] = ()
    ) -> tuple[Case, ...]:
        """The annotator's cases, in the order of `worth` if it is given, else in the order of the sample."""
        self.check(annotator)
        ordered = in_order(sample, worth, self.seed)
        return tuple(case for case in ordered if annotator in self(case))

    def check(self, annotator: str) -> None:
        """Raise BadInputError if the annotator is not in the plan."""
        if annotator not in self.annotators:
            raise BadInputError(
                f"no annotator {annotator!r} in the plan; it has {', '.join(self.annotators)}"
            )


def check_annotator(annotator: str, *, adjudicates: bool = False) -> None:
    """Raise BadInputError if the name is empty or reserved."""
    name = annotator.strip().lower()
    if not name:
        raise BadInputError("annotator is empty: give the name under which to label")
    if name == AUTOMATIC or (name == ADJUDICATOR and not adjudicates):
        owner = "rules" if name == AUTOMATIC else "the adjudicator of disputed cases"
        raise BadInputError(f"annotator {annotator!r} is reserved for {owner}: give another name")
