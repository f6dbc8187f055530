"""How the records of `types` look in a notebook: each a function from the record to HTML."""

from workbench.db.context_text import result_text
from workbench.db.quoting import literal, one_line
from workbench.report.markup import Html, fold, heading, line, pre, table, view
from workbench.types import Context, Execution, Row, Schema, Table, Trial

ROWS = 20  # rows of a result that are shown
_COLUMNS = 8
_CELL = 80
_NAME = 40


def execution_html(execution: Execution) -> Html:
    """What a database answered."""
    told = f"{execution.status}, {execution.seconds:.3f} s"
    return view("Execution", line(told), rows_html(execution), kind="wb-execution")


def trial_html(trial: Trial) -> Html:
    """A query, what came of it, and what it was repaired from."""
    candidate = trial.candidate
    parts = [pre(candidate.sql or "no SQL")]
    parts.append(rows_html(trial.execution) if trial.execution else line("not run"))
    for number, earlier in enumerate(trial.history[-2::-1], 1):
        after = rows_html(earlier.execution) if earlier.execution else line("not run")
        parts.append(
            fold(f"{number} before: what it was repaired from", pre(earlier.candidate.sql), after)
        )
    if candidate.reasoning:
        parts.append(fold("The model's reply", pre(candidate.reasoning)))
    title = f"Candidate of {candidate.generator}, sample {candidate.sample}"
    return view(title, *parts, kind="wb-trial")


def schema_html(schema: Schema) -> Html:
    """The tables, their columns with keys and descriptions, to unfold."""
    return view(f"Schema of {schema.db_id}", *_tables(schema), kind="wb-schema")


def context_html(context: Context) -> Html:
    """All that a prompt may see of a question."""
    question = context.question
    parts = [line(question.text), line(f"Hint: {question.evidence or 'none'}"), found_html(context)]
    if context.examples:
        shown = [(e.question, e.sql) for e in context.examples]
        parts.append(fold(f"Examples: {len(shown)}", table(("question", "SQL"), shown)))
    parts += [heading(f"Schema of {context.schema.db_id}"), *_tables(context.schema)]
    return view(f"Context of question {question.id}", *parts, kind="wb-context")


def rows_html(execution: Execution, caption: str = "") -> str:
    """The first rows of a result, as SQL writes values: '1' and 1 look different."""
    if execution.status not in {"ok", "empty"}:
        return line(f"{caption} {result_text(execution)}".strip())
    told = f"{caption} {told_of(execution)}".strip()
    return table(names_of(execution), map(cells_of, execution.rows[:ROWS]), told)


def found_html(context: Context) -> str:
    """The values and descriptions of a context, as tables to unfold."""
    values = [
        (f"{v.table}.{v.column}", v.value, v.keyword, f"{v.edit:.2f}", f"{v.semantic:.2f}")
        for v in context.values
    ]
    texts = [(f"{d.table}.{d.column}", d.text, f"{d.score:.2f}") for d in context.descriptions]
    return fold(
        f"Values found: {len(values)}",
        table(("column", "value", "keyword", "alike by spelling", "alike by meaning"), values),
    ) + fold(f"Descriptions found: {len(texts)}", table(("column", "description", "score"), texts))


def told_of(execution: Execution) -> str:
    count = execution.row_count
    told = "1 row" if count == 1 else f"{count:,} rows"
    shown = min(len(execution.rows), ROWS)
    told += f", {shown} shown" if shown < count else ""
    return told + (", cut short at the limit" if execution.truncated else "")


def names_of(execution: Execution) -> list[str]:
    names = [one_line(name, _NAME) for name in execution.columns[:_COLUMNS]]
    more = len(execution.columns) - _COLUMNS
    return names + ([f"and {more} more columns"] if more > 0 else [])


def cells_of(row: Row) -> list[str]:
    cells = [literal(cell, _CELL) for cell in row[:_COLUMNS]]
    return cells + ([""] if len(row) > _COLUMNS else [])


def _tables(schema: Schema) -> list[str]:
    parts = [_table(one, shown=len(schema.tables) == 1) for one in schema.tables]
    return parts + [line(f"Not read: {told}") for told in schema.skipped]


def _table(one: Table, *, shown: bool) -> str:
    rows = []
    for column in one.columns:
        keys = ["primary key"] if column.name in one.primary_key else []
        keys += [
            f"→ {key.ref_table}.{key.ref_columns[key.columns.index(column.name)]}"
            for key in one.foreign_keys
            if column.name in key.columns
        ]
        told = "; ".join(filter(None, (column.description, column.value_description)))
        examples = ", ".join(map(str, column.examples))
        rows.append((column.name, column.type, ", ".join(keys), told, examples))
    names = ("column", "type", "key", "description", "examples")
    return fold(f"{one.name}: {len(rows)} columns", table(names, rows), shown=shown)
