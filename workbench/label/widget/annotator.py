"""Check the name under which somebody labels: the names of the rules and of the adjudicator are reserved."""

from workbench.errors import BadInputError
from workbench.label.agreement.disputes import ADJUDICATOR
from workbench.label.suggest import AUTOMATIC


def check_annotator(annotator: str, *, adjudicates: bool = False) -> None:
    """Raise BadInputError if the name is empty or reserved."""
    name = annotator.strip().lower()
    if not name:
        raise BadInputError("annotator is empty: give the name under which to label")
    if name == AUTOMATIC or (name == ADJUDICATOR and not adjudicates):
        owner = "rules" if name == AUTOMATIC else "the adjudicator of disputed cases"
        raise BadInputError(f"annotator {annotator!r} is reserved for {owner}: give another name")
