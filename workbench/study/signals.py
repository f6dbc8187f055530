"""SIGTERM and SIGHUP, which batch schedulers, containers and closed terminals send, stop a program as Ctrl-C does.

The program then has a moment to store the replies of its open model calls, in which it ignores further SIGTERM and
SIGHUP, but not Ctrl-C. A program that ignores a signal from its start, as under `nohup`, goes on ignoring it.
"""

import signal
from types import FrameType

_SIGNALS = (signal.SIGTERM, signal.SIGHUP)
_received: list[int] = []


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
