"""CHESS (Talaei et al., 2024), as figure 2 draws it: four agents, combined as the means allow.

The Information Retriever (IR) looks up values and descriptions, the Schema Selector (SS) prunes, the
Candidate Generator (CG) writes and revises, the Unit Tester (UT) picks. What one agent leaves is all that
the next one sees. Section 4.2 runs two combinations, for a high and a low budget; `table_4` are the
ablations of the second, `table_8` its engines.

Departs from the paper in how it looks things up. Values are sought in the default index, and they and
descriptions are compared by their letters: that needs no key, costs nothing, and finds more typos than the
paper's index (tests/benchmarks/README.md), but nothing that is alike in meaning alone. The paper's own are
MinHash LSH, embeddings and its thresholds, from `retrieve.minhash`, `retrieve.embed` and `retrieve.matches`:

    replace(system, retrieve=InformationRetriever(Retrieval(Keywords(model), MinHash(), Embedding("openai/text-embedding-3-small"), CHESS)))

Table 7's correct context and figure 3's industrial schemas are `retrieve` steps that only `evaluate` can
make, since they need gold:

    replace(system, retrieve=AroundGold(system.retrieve, benchmark.golds), prune=())

What the Schema Selector saves on such a schema is in the generator's prompt, and what it costs is in calls of
the cheap model: on 4,337 columns of the bundled databases the generator was shown 390 tokens in place of
75,000, after 3,337 calls of filter_column with 1.7 million. In sum that pays from the 23rd candidate on; a
figure of tokens should show both.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from workbench.db.context_text import with_descriptions, with_values
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
from workbench.systems.baselines import WHOLE_SCHEMA
from workbench.systems.system import System
from workbench.types import Context, Question, Schema


@dataclass(frozen=True, slots=True)
class Models:
    """Which model speaks for which tool: the triplets of table 8.

    `filtering` is asked once for every column, so a cheap one will do; `generation` writes the candidates;
    `rest` does everything else.
    """

    filtering: str
    generation: str
    rest: str


@dataclass(frozen=True, slots=True)
class InformationRetriever:
    """The IR agent: what was found stands in the schema's comments, as figure 15 shows it.

    Values come first among their columns' examples, and columns are described only where the description
    was found, unless none are looked for.
    """

    retrieval: Retrieval

    def __call__(self, lab: Lab, question: Question, schema: Schema) -> Context:
        found = self.retrieval(lab, question, schema)
        told = with_values(schema, found.values)
        if self.retrieval.descriptions:
            told = with_descriptions(told, found.descriptions)
        return Context(question, told)


def chess_ir_cg_ut(
    model: str | Models = "embedded/parser",
    *,
    candidates: int = 20,
    tests: int = 10,
    temperature: float = 0.5,
    by: Literal["test", "candidate"] = "test",
) -> System:
    """For a high budget (section 4.2.1): many candidates, those that fail revised, picked by unit tests."""
    models = _models(model)
    return System(
        name="CHESS (IR, CG, UT)",
        retrieve=InformationRetriever(Retrieval(Keywords(models.rest))),
        prune=(),
        generate=(ChessCandidate(models.generation, temperature, candidates),),
        fix=(Reviser(models.rest),),
        select=UnitTester(models.rest, tests, by),
    )


def chess_ir_ss_cg(model: str | Models = "embedded/parser", *, revisions: int = 3) -> System:
    """For a low budget (section 4.2.3): a small schema, one candidate, looked at up to three times."""
    models = _models(model)
    return System(
        name="CHESS (IR, SS, CG)",
        retrieve=InformationRetriever(Retrieval(Keywords(models.rest))),
        prune=(
            FilterColumns(models.filtering),
            SelectTables(models.rest),
            SelectColumns(models.rest),
        ),
        generate=(ChessCandidate(models.generation),),
        fix=(Reviser(models.rest, revisions, sound=True),),
        select=Majority(),
    )


def table_4(model: str | Models = "embedded/parser") -> Mapping[str, System]:
    """CHESS (IR, SS, CG) without each of its tools; without retrieval all descriptions are shown."""
    whole = chess_ir_ss_cg(model)
    columns, tables, few = whole.prune
    rows = {
        "All tools": whole,
        "w/o retrieve_entity & _context": replace(whole, retrieve=WHOLE_SCHEMA),
        "w/o filter_column": replace(whole, prune=(tables, few)),
        "w/o select_tables": replace(whole, prune=(columns, few)),
        "w/o select_columns": replace(whole, prune=(columns, tables)),
        "w/o revise": replace(whole, fix=()),
        "with 1-time revise": replace(whole, fix=chess_ir_ss_cg(model, revisions=1).fix),
    }
    return {name: replace(system, name=name) for name, system in rows.items()}


def table_8(cheap: str, tuned: str, strong: str, local: str) -> Mapping[str, System]:
    """CHESS (IR, SS, CG) on each triplet of engines; where models are the same, each triplet once."""
    triplets = (
        Models(cheap, tuned, strong),
        Models(cheap, strong, strong),
        Models(cheap, cheap, cheap),
        Models(local, local, local),
        Models(local, tuned, local),
    )
    named = {f"{m.filtering}, {m.generation}, {m.rest}": m for m in triplets}
    return {name: replace(chess_ir_ss_cg(models), name=name) for name, models in named.items()}


def _models(model: str | Models) -> Models:
    return model if isinstance(model, Models) else Models(model, model, model)
