"""Standard output and standard error for a terminal, which would obey control characters in names and replies."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO

from workbench.html.tree import visible


class VisibleStream:
    """A stream that writes invisible characters, and characters that its encoding lacks, as escapes."""

    def __init__(self, unfiltered: TextIO) -> None:
        self.unfiltered = unfiltered

    def write(self, text: str) -> int:
        encoding = self.unfiltered.encoding or "utf-8"
        shown = visible(text).encode(encoding, "backslashreplace").decode(encoding)
        self.unfiltered.write(shown)
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.unfiltered, name)


@contextmanager
def visible_output() -> Iterator[None]:
    """A block whose standard output and standard error write invisible characters as escapes."""
    streams = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = map(VisibleStream, streams)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = streams


def bar_stream() -> TextIO:
    """The stream of a progress bar, which moves the cursor by control characters: unfiltered standard error."""
    stream: TextIO = getattr(sys.stderr, "unfiltered", sys.stderr)
    return stream
