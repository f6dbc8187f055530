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

# The module of each command, and its line of help, for which the module is not imported.
COMMANDS = {
    "ask": ("ask", "Answer a question about a database."),
    "cache": ("cache", "Count, export and merge cached model calls."),
    "data": ("data", "List benchmarks, or check one or a folder of them."),
    "evaluate": ("evaluate", "Judge files of predictions."),
    "init": ("data", "Copy the notebooks and experiments into a folder."),
    "reproduce": ("run", "Run an experiment's notebooks."),
    "run": ("run", "Run a system over a benchmark."),
    "trace": ("run", "Show the SQL and calls behind a number."),
    "train": ("train", "Export chats to fine-tune a model, and tune one."),
}


class _Group(click.Group):
    """Imports the module of one command: pandas, sqlglot and Papermill take seconds."""

    def get_command(
        self,
        ctx: click.Context,  # noqa: ARG002
        cmd_name: str,
    ) -> click.Command | None:
        module, _ = COMMANDS.get(cmd_name, ("", ""))
        return (
            getattr(import_module(f"workbench.cli.{module}"), cmd_name)
            if module
            else None
        )

    def format_commands(
        self,
        ctx: click.Context,  # noqa: ARG002
        formatter: click.HelpFormatter,
    ) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"]})
def cli() -> None:
    """A workbench for text-to-SQL research."""


def main() -> None:
    """Run the command line; a caller's mistake is one line on standard error and exit code 2."""
    stop_on_signals()
    warnings.showwarning = lambda message, *_, **__: print(
        f"workbench: {message}", file=sys.stderr
    )
    streams: Any = VisibleStream(sys.stdout), VisibleStream(sys.stderr)
    code, said = 2, ""
    with redirect_stdout(streams[0]), redirect_stderr(streams[1]):
        try:
            cli.main(None, "workbench", standalone_mode=False)
            sys.stdout.flush()
            code = 0
        except BrokenPipeError:  # `head` has closed the pipe, for instance
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            code = 1
        except (KeyboardInterrupt, click.Abort):
            code = exit_code()
            said = "stopped; finished work is saved, run the command again to go on"
        except click.exceptions.NoArgsIsHelpError as error:
            code = 0
            print(error.format_message())
        except click.ClickException as error:
            said = error.format_message()
        except WorkbenchError as error:
            said = str(error)
        except OSError as error:
            said = f"{error.filename or 'a file'}: {error.strerror or error}"
        if said:
            print("workbench:", hide(said.replace("\n", " ")), file=sys.stderr)
    sys.exit(code)
