"""`workbench evaluate`: judge prediction files."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from workbench.benchmarks.benchmark import Benchmark
from workbench.benchmarks.named import open_benchmark
from workbench.benchmarks.predictions import prediction_files
from workbench.benchmarks.revisions import read_revisions
from workbench.cli import options
from workbench.errors import BadInputError
from workbench.llm.cache import Cache
from workbench.spreadsheet import plain
from workbench.sql.executor import Executor
from workbench.sql.sandbox import Sandbox
from workbench.types import Limits

if TYPE_CHECKING:
    from workbench.evaluate.files import Selector
    from workbench.evaluate.judge import ClusterJudge


@click.command()
@click.argument("benchmark")
@options.root
@options.limit
@options.predictions
@options.more_predictions
@options.golds
@click.option(
    "--by",
    type=click.Choice(["difficulty", "database", "feature"]),
    multiple=True,
    help="Add a table by this column; feature is a part of the gold query, such as a join.",
)
@click.option("--compare", is_flag=True, help="Compare each file with the first one, paired.")
@click.option(
    "--pool",
    is_flag=True,
    help="Take the files as one pool of candidates: add the majority's choice, and the bounds of selection.",
)
@click.option(
    "--efficiency",
    type=click.IntRange(1),
    metavar="RUNS",
    help="Add VES and R-VES, each query timed this often.",
)
@click.option(
    "--keep-distinct",
    is_flag=True,
    help="Keep DISTINCT in EX (Spider), which drops it from both queries by default.",
)
@click.option("--seconds", default=30.0, show_default=True, help="Time limit of one query.")
@click.option(
    "--verdicts",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write every verdict, to a file that ends in .jsonl or .csv.",
)
@options.cluster
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object; numbers in percent.")
def evaluate(
    benchmark: str,
    root: Path | None,
    limit: int | None,
    first: tuple[str, ...],
    more: tuple[str, ...],
    golds: dict[str, Path],
    pool: bool,
    seconds: float,
    verdicts: Path | None,
    cluster: str,
    as_json: bool,
    **settings: Any,
) -> None:
    """Judge files of predictions.

    BENCHMARK is a name that `workbench data` lists, or a JSON file of your own, with --root the folder of its
    databases.

    EX is given in two senses: BIRD's compares sets of rows; Spider's compares rows with duplicates, under any
    order of the columns, in order where the gold query has an ORDER BY, and drops DISTINCT from both queries.
    EM is Spider's exact set match, Soft-F1 that of BIRD's mini-dev.
    """
    from workbench.evaluate.files import evaluate_files  # noqa: PLC0415  pandas: half a second

    try:
        limits = Limits(seconds=seconds)
    except ValueError as error:
        raise BadInputError(f"--seconds: {error}") from error
    files = prediction_files([*first, *more])
    if verdicts:
        options.check_writable(verdicts, *files, *golds.values(), Path(benchmark))
    whole = open_benchmark(benchmark, root)
    judged = whole.limited(limit)
    with (
        Cache() as store,
        _cluster(cluster, store) as (cluster_judge, sandbox),
        Executor(store, sandbox=sandbox) as executor,
        options.progress_bar("queries") as progress,
    ):
        report = evaluate_files(
            judged,
            files,
            executor,
            pool=pool,
            selectors=_majority(judged, executor, store) if pool else {},
            limits=limits,
            progress=progress,
            revisions=read_revisions(golds, whole),
            cluster_judge=cluster_judge,
            **settings,
        )
    print(json.dumps(report.as_json(), indent=1) if as_json else report.as_text())
    if verdicts:
        if verdicts.suffix.lower() == ".csv":
            report.verdicts.map(plain).to_csv(verdicts, index=False)
        else:
            report.verdicts.to_json(verdicts, orient="records", lines=True)


@contextmanager
def _cluster(cluster: str, store: Cache) -> "Iterator[tuple[ClusterJudge | None, Sandbox | None]]":
    """The cluster's judge, and the sandbox that runs all other queries on it; None and None without a cluster."""
    if not cluster:
        yield None, None
        return
    from workbench.cluster.jobs.judging import judge_on  # noqa: PLC0415
    from workbench.cluster.jobs.sql import ClusterSandbox  # noqa: PLC0415
    from workbench.cluster.opening import open_cluster  # noqa: PLC0415  Dask, an extra

    with open_cluster(cluster) as opened:
        yield partial(judge_on, opened), ClusterSandbox(opened, store)


def _majority(judged: Benchmark, executor: Executor, store: Cache) -> "dict[str, Selector]":
    """The majority's choice from a pool of the benchmark's questions."""
    # These imports take a third of a second, and only --pool needs them.
    from workbench.lab import Lab  # noqa: PLC0415
    from workbench.llm.client import Client  # noqa: PLC0415
    from workbench.select.majority import Majority  # noqa: PLC0415
    from workbench.systems.replay import picks  # noqa: PLC0415

    lab = Lab(Client(store), executor, judged.database)
    # On Spider an empty result may be right, so it may win.
    majority = Majority(suspect="failed" if judged.sense == "spider" else "nulls")
    name = "picked by majority"
    return {name: partial(picks, name, majority, lab, judged.questions)}
