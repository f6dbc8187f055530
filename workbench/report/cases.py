"""Cases as the papers' figures show them: a question, how it was answered, gold and prediction.

The figures are 9 to 12, 14 to 21 of CHASE-SQL, 6 and 15 of CHESS, and 7 of MAC-SQL.
"""

import copy
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from workbench.errors import CacheMissError, one_of
from workbench.lab import Answer, Lab
from workbench.llm.money import Ledger
from workbench.report.display import (
    Html,
    attempts_html,
    details,
    join,
    paragraph,
    pre,
    result_html,
    table_html,
    view,
)
from workbench.sql.facts import Part, aligned
from workbench.sql.reading import normalise_text
from workbench.sql.texts import plan_text
from workbench.systems.system import System, solve
from workbench.types import Gold, Question, Request, Selection, Trial

_differing = Html("<b>{}</b>").format
_heading = Html("<h4>{}</h4>").format
_INDENT = "\N{NO-BREAK SPACE}"  # a page shows a row of blanks as one


class UnreadReply(NamedTuple):
    """A reply that was not in the form that its prompt asks for, and the one after it."""

    question_id: str
    prompt: str
    reply: str
    wanted: str  # the form that was asked for once more
    second_reply: str
    read: bool  # the second reply


@dataclass(frozen=True, eq=False)
class Case:
    """A question with its gold query, and what a system made of it."""

    question: Question
    gold: Gold
    selection: Selection
    system: System = field(repr=False)
    lab: Lab = field(repr=False)
    label: str = ""

    @property
    def predicted(self) -> str:
        """The chosen query; "" without one."""
        trial = self.selection.trial
        return trial.candidate.sql if trial else ""

    def calls(self) -> dict[str, list[tuple[Request, str]]]:
        """Return the cached calls for the question with their replies, by prompt.

        The question is solved again from the cache, and its requests are recorded.
        """
        requests: list[Request] = []
        self._replay(watch=lambda request, _: requests.append(request))
        calls: dict[str, list[tuple[Request, str]]] = {}
        for request in requests:
            if reply := self.lab.client.cached(request):
                calls.setdefault(request.prompt, []).append((request, reply.text))
        return calls

    def unread(self) -> list[UnreadReply]:
        """Return the replies that were not read, and what became of asking once more."""
        unread: list[UnreadReply] = []

        def note(request: Request, answer: Answer[Any]) -> None:
            first = self.lab.client.cached(request)
            if answer.asked_again and first:
                unread.append(
                    UnreadReply(
                        self.question.id,
                        request.prompt,
                        first.text,
                        answer.asked_again,
                        answer.completion.text,
                        read=not answer.problem,
                    )
                )

        self._replay(heard=note)
        return unread

    def _replay(self, **listeners: Any) -> None:
        """Solve the question once more by cached calls; `listeners` are fields of a `Lab`."""
        client = copy.copy(self.lab.client)
        client.offline = True
        client.ledger = Ledger()  # looking at cached calls is not counted as their use
        with suppress(CacheMissError):
            lab = replace(self.lab, client=client, **listeners)
            solve(self.system, self.question, lab)


@dataclass(frozen=True, eq=False)
class Cases:
    """A few cases, each with the parts of the way to its answer that `show` names."""

    cases: Sequence[Case]
    show: Sequence[str] = ()

    def __post_init__(self) -> None:
        for name in self.show:
            one_of(PARTS, show=name)

    def _repr_html_(self) -> str:
        if not self.cases:
            return str(view(paragraph("There is no such case.")))
        return "".join(str(view(join(self._shown(case)))) for case in self.cases)

    def _shown(self, case: Case) -> Iterator[Html]:
        yield _heading(f"Question {case.question.id}, database {case.question.db_id}")
        yield paragraph(case.question.text)
        if case.question.evidence:
            yield paragraph(f"Hint: {case.question.evidence}")
        if case.label:
            yield paragraph(case.label)
        for name in self.show:
            yield from PARTS[name](case)
        yield from _side_by_side(case)


def _side_by_side(case: Case) -> Iterator[Html]:
    """Yield both queries part by part, those in bold that differ, then both results."""
    gold, predicted = case.gold.sql, case.predicted
    schema = case.lab.schema(case.question.db_id)
    rows = []
    for left, right, same in aligned(gold, predicted, schema):
        rows.append([_part(left, same=same), _part(right, same=same)])
    if not rows:  # one of them cannot be read
        rows.append([pre(gold), pre(predicted or "no SQL")])
    # The verdicts ran the queries in this form, so that their results are cached.
    queries = [normalise_text(gold), normalise_text(predicted)]
    executions = case.lab.run_many(case.question, queries)
    rows.append([result_html(execution) for execution in executions])
    yield table_html(("gold", "prediction"), rows)


def _part(part: Part | None, *, same: bool) -> Html:
    if part is None:
        return Html()
    text = _INDENT * (part.indent + 2 * part.depth) + part.text
    return Html("<code>{}</code>").format(text if same else _differing(text))


def _reply(case: Case) -> Iterator[Html]:
    """Yield what the model wrote before the chosen query."""
    if trial := case.selection.trial:
        yield from _replied(f"The reply of {trial.candidate.generator}", trial)


def _generators(case: Case) -> Iterator[Html]:
    """Yield the first candidate of each generator, with the reasoning that led to it."""
    generators = set()
    for trial in case.selection.trials:
        generator = trial.candidate.generator
        if generator not in generators:
            generators.add(generator)
            yield from _replied(f"{generator}, its first candidate", trial)


def _replied(title: str, trial: Trial) -> Iterator[Html]:
    candidate = trial.history[0].candidate
    yield paragraph(title)
    yield pre(candidate.reasoning or candidate.sql or candidate.problem)


def _repairs(case: Case) -> Iterator[Html]:
    """Yield the chosen query before each repair; the last one stands beside gold."""
    if trial := case.selection.trial:
        yield attempts_html(trial.history[:-1])


def _plan(case: Case) -> Iterator[Html]:
    """Yield SQLite's own plan of the gold query."""
    query = f"EXPLAIN QUERY PLAN {normalise_text(case.gold.sql)}"
    yield paragraph("EXPLAIN QUERY PLAN of gold")
    yield pre(plan_text(case.lab.run(case.question, query)))


def _calls(case: Case) -> Iterator[Html]:
    """Yield the first call of each prompt, its messages folded."""
    for prompt, calls in case.calls().items():
        request, reply = calls[0]
        number = "one call"
        if len(calls) > 1:
            number = f"the first of {len(calls)} calls"
        messages = [pre(str(message["content"])) for message in request.messages]
        yield paragraph(f"{prompt}, {number}")
        yield details("what is asked", *messages)
        yield details("the reply", pre(reply))


PARTS = {
    "reply": _reply,
    "generators": _generators,
    "repairs": _repairs,
    "plan": _plan,
    "calls": _calls,
}
