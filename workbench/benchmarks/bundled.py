"""The benchmark that comes with the workbench: eight databases written for this project, in BIRD's layout.

Training uses the questions of the split train, evaluation those of dev.
"""

import json
from dataclasses import dataclass
from pathlib import Path

from workbench.benchmarks.benchmark import Benchmark

DATA = Path(__file__).with_name("bundled_data")


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


def known_flaws(benchmark: Benchmark) -> tuple[Flaw, ...]:
    """The flaws of a bundled benchmark's questions; none of another benchmark's are known."""
    file = DATA / benchmark.name.removeprefix("bundled-") / "flaws.json"
    if not benchmark.name.startswith("bundled-") or not file.is_file():
        return ()
    items = json.loads(file.read_text(encoding="utf-8"))
    return tuple(Flaw(one["question_id"], one["flaw"], one["note"], one["SQL"]) for one in items)
