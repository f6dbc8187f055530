"""Cases to label: the wrong answers of a run, the taxonomies that sort them, and the causes that rules suggest.

Three papers' taxonomies are YAML files in `taxonomies/`, and users write their own; a category lists the causes that
suggest it. Rules compare the two queries clause by clause, and the two results. Figures draw their guesses apart from
people's labels.
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
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, ValidationError
from pydantic import StringConstraints as Constraints

from workbench.benchmarks.benchmark import Flaw
from workbench.errors import BadInputError, read_yaml
from workbench.sql.facts import comparisons, functions, parts
from workbench.sql.reading import normal_form, normalise_text, resolved
from workbench.study.run import Run
from workbench.study.study import Study
from workbench.types import Execution, Question, Schema, lower_name

PUBLISHED = {file.stem: file for file in Path(__file__).with_name("taxonomies").glob("*.yaml")}

# The causes that rules find; only a known flaw of a question has one of the last two.
_Cause = Literal[
    "wrong gold", "hint ignored", "missing table or join", "other column", "other literal", "aggregation", "function",
    "DISTINCT or NULL handling", "order and limit", "vague question", "inconsistent columns",
]  # fmt: skip


def _different(parts: tuple[Any, ...]) -> tuple[Any, ...]:
    names = [part.name for part in parts]
    if len({*names}) < len(names) or " / " in "".join(names):
        raise ValueError("a name is used twice, or has ' / ', which stands before a sub-category")
    return parts


_Name = Annotated[str, Constraints(strict=True, strip_whitespace=True, pattern=r"^[^\r\n]+$")]
# The short form of a category is its name alone.
_LONG = BeforeValidator(lambda given: {"name": given} if isinstance(given, str) else given)


class Part(BaseModel, extra="forbid", frozen=True):
    name: _Name
    meaning: str = ""
    suggested_by: tuple[_Cause, ...] = ()
    apart: bool = False  # set apart from the shares that the paper's figure shows


class Category(Part, frozen=True):
    parts: Annotated[tuple[Annotated[Part, _LONG], ...], AfterValidator(_different)] = ()


class Taxonomy(BaseModel, extra="forbid", frozen=True):
    """The categories into which a paper or a user sorts cases, and which cases those are."""

    name: _Name
    categories: Annotated[
        tuple[Annotated[Category, _LONG], ...], Field(min_length=1), AfterValidator(_different)
    ]
    source: str = ""  # the figure or section of the paper
    cases: Literal["wrong", "no correct candidate", "selection failed"] = "wrong"  # that it sorts
    several: Annotated[bool, Field(strict=True)] = False  # whether a case may have several labels
    share: Annotated[Fraction, BeforeValidator(str), Field(gt=0, le=1)] = Fraction(1)  # to label

    def choices(self) -> dict[str, Part]:
        """All names of a label, such as "Vague Question" and "Vague Question / Column", in order."""
        found: dict[str, Part] = {}
        for category in self.categories:
            found[category.name] = category
            found |= {f"{category.name} / {part.name}": part for part in category.parts}
        return found

    def check(self, names: tuple[str, ...]) -> None:
        """Raise BadInputError for a label that the taxonomy does not have."""
        known = self.choices()
        if not names or {*names} - {*known} or (len(names) > 1 and not self.several):
            some = "one or more" if self.several else "one"
            raise BadInputError(f"{self.name} gives a case {some} of {'; '.join(known)}: {names}")


def open_taxonomy(name: str) -> Taxonomy:
    """A paper's taxonomy by its name, in any case, or the user's own by its YAML file."""
    file = PUBLISHED.get(name.lower().replace(" ", "-"), Path(name))
    if file.suffix not in {".yaml", ".yml"}:
        names = ", ".join(sorted(PUBLISHED))
        raise BadInputError(f"no taxonomy {name!r}; there are {names}, or give a .yaml file")
    try:
        found = Taxonomy.model_validate(read_yaml(file))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the file"
        raise BadInputError(f"{file}: {where}: {first['msg']}, not {first['input']!r}") from error
    if PUBLISHED.get(found.name.lower().replace(" ", "-"), file) != file:
        raise BadInputError(f"{file}: a paper's taxonomy is named {found.name}: give another name")
    return found


_KEPT_ROWS = 1_000  # of each result, so that three hundred cases fit in memory


@dataclass(frozen=True)
class Case:
    """A wrong prediction with its gold query."""

    question: Question
    difficulty: str
    gold: str  # SQL
    predicted: str  # SQL
    generator: str
    gold_execution: Execution
    execution: Execution
    schema: Schema
    agreeing: int = 1  # candidates of the question with the same result as the prediction
    candidates: int = 1

    @cached_property
    def key(self) -> str:
        return case_key(self.question.db_id, self.question.text, self.predicted)


def case_key(db_id: str, question: str, sql: str) -> str:
    """The key of a case in the label store: the same after a rerun, under another id, and for another layout of the query."""
    text = "\n".join((db_id, question, normal_form(sql)))
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()[:20]


def cases(study: Study, run: Run, taxonomy: Taxonomy) -> tuple[Case, ...]:
    """The run's wrong answers that the taxonomy sorts, or its share of them, in the benchmark's order.

    The share is drawn by the questions' ids, so a rerun that changes a few answers keeps most of the sample.
    """
    trials = run.trials
    if trials.empty:
        return ()
    wrong = trials[trials["chosen"] & ~trials["correct"]]
    if taxonomy.cases != "wrong":
        had_one = wrong["question_id"].map(run.questions.set_index("question_id")["oracle"])
        wrong = wrong[had_one.astype(bool) == (taxonomy.cases == "selection failed")]
    ids = sorted(wrong["question_id"], key=lambda key: random.Random(f"0 {key} question").random())  # noqa: S311  a sample, no secret
    drawn = ids[: math.ceil(len(ids) * taxonomy.share)]
    questions = {question.id: question for question in study.benchmark.questions}
    groups = dict(list(trials.groupby("question_id")["group"]))
    found = []
    for row in wrong[wrong["question_id"].isin(drawn)].to_dict("records"):
        question, group = questions[row["question_id"]], groups[row["question_id"]]
        gold, schema = study.benchmark.golds[question.id].sql, study.lab.schema(question.db_id)
        # The verdicts ran the queries in this form, so their results are cached.
        ran = study.lab.run_many(question, [normalise_text(sql) for sql in (gold, row["sql"])])
        first, second = (replace(one, rows=one.rows[:_KEPT_ROWS]) for one in ran)
        agreeing = int((group == row["group"]).sum()) if row["group"] >= 0 else 1
        about = (question, row["difficulty"], gold, row["sql"], row["generator"], first, second)
        found.append(Case(*about, schema, agreeing, len(group)))
    return tuple(found)


_COUNT = re.compile(r"COUNT\((?!DISTINCT)[^()]*\)")  # COUNT(column) mostly equals COUNT(*)
_DISTINCT = re.compile(r"\bDISTINCT\b|\bIS (NOT )?NULL\b")
_AGGREGATES = {"COUNT", "SUM", "AVG", "MIN", "MAX"}
_FAILS = "the prediction does not run"
_ERRORS: dict[str, str] = {  # messages of SQLite
    "no such column": "other column",
    "no such table": "missing table or join",
    "no such function": "function",
}
# Cause, kind of difference, and reason; "both": gold alone has one and the prediction alone has one.
_SIGNS: tuple[tuple[str, str, str], ...] = (
    ("missing table or join", "FROM", "gold reads {}, the prediction {}"),
    ("missing table or join", "both JOIN ON", "gold joins by {}, the prediction by {}"),
    ("other column", "SELECT", "gold returns {}, the prediction {}"),
    ("other column", "both columns", "gold uses {}, the prediction {}"),
    ("other literal", "WHERE", "gold requires {}, the prediction {}"),
    ("aggregation", "operations", "gold uses {}, the prediction {}"),
    ("aggregation", "both GROUP BY", "gold groups by {}, the prediction by {}"),
    ("function", "functions", "gold uses {}, the prediction {}"),
    ("DISTINCT or NULL handling", "DISTINCT", "gold has {}, the prediction {}"),
    ("order and limit", "ORDER BY", "gold orders by {}, the prediction by {}"),
    ("order and limit", "LIMIT", "gold has LIMIT {}, the prediction {}"),
)


def suggested(case: Case, taxonomy: Taxonomy, flaw: Flaw | None = None) -> tuple[str, str] | None:
    """The label of the question's known flaw, or else of the likeliest cause that has one, with the reason."""
    names = {cause: n for n, part in taxonomy.choices().items() for cause in part.suggested_by}
    causes = [*([(flaw.kind, flaw.note)] if flaw else []), *suggest(case)]
    return next(((names[one], f"{one}: {why}") for one, why in causes if one in names), None)


