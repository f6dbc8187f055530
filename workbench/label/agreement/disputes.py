"""The open disputes between annotators, and the label that counts for each case."""

from collections.abc import Iterable

from workbench.label.store import Label

Key = tuple[str, str]  # a case's key
ADJUDICATOR = "adjudicator"  # the annotator whose label settles a dispute
DISPUTED = "disputed"


def disputes(labels: Iterable[Label]) -> dict[Key, tuple[Label, ...]]:
    """The cases that annotators label differently, with their labels.

    A case is settled when it has a label by the annotator "adjudicator".
    """
    by_case: dict[Key, list[Label]] = {}
    for label in labels:
        if not label.automatic:
            by_case.setdefault(label.key, []).append(label)
    return {
        key: tuple(given)
        for key, given in by_case.items()
        if all(label.annotator != ADJUDICATOR for label in given)
        and len({(label.category, label.subcategory) for label in given}) > 1
    }


def final(labels: Iterable[Label]) -> dict[Key, Label | None]:
    """The label that counts for each case; None while annotators dispute it.

    The adjudicator's label replaces the other annotators', and theirs replace an automatic one.
    """
    given = tuple(labels)
    by_weight = sorted(given, key=lambda one: (not one.automatic, one.annotator == ADJUDICATOR))
    return {label.key: label for label in by_weight} | dict.fromkeys(disputes(given))
