"""`workbench evaluate` judges files of predictions."""

import sys
from importlib import import_module
from pathlib import Path

import click
import pandas as pd

from workbench.benchmarks.benchmark import Benchmark, open_benchmark
from workbench.benchmarks.golds import with_golds
from workbench.benchmarks.predictions import read_predictions
from workbench.canonical import plain
from workbench.cli import options
from workbench.errors import BadInputError
from workbench.evaluate import judge as judging
from workbench.evaluate.audit import undetermined
from workbench.evaluate.ex import efficiency as timed
from workbench.evaluate.ex import suite_verdicts
from workbench.evaluate.judge import Metric
from workbench.llm.cache import Cache
from workbench.sql.executor import Executor


def _by_name(_: click.Context, __: click.Parameter, given: tuple[str, ...]) -> dict[str, str]:
    files = dict(item.partition("=")[::2] for item in given)
    if not all(files.values()) or len(files) < len(given):
        raise click.BadParameter(f"{' '.join(given)!r}: give NAME=FILE, each name once")
    return files


def _metrics(_: click.Context, __: click.Parameter, given: tuple[str, ...]) -> dict[str, Metric]:
    sys.path.insert(0, "")  # a module of one's own lies in the working directory
    metrics = {}
    for path in given:
        module, _colon, name = path.partition(":")
        try:
            metrics[name] = getattr(import_module(module), name)
        except (ImportError, AttributeError, ValueError) as error:
            raise click.BadParameter(f"{path!r}: give MODULE:FUNCTION ({error})") from error
    return judging.named(metrics)


@click.command()
@click.argument("benchmark")
@options.root
@options.limit
@options.predictions
@click.option(
    "--against", default="", metavar="NAME", help="Compare all with this one.  [default: the best]"
)
@click.option(
    "--gold",
    "golds",
    multiple=True,
    metavar="NAME=FILE",
    callback=_by_name,
    help="Judge also by revised gold queries, such as BIRD's dev_20251106.",
)
@click.option(
    "--by",
    multiple=True,
    type=click.Choice(["difficulty", "db_id", "feature", "determined"]),
    help="Add a table by this column: feature is a part of the gold query; "
    "determined is whether the data decides the answer.",
)
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    metavar="MODULE:FUNCTION",
    callback=_metrics,
    help="Add a number of your own, from the gold execution and the predicted one.",
)
@click.option(
    "--efficiency",
    "runs",
    type=click.IntRange(1),
    metavar="RUNS",
    help="Add VES and R-VES: the best of five repeats, in each of which a right answer "
    "and gold are timed so often (BIRD: 100).",
)
@click.option(
    "--suite",
    type=options.FOLDER,
    help="Add test-suite accuracy: this folder has DB/*.sqlite, the variants of each database.",
)
@click.option("--save", type=options.FILE, help="Write every verdict to a .jsonl or .csv.")
def evaluate(
    benchmark: str,
    root: Path | None,
    limit: int | None,
    files: tuple[str, ...],
    against: str,
    golds: dict[str, str],
    by: tuple[str, ...],
    metrics: dict[str, Metric],
    runs: int | None,
    suite: Path | None,
    save: Path | None,
) -> None:
    """Judge files of predictions, and compare them, the best first.

    BENCHMARK is a name that `workbench data` lists, or a JSON file of your own, with --root the
    folder of its databases. FILE has predictions, or is a folder of such files.

    Numbers are in percent, and intervals are clustered by database. ex_bird compares sets of
    rows. ex_spider compares rows with their duplicates, under any order of the columns; it drops
    DISTINCT from both queries, and minds the order of rows where gold has an ORDER BY. em is
    Spider's exact set match, soft_f1 that of BIRD's mini-dev. Comparisons are of EX (BIRD);
    p_holm is adjusted for all of them. The exit code is 1 where a database is damaged.
    """
    if save:
        options.check_writable(save, *files, *golds.values(), benchmark)
    opened = open_benchmark(benchmark, root).limited(limit)
    revised = {name: with_golds(opened, file) for name, file in golds.items()}
    predictions = read_predictions(opened, *files)
    generators = list(predictions["generator"].unique())
    if against and against not in generators:
        raise BadInputError(f"--against {against}: there are {', '.join(generators)}")
    with Cache() as store, Executor(store) as executor:
        verdicts = judging.judge(opened, predictions, executor, metrics)
        judged = opened.of([q for q in opened.questions if q.id in set(verdicts["question_id"])])
        if suite:
            pairs = list(zip(verdicts["question_id"], verdicts["sql"].fillna(""), strict=True))
            verdicts["suite"] = suite_verdicts(judged, pairs, suite, executor)
        summary = judging.summarise(verdicts, metrics=list(metrics))
        if runs:
            summary = summary.join(_efficiency(judged, verdicts, executor, runs), on="generator")
        title = f"{judged.name}: {len(judged.questions)} questions ({judged.fingerprint()[:22]})"
        _show(f"{title}\n", summary)
        _compare(verdicts, against or summary["generator"][0], list(summary["generator"]))
        for name in by:
            sliced = _sliced(verdicts, judged, name, executor)
            _show(f"\nby {name}", judging.summarise(sliced, name, list(metrics)))
        for name, other in revised.items():
            again = judging.judge(other, predictions, executor, metrics)
            _show(f"\nunder the golds {name}", judging.summarise(again, metrics=list(metrics)))
    _show_failed_golds(verdicts)
    if save:
        _save(verdicts, save)
    sys.exit(len(judged.questions) < len(opened.questions))