def suggest(case: Case) -> Iterator[tuple[str, str]]:
    """The possible causes of the wrong answer, each with a reason, the likeliest first."""
    gold, ran, only = case.gold_execution, case.execution, _only(case)
    for sign, cause in _ERRORS.items():
        if sign in ran.error:
            yield cause, f"{_FAILS}: {ran.error}"
    null, found = ({None}.issuperset(chain(*one.rows)) for one in (gold, ran))
    if not gold.is_complete:
        yield "wrong gold", f"gold does not run: {gold.error or gold.status}"
    elif null and not found:
        yield "wrong gold", "gold finds nothing, and the prediction does"
    hint, columns = lower_name(case.question.evidence), only["columns"][0]
    for used in [*only["literals"][0], *(name.partition(".")[2] for name in columns)]:
        if used and re.search(rf"(?<!\w){re.escape(lower_name(used))}(?!\w)", hint):
            yield "hint ignored", f"the hint says {used!r}, which gold alone uses"
    for cause, name, said in _SIGNS:
        sides = only[name.removeprefix("both ")]
        if any(sides) and (all(sides) or not name.startswith("both")):
            yield cause, said.format(*(", ".join(side) or "nothing" for side in sides))


def _only(case: Case) -> Mapping[str, tuple[list[str], list[str]]]:
    """The parts that only gold has, and those that only the prediction has, by clause and by kind of fact."""
    found: dict[str, tuple[set[str], set[str]]] = defaultdict(lambda: (set(), set()))
    queries = [(sql, resolved(sql, case.schema)) for sql in (case.gold, case.predicted)]
    for n, (sql, tree) in enumerate(queries):
        found["functions"][n].update(functions(sql) - _AGGREGATES)
        if not tree or not all(other for _, other in queries):
            continue
        found["operations"][n].update(functions(sql) & _AGGREGATES)
        found["columns"][n].update(map(".".join, tree.columns.values()))
        found["literals"][n].update(str(one.value) for one in comparisons(sql, case.schema))
        for part in parts(sql, case.schema):
            found["operations"][n].update({"GROUP"} if part.clause == "GROUP BY" else ())
            for clause, text in part.says:
                same = _COUNT.sub("COUNT(*)", text)
                found["DISTINCT"][n].update({same} if _DISTINCT.search(same) else ())
                kind = clause.replace("HAVING", "WHERE")
                found[kind][n].update({same} if kind != "SELECT" or not part.depth else ())
    only = {name: (sorted(a - b), sorted(b - a)) for name, (a, b) in found.items()}
    return defaultdict(lambda: ([], []), only)


