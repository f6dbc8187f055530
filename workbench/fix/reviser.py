"""CHESS's revise (section 3.1, appendix A.4, figure 12): show the model its query's result and ask for a better query.

Section 3.1 revises only queries that fail or return no rows; nothing but NULL counts as no rows here. Appendix
A.4 reviews every query, which finds missing columns (figure 6) and sometimes spoils a correct query (F.1.4):
`sound` switches to that. A revision with a suspect result never replaces a query whose result is not. Section 4.3
reports that more samples of a revision, chosen by self-consistency, answer more questions: `samples`.
"""

from dataclasses import dataclass

from workbench.errors import BadInputError, at_least, one_of
from workbench.fix.repair_loop import repair_loop
from workbench.lab import Lab
from workbench.types import SUSPECT, Context, Suspect, Trial


@dataclass(frozen=True, slots=True)
class Reviser:
    """Asks up to `revisions` times, until a query's result is not suspect.

    sound: also review queries whose result is not suspect, until the model returns the query unchanged.
    samples: how many revisions are requested each time; the most frequent result wins. More than one requires a
        temperature above 0.
    """

    model: str
    revisions: int = 3
    sound: bool = False
    temperature: float = 0.0
    suspect: Suspect = "nulls"
    samples: int = 1

    def __post_init__(self) -> None:
        at_least(0, revisions=self.revisions)
        at_least(1, samples=self.samples)
        if self.samples > 1 and not self.temperature:
            raise BadInputError(
                f"samples is {self.samples} and temperature 0: all samples are the same; give a temperature above 0"
            )
        one_of(SUSPECT, suspect=self.suspect)

    def __call__(self, lab: Lab, context: Context, trial: Trial) -> Trial:
        return repair_loop(
            lab,
            context,
            trial,
            self,
            "fix/reviser",
            self.revisions,
            suspect=self.suspect,
            sound=self.sound,
            samples=self.samples,
        )
