"""A benchmark in a JSON file of one's own, with its databases in a folder that is named apart.

The items have the fields of BIRD (`question_id`, `db_id`, `question`, `evidence`, `SQL`, `difficulty`) or of Spider
(`db_id`, `question`, `query`), whose sense of EX the benchmark then has. So the published variants of Spider are read as
they are: Spider-Syn, Spider-DK, Spider-Realistic, and the files of examples of KaggleDBQA. Without a `question_id` the position of
an item is its id.
"""

from pathlib import Path

from workbench.benchmarks.benchmark import Benchmark, Sense, read_items, text_field
from workbench.errors import BadInputError
from workbench.types import Gold, Question


def load_file(path: Path, databases: Path | None) -> Benchmark:
    """The questions of a file; `databases` holds DB/DB.sqlite for each of them, itself or in a folder in it."""
    if databases is None:
        raise BadInputError(f"{path}: give --root, the folder with DB/DB.sqlite for each database")
    questions: list[Question] = []
    golds: dict[str, Gold] = {}
    items = read_items(path)
    for number, item in enumerate(items):
        db_id = text_field(item, number, path, "db_id")
        key = str(item.get("question_id", number))
        if key in golds:
            raise BadInputError(f"{path.name}, item {number}: question_id {key} is there twice")
        asked = "SpiderSynQuestion" if "SpiderSynQuestion" in item else "question"
        query = next((name for name in ("SQL", "query", "sql") if name in item), "SQL")
        hint = text_field(item, number, path, "evidence", "")
        questions.append(Question(key, db_id, text_field(item, number, path, asked), hint))
        difficulty = text_field(item, number, path, "difficulty", "")
        golds[key] = Gold(key, text_field(item, number, path, query), difficulty)
    folders = [databases, *sorted(folder for folder in databases.glob("*") if folder.is_dir())]
    there = [folder for folder in folders if next(folder.glob("*/*.sqlite"), None)]
    if not there:
        raise BadInputError(f"{databases}: no DB/DB.sqlite in this folder or in a folder in it")
    sense: Sense = "spider" if all("query" in item for item in items) else "bird"
    return Benchmark(path.stem, sense, there[0], tuple(questions), golds)
