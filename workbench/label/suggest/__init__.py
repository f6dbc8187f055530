"""Likely causes of a wrong prediction, suggested by rules over the two queries and their results.

Suggestions are guesses: labels made from them are marked automatic.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from workbench.benchmarks.benchmark import Benchmark
from workbench.benchmarks.bundled import Flaw, load_flaws
from workbench.label.case import Case
from workbench.label.store import Label, label_of
from workbench.label.suggest.rules import RULES, QueryPair, error_cause
from workbench.label.taxonomy import Choice, Taxonomy

AUTOMATIC = "automatic"  # the annotator of labels made by rules
_FLAWS = {"wrong gold": "gold likely wrong"}  # flaws whose cause has another name


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A likely cause of an error."""

    cause: str  # one of `taxonomy.CAUSES`
    reason: str


def suggest(case: Case) -> tuple[Suggestion, ...]:
    """The suggested causes, the likeliest first: the cause of SQLite's error, if any, then those of the rules."""
    pair = QueryPair(case)
    by_rule = {cause: next(rule(pair), "") for cause, rule in RULES.items()}
    by_error = error_cause(case)
    # The first `by_error` puts the cause of SQLite's error first, the last gives it SQLite's reason.
    reasons = by_error | by_rule | by_error
    return tuple(Suggestion(cause, reason) for cause, reason in reasons.items() if reason)


def suggested(case: Case, taxonomy: Taxonomy) -> tuple[Choice, Suggestion] | None:
    """The likeliest cause with a category in the taxonomy, and that category."""
    for suggestion in suggest(case):
        if choice := taxonomy.suggested(suggestion.cause):
            return choice, suggestion
    return None


def known_flaws(benchmark: Benchmark) -> tuple[Flaw, ...]:
    """The known flaws of a bundled benchmark's questions; none for other benchmarks."""
    bundled, _, split = benchmark.name.partition("-")
    return load_flaws(split) if bundled == "bundled" else ()


def automatic_labels(
    cases: Iterable[Case], taxonomy: Taxonomy, flaws: Iterable[Flaw] = ()
) -> tuple[Label, ...]:
    """A label for each case with a known flaw, or else a suggestion; the note gives the reason."""
    known = {flaw.question_id: flaw for flaw in flaws}
    labels = []
    for case in cases:
        best = suggested(case, taxonomy)
        if flaw := known.get(case.question.id):
            cause = _FLAWS.get(flaw.kind, flaw.kind)
            if choice := taxonomy.suggested(cause):
                best = choice, Suggestion(cause, flaw.note)
        if best:
            choice, suggestion = best
            note = f"{suggestion.cause}: {suggestion.reason}"
            labels.append(
                label_of(
                    case, taxonomy.name, *choice, annotator=AUTOMATIC, note=note, automatic=True
                )
            )
    return tuple(labels)
