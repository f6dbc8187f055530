"""Execution accuracy under other golds: each system's EX, and the verdicts that change.

An answer is judged once for each different gold query of its question, in the benchmark's own sense of EX. The
answers are those to the benchmark's questions: where a revision asks another question, a table says so. Jin et al.
(2026, arXiv 2601.08778) compare systems in this way; they ask the systems the revised questions anew.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import pandas as pd

from workbench.benchmarks.benchmark import Benchmark
from workbench.benchmarks.revisions import Revision
from workbench.evaluate.ex import ex_verdicts
from workbench.evaluate.gold.report import OWN, UnderGolds
from workbench.evaluate.judge import judge
from workbench.evaluate.stats import compare, mean_interval
from workbench.pool import Pool, pool_of
from workbench.sql.executor import Executor
from workbench.sql.reading import normalise_text
from workbench.types import Gold, Limits, Question

_Judged: TypeAlias = str | tuple[str, ...]  # the id of a question, or the ids of several
_SENSES = {"bird": "EX (BIRD)", "spider": "EX (Spider)"}


def under_golds(
    benchmark: Benchmark,
    pool: Pool,
    verdicts: pd.DataFrame,
    revisions: Sequence[Revision],
    executor: Executor,
    limits: Limits,
    progress: Callable[[int, int], None] | None = None,
    *,
    keep_distinct: bool = False,
) -> UnderGolds:
    """Judge the pool under each revision; `verdicts` are those of `judge` under the benchmark's own gold."""
    metric = f"ex_{benchmark.sense}"
    revisions = [revision.among(benchmark) for revision in revisions]
    apart, stands_for = _distinct(benchmark, revisions)
    first = verdicts.drop_duplicates(["generator", "question_id"])
    judged = first
    if apart.questions:
        answers = _first_answers(pool, stands_for)
        again = judge(apart, answers, executor, limits, progress, keep_distinct=keep_distinct)
        judged = pd.concat([first, again])
    judged = judged.set_index(["generator", "question_id"])
    right: dict[tuple[str, _Judged], float] = dict(zip(judged.index, judged[metric], strict=True))
    errors = judged.groupby(level="question_id")["gold_error"].first()
    names = list(dict.fromkeys(first["generator"]))
    databases = {question.id: question.db_id for question in benchmark.questions}
    accuracies = [
        _accuracy(OWN, name, right, {q: q for q in databases}, databases) for name in names
    ]
    changes, failed = [], []
    for revision in revisions:
        if not (under := stands_for[revision.name]):
            continue  # the file has none of the judged questions
        for keys in under.values():
            right |= {(name, keys): max(right[name, key] for key in keys) for name in names}
        accuracies += [_accuracy(revision.name, name, right, under, databases) for name in names]
        for question, keys in under.items():
            about = {"gold": revision.name, "question_id": question, "db_id": databases[question]}
            if errors[keys[0]]:
                failed.append(about | {"gold_error": errors[keys[0]]})
            if changed := revision.changes[question]:
                moves = {name: right[name, keys] - right[name, question] for name in names}
                changes.append(
                    about
                    | {
                        "changed": ", ".join(changed),
                        "became_right": [name for name, move in moves.items() if move > 0],
                        "became_wrong": [name for name, move in moves.items() if move < 0],
                    }
                )
    return UnderGolds(
        _SENSES[benchmark.sense],
        pd.DataFrame(accuracies),
        changes,
        tuple(revisions),
        failed,
    )


