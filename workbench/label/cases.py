"""Cases to label: wrong answers, taxonomies that sort them, causes that rules suggest.

Three papers' taxonomies are YAML files in `taxonomies/`, and users write their own; a category
lists the causes that suggest it. Rules compare the two queries clause by clause, and the two
results. Figures draw their guesses apart from people's labels.
"""

import hashlib
import math
import random
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    Field,
    StrictBool,
    ValidationError,
    model_validator,
)
from pydantic import StringConstraints as Constraints

from workbench.benchmarks.benchmark import Flaw
from workbench.benchmarks.files import first_fault
from workbench.errors import BadInputError, read_yaml
from workbench.label.results import FAILS, Results, compare_results
from workbench.sql.facts import comparisons, functions, parts
from workbench.sql.reading import normal_form, normalise_text, resolved
from workbench.study.run import Run
from workbench.study.study import Study
from workbench.systems.system import System
from workbench.types import Execution, Question, Schema, lower_name

PUBLISHED = {
    file.stem: file for file in Path(__file__).with_name("taxonomies").glob("*.yaml")
}

# The causes that rules find; only a known flaw of a question has one of the last two.
_Cause = Literal[
    "other form",  # of the same answer
    "wrong gold",
    "hint ignored",
    "missing table or join",
    "other column",
    "other literal",
    "aggregation",
    "function",
    "DISTINCT or NULL handling",
    "order and limit",
    "vague question",
    "inconsistent columns",
]


_Name = Annotated[
    str, Constraints(strict=True, strip_whitespace=True, pattern=r"^[^\r\n]+$")
]


class Part(BaseModel, extra="forbid", frozen=True):
    """A part of a category; its short form in a file is its name alone."""

    name: _Name
    meaning: str = ""
    suggested_by: tuple[_Cause, ...] = ()
    # Set apart from the shares that the paper's figure shows.
    apart: bool = False

    @model_validator(mode="before")
    @classmethod
    def _read_name(cls, entry: Any) -> Any:
        return {"name": entry} if isinstance(entry, str) else entry


