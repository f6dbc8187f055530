"""`workbench evaluate`: judge prediction files."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from workbench.benchmarks.benchmark import Benchmark, with_golds
from workbench.benchmarks.load import open_benchmark
from workbench.cli import options
from workbench.errors import BadInputError
from workbench.llm.cache import Cache
from workbench.spreadsheet import plain
from workbench.sql.executor import Executor
from workbench.types import Limits

if TYPE_CHECKING:
    import pandas as pd

_HEADINGS = {
    "generator": "file",
    "ex_bird": "EX (BIRD)",
    "interval": "95% interval",
    "ex_spider": "EX (Spider)",
    "em": "EM (Spider)",
    "soft_f1": "Soft-F1",
    "ves": "VES",
    "r_ves": "R-VES",
    "ves_opcodes": "VES, opcodes",
    "r_ves_opcodes": "R-VES, opcodes",
    "suite": "test suite",
    "gold_failed": "gold failed",
    "p_value": "p",
}
_SHOWN = 5  # failed gold queries that are listed; further ones are only counted


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
    help="Add VES and R-VES: the best of five repeats, in each of which a right answer and gold are timed this often."
    " BIRD times them 100 times.",
)
@click.option(
    "--suite",
    type=click.Path(file_okay=False, path_type=Path),
    help="Add test-suite accuracy: right on every DB/*.sqlite in this folder of Spider's test suite.",
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
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object; numbers in percent.")
def evaluate(
    benchmark: str,
    root: Path | None,
    limit: int | None,
    first: tuple[str, ...],
    more: tuple[str, ...],
    golds: dict[str, Path],
    *,
    by: tuple[str, ...],
    compare: bool,
    pool: bool,
    efficiency: int | None,
    suite: Path | None,
    keep_distinct: bool,
    seconds: float,
    verdicts: Path | None,
    as_json: bool,
) -> None:
    """Judge files of predictions.

    BENCHMARK is a name that `workbench data` lists, or a JSON file of your own, with --root the folder of its
    databases.

    EX is given in two senses: BIRD's compares sets of rows; Spider's compares rows with duplicates, under any
    order of the columns, in order where the gold query has an ORDER BY, and drops DISTINCT from both queries.
    EM is Spider's exact set match, Soft-F1 that of BIRD's mini-dev.
    """
    import pandas as pd  # noqa: PLC0415  half a second

    from workbench.benchmarks.predictions import read_predictions  # noqa: PLC0415
    from workbench.evaluate import judge as judging  # noqa: PLC0415
    from workbench.evaluate.ex import suite_verdicts  # noqa: PLC0415

    try:
        limits = Limits(seconds=seconds)
    except ValueError as error:
        raise BadInputError(f"--seconds: {error}") from error
    files = [Path(name) for name in (*first, *more)]
    if verdicts:
        options.check_writable(verdicts, *files, *golds.values(), Path(benchmark))
    whole = open_benchmark(benchmark, root)
    judged = whole.limited(limit)
    revised = {name: with_golds(judged, file) for name, file in golds.items()}
    given = read_predictions(judged, *files)
    tables: dict[str, pd.DataFrame] = {}
    with (
        Cache() as store,
        Executor(store) as executor,
        options.progress_bar("queries") as progress,
    ):
        picked = _majority(judged, given, executor, store) if pool else given.head(0)
        found = judging.judge(
            judged,
            pd.concat([given, picked]),
            executor,
            limits,
            progress,
            keep_distinct=keep_distinct,
        )
        if suite:
            answered = found[found["status"] != "missing"]
            pairs = list(zip(answered["question_id"], answered["sql"], strict=True))
            right = suite_verdicts(
                judged, pairs, suite, executor, limits, keep_distinct=keep_distinct
            )
            found["suite"] = pd.Series(right, answered.index).reindex(found.index).fillna(0) * 1.0
        summary = judging.summarise(found)
        if efficiency:
            summary = summary.join(_efficiency(judged, found, executor, efficiency), on="generator")
        if revised:
            options_ = {"limits": limits, "keep_distinct": keep_distinct}
            tables["golds"] = judging.under_golds(found, revised, executor, **options_)
    frames = {
        "difficulty": found.assign(difficulty=found["difficulty"].replace("", "none")),
        "database": found.rename(columns={"db_id": "database"}).assign(db_id=found["db_id"]),
    }
    if "feature" in by:
        frames["feature"] = judging.by_feature(found, judged)
    tables |= {f"by {name}": judging.summarise(frames[name], name) for name in by}
    if pool:
        tables["bounds"] = judging.pool_bounds(found[~found["generator"].isin(picked["generator"])])
    names = list(summary["generator"])
    compared = {
        name: judging.compare_generators(found, name, names[0]) for name in names[1:] if compare
    }
    if verdicts and verdicts.suffix.lower() == ".csv":
        found.map(plain).to_csv(verdicts, index=False)
    elif verdicts:
        found.to_json(verdicts, orient="records", lines=True)
    if as_json:
        about = {"benchmark": judged.name, "questions": len(judged.questions)}
        whole_json = about | {"fingerprint": judged.fingerprint(), "files": _records(summary)}
        whole_json |= {name: _records(table) for name, table in tables.items()}
        print(json.dumps(whole_json | {"comparisons": _percent(compared)}, indent=1))
        return
    databases = len({question.db_id for question in judged.questions})
    print(
        f"{judged.name}: {len(judged.questions)} questions, {databases} database{'s' * (databases > 1)}"
        f" ({judged.fingerprint()[:22]}); in percent, intervals clustered by database\n\n{_table(summary)}"
    )
    failed = found[found["gold_error"] != ""].drop_duplicates("question_id")
    for row in _records(failed.head(_SHOWN)):
        print(f"\nthe gold query of question {row['question_id']} failed: {row['gold_error']}")
    if len(failed) > _SHOWN:
        print(f"\nand {len(failed) - _SHOWN} more gold queries failed")
    for name, table in tables.items():
        shown = table
        if name == "bounds":
            shown = table[table["k"].isin({1, 2, 3, 5, 10, 21, len(table)})]
        print(f"\n{name}\n{_table(shown)}")
    for name, one in compared.items():
        print(
            f"\n{name} against {names[0]}, EX (BIRD) of the first answers: {100 * one.difference:+.2f}"
            f" [{100 * one.low:+.2f}, {100 * one.high:+.2f}], p = {one.p_value:.3g}; {one.note}\n"
            f"  right only here ({len(one.won)}): {' '.join(one.won)}\n"
            f"  right only there ({len(one.lost)}): {' '.join(one.lost)}"
        )


def _majority(
    judged: Benchmark, given: "pd.DataFrame", executor: Executor, store: Cache
) -> "pd.DataFrame":
    """The majority's choice among all predictions for each question."""
    # These imports take a third of a second, and only --pool needs them.
    from workbench.benchmarks.predictions import candidates  # noqa: PLC0415
    from workbench.lab import Lab  # noqa: PLC0415
    from workbench.llm.client import Client  # noqa: PLC0415
    from workbench.systems.baselines import replayed  # noqa: PLC0415
    from workbench.systems.select import Majority  # noqa: PLC0415
    from workbench.systems.system import solve  # noqa: PLC0415

    # On Spider an empty result may be right, so it may win.
    majority = Majority(suspect="failed" if judged.sense == "spider" else "nulls")
    system = replayed("picked by majority", candidates(given), majority)
    lab = Lab(Client(store), executor, judged.database)
    first = given.drop_duplicates("question_id")
    asked = {question.id: question for question in judged.questions}
    first = first[first["question_id"].isin(asked)]
    picks = [solve(system, asked[key], lab).sql for key in first["question_id"]]
    return first.assign(generator=system.name, sample=0, sql=picks)


