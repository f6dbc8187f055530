"""`workbench`: the command line. It reads arguments, calls the package, and prints."""

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from pathlib import Path

import click
from tqdm import tqdm

from workbench.benchmarks.check import check
from workbench.benchmarks.named import BENCHMARKS, open_benchmark
from workbench.benchmarks.predictions import prediction_files
from workbench.db.execute import Executor
from workbench.errors import BadInputError, WorkbenchError, naming
from workbench.lab import Lab
from workbench.llm.client import Client
from workbench.llm.commands import cache
from workbench.retrieve.commands import index
from workbench.select.majority import Majority
from workbench.select.trained import Trained
from workbench.store import Store
from workbench.systems.commands import ask
from workbench.systems.replay import picks
from workbench.systems.system import Select
from workbench.train.commands import train
from workbench.types import Limits

_root = click.option(
    "--root", type=click.Path(path_type=Path), help="Folder where the benchmark was unpacked."
)


class _Group(click.Group):
    """Commands of our upper floors are imported when they are asked for: pandas and Papermill take seconds."""

    _LATER: Mapping[str, tuple[str, str]] = {
        "reproduce": ("workbench.experiment.commands", "Run an experiment's notebooks."),
        "lab": ("workbench.jupyter", "Open the notebooks in JupyterLab."),
        "label": ("workbench.label.commands", "Look at labels of errors, and move them."),
        "preview": ("workbench.experiment.commands", "Say what an experiment would cost."),
        "trace": ("workbench.experiment.commands", "Show the SQL and calls behind a number."),
    }

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted([*super().list_commands(ctx), *self._LATER])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self._LATER:
            return super().get_command(ctx, cmd_name)
        command: click.Command = getattr(import_module(self._LATER[cmd_name][0]), cmd_name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list in the help text, for which nothing is imported either."""
        rows = []
        for name in self.list_commands(ctx):
            found = None if name in self._LATER else super().get_command(ctx, name)
            rows.append((name, found.get_short_help_str(80) if found else self._LATER[name][1]))
        with formatter.section("Commands"):
            formatter.write_dl(rows)


@click.group(
    cls=_Group,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.pass_context
def cli(context: click.Context) -> None:
    """A workbench for text-to-SQL research."""
    if context.invoked_subcommand is None:
        print(context.get_help())
        raise click.UsageError("give one of these commands")


@cli.command()
@click.argument("benchmark")
@_root
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
    "--selector",
    type=click.Path(dir_okay=False, path_type=Path),
    help="With --pool: judge what the majority and this selector (see `train selector`) pick from it.",
)
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
    selector: Path | None,
    efficiency: int | None,
    seconds: float,
    verdicts: Path | None,
    as_json: bool,
) -> None:
    """Judge files of predictions.

    BENCHMARK is bird-dev, bird-mini-dev, bird-train, spider-dev, spider-train, bundled-dev or
    bundled-train.

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
    if selector and not pool:
        raise BadInputError("--selector picks from a pool of candidates: add --pool")
    steps: dict[str, Select] = {"picked by majority": Majority()} if selector else {}
    if selector:
        steps[f"picked by {selector.name}"] = Trained.load(selector)
    judged = open_benchmark(benchmark, root)
    with Store() as store, Executor(store) as executor, _bar("queries") as progress:
        lab = Lab(Client(store), executor, judged.database)
        report = evaluate_files(
            judged,
            prediction_files([*first, *more]),
            executor,
            by=by,
            compare=compare,
            pool=pool,
            efficiency=efficiency,
            selectors={
                name: partial(picks, name, step, lab, judged.questions)
                for name, step in steps.items()
            },
            limits=limits,
            progress=progress,
        )
    print(json.dumps(report.as_json(), indent=1) if as_json else report.as_text())
    if verdicts:
        report.verdicts.to_json(verdicts, orient="records", lines=True)


@cli.command()
@click.argument("benchmark", required=False)
@_root
def data(benchmark: str | None, root: Path | None) -> None:
    """Check a benchmark and say what it is made of.

    Every gold query is run, every description read. Without BENCHMARK, list the names and where to get what is not bundled.
    """
    if benchmark is None:
        print("\n".join(f"{name:14} {_source(name)}" for name in BENCHMARKS))
        return
    with Store() as store, Executor(store) as executor:
        report = check(open_benchmark(benchmark, root), executor)
    questions = sum(count for _, count in report.difficulties)
    print(f"{questions} questions, {report.hints} with a hint")
    for title, counts in (("difficulty", report.difficulties), ("gold with", report.features)):
        shown = ", ".join(f"{name or 'none'} {count / questions:.0%}" for name, count in counts)
        print(f"{title}: {shown}")
    for name, tables, columns, rows in report.databases:
        print(f"{name}: {tables} tables, {columns} columns, {rows:,} rows")
    for complaint in report.complaints:
        print(complaint)
    sys.exit(bool(report.complaints))


def _source(name: str) -> str:
    if name.startswith("bundled"):
        return "comes with the workbench"
    place = "bird-bench.github.io" if name.startswith("bird") else "yale-lily.github.io/spider"
    return f"unpack it from https://{place} and name its folder with --root"


cli.add_command(cache)
cli.add_command(train)
cli.add_command(index)
cli.add_command(ask)


def _check_writable(path: Path) -> None:
    """Say before the work, not after it, that its result cannot be kept. What the file holds stays."""
    with naming(path):
        path.open("a").close()


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
