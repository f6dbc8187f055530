"""A prompt as it was sent, section by section with its tokens; and what retrieval and pruning put there."""

from itertools import pairwise

import pandas as pd

from workbench.explore.steps import Recording, Step
from workbench.llm.client import Client
from workbench.llm.transfer import Select, calls
from workbench.prompts.prompt import split_sections
from workbench.report.markup import Html, fold, heading, line, listed, pre, table, view
from workbench.report.records import found_html
from workbench.types import Context, Request

SHORT = 800  # characters of a section that is shown unfolded
RULE = 1 / 4  # tokens for a character of English, where nothing was counted


def sections(request: Request) -> tuple[tuple[str, str], ...]:
    """Titles and texts of the messages, the system's first."""
    found: list[tuple[str, str]] = []
    for message in request.messages:
        text = str(message.get("content", ""))
        role = str(message.get("role", ""))
        parts = split_sections(text) if role == "user" else ()
        found += parts or ((role.capitalize(), text),)
    return tuple(found)


def tokens_per_character(request: Request, client: Client) -> tuple[float, str]:
    """How many tokens a character of this prompt is, and how that is known."""
    characters = sum(len(str(message.get("content", ""))) for message in request.messages)
    held = client.held(request)
    if held and held.usage.input and characters:
        told = f"The provider counted {held.usage.input:,} tokens; sections share them by length."
        return held.usage.input / characters, told
    recent = calls(client.store, Select(model=request.model))
    counted = [
        (call.usage.input, sum(len(str(m.get("content", ""))) for m in call.messages))
        for call, _ in zip(recent, range(50), strict=False)
        if call.usage.input
    ]
    if counted:
        rate = sum(tokens for tokens, _ in counted) / max(1, sum(size for _, size in counted))
        told = f"Estimated by length: {rate:.2f} tokens a character in calls of {request.model}: {len(counted)}."
        return rate, told
    return RULE, "Estimated: a token for four characters, since no call of this model was counted."


def prompt_html(step: Step, client: Client, title: str = "The prompt as sent") -> Html:
    """The messages exactly as rendered, folded by section, each with its tokens."""
    request = step.request
    rate, told = tokens_per_character(request, client)
    parts = []
    for name, text in sections(request):
        summary = f"{name}: about {len(text) * rate:,.0f} tokens"
        parts.append(fold(summary, pre(text), shown=len(text) < SHORT))
    settings = ", ".join(f"{name} {value}" for name, value in request.parameters.items())
    head = f"{request.prompt}, asked of {request.model}, sample {request.sample}"
    return view(
        title,
        line(f"{head}{', ' + settings if settings else ''}. {told}"),
        *parts,
        kind="wb-prompt",
    )


def stages_table(contexts: tuple[Context, ...]) -> pd.DataFrame:
    """One row a stage: how many tables and columns are left, how many values and descriptions known."""
    rows = [
        {
            "stage": _stage(number),
            "tables": len(context.schema.tables),
            "columns": len(context.schema.columns()),
            "values": len(context.values),
            "descriptions": len(context.descriptions),
        }
        for number, context in enumerate(contexts)
    ]
    return pd.DataFrame(rows, columns=["stage", "tables", "columns", "values", "descriptions"])


def stages_html(recording: Recording) -> Html:
    """What retrieval found, and which columns each step of pruning kept and dropped."""
    contexts = recording.contexts
    counts = stages_table(contexts)
    parts = [table(list(counts.columns), counts.itertuples(index=False))]
    if contexts:
        parts += [found_html(contexts[0])]
    for number, (before, after) in enumerate(pairwise(contexts), 1):
        kept = set(after.schema.columns())
        dropped = [pair for pair in before.schema.columns() if pair not in kept]
        parts.append(
            fold(
                f"{_stage(number)} dropped {len(dropped)} of {len(dropped) + len(kept)} columns",
                heading("Kept"),
                listed(_by_table(after.schema.columns())),
                heading("Dropped"),
                listed(_by_table(dropped)),
            )
        )
    return view("What retrieval and pruning found", *parts, kind="wb-stages")


def _stage(number: int) -> str:
    return "retrieval" if number == 0 else f"pruning, step {number}"


def _by_table(pairs: tuple[tuple[str, str], ...] | list[tuple[str, str]]) -> list[str]:
    tables: dict[str, list[str]] = {}
    for name, column in pairs:
        tables.setdefault(name, []).append(column)
    return [f"{name}: {', '.join(columns)}" for name, columns in tables.items()]