def _check_names(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    names = {part.name for part in parts}
    if len(names) < len(parts):
        raise ValueError("a name is used twice")
    if " / " in "".join(names):
        raise ValueError("a name has ' / ', which stands before a sub-category")
    return parts


class Category(Part, frozen=True):
    parts: Annotated[tuple[Part, ...], AfterValidator(_check_names)] = ()


class Taxonomy(BaseModel, extra="forbid", frozen=True):
    """The categories into which a paper or a user sorts cases, and which cases those are."""

    name: _Name
    categories: Annotated[
        tuple[Category, ...], Field(min_length=1), AfterValidator(_check_names)
    ]
    source: str = ""  # the figure or section of the paper
    # Whose answers are sorted: methods of a study, each with the role of its `model`.
    systems: Mapping[str, str] = {"chase_sql": "model"}
    # The cases that are sorted.
    cases: Literal["wrong", "no correct candidate", "selection failed"] = "wrong"
    # Whether a case may have several labels.
    several: StrictBool = False
    # How many of the cases are labelled, rounded up. It is read as text, since the binary fraction
    # next to 0.1 is larger than a tenth, and a tenth of ten cases would be two.
    share: Annotated[Fraction, BeforeValidator(str), Field(gt=0, le=1)] = Fraction(1)

    def choices(self) -> dict[str, Part]:
        """Return all labels, such as "Vague Question" and "Vague Question / Column", in order."""
        choices: dict[str, Part] = {}
        for category in self.categories:
            choices[category.name] = category
            for part in category.parts:
                choices[f"{category.name} / {part.name}"] = part
        return choices

    def check(self, names: tuple[str, ...]) -> None:
        """Raise BadInputError for a label that the taxonomy does not have."""
        known = self.choices()
        are_too_many = len(names) > 1 and not self.several
        if not names or are_too_many or not known.keys() >= set(names):
            number = "one or more" if self.several else "one"
            raise BadInputError(
                f"{self.name} gives a case {number} of {'; '.join(known)}: {names}"
            )


def open_taxonomy(name: str) -> Taxonomy:
    """Return a paper's taxonomy by its name, in any case, or the user's own by its YAML file."""
    file = PUBLISHED.get(_file_stem(name), Path(name))
    if file.suffix not in {".yaml", ".yml"}:
        names = ", ".join(sorted(PUBLISHED))
        raise BadInputError(
            f"no taxonomy {name!r}; there are {names}, or give a .yaml file"
        )
    try:
        taxonomy = Taxonomy.model_validate(read_yaml(file))
    except ValidationError as error:
        field, first = first_fault(error)
        raise BadInputError(
            f"{file}: {field or 'the file'}: {first['msg']}, not {first['input']!r}"
        ) from error
    papers_file = PUBLISHED.get(_file_stem(taxonomy.name))
    if papers_file and papers_file != file:
        raise BadInputError(
            f"{file}: {taxonomy.name} is a paper's taxonomy: give another name"
        )
    return taxonomy


def _file_stem(name: str) -> str:
    return name.lower().replace(" ", "-")


_KEPT_ROWS = 100  # of each result, so that a thousand cases fit in memory


@dataclass(frozen=True)
class Case:
    """A wrong prediction with its gold query."""

    question: Question
    difficulty: str
    gold: str  # SQL
    predicted: str  # SQL
    system: System
    generator: str
    gold_execution: Execution
    execution: Execution
    schema: Schema
    results: Results  # of all rows, of which the executions have the first
    agreeing: int = 1  # candidates with the same result as the prediction
    candidates: int = 1

    @cached_property
    def key(self) -> str:
        return case_key(self.question.db_id, self.question.text, self.predicted)


def case_key(db_id: str, question: str, sql: str) -> str:
    """Return a case's key: the same after a rerun, under another id, in another layout of SQL."""
    text = "\n".join((db_id, question, normal_form(sql)))
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()[:20]


def cases(study: Study, run: Run, taxonomy: Taxonomy) -> tuple[Case, ...]:
    """Return the run's wrong answers that the taxonomy sorts, or its share of them, in order.

    The share is drawn by the questions' ids, so a rerun that changes a few answers keeps most of
    the sample.
    """
    trials = run.trials
    if trials.empty:
        return ()
    wrong = trials[trials["chosen"] & ~trials["correct"]]
    oracle = run.questions.set_index("question_id")["oracle"]
    had_correct = wrong["question_id"].map(oracle).astype(bool)
    if taxonomy.cases == "selection failed":
        wrong = wrong[had_correct]
    elif taxonomy.cases == "no correct candidate":
        wrong = wrong[~had_correct]
    ids = sorted(wrong["question_id"], key=_draw)
    drawn = ids[: math.ceil(len(ids) * taxonomy.share)]
    questions = {question.id: question for question in study.benchmark.questions}
    shown_cases = []
    for row in wrong[wrong["question_id"].isin(drawn)].to_dict("records"):
        question = questions[row["question_id"]]
        groups = trials.loc[trials["question_id"] == question.id, "group"]
        gold = study.benchmark.golds[question.id].sql
        # Verdicts run normalised queries: in another text they would run a second time.
        queries = [normalise_text(sql) for sql in (gold, row["sql"])]
        gold_execution, execution = study.lab.run_many(question, queries)
        agreeing = 1
        if row["group"] >= 0:  # a query without a result is in no group
            agreeing = int((groups == row["group"]).sum())
        shown_cases.append(
            Case(
                question=question,
                difficulty=row["difficulty"],
                gold=gold,
                predicted=row["sql"],
                system=run.system,
                generator=row["generator"],
                gold_execution=_cut(gold_execution),
                execution=_cut(execution),
                schema=study.lab.schema(question.db_id),
                results=compare_results(gold_execution, execution),
                agreeing=agreeing,
                candidates=len(groups),
            )
        )
    return tuple(shown_cases)


def _cut(execution: Execution) -> Execution:
    return replace(execution, rows=execution.rows[:_KEPT_ROWS])


def _draw(question_id: str) -> float:
    """Return the question's place in the sample, the same on every machine.

    The seed is of the form that version 0.1 used: another one would draw another sample.
    """
    return random.Random(f"0 {question_id} question").random()  # noqa: S311  no secret


# COUNT(column) mostly equals COUNT(*).
_COUNT = re.compile(r"COUNT\((?!DISTINCT)[^()]*\)")
_DISTINCT = re.compile(r"\bDISTINCT\b|\bIS (NOT )?NULL\b")
_AGGREGATES = {"COUNT", "SUM", "AVG", "MIN", "MAX"}
_ERRORS: dict[str, str] = {  # messages of SQLite
    "no such column": "other column",
    "no such table": "missing table or join",
    "no such function": "function",
}


# The cause for which each kind of fact speaks in which the queries differ, the likeliest first.
_CAUSES = {
    "FROM": "missing table or join",
    "JOIN ON": "missing table or join",
    "SELECT": "other column",
    "columns": "other column",
    "WHERE": "other literal",
    "operations": "aggregation",
    "GROUP BY": "aggregation",
    "functions": "function",
    "DISTINCT": "DISTINCT or NULL handling",
    "ORDER BY": "order and limit",
    "LIMIT": "order and limit",
}
# Of these kinds, gold alone has to have some facts, and the prediction alone others.
_ON_BOTH_SIDES = {"JOIN ON", "columns", "GROUP BY"}


class Suggestion(NamedTuple):
    name: str
    why: str


def suggested(
    case: Case, taxonomy: Taxonomy, flaw: Flaw | None = None
) -> Suggestion | None:
    """Return the label of the question's known flaw, or else of the likeliest cause."""
    label_of: dict[str, str] = {}
    for name, part in taxonomy.choices().items():
        for suggesting in part.suggested_by:
            label_of[suggesting] = name
    causes = list(suggest(case))
    if flaw:
        causes.insert(0, (flaw.kind, flaw.note))
    for cause, why in causes:
        if cause in label_of:
            return Suggestion(label_of[cause], f"{cause}: {why}")
    return None


def suggest(case: Case) -> Iterator[tuple[str, str]]:
    """Yield the possible causes of the wrong answer, each with a reason, the likeliest first."""
    if case.results.same:
        yield "other form", "both results are the same in another form"
    for message, cause in _ERRORS.items():
        if message in case.execution.error:
            yield cause, f"{FAILS}: {case.execution.error}"
    yield from _reasons(case)


def _reasons(case: Case) -> Iterator[tuple[str, str]]:
    """Yield the causes for which gold's result and the two queries speak."""
    gold = case.gold_execution
    if not gold.is_complete:
        yield "wrong gold", f"gold does not run: {gold.error or gold.status}"
    elif _is_nothing(gold) and not _is_nothing(case.execution):
        yield "wrong gold", "gold finds nothing, and the prediction does"
    alone = _alone(case)
    # These are TABLE.COLUMN.
    columns = [column.partition(".")[2] for column in alone["columns"].gold]
    for word in alone["literals"].gold + columns:
        if word and _has_word(case.question.evidence, word):
            yield "hint ignored", f"the hint says {word!r}, which gold alone uses"
    yielded = []
    for kind, cause in _CAUSES.items():
        sides = alone[kind]
        differs = all(sides) if kind in _ON_BOTH_SIDES else any(sides)
        # SELECT and columns often differ by the same names, which are told once.
        if differs and (cause, sides) not in yielded:
            yielded.append((cause, sides))
            gold_alone, predicted_alone = (
                ", ".join(side) or "nothing" for side in sides
            )
            yield (
                cause,
                f"{kind}: gold has {gold_alone}, the prediction {predicted_alone}",
            )


def _has_word(text: str, word: str) -> bool:
    pattern = rf"(?<!\w){re.escape(lower_name(word))}(?!\w)"
    return re.search(pattern, lower_name(text)) is not None


def _is_nothing(execution: Execution) -> bool:
    """Whether a result has no cell but NULL."""
    return all(cell is None for row in execution.rows for cell in row)


class _Alone(NamedTuple):
    """The facts of a kind that one of two queries has alone."""

    gold: list[str]
    predicted: list[str]


def _alone(case: Case) -> Mapping[str, _Alone]:
    """Return the facts of gold alone, and those of the prediction alone, by kind.

    Where one of the queries cannot be read, only their functions are compared.
    """
    alone: defaultdict[str, _Alone] = defaultdict(lambda: _Alone([], []))
    gold = _facts(case.gold, case.schema)
    predicted = _facts(case.predicted, case.schema)
    are_read = "columns" in gold and "columns" in predicted
    for kind in gold.keys() | predicted.keys():
        if kind == "functions" or are_read:
            alone[kind] = _Alone(
                gold=sorted(gold[kind] - predicted[kind]),
                predicted=sorted(predicted[kind] - gold[kind]),
            )
    return alone


def _facts(sql: str, schema: Schema) -> defaultdict[str, set[str]]:
    """Return what a query says, by clause and by kind; its functions, if it cannot be read."""
    names = functions(sql)
    facts = defaultdict[str, set[str]](set, functions=set(names - _AGGREGATES))
    query = resolved(sql, schema)
    if not query:
        return facts
    facts["operations"] |= names & _AGGREGATES
    facts["columns"] |= {".".join(column) for column in query.columns.values()}
    facts["literals"] |= {str(literal.value) for literal in comparisons(sql, schema)}
    for part in parts(sql, schema):
        if part.clause == "GROUP BY":
            facts["operations"].add("GROUP")
        for clause, text in part.says:
            meaning = _COUNT.sub("COUNT(*)", text)
            if _DISTINCT.search(meaning):
                facts["DISTINCT"].add(meaning)
            if clause == "SELECT" and part.depth:
                continue  # what a subquery returns is no column of the result
            kind = "WHERE" if clause == "HAVING" else clause
            facts[kind].add(meaning)
    return facts


def difference(case: Case) -> str:
    """Return a sentence: the difference of the results, then its two likeliest reasons."""
    reasons = dict.fromkeys(why for _, why in _reasons(case))
    text = "; ".join(filter(None, [case.results.sentence, *islice(reasons, 2)]))
    return text[:1].upper() + text[1:] + "."