def _efficiency(
    judged: Benchmark, found: "pd.DataFrame", executor: Executor, runs: int
) -> "pd.DataFrame":
    """VES and R-VES of each generator, by time and by opcodes."""
    import pandas as pd  # noqa: PLC0415

    from workbench.evaluate.efficiency import efficiency  # noqa: PLC0415

    rows = {}
    for name, own in found.groupby("generator"):
        answers = own.assign(correct=own["ex_bird"] > 0)
        time = efficiency(judged, answers, executor, "time", runs)
        opcodes = efficiency(judged, answers, executor, "opcodes")
        kinds = {"": time, "_opcodes": opcodes}
        rows[name] = {
            score + kind: 100 * scored.groupby("question_id")[score].mean().mean()
            for kind, scored in kinds.items()
            for score in ("ves", "r_ves")
        }
    return pd.DataFrame.from_dict(rows, orient="index")


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


def _percent(compared: dict[str, Any]) -> dict[str, Any]:
    """The comparisons as JSON, with differences and intervals in percent."""
    rows = {}
    for name, one in compared.items():
        row = asdict(one)
        row |= {key: round(100 * row[key], 4) for key in ("difference", "low", "high")}
        row["clustered"] = [round(100 * end, 4) for end in one.clustered or ()]
        rows[name] = row | {"note": one.note}
    return rows


def _records(frame: "pd.DataFrame") -> list[dict[str, Any]]:
    rows: Any = frame.astype(object).where(frame.notna(), None).round(4).to_dict("records")
    return list(rows)
