"""What an annotator says of a case's gold query; each verdict returns the line that tells what happened."""

from dataclasses import dataclass

from workbench.errors import BadInputError
from workbench.lab import Lab
from workbench.label.case import Case
from workbench.label.store import Label, LabelStore, label_of
from workbench.label.store.golds import BOTH_RIGHT, CORRECTED, GOLD, NO_VERDICT


@dataclass(frozen=True, slots=True)
class GoldVerdicts:
    """The verdicts of an annotator."""

    store: LabelStore
    annotator: str
    lab: Lab | None = None

    def of(self, case: Case) -> Label | None:
        """The verdict on the case, if gold does not stay."""
        given = self.store.of(case.key, GOLD, self.annotator)
        return given if given and given.category != NO_VERDICT else None

    def correct(self, case: Case, sql: str) -> str:
        """Keep the right query if it gives a result."""
        if self.lab is None:
            raise BadInputError("a corrected query is run first: open the labeller with study.lab")
        found = self.lab.run(case.question, sql)
        if found.status not in {"ok", "empty"}:
            raise BadInputError(f"not saved, since the query gives no result: {found.error}")
        self._save(case, CORRECTED, sql)
        return f"gold is corrected; the query gives {found.row_count:,} rows"

    def both_right(self, case: Case) -> str:
        """Say that gold and the prediction are both right; the second time, take that back."""
        given = self.of(case)
        again = given is not None and given.category == BOTH_RIGHT
        self._save(case, NO_VERDICT if again else BOTH_RIGHT)
        return "the prediction is wrong again" if again else "both queries are right"

    def _save(self, case: Case, verdict: str, sql: str = "") -> None:
        self.store.add([label_of(case, GOLD, verdict, annotator=self.annotator, note=sql)])
