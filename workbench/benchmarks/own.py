"""A benchmark in a user's own JSON file. The user also names the folder of its databases.

The items have the fields of BIRD (`question_id`, `db_id`, `question`, `evidence`, `SQL`, `difficulty`) or of
Spider (`db_id`, `question`, `query`); the fields decide the benchmark's sense of EX. The published variants of Spider
are read without changes: Spider-Syn, Spider-DK, Spider-Realistic, and the files of examples of KaggleDBQA.
An item without a `question_id` has its position as id.
"""

from pathlib import Path

from workbench.benchmarks.benchmark import Benchmark, Sense
from workbench.benchmarks.items import read_items, read_questions
from workbench.errors import BadInputError


def load_file(path: Path, databases: Path | None) -> Benchmark:
    """The questions of a file; `databases`, or a folder in it, holds DB/DB.sqlite for each database."""
    if databases is None:
        raise BadInputError(f"{path}: give --root, the folder with DB/DB.sqlite for each database")
    items = read_items(path)
    questions, golds = read_questions(items, path)
    folders = [databases, *sorted(folder for folder in databases.glob("*") if folder.is_dir())]
    filled = [folder for folder in folders if next(folder.glob("*/*.sqlite"), None)]
    if not filled:
        raise BadInputError(f"{databases}: no DB/DB.sqlite in this folder or in a folder in it")
    sense: Sense = "spider" if all("query" in item for item in items) else "bird"
    return Benchmark(path.stem, sense, filled[0], questions, golds)
