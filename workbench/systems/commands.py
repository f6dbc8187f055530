"""`workbench ask`: a question to any SQLite file, answered by one of the systems."""

from collections.abc import Callable, Mapping
from pathlib import Path

import click

from workbench.db.context_text import result_text
from workbench.db.execute import Executor
from workbench.errors import BadInputError
from workbench.lab import Lab
from workbench.llm.budget import Budget
from workbench.llm.client import Client
from workbench.store import Store
from workbench.systems.baselines import direct
from workbench.systems.chase_sql import chase_sql
from workbench.systems.chess import chess_ir_cg_ut
from workbench.systems.mac_sql import mac_sql
from workbench.systems.system import System, solve
from workbench.types import Question, Selection

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
@click.option("--dollars", type=float, help="Stop before more than this is spent.")
def ask(
    database: Path, question: str, hint: str, system: str, model: str, dollars: float | None
) -> None:
    """Answer a question about any SQLite file.

    Prints the answer, its SQL, why it was chosen and what it cost. Descriptions in a folder database_description beside the file are used where there is one.
    """
    if not database.is_file():
        raise BadInputError(f"{database}: no such file; give an SQLite database")
    if not question.strip():
        raise BadInputError("the question is empty; ask one, in quotes")
    asked = Question("ask", database.stem, question, hint)
    with Store() as store, Executor(store) as executor:
        client = Client(store, budget=Budget(dollars=dollars) if dollars else None)
        lab = Lab(client, executor, lambda _: database, system=system)
        selection = solve(SYSTEMS[system](model), asked, lab)
        print(tell(selection))
        print(f"\n{client.ledger}")


def tell(selection: Selection) -> str:
    """What was answered and why, in words."""
    trial = selection.trial
    if trial is None or not trial.candidate.sql:
        failed = selection.trials[0].candidate.reasoning if selection.trials else ""
        return f"No candidate holds a query. {failed}".strip()
    agree = [
        t
        for t in selection.trials
        if t.execution
        and trial.execution
        and t.execution.fingerprint == trial.execution.fingerprint
    ]
    lines = [
        result_text(trial.execution) if trial.execution else "not run",
        "",
        trial.candidate.sql,
        "",
    ]
    generators = ", ".join(dict.fromkeys(t.candidate.generator for t in agree))
    lines.append(
        f"Chosen by {selection.selector}: {len(agree)} of {len(selection.trials)} candidates gave this "
        f"answer ({generators})."
    )
    if selection.comparisons:
        won = sum(c.winner == selection.chosen for c in selection.comparisons)
        met = sum(selection.chosen in {c.first, c.second} for c in selection.comparisons)
        lines.append(
            f"It won {won} of its {met} comparisons, of {len(selection.comparisons)} made."
        )
    if trial.repaired_from:
        lines.append(f"It was repaired; before, it was: {trial.repaired_from.candidate.sql}")
    return "\n".join(lines)
