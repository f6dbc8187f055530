"""The benchmark that comes with the workbench: eight databases written for this project, in BIRD's layout.

Training uses the questions of the split train, evaluation those of dev.
"""

import json
from dataclasses import dataclass
from pathlib import Path

from workbench.benchmarks.benchmark import Benchmark
from workbench.benchmarks.load import open_benchmark

DATA = Path(__file__).with_name("bundled_data")


def load_bundled(split: str = "dev") -> Benchmark:
    return open_benchmark(f"bundled-{split}")


def bundled_splits() -> dict[str, str]:
    """The split of each bundled database, by name."""
    files = sorted(DATA.glob("*/*_databases/*/*.sqlite"))
    return {file.stem: file.relative_to(DATA).parts[0] for file in files}


@dataclass(frozen=True, slots=True)
class Flaw:
    """The deliberate fault of a question, in the ways of real benchmarks, and the right query if there can be one."""

    question_id: str
    kind: str
    note: str
    sql: str = ""


def load_flaws(split: str = "dev") -> tuple[Flaw, ...]:
    items = json.loads((DATA / split / "flaws.json").read_text(encoding="utf-8"))
    return tuple(Flaw(one["question_id"], one["flaw"], one["note"], one["SQL"]) for one in items)
