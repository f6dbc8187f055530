"""Benchmarks by the names that the command line, experiments and notebooks use."""

from pathlib import Path

from workbench.benchmarks.benchmark import Benchmark
from workbench.benchmarks.bird import load_bird
from workbench.benchmarks.bundled import load_bundled
from workbench.benchmarks.spider import load_spider
from workbench.errors import BadInputError

BENCHMARKS = (
    "bird-dev",
    "bird-mini-dev",
    "bird-train",
    "spider-dev",
    "spider-train",
    "bundled-dev",
    "bundled-train",
)
_ALIASES = {
    "bird": "bird-dev",
    "mini-dev": "bird-mini-dev",
    "spider": "spider-dev",
    "bundled": "bundled-dev",
}


def open_benchmark(name: str, root: Path | None = None) -> Benchmark:
    """The benchmark of that name, its files in `root`; what is bundled needs none."""
    full = _ALIASES.get(name, name)
    if full not in BENCHMARKS:
        raise BadInputError(f"no benchmark {name!r}; there are {', '.join(BENCHMARKS)}")
    if full.startswith("bundled"):
        return load_bundled(full.removeprefix("bundled-"))
    if root is None:
        raise BadInputError(f"{name} is not bundled: give --root, the folder where it was unpacked")
    return (load_bird if full.startswith("bird") else load_spider)(root, full)
