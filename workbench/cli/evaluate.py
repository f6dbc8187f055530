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
from workbench.errors import one_of
from workbench.evaluate import judge as judging
from workbench.evaluate.audit import undetermined
from workbench.evaluate.ex import efficiency, suite_verdicts
from workbench.evaluate.judge import Metric
from workbench.evaluate.stats import differences, holm, too_few
from workbench.llm.cache import Cache
from workbench.sql.executor import Executor


def _by_name(
    _: click.Context, __: click.Parameter, items: tuple[str, ...]
) -> dict[str, str]:
    files: dict[str, str] = {}
    for item in items:
        name, _equals, file = item.partition("=")
        if not file or name in files:
            raise click.BadParameter(f"{item!r}: give NAME=FILE, each name once")
        files[name] = file
    return files


def _metrics(
    _: click.Context, __: click.Parameter, paths: tuple[str, ...]
) -> dict[str, Metric]:
    if paths:
        sys.path.insert(0, "")  # a module of one's own lies in the working directory
    metrics = {}
    for path in paths:
        module, _colon, name = path.partition(":")
        try:
            metrics[name] = getattr(import_module(module), name)
        except (ImportError, AttributeError, ValueError) as error:
            raise click.BadParameter(
                f"{path!r}: give MODULE:FUNCTION ({error})"
            ) from error
    return judging.named(metrics)


# The columns of a comparison, and the names under which they are printed.
_PRINTED = {
    "system": "generator",
    "difference": "change",
    "low": "low",
    "high": "high",
    "clustered low": "clustered_low",
    "clustered high": "clustered_high",
    "won": "won",
    "lost": "lost",
    "p_value": "p",
    "p_holm": "p_holm",
}
_against = click.option(
    "--against",
    default="",
    metavar="NAME",
    help="Compare all with this one.  [default: the best]",
)
_golds = click.option(
    "--gold",
    "golds",
    multiple=True,
    metavar="NAME=FILE",
    callback=_by_name,
    help="Judge also by revised gold queries, such as BIRD's dev_20251106.",
)
_by = click.option(
    "--by",
    multiple=True,
    type=click.Choice(["difficulty", "db_id", "feature", "determined"]),
    help="Add a table by this column: feature is a part of the gold query; "
    "determined is whether the data decides the answer.",
)
_own_metrics = click.option(
    "--metric",
    "metrics",
    multiple=True,
    metavar="MODULE:FUNCTION",
    callback=_metrics,
    help="Add a number of your own, from the gold execution and the predicted one.",
)
_rounds = click.option(
    "--efficiency",
    "rounds",
    type=click.IntRange(1),
    metavar="RUNS",
    help="Add VES and R-VES: the best of five repeats, in each of which a right answer "
    "and gold are timed so often (BIRD: 100).",
)
_variants = click.option(
    "--suite",
    type=options.FOLDER,
    help="Add test-suite accuracy: this folder has DB/*.sqlite, the variants of each database.",
)
_saved = click.option(
    "--save", type=options.FILE, help="Write every verdict to a .jsonl or .csv."
)


