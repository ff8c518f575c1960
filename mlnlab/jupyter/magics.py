"""``%%mln`` reads its cell as a model, ``%%db`` as facts; what is wrong is shown in place."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from IPython.core.error import UsageError
from IPython.display import display

from mlnlab.errors import Diagnostic, InputError
from mlnlab.jupyter.options import LineParser, variable_name

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence

    from IPython.core.interactiveshell import InteractiveShell

    from mlnlab.model.mln import MLN


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

    ``%%mln [NAME] [--semantics textbook|alchemy] [--folder FOLDER] [--keep-going]``

    NAME is the variable (``mln`` without one), FOLDER is where ``#include`` looks. If something is wrong with
    the text, all of it is shown, the variable keeps its value, and the cell fails, so that "Run all" and
    ``mlnlab run`` stop there. With ``--keep-going`` the problems are only shown.
    """
    options = _model_options().read(line)
    from mlnlab.model.mln import MLN
    from mlnlab.model.remarks import remarks

    text = _as_numbered_in_the_cell(cell)
    place = "%%mln cell"
    try:
        model = MLN.from_text(text, semantics=options.semantics, name=place, folder=options.folder)
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
    from mlnlab.model.database import Database

    model = _model_named(shell, options.model)
    try:
        database = Database.from_text(_as_numbered_in_the_cell(cell), model, name="%%db cell")
    except InputError as error:
        _report(error.diagnostics, options, shell)
        return
    database = replace(database, name=options.name)
    shell.user_ns[options.name] = database
    display(database)  # type: ignore[no-untyped-call]


def stop_runs(line: str) -> None:
    """Stop every run that goes on in this kernel; what was recorded stays.

    ``%mln_stop``
    """
    if line.strip():
        raise UsageError("%mln_stop takes nothing: it stops all runs.")
    from mlnlab.steps.live import stop_all

    stopped = stop_all(_STOPPING_SECONDS)
    print(f"Stopped {stopped} run{'' if stopped == 1 else 's'}." if stopped else "No run was going on.")  # noqa: T201


def _model_options() -> LineParser:
    parser = LineParser(prog="mln", add_help=False)
    parser.add_argument("name", nargs="?", type=variable_name, default="mln", metavar="NAME")
    parser.add_argument("--semantics", choices=("textbook", "alchemy"), default="textbook")
    parser.add_argument("--folder", default=None)
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


def _model_named(shell: InteractiveShell, name: str) -> MLN:
    from mlnlab.model.mln import MLN

    model = shell.user_ns.get(name)
    if isinstance(model, MLN):
        return model
    known = sorted(key for key, value in shell.user_ns.items() if isinstance(value, MLN) and key[:1] != "_")
    what = (
        f"{name} is a {type(model).__name__}, not a model"
        if model is not None
        else f"there is no model {name}"
    )
    way = f"name one of {', '.join(known)} behind --model" if known else "make one with a %%mln cell first"
    raise UsageError(f"%%db: {what}; {way}.")


def _report(diagnostics: Sequence[Diagnostic], options: Namespace, shell: InteractiveShell) -> None:
    """Show what is wrong in place, and let the cell fail unless asked otherwise."""
    from mlnlab.display.findings import findings_display, findings_text
    from mlnlab.display.markup import render
    from mlnlab.display.terminal import printable_lines

    name = options.name
    kept = f"{name} keeps its value" if name in shell.user_ns else f"{name} is not made"
    headline = f"This cell has problems; {kept}"
    text = f"{headline}.\n{findings_text(diagnostics)}"
    markup = render(findings_display(diagnostics, headline))
    display({"text/plain": printable_lines(text), "text/html": markup}, raw=True)  # type: ignore[no-untyped-call]
    if not options.keep_going:
        raise CellError(f"{headline}.", diagnostics)
