"""Annotators' verdicts on gold queries, and the revision of a benchmark that follows from them.

A verdict on gold is a label of a taxonomy of its own, so it is stored, undone and exported like any label.
"""

from collections.abc import Iterable
from pathlib import Path

import orjson

from workbench.benchmarks.benchmark import Benchmark
from workbench.errors import naming
from workbench.label.store import ADJUDICATOR, Label, LabelStore
from workbench.sql.reading import normal_form
from workbench.study.study import Study

GOLD = "gold"  # the taxonomy of verdicts on gold
CORRECTED = "corrected"  # the note has the right query
BOTH_RIGHT = "both right"  # gold and the prediction answer the question in two readings of it
STAYS = "gold stays"  # takes an earlier verdict back


def write_golds(study: Study, path: str | Path | None = None) -> str:
    """Write the benchmark's gold with the annotators' corrections, and say what changed.

    `workbench evaluate --gold NAME=FILE` judges by the file, which lies beside the labels by default. Where annotators
    correct a gold query differently it stays as it is, until the adjudicator corrects it.
    """
    store = LabelStore.named(study.benchmark.name)
    file = Path(path) if path else store.path.with_suffix(".golds.json")
    verdicts = _by_question(store.labels(GOLD), study.benchmark)
    items, corrected, disputed = [], 0, []
    for question in study.benchmark.questions:
        given = verdicts.get(question.id, [])
        given = [one for one in given if one.annotator == ADJUDICATOR] or given
        said = [one.note for one in reversed(given) if CORRECTED in one.categories]
        queries = [*{normal_form(sql): sql for sql in said}.values()]  # in the words of the first
        disputed += [question.id] if len(queries) > 1 else []
        corrected += len(queries) == 1
        sql = queries[0] if len(queries) == 1 else study.benchmark.golds[question.id].sql
        items.append({"question_id": question.id, "db_id": question.db_id, "SQL": sql})
    with naming(file):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(orjson.dumps(items, option=orjson.OPT_INDENT_2))
    both = sum(any(BOTH_RIGHT in one.categories for one in given) for given in verdicts.values())
    left = f"; corrected in several ways and left: {', '.join(disputed)}" if disputed else ""
    counts = f"{corrected} gold queries corrected, {both} questions with two right answers"
    return f"{file}: {counts}{left}"


def _by_question(labels: Iterable[Label], benchmark: Benchmark) -> dict[str, list[Label]]:
    """The verdicts by question id. A release may count the questions anew, so the text of the question decides."""
    ids: dict[tuple[str, str], list[str]] = {}
    for question in benchmark.questions:
        ids.setdefault((question.db_id, question.text), []).append(question.id)
    found: dict[str, list[Label]] = {}
    for label in labels:
        same_text = ids.get((label.db_id, label.question), [])
        if same_text:
            own = label.question_id if label.question_id in same_text else same_text[0]
            found.setdefault(own, []).append(label)
    return found
