"""The checksum of a row, which shows whether a value was changed after the row was stored."""

import hashlib

from workbench.canonical import canonical


def checksum(*values: str | float | None) -> int:
    """63 bits of a hash of the values. An integer and a float of the same value differ."""
    return int.from_bytes(hashlib.sha256(canonical(values)).digest()[:8], "big") >> 1
