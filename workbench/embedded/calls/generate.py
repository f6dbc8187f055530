"""A query for a question, told in the form that the prompt asks for.

The reasoning is the chosen hypothesis put into words: it explains what was chosen and changes nothing.
What does change the choice is how the prompt asks to think: to divide and conquer lets queries nest, a
query plan weighs the paths by which tables are joined.
"""

import json
import re

from workbench.db.sql.outline import Outline, outlines
from workbench.embedded.chance import draw
from workbench.embedded.elements import told
from workbench.embedded.memory import hypotheses
from workbench.embedded.messages import Asked
from workbench.embedded.parser import Style


def generate(asked: Asked, temperature: float, seed: str) -> str:
    """A query drawn from the hypotheses by their scores; words only where the prompt shows no schema."""
    found = hypotheses(asked.context, style(asked.answer))
    if not found:
        return "There is no schema in this prompt that a query could be written for."
    chosen = found[draw([h.score for h in found], temperature, seed)]
    return reply(asked, chosen.sql, _reasoning(chosen.sql))


def style(answer: str) -> Style:
    """How the prompt asks to think, by the form of its answer."""
    return Style(
        nest=bool(re.search(r"(?i)sub-?\s?question|divide", answer)),
        plan=bool(re.search(r"(?i)\bplan\b", answer)),
    )


def reply(asked: Asked, sql: str, reasoning: str) -> str:
    """The query and the words before it, in the form that the prompt asks for."""
    form = asked.answer
    fenced = f"```sql\n{sql}\n```"
    if '"sql"' in form.lower():
        return json.dumps({"reasoning": reasoning, "sql": sql}, ensure_ascii=False)
    if re.search(r"(?i)final answer:", form):
        return f"{reasoning}\n\nFinal answer: {' '.join(sql.split())}"
    thinks = style(form)
    if re.search(r"(?i)sub question", form):
        return _chain(asked, sql)
    if thinks.nest:
        return f"{_divided(asked, sql)}\n\n**Final SQL**\n{fenced}"
    if thinks.plan:
        return f"{_planned(sql)}\n\n**Final SQL**\n{fenced}"
    asks_to_think = re.search(r"(?i)reason|think|step", form)
    return f"{reasoning}\n\n{fenced}" if asks_to_think else fenced


def _reasoning(sql: str) -> str:
    return " ".join(map(_sentence, outlines(sql))) or "This is the likeliest reading."


def _sentence(select: Outline) -> str:
    tables = told([table for _, table in select.sources if table]) if select.sources else "nothing"
    kept = told([c.words for c in select.conditions if not c.of_join])
    parts = [f"From {tables} it returns {told(select.results)}"]
    if kept != "nothing":
        parts.append(f"for the rows where {kept}")
    if select.group_by:
        parts.append(f"for each {told(select.group_by)}")
    if select.having:
        parts.append(f"if {select.having}")
    if select.order_by:
        parts.append(f"sorted by {told(select.order_by)}")
    if select.limit:
        parts.append(f"and stops after {select.limit}")
    return ", ".join(parts) + "."


def _inner(sql: str) -> list[str]:
    """The queries inside a query, the innermost first."""
    found = []
    for start in re.finditer(r"\((?=SELECT\b)", sql):
        depth = 0
        for place in range(start.start(), len(sql)):
            depth += {"(": 1, ")": -1}.get(sql[place], 0)
            if not depth:
                found.append(sql[start.end() : place])
                break
    return found[::-1]


def _divided(asked: Asked, sql: str) -> str:
    """Figure 17's three parts, from the outer query to the inner ones and back."""
    parts = [sql, *_inner(sql)[::-1]]
    lines = ["**1. Divide and conquer**", f"* Main question: {asked.context.question.text}"]
    for number, part in enumerate(parts):
        if number:
            lines.append(f"* Sub-question {number}: the rows that part {number} needs")
        select = outlines(part)[:1]
        lines += [f"  * Analysis: {_sentence(outline)}" for outline in select]
        lines.append(f"  * Pseudo SQL: {_shortened(part)}")
    lines.append("**2. Assembling**")
    lines += [f"* Part {n}: {part}" for n, part in reversed(list(enumerate(parts)))]
    lines.append("**3. Simplification**\n* Nothing in it is said twice.")
    return "\n".join(lines)


def _shortened(sql: str) -> str:
    """The query with its inner queries told instead of written."""
    for number, part in enumerate(reversed(_inner(sql)), 1):
        sql = sql.replace(f"({part})", f"(sub-question {number})")
    return sql


def _planned(sql: str) -> str:
    """Figure 19's steps, without a database to ask: in the order in which the query names its tables."""
    lines = ["**Preparation**"]
    selects = outlines(sql)
    tables = [table for select in selects for _, table in select.sources if table]
    lines += [f"{n}. Open the table {table}." for n, table in enumerate(tables, 1)]
    lines.append("**Matching**")
    matching = [c.words for select in selects for c in select.conditions]
    lines += [f"{n}. Keep a row if {words}." for n, words in enumerate(matching, 1)]
    lines.append("**Delivering**")
    lines += [f"{n}. {_sentence(select)}" for n, select in enumerate(selects[:1], 1)]
    return "\n".join(lines)


def _chain(asked: Asked, sql: str) -> str:
    """The inner queries as sub questions of their own, and the whole as the last."""
    steps = [(_reasoning(part), part) for part in _inner(sql)]
    steps.append((asked.context.question.text, sql))
    return "\n\n".join(
        f"Sub question {number}: {text}\n```sql\n{part}\n```"
        for number, (text, part) in enumerate(steps, 1)
    )
