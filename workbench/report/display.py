"""How records show themselves in a notebook's cell: every text of a database or a model is escaped by construction.

Importing `workbench` in IPython registers the same displays by name, so that `workbench.types` stays free of
HTML. `install` registers them with a shell that starts later, and keeps a `$` in tables from starting a formula.
"""

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import pandas as pd
from markupsafe import Markup

from workbench.sql.context_text import result_text
from workbench.sql.schema_text import literal, one_line
from workbench.terminal import visible
from workbench.types import Context, Execution, Schema, Selection, Table, Trial

_ROWS, _COLUMNS = 20, 8  # of a result that are shown


class Html(Markup):
    """HTML whose placeholders are filled with escaped text; as the last line of a cell it shows itself.

    Classes keep MathJax 3 and 2 away, so that a `$` stays a dollar.
    """

    __slots__ = ()

    @classmethod
    def escape(cls, text: Any) -> "Html":
        return cls(Markup.escape(text if hasattr(text, "__html__") else visible(str(text))))

    def _repr_html_(self) -> str:
        return str(self)


def execution_html(execution: Execution) -> Html:
    """The status, time and first rows of an execution."""
    return _view(_line(f"{execution.status}, {execution.seconds:.3f} s"), _result(execution))


def trial_html(trial: Trial) -> Html:
    """A query, its result, and the earlier queries that it was repaired from."""
    made = trial.candidate
    reply = [_details("The model's reply", _pre(made.reasoning))] if made.reasoning else []
    title = f"Candidate of {made.generator}, sample {made.sample}"
    return _view(_line(title), *_history(trial), *reply)


def schema_html(schema: Schema) -> Html:
    """The tables of a schema with keys, descriptions and examples, each to unfold."""
    parts = [_described(table, shown=len(schema.tables) == 1) for table in schema.tables]
    skipped = [_line(f"Not read: {reason}") for reason in schema.skipped]
    return _view(_line(f"Schema of {schema.db_id}"), *parts, *skipped)


def context_html(context: Context) -> Html:
    """Everything that a prompt may see of a question."""
    found: dict[str, list[tuple[str, ...]]] = {
        "Values found": [
            (f"{v.table}.{v.column}", v.value, v.keyword, f"{v.edit:.2f}", f"{v.semantic:.2f}")
            for v in context.values  # noqa: PD011  no frame
        ],
        "Descriptions found": [
            (f"{d.table}.{d.column}", d.text, f"{d.score:.2f}") for d in context.descriptions
        ],
        "Examples": [(one.question, one.sql) for one in context.examples],
    }
    heads = (
        ("column", "value", "keyword", "alike by spelling", "alike by meaning"),
        ("column", "description", "score"),
        ("question", "SQL"),
    )
    parts = [
        _details(f"{title}: {len(rows)}", _table(head, rows))
        for (title, rows), head in zip(found.items(), heads, strict=True)
    ]
    question = context.question
    asked = [question.text, f"Hint: {question.evidence or 'none'}"]
    return _view(*map(_line, asked), *parts, schema_html(context.schema))


def pool_html(selection: Selection, right: Sequence[bool] = ()) -> Html:
    """The candidates of a question by result, and the selector's comparisons.

    `right` has a verdict for each candidate, or is empty if there are none.
    """
    trials = selection.trials
    names = [f"{n}: {t.candidate.generator} {t.candidate.sample}" for n, t in enumerate(trials)]
    groups = group_numbers([t.execution.fingerprint if t.execution else "" for t in trials])
    chosen = "none" if selection.chosen is None else names[selection.chosen]
    count = len({*groups} - {-1})
    parts = [
        _line(f"Question {selection.question_id}. Candidates: {len(trials)}; results: {count}."),
        _line(f"{selection.selector} chose {chosen}."),
    ]
    for group in sorted({*groups}, key=lambda number: number if number >= 0 else len(groups)):
        members = [index for index, number in enumerate(groups) if number == group]
        made = Counter(trials[index].candidate.generator for index in members)
        title = f"Result {group + 1}" if group >= 0 else "No complete result"
        title += (
            f", {len(members)} of {len(trials)}: {', '.join(f'{g} {n}' for g, n in made.items())}"
        )
        if right:
            title += "; right" if any(right[index] for index in members) else "; wrong"
        own = selection.chosen in members
        inside = []
        for index in members:
            label = names[index] + (", ★ chosen" if index == selection.chosen else "")
            label += f", score {selection.scores[index]:g}" if selection.scores else ""
            inside.append(_details(label, *_history(trials[index])))
        parts.append(_details(title + ("; ★ chosen" if own else ""), *inside, shown=own))
    if selection.comparisons:
        how = "A row was shown first, a column second. W: the row won; L: it lost; N: neither was named."
        won = {
            (one.first, one.second): {one.first: "W", one.second: "L", None: "N"}[one.winner]
            for one in selection.comparisons
        }
        met = sorted({index for pair in won for index in pair})
        rows = [[names[row], *(won.get((row, other), "") for other in met)] for row in met]
        parts += [_line(how), _table(["", *met], rows)]
    return _view(*parts)


