"""The keys of model calls.

A key hashes everything that a reply depends on and nothing else: endpoint, model, messages, every parameter
and the sample index, but no time-out and no API key.
"""

from workbench.canonical import content_hash
from workbench.types import Request


def request_key(request: Request, endpoint: str) -> str:
    """The call's key: equal for two requests exactly when one reply can answer both."""
    return content_hash(
        "call",
        {
            "version": 1,
            "endpoint": endpoint,
            "model": request.model,
            "messages": request.messages,
            "parameters": request.parameters,
            "sample": request.sample,
        },
    )
