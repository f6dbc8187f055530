"""How long to wait between two attempts at a call."""

import random

LONGEST_WAIT = 60.0  # seconds: the most that a Retry-After, a pause or an interval may take


def pause(failures: int, retry_after: float = 0.0) -> float:
    """Seconds before the next call: the provider's Retry-After, else doubling with each failure; jittered."""
    if retry_after:
        return min(retry_after, LONGEST_WAIT) * random.uniform(1.0, 1.1)  # noqa: S311
    return random.uniform(0.5, 1.0) * min(0.5 * 2.0**failures, LONGEST_WAIT)  # noqa: S311