def right_under(
    benchmark: Benchmark,
    answers: Mapping[str, str],
    revisions: Sequence[Revision],
    executor: Executor,
) -> dict[str, dict[str, bool]]:
    """For each revision and each of its questions, whether the answer is right; "" stands for a missing answer."""
    apart, stands_for = _distinct(benchmark, revisions)
    every = replace(
        benchmark,
        questions=(*benchmark.questions, *apart.questions),
        golds={**benchmark.golds, **apart.golds},
    )
    pairs = {
        (key, answers[question])
        for under in stands_for.values()
        for question, keys in under.items()
        if answers[question]
        for key in keys
    }
    known = sorted(pairs)
    right = dict(zip(known, ex_verdicts(every, known, executor), strict=True))
    return {
        name: {
            q: any(right.get((key, answers[q]), False) for key in keys) for q, keys in under.items()
        }
        for name, under in stands_for.items()
    }


def failed_golds(benchmark: Benchmark, revision: Revision, executor: Executor) -> list[str]:
    """The ids of the benchmark's questions whose gold query in the revision fails."""
    golds = {key: gold.sql for key, gold in revision.golds.items()}
    right = right_under(benchmark, golds, [revision], executor)[revision.name]
    return [question for question, runs in right.items() if not runs]


def _distinct(
    benchmark: Benchmark, revisions: Sequence[Revision]
) -> tuple[Benchmark, dict[str, dict[str, tuple[str, ...]]]]:
    """A benchmark with one question for each distinct gold query, so that each answer is judged by each query once.

    The mappings give, for each revision and question, the ids of the questions with its gold query and with each
    query that is also right: an answer is right if it is right on one of them.
    """
    asked = {question.id: question for question in benchmark.questions}
    ids = {(key, normalise_text(benchmark.golds[key].sql)): key for key in asked}
    questions: list[Question] = []
    golds: dict[str, Gold] = {}
    stands_for: dict[str, dict[str, tuple[str, ...]]] = {}
    for revision in revisions:
        under = stands_for[revision.name] = {}
        for key in (key for key in asked if key in revision.golds):
            gold = revision.golds[key]
            for number, sql in enumerate((gold.sql, *revision.also.get(key, ()))):
                new = f"{key} under {revision.name}" + (f", also right {number}" if number else "")
                found = ids.setdefault((key, normalise_text(sql)), new)
                under[key] = (*under.get(key, ()), found)
                if found == new:
                    questions.append(replace(asked[key], id=new))
                    golds[new] = replace(gold, question_id=new, sql=sql)
    return replace(benchmark, questions=tuple(questions), golds=golds, every=()), stands_for


def _first_answers(pool: Pool, stands_for: Mapping[str, Mapping[str, tuple[str, ...]]]) -> Pool:
    """A pool in which each system's first answer to a question answers the questions of `_distinct`."""
    several: dict[str, set[str]] = {}
    for under in stands_for.values():
        for key, new in under.items():
            several.setdefault(key, set()).update(new)
    first = {(key, trial.candidate.generator): trial for key, trial in reversed(list(pool.items()))}
    return pool_of(
        (new, trial)
        for (key, _), trial in first.items()
        for new in sorted(several.get(key, set()) - {key})
    )


def _accuracy(
    gold: str,
    name: str,
    right: Mapping[tuple[str, _Judged], float],
    under: Mapping[str, _Judged],
    databases: Mapping[str, str],
) -> dict[str, Any]:
    """A row of `accuracies`; `under` gives for each question the ids of the questions that judge it."""
    after = {question: right[name, key] for question, key in under.items()}
    clusters = [databases[question] for question in after]
    interval = mean_interval(list(after.values()), clusters)
    row: dict[str, Any] = {
        "gold": gold,
        "system": name,
        "n": len(after),
        "ex": 100 * interval.mean,
        "low": 100 * interval.low,
        "high": 100 * interval.high,
    }
    if gold == OWN:
        return row
    before = {question: right[name, question] for question in under}
    paired = compare(after, before, databases)
    return row | {
        "own_ex": 100 * sum(before.values()) / len(before),
        "difference": 100 * paired.difference,
        "difference_low": 100 * paired.low,
        "difference_high": 100 * paired.high,
        "p_value": paired.p_value,
        "became_right": len(paired.won),
        "became_wrong": len(paired.lost),
    }
