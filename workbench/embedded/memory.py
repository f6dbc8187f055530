"""What the model thought of a prompt a moment ago: samples of one prompt differ in the draw, not in the thought."""

from functools import lru_cache

from workbench.embedded import parser
from workbench.embedded.parser import Hypothesis, Link, Style
from workbench.types import Context

_RECENT = 64  # prompts


@lru_cache(maxsize=_RECENT)
def hypotheses(context: Context, style: Style = Style()) -> tuple[Hypothesis, ...]:  # noqa: B008
    """The queries that the question may ask for, the most probable first."""
    return parser.hypotheses(context, style)


@lru_cache(maxsize=_RECENT)
def links(context: Context) -> tuple[Link, ...]:
    """What question and hint speak of, the surest first."""
    return parser.links(context)
