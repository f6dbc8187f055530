"""An annotator's verdicts on gold queries; the methods that give a verdict return a line for the status."""

from dataclasses import dataclass

from workbench.errors import BadInputError
from workbench.lab import Lab
from workbench.label.case import Case
from workbench.label.store import Label, LabelStore, label_of
from workbench.label.store.golds import BOTH_RIGHT, CORRECTED, GOLD, NO_VERDICT


@dataclass(frozen=True, slots=True)
class GoldVerdicts:
    """The verdicts of one annotator."""

    store: LabelStore
    annotator: str
    lab: Lab | None = None

    def of(self, case: Case) -> Label | None:
        """The verdict on the case's gold query; None without one, or if it was taken back."""
        given = self.store.of(case.key, GOLD, self.annotator)
        return given if given and given.category != NO_VERDICT else None

    def correct(self, case: Case, sql: str) -> str:
        """Save the right query, if it gives a result."""
        if self.lab is None:
            raise BadInputError(
                "a corrected query is run before it is saved: open the labeller with study.lab"
            )
        execution = self.lab.run(case.question, sql)
        if execution.status not in {"ok", "empty"}:
            raise BadInputError(f"not saved, since the query gives no result: {execution.error}")
        self._save(case, CORRECTED, sql)
        return f"gold is corrected; the query gives {execution.row_count:,} rows"

    def both_right(self, case: Case) -> str:
        """Mark gold and the prediction as both right, or take that mark back."""
        given = self.of(case)
        marked = given is not None and given.category == BOTH_RIGHT
        self._save(case, NO_VERDICT if marked else BOTH_RIGHT)
        return "the prediction is wrong again" if marked else "both queries are right"

    def _save(self, case: Case, verdict: str, sql: str = "") -> None:
        self.store.add([label_of(case, GOLD, verdict, annotator=self.annotator, note=sql)])
