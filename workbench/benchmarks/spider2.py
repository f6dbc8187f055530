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
    """How a question is judged.

    The columns that count, of all its files or of each one, and whether order does not.
    """

    key: Filled = Field(alias="instance_id")
    columns: list[int | list[int]] = Field(alias="condition_cols")
    ignore_order: bool


def read_spider2(root: Path) -> tuple[Path, tuple[Question, ...], dict[str, Gold]]:
    """Return the folder of databases, the questions on SQLite, and their golds by id."""
    file = next(
        (p for p in (root, root / "spider2-lite") if (p / "spider2-lite.jsonl").is_file()), root
    )
    gold, documents = _folder(file, _GOLD), _folder(file, _DOCUMENTS)
    rules = {rule.key: rule for rule in read_items(gold / "spider2lite_eval.jsonl", _Rule)}
    questions: list[Question] = []
    golds: dict[str, Gold] = {}
    for item in read_items(file / "spider2-lite.jsonl", _Item):
        if not item.key.startswith("local"):
            continue
        if item.key not in rules:
            raise BadInputError(f"{gold}/spider2lite_eval.jsonl: it has no {item.key}")
        hint = read_text(documents / item.document).strip() if item.document else ""
        questions.append(Question(item.key, item.db_id, item.text, hint))
        query = gold / "sql" / f"{item.key}.sql"
        sql = read_text(query).strip() if query.is_file() else ""
        golds[item.key] = Gold(item.key, sql, results=tuple(_results(gold, rules[item.key])))
    return _folder(file, _DATABASES), tuple(questions), golds


def _folder(root: Path, places: tuple[str, ...]) -> Path:
    for place in places:
        if (root / place).is_dir():
            return root / place
    raise BadInputError(f"spider2-lite: none of {', '.join(places)} is a folder in {root}")


def _results(gold: Path, rule: _Rule) -> Iterator[StoredResult]:
    """The stored results of a question.

    ID.csv, or ID_a.csv, ID_b.csv and so on, where several are right.
    """
    folder = gold / "exec_result"
    files = sorted(folder.glob(f"{rule.key}.csv")) or sorted(folder.glob(f"{rule.key}_*.csv"))
    if not files:
        raise BadInputError(f"{folder}: it has no {rule.key}.csv and no {rule.key}_a.csv")
    for number, file in enumerate(files):
        columns = rule.columns[number : number + 1] if _of_each_file(rule) else rule.columns
        counted: list[int] = []
        for column in columns:
            counted += column if isinstance(column, list) else [column]
        yield StoredResult(read_text(file), tuple(counted), ordered=not rule.ignore_order)


def _of_each_file(rule: _Rule) -> bool:
    return any(isinstance(column, list) for column in rule.columns)
