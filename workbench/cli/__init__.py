"""`workbench`, the command line. Each command is a module of this folder, imported when it is called."""

import errno
import os
import sys
import warnings
from importlib import import_module

import click

from workbench.errors import WorkbenchError
from workbench.study.signals import exit_code, stop_on_signals
from workbench.terminal import visible_output

# Each command's module, and its line of help, which is printed without importing the module.
COMMANDS = {
    "ask": ("ask", "Answer a question about a database."),
    "cache": ("cache", "Count, export, merge and delete cached model calls."),
    "data": ("data", "List benchmarks, or check one or a folder of them."),
    "evaluate": ("evaluate", "Judge files of predictions."),
    "init": ("init", "Copy the notebooks and experiments into a folder."),
    "reproduce": ("reproduce", "Run an experiment's notebooks."),
    "run": ("run", "Run a system over a benchmark."),
    "trace": ("reproduce", "Show the SQL and calls behind a number."),
    "train": ("train", "Export data for fine-tuning, and tune a model."),
}
_NAMED = {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.ENAMETOOLONG,
          errno.ELOOP, errno.ENOTDIR, errno.EISDIR, errno.EIO, errno.ENXIO}  # fmt: skip


class _Group(click.Group):
    """The commands, imported one at a time: pandas, sqlglot and Papermill take seconds."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  click's signature
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f"workbench.cli.{COMMANDS[cmd_name][0]}")
        command: click.Command = getattr(module, cmd_name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"]})
def cli() -> None:
    """A workbench for text-to-SQL research."""


def main() -> None:
    """Run the command line. An error of the caller's is one line on standard error and exit code 2."""
    stop_on_signals()
    warnings.showwarning = lambda message, *_, **__: print(f"workbench: {message}", file=sys.stderr)
    with visible_output():
        code, said = _ended()
        if said:
            print("workbench:", said.replace("\n", " "), file=sys.stderr)
    sys.exit(code)


def _ended() -> tuple[int, str]:
    """Run the command; returns its exit code, and a line for the user."""
    try:
        cli.main(prog_name="workbench", standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.NoArgsIsHelpError as error:
        print(error.format_message())
        return 2, "give one of these commands"
    except click.ClickException as error:
        return 2, error.format_message()
    except WorkbenchError as error:
        return 2, str(error)
    except BrokenPipeError:  # `head` has closed the pipe, for instance; click exits with 1, too
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1, ""
    except OSError as error:
        if error.errno not in _NAMED:
            raise
        return 2, f"{error.filename or 'a file'}: {error.strerror}; name another place"
    except (KeyboardInterrupt, click.Abort) as error:
        return exit_code(error), "stopped; finished work is saved, run the command again to go on"
    return 0, ""
