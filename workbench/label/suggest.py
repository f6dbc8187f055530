"""Why a prediction may be wrong, concluded from the two queries and their results.

Each rule looks for one cause and says in words what it saw. They are guesses: a labeller sees them only on
request, and labels that are made from them say that they are automatic.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import pandas as pd

from workbench.benchmarks.benchmark import Benchmark
from workbench.benchmarks.bundled import Flaw, load_flaws
from workbench.label.agreement import cohen_kappa, confusion, final
from workbench.label.case import Case
from workbench.label.rules import RULES, fault, pair
from workbench.label.store import Label, label_of
from workbench.label.taxonomy import Choice, Taxonomy

AUTOMATIC = "automatic"  # who labels where nobody does


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A cause, one of `taxonomy.CAUSES`, and what speaks for it."""

    cause: str
    reason: str


def suggest(case: Case) -> tuple[Suggestion, ...]:
    """The causes that something speaks for, the likeliest first."""
    seen = pair(case)
    found = {cause: next(rule(seen), "") for cause, rule in RULES.items()}
    known = dict([told]) if (told := fault(case)) else {}
    causes = {cause: reason for cause, reason in (known | found | known).items() if reason}
    return tuple(Suggestion(cause, reason) for cause, reason in causes.items())


def suggested(case: Case, taxonomy: Taxonomy) -> tuple[Choice, Suggestion] | None:
    """The likeliest cause that the taxonomy has a category for, and that category."""
    for suggestion in suggest(case):
        if choice := taxonomy.suggested(suggestion.cause):
            return choice, suggestion
    return None


def known_flaws(benchmark: Benchmark) -> tuple[Flaw, ...]:
    """What is known to be wrong with questions of a benchmark: of those that are bundled."""
    bundled, _, split = benchmark.name.partition("-")
    return load_flaws(split) if bundled == "bundled" else ()


def automatic_labels(
    cases: Iterable[Case], taxonomy: Taxonomy, flaws: Iterable[Flaw] = ()
) -> tuple[Label, ...]:
    """Labels by what is known to be wrong with a question, else by rule, with the reason as their note."""
    known = {flaw.question_id: flaw for flaw in flaws}
    labels = []
    for case in cases:
        found = suggested(case, taxonomy)
        if flaw := known.get(case.question.id):
            cause = _FLAWS.get(flaw.kind, flaw.kind)
            if choice := taxonomy.suggested(cause):
                found = choice, Suggestion(cause, flaw.note)
        if found:
            choice, suggestion = found
            note = f"{suggestion.cause}: {suggestion.reason}"
            labels.append(
                label_of(
                    case, taxonomy.name, *choice, annotator=AUTOMATIC, note=note, automatic=True
                )
            )
    return tuple(labels)


def against_labels(
    cases: Iterable[Case], labels: Iterable[Label], taxonomy: Taxonomy
) -> tuple[float, pd.DataFrame]:
    """How far suggestions agree with what people said: Cohen's kappa, and how often which meets which.

    Rows are the labels, columns the suggestions. Labels as `LabelStore.labels` gives them, by hand alone.
    """
    said = {key: one.category for key, one in final(labels).items() if one and not one.automatic}
    rules = {
        case.key: found[0][0] if (found := suggested(case, taxonomy)) else "none" for case in cases
    }
    both = sorted(said.keys() & rules.keys())
    kappa = cohen_kappa([said[key] for key in both], [rules[key] for key in both])
    return kappa, confusion(said, rules)


_FLAWS = {"wrong gold": "gold likely wrong"}
