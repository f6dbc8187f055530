"""`workbench ask`: one question about a database, answered by one of the systems."""

import re
import sys
from pathlib import Path

import click

from workbench.benchmarks.benchmark import bundled_splits, open_benchmark
from workbench.cli import options
from workbench.errors import BadInputError
from workbench.llm.calls import is_parser
from workbench.sql.texts import result_text
from workbench.systems.system import solve
from workbench.types import Execution, Question, Selection


@click.command()
@click.argument("database")
@click.argument("question")
@click.option(
    "--hint",
    default="",
    help="What the question's terms mean, as BIRD's evidence does.",
)
@options.system("chase")
@options.model
@options.judge
@options.dollars
@click.option(
    "--calls",
    type=click.IntRange(min=0),
    help="Stop before more calls are made, those of a model in this process among them.",
)
def ask(
    database: str,
    question: str,
    hint: str,
    system: str,
    model: str,
    judge: str,
    dollars: float | None,
    calls: int | None,
) -> None:
    """Answer a question about a database.

    DATABASE is an SQLite file, or the name of a bundled database, such as harbour. Column
    descriptions are read from a folder database_description beside the file. Prints the answer, its
    SQL, why it was chosen and what it cost; the exit code is 1 where there is no answer.
    """
    path = _database(database)
    if not question.strip():
        raise BadInputError("the question is empty; ask one, in quotes")
    steps = options.make_system(system, model, judge)
    with options.open_lab(lambda _: path, dollars, calls, system=system) as lab:
        schema = lab.schema(path.stem)
        if not schema.tables:
            raise BadInputError(f"nothing can be asked: {'; '.join(schema.skipped)}")
        selection = solve(steps, Question("ask", path.stem, question, hint), lab)
        print(_answer_text(selection), lab.client.ledger, sep="\n\n")
        if is_parser(model):
            print(f"{model} answered: a small statistical parser and no language model")
    sys.exit(0 if _complete(selection) else 1)


def _database(name: str) -> Path:
    """Return the path of an SQLite file, or of a bundled database."""
    path, splits = Path(name), bundled_splits()
    if path.is_file():
        return path
    if name in splits:
        return open_benchmark(f"bundled-{splits[name]}").database(name)
    known = f"give an SQLite file, or one of the bundled databases: {', '.join(splits)}"
    raise BadInputError(f"{name}: no such file; {known}")


def _complete(selection: Selection) -> Execution | None:
    """Return the chosen candidate's execution, if it ran to its end."""
    if selection.trial is None or selection.trial.execution is None:
        return None
    execution = selection.trial.execution
    return execution if execution.is_complete else None


def _answer_text(selection: Selection) -> str:
    """Return the answer, its SQL and why it was chosen; first what was not understood."""
    trial = selection.trial
    if trial is None or not trial.candidate.sql.strip():
        reason = ""
        if selection.trials:
            first = selection.trials[0].candidate
            reason = " ".join(filter(None, [first.reasoning, first.problem]))
        return f"No candidate has a query. {reason}".rstrip()

    # The parser says it in its reply, which may be JSON, with its escapes.
    missed = re.search(r"not understood: [^\n\\]+", trial.candidate.reasoning)
    lines = [missed[0]] if missed else []
    result = result_text(trial.execution) if trial.execution else "not run"
    lines += [result, "", trial.candidate.sql, ""]
    number = len(selection.trials)
    execution = _complete(selection)
    if execution is None:
        lines.append(f"There is no answer: none of {number} candidates ran.")
        return "\n".join(lines)
    agreeing = [
        each.candidate.generator
        for each in selection.trials
        if each.execution and each.execution.fingerprint == execution.fingerprint
    ]
    names = ", ".join(dict.fromkeys(agreeing))
    why = f"{len(agreeing)} of {number} candidates gave this answer ({names})"
    lines.append(f"Chosen by {selection.selector}: {why}.")
    return "\n".join(lines)