DISPLAYS: Mapping[type, Callable[[Any], str]] = {
    Context: context_html,
    Execution: execution_html,
    Schema: schema_html,
    Selection: pool_html,
    Trial: trial_html,
}


def install() -> None:
    """Register the displays with the running IPython; without one, do nothing."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    if shell is None:
        return
    for record_type, as_html in DISPLAYS.items():
        shell.display_formatter.formatters["text/html"].for_type(record_type, as_html)
    pd.set_option("display.html.use_mathjax", False)


def group_numbers(fingerprints: Sequence[str]) -> list[int]:
    """The group of each result: equal results share a number, 0 for the largest group; -1 without a complete result."""
    sizes = Counter(filter(None, fingerprints))
    order = {result: number for number, (result, _) in enumerate(sizes.most_common())}
    return [order.get(result, -1) for result in fingerprints]


def _history(trial: Trial) -> Iterable[Html]:
    """The query and the queries that it was repaired from, each with its result or error."""
    for number, attempt in enumerate(trial.history):
        if trial.repaired_from:
            yield _line("As proposed" if number == 0 else f"After fix {number}")
        yield _pre(attempt.candidate.sql or "no SQL")
        yield _result(attempt.execution) if attempt.execution else _line("not run")


def _result(execution: Execution) -> Html:
    """The first rows of a result as SQL literals, so that '1' and 1 look different; or its error."""
    if not execution.is_complete:
        return _line(result_text(execution))
    more = len(execution.columns) - _COLUMNS
    heads = [one_line(name, 40) for name in execution.columns[:_COLUMNS]]
    rows = [[literal(cell, 80) for cell in row[:_COLUMNS]] for row in execution.rows[:_ROWS]]
    said = f"rows: {execution.row_count:,}"
    said += f", {_ROWS} shown" if execution.row_count > _ROWS else ""
    said += f"; {more} more columns are not shown" if more > 0 else ""
    said += "; cut short at the limit" if execution.truncated else ""
    return _table(heads, rows) + _line(said)


def _described(table: Table, *, shown: bool) -> Html:
    rows = []
    for column in table.columns:
        keys = ["primary key"] if column.name in table.primary_key else []
        keys += [
            f"→ {key.ref_table}.{key.ref_columns[key.columns.index(column.name)]}"
            for key in table.foreign_keys
            if column.name in key.columns
        ]
        told = "; ".join(filter(None, (column.description, column.value_description)))
        examples = ", ".join(map(str, column.examples))
        rows.append((column.name, column.type, ", ".join(keys), told, examples))
    names = ("column", "type", "key", "description", "examples")
    return _details(f"{table.name}: {len(rows)} columns", _table(names, rows), shown=shown)


def _view(*parts: Html) -> Html:
    return Html('<section class="mathjax_ignore tex2jax_ignore">{}</section>').format(
        Html("").join(parts)
    )


def _line(text: str) -> Html:
    return Html("<p>{}</p>").format(text)


def _pre(text: str) -> Html:
    return Html('<pre style="white-space: pre-wrap">{}</pre>').format(text)


def _details(summary: str, *parts: Html, shown: bool = False) -> Html:
    tag = "<details open>" if shown else "<details>"
    return Html(tag + "<summary>{}</summary>{}</details>").format(summary, Html("").join(parts))


def _table(heads: Sequence[object], rows: Iterable[Sequence[object]]) -> Html:
    row = Html("<tr>{}</tr>")
    above = row.format(Html("").join(Html("<th>{}</th>").format(head) for head in heads))
    below = Html("").join(
        row.format(Html("").join(Html("<td>{}</td>").format(cell) for cell in cells))
        for cells in rows
    )
    return Html("<table><thead>{}</thead><tbody>{}</tbody></table>").format(above, below)
