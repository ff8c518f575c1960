"""Read ``%%mln`` cells as models and ``%%db`` cells as facts, and show problems in place."""

from __future__ import annotations

import argparse
import keyword
import shlex
from dataclasses import replace
from typing import TYPE_CHECKING, NoReturn

from IPython.core.error import UsageError
from IPython.display import display

from mlnlab.errors import Diagnostic, InputError

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence

    from IPython.core.interactiveshell import InteractiveShell

    from mlnlab.model.mln.mln import MLN


_STOPPING_SECONDS = 2.0  # for single steps that take long


class CellError(InputError):
    """A cell that could not be read; its problems stand above, so that one line is enough."""

    def _render_traceback_(self) -> list[str]:
        """Show one line: IPython's own hook."""
        return [f"{type(self).__name__}: {self.summary}"]


def register_magics(shell: InteractiveShell) -> None:
    """Add the cell magics to a shell."""

    def mln(line: str, cell: str) -> None:
        read_model_cell(shell, line, cell)

    def db(line: str, cell: str) -> None:
        read_facts_cell(shell, line, cell)

    mln.__doc__, db.__doc__ = read_model_cell.__doc__, read_facts_cell.__doc__

    def mln_stop(line: str) -> None:
        stop_runs(line)

    mln_stop.__doc__ = stop_runs.__doc__
    # The annotations of IPython's decorated method miss that it is bound.
    shell.register_magic_function(mln, "cell", "mln")  # type: ignore[arg-type]
    shell.register_magic_function(db, "cell", "db")  # type: ignore[arg-type]
    shell.register_magic_function(mln_stop, "line", "mln_stop")  # type: ignore[arg-type]


def read_model_cell(shell: InteractiveShell, line: str, cell: str) -> None:
    """Read the cell as a model, keep it in a variable and show it.

    ``%%mln [NAME] [--semantics textbook|alchemy] [--folder FOLDER] [--includes below|anywhere]
    [--keep-going]``

    NAME is the variable (``mln`` without one), FOLDER is where ``#include`` looks, and below which the files
    lie, except with ``--includes anywhere``. If something is wrong with
    the text, all of it is shown, the variable keeps its value, and the cell fails, so that "Run all" and
    ``mlnlab run`` stop there. With ``--keep-going`` the problems are only shown.
    """
    options = _model_options().read(line)
    from mlnlab.model.mln.mln import MLN
    from mlnlab.model.remarks import remarks

    text = _as_numbered_in_the_cell(cell)
    place = "%%mln cell"
    try:
        model = MLN.from_text(
            text, semantics=options.semantics, name=place, folder=options.folder, includes=options.includes
        )
    except InputError as error:
        _report(error.diagnostics, options, shell)
        return
    found = sorted((*model.diagnostics, *remarks(model, text, place)), key=lambda d: (d.span.file, d.span))
    model = replace(model, name=options.name, diagnostics=tuple(found))
    shell.user_ns[options.name] = model
    display(model)  # type: ignore[no-untyped-call]


def read_facts_cell(shell: InteractiveShell, line: str, cell: str) -> None:
    """Read the cell as facts of a model, keep the database in a variable and show it.

    ``%%db [NAME] [--model MODEL] [--keep-going]``

    NAME is the variable (``db`` without one), MODEL the variable that holds the model (``mln``). If
    something is wrong with the text, all of it is shown, the variable keeps its value, and the cell fails,
    so that "Run all" and ``mlnlab run`` stop there. With ``--keep-going`` the problems are only shown.
    """
    options = _facts_options().read(line)
    from mlnlab.model.database.database import Database

    model = _find_model(shell, options.model)
    try:
        database = Database.from_text(_as_numbered_in_the_cell(cell), model, name="%%db cell")
    except InputError as error:
        _report(error.diagnostics, options, shell)
        return
    database = replace(database, name=options.name)
    shell.user_ns[options.name] = database
    display(database)  # type: ignore[no-untyped-call]


