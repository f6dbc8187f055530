"""`workbench evaluate`: judge prediction files."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from workbench.benchmarks.benchmark import with_golds
from workbench.benchmarks.load import open_benchmark
from workbench.cli import options
from workbench.llm.cache import Cache
from workbench.spreadsheet import plain
from workbench.sql.executor import Executor

if TYPE_CHECKING:
    import pandas as pd

_HEADINGS = {"generator": "file", "ex_bird": "EX (BIRD)", "interval": "95% interval", "ex_spider": "EX (Spider)",
             "em": "EM (Spider)", "soft_f1": "Soft-F1", "ves": "VES", "r_ves": "R-VES", "suite": "test suite",
             "gold_failed": "gold failed", "p_value": "p"}  # fmt: skip


@click.command()
@click.argument("benchmark")
@options.root
@options.limit
@options.predictions
@options.golds
@click.option("--by", type=click.Choice(["difficulty", "db_id", "feature"]), multiple=True,
              help="Add a table by this column; feature is a part of the gold query, such as a join.")  # fmt: skip
@click.option("--efficiency", type=click.IntRange(1), metavar="RUNS", help="Add VES and R-VES: the best of five repeats,"
              " in each of which a right answer and gold are timed so often (BIRD: 100).")  # fmt: skip
@click.option("--suite", type=click.Path(exists=True, file_okay=False, path_type=Path),
              help="Add test-suite accuracy: this folder has DB/*.sqlite, the variants of each database.")  # fmt: skip
@click.option(
    "--save",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write every verdict to a .jsonl or .csv.",
)
def evaluate(
    benchmark: str, root: Path | None, limit: int | None, files: tuple[str, ...],
    golds: dict[str, Path], by: tuple[str, ...], efficiency: int | None, suite: Path | None,
    save: Path | None,
) -> None:  # fmt: skip
    """Judge files of predictions, and compare each with the first one.

    BENCHMARK is a name that `workbench data` lists, or a JSON file of your own, with --root the folder of its
    databases; each FILE has predictions, or is a folder of such files. EX is given in two senses: BIRD's compares sets of rows; Spider's compares rows with duplicates, under
    any order of the columns, in order where the gold query has an ORDER BY, and drops DISTINCT from both queries. EM is
    Spider's exact set match, Soft-F1 that of BIRD's mini-dev. Numbers are in percent, intervals clustered by database.
    """
    import pandas as pd  # noqa: PLC0415  half a second

    from workbench.benchmarks.predictions import read_predictions  # noqa: PLC0415
    from workbench.evaluate import judge as judging  # noqa: PLC0415
    from workbench.evaluate.efficiency import efficiency as timed  # noqa: PLC0415
    from workbench.evaluate.ex import suite_verdicts  # noqa: PLC0415

    if save:
        options.check_writable(save, *map(Path, files), *golds.values(), Path(benchmark))
    judged = open_benchmark(benchmark, root).limited(limit)
    revised = {name: with_golds(judged, file) for name, file in golds.items()}
    given = read_predictions(judged, *files)
    with Cache() as store, Executor(store) as executor:
        found = judging.judge(judged, given, executor)
        if suite:
            pairs = list(zip(found["question_id"], found["sql"].fillna(""), strict=True))
            found["suite"] = suite_verdicts(judged, pairs, suite, executor)
        summary = judging.summarise(found)
        if efficiency:
            scored = timed(
                judged, found.assign(correct=found["ex_bird"] > 0), executor, "time", efficiency
            )
            means = 100 * scored.groupby("generator")[["ves", "r_ves"]].mean()
            summary = summary.join(means, on="generator")
        under = judging.under_golds(found, revised, executor) if revised else pd.DataFrame()
    print(
        f"{judged.name}: {len(judged.questions)} questions ({judged.fingerprint()[:22]})\n\n{_table(summary)}"
    )
    failed = found[found["gold_error"] != ""].drop_duplicates("question_id")
    for key, error in zip(failed["question_id"], failed["gold_error"], strict=True):
        print(f"\nthe gold query of question {key} failed: {error}")
    for name in by:
        frame = judging.by_feature(found, judged) if name == "feature" else found
        print(f"\nby {name}\n{_table(judging.summarise(frame, name))}")
    if revised:
        print(f"\nunder other golds\n{_table(under)}")
    against, *others = summary["generator"]
    for name in others:
        one = judging.compare_generators(found, name, against)
        low, high = 100 * one.low, 100 * one.high
        print(f"\n{name} against {against}, EX (BIRD) of the first answers: {100 * one.difference:+.2f} [{low:+.2f}, "
              f"{high:+.2f}], p = {one.p_value:.3g}; {one.note}\n  right only here: {' '.join(one.won) or 'none'}\n"
              f"  right only there: {' '.join(one.lost) or 'none'}")  # fmt: skip
    if save and save.suffix == ".csv":
        found.map(plain).to_csv(save, index=False)
    elif save:
        found.to_json(save, orient="records", lines=True)


def _table(frame: "pd.DataFrame") -> str:
    """A frame for the terminal: intervals in one column, counts that are all 0 left out."""
    shown = frame.copy()
    if "ex_bird_low" in shown:
        ends = zip(shown.pop("ex_bird_low"), shown.pop("ex_bird_high"), strict=True)
        place = list(shown.columns).index("ex_bird") + 1
        shown.insert(place, "interval", [f"{low:.1f} to {high:.1f}" for low, high in ends])
    for name in {"won", "lost"} & {*shown}:
        shown[name] = shown[name].map(len)
    counts = {"failed", "missing", "gold_failed"} & {*shown}
    shown = shown.drop(columns=[name for name in counts if not shown[name].any()])
    return shown.rename(columns=_HEADINGS).to_string(index=False, float_format="%.2f")
