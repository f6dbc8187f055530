"""Spider2-lite's questions on SQLite, from Spider2's repository or a folder of its files.

A gold answer is one or several CSV files, of which some columns count; `evaluate.stored` has the
rule. The document that a question names as external knowledge is its hint. Of most questions no
gold query is published.
"""

from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel, Field

from workbench.benchmarks.files import Filled, read_items, read_text
from workbench.errors import BadInputError
from workbench.types import Gold, Question, StoredResult

_QUESTIONS = "spider2-lite.jsonl"
_RULES = "spider2lite_eval.jsonl"
# The places in the repository, and in a folder that has only what is needed.
_GOLD = ("evaluation_suite/gold", "gold")
_DOCUMENTS = ("resource/documents", "documents")
_DATABASES = ("resource/databases/spider2-localdb", "resource/databases", "databases")


class _Item(BaseModel):
    """A question; those on SQLite have an id that begins with `local`."""

    key: Filled = Field(alias="instance_id")
    db_id: Filled = Field(alias="db")
    text: Filled = Field(alias="question")
    document: str | None = Field(None, alias="external_knowledge")


class _Rule(BaseModel):
    """How a question is judged."""

    key: Filled = Field(alias="instance_id")
    # Those that count, from 0, all where there are none: of every file, or a list for each.
    columns: tuple[int, ...] | list[tuple[int, ...]] = Field(
        alias="condition_cols", union_mode="left_to_right"
    )
    ignore_order: bool

    def of_file(self, number: int) -> tuple[int, ...]:
        """Return the columns that count of a question's file."""
        if isinstance(self.columns, tuple):
            return self.columns
        return self.columns[number] if number < len(self.columns) else ()


def read_spider2(root: Path) -> tuple[Path, tuple[Question, ...], dict[str, Gold]]:
    """Return the folder of databases, the questions on SQLite, and their golds by id."""
    folder = root / "spider2-lite"
    if not (folder / _QUESTIONS).is_file():
        folder = root
    gold = _folder(folder, _GOLD)
    documents = _folder(folder, _DOCUMENTS)
    rules = {rule.key: rule for rule in read_items(gold / _RULES, _Rule)}
    questions: list[Question] = []
    golds: dict[str, Gold] = {}
    for item in read_items(folder / _QUESTIONS, _Item):
        if not item.key.startswith("local"):
            continue
        if item.key not in rules:
            raise BadInputError(f"{gold / _RULES}: it has no {item.key}")
        hint = _text(documents / item.document) if item.document else ""
        query = gold / "sql" / f"{item.key}.sql"
        sql = _text(query) if query.is_file() else ""
        results = _results(gold / "exec_result", rules[item.key])
        question = Question(
            id=item.key,
            db_id=item.db_id,
            text=item.text,
            evidence=hint,
        )
        questions.append(question)
        golds[item.key] = Gold(item.key, sql, results=tuple(results))
    return _folder(folder, _DATABASES), tuple(questions), golds


def _text(path: Path) -> str:
    return read_text(path).strip()


def _folder(root: Path, places: tuple[str, ...]) -> Path:
    for place in places:
        if (root / place).is_dir():
            return root / place
    raise BadInputError(
        f"spider2-lite: none of {', '.join(places)} is a folder in {root}"
    )


def _results(folder: Path, rule: _Rule) -> Iterator[StoredResult]:
    """The stored results of a question.

    ID.csv, or ID_a.csv, ID_b.csv and so on, where several are right.
    """
    files = [folder / f"{rule.key}.csv"]
    if not files[0].is_file():
        files = sorted(folder.glob(f"{rule.key}_*.csv"))
    if not files:
        raise BadInputError(
            f"{folder}: it has no {rule.key}.csv and no {rule.key}_a.csv"
        )
    for number, file in enumerate(files):
        yield StoredResult(
            csv=read_text(file),
            columns=rule.of_file(number),
            ordered=not rule.ignore_order,
        )