def _efficiency(
    judged: Benchmark, verdicts: pd.DataFrame, executor: Executor, runs: int
) -> pd.DataFrame:
    """VES and R-VES of each generator, in percent."""
    right = verdicts.assign(correct=verdicts["ex_bird"] > 0)
    scored = timed(judged, right, executor, "time", runs).groupby("generator")
    return 100 * scored[["ves", "r_ves"]].mean()


def _show_failed_golds(verdicts: pd.DataFrame) -> None:
    failed = verdicts[verdicts["gold_error"] != ""].drop_duplicates("question_id")
    for key, error in zip(failed["question_id"], failed["gold_error"], strict=True):
        print(f"\nthe gold query of question {key} failed: {error}")


def _show(title: str, table: pd.DataFrame) -> None:
    print(title, table.to_string(index=False, float_format="%.2f"), sep="\n")


def _sliced(
    verdicts: pd.DataFrame, judged: Benchmark, name: str, executor: Executor
) -> pd.DataFrame:
    """The verdicts with the column of that name."""
    if name == "feature":
        return judging.by_feature(verdicts, judged)
    if name == "determined":
        findings = undetermined(judged, executor).drop_duplicates("question_id")
        found = verdicts["question_id"].map(findings.set_index("question_id")["finding"])
        return verdicts.assign(determined=found.fillna("determined"))
    return verdicts


def _compare(verdicts: pd.DataFrame, against: str, generators: list[str]) -> None:
    """Print how every generator differs from one; of two, also the questions on which they do."""
    others = [name for name in generators if name != against]
    if not others:
        return
    pairs = {name: judging.compare_generators(verdicts, name, against) for name in others}
    first = pairs[others[0]]
    noted = "" if first.clustered else f"; {first.note}"
    print(f"\nagainst {against}, EX (BIRD) of the first answers, intervals over questions{noted}")
    small = dict.fromkeys(("p", "p_holm"), "{:.3g}".format)
    print(judging.compare_all(pairs).to_string(index=False, float_format="%+.2f", formatters=small))
    if len(pairs) == 1:
        print(f"\nonly {others[0]} is right: {' '.join(first.won) or 'never'}")
        print(f"only {against} is right: {' '.join(first.lost) or 'never'}")


def _save(verdicts: pd.DataFrame, path: Path) -> None:
    if path.suffix == ".csv":
        verdicts.map(plain).to_csv(path, index=False)
    else:
        verdicts.to_json(path, orient="records", lines=True)
