"""Revisions of a benchmark: files that correct its gold queries, questions and hints, or rephrase its questions.

BIRD's dev_20251106 and the releases of mini-dev have the ids of the questions that they revise. Arcwise-Plat has
them, too, and its `original_SQL`, `original_question` and `original_evidence` show what it changed. Spider-Syn has no
ids; its items have the original question beside the new one. The items of a user's own file may have ids, or the
`db_id` and the text of the question. A field that an item leaves out is not revised. `also_right` lists further
queries whose results are right, too.
"""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from workbench.benchmarks.benchmark import Benchmark
from workbench.benchmarks.items import SQL, TEXT, filled_field, first_name, read_items, text_field
from workbench.errors import BadInputError, MisalignedError
from workbench.sql.reading import normalise_text
from workbench.types import Gold, Question

_ORIGINAL = ("SpiderQuestion", "original_question", "question")
ALSO = "also right"
PARTS = ("question", "hint", "SQL", ALSO)


@dataclass(frozen=True, slots=True)
class Revision:
    """The questions of a benchmark as a file has them. All mappings are by question id."""

    name: str
    questions: Mapping[str, Question]
    """The benchmark's questions that the file has, too."""
    golds: Mapping[str, Gold]
    changes: Mapping[str, tuple[str, ...]]
    """Which of PARTS changed. Layout, and letter case outside quotes, are no change of a query."""
    others: int = 0
    """The file's items about no question of the benchmark."""
    also: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Further queries whose results are right, too: a question may have several readings."""

    def among(self, benchmark: Benchmark) -> "Revision":
        """The revision without the questions that `benchmark`, a part of the revised benchmark, lacks."""
        ids = {question.id for question in benchmark.questions}
        kept: dict[str, Any] = {
            name: {key: one for key, one in getattr(self, name).items() if key in ids}
            for name in ("questions", "golds", "changes", "also")
        }
        return replace(self, **kept)

    def of(self, benchmark: Benchmark) -> Benchmark:
        """The benchmark with the questions and gold queries of this revision."""
        asked = tuple(self.questions[q.id] for q in benchmark.questions if q.id in self.questions)
        every = benchmark.every or benchmark.questions
        return replace(
            benchmark,
            name=f"{benchmark.name} ({self.name})",
            questions=asked,
            golds={**benchmark.golds, **self.golds},
            every=tuple(self.questions.get(question.id, question) for question in every),
        )


def read_revisions(files: Mapping[str, Path], benchmark: Benchmark) -> tuple[Revision, ...]:
    """The revisions in files, given by name."""
    return tuple(read_revision(name, path, benchmark) for name, path in files.items())


def read_revision(name: str, path: Path, benchmark: Benchmark) -> Revision:
    """The revision in a JSON list. BadInputError if none of its items is about a question of the benchmark."""
    items = read_items(path)
    own = {question.id: question for question in benchmark.questions}
    questions: dict[str, Question] = {}
    golds: dict[str, Gold] = {}
    changes: dict[str, tuple[str, ...]] = {}
    also: dict[str, tuple[str, ...]] = {}
    for number, (item, key) in enumerate(zip(items, _keys(items, path, benchmark), strict=True)):
        if key not in own:
            continue
        if key in questions:
            raise BadInputError(f"{path.name}, item {number}: question {key} occurs twice")
        before, gold = own[key], benchmark.golds[key]
        if item.get("db_id", before.db_id) != before.db_id:
            raise MisalignedError(
                f"{path.name}, item {number}: database {item['db_id']!r}, but question {key} of"
                f" {benchmark.name} has {before.db_id!r}; give a revision of {benchmark.name}"
            )
        hint = "" if "evidence" in item else before.evidence  # null means no hint
        after = replace(
            before,
            text=filled_field(item, number, path, first_name(TEXT, item), before.text),
            evidence=text_field(item, number, path, "evidence", hint),
        )
        sql = filled_field(item, number, path, first_name(SQL, item), gold.sql)
        also[key] = _also_right(item, number, path)
        changed = (
            after.text.split() != before.text.split(),
            after.evidence.split() != before.evidence.split(),
            normalise_text(sql) != normalise_text(gold.sql),
            bool(also[key]),
        )
        questions[key], golds[key] = after, replace(gold, sql=sql)
        changes[key] = tuple(part for part, is_new in zip(PARTS, changed, strict=True) if is_new)
    if not questions:
        raise BadInputError(
            f"{path}: none of its {len(items)} items is about a question of {benchmark.name}; an item needs that"
            " question's question_id, or its db_id and its text as question or, if that changed, as original_question"
        )
    return Revision(name, questions, golds, changes, len(items) - len(questions), also)


def _also_right(item: Mapping[str, Any], number: int, path: Path) -> tuple[str, ...]:
    found = item.get("also_right") or []
    if not isinstance(found, list) or not all(isinstance(sql, str) and sql for sql in found):
        raise BadInputError(
            f"{path.name}, item {number}: also_right is {found!r:.60}: give a list of queries"
        )
    return tuple(found)


def _keys(items: list[Any], path: Path, benchmark: Benchmark) -> list[str]:
    """The id of each item's question, "" if the benchmark has no such question."""
    for number, item in enumerate(items):
        if not isinstance(item, dict):
            raise BadInputError(f"{path.name}, item {number}: not an object but {item!r:.60}")
    if all("question_id" in item for item in items):
        return [str(item["question_id"]) for item in items]
    every = benchmark.every or benchmark.questions
    stated = [
        _about(
            text_field(item, number, path, "db_id"),
            text_field(item, number, path, first_name(_ORIGINAL, item)),
        )
        for number, item in enumerate(items)
    ]
    own = [_about(question.db_id, question.text) for question in every]
    # Spider-Syn mends the original question in places: where the databases are the same in the same order, and most of
    # the texts, items and questions stand in the same order.
    same = sum(a == b for a, b in zip(stated, own, strict=False))
    if [db_id for db_id, _ in stated] == [db_id for db_id, _ in own] and 2 * same > len(own):
        return [question.id for question in every]
    # A few questions are asked twice about one database: the second item is then about the second of them.
    waiting: dict[tuple[str, str], deque[str]] = {}
    for about, question in zip(own, every, strict=True):
        waiting.setdefault(about, deque()).append(question.id)
    return [waiting[about].popleft() if waiting.get(about) else "" for about in stated]


def _about(db_id: str, text: str) -> tuple[str, str]:
    return db_id, " ".join(text.split())
