"""One spelling for one value: canonical JSON, and content hashes that say what they are a hash of."""

import hashlib
from typing import Any

import orjson


def canonical(value: Any) -> bytes:
    """JSON with sorted keys and no spaces; dataclasses as their fields in order, tuples as arrays.

    What JSON cannot say (bytes, sets, lone surrogates, keys that are no strings) is a TypeError,
    never a lossy spelling that two different values could share.
    """
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def content_hash(tag: str, value: Any) -> str:
    """`tag:` and 64 hex digits of sha256. Equal values give equal hashes on every machine."""
    return f"{tag}:{hashlib.sha256(canonical(value)).hexdigest()}"
