"""BIRD (dev, mini-dev, train) as unpacked from its public archives.

The dev and mini-dev files name a question_id and a difficulty for each item; train has neither, so an
item's place in the file is its id there.
"""

from pathlib import Path

from workbench.benchmarks.benchmark import Benchmark, find, read_json, text_field
from workbench.errors import BadInputError
from workbench.types import Gold, Question

_FILES = {
    "bird-dev": (("dev.json",), ("dev_databases",)),
    "bird-mini-dev": (("mini_dev_sqlite.json",), ("dev_databases",)),
    "bird-train": (("train.json",), ("train_databases",)),
}


def load_bird(root: Path, split: str = "bird-dev", name: str = "") -> Benchmark:
    """The questions of a split, with hints and difficulties where the release has them."""
    names, folders = _FILES[split]
    path = find(root, names, f"BIRD's {split}")
    databases = find(path.parent, folders, f"the databases of {split}")
    items = read_json(path)
    if not isinstance(items, list) or not items:
        raise BadInputError(f"{path}: expected a list of questions")
    questions, golds = [], {}
    for number, item in enumerate(items):
        text = text_field(item, number, path, "question")
        key = str(item.get("question_id", number))
        if key in golds:
            raise BadInputError(f"{path.name}, item {number}: question_id {key} a second time")
        db_id = text_field(item, number, path, "db_id")
        questions.append(Question(key, db_id, text, item.get("evidence") or ""))
        golds[key] = Gold(key, text_field(item, number, path, "SQL"), item.get("difficulty") or "")
    return Benchmark(name or split, "bird", databases, tuple(questions), golds)
