"""The records of `workbench.types` as HTML, one function for each."""

from workbench.html.parts import Html, counted, details, heading, line, pre, stack, table, view
from workbench.html.tree import Element, Node
from workbench.sql.context_text import result_text
from workbench.sql.schema_text import literal, one_line
from workbench.types import Context, Execution, Row, Schema, Table, Trial

ROWS = 20  # rows of a result that are shown
_COLUMNS = 8  # columns of a result that are shown
_CELL = 80  # characters of a value that are shown
_NAME = 40  # characters of a column's name that are shown


def execution_html(execution: Execution) -> Html:
    """The status, time and first rows of an execution."""
    status = line(f"{execution.status}, {execution.seconds:.3f} s")
    return view("Execution", status, rows_part(execution), kind="wb-execution")


def trial_html(trial: Trial) -> Html:
    """A query, its result, and the earlier queries that it was repaired from."""
    candidate = trial.candidate
    parts: list[Node] = [pre(candidate.sql or "no SQL"), outcome_part(trial.execution)]
    for number, earlier in enumerate(trial.history[-2::-1], 1):
        summary = f"The query before the last {f'{number} repairs' if number > 1 else 'repair'}"
        parts.append(details(summary, pre(earlier.candidate.sql), outcome_part(earlier.execution)))
    if candidate.reasoning:
        parts.append(details("The model's reply", pre(candidate.reasoning)))
    title = f"Candidate of {candidate.generator}, sample {candidate.sample}"
    return view(title, *parts, kind="wb-trial")


def schema_html(schema: Schema) -> Html:
    """The tables of a schema with keys, descriptions and examples, each to unfold."""
    return view(f"Schema of {schema.db_id}", *_tables(schema), kind="wb-schema")


def context_html(context: Context) -> Html:
    """Everything that a prompt may see of a question."""
    question = context.question
    parts = [line(question.text), line(f"Hint: {question.evidence or 'none'}"), found_part(context)]
    if context.examples:
        examples = [(example.question, example.sql) for example in context.examples]
        parts.append(details(f"Examples: {len(examples)}", table(("question", "SQL"), examples)))
    parts += [heading(f"Schema of {context.schema.db_id}"), *_tables(context.schema)]
    return view(f"Context of question {question.id}", *parts, kind="wb-context")


def outcome_part(execution: Execution | None) -> Element:
    """The rows of a query's execution, or a note that it was not executed."""
    return rows_part(execution) if execution else line("not run")


def rows_part(execution: Execution, caption: str = "") -> Element:
    """The first rows of a result as SQL literals, so that '1' and 1 look different; or its error."""
    if not execution.is_complete:
        return line(f"{caption} {result_text(execution)}".strip())
    caption = f"{caption} {_row_count(execution)}".strip()
    return table(column_names(execution), map(_cells, execution.rows[:ROWS]), caption)


def found_part(context: Context) -> Element:
    """The retrieved values and descriptions of a context, as tables to unfold."""
    values = [
        (f"{v.table}.{v.column}", v.value, v.keyword, f"{v.edit:.2f}", f"{v.semantic:.2f}")
        for v in context.values
    ]
    texts = [(f"{d.table}.{d.column}", d.text, f"{d.score:.2f}") for d in context.descriptions]
    names = ("column", "value", "keyword", "alike by spelling", "alike by meaning")
    return stack(
        details(f"Values found: {len(values)}", table(names, values)),
        details(
            f"Descriptions found: {len(texts)}", table(("column", "description", "score"), texts)
        ),
    )


def _row_count(execution: Execution) -> str:
    shown = min(len(execution.rows), ROWS)
    text = counted(execution.row_count, "row")
    text += f", {shown} shown" if shown < execution.row_count else ""
    return text + (", cut short at the limit" if execution.truncated else "")


def column_names(execution: Execution, most: int = _COLUMNS) -> list[str]:
    """The first columns' names, and how many more there are."""
    names = [one_line(name, _NAME) for name in execution.columns[:most]]
    more = len(execution.columns) - most
    return names + ([f"and {more} more columns"] if more > 0 else [])


def _cells(row: Row) -> list[str]:
    cells = [literal(cell, _CELL) for cell in row[:_COLUMNS]]
    return cells + ([""] if len(row) > _COLUMNS else [])


def _tables(schema: Schema) -> list[Element]:
    parts = [_table(table, shown=len(schema.tables) == 1) for table in schema.tables]
    return parts + [line(f"Not read: {reason}") for reason in schema.skipped]


def _table(described: Table, *, shown: bool) -> Element:
    rows = []
    for column in described.columns:
        keys = ["primary key"] if column.name in described.primary_key else []
        keys += [
            f"→ {key.ref_table}.{key.ref_columns[key.columns.index(column.name)]}"
            for key in described.foreign_keys
            if column.name in key.columns
        ]
        description = "; ".join(filter(None, (column.description, column.value_description)))
        examples = ", ".join(map(str, column.examples))
        rows.append((column.name, column.type, ", ".join(keys), description, examples))
    names = ("column", "type", "key", "description", "examples")
    return details(f"{described.name}: {len(rows)} columns", table(names, rows), shown=shown)
