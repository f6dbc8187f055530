"""Cases as they are found: of cached answers first, then of those that the system gives now.

In the end they are the cases that `cases` draws from the system's selections, whatever was cached. With a share or a
limit, a case is given as soon as no unread question can take its place in the sample.
"""

import math
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from workbench.label.case import Case
from workbench.label.cases import cases, draw
from workbench.label.taxonomy import Taxonomy
from workbench.llm.provider import is_ours
from workbench.study.result_cache import keys, models
from workbench.study.solving import look, prepare_once, selection_of, solve_all
from workbench.study.study import Study
from workbench.systems.system import System

_AT_ONCE = 32  # questions whose answers a remote model gives at the same time


def find_cases(
    study: Study,
    system: System,
    taxonomy: Taxonomy,
    *,
    limit: int | None = None,
    seed: int = 0,
    progress: Callable[[int, int], object] = lambda *_: None,
) -> Iterator[Case]:
    """The cases of the kind and share that the taxonomy is for, at most `limit` of them.

    `progress` is called with the number of questions read, and that of all.
    """
    system = study.with_settings(system)
    lab = replace(study.lab, system=system.name)
    made = keys(system, lab)
    place = {question.id: draw(seed, question.id) for question in study.benchmark.questions}
    wanted = {question.id: made.of(question, lab) for question in study.benchmark.questions}
    cached = look(lab.client.store, wanted)
    order = sorted(study.benchmark.questions, key=lambda q: (q.id not in cached, place[q.id]))
    some = 1 if all(map(is_ours, models(system))) else _AT_ONCE
    wrong: list[tuple[float, Case]] = []
    given: set[str] = set()
    for start in range(0, len(order), some):
        part = order[start : start + some]
        new = [question for question in part if question.id not in cached]
        solved = {**cached, **(solve_all(system, new, lab) if new else {})}
        found = cases(
            replace(study.benchmark, questions=tuple(part)),
            [selection_of(solved[question.id], question, lab) for question in part],
            lab,
            which=taxonomy.cases,
            seed=seed,
            contexts=lambda question: prepare_once(system, made, question, lab).contexts[-1],
        )
        wrong = sorted(
            [*wrong, *((place[case.question.id], case) for case in found)], key=lambda one: one[0]
        )
        unread = sorted(place[question.id] for question in order[start + some :])
        sure = _certain([drawn for drawn, _ in wrong], unread, taxonomy.share, limit)
        progress(start + len(part), len(order))
        for _, case in wrong[:sure]:
            if case.question.id not in given:
                given.add(case.question.id)
                yield case
        if len(given) == limit:
            return


def _certain(
    wrong: Sequence[float], unread: Sequence[float], share: Fraction, limit: int | None
) -> int:
    """How many of the wrong questions, in the order drawn, are in the sample whatever the unread ones turn out to be."""
    for place, drawn in enumerate(wrong):
        before = bisect_left(unread, drawn)  # if all of them are wrong, they come first
        size = math.ceil((len(wrong) + before) * share)
        if place + before >= (size if limit is None else min(size, limit)):
            return place
    return len(wrong)
