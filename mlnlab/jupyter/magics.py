"""``%%mln`` reads its cell as a model, ``%%db`` as facts; what is wrong is shown in place."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from IPython.core.error import UsageError
from IPython.display import display

from mlnlab.errors import Diagnostic, InputError
from mlnlab.jupyter.options import LineParser, variable_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from IPython.core.interactiveshell import InteractiveShell

    from mlnlab.model.mln import MLN


def register_magics(shell: InteractiveShell) -> None:
    """Add the cell magics to a shell."""

    def mln(line: str, cell: str) -> None:
        read_model_cell(shell, line, cell)

    def db(line: str, cell: str) -> None:
        read_facts_cell(shell, line, cell)

    mln.__doc__, db.__doc__ = read_model_cell.__doc__, read_facts_cell.__doc__
    # The annotations of IPython's decorated method miss that it is bound.
    shell.register_magic_function(mln, "cell", "mln")  # type: ignore[arg-type]
    shell.register_magic_function(db, "cell", "db")  # type: ignore[arg-type]


def read_model_cell(shell: InteractiveShell, line: str, cell: str) -> None:
    """Read the cell as a model, keep it in a variable and show it.

    ``%%mln [NAME] [--semantics textbook|alchemy] [--folder FOLDER]``

    NAME is the variable (``mln`` without one), FOLDER is where ``#include`` looks. If something is wrong with
    the text, all of it is shown and the variable keeps its value.
    """
    options = _model_options().read(line)
    from mlnlab.model.mln import MLN
    from mlnlab.model.remarks import remarks

    text = _as_numbered_in_the_cell(cell)
    place = "%%mln cell"
    try:
        model = MLN.from_text(text, semantics=options.semantics, name=place, folder=options.folder)
    except InputError as error:
        _show_problems(error.diagnostics, options.name, shell)
        return
    found = sorted((*model.diagnostics, *remarks(model, text, place)), key=lambda d: (d.span.file, d.span))
    model = replace(model, name=options.name, diagnostics=tuple(found))
    shell.user_ns[options.name] = model
    display(model)  # type: ignore[no-untyped-call]


def read_facts_cell(shell: InteractiveShell, line: str, cell: str) -> None:
    """Read the cell as facts of a model, keep the database in a variable and show it.

    ``%%db [NAME] [--model MODEL]``

    NAME is the variable (``db`` without one), MODEL the variable that holds the model (``mln``). If
    something is wrong with the text, all of it is shown and the variable keeps its value.
    """
    options = _facts_options().read(line)
    from mlnlab.model.database import Database

    model = _model_named(shell, options.model)
    try:
        database = Database.from_text(_as_numbered_in_the_cell(cell), model, name="%%db cell")
    except InputError as error:
        _show_problems(error.diagnostics, options.name, shell)
        return
    database = replace(database, name=options.name)
    shell.user_ns[options.name] = database
    display(database)  # type: ignore[no-untyped-call]


def _model_options() -> LineParser:
    parser = LineParser(prog="mln", add_help=False)
    parser.add_argument("name", nargs="?", type=variable_name, default="mln", metavar="NAME")
    parser.add_argument("--semantics", choices=("textbook", "alchemy"), default="textbook")
    parser.add_argument("--folder", default=None)
    return parser


def _facts_options() -> LineParser:
    parser = LineParser(prog="db", add_help=False)
    parser.add_argument("name", nargs="?", type=variable_name, default="db", metavar="NAME")
    parser.add_argument("--model", type=variable_name, default="mln")
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


def _show_problems(diagnostics: Sequence[Diagnostic], name: str, shell: InteractiveShell) -> None:
    from mlnlab.display.findings import findings_display, findings_text
    from mlnlab.display.markup import render

    kept = f"{name} keeps its value" if name in shell.user_ns else f"{name} is not made"
    headline = f"This cell has problems; {kept}"
    text = f"{headline}.\n{findings_text(diagnostics)}"
    markup = render(findings_display(diagnostics, headline))
    display({"text/plain": text, "text/html": markup}, raw=True)  # type: ignore[no-untyped-call]
