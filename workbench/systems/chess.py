"""CHESS (Talaei et al., 2024), as figure 2 draws it: four agents, combined to suit the budget.

The Information Retriever (IR) looks up values and descriptions, the Schema Selector (SS) prunes,
the Candidate Generator (CG) writes and revises, the Unit Tester (UT) selects. Each agent sees only
what the agents before it kept.

What departs from the paper, and where it is of two minds:
- Section 3.1 revises faulty queries alone, appendix A.4 and figure 6 any query until it comes back
  unchanged: the first holds for the high budget's 20 candidates, the second (`sound`) for the low
  budget's one.
- Missing entities (figure 12) are the values of a keyword of which the query holds none; the paper
  does not say which.
- Unit tests are written only where results differ. A reply without verdicts passes nothing. Equal
  queries stand once.
- Similarity is by letters unless an embedding model is named (the paper's:
  openai/text-embedding-3-small).
- The paper names no temperatures; 0.5 for candidates and 0.8 for unit tests are the released
  code's. For its 20 candidates that code samples two prompts ten times each; here figure 11's
  prompt is sampled 20 times.
- The released code shows generator and reviser the whole schema whatever was pruned, and the Unit
  Tester only what the candidates use; here each sees what was kept. It writes 20 tests, not 10, and
  adds a fixed one of its own.
- A revision stops at a query that comes back unchanged: the same prompt would get the same reply.
"""

import random
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any, Literal, Self

from workbench import replies
from workbench.errors import at_least, one_of
from workbench.lab import Answer, Lab
from workbench.retrieve.retrieval import Descriptions, Keywords, Matching, Retrieval
from workbench.sql.reading import quote
from workbench.sql.texts import literal, with_retrieved
from workbench.systems.generate import Generate
from workbench.systems.prune import FilterColumns, by_table, keep
from workbench.systems.repair import Repair, shown_result
from workbench.systems.select import Majority, choose, drawn, result_of, shown
from workbench.systems.system import System
from workbench.types import Column, Context, Question, Schema, Selection, Trial, ValueMatch

Shown = Sequence[Mapping[str, Any]]  # candidates as the judge sees them
Judged = tuple[
    list[int], list[str]
]  # how many tests each candidate passes, and the keys of the calls


def chess_ir_cg_ut(
    model: str = "embedded/parser",
    candidates: int = 20,
    tests: int = 10,
    temperature: float = 0.5,
    by: Literal["test", "candidate"] = "test",
    generation: str = "",
) -> System:
    """The system for a high budget (section 4.2.1): many candidates, revised, and selected by unit tests.

    generation: the model that writes the candidates, by default `model`.

    >>> wb.chess_ir_cg_ut("openai/gpt-4o", tests=20, by="candidate").select.tests
    20
    """
    return System(
        "CHESS (IR, CG, UT)",
        retrieve=InformationRetriever(_retrieval(model)),
        prune=(),
        generate=(proposing(generation or model, temperature, candidates),),
        fix=(revising(model),),
        select=UnitTester(model, tests, by),
    )


def chess_ir_ss_cg(
    model: str = "embedded/parser", revisions: int = 3, filtering: str = "", generation: str = ""
) -> System:
    """The system for a low budget (section 4.2.3): a small schema and one candidate, revised up to three times.

    filtering, generation: the models that are asked about every column, and that write the
        candidate (table 8).

    >>> [type(step).__name__ for step in wb.chess_ir_ss_cg().prune]
    ['FilterColumns', 'SelectTables', 'SelectColumns']
    """
    return System(
        "CHESS (IR, SS, CG)",
        retrieve=InformationRetriever(_retrieval(model)),
        prune=(FilterColumns(filtering or model), SelectTables(model), SelectColumns(model)),
        generate=(proposing(generation or model),),
        fix=(revising(model, revisions, sound=True),),
        select=Majority(),
    )


def _retrieval(model: str) -> Retrieval:
    """One value of a keyword and column (appendix A.1), and five descriptions of a query, as released."""
    return Retrieval(
        Keywords(model), matching=Matching(per_keyword=1), descriptions=Descriptions(5)
    )


@dataclass(frozen=True)
class InformationRetriever:
    """The IR agent (figure 15): the schema shows retrieved values first among a column's examples, and descriptions only
    of columns for which they were retrieved; without their retrieval all are shown.
    """

    retrieval: Retrieval

    def __call__(self, lab: Lab, question: Question, schema: Schema) -> Context:
        found = self.retrieval(lab, question, schema)
        descriptions = found.descriptions if self.retrieval.descriptions else None
        schema = with_retrieved(schema, found.values, descriptions)
        return Context(question, schema, found.values)


@dataclass(frozen=True)
class RandomExample:
    """The context of table 4 without retrieval: a random example in each column, and all descriptions.

    It is drawn for each question anew, from the column's most frequent values.
    """

    def __call__(self, lab: Lab, question: Question, schema: Schema) -> Context:
        del lab
        rng = random.Random(f"{question.text} random example")  # noqa: S311  no secret

        def drawn(column: Column) -> Column:
            return replace(column, examples=tuple(rng.sample(column.examples, 1)))

        tables = []
        for table in schema.tables:
            columns = (drawn(column) if column.examples else column for column in table.columns)
            tables.append(replace(table, columns=tuple(columns)))
        return Context(question, replace(schema, tables=tuple(tables)))


