"""BIRD (dev, mini-dev, train) as unpacked from its public archives.

The dev and mini-dev files name a question_id and a difficulty for each item; train has neither, so an
item's place in the file is its id there.
"""

from pathlib import Path

from workbench.benchmarks.benchmark import Benchmark, locate, read_items, text_field
from workbench.errors import BadInputError
from workbench.types import Gold, Question

_FILES = {
    "bird-dev": ("dev.json", "dev_databases"),
    "bird-mini-dev": ("mini_dev_sqlite.json", "dev_databases"),
    "bird-train": ("train.json", "train_databases"),
}


def load_bird(root: Path, split: str = "bird-dev", name: str = "") -> Benchmark:
    """The questions of a split, with hints and difficulties where the release has them."""
    if split not in _FILES:
        raise BadInputError(f"BIRD has no split {split!r}; there are {', '.join(_FILES)}")
    path, databases = locate(root, *_FILES[split], f"BIRD's {split}")
    questions, golds = [], {}
    for number, item in enumerate(read_items(path)):
        text = text_field(item, number, path, "question")
        evidence = text_field(item, number, path, "evidence", "")
        key = item.get("question_id", number)
        if type(key) not in {int, str}:
            raise BadInputError(
                f"{path.name}, item {number}: question_id is {key!r}, neither number nor text"
            )
        key = str(key)
        if key in golds:
            raise BadInputError(f"{path.name}, item {number}: question_id {key} a second time")
        questions.append(Question(key, text_field(item, number, path, "db_id"), text, evidence))
        golds[key] = Gold(
            key,
            text_field(item, number, path, "SQL"),
            text_field(item, number, path, "difficulty", ""),
        )
    return Benchmark(name or split, "bird", databases, tuple(questions), golds)
