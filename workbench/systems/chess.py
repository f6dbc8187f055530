"""CHESS (Talaei et al., 2024), as figure 2 draws it: four agents, combined to suit the budget.

The Information Retriever (IR) looks up values and descriptions, the Schema Selector (SS) prunes, the
Candidate Generator (CG) writes and revises, the Unit Tester (UT) selects. Each agent sees only what the agents
before it kept. Section 4.2 runs two combinations, for a high and a low budget. `chess_table_4` are the ablations of
the second, `chess_table_8` its engines.

Departs from the paper in retrieval. By default, values come from the trigram index, and values and
descriptions are compared by their letters. That needs no key, costs nothing, and finds more typos than the
paper's index (tests/benchmarks/README.md), but no synonyms. An experiment that says `retrieval: paper` has the
paper's own: MinHash LSH, and embeddings with its thresholds (`retrieve/named.py`).

Table 7's correct context and figure 3's industrial schemas are `retrieve` steps of `evaluate`, since they need
gold:

    replace(system, retrieve=AroundGold(system.retrieve, benchmark.golds), prune=())

The Schema Selector saves tokens in the generator's prompt and spends them in calls of the cheap model. On
4,337 columns, the bundled ones repeated, the generator's prompt shrinks from 75,000 tokens to 390, after 3,337
calls of filter_column with 1.7 million tokens. That pays from the 23rd candidate on, so a figure of tokens
should show both.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from workbench.fix.reviser import Reviser
from workbench.generate.chess_candidate import ChessCandidate
from workbench.lab import Lab
from workbench.prune.filter_columns import FilterColumns
from workbench.prune.select_columns import SelectColumns
from workbench.prune.select_tables import SelectTables
from workbench.retrieve.keywords import Keywords
from workbench.retrieve.retrieval import Retrieval
from workbench.select.majority import Majority
from workbench.select.unit_tests import UnitTester
from workbench.sql.context_text import with_descriptions, with_values
from workbench.systems.baselines import WHOLE_SCHEMA
from workbench.systems.system import System, named
from workbench.types import Context, Question, Schema


@dataclass(frozen=True, slots=True)
class ChessModels:
    """The models of the tools: the triplets of table 8.

    filtering: asked once for every column, so a cheap model suffices.
    generation: writes the candidates.
    rest: does everything else.
    """

    filtering: str
    generation: str
    rest: str


@dataclass(frozen=True, slots=True)
class InformationRetriever:
    """The IR agent: puts the retrieved values and descriptions into the schema's comments (figure 15).

    Retrieved values come first among their columns' examples. If descriptions are retrieved at all, columns
    without a retrieved description have none.
    """

    retrieval: Retrieval

    def __call__(self, lab: Lab, question: Question, schema: Schema) -> Context:
        retrieved = self.retrieval(lab, question, schema)
        schema = with_values(schema, retrieved.values)
        if self.retrieval.descriptions:
            schema = with_descriptions(schema, retrieved.descriptions)
        return Context(question, schema)


def chess_ir_cg_ut(
    model: str | ChessModels = "embedded/parser",
    *,
    candidates: int = 20,
    tests: int = 10,
    temperature: float = 0.5,
    by: Literal["test", "candidate"] = "test",
) -> System:
    """The system for a high budget (section 4.2.1): many candidates, revised, and selected by unit tests."""
    models = _models(model)
    return System(
        name="CHESS (IR, CG, UT)",
        retrieve=InformationRetriever(Retrieval(Keywords(models.rest))),
        prune=(),
        generate=(ChessCandidate(models.generation, temperature, candidates),),
        fix=(Reviser(models.rest),),
        select=UnitTester(models.rest, tests, by),
    )


def chess_ir_ss_cg(
    model: str | ChessModels = "embedded/parser", *, revisions: int = 3, group: int = 1
) -> System:
    """The system for a low budget (section 4.2.3): a small schema and one candidate, revised up to three times.

    A call of filter_column asks about `group` columns, one in the paper.
    """
    models = _models(model)
    return System(
        name="CHESS (IR, SS, CG)",
        retrieve=InformationRetriever(Retrieval(Keywords(models.rest))),
        prune=(
            FilterColumns(models.filtering, group=group),
            SelectTables(models.rest),
            SelectColumns(models.rest),
        ),
        generate=(ChessCandidate(models.generation),),
        fix=(Reviser(models.rest, revisions, sound=True),),
        select=Majority(),
    )


def chess_table_4(model: str | ChessModels = "embedded/parser") -> Mapping[str, System]:
    """The ablations of table 4: each tool left out. Without retrieval all descriptions are shown.

    The last row is section 4.3's: more samples of a revision, with self-consistency. The paper has no number for it.
    """
    whole = chess_ir_ss_cg(model)
    columns, tables, few = whole.prune
    consistent = Reviser(_models(model).rest, sound=True, samples=3, temperature=0.5)
    return named(
        {
            "All tools": whole,
            "w/o retrieve_entity & _context": replace(whole, retrieve=WHOLE_SCHEMA),
            "w/o filter_column": replace(whole, prune=(tables, few)),
            "w/o select_tables": replace(whole, prune=(columns, few)),
            "w/o select_columns": replace(whole, prune=(columns, tables)),
            "w/o revise": replace(whole, fix=()),
            "with 1-time revise": replace(whole, fix=chess_ir_ss_cg(model, revisions=1).fix),
            "with 3 samples of revise": replace(whole, fix=(consistent,)),
        }
    )


def chess_table_8(models: Mapping[str, str]) -> Mapping[str, System]:
    """CHESS (IR, SS, CG) on the triplets of engines of table 8: for column filtering, candidates and the rest.

    `models` names them by role: `filtering` is the cheap model, `rest` the strong one, `tuned` one that was tuned to
    write candidates, `open` one with open weights. A row exists if all its roles are named, each by another
    model, and if no row before it has the same engines.
    """
    rows: dict[ChessModels, str] = {}
    for row, roles in _TRIPLETS.items():
        engines = [models.get(role, "") for role in roles]
        if all(engines) and len(set(engines)) == len(set(roles)):
            rows.setdefault(ChessModels(*engines), row)
    return named({row: chess_ir_ss_cg(triplet) for triplet, row in rows.items()})


# The engines of each row, and their roles in `models`.
_TRIPLETS = {
    "cheap, tuned, strong": ("filtering", "tuned", "rest"),
    "cheap, strong, strong": ("filtering", "rest", "rest"),
    "cheap, cheap, cheap": ("filtering", "filtering", "filtering"),
    "open, open, open": ("open", "open", "open"),
    "open, tuned, open": ("open", "tuned", "open"),
}


def _models(model: str | ChessModels) -> ChessModels:
    return model if isinstance(model, ChessModels) else ChessModels(model, model, model)
