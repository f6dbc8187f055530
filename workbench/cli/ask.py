"""`workbench ask`: one question about a database, answered by one of the systems."""

import re
import sys
from pathlib import Path

import click

from workbench.benchmarks.load import bundled_splits, open_benchmark
from workbench.cli import options
from workbench.errors import BadInputError
from workbench.sql.context_text import result_text
from workbench.systems.chess import FilterColumns
from workbench.systems.system import System, solve
from workbench.types import Question, Schema, Selection

_PARSER = "a small statistical parser and no language model"


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
    database: str, question: str, hint: str, system: str, model: str, judge: str, parameters: options.Parameters,
    dollars: float | None, calls: int | None,
) -> None:  # fmt: skip
    """Answer a question about a database.

    DATABASE is an SQLite file, or the name of a bundled database, such as harbour. Column descriptions are read from
    a folder database_description beside the file. Prints the answer, its SQL, why it was chosen and what it cost;
    the exit code is 1 where there is no answer.
    """
    path, splits = Path(database), bundled_splits()
    if not path.is_file() and database in splits:
        path = open_benchmark(f"bundled-{splits[database]}").database(database)
    if not path.is_file():
        known = f"give an SQLite database, or one of the bundled {', '.join(splits)}"
        raise BadInputError(f"{database}: no such file; {known}")
    if not question.strip():
        raise BadInputError("the question is empty; ask one, in quotes")
    asked = Question("ask", path.stem, question, hint)
    parser = model.startswith("embedded/")
    given = options.given_to(model, parameters)
    with options.open_lab(lambda _: path, dollars, calls, system=system, parameters=given) as lab:
        schema = lab.schema(asked.db_id)
        if not schema.tables:
            raise BadInputError(f"nothing can be asked: {'; '.join(schema.skipped)}")
        steps = options.make_system(system, model, judge)
        print(
            f"{model} answers: {_PARSER}" if parser else _least_calls(steps, schema, model),
            file=sys.stderr,
        )
        selection = solve(steps, asked, lab)
        print(_told(selection, parser=parser))
        print(f"\n{lab.client.ledger}")
        if parser:
            print(f"{model} answered: {_PARSER}")
    trial = selection.trial
    sys.exit(0 if trial and trial.execution and trial.execution.is_complete else 1)


def _least_calls(system: System, schema: Schema, model: str) -> str:
    """A line with the least number of calls that a system makes, printed before the first call."""
    count = sum(getattr(step, "samples", 1) for step in system.generate)
    examples = (getattr(step, "examples", None) for step in system.generate)
    steps = [*system.prune, *(getattr(one, "columns", None) for one in examples)]
    text = f"asking {model} for {count} candidate{'s' * (count != 1)}"
    if any(isinstance(step, FilterColumns) for step in steps):
        text += f" and about each of {len(schema.columns()):,} columns that is not a key"
    return f"{text}; fixing and choosing may take more calls. --dollars and --calls set the limit"


def _told(selection: Selection, *, parser: bool) -> str:
    """The answer, its SQL and why it was chosen; first of all, what the parser did not understand."""
    trial, trials = selection.trial, selection.trials
    if trial is None or not trial.candidate.sql.strip():
        first = trials[0].candidate if trials else None
        why = f"{first.reasoning}\n({first.problem})" if first else ""
        more = "A parser has read the question: name tables and columns, or give --model." * parser
        return f"No candidate has a query. {why}\n{more}".strip()
    ran = trial.execution
    same = [
        t
        for t in trials
        if t is trial or (ran and t.execution and ran.fingerprint == t.execution.fingerprint != "")
    ]
    missed = re.findall(r"not understood: [^\n\\]+", trial.candidate.reasoning) if parser else []
    lines = [*missed[:1], result_text(ran) if ran else "not run", "", trial.candidate.sql, ""]
    by = f"of {len(trials)} candidates"
    if ran and ran.is_complete:
        generators = ", ".join(dict.fromkeys(t.candidate.generator for t in same))
        lines.append(
            f"Chosen by {selection.selector}: {len(same)} {by} gave this answer ({generators})."
        )
    else:
        lines.append(
            f"There is no answer: none {by} ran. This one was chosen by {selection.selector}."
        )
    if parser and len(trials) > 1:
        lines.append(
            "One parser wrote them all, so their agreement does not make the answer likely."
        )
    if selection.comparisons:
        won = sum(c.winner == selection.chosen for c in selection.comparisons)
        met = sum(selection.chosen in {c.first, c.second} for c in selection.comparisons)
        lines.append(
            f"It won {won} of its {met} comparisons, of {len(selection.comparisons)} made."
        )
    if trial.repaired_from:
        lines.append(f"It was repaired. Before that it was: {trial.repaired_from.candidate.sql}")
    return "\n".join(lines)
