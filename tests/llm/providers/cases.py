"""What each provider does, case by case: what its server sends, and what must be read from that.

A provider without a case for a behaviour does not behave so, as far as its documentation says.
"""

from tests.llm.providers.openai_cases import OPENAI
from tests.llm.providers.other_cases import OTHERS
from tests.llm.providers.protocols import MODELS

CASES = OPENAI | OTHERS


def table() -> str:
    """The cases as a Markdown table: a row for each behaviour, a column for each provider."""
    rows = list(dict.fromkeys(behaviour for _, behaviour in CASES))
    head = ["", *MODELS]
    lines = [head, ["---"] * len(head)]
    lines += [[row, *("✓" if (name, row) in CASES else "" for name in MODELS)] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
