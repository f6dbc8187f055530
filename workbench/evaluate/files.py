"""Judge prediction files, as `workbench evaluate` does, and print the result as tables or as JSON."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from workbench.benchmarks.benchmark import Benchmark
from workbench.benchmarks.predictions import file_names, load_pools
from workbench.benchmarks.revisions import Revision
from workbench.evaluate.bird.efficiency import measure, r_ves, ves
from workbench.evaluate.gold.report import UnderGolds
from workbench.evaluate.gold.revised import under_golds
from workbench.evaluate.judge import ClusterJudge, judge
from workbench.evaluate.stats import PairedComparison
from workbench.evaluate.summary import by_feature, compare_generators, pool_bounds, summarise
from workbench.pool import Pool, pool_of
from workbench.sql.executor import Executor
from workbench.types import Limits

Progress = Callable[[int, int], None]
Selector = Callable[[Pool], Pool]  # picks one candidate a question
_SHOWN = 5  # failed gold queries that are listed; further ones are only counted
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
    "gold_failed": "gold failed",
}


@dataclass(frozen=True, slots=True)
class FilesReport:
    """The tables of one evaluation. A generator is a file, or a generator that the file's entries name."""

    benchmark: Benchmark
    paths: Mapping[str, Path]
    """By generator, in the order given."""
    verdicts: pd.DataFrame
    """As `judge` returns them."""
    summary: pd.DataFrame
    """A row for each generator."""
    slices: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    """By the name of the slicing (difficulty, database, feature): a row for each generator and slice."""
    comparisons: Mapping[str, PairedComparison] = field(default_factory=dict)
    """Each further generator against the first."""
    bounds: pd.DataFrame | None = None
    """The bounds of selection among all candidates, by k."""
    golds: UnderGolds | None = None
    """The same systems under the golds of revisions."""

    def as_text(self) -> str:
        """Tables for a terminal."""
        questions = len(self.benchmark.questions)
        databases = len({question.db_id for question in self.benchmark.questions})
        title = (
            f"{self.benchmark.name}: {questions} questions, {databases} database{'s' * (databases > 1)}"
            f" ({self.benchmark.fingerprint()[:22]}); in percent, intervals clustered by database"
        )
        parts = [title, _table(self.summary)]
        parts += [f"by {name}\n{_table(slices)}" for name, slices in self.slices.items()]
        failed = self.verdicts[self.verdicts["gold_error"] != ""].drop_duplicates("question_id")
        parts += [
            f"the gold query of question {row['question_id']} failed: {row['gold_error']}"
            for row in _records(failed.head(_SHOWN))
        ]
        if len(failed) > _SHOWN:
            parts.append(f"and {len(failed) - _SHOWN} more gold queries failed")
        again = self.verdicts.duplicated(["generator", "question_id"])
        several = {*self.verdicts.loc[again, "generator"]}
        for other, comparison in self.comparisons.items():
            here, there = other, next(iter(self.paths))
            first = ", first answer of each question" * bool(several & {here, there})
            parts.append(
                f"{here} against {there}, EX (BIRD){first}: {100 * comparison.difference:+.2f}"
                f" [{100 * comparison.low:+.2f}, {100 * comparison.high:+.2f}], p = {comparison.p_value:.3g}\n"
                f"  right only here ({len(comparison.won)}): {' '.join(comparison.won)}\n"
                f"  right only there ({len(comparison.lost)}): {' '.join(comparison.lost)}"
            )
        if self.bounds is not None:
            shown = self.bounds[self.bounds["k"].isin({1, 2, 3, 5, 10, 21, len(self.bounds)})]
            parts.append(
                "bounds of selection among k candidates of the pool, EX (BIRD)\n"
                + shown.to_string(index=False, float_format="%.2f")
            )
        if self.golds:
            parts.append(self.golds.as_text())
        return "\n\n".join(parts)

    def as_json(self) -> dict[str, Any]:
        """The tables as one JSON object."""
        return {
            "benchmark": self.benchmark.name,
            "questions": len(self.benchmark.questions),
            "fingerprint": self.benchmark.fingerprint(),
            "files": [self._file(row) for row in _records(self.summary)],
            "comparisons": {name: _percent(row) for name, row in self.comparisons.items()},
            "bounds": None if self.bounds is None else _records(self.bounds),
        } | ({"golds": self.golds.as_json()} if self.golds else {})

    def _file(self, row: dict[str, Any]) -> dict[str, Any]:
        name = row.pop("generator")
        by = {
            column: _records(slices[slices["generator"] == name].drop(columns="generator"))
            for column, slices in self.slices.items()
        }
        file = {"file": str(self.paths[name]), "generator": name}
        return file | {"em": None} | row | ({"by": by} if by else {})


