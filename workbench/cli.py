"""`workbench`: the command line. It reads arguments, calls the package, and prints."""

import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import click
from tqdm import tqdm

from workbench.benchmarks.benchmark import Benchmark
from workbench.benchmarks.bird import load_bird
from workbench.benchmarks.bundled import load_bundled
from workbench.benchmarks.spider import load_spider
from workbench.db.execute import Executor
from workbench.errors import BadInputError, WorkbenchError
from workbench.llm.commands import cache, preview
from workbench.store import Store
from workbench.types import Limits

BENCHMARKS = (
    "bird-dev",
    "bird-mini-dev",
    "bird-train",
    "spider-dev",
    "spider-train",
    "bundled-dev",
)
_ALIASES = {
    "bird": "bird-dev",
    "mini-dev": "bird-mini-dev",
    "spider": "spider-dev",
    "bundled": "bundled-dev",
}


@click.group(invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.pass_context
def cli(context: click.Context) -> None:
    """A workbench for text-to-SQL research."""
    if context.invoked_subcommand is None:
        print(context.get_help())
        raise click.UsageError("give one of these commands")


@cli.command()
@click.argument("benchmark")
@click.option(
    "--root", type=click.Path(path_type=Path), help="Folder where the benchmark was unpacked."
)
@click.option(
    "--predictions",
    "first",
    multiple=True,
    required=True,
    metavar="FILE...",
    help="Prediction files, or folders of them.",
)
@click.argument("more", nargs=-1, metavar="[FILE]...")
@click.option(
    "--by",
    type=click.Choice(["difficulty", "database", "feature"]),
    multiple=True,
    help="Slices to add; feature is what the gold query is made of.",
)
@click.option("--compare", is_flag=True, help="Compare each file with the first one, paired.")
@click.option("--pool", is_flag=True, help="Take the files as one pool of candidates: its bounds.")
@click.option(
    "--efficiency",
    type=click.IntRange(1),
    metavar="RUNS",
    help="Add VES and R-VES over so many runs.",
)
@click.option("--seconds", default=30.0, show_default=True, help="Limit of one query.")
@click.option(
    "--verdicts",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write a JSON line for every verdict.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object; numbers in percent.")
def evaluate(
    benchmark: str,
    root: Path | None,
    first: tuple[str, ...],
    more: tuple[str, ...],
    by: tuple[str, ...],
    compare: bool,
    pool: bool,
    efficiency: int | None,
    seconds: float,
    verdicts: Path | None,
    as_json: bool,
) -> None:
    """Judge files of predictions.

    BENCHMARK is bird-dev, bird-mini-dev, bird-train, spider-dev, spider-train or bundled-dev.

    EX comes in two senses, BIRD's (equal sets of rows) and Spider's (equal bags under some order of the
    columns, in order where gold has one). EM is Spider's exact set match, Soft-F1 that of BIRD's mini-dev.
    """
    from workbench.evaluate.files import evaluate_files  # noqa: PLC0415  pandas: half a second

    try:
        limits = Limits(seconds=seconds)
    except ValueError as error:
        raise BadInputError(f"--seconds: {error}") from error
    if verdicts:
        _check_writable(verdicts)
    with Store() as store, Executor(store) as executor, _bar("queries") as progress:
        report = evaluate_files(
            open_benchmark(benchmark, root),
            _files([*first, *more]),
            executor,
            by=by,
            compare=compare,
            pool=pool,
            efficiency=efficiency,
            limits=limits,
            progress=progress,
        )
    print(json.dumps(report.as_json(), indent=1) if as_json else report.as_text())
    if verdicts:
        report.verdicts.to_json(verdicts, orient="records", lines=True)


@cli.command()
def reproduce() -> None:
    """Run the default experiment. The notebooks do not exist yet: the bundled predictions are judged."""
    print(
        "There are no notebooks yet. Until there are, this judges two sets of hand-written predictions\n"
        "on the bundled questions; they are no system's output and say nothing about any model.\n"
    )
    folder = Path(__file__).parents[1] / "experiments" / "ground_floor"
    evaluate_command = cli.commands["evaluate"]
    evaluate_command.main(
        ["bundled-dev", "--by", "difficulty", "--compare", "--predictions", str(folder)],
        standalone_mode=False,
    )


cli.add_command(cache)
cli.add_command(preview)


def open_benchmark(name: str, root: Path | None) -> Benchmark:
    """The benchmark of that name, its files in `root`."""
    full = _ALIASES.get(name, name)
    if full not in BENCHMARKS:
        raise BadInputError(f"no benchmark {name!r}; there are {', '.join(BENCHMARKS)}")
    if full.startswith("bundled"):
        return load_bundled(full.removeprefix("bundled-"))
    if root is None:
        raise BadInputError(f"{name} is not bundled: give --root, the folder where it was unpacked")
    return (load_bird if full.startswith("bird") else load_spider)(root, full)


def _files(names: Sequence[str]) -> list[Path]:
    """The files named, and for a folder the prediction files in it."""
    found: list[Path] = []
    for path in map(Path, names):
        if path.is_dir():
            inside = sorted(
                p for p in path.iterdir() if p.suffix in {".json", ".jsonl", ".sql", ".txt", ".csv"}
            )
            if not inside:
                raise BadInputError(
                    f"{path}: no .json, .jsonl, .sql, .txt or .csv file in this folder"
                )
            found += inside
        else:
            found.append(path)
    return found


def _check_writable(path: Path) -> None:
    """Say before the work, not after it, that its result cannot be kept. What the file holds stays."""
    try:
        path.open("a").close()
    except OSError as error:
        raise BadInputError(f"{path}: {error.strerror}") from error


@contextmanager
def _bar(unit: str) -> Iterator[Callable[[int, int], None]]:
    """A progress bar on standard error once work takes a second, where somebody is there to see it."""
    with tqdm(unit=f" {unit}", delay=1, disable=None, leave=False) as bar:

        def show(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        yield show


def main() -> None:
    """Run the command line; whatever the caller got wrong is one line and exit code 2."""
    try:
        cli.main(prog_name="workbench", standalone_mode=False)
        sys.stdout.flush()
    except click.ClickException as error:
        sys.exit(_complain(error.format_message()))
    except WorkbenchError as error:
        sys.exit(_complain(str(error)))
    except BrokenPipeError:  # the reader, say `head`, has seen enough; click ends with 1 then, too
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except (KeyboardInterrupt, click.Abort):
        print(
            "workbench: stopped; what was finished is kept, run it again to go on", file=sys.stderr
        )
        sys.exit(130)


def _complain(text: str) -> int:
    print(f"workbench: {text}".replace("\n", " "), file=sys.stderr)
    return 2
