"""The labels to check again after a revision of their benchmark.

A label is found by the text of its question, so it would be lost where a revision rewords the question: `under_new_text`
copies it to the new text.
"""

import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from workbench.benchmarks.benchmark import Benchmark
from workbench.benchmarks.revisions import Revision
from workbench.label.store.golds import question_ids
from workbench.label.store.label import Label


@dataclass(frozen=True, slots=True)
class OutdatedLabel:
    """A label whose question, hint or gold query changed, and the names of the changed ones."""

    label: Label
    changed: tuple[str, ...]
    question: str
    """The revision's text of the question."""


def outdated_labels(
    labels: Iterable[Label], benchmark: Benchmark, revision: Revision
) -> Iterator[OutdatedLabel]:
    """The labels about questions of the benchmark that the revision changed."""
    id_of = question_ids(benchmark)
    for label in labels:
        key = id_of(label)
        if key is not None and (changed := revision.changes.get(key)):
            yield OutdatedLabel(label, changed, revision.questions[key].text)


def under_new_text(found: Iterable[OutdatedLabel]) -> Iterator[Label]:
    """A copy of each label of a reworded question, under the new text; its id stays the same if copied again."""
    for one in found:
        if "question" in one.changed:
            new = uuid.uuid5(uuid.NAMESPACE_OID, f"{one.label.id} {one.question}").hex
            yield replace(one.label, id=new, question=one.question)
