"""SIGTERM and SIGHUP, which batch schedulers, containers and closed terminals send, stop a program as Ctrl-C does.

The program then has a moment to store the replies of its open model calls, in which it ignores further SIGTERM and
SIGHUP, but not Ctrl-C. A program that ignores a signal from its start, as under `nohup`, goes on ignoring it.
"""

import os
import signal
from types import FrameType
from typing import Any

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

    _handle(stop)


def exit_code(error: BaseException | None) -> int:
    """128 and the number of the signal that caused the error, which is Ctrl-C's if it names none."""
    while error is not None:
        if isinstance(error, Stopped):
            return 128 + error.number
        error = error.__cause__ or error.__context__
    return 128 + signal.SIGINT


def stop_kernel_on_signals(shell: Any) -> None:
    """In a notebook's kernel, interrupt the running cell at the first of the signals, then end the kernel."""
    running = True  # the cell that calls this
    received = 0

    def begin(*_: object) -> None:
        nonlocal running
        running = True

    def end(*_: object) -> None:
        nonlocal running
        running = False
        if received:
            die()

    def die() -> None:
        signal.signal(received, signal.SIG_DFL)
        os.kill(os.getpid(), received)

    def stop(number: int, _frame: FrameType | None) -> None:
        nonlocal received
        first, received = not received, number
        if not running:
            die()
        elif first:
            raise Stopped(number)

    shell.events.register("pre_run_cell", begin)
    shell.events.register("post_run_cell", end)
    _handle(stop)


def _handle(stop: Any) -> None:
    for number in _SIGNALS:
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, stop)
