"""A prompt as it was sent, by sections with their tokens, and the results of retrieval and pruning in it."""

from collections.abc import Iterable
from itertools import groupby, pairwise

from workbench.explore.prompt.steps import Recording, Step
from workbench.html.parts import Html, details, heading, line, listed, pre, table, view
from workbench.html.results import found_part
from workbench.html.tree import Node
from workbench.llm.client import Client
from workbench.prompts.prompt import sections as split_sections
from workbench.types import Request

SHORT = 800  # characters of a section that is shown unfolded
RULE = 1 / 4  # tokens for a character of English, if no call was counted


def sections(request: Request) -> tuple[tuple[str, str], ...]:
    """Titles and texts of the messages, the system message first."""
    titled: list[tuple[str, str]] = []
    for message in request.messages:
        text = str(message.get("content", ""))
        role = str(message.get("role", ""))
        parts = split_sections(text) if role == "user" else []
        titled += parts or [(role.capitalize(), text)]
    return tuple(titled)


def tokens_per_character(request: Request, client: Client) -> tuple[float, str]:
    """The prompt's tokens for each character, and a sentence on where that number comes from."""
    characters = sum(len(str(message.get("content", ""))) for message in request.messages)
    cached = client.cached(request)
    if cached and cached.input_tokens and characters:
        tokens = cached.input_tokens
        source = f"The provider counted {tokens:,} tokens; each section's share is by its length."
        return tokens / characters, source
    recent = client.cache.calls("model = ?", [request.model])
    counted = [
        (
            call.answer.input_tokens,
            sum(len(str(m.get("content", ""))) for m in call.request.messages),
        )
        for call, _ in zip(recent, range(50), strict=False)
        if call.answer.input_tokens
    ]
    if counted:
        rate = sum(tokens for tokens, _ in counted) / max(1, sum(size for _, size in counted))
        source = f"Estimated by length: {rate:.2f} tokens a character, as in {len(counted)} call{'s' * (len(counted) > 1)} of {request.model}."
        return rate, source
    return RULE, "Estimated: a token for four characters, since no call of this model was counted."


def prompt_html(step: Step, client: Client) -> Html:
    """The messages exactly as rendered, folded by section, each with its tokens."""
    request = step.request
    rate, source = tokens_per_character(request, client)
    settings = [f"{name} {value}" for name, value in request.parameters.items()]
    head = [request.prompt, f"asked of {request.model}", f"sample {request.sample}", *settings]
    return view(
        "The prompt as sent",
        line(f"{', '.join(head)}. {source}"),
        *(
            details(
                f"{name}: about {len(text) * rate:,.0f} tokens", pre(text), shown=len(text) < SHORT
            )
            for name, text in sections(request)
        ),
        kind="wb-prompt",
    )


def stages_html(recording: Recording) -> Html:
    """The values and descriptions retrieved, and the columns each pruning step kept and dropped."""
    contexts = recording.contexts
    rows = [
        (_stage(number), len(c.schema.tables), len(c.schema.columns()), len(c.values),
         len(c.descriptions))
        for number, c in enumerate(contexts)
    ]  # fmt: skip
    columns = ("stage", "tables", "columns", "values", "descriptions")
    parts: list[Node] = [table(columns, rows)]
    if contexts:
        parts.append(found_part(contexts[0]))
    for number, (before, after) in enumerate(pairwise(contexts), 1):
        kept = after.schema.columns()
        dropped = [pair for pair in before.schema.columns() if pair not in set(kept)]
        parts.append(
            details(
                f"{_stage(number)} dropped {len(dropped)} of {len(dropped) + len(kept)} columns",
                heading("Kept"),
                listed(_by_table(kept)),
                heading("Dropped"),
                listed(_by_table(dropped)),
            )
        )
    return view("What retrieval and pruning found", *parts, kind="wb-stages")


def _stage(number: int) -> str:
    return "retrieval" if number == 0 else f"pruning, step {number}"


def _by_table(pairs: Iterable[tuple[str, str]]) -> list[str]:
    """`schema.columns()` lists a table's columns one after another, so neighbours are grouped."""
    groups = groupby(pairs, lambda pair: pair[0])
    return [f"{name}: {', '.join(column for _, column in columns)}" for name, columns in groups]
