"""`workbench`, the command line. Each command is a module of this folder, imported when it is called."""

import errno
import os
import sys
import warnings
from collections.abc import Mapping
from importlib import import_module

import click

from workbench.errors import WorkbenchError
from workbench.study.signals import exit_code, stop_on_signals
from workbench.terminal import visible_output

# Each command's module, and its line in the help text, which is printed without importing the module.
COMMANDS: Mapping[str, tuple[str, str]] = {
    "ask": ("workbench.cli.ask", "Answer a question about a database."),
    "cache": ("workbench.cli.cache", "Count, export, merge and delete cached model calls."),
    "data": ("workbench.cli.data", "List benchmarks, or check one."),
    "evaluate": ("workbench.cli.evaluate", "Judge files of predictions."),
    "reproduce": ("workbench.cli.reproduce", "Run an experiment's notebooks."),
    "run": ("workbench.cli.run", "Run a system over a benchmark."),
    "trace": ("workbench.cli.reproduce", "Show the SQL and calls behind a number."),
    "train": ("workbench.cli.train", "Export data for fine-tuning."),
}

_CANNOT_WRITE = {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_CANNOT_READ = {
    errno.ENAMETOOLONG,
    errno.ELOOP,
    errno.ENOTDIR,
    errno.EISDIR,
    errno.EIO,
    errno.ENXIO,
}


class _Group(click.Group):
    """The commands, imported one at a time: pandas, sqlglot and Papermill take seconds."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  click's signature
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = getattr(import_module(COMMANDS[cmd_name][0]), cmd_name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, COMMANDS[name][1]) for name in self.list_commands(ctx)])


@click.group(
    cls=_Group,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.pass_context
def cli(context: click.Context) -> None:
    """A workbench for text-to-SQL research."""
    if context.invoked_subcommand is None:
        print(context.get_help())
        raise click.UsageError("give one of these commands")


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    """Print a warning as one line, without the file and line of the code that gives it."""
    print(f"workbench: {message}", file=sys.stderr)


def main() -> None:
    """Run the command line. An error of the caller's is one line on standard error and exit code 2."""
    stop_on_signals()
    warnings.showwarning = _show_warning
    with visible_output():
        _run()


def _run() -> None:
    try:
        cli.main(prog_name="workbench", standalone_mode=False)
        sys.stdout.flush()
    except (click.ClickException, WorkbenchError) as error:
        text = error.format_message() if isinstance(error, click.ClickException) else str(error)
        print(f"workbench: {text}".replace("\n", " "), file=sys.stderr)
        sys.exit(2)
    except BrokenPipeError:  # `head` has closed the pipe, for instance; click exits with 1, too
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as error:
        if error.errno not in _CANNOT_WRITE | _CANNOT_READ:
            raise
        where = f"{error.filename}: " if error.filename else ""
        advice = (
            "make space, or set WORKBENCH_HOME to a folder that can be written"
            if error.errno in _CANNOT_WRITE
            else "name another file"
        )
        print(f"workbench: {where}{error.strerror}; {advice}", file=sys.stderr)
        sys.exit(2)
    except (KeyboardInterrupt, click.Abort) as error:
        text = "stopped; finished work is saved, run the command again to go on"
        print(f"workbench: {text}", file=sys.stderr)
        sys.exit(exit_code(error))
