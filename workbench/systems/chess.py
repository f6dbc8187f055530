"""CHESS (Talaei et al., 2024), as figure 2 draws it: four agents, combined to suit the budget.

The Information Retriever (IR) looks up values and descriptions, the Schema Selector (SS) prunes,
the Candidate Generator (CG) writes and revises, the Unit Tester (UT) selects. Each agent sees only
what the agents before it kept.

What departs from the paper, and where it is of two minds:
- Section 3.1 revises faulty queries alone, appendix A.4 and figure 6 any query until it comes back
  unchanged: the first holds for the high budget's 20 candidates, the second (`sound`) for the low
  budget's one.
- Missing entities (figure 12) are the values of the keywords none of whose values is in the query;
  the paper does not say which.
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
from typing import Any, Literal

from workbench import replies
from workbench.errors import at_least, one_of
from workbench.lab import Lab
from workbench.retrieve.retrieval import Descriptions, Keywords, Matching, Retrieval
from workbench.sql.reading import quote
from workbench.sql.texts import literal, with_retrieved
from workbench.systems.generate import Generate
from workbench.systems.prune import FilterColumns, by_table, keep
from workbench.systems.repair import Repair, shown_result
from workbench.systems.select import Majority, choose, drawn, result_of, shown
from workbench.systems.system import System
from workbench.types import (
    Column,
    Context,
    Question,
    Schema,
    Selection,
    Trial,
    ValueMatch,
)


def chess_ir_cg_ut(
    model: str = "embedded/parser",
    candidates: int = 20,
    tests: int = 10,
    temperature: float = 0.5,
    by: Literal["test", "candidate"] = "test",
    generation: str = "",
) -> System:
    """Return the system for a high budget (section 4.2.1).

    Many candidates are revised, and one is selected by unit tests.

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
    model: str = "embedded/parser",
    revisions: int = 3,
    filtering: str = "",
    generation: str = "",
) -> System:
    """Return the system for a low budget (section 4.2.3).

    The schema is made small, and one candidate is revised up to three times.

    filtering, generation: the models that are asked about every column, and that write the
        candidate (table 8).

    >>> [type(step).__name__ for step in wb.chess_ir_ss_cg().prune]
    ['FilterColumns', 'SelectTables', 'SelectColumns']
    """
    return System(
        "CHESS (IR, SS, CG)",
        retrieve=InformationRetriever(_retrieval(model)),
        prune=(
            FilterColumns(filtering or model),
            SelectTables(model),
            SelectColumns(model),
        ),
        generate=(proposing(generation or model),),
        fix=(revising(model, revisions, sound=True),),
        select=Majority(),
    )


def _retrieval(model: str) -> Retrieval:
    """Return retrieval as released: five descriptions of a query.

    A column keeps one value for a keyword (appendix A.1).
    """
    return Retrieval(
        Keywords(model), matching=Matching(per_keyword=1), descriptions=Descriptions(5)
    )


@dataclass(frozen=True)
class InformationRetriever:
    """The IR agent (figure 15): the schema shows what was retrieved.

    Retrieved values stand first among a column's examples. Descriptions are shown of columns for
    which they were retrieved; without their retrieval all are shown.
    """

    retrieval: Retrieval

    def __call__(self, lab: Lab, question: Question, schema: Schema) -> Context:
        context = self.retrieval(lab, question, schema)
        # None shows all descriptions, and () none.
        descriptions = context.descriptions if self.retrieval.descriptions else None
        schema = with_retrieved(schema, context.values, descriptions)
        return Context(question, schema, context.values)


@dataclass(frozen=True)
class RandomExample:
    """The context of table 4 without retrieval: a random example of each column, all descriptions.

    The example is drawn for each question anew, from the column's most frequent values.
    """

    def __call__(self, lab: Lab, question: Question, schema: Schema) -> Context:
        del lab
        rng = random.Random(f"{question.text} random example")  # noqa: S311  no secret

        def with_one_example(column: Column) -> Column:
            number = min(1, len(column.examples))
            return replace(column, examples=tuple(rng.sample(column.examples, number)))

        tables = []
        for table in schema.tables:
            columns = tuple(map(with_one_example, table.columns))
            tables.append(replace(table, columns=columns))
        return Context(question, replace(schema, tables=tuple(tables)))


@dataclass(frozen=True)
class SelectTables:
    """select_tables (figure 8): the schema with the tables that one call names.

    An unread reply changes nothing.
    """

    model: str
    temperature: float = 0.0

    def __call__(self, lab: Lab, context: Context) -> Context:
        read = partial(replies.tables, schema=by_table(context.schema))
        answer = lab.ask(self, "prune/select_tables", context, read)
        named = answer.value or ()
        columns = context.schema.columns()
        return keep(
            context, [(table, column) for table, column in columns if table in named]
        )


