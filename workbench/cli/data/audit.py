"""`workbench audit`: find gold queries that are suspect, without a model."""

import json
from pathlib import Path

import click

from workbench.benchmarks.named import open_benchmark
from workbench.benchmarks.revisions import read_revisions
from workbench.cli import options
from workbench.db.execute import Executor
from workbench.store import Store
from workbench.types import Limits


@click.command()
@click.argument("benchmark", metavar="BENCHMARK|FILE")
@options.root
@options.limit
@options.golds
@click.option(
    "--csv",
    "table",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write a row for each finding.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object; shares in percent.")
def audit(
    benchmark: str,
    root: Path | None,
    limit: int | None,
    golds: dict[str, Path],
    table: Path | None,
    as_json: bool,
) -> None:
    """Find gold queries that are suspect, each with the rows that show it.

    BENCHMARK is a name that `workbench data` lists. FILE is a JSON list whose items have db_id, question and SQL;
    --root is then a folder with DB/DB.sqlite for each database. With --gold, the findings are compared with the gold
    queries that a revision corrects.
    """
    from workbench.evaluate.gold.audit.audit import audit as find  # noqa: PLC0415  sqlglot
    from workbench.evaluate.gold.audit.report import AuditReport  # noqa: PLC0415  pandas

    if table:
        options.check_writable(table, *golds.values(), Path(benchmark))
    whole = open_benchmark(benchmark, root)
    judged = whole.limited(limit)
    revisions = [one.among(judged) for one in read_revisions(golds, whole)]
    with Store() as store, Executor(store) as executor, options.progress_bar("queries") as progress:
        report = AuditReport(judged, find(judged, executor, Limits(), progress), revisions)
    print(json.dumps(report.as_json(), indent=1, default=str) if as_json else report.as_text())
    if table:
        report.write_csv(table)
