"""`workbench ask`: one question about a database, answered by one of the systems."""

import re
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from workbench.benchmarks.bundled import bundled_splits, load_bundled
from workbench.cli import options
from workbench.cli.options import given_to, make_system
from workbench.errors import BadInputError
from workbench.llm.keys import runs_here
from workbench.llm.money import Budget
from workbench.sql.context_text import result_text
from workbench.systems.chess import FilterColumns
from workbench.systems.system import System, solve
from workbench.types import Question, Schema, Selection, Trial


@click.command()
@click.argument("database")
@click.argument("question")
@click.option("--hint", default="", help="What the question's terms mean, as BIRD's evidence does.")
@options.system(default="chase")
@options.model
@options.judge
@options.parameters
@options.dollars
@options.calls
def ask(
    database: str,
    question: str,
    hint: str,
    system: str,
    model: str,
    judge: str,
    parameters: options.Parameters,
    dollars: float | None,
    calls: int | None,
) -> None:
    """Answer a question about a database.

    DATABASE is an SQLite file, or the name of a bundled database, such as harbour. Column descriptions are read from
    a folder database_description beside the file. Prints the answer, its SQL, why it was chosen and what it cost;
    the exit code is 1 where there is no answer.
    """
    embedded = model.startswith("embedded/")
    if embedded:
        print(f"{model} answers: {_PARSER}", file=sys.stderr)
    path = Path(database)
    if not path.is_file():
        splits = bundled_splits()
        if database not in splits:
            raise BadInputError(
                f"{database}: no such file; give an SQLite database, or one of the bundled"
                f" {', '.join(splits)}"
            )
        path = load_bundled(splits[database]).database(database)
    if not question.strip():
        raise BadInputError("the question is empty; ask one, in quotes")
    asked = Question("ask", path.stem, question, hint)
    budget, given = Budget(dollars, calls=calls), given_to(model, parameters)
    with options.open_lab(lambda _: path, budget, system=system, parameters=given) as lab:
        schema = lab.schema(asked.db_id)
        if not schema.tables:
            raise BadInputError(f"nothing can be asked: {'; '.join(schema.skipped)}")
        steps = make_system(system, model, judge)
        print(least_calls(steps, schema, model), file=sys.stderr)
        selection = solve(steps, asked, lab)
        print(answer_text(selection, model))
        print(f"\n{lab.client.ledger}")
        if embedded:
            print(f"{model} answered: {_PARSER}")
    if not _ran(selection.trial):
        sys.exit(1)


def least_calls(system: System, schema: Schema, model: str) -> str:
    """A line with the least number of calls that a system makes, printed before the first call."""
    count = sum(getattr(step, "samples", 1) for step in system.generate)
    examples = (getattr(step, "examples", None) for step in system.generate)
    steps = [*system.prune, *(getattr(one, "columns", None) for one in examples)]
    text = f"asking {model} for {count} candidate{'s' * (count != 1)}"
    if any(isinstance(step, FilterColumns) for step in steps):
        text += f" and about each of {len(schema.columns()):,} columns that is not a key"
    text += "; fixing and choosing may take more calls"
    return text if runs_here(model) else f"{text}. --dollars and --calls set a limit"


def answer_text(selection: Selection, model: str) -> str:
    """The answer, its SQL and why it was chosen, as text."""
    embedded = model.startswith("embedded/")
    trial = selection.trial
    if trial is None or not trial.candidate.sql.strip():
        why = _NOTHING_FOUND if embedded else _without_query(selection.trials)
        return f"No candidate has a query. {why}".strip()
    agree = [
        other
        for other in selection.trials
        if other is trial
        or (
            other.execution
            and trial.execution
            and other.execution.fingerprint == trial.execution.fingerprint != ""
        )
    ]
    result = result_text(trial.execution) if trial.execution else "not run"
    missed = re.findall(r"not understood: [^\n\\]+", trial.candidate.reasoning) if embedded else []
    lines = [*missed[:1], result, "", trial.candidate.sql, ""]
    generators = ", ".join(dict.fromkeys(t.candidate.generator for t in agree))
    of_all = f"of {len(selection.trials)} candidates"
    lines.append(
        f"Chosen by {selection.selector}: {len(agree)} {of_all} gave this answer ({generators})."
        if _ran(trial)
        else f"There is no answer: none {of_all} ran. This one was chosen by {selection.selector}."
    )
    if embedded and len(selection.trials) > 1:
        lines.append(
            "One parser wrote them all, so their agreement does not make the answer likely."
        )
    if selection.comparisons:
        won = sum(c.winner == selection.chosen for c in selection.comparisons)
        met = sum(selection.chosen in {c.first, c.second} for c in selection.comparisons)
        lines.append(
            f"It won {won} of its {met} comparisons, of {len(selection.comparisons)} made."
        )
        if undecided := sum(c.winner is None for c in selection.comparisons):
            lines.append(f"In {undecided} of them the judge named neither.")
    if trial.repaired_from:
        lines.append(f"It was repaired. Before that it was: {trial.repaired_from.candidate.sql}")
    return "\n".join(lines)


def _without_query(trials: Sequence[Trial]) -> str:
    """Why no candidate has a query: what the model said first, and what was asked for."""
    candidate = trials[0].candidate if trials else None
    return f"{candidate.reasoning}\n({candidate.problem})".strip() if candidate else ""


def _ran(trial: Trial | None) -> bool:
    return bool(trial and trial.execution and trial.execution.is_complete)


_PARSER = "a small statistical parser and no language model"
_NOTHING_FOUND = (
    "The embedded model found no word in the question that names a table or column here. It is not a "
    "language model: name some of them, or give --model."
)