def stop_runs(line: str) -> None:
    """Stop every run in this kernel and keep the recordings.

    ``%mln_stop``
    """
    if line.strip():
        raise UsageError("%mln_stop takes no arguments: it stops all runs.")
    from mlnlab.steps.runs.live import stop_all

    stopped = stop_all(_STOPPING_SECONDS)
    print(f"Stopped {stopped} run{'' if stopped == 1 else 's'}." if stopped else "There was no run to stop.")  # noqa: T201


def _model_options() -> LineParser:
    parser = LineParser(prog="mln", add_help=False)
    parser.add_argument("name", nargs="?", type=variable_name, default="mln", metavar="NAME")
    parser.add_argument("--semantics", choices=("textbook", "alchemy"), default="textbook")
    parser.add_argument("--folder", default=None)
    parser.add_argument("--includes", choices=("below", "anywhere"), default="below")
    parser.add_argument("--keep-going", action="store_true")
    return parser


def _facts_options() -> LineParser:
    parser = LineParser(prog="db", add_help=False)
    parser.add_argument("name", nargs="?", type=variable_name, default="db", metavar="NAME")
    parser.add_argument("--model", type=variable_name, default="mln")
    parser.add_argument("--keep-going", action="store_true")
    return parser


def _as_numbered_in_the_cell(text: str) -> str:
    """Return the text with an empty first line: the magic itself stands on line 1 of the cell."""
    return "\n" + text


def _find_model(shell: InteractiveShell, name: str) -> MLN:
    from mlnlab.model.mln.mln import MLN

    model = shell.user_ns.get(name)
    if isinstance(model, MLN):
        return model
    known = sorted(key for key, value in shell.user_ns.items() if isinstance(value, MLN) and key[:1] != "_")
    what = (
        f"{name} is a {type(model).__name__}, not a model"
        if model is not None
        else f"there is no model {name}"
    )
    way = f"name one of {', '.join(known)} after --model" if known else "make one with a %%mln cell first"
    raise UsageError(f"%%db: {what}; {way}.")


def _report(diagnostics: Sequence[Diagnostic], options: Namespace, shell: InteractiveShell) -> None:
    """Show the problems in place, and let the cell fail unless asked otherwise."""
    from mlnlab.display.card.findings import findings_card
    from mlnlab.display.card.markup import render
    from mlnlab.errors import printable_lines

    name = options.name
    kept = f"{name} keeps its value" if name in shell.user_ns else f"{name} was not created"
    headline = f"This cell has problems; {kept}"
    shown = findings_card(diagnostics, headline)
    text, markup = f"{headline}.\n{shown.text()}", render(shown.markup())
    display({"text/plain": printable_lines(text), "text/html": markup}, raw=True)  # type: ignore[no-untyped-call]
    if not options.keep_going:
        raise CellError(f"{headline}.", diagnostics)


# --- read the line behind ``%%mln`` and ``%%db`` ------------------------------------------------

# It has a name and options; each mistake gets a sentence.


class LineParser(argparse.ArgumentParser):
    """Reads a magic's line; problems are usage errors, which a notebook shows as one sentence."""

    def error(self, message: str) -> NoReturn:
        """Raise the sentence instead of ending the kernel."""
        raise UsageError(f"%%{self.prog}: {message}. Usage: %%{self.format_usage()[7:].strip()}")

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        """Raise instead of ending the kernel."""
        raise UsageError(message or f"%%{self.prog} ended with {status}.")

    def read(self, line: str) -> argparse.Namespace:
        """Return the options on the line."""
        try:
            words = shlex.split(line, comments=True)
        except ValueError as problem:
            self.error(str(problem).lower())
        return self.parse_args(words)


def variable_name(text: str) -> str:
    """Return the text if Python can have a variable of this name."""
    if not text.isidentifier() or keyword.iskeyword(text):
        raise argparse.ArgumentTypeError(f"{text!r} cannot name a variable")
    return text
