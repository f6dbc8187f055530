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


# The classes keep MathJax 3 and 2 away, so that a `$` stays a dollar.
view = Html('<section class="mathjax_ignore tex2jax_ignore">{}</section>').format
line = Html("<p>{}</p>").format
pre = Html('<pre style="white-space: pre-wrap">{}</pre>').format
join = Html("").join


def execution_html(execution: Execution) -> Html:
    """The status, time and first rows of an execution."""
    return view(
        line(f"{execution.status}, {execution.seconds:.3f} s") + result_html(execution)
    )


def trial_html(trial: Trial) -> Html:
    """A query, its result, and the earlier queries that it was repaired from."""
    candidate = trial.candidate
    title = f"Candidate of {candidate.generator}, sample {candidate.sample}"
    parts = [line(title), *_history(trial)]
    if candidate.reasoning:
        parts.append(details("The model's reply", pre(candidate.reasoning)))
    return view(join(parts))


def schema_html(schema: Schema) -> Html:
    """Show the tables of a schema as prompts have them, each to unfold."""
    parts = [line(f"Schema of {schema.db_id}")]
    for table in schema.tables:
        text = create_table_text(replace(schema, tables=(table,)))
        summary = f"{table.name}: {len(table.columns)} columns"
        parts.append(details(summary, pre(text)))
    parts.extend(line(f"Not read: {reason}") for reason in schema.skipped)
    return view(join(parts))


def context_html(context: Context) -> Html:
    """Everything that a prompt may see of a question, as it sees it."""
    data = context_data(context)
    question = context.question
    parts = [
        line(question.text),
        line(f"Hint: {question.evidence or 'none'}"),
        details("values", pre(data["values"])),
        details("descriptions", pre(data["descriptions"])),
        details("examples", pre(examples_text(context.examples))),
        schema_html(context.schema),
    ]
    return view(join(parts))


def pool_html(selection: Selection) -> Html:
    """Show the candidates of a question, the most frequent result first, and their comparisons."""
    trials = selection.trials
    names = [_candidate_name(selection, number) for number in range(len(trials))]
    named: dict[int | None, str] = dict(enumerate(names))
    named[None] = "none"

    executions = [trial.execution for trial in trials]
    groups = group_numbers([run.fingerprint if run else "" for run in executions])
    different = len(set(groups) - {-1})
    counts = f"Candidates: {len(trials)}; results: {different}."
    parts = [
        line(f"Question {selection.question_id}. {counts}"),
        line(f"{selection.selector} chose {named[selection.chosen]}."),
    ]
    order = sorted(range(len(trials)), key=lambda n: (groups[n] < 0, groups[n]))
    for number in order:
        group = groups[number]
        summary = f"Result {group + 1}" if group >= 0 else "No complete result"
        summary += f". {names[number]}"
        if number == selection.chosen:
            summary += " ★ chosen"
        parts.append(details(summary, *_history(trials[number])))
    if selection.comparisons:
        rows = [
            (named[pair.first], named[pair.second], named[pair.winner])
            for pair in selection.comparisons
        ]
        parts.append(table_html(("first", "second", "winner"), rows))
    return view(join(parts))


def _candidate_name(selection: Selection, number: int) -> str:
    candidate = selection.trials[number].candidate
    name = f"{number}: {candidate.generator} {candidate.sample}"
    return f"{name}, score {selection.scores[number]:g}" if selection.scores else name


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


def _history(trial: Trial) -> Iterable[Html]:
    """The query and the queries that it was repaired from, each with its result or error."""
    for number, attempt in enumerate(trial.history):
        if trial.repaired_from:
            yield line("As proposed" if number == 0 else f"After fix {number}")
        yield pre(attempt.candidate.sql or "no SQL")
        yield result_html(attempt.execution) if attempt.execution else line("not run")


def result_html(execution: Execution) -> Html:
    """Show the first rows of a result as SQL literals, so that '1' and 1 differ; or its error."""
    if not execution.is_complete:
        return line(result_text(execution))
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
    return table_html(heads, rows) + line("; ".join(notes))


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
