"""`workbench data` lists and checks benchmarks, and `init` copies the notebooks."""

import shutil
import sys
from pathlib import Path

import click

from workbench.benchmarks.benchmark import BENCHMARKS, benchmark_name, open_benchmark
from workbench.benchmarks.check import incomplete, missing, unreadable_parts
from workbench.cli import options
from workbench.errors import BadInputError
from workbench.evaluate.audit import FINDINGS, undetermined
from workbench.llm.cache import Cache
from workbench.sql.executor import Executor
from workbench.study.experiment import shipped


@click.group(invoke_without_command=True)
@click.pass_context
def data(context: click.Context) -> None:
    """List the benchmarks, or check one."""
    if not context.invoked_subcommand:
        for name, release in BENCHMARKS.items():
            place = "comes with the workbench"
            if release.url:
                place = f"unpack {release.url}, and give --root"
            print(
                f"{name:14} {release.questions:6,} questions, EX as {release.sense}; {place}"
            )


@data.command("check")
@click.argument("benchmark")
@options.root
def check(benchmark: str, root: Path | None) -> None:
    """Run every gold query of a benchmark, or say which files a folder lacks.

    BENCHMARK is a name, a JSON file of your own with --root for its databases, or the folder
    where benchmarks were unpacked. Gold queries that the data does not decide are listed, with
    their evidence. The exit code is 1 where something is missing, cannot be read or does not
    run.
    """
    name = benchmark_name(benchmark)
    release = BENCHMARKS.get(name)
    needs_root = not name or (release and release.url and root is None)
    if needs_root and Path(benchmark).is_dir():
        if root is not None:
            raise BadInputError(
                f"{benchmark} is a folder: leave out --root, or give a benchmark's name"
            )
        sys.exit(_check_folder(Path(benchmark)))
    with Cache() as store, Executor(store) as executor:
        opened = open_benchmark(benchmark, root)
        faults = [*incomplete(opened), *unreadable_parts(opened)]
        audit = undetermined(opened, executor)
    databases = {question.db_id for question in opened.questions}
    print(
        f"{len(opened.questions)} questions, {len(databases)} databases",
        *faults,
        sep="\n",
    )
    for key, finding, evidence in zip(
        audit["question_id"], audit["finding"], audit["evidence"], strict=True
    ):
        print(
            f"question {key}: {FINDINGS[finding]}"
            + (f": {evidence}" if evidence else "")
        )
    is_whole = all(opened.has(question.db_id) for question in opened.every)
    sys.exit(bool(faults) or "fails" in set(audit["finding"]) or not is_whole)


def _check_folder(folder: Path) -> bool:
    """Print what the folder has of each public benchmark; whether none of them is complete."""
    public = [name for name, release in BENCHMARKS.items() if release.url]
    lacks = {name: missing(name, folder) for name in public}
    for name, lines in lacks.items():
        print(f"{name:14} {'; '.join(lines) or 'is complete'}")
    return all(lacks.values())


@click.command()
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
def init(folder: Path) -> None:
    """Copy the notebooks and the experiments that come with the workbench into FOLDER.

    There, `workbench reproduce embedded` runs them, and `jupyter lab` opens them. Nothing is
    overwritten.
    """
    for name in ("notebooks", "experiments"):
        shutil.copytree(
            shipped(name), folder / name, ignore=shutil.ignore_patterns("__*__*", ".*")
        )
    print(
        f"{folder}: notebooks and experiments; in it, run `workbench reproduce embedded`"
    )
