"""`workbench data` lists and checks benchmarks, and `init` copies the notebooks."""

import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from workbench.benchmarks.benchmark import BENCHMARKS, benchmark_name, open_benchmark
from workbench.benchmarks.check import incomplete, missing, unreadable_parts
from workbench.cli import options
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
            unpacked = f"unpack {release.url}, and give --root"
            place = unpacked if release.url else "comes with the workbench"
            print(
                f"{name:14} {release.questions:6,} questions, EX as {release.sense}; {place}"
            )


@data.command("check")
@click.argument("benchmark")
@options.root
def check(benchmark: str, root: Path | None) -> None:
    """Run every gold query of a benchmark, or say which files a folder lacks.

    BENCHMARK is a name, a JSON file of your own with --root for its databases, or the folder
    where benchmarks were unpacked (./spider, if it is called as a benchmark is). Gold queries that
    the data does not decide are listed, with their evidence. The exit code is 1 where something is
    missing, cannot be read or does not run.
    """
    folder = Path(benchmark)
    # ./spider is one
    if folder.is_dir() and root is None and not benchmark_name(benchmark):
        sys.exit(_check_folder(folder))
    with Cache() as store, Executor(store) as executor:
        opened = open_benchmark(benchmark, root)
        faults = [*incomplete(opened), *unreadable_parts(opened)]
        audit = undetermined(opened, executor)
    databases = {question.db_id for question in opened.questions}
    print(f"{len(opened.questions)} questions, {len(databases)} databases")
    for fault in faults:
        print(fault)
    for row in audit.to_dict("records"):
        print(_finding_line(row))
    lacks_databases = not all(opened.has(question.db_id) for question in opened.every)
    is_faulty = faults or lacks_databases or "fails" in set(audit["finding"])
    sys.exit(1 if is_faulty else 0)


def _finding_line(row: Mapping[Any, Any]) -> str:
    line = f"question {row['question_id']}: {FINDINGS[row['finding']]}"
    if row["evidence"]:
        line += f": {row['evidence']}"
    return line


def _check_folder(folder: Path) -> int:
    """Print what the folder has of each public benchmark; return 1 if none is complete."""
    exit_code = 1
    for name, release in BENCHMARKS.items():
        if release.url:
            lacks = missing(name, folder)
            print(f"{name:14} {'; '.join(lacks) or 'is complete'}")
            if not lacks:
                exit_code = 0
    return exit_code


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