@dataclass(frozen=True)
class SelectTables:
    """select_tables (figure 8): the schema with the tables that one call names; an unread reply changes nothing."""

    model: str
    temperature: float = 0.0

    def __call__(self, lab: Lab, context: Context) -> Context:
        read = partial(replies.tables, schema=by_table(context.schema))
        answer = lab.ask(self, "prune/select_tables", context, read)
        named = answer.value or ()
        return keep(context, [(t, c) for t, c in context.schema.columns() if t in named])


@dataclass(frozen=True)
class SelectColumns:
    """select_columns (figure 9): the schema with the columns that one call names; an unread reply changes nothing."""

    model: str
    temperature: float = 0.0

    def __call__(self, lab: Lab, context: Context) -> Context:
        read = partial(replies.columns, schema=by_table(context.schema))
        answer = lab.ask(self, "prune/select_columns", context, read)
        return keep(context, [(t, c) for t, named in (answer.value or {}).items() for c in named])


def result_and_missing(context: Context, trial: Trial) -> Mapping[str, Any]:
    """The variables of revise beside the query: its result, and the values of keywords of which the query holds none."""
    values: defaultdict[str, list[ValueMatch]] = defaultdict(list)
    for match in context.values:
        values[match.keyword].append(match)
    sql = trial.candidate.sql.replace("''", "'")
    missing: dict[str, None] = {}
    for matches in values.values():
        if not any(match.value in sql for match in matches):
            missing |= dict.fromkeys(map(_place, matches))
    return {**shown_result(context, trial), "missing": "\n".join(missing)}


def _place(match: ValueMatch) -> str:
    return f"{quote(match.table)}.{quote(match.column)}: {literal(match.value)}"


proposing = partial(Generate, "generate/chess_candidate", read=replies.sql_object)  # figure 11
revising = partial(
    Repair, "fix/reviser", read=replies.sql_object, data=result_and_missing
)  # figure 12


@dataclass(frozen=True)
class UnitTester:
    """The Unit Tester (figures 13 and 14): the query that passes most tests; a trial's score is how many it passes.

    tests: how many tests one call writes, to tell the clusters of equal results apart.
    by: one call judges all candidates by one "test", or one "candidate" by all tests (section
        4.2.1).
    temperature: of the call that writes the tests; judges answer at `judge_temperature`.
    """

    model: str
    tests: int = 10
    by: Literal["test", "candidate"] = "test"
    temperature: float = 0.8
    judge_temperature: float = 0.0

    def __post_init__(self) -> None:
        at_least(1, tests=self.tests)
        one_of(("test", "candidate"), by=self.by)

    def __call__(self, lab: Lab, context: Context, trials: Sequence[Trial]) -> Selection:
        written = [i for i, trial in enumerate(trials) if trial.candidate.sql.strip()]
        distinct = {trials[i].candidate.sql: trials[i] for i in drawn(context, trials, written)}
        clusters = _clusters(distinct.values())
        passed = dict.fromkeys(distinct, 0)
        keys: tuple[str, ...] = ()
        if len(clusters) > 1:
            data = {"clusters": clusters, "count": self.tests}
            answer = lab.ask(self, "select/unit_tests", context, replies.strings, **data)
            tests = (answer.value or [])[: self.tests]
            judge = self._by_test if self.by == "test" else self._by_candidate
            candidates = [shown(trial) for trial in distinct.values()]
            counts, judging_keys = judge(lab, context, tests, candidates)
            passed = dict(zip(distinct, counts, strict=True))
            keys = (*answer.keys, *judging_keys)
        scores = [passed.get(trial.candidate.sql, 0) for trial in trials]
        return choose("unit_tests", context, trials, scores, (), keys)

    def _by_test(
        self, lab: Lab, context: Context, tests: Sequence[str], candidates: Shown
    ) -> Judged:
        """How many tests each candidate passes, by one call a test, and the keys of the calls."""
        prompt = "select/evaluate_one_test"
        request = partial(lab.request, self._judge, prompt, context, candidates=candidates)
        read = partial(replies.verdicts, count=len(candidates))
        answers = lab.ask_many([request(test=test) for test in tests], read)
        passed = [0] * len(candidates)
        for answer in answers:
            for n, passes in enumerate(answer.value or ()):
                passed[n] += passes
        return passed, _keys(answers)

    def _by_candidate(
        self, lab: Lab, context: Context, tests: Sequence[str], candidates: Shown
    ) -> Judged:
        """How many tests each candidate passes, by one call a candidate, and the keys of the calls."""
        if not tests:
            return [0] * len(candidates), []
        prompt = "select/evaluate_one_candidate"
        request = partial(lab.request, self._judge, prompt, context, tests=tests)
        read = partial(replies.verdicts, count=len(tests), label="test")
        answers = lab.ask_many([request(**candidate) for candidate in candidates], read)
        return [sum(answer.value or ()) for answer in answers], _keys(answers)

    @property
    def _judge(self) -> Self:
        return replace(self, temperature=self.judge_temperature)


def _clusters(trials: Iterable[Trial]) -> list[dict[str, Any]]:
    """The queries of each result, and that result."""
    clusters: dict[str, dict[str, Any]] = {}
    for trial in trials:
        empty = {"queries": [], "result": shown(trial)["result"]}
        cluster = clusters.setdefault(result_of(trial), empty)
        cluster["queries"].append(trial.candidate.sql)
    return list(clusters.values())


def _keys(answers: Iterable[Answer[Any]]) -> list[str]:
    return list(chain.from_iterable(answer.keys for answer in answers))