@click.command()
@click.argument("benchmark")
@options.root
@options.limit
@options.predictions
@_against
@_golds
@_by
@_own_metrics
@_rounds
@_variants
@_saved
def evaluate(
    benchmark: str,
    root: Path | None,
    limit: int | None,
    files: tuple[str, ...],
    against: str,
    golds: dict[str, str],
    by: tuple[str, ...],
    metrics: dict[str, Metric],
    rounds: int | None,
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
    if against:
        one_of(predictions["generator"].unique().tolist(), **{"--against": against})
    names = list(metrics)
    with Cache() as store, Executor(store) as executor:
        verdicts = judging.judge(opened, predictions, executor, metrics)
        judged = _without_damaged(opened, verdicts)
        if suite:
            verdicts["suite"] = _suite(judged, verdicts, suite, executor)
        summary = judging.summarise(verdicts, metrics=names)
        if rounds:
            summary = _with_efficiency(summary, judged, verdicts, executor, rounds)
        _show(_heading(judged), summary)
        _compare(verdicts, list(summary["generator"]), against)
        for column in by:
            _show_slices(column, verdicts, judged, names, executor)
        for name, other in revised.items():
            _show_under_golds(name, other, predictions, metrics, executor)
    _show_failed_golds(verdicts)
    if save:
        _save(verdicts, save)
    is_damaged = judged.questions != opened.questions
    sys.exit(int(is_damaged))


def _heading(judged: Benchmark) -> str:
    fingerprint = judged.fingerprint()[:22]
    return f"{judged.name}: {len(judged.questions)} questions ({fingerprint})\n"


def _suite(
    judged: Benchmark, verdicts: pd.DataFrame, folder: Path, executor: Executor
) -> list[bool]:
    queries = verdicts["sql"].fillna("")
    pairs = list(zip(verdicts["question_id"], queries, strict=True))
    return suite_verdicts(judged, pairs, folder, executor)


def _without_damaged(opened: Benchmark, verdicts: pd.DataFrame) -> Benchmark:
    """The benchmark without the questions on damaged databases, which have no verdict."""
    ids = set(verdicts["question_id"])
    return opened.of([question for question in opened.questions if question.id in ids])


def _with_efficiency(
    summary: pd.DataFrame,
    judged: Benchmark,
    verdicts: pd.DataFrame,
    executor: Executor,
    rounds: int,
) -> pd.DataFrame:
    """The summary with VES and R-VES of each generator, in percent."""
    right = verdicts.assign(correct=verdicts["ex_bird"] > 0)
    scores = efficiency(judged, right, executor, "time", rounds)
    means = scores.groupby("generator")[["ves", "r_ves"]].mean()
    return summary.join(100 * means, on="generator")


def _show_failed_golds(verdicts: pd.DataFrame) -> None:
    failed = verdicts[verdicts["gold_error"] != ""].set_index("question_id")
    for key, error in failed["gold_error"].to_dict().items():
        print(f"\nthe gold query of question {key} failed: {error}")


def _show(title: str, table: pd.DataFrame) -> None:
    print(title, table.to_string(index=False, float_format="%.2f"), sep="\n")


def _show_under_golds(
    name: str,
    revised: Benchmark,
    predictions: pd.DataFrame,
    metrics: dict[str, Metric],
    executor: Executor,
) -> None:
    verdicts = judging.judge(revised, predictions, executor, metrics)
    table = judging.summarise(verdicts, metrics=list(metrics))
    _show(f"\nunder the golds {name}", table)


def _show_slices(
    column: str,
    verdicts: pd.DataFrame,
    judged: Benchmark,
    metrics: list[str],
    executor: Executor,
) -> None:
    if column == "feature":
        verdicts = judging.by_feature(verdicts, judged)
    if column == "determined":
        findings = undetermined(judged, executor).drop_duplicates("question_id")
        finding_of = findings.set_index("question_id")["finding"]
        labels = verdicts["question_id"].map(finding_of).fillna("determined")
        verdicts = verdicts.assign(determined=labels)
    _show(f"\nby {column}", judging.summarise(verdicts, column, metrics))


def _compare(verdicts: pd.DataFrame, generators: list[str], against: str) -> None:
    """Print how every generator differs from one, by default the first, which is the best.

    Of two, the questions are listed that only one has right.
    """
    if len(generators) < 2:
        return
    against = against or generators[0]
    # A metric of one's own may be called as a column is here.
    answers = verdicts[["generator", "question_id", "db_id", "ex_bird"]]
    answers = answers.rename(columns={"generator": "system", "ex_bird": "correct"})
    first = answers.drop_duplicates(["system", "question_id"])
    table = differences(first, against)
    table = table.sort_values("difference", ascending=False, kind="stable")
    table["p_holm"] = holm(table["p_value"].tolist())
    title = (
        f"\nagainst {against}, EX (BIRD) of the first answers, intervals over questions"
    )
    if "clustered low" not in table:
        title += f"; {too_few(first['db_id'].nunique())}"
    print(title)
    columns = [name for name in _PRINTED if name in table]
    small = dict.fromkeys(("p", "p_holm"), "{:.3g}".format)
    printed = table[columns].rename(columns=_PRINTED)
    print(printed.to_string(index=False, float_format="%+.2f", formatters=small))
    if len(generators) == 2:
        print()
        _show_won(first, str(table["system"].iloc[0]), against)
        _show_won(first, against, str(table["system"].iloc[0]))


def _show_won(first: pd.DataFrame, winner: str, loser: str) -> None:
    right = first[first["correct"] > 0]
    of_winner = right.loc[right["system"] == winner, "question_id"]
    of_loser = right.loc[right["system"] == loser, "question_id"]
    won = of_winner[~of_winner.isin(of_loser)]
    print(f"only {winner} is right: {' '.join(won) or 'never'}")


def _save(verdicts: pd.DataFrame, path: Path) -> None:
    if path.suffix == ".csv":
        verdicts.map(plain).to_csv(path, index=False)
    else:
        verdicts.to_json(path, orient="records", lines=True)
