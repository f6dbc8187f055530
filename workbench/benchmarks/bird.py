"""BIRD (dev, mini-dev, train) as unpacked from its public archives.

The dev and mini-dev files name a question_id and a difficulty for each item; train has neither, so an
item's position in the file is its id there.
"""

from pathlib import Path

from workbench.benchmarks.benchmark import Benchmark, locate, read_items, text_field
from workbench.errors import BadInputError
from workbench.types import Gold, Question


def load_bird(
    root: Path, name: str = "bird-dev", file: str = "dev.json", databases: str = "dev_databases"
) -> Benchmark:
    """The questions of a file in BIRD's layout, with hints and difficulties where the release has them."""
    path, folder = locate(root, file, databases, f"BIRD's {name}")
    questions, golds = [], {}
    for number, item in enumerate(read_items(path)):
        text = text_field(item, number, path, "question")
        evidence = text_field(item, number, path, "evidence", "")
        key = item.get("question_id", number)
        if type(key) not in {int, str}:
            raise BadInputError(
                f"{path.name}, item {number}: question_id is {key!r}, and should be a number or text"
            )
        key = str(key)
        if key in golds:
            raise BadInputError(f"{path.name}, item {number}: question_id {key} is there twice")
        questions.append(Question(key, text_field(item, number, path, "db_id"), text, evidence))
        golds[key] = Gold(
            key,
            text_field(item, number, path, "SQL"),
            text_field(item, number, path, "difficulty", ""),
        )
    return Benchmark(name, "bird", folder, tuple(questions), golds)