def difference(case: Case) -> str:
    """A sentence: the difference of the results, then its two likeliest reasons."""
    reasons = dict.fromkeys(why for _, why in suggest(case) if not why.startswith(_FAILS))
    results = _of_results(case.gold_execution, case.execution)
    text = ": ".join(filter(None, (results, "; ".join([*reasons][:2]))))
    return text[:1].upper() + text[1:] + "."


def _of_results(gold: Execution, ran: Execution) -> str:
    if not ran.is_complete:
        return f"{_FAILS}, {ran.error or ran.status}"
    width, high = (len(ran.columns), len(gold.columns)), (ran.row_count, gold.row_count)
    if (width, high) == ((1, 1), (1, 1)):
        cells = (ran.rows[0][0], gold.rows[0][0])
        return " in place of ".join("NULL" if cell is None else str(cell)[:60] for cell in cells)
    if not gold.is_complete:
        return ""
    sizes = (("column", *width), ("row", *high))
    said = [f"{a:,} {noun}{'s' * (a != 1)} in place of {b:,}" for noun, a, b in sizes if a != b]
    own, first = {*gold.rows}, "first " * (gold.row_count > len(gold.rows))
    return "; ".join(said) or f"{len(own & {*ran.rows})} of {len(own)} {first}rows are shared"
