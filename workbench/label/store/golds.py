"""Annotators' verdicts on gold queries, and the revision of a benchmark that follows from them.

A verdict on gold is a label of a taxonomy of its own, so it is stored, undone, exported and settled like any label.
The revision is a file for `with_golds`, which `workbench evaluate --gold NAME=FILE` reads.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import orjson

from workbench.benchmarks.benchmark import Benchmark
from workbench.errors import naming
from workbench.label.agreement.disputes import ADJUDICATOR
from workbench.label.case import Case
from workbench.label.store.label import Label
from workbench.label.store.store import LabelStore
from workbench.sql.reading import normal_form

GOLD = "gold"  # the taxonomy of verdicts on gold
CORRECTED = "corrected"  # the note has the right query
BOTH_RIGHT = "both right"  # gold and the prediction answer the question in two readings of it
NO_VERDICT = "gold stays"  # takes an earlier verdict back


def gold_verdict(store: LabelStore, case: Case, annotator: str) -> Label | None:
    """The annotator's verdict on the case's gold query; None without one, or if it was taken back."""
    given = store.of(case.key, GOLD, annotator)
    return given if given and given.category != NO_VERDICT else None


@dataclass(frozen=True, slots=True)
class PeoplesGold:
    """The items of a revision, one for each question, and the verdicts that changed none."""

    items: tuple[dict[str, object], ...]
    corrected: int
    both_right: int
    disputed: tuple[str, ...]
    """The ids of questions on which annotators give different verdicts: their gold query stays."""
    elsewhere: int
    """The number of verdicts on questions that the benchmark does not have."""

    def write(self, path: Path) -> None:
        """Write the file that `workbench evaluate --gold NAME=FILE` reads."""
        with naming(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(orjson.dumps(list(self.items), option=orjson.OPT_INDENT_2))

    def __str__(self) -> str:
        text = f"{self.corrected} gold queries corrected, {self.both_right} questions on which a prediction is right, too"
        if self.disputed:
            text += f"; disputed and left as they are: {', '.join(self.disputed)}"
        return text + (f"; {self.elsewhere} verdicts on other questions" if self.elsewhere else "")


def peoples_gold(labels: Iterable[Label], benchmark: Benchmark) -> PeoplesGold:
    """The benchmark's gold with the annotators' corrections; a disputed gold query stays as it is.

    The adjudicator's verdict replaces the other annotators' verdicts.
    """
    id_of = question_ids(benchmark)
    verdicts: dict[str | None, list[Label]] = {}
    for label in labels:
        if label.taxonomy == GOLD:
            verdicts.setdefault(id_of(label), []).append(label)
    items: list[dict[str, object]] = []
    disputed, corrected, both_right = [], 0, 0
    for question in benchmark.questions:
        own = benchmark.golds[question.id].sql
        given = verdicts.get(question.id, [])
        agreed = _agreed([label for label in given if label.annotator == ADJUDICATOR] or given)
        if agreed is None:
            disputed.append(question.id)
        sql, also = agreed or ("", [])
        corrected += sql not in {"", own}
        both_right += bool(also)
        item = {"question_id": question.id, "db_id": question.db_id}
        items.append({**item, "SQL": sql or own})
    elsewhere = len(verdicts.get(None, ()))
    return PeoplesGold(tuple(items), corrected, both_right, tuple(disputed), elsewhere)


def question_ids(benchmark: Benchmark) -> Callable[[Label], str | None]:
    """A function that gives the id of a label's question; None if the benchmark does not have its text.

    The id in the label decides only between questions of the same text: a release may count the questions anew.
    """
    ids: dict[tuple[str, str], list[str]] = {}
    for question in benchmark.questions:
        ids.setdefault((question.db_id, question.text), []).append(question.id)

    def id_of(label: Label) -> str | None:
        found = ids.get((label.db_id, label.question), [])
        return label.question_id if label.question_id in found else next(iter(found), None)

    return id_of


def _agreed(given: list[Label]) -> tuple[str, list[str]] | None:
    """The corrected query ("" for none) and the queries that are also right; None if the verdicts differ."""
    corrected = {normal_form(one.note): one.note for one in given if one.category == CORRECTED}
    by_query: dict[tuple[str, str], set[str]] = {}
    for one in given:
        by_query.setdefault(one.key, set()).add(one.category)
    if len(corrected) > 1 or any(len(categories) > 1 for categories in by_query.values()):
        return None
    also = {one.key: one.sql for one in given if one.category == BOTH_RIGHT}
    return next(iter(corrected.values()), ""), list(also.values())
