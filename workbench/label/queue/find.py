"""Search for cases one by one: first among cached answers, then among answers that the system gives now.

The search ends with the sample that `cases` draws from all of the system's selections, whatever was cached. With a
share or a limit, a case is yielded as soon as no unread question can take its place in the sample.
"""

import math
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from workbench.label.case import Case, draw
from workbench.label.cases import cases
from workbench.label.taxonomy import Taxonomy
from workbench.llm.provider import runs_here
from workbench.study.result_cache import model_names, system_keys
from workbench.study.solving import cached_records, prepare_once, selection_of, solve_all
from workbench.study.study import Study
from workbench.systems.system import System

_AT_ONCE = 32  # questions that are solved together where a remote model answers


def find_cases(
    study: Study,
    system: System,
    taxonomy: Taxonomy,
    progress: Callable[[int, int], object] = lambda *_: None,
    *,
    limit: int | None = None,
    seed: int = 0,
) -> Iterator[Case]:
    """At most `limit` cases, of the kind and share that the taxonomy names.

    `progress` is called with the number of questions read and the number of all questions.
    """
    system = study.with_settings(system)
    lab = replace(study.lab, system=system.name)
    cache_keys = system_keys(system, lab)
    questions = study.benchmark.questions
    draws = {question.id: draw(seed, question.id, "question") for question in questions}
    by_question = cache_keys.of_questions(questions, lab)
    cached = cached_records(lab.client.store, by_question)
    order = sorted(questions, key=lambda q: (q.id not in cached, draws[q.id]))
    size = 1 if all(map(runs_here, model_names(system))) else _AT_ONCE
    wrong: list[Case] = []
    yielded: set[str] = set()
    for start in range(0, len(order), size):
        part = order[start : start + size]
        new = [question for question in part if question.id not in cached]
        solved = {**cached, **(solve_all(system, new, lab) if new else {})}
        found = cases(
            replace(study.benchmark, questions=tuple(part)),
            [selection_of(solved[question.id], question, lab) for question in part],
            lab,
            which=taxonomy.cases,
            seed=seed,
            contexts=lambda q: prepare_once(system, by_question[q.id], q, lab).contexts[-1],
        )
        wrong = sorted([*wrong, *found], key=lambda case: draws[case.question.id])
        # Cached answers are read first, so an unread question may still be drawn before a case that was found.
        unread = sorted(draws[question.id] for question in order[start + size :])
        drawn = [draws[case.question.id] for case in wrong]
        certain = _certain(drawn, unread, taxonomy.share, limit)
        progress(start + len(part), len(order))
        for case in wrong[:certain]:
            if case.question.id not in yielded:
                yielded.add(case.question.id)
                yield case
        if len(yielded) == limit:
            return


def _certain(
    wrong: Sequence[float], unread: Sequence[float], share: Fraction, limit: int | None
) -> int:
    """How many of the wrong questions, in drawn order, are in the sample whether unread ones are right or wrong."""
    for index, drawn in enumerate(wrong):
        before = bisect_left(unread, drawn)  # unread questions that would precede this one
        size = math.ceil((len(wrong) + before) * share)
        if index + before >= (size if limit is None else min(size, limit)):
            return index
    return len(wrong)
