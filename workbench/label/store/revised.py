"""Labels and a revision of their benchmark: which of them need another look, and under which question they are found.

A label is about the text of its question, so it would be lost where a revision says the question anew.
"""

import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from workbench.benchmarks.benchmark import Benchmark
from workbench.benchmarks.revisions import Revision
from workbench.label.store.label import Label


@dataclass(frozen=True, slots=True)
class Relook:
    """A label whose question, hint or gold query changed, and what did."""

    label: Label
    changed: tuple[str, ...]
    question: str
    """The question as the revision has it."""


def relooks(labels: Iterable[Label], benchmark: Benchmark, revision: Revision) -> Iterator[Relook]:
    """The labels about questions of the benchmark that the revision changed."""
    ids = {(question.db_id, question.text): question.id for question in benchmark.questions}
    for label in labels:
        key = ids.get((label.db_id, label.question), "")
        if changed := revision.changes.get(key):
            yield Relook(label, changed, revision.questions[key].text)


def carried(found: Iterable[Relook]) -> Iterator[Label]:
    """Each label whose question is said anew, once more under the new text; twice carried, it is the same label."""
    for one in found:
        if "question" in one.changed:
            new = uuid.uuid5(uuid.NAMESPACE_OID, f"{one.label.id} {one.question}").hex
            yield replace(one.label, id=new, question=one.question)
