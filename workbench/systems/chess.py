"""CHESS (Talaei et al., 2024), as figure 2 draws it: four agents, combined to suit the budget.

The Information Retriever (IR) looks up values and descriptions, the Schema Selector (SS) prunes, the Candidate
Generator (CG) writes and revises, the Unit Tester (UT) selects. Each agent sees only what the agents before it kept.

What departs from the paper, and where it is of two minds:
- Section 3.1 revises faulty queries alone, appendix A.4 and figure 6 any query until it comes back unchanged: the first
  holds for the high budget's 20 candidates, the second (`sound`) for the low budget's one.
- Missing entities (figure 12) are the values of a keyword of which the query holds none; the paper does not say which.
- Unit tests are written only where results differ. A reply without verdicts passes nothing. Equal queries stand once.
- Similarity is by letters unless an embedding model is named (the paper's: openai/text-embedding-3-small).
- The paper names no temperatures; 0.5 for candidates and 0.8 for unit tests are the released code's. For its 20
  candidates that code samples two prompts ten times each; here figure 11's prompt is sampled 20 times.
- The released code shows generator and reviser the whole schema whatever was pruned, and the Unit Tester only what the
  candidates use; here each sees what was kept. It writes 20 tests, not 10, and adds a fixed one of its own.
- A revision stops at a query that comes back unchanged: the same prompt would get the same reply.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any, Literal

from workbench import replies
from workbench.errors import at_least, one_of
from workbench.lab import Lab
from workbench.retrieve.retrieval import Descriptions, Keywords, Matching, Retrieval
from workbench.sql.reading import quote
from workbench.sql.texts import column_text, literal, with_retrieved
from workbench.systems.generate import Generate
from workbench.systems.repair import Repair, shown_result
from workbench.systems.select import Majority, choose, drawn, result_of, shown
from workbench.systems.system import System
from workbench.types import Context, Question, Schema, Selection, Trial, lower_name


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

    filtering, generation: the models that are asked about every column, and that write the candidate (table 8).

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


def keep(context: Context, columns: Iterable[tuple[str, str]]) -> Context:
    """The context with these columns and the keys of their tables (appendix A.3); unchanged if there are none."""
    pairs = list(columns)
    return replace(context, schema=context.schema.only(pairs)) if pairs else context


def by_table(schema: Schema) -> Mapping[str, Sequence[str]]:
    """The names of the schema's columns, for the readers of replies."""
    return {table.name: [column.name for column in table.columns] for table in schema.tables}


@dataclass(frozen=True)
class FilterColumns:
    """filter_column (figure 10, appendix A.3): one call for each column asks whether it is relevant.

    Primary and foreign keys always stay, and so does a column whose reply cannot be read.
    group: how many columns a call asks about; 1 in the paper.
    """

    model: str
    temperature: float = 0.0
    group: int = 1

    def __post_init__(self) -> None:
        at_least(1, group=self.group)

    def __call__(self, lab: Lab, context: Context) -> Context:
        texts: dict[tuple[str, str], str] = {}  # of the columns that are no keys
        for table in with_retrieved(context.schema, context.values).tables:
            keyed = (table.primary_key, *(key.columns for key in table.foreign_keys))
            keys = {lower_name(name) for names in keyed for name in names}
            others = (column for column in table.columns if lower_name(column.name) not in keys)
            texts |= {(table.name, c.name): column_text(table.name, c) for c in others}
        asked = list(texts)
        groups = [asked[i : i + self.group] for i in range(0, len(asked), self.group)]
        question = context.question
        about: dict[str, Any] = {"question": question.text, "hint": question.evidence}
        if self.group == 1:
            ask = partial(lab.request, self, "prune/filter_column", question, **about)
            answers = lab.ask_many([ask(column=texts[p]) for (p,) in groups], replies.relevant)
            irrelevant = {p for (p,), a in zip(groups, answers, strict=True) if a.value is False}
        else:

            def verdicts(pairs: Sequence[tuple[str, str]]) -> set[tuple[str, str]]:
                names = {f"{quote(t)}.{quote(c)}": (t, c) for t, c in pairs}
                read = partial(replies.relevant_columns, names=list(names))
                data = {"columns": "\n\n".join(texts[p] for p in pairs), "count": len(pairs)}
                answer = lab.ask(self, "prune/filter_column_group", question, read, **about, **data)
                return {names[name] for name, yes in (answer.value or {}).items() if not yes}

            irrelevant = set().union(*lab.each(verdicts, groups))
        return keep(context, [pair for pair in context.schema.columns() if pair not in irrelevant])


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
    by_keyword: dict[str, dict[str, str]] = {}
    for match in context.values:
        place = f"{quote(match.table)}.{quote(match.column)}: {literal(match.value)}"
        by_keyword.setdefault(match.keyword, {})[place] = match.value
    sql = trial.candidate.sql.replace("''", "'")
    unused = [own for own in by_keyword.values() if not any(v in sql for v in own.values())]
    missing = dict.fromkeys(chain.from_iterable(unused))
    return {**shown_result(context, trial), "missing": "\n".join(missing)}


proposing = partial(Generate, "generate/chess_candidate", read=replies.sql_object)  # figure 11
revising = partial(
    Repair, "fix/reviser", read=replies.sql_object, data=result_and_missing
)  # figure 12


@dataclass(frozen=True)
class UnitTester:
    """The Unit Tester (figures 13 and 14): the query that passes most tests; a trial's score is how many it passes.

    tests: how many tests one call writes, to tell the clusters of equal results apart.
    by: one call judges all candidates by one "test", or one "candidate" by all tests (section 4.2.1).
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
        queries = [i for i, trial in enumerate(trials) if trial.candidate.sql.strip()]
        found = {trials[i].candidate.sql: trials[i] for i in drawn(context, trials, queries)}
        clusters: dict[str, dict[str, Any]] = {}
        for sql, trial in found.items():
            one = clusters.setdefault(result_of(trial), {"queries": [], **shown(trial)})
            one["queries"].append(sql)
        passed, keys = dict.fromkeys(found, 0), list[str]()
        if len(clusters) > 1:
            data = {"clusters": list(clusters.values()), "count": self.tests}
            written = lab.ask(self, "select/unit_tests", context, replies.strings, **data)
            tests = (written.value or [])[: self.tests]
            judge = partial(lab.request, replace(self, temperature=self.judge_temperature))
            shows: list[dict[str, Any]] = [shown(trial) for trial in found.values()]
            if self.by == "test":
                ask = partial(judge, "select/evaluate_one_test", context, candidates=shows)
                requests, read = [ask(test=test) for test in tests], replies.verdicts
                answers = lab.ask_many(requests, partial(read, count=len(found)))
                columns = zip(*(a.value for a in answers if a.value), strict=True)
                passed |= {sql: sum(own) for sql, own in zip(found, columns, strict=False)}
            else:
                ask = partial(judge, "select/evaluate_one_candidate", context, tests=tests)
                read = partial(replies.verdicts, count=len(tests), label="test")
                answers = lab.ask_many([ask(**one) for one in shows if tests], read)
                passed |= {sql: sum(a.value or ()) for sql, a in zip(found, answers, strict=False)}
            keys = [*written.keys, *(key for answer in answers for key in answer.keys)]
        scores = [passed.get(trial.candidate.sql, 0) for trial in trials]
        return choose("unit_tests", context, trials, scores, (), keys)
