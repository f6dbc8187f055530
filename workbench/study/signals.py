"""SIGTERM and SIGHUP, which batch schedulers, containers and closed terminals send, stop a program as Ctrl-C does.

The program then has a moment to store the replies of its open model calls, in which it ignores further SIGTERM and
SIGHUP, but not Ctrl-C. A program that ignores a signal from its start, as under `nohup`, goes on ignoring it.
"""

import signal
from types import FrameType

_SIGNALS = (signal.SIGTERM, signal.SIGHUP)


class Stopped(KeyboardInterrupt):
    """A signal that stops the program; `number` is the signal's."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.number = number


def stop_on_signals() -> None:
    """Raise `Stopped` in the main thread at the first of the signals."""

    def stop(number: int, _frame: FrameType | None) -> None:
        for other in _SIGNALS:
            signal.signal(other, signal.SIG_IGN)
        raise Stopped(number)

    for number in _SIGNALS:
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, stop)


def exit_code(error: BaseException | None) -> int:
    """128 and the number of the signal that caused the error, which is Ctrl-C's if it names none."""
    while error is not None:
        if isinstance(error, Stopped):
            return 128 + error.number
        error = error.__cause__ or error.__context__
    return 128 + signal.SIGINT