@dataclass(frozen=True)
class SelectColumns:
    """select_columns (figure 9): the schema with the columns that one call names.

    An unread reply changes nothing.
    """

    model: str
    temperature: float = 0.0

    def __call__(self, lab: Lab, context: Context) -> Context:
        read = partial(replies.columns, schema=by_table(context.schema))
        answer = lab.ask(self, "prune/select_columns", context, read)
        columns: list[tuple[str, str]] = []
        for table, named in (answer.value or {}).items():
            columns += [(table, column) for column in named]
        return keep(context, columns)


def result_and_missing(context: Context, trial: Trial) -> Mapping[str, Any]:
    """Return the variables of revise beside the query: its result, and the missing entities.

    These are the values of the keywords none of whose values is in the query.
    """
    values: defaultdict[str, list[ValueMatch]] = defaultdict(list)
    for match in context.values:
        values[match.keyword].append(match)
    sql = trial.candidate.sql.replace("''", "'")
    missing: list[str] = []
    for matches in values.values():
        if all(match.value not in sql for match in matches):
            missing += [_place(match) for match in matches]
    distinct = dict.fromkeys(missing)
    return {**shown_result(context, trial), "missing": "\n".join(distinct)}


def _place(match: ValueMatch) -> str:
    return f"{quote(match.table)}.{quote(match.column)}: {literal(match.value)}"


# The steps of figures 11 and 12, which take a model and further settings.
proposing = partial(Generate, "generate/chess_candidate", read=replies.sql_object)
revising = partial(
    Repair, "fix/reviser", read=replies.sql_object, data=result_and_missing
)


@dataclass(frozen=True)
class UnitTester:
    """The Unit Tester (figures 13 and 14): the query that passes most tests.

    A trial's score is how many it passes.

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

    def __call__(
        self, lab: Lab, context: Context, trials: Sequence[Trial]
    ) -> Selection:
        with_query = [
            i for i, trial in enumerate(trials) if trial.candidate.sql.strip()
        ]
        in_order = drawn(context, trials, with_query)
        by_query = {trials[i].candidate.sql: trials[i] for i in in_order}
        clusters = _clusters(by_query.values())
        passed_by = dict.fromkeys(by_query, 0)
        keys: list[str] = []
        if len(clusters) > 1:
            data = {"clusters": clusters, "count": self.tests}
            written = lab.ask(
                self, "select/unit_tests", context, replies.strings, **data
            )
            tests = (written.value or [])[: self.tests]
            candidates = list(map(shown, by_query.values()))
            passed, judging_keys = self._passed(lab, context, tests, candidates)
            passed_by = dict(zip(by_query, passed, strict=True))
            keys = [*written.keys, *judging_keys]
        scores = [passed_by.get(trial.candidate.sql, 0) for trial in trials]
        return choose("unit_tests", context, trials, scores, (), keys)

    def _passed(
        self,
        lab: Lab,
        context: Context,
        tests: Sequence[str],
        candidates: Sequence[Mapping[str, str]],
    ) -> tuple[list[int], list[str]]:
        """Return how many tests each candidate passes, and the keys of the judge's calls."""
        passed = [0] * len(candidates)
        if not tests:  # then there is nothing to ask
            return passed, []
        data: list[dict[str, Any]]
        if self.by == "test":
            prompt = "select/evaluate_one_test"
            data = [{"test": test, "candidates": candidates} for test in tests]
            read = partial(replies.verdicts, count=len(candidates))
        else:
            prompt = "select/evaluate_one_candidate"
            data = [{**candidate, "tests": tests} for candidate in candidates]
            read = partial(replies.verdicts, count=len(tests), label="test")
        judge = replace(self, temperature=self.judge_temperature)
        requests = [lab.request(judge, prompt, context, **shows) for shows in data]
        answers = lab.ask_many(requests, read)
        keys: list[str] = []
        for call, answer in enumerate(answers):
            keys += answer.keys
            for place, passes in enumerate(answer.value or ()):
                candidate = place if self.by == "test" else call
                passed[candidate] += int(passes)
        return passed, keys


def _clusters(trials: Iterable[Trial]) -> list[dict[str, Any]]:
    """Return the queries of each result, and that result."""
    clusters: dict[str, dict[str, Any]] = {}
    for trial in trials:
        result = result_of(trial)
        if result not in clusters:
            clusters[result] = {"queries": [], "result": shown(trial)["result"]}
        clusters[result]["queries"].append(trial.candidate.sql)
    return list(clusters.values())
