"""`workbench ask`: a question to any SQLite file, answered by one of the systems."""

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import click

from workbench.db.compare import bird_equal
from workbench.db.context_text import result_text
from workbench.db.execute import Executor
from workbench.errors import BadInputError
from workbench.lab import Lab
from workbench.llm.budget import Budget
from workbench.llm.client import Client
from workbench.llm.provider import is_ours
from workbench.prune.filter_columns import FilterColumns
from workbench.store import Store
from workbench.systems.baselines import direct
from workbench.systems.chase_sql import chase_sql
from workbench.systems.chess import chess_ir_cg_ut
from workbench.systems.mac_sql import mac_sql
from workbench.systems.system import System, solve
from workbench.types import Question, Schema, Selection, Trial

SYSTEMS: Mapping[str, Callable[[str], System]] = {
    "chase": chase_sql,
    "chess": chess_ir_cg_ut,
    "mac": mac_sql,
    "direct": direct,
}


@click.command()
@click.argument("database", type=click.Path(path_type=Path))
@click.argument("question")
@click.option("--hint", default="", help="What the question's terms mean: BIRD's evidence.")
@click.option("--system", type=click.Choice(list(SYSTEMS)), default="chase", show_default=True)
@click.option(
    "--model",
    default="embedded/parser",
    show_default=True,
    help="PROVIDER/MODEL, any that LiteLLM reaches; the default needs no key and no network.",
)
@click.option(
    "--dollars", type=click.FloatRange(min=0), help="Stop before more than this is spent."
)
@click.option("--calls", type=click.IntRange(min=0), help="Stop before more calls are made.")
def ask(
    database: Path,
    question: str,
    hint: str,
    system: str,
    model: str,
    dollars: float | None,
    calls: int | None,
) -> None:
    """Answer a question about any SQLite file.

    Prints the answer, its SQL, why it was chosen and what it cost; the exit code is 1 where there is no answer. Descriptions in a folder database_description beside the file are used where there is one.
    """
    if not database.is_file():
        raise BadInputError(f"{database}: no such file; give an SQLite database")
    if not question.strip():
        raise BadInputError("the question is empty; ask one, in quotes")
    asked = Question("ask", database.stem, question, hint)
    with Store() as store, Executor(store) as executor:
        client = Client(store, budget=Budget(dollars, calls=calls))
        lab = Lab(client, executor, lambda _: database, system=system)
        schema = lab.schema(asked.db_id)
        if not schema.tables:
            raise BadInputError(f"nothing can be asked: {'; '.join(schema.skipped)}")
        steps = SYSTEMS[system](model)
        if not is_ours(model):
            print(ahead(steps, schema, model), file=sys.stderr)
        selection = solve(steps, asked, lab)
        print(tell(selection, embedded=is_ours(model)))
        print(f"\n{client.ledger}")
    if not _ran(selection.trial):
        sys.exit(1)


def ahead(system: System, schema: Schema, model: str) -> str:
    """What a system asks for at least, so that a wide database's calls surprise nobody."""
    count = sum(getattr(step, "samples", 1) for step in system.generate)
    steps = [*system.prune, *(getattr(step, "columns", None) for step in system.generate)]
    told = f"asking {model} for {count} candidate{'s' * (count != 1)}"
    if any(isinstance(step, FilterColumns) for step in steps):
        told += f" and about each of {len(schema.columns()):,} columns that is no key"
    return f"{told}; to fix and to choose may take more. --dollars and --calls set a limit"


def tell(selection: Selection, *, embedded: bool = False) -> str:
    """What was answered and why, in words."""
    trial = selection.trial
    if trial is None or not trial.candidate.sql.strip():
        said = selection.trials[0].candidate.reasoning if selection.trials else ""
        return f"No candidate holds a query. {_NOTHING_FOUND if embedded else said}".strip()
    agree = [t for t in selection.trials if t is trial or _agree(t, trial)]
    lines = [
        result_text(trial.execution) if trial.execution else "not run",
        "",
        trial.candidate.sql,
        "",
    ]
    generators = ", ".join(dict.fromkeys(t.candidate.generator for t in agree))
    of_all = f"of {len(selection.trials)} candidates"
    lines.append(
        f"Chosen by {selection.selector}: {len(agree)} {of_all} gave this answer ({generators})."
        if _ran(trial)
        else f"There is no answer: none {of_all} ran. This one was chosen by {selection.selector}."
    )
    if selection.comparisons:
        won = sum(c.winner == selection.chosen for c in selection.comparisons)
        met = sum(selection.chosen in {c.first, c.second} for c in selection.comparisons)
        lines.append(
            f"It won {won} of its {met} comparisons, of {len(selection.comparisons)} made."
        )
        if unsaid := sum(c.winner is None for c in selection.comparisons):
            lines.append(f"In {unsaid} of them the judge named neither.")
    if trial.repaired_from:
        lines.append(f"It was repaired; before, it was: {trial.repaired_from.candidate.sql}")
    return "\n".join(lines)


def _ran(trial: Trial | None) -> bool:
    return bool(trial and trial.execution and trial.execution.status in {"ok", "empty"})


def _agree(one: Trial, other: Trial) -> bool:
    return bool(one.execution and other.execution and bird_equal(one.execution, other.execution))


_NOTHING_FOUND = (
    "The embedded model found nothing in the question that speaks of a table or column here. It is no "
    "language model: name some of them, or give --model."
)
