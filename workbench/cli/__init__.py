"""`workbench`, the command line. A command's module is imported when the command is called."""

import os
import sys
import warnings
from contextlib import redirect_stderr, redirect_stdout
from importlib import import_module
from typing import Any

import click

from workbench.errors import WorkbenchError, hide
from workbench.terminal import VisibleStream, exit_code, stop_on_signals

# Each command's line of help, for which its module is not imported.
COMMANDS = {
    "ask": "Answer a question about a database.",
    "cache": "Count, export and merge cached model calls.",
    "data": "List benchmarks, or check one or a folder of them.",
    "evaluate": "Judge files of predictions.",
    "init": "Copy the notebooks and experiments into a folder.",
    "reproduce": "Run an experiment's notebooks.",
    "run": "Run a system over a benchmark.",
    "trace": "Show the SQL and calls behind a number.",
    "train": "Export chats to fine-tune a model, and tune one.",
}
# The modules of the commands that have none of their own.
_MODULES = {"init": "data", "reproduce": "run", "trace": "run"}


class _Group(click.Group):
    """Imports the module of one command: pandas, sqlglot and Papermill take seconds."""

    def get_command(
        self,
        ctx: click.Context,  # noqa: ARG002
        cmd_name: str,
    ) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f"workbench.cli.{_MODULES.get(cmd_name, cmd_name)}")
        command: click.Command = getattr(module, cmd_name)
        return command

    def format_commands(
        self,
        ctx: click.Context,  # noqa: ARG002
        formatter: click.HelpFormatter,
    ) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"]})
def cli() -> None:
    """A workbench for text-to-SQL research."""


def main() -> None:
    """Run the command line; a caller's mistake is one line on standard error and exit code 2."""
    stop_on_signals()
    warnings.showwarning = _show_warning
    out: Any = VisibleStream(sys.stdout)
    err: Any = VisibleStream(sys.stderr)
    code = 2  # unless it turns out otherwise below: of a caller's mistake
    mistake = ""
    with redirect_stdout(out), redirect_stderr(err):
        try:
            cli.main(None, "workbench", standalone_mode=False)
            sys.stdout.flush()
            code = 0
        except BrokenPipeError:  # `head` has closed the pipe, for instance
            # Python flushes once more when it ends. That must not fail again, so it goes nowhere.
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, sys.stdout.fileno())
            code = 1
        except (KeyboardInterrupt, click.Abort):
            code = exit_code()
            mistake = "stopped; finished work is saved, run the command again to go on"
        except click.exceptions.NoArgsIsHelpError as error:
            code = 0
            print(error.format_message())
        except click.ClickException as error:
            mistake = error.format_message()
        except WorkbenchError as error:
            mistake = str(error)
        except OSError as error:
            mistake = f"{error.filename or 'a file'}: {error.strerror or error}"
        if mistake:
            print("workbench:", hide(mistake.replace("\n", " ")), file=sys.stderr)
    sys.exit(code)


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    print("workbench:", message, file=sys.stderr)
