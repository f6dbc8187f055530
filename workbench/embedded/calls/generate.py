"""A query for a question, in the form that the prompt asks for.

The query is drawn first and then explained: the reasoning never changes it. How the prompt asks to think
does: `style` lets "divide and conquer" favour nested queries and a query plan favour fewer joins.
"""

import json
import re

from workbench.embedded.calls.chance import draw
from workbench.embedded.calls.elements import elements
from workbench.embedded.grammar.joint import Style
from workbench.embedded.parser import hypotheses
from workbench.embedded.prompt.messages import Asked


def generate(asked: Asked, temperature: float, seed: str) -> str:
    """A query drawn from the hypotheses by their scores, or a sentence if the prompt shows no schema."""
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
    if key := re.search(r'"((?:revised_)?SQL)"', form):
        row = {"chain_of_thought_reasoning": reasoning, key[1]: sql}
        return json.dumps(row, ensure_ascii=False)
    if "Final Answer:" in form:
        return f"{reasoning}\n\nFinal Answer: {' '.join(sql.split())}"
    if re.search(r"(?i)sub question", form):
        return _sub_questions(asked, sql)
    thinks = style(form)
    if thinks.nest or thinks.plan:
        return f"{_steps(sql)}\n\n**Final Optimized SQL Query:**\n{' '.join(sql.split())}"
    fenced = f"**Final SQL**\n{fenced}" if "**Final SQL**" in form else fenced
    asks_to_think = re.search(r"(?i)reason|think|step", form)
    return f"{reasoning}\n\n{fenced}" if asks_to_think else fenced


def _reasoning(sql: str) -> str:
    *most, last = sorted(elements(sql)) or ["is the likeliest"]
    return f"The query {', '.join(most)} and {last}." if most else f"The query {last}."


def _inner(sql: str) -> list[str]:
    """The queries inside a query, the outermost first."""
    found = []
    for start in re.finditer(r"\((?=SELECT\b)", sql):
        depth = 0
        for place in range(start.start(), len(sql)):
            depth += {"(": 1, ")": -1}.get(sql[place], 0)
            if not depth:
                found.append(sql[start.end() : place])
                break
    return found


def _steps(sql: str) -> str:
    """The query and its inner queries from the inside out, each explained."""
    parts = [*reversed(_inner(sql)), sql]
    return "\n".join(f"{n}. {_reasoning(part)}\n   {part}" for n, part in enumerate(parts, 1))


def _sub_questions(asked: Asked, sql: str) -> str:
    """MAC-SQL's chain: each inner query answers a sub question, the whole query the last one."""
    steps = [(_reasoning(part), part) for part in reversed(_inner(sql))]
    steps.append((asked.context.question.text, sql))
    return "\n\n".join(
        f"Sub question {number}: {text}\n```sql\n{part}\n```"
        for number, (text, part) in enumerate(steps, 1)
    )
