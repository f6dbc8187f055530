"""BIRD (dev, mini-dev, train) as unpacked from its public archives.

Each item of the dev and mini-dev files has a question_id and a difficulty. The items of train have neither, so their
positions in the file are their ids.
"""

from pathlib import Path

from workbench.benchmarks.benchmark import Benchmark, locate
from workbench.benchmarks.items import read_items, read_questions


def load_bird(
    root: Path, name: str = "bird-dev", file: str = "dev.json", databases: str = "dev_databases"
) -> Benchmark:
    """The questions of a file in BIRD's layout, with hints and difficulties where the release has them."""
    path, folder = locate(root, file, databases, f"BIRD's {name}")
    return Benchmark(name, "bird", folder, *read_questions(read_items(path), path))
