"""Revised golds: another benchmark, made of the questions, hints and gold queries of a file."""

import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from pydantic import AliasChoices, BaseModel, Field

from workbench.benchmarks.benchmark import SQL, TEXT, Benchmark
from workbench.benchmarks.files import Filled, read_items
from workbench.errors import BadInputError
from workbench.types import Gold, Question

_ORIGINAL = AliasChoices("SpiderQuestion", "original_question", "question")


class _Revised(BaseModel, strict=True):
    """An item of a file of revised golds; a field that it leaves out is not revised."""

    question_id: int | str | None = None
    db_id: str | None = None
    original: str = Field("", validation_alias=_ORIGINAL)
    text: Filled | None = Field(None, validation_alias=TEXT)
    sql: Filled | list[Filled] | None = Field(None, validation_alias=SQL, min_length=1)
    evidence: str | None = None

    def question(self, before: Question) -> Question:
        hint = before.evidence
        if "evidence" in self.model_fields_set:
            hint = self.evidence or ""
        return replace(before, text=self.text or before.text, evidence=hint)

    def gold(self, before: Gold) -> Gold:
        if self.sql is None:
            return before
        sql, *others = [self.sql] if isinstance(self.sql, str) else self.sql
        return replace(before, sql=sql, others=tuple(others), results=())


def with_golds(benchmark: Benchmark, file: str | Path) -> Benchmark:
    """Return another benchmark.

    The questions that a JSON list names, with the gold queries, texts and hints of the list.

    An item names its question by `question_id`, or by the `db_id` and the original text, as
    Spider-Syn does. Items about other questions are left out; a warning counts those whose database
    the benchmark has. Arcwise-Plat, later releases of BIRD and mini-dev, Spider-Syn and Spider-DK
    are read as they are published.

    >>> import pathlib
    >>> _ = pathlib.Path("mine.json").write_text('[{"question_id": 13, "SQL": "SELECT 1"}]')
    >>> wb.with_golds(wb.open_benchmark("bundled-dev"), "mine.json").golds["13"].sql
    'SELECT 1'
    """
    path = Path(file)
    asked = {question.id: question for question in benchmark.questions}
    questions: dict[str, Question] = {}
    golds: dict[str, Gold] = {}
    items = read_items(path, _Revised)
    for number, (item, key) in enumerate(zip(items, _keys(path, items, benchmark), strict=True)):
        before = asked.get(key)
        if before is None:
            continue
        if key in questions or item.db_id not in {None, before.db_id}:
            where = f"{path}, item {number}: question {key} on database {item.db_id!r}"
            raise BadInputError(f"{where}: {benchmark.name} asks it once, on {before.db_id!r}")
        questions[key] = item.question(before)
        golds[key] = item.gold(benchmark.golds[key])
    if not questions:
        said = f"{path}: none of its {len(items)} items is about a question of {benchmark.name}"
        raise BadInputError(f"{said}; give its question_id, or db_id and (original_)question")
    revised = [questions[key] for key in asked if key in questions]
    return replace(benchmark.of(revised), name=f"{benchmark.name} ({path.stem})", golds=golds)


def _keys(path: Path, items: Sequence[_Revised], benchmark: Benchmark) -> list[str]:
    """The id of each item's question, "" if the benchmark has no such question."""
    if all(item.question_id is not None for item in items):
        return [_key(path, item, benchmark) for item in items]
    every = benchmark.every or benchmark.questions
    databases = {question.db_id for question in every}
    places = [n for n, item in enumerate(items) if item.db_id in databases]
    stated = [(items[n].db_id, " ".join(items[n].original.split())) for n in places]
    asked = [(question.db_id, " ".join(question.text.split())) for question in every]
    # Spider-Syn corrects some of the original questions. If all databases and most texts are equal
    # at the same place, item n of the benchmark's databases is about question n.
    equal = sum(a == b for a, b in zip(stated, asked, strict=False))
    same_databases = [db_id for db_id, _ in stated] == [db_id for db_id, _ in asked]
    if same_databases and 2 * equal > len(asked):
        matched = [question.id for question in every]
    else:
        waiting: dict[tuple[str | None, str], list[str]] = {}
        for about, question in zip(asked, every, strict=True):
            waiting.setdefault(about, []).append(question.id)  # a few questions are asked twice
        matched = [waiting[about].pop(0) if waiting.get(about) else "" for about in stated]
        if unknown := matched.count(""):
            said = f"{unknown:,} of {len(places):,} items on its databases have no question's text"
            warnings.warn(f"{path}: {said} of {benchmark.name} and are left out", stacklevel=4)
    keys = [""] * len(items)
    for place, key in zip(places, matched, strict=True):
        keys[place] = key
    return keys


def _key(path: Path, item: _Revised, benchmark: Benchmark) -> str:
    """The id that an item states; of questions that share it, the one with the item's text."""
    sharing = benchmark.repeated.get(str(item.question_id), ())
    if not sharing:
        return str(item.question_id)
    every = {question.id: question for question in benchmark.every or benchmark.questions}
    for key in sharing:
        if every[key].text.split() == item.original.split():
            return key
    several = " or ".join(f"{key} ({every[key].text})" for key in sharing)
    raise BadInputError(
        f"{path}: question_id {item.question_id} is {several}; give the question, too"
    )
