"""Revised golds: another benchmark, made of the questions, hints and gold queries of a file."""

import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from pydantic import AliasChoices, BaseModel, Field

from workbench.benchmarks.benchmark import SQL, TEXT, Benchmark, named
from workbench.benchmarks.files import Filled, Queries, one_line, read_items
from workbench.errors import BadInputError
from workbench.types import Gold, Question

_ORIGINAL = AliasChoices("SpiderQuestion", "original_question", "question")


class _Revised(BaseModel, strict=True):
    """An item of a file of revised golds; a field that it leaves out is not revised."""

    question_id: int | str | None = None
    db_id: str | None = None
    original: str = Field("", validation_alias=_ORIGINAL)
    text: Filled | None = Field(None, validation_alias=TEXT)
    sql: Queries | None = Field(None, validation_alias=SQL)
    evidence: str | None = None

    def question(self, before: Question) -> Question:
        hint = before.evidence
        if "evidence" in self.model_fields_set:
            hint = self.evidence or ""
        return replace(before, text=self.text or before.text, evidence=hint)

    def gold(self, before: Gold) -> Gold:
        if self.sql is None:
            return before
        sql, *others = self.sql
        return replace(before, sql=sql, others=tuple(others), results=())


def with_golds(benchmark: Benchmark, file: str | Path) -> Benchmark:
    """Return a benchmark of the questions that a JSON list names, with the list's golds.

    Its gold queries, texts and hints replace the benchmark's.

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
    items = read_items(path, _Revised)
    asked = {question.id: question for question in benchmark.questions}
    questions: dict[str, Question] = {}
    golds: dict[str, Gold] = {}
    for number, key in _keys(path, items, benchmark).items():
        item = items[number]
        before = asked.get(key)
        if before is None:
            continue
        is_elsewhere = item.db_id not in {None, before.db_id}
        if key in questions or is_elsewhere:
            where = f"{path}, item {number}: question {key} on database {item.db_id!r}"
            raise BadInputError(
                f"{where}: {benchmark.name} asks it once, on {before.db_id!r}"
            )
        questions[key] = item.question(before)
        golds[key] = item.gold(benchmark.golds[key])
    if not questions:
        raise BadInputError(
            f"{path}: none of its {len(items)} items is about a question of {benchmark.name};"
            " give its question_id, or db_id and (original_)question"
        )
    revised = [questions[key] for key in asked if key in questions]
    name = f"{benchmark.name} ({path.stem})"
    return replace(benchmark.of(revised), name=name, golds=golds)


def _keys(
    path: Path, items: Sequence[_Revised], benchmark: Benchmark
) -> dict[int, str]:
    """The id of each item's question by the item's number, "" if there is no such question.

    Either all items state an id, or items are found by database and text.
    """
    if all(item.question_id is not None for item in items):
        return {n: _stated(path, item, benchmark) for n, item in enumerate(items)}
    databases = {question.db_id for question in benchmark.whole}
    numbers = [n for n, item in enumerate(items) if item.db_id in databases]
    matched = _matched(path, [items[number] for number in numbers], benchmark)
    return dict(zip(numbers, matched, strict=True))


def _matched(path: Path, items: Sequence[_Revised], benchmark: Benchmark) -> list[str]:
    """The ids of items without one, by database and text.

    Spider-Syn corrects some of the original questions. If all databases and most texts are equal at
    the same place, item n is about question n.
    """
    texts = [one_line(item.original) for item in items]
    databases = [question.db_id for question in benchmark.whole]
    if [item.db_id for item in items] == databases:
        pairs = zip(texts, benchmark.whole, strict=True)
        same = sum(text == one_line(question.text) for text, question in pairs)
        if same > len(items) / 2:
            return [question.id for question in benchmark.whole]

    by_text = benchmark.by_text()
    keys = []
    for item, text in zip(items, texts, strict=True):
        questions = by_text.get((item.db_id or "", text))
        keys.append(questions.pop(0).id if questions else "")
    unknown = keys.count("")
    if unknown:
        warnings.warn(
            f"{path}: {unknown:,} of {len(items):,} items on its databases have no question's text"
            f" of {benchmark.name} and are left out",
            stacklevel=4,  # the line that calls `with_golds`
        )
    return keys


def _stated(path: Path, item: _Revised, benchmark: Benchmark) -> str:
    """The id that an item states; of questions that share it, the one with the item's text."""
    stated = str(item.question_id)
    sharing = benchmark.sharing(stated)
    if not sharing:
        return stated
    for question in sharing:
        if one_line(question.text) == one_line(item.original):
            return question.id
    raise BadInputError(
        f"{path}: question_id {stated} is {named(sharing)}; give the question, too"
    )
