"""CHESS's revise (section 3.1, appendix A.4, figure 12): the model sees what its query gives.

Section 3.1 revises only what failed or found nothing, until that is mended. Appendix A.4 has every query
looked at beside its result, which finds a column that is missing (figure 6), and now and then spoils what
was right (F.1.4): `sound` asks for that. A revision that loses the rows is not kept.
"""

from dataclasses import dataclass

from workbench.errors import at_least
from workbench.fix.again import mended
from workbench.lab import Lab
from workbench.types import Context, Trial


@dataclass(frozen=True, slots=True)
class Reviser:
    """Asks up to `revisions` times, until a query has rows or, with `sound`, comes back as it was."""

    model: str
    revisions: int = 3
    sound: bool = False
    temperature: float = 0.0

    def __post_init__(self) -> None:
        at_least(0, revisions=self.revisions)

    def __call__(self, lab: Lab, context: Context, trial: Trial) -> Trial:
        return mended(
            lab,
            context,
            trial,
            "fix/reviser",
            self.model,
            self.temperature,
            self.revisions,
            sound=self.sound,
        )
