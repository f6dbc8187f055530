"""Displays of records in a notebook's cell; every text of a database or a model is escaped."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from markupsafe import Markup

from workbench.sql.texts import (
    context_data,
    create_table_text,
    examples_text,
    literal,
    one_line,
    result_text,
)
from workbench.terminal import visible
from workbench.types import Context, Execution, Schema, Selection, Trial

_ROWS, _COLUMNS = 20, 8  # of a result that are shown


class Html(Markup):
    """HTML whose placeholders are filled with escaped text; a cell that ends with it shows it."""

    __slots__ = ()

    @classmethod
    def escape(cls, text: Any) -> "Html":
        return cls(
            Markup.escape(text if hasattr(text, "__html__") else visible(str(text)))
        )

    def _repr_html_(self) -> str:
        return str(self)


# Functions that fill a form. The classes keep MathJax 3 and 2 away: a `$` stays a dollar.
view = Html('<section class="mathjax_ignore tex2jax_ignore">{}</section>').format
paragraph = Html("<p>{}</p>").format
pre = Html('<pre style="white-space: pre-wrap">{}</pre>').format
join = Html("").join


def execution_html(execution: Execution) -> Html:
    """The status, time and first rows of an execution."""
    return view(
        paragraph(f"{execution.status}, {execution.seconds:.3f} s")
        + result_html(execution)
    )


def trial_html(trial: Trial) -> Html:
    """A query, its result, and the earlier queries that it was repaired from."""
    candidate = trial.candidate
    title = f"Candidate of {candidate.generator}, sample {candidate.sample}"
    parts = [paragraph(title), attempts_html(trial.history)]
    if candidate.reasoning:
        parts.append(details("The model's reply", pre(candidate.reasoning)))
    return view(join(parts))


def schema_html(schema: Schema) -> Html:
    """Show the tables of a schema as prompts have them, each to unfold."""
    parts = [paragraph(f"Schema of {schema.db_id}")]
    for table in schema.tables:
        text = create_table_text(replace(schema, tables=(table,)))
        summary = f"{table.name}: {len(table.columns)} columns"
        parts.append(details(summary, pre(text)))
    parts.extend(paragraph(f"Not read: {reason}") for reason in schema.skipped)
    return view(join(parts))


def context_html(context: Context) -> Html:
    """Everything that a prompt may see of a question, as it sees it."""
    data = context_data(context)
    question = context.question
    parts = [
        paragraph(question.text),
        paragraph(f"Hint: {question.evidence or 'none'}"),
        details("values", pre(data["values"])),
        details("descriptions", pre(data["descriptions"])),
        details("examples", pre(examples_text(context.examples))),
        schema_html(context.schema),
    ]
    return view(join(parts))


def pool_html(selection: Selection) -> Html:
    """Show the candidates of a question, the most frequent result first."""
    trials = selection.trials
    executions = [trial.execution for trial in trials]
    groups = group_numbers([run.fingerprint if run else "" for run in executions])
    rows = []
    for number in sorted(range(len(trials)), key=lambda n: (groups[n] < 0, groups[n])):
        candidate = trials[number].candidate
        execution = trials[number].execution
        rows.append(
            (
                number,
                "\N{BLACK STAR}" if number == selection.chosen else "",
                groups[number] + 1 if groups[number] >= 0 else "none",
                candidate.generator,
                candidate.sample,
                execution.status if execution else "not run",
                candidate.sql or "no SQL",
            )
        )
    heads = ("candidate", "chosen", "result", "generator", "sample", "status", "SQL")
    title = f"Question {selection.question_id}, chosen by {selection.selector}"
    return view(paragraph(title) + table_html(heads, rows))


DISPLAYS: Mapping[type, Callable[[Any], str]] = {
    Context: context_html,
    Execution: execution_html,
    Schema: schema_html,
    Selection: pool_html,
    Trial: trial_html,
}


def group_numbers(fingerprints: Sequence[str]) -> list[int]:
    """Return the group of each result: 0 for the largest, -1 without a complete result.

    Equal results share a number.
    """
    sizes = Counter(filter(None, fingerprints))
    order = {result: number for number, (result, _) in enumerate(sizes.most_common())}
    return [order.get(result, -1) for result in fingerprints]


def attempts_html(attempts: Iterable[Trial]) -> Html:
    """Show a query as it was proposed and after each fix, each with its result or error."""
    parts = []
    for number, attempt in enumerate(attempts):
        parts.append(paragraph(f"After fix {number}" if number else "As proposed"))
        parts.append(pre(attempt.candidate.sql or "no SQL"))
        result = attempt.execution
        parts.append(result_html(result) if result else paragraph("not run"))
    return join(parts)


def result_html(execution: Execution) -> Html:
    """Show the first rows of a result as SQL literals, so that '1' and 1 differ; or its error."""
    if not execution.is_complete:
        return paragraph(result_text(execution))
    heads = [one_line(name, 40) for name in execution.columns[:_COLUMNS]]
    rows = [_literals(row) for row in execution.rows[:_ROWS]]
    notes = [f"rows: {execution.row_count:,}"]
    if execution.row_count > _ROWS:
        notes[0] += f", {_ROWS} shown"
    left_out = len(execution.columns) - _COLUMNS
    if left_out > 0:
        notes.append(f"{left_out} more columns are not shown")
    if execution.truncated:
        notes.append("cut short at the limit")
    return table_html(heads, rows) + paragraph("; ".join(notes))


def _literals(row: Sequence[Any]) -> list[str]:
    return [literal(cell, 80) for cell in row[:_COLUMNS]]


def details(summary: str, *parts: Html) -> Html:
    form = Html("<details><summary>{}</summary>{}</details>")
    return form.format(summary, join(parts))


def table_html(heads: Sequence[object], rows: Iterable[Sequence[object]]) -> Html:
    head = _row_html(Html("<th>{}</th>"), heads)
    body = join(_row_html(Html("<td>{}</td>"), cells) for cells in rows)
    return Html("<table><thead>{}</thead><tbody>{}</tbody></table>").format(head, body)


def _row_html(form: Html, cells: Sequence[object]) -> Html:
    return Html("<tr>{}</tr>").format(join(form.format(cell) for cell in cells))
