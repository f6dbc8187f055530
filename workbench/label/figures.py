"""The errors that figures draw: what people say of each case, and else what rules guess."""

import pandas as pd

from workbench.benchmarks.benchmark import Benchmark
from workbench.benchmarks.bundled import Flaw, load_flaws
from workbench.label.agreement import final
from workbench.label.cases import cases
from workbench.label.rules import suggested
from workbench.label.store import LabelStore
from workbench.label.taxonomy import open_taxonomy
from workbench.report.style import UNLABELLED
from workbench.study.runs import Run
from workbench.study.study import Study

DISPUTED = "disputed"
_COLUMNS = ["question_id", "db_id", "generator", "error", "detail", "automatic", "apart", "note"]


def errors(study: Study, run: Run, taxonomy: str) -> pd.DataFrame:
    """A row for each label of the run's cases: its `error` and `detail`, and why (`note`).

    A person's label counts before a rule's, which is `automatic`. The frame has the errors that the taxonomy sets
    `apart`; the paper's figure leaves them out.
    """
    kinds = open_taxonomy(taxonomy)
    by_hand = final(LabelStore.named(study.benchmark.name).labels(kinds.name))
    flaws = {flaw.question_id: flaw for flaw in known_flaws(study.benchmark)}
    apart = {category.name for category in kinds.categories if category.apart}
    rows = []
    for case in cases(study, run, kinds):
        label = by_hand.get(case.key)
        guess = None if case.key in by_hand else suggested(case, kinds, flaws.get(case.question.id))
        missing = DISPUTED if case.key in by_hand else UNLABELLED
        names = label.categories if label else (guess[0] if guess else missing,)
        note = label.note if label else guess[1] if guess else ""
        for name in names:
            error, _, detail = name.partition(" / ")
            kind = (error, detail, guess is not None, error in apart, note)
            rows.append((case.question.id, case.question.db_id, case.generator, *kind))
    return pd.DataFrame(rows, columns=_COLUMNS)


def known_flaws(benchmark: Benchmark) -> tuple[Flaw, ...]:
    """The known flaws of a bundled benchmark's questions; none for other benchmarks."""
    bundled, _, split = benchmark.name.partition("-")
    return load_flaws(split) if bundled == "bundled" else ()