def evaluate_files(
    benchmark: Benchmark,
    paths: Sequence[Path],
    executor: Executor,
    *,
    by: Sequence[str] = (),
    compare: bool = False,
    pool: bool = False,
    efficiency: int | None = None,
    selectors: Mapping[str, Selector] | None = None,
    limits: Limits | None = None,
    keep_distinct: bool = False,
    progress: Progress | None = None,
    revisions: Sequence[Revision] = (),
    cluster_judge: ClusterJudge | None = None,
) -> FilesReport:
    """Judge every file, and each selector's picks from all files together.

    `by` names slicings: difficulty, database, feature. `compare` compares each file with the first, `pool`
    adds the bounds of selection, `efficiency` is the number of timed runs for VES. `revisions` have revised golds.
    `cluster_judge` judges on a cluster.
    """
    pools = load_pools(file_names(paths), benchmark)
    candidates = pool_of(pair for file in pools.values() for pair in file.items())
    picked = {name: select(candidates) for name, select in (selectors or {}).items()}
    judged = pool_of(pair for part in (candidates, *picked.values()) for pair in part.items())
    limits = limits or Limits()
    verdicts = judge(
        benchmark, judged, executor, limits, progress, keep_distinct=keep_distinct, cluster_judge=cluster_judge
    )  # fmt: skip
    golds = None
    if revisions:
        golds = under_golds(
            benchmark, judged, verdicts, revisions, executor, limits, progress, keep_distinct=keep_distinct
        )  # fmt: skip
    order = {name: path for path, file in pools.items() for name in file.generators()}
    order |= {name: Path(name) for name in picked}
    summary = summarise(verdicts).set_index("generator").loc[list(order)].reset_index()
    if efficiency:
        scores = _efficiency(benchmark, verdicts, executor, efficiency, progress)
        summary = summary.join(scores, on="generator")
    unlabelled = verdicts["difficulty"].replace("", "none")
    frames = {"difficulty": verdicts.assign(difficulty=unlabelled), "database": verdicts}
    if "feature" in by:
        frames["feature"] = by_feature(verdicts, benchmark)
    first, *others = order
    return FilesReport(
        benchmark,
        order,
        verdicts,
        summary,
        {name: summarise(frames[name], {"database": "db_id"}.get(name, name)) for name in by},
        {name: compare_generators(verdicts, name, first) for name in others if compare},
        pool_bounds(verdicts[~verdicts["generator"].isin(picked)]) if pool else None,
        golds,
    )


def _efficiency(
    benchmark: Benchmark,
    verdicts: pd.DataFrame,
    executor: Executor,
    repeats: int,
    progress: Progress | None,
) -> pd.DataFrame:
    """VES and R-VES of each generator, over time and over opcodes; only right answers are timed."""
    ratios: list[tuple[float | None, float | None]] = []
    for done, verdict in enumerate(_records(verdicts), 1):
        timed = None
        if verdict["ex_bird"]:
            gold = benchmark.golds[verdict["question_id"]].sql
            database = benchmark.database(verdict["db_id"])
            timed = measure(executor, database, verdict["sql"], gold, repeats=repeats)
        ratios.append(timed or (None, None))
        if progress:
            progress(done, len(verdicts))
    table = pd.DataFrame(ratios, columns=["seconds", "opcodes"], index=verdicts["generator"])
    scores = {"ves": ves, "r_ves": r_ves}
    return pd.DataFrame(
        {
            name + kind: table[column].groupby(level=0).apply(score)
            for kind, column in (("", "seconds"), ("_opcodes", "opcodes"))
            for name, score in scores.items()
        }
    )


def _table(frame: pd.DataFrame) -> str:
    """A frame for the terminal: intervals in one column, counts that are all 0 left out."""
    low, high = frame["ex_bird_low"], frame["ex_bird_high"]
    shown = frame.drop(columns=["ex_bird_low", "ex_bird_high"])
    shown.insert(
        list(shown.columns).index("ex_bird") + 1,
        "interval",
        [f"{a:.1f} to {b:.1f}" for a, b in zip(low, high, strict=True)],
    )
    empty = [name for name in ("failed", "missing", "gold_failed") if not shown[name].any()]
    shown = shown.drop(columns=empty).rename(columns=_HEADINGS)
    return shown.to_string(index=False, float_format="%.2f")


def _percent(comparison: PairedComparison) -> dict[str, Any]:
    """The comparison with its difference and interval in percent, as in the text."""
    row = asdict(comparison)
    return row | {name: round(100 * row[name], 4) for name in ("difference", "low", "high")}


def _records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    rows: Any = frame.round(4).to_dict("records")
    return list(rows)
