"""A terminal: it would obey control characters, and signals stop what runs in it.

SIGTERM and SIGHUP, which batch schedulers, containers and closed terminals send, stop a program as
Ctrl-C does. The program then has a moment to store the replies of its open model calls, in which it
ignores further SIGTERM and SIGHUP, but not Ctrl-C. A program that ignores a signal from its start,
as under `nohup`, goes on ignoring it.
"""

import re
import signal
import sys
from types import FrameType
from typing import Any, TextIO

# Characters that no reader sees, that reverse the order of letters, or that HTML cannot hold.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ud800-\udfff\ufeff\uffa0\ufff9-\ufffb\ufffe\uffff\U0001d173-\U0001d17a"
    "\U000e0000-\U000e00ff]"
)
_SIGNALS = (signal.SIGTERM, signal.SIGHUP)
_received: list[int] = []


def visible(text: str) -> str:
    """Return the text with invisible characters written as escapes, such as backslash u202e."""
    escaped = text.replace("\r\n", "\n")
    return _INVISIBLE.sub(
        lambda found: found[0].encode("unicode_escape").decode(), escaped
    )


class VisibleStream:
    """A stream that writes characters that are invisible or not in its encoding as escapes."""

    def __init__(self, unfiltered: TextIO) -> None:
        self.unfiltered = unfiltered

    def write(self, text: str) -> int:
        encoding = self.unfiltered.encoding or "utf-8"
        encoded = visible(text).encode(encoding, "backslashreplace")
        return self.unfiltered.write(encoded.decode(encoding))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.unfiltered, name)


def bar_stream() -> TextIO:
    """Return unfiltered standard error: a progress bar moves the cursor by control characters."""
    stream: TextIO = getattr(sys.stderr, "unfiltered", sys.stderr)
    return stream


def stop_on_signals() -> None:
    """Raise KeyboardInterrupt in the main thread at the first of the signals."""

    def stop(number: int, _frame: FrameType | None) -> None:
        for other in _SIGNALS:
            signal.signal(other, signal.SIG_IGN)
        _received.append(number)
        raise KeyboardInterrupt

    for number in _SIGNALS:
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, stop)


def exit_code() -> int:
    """The exit code of a stopped program: 128 and the number of the signal."""
    return 128 + (_received or [signal.SIGINT])[0]
