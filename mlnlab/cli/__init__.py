"""Run the command ``mlnlab``: everything that is useful without opening a notebook.

Start with ``registry.py``: each file in ``commands/`` is a command, with ``add_parser`` and ``run``.
``arguments`` reads what they share, ``output`` writes results, ``page`` makes pages of notebooks.

It may import every package, but at the top of a file only what is light: heavy imports stand inside
``run``.
What always holds: results go to stdout, everything else to stderr; a mistake is one sentence and an exit
code above 0; an interrupt writes the results so far and ends with 130; a file is replaced as a whole or not
at all.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
import traceback
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

from mlnlab.cli.arguments.manual import CommandParser, list_options, say_options
from mlnlab.cli.output.marked_output import marked_output
from mlnlab.cli.registry import command_modules
from mlnlab.errors import MlnlabError, printable_lines

__all__ = ["main"]

_MANUAL = """\
Markov logic from the command line. Most people start with

  mlnlab lab        JupyterLab on the tour
  mlnlab doctor     what works on this machine, and what to do about the rest

`mlnlab COMMAND --help` is the manual of a command, with an example."""

_INTERRUPTED = 130  # what a shell reports for a program stopped by Ctrl-C
_PIPE_CLOSED = 141  # ... and for one whose reader went away, as in `mlnlab ... | head`


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; a failure is one sentence on stderr, never a traceback."""
    _open_closed_streams()
    _write_what_a_stream_can()
    try:
        arguments = _parser().parse_args(argv)
    except SystemExit as finished:  # argparse has said what was wrong, or shown the manual
        return finished.code if isinstance(finished.code, int) else 1
    writes_files, is_lab = hasattr(arguments, "output"), arguments.command == "lab"
    with marked_output(sys.stdout, sys.stderr, writes_files=writes_files, logs_in_colours=is_lab):
        return _run(arguments)


def _open_closed_streams() -> None:
    """Discard output to a closed stream, as in ``mlnlab doctor >&-``."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 - until the end


def _write_what_a_stream_can() -> None:
    """Write letters that an output's encoding does not have as their codes, rather than nothing at all."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def _run(arguments: argparse.Namespace) -> int:
    """Run the chosen command and turn whatever it raises into a sentence and a code."""
    try:
        code: int = arguments.run(arguments)
        sys.stdout.flush()
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        return _INTERRUPTED
    except BrokenPipeError:
        # The interpreter flushes stdout when it ends, which would complain a second time.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _PIPE_CLOSED
    except MlnlabError as error:
        # Problems of a text quote it, so that they stay as they are.
        told = str(error) if getattr(error, "diagnostics", ()) else say_options(str(error), arguments)
        print(printable_lines(f"mlnlab {arguments.command}: {told}"), file=sys.stderr)
        return 1
    except OSError as error:
        print(printable_lines(f"mlnlab {arguments.command}: {_in_words(error)}"), file=sys.stderr)
        return 1
    except Exception as error:  # noqa: BLE001 - the promise above holds for our own mistakes too
        _report_defect(arguments.command, error)
        return 1
    return code


class _ShowVersion(argparse.Action):
    """Looks the version up only when asked: the look-up reads the installation's files."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        try:
            version = metadata.version("mlnlab")
        except metadata.PackageNotFoundError:
            version = "(not installed)"
        print(f"mlnlab {version}")
        parser.exit()


def _parser() -> argparse.ArgumentParser:
    parser = CommandParser(
        prog="mlnlab", description=_MANUAL, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--version", action=_ShowVersion, nargs=0, help="show the version and exit")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for module in command_modules():
        command = module.add_parser(commands)
        command.set_defaults(run=module.run, options=list_options(command))
    return parser


def _in_words(error: OSError) -> str:
    """Return an error of the system as a sentence, with the file."""
    reason = (error.strerror or str(error) or type(error).__name__).lower()
    return f"{error.filename}: {reason}." if error.filename else f"{reason}."


def _report_defect(command: str, error: Exception) -> None:
    """Own up to a mistake of ours in one sentence; the traceback is there for who asks for it."""
    first_line = printable_lines(str(error).partition("\n")[0])
    print(
        f"mlnlab {command}: unexpected {type(error).__name__}: {first_line} "
        "(a mistake in mlnlab; MLNLAB_DEBUG=1 shows where).",
        file=sys.stderr,
    )
    if os.environ.get("MLNLAB_DEBUG"):
        traceback.print_exception(error)
