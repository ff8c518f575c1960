"""``mlnlab run``: a notebook, executed and written as one self-contained HTML page."""

from __future__ import annotations

import argparse
import math
import sys
from pathlib import Path

from mlnlab.cli.arguments.manual import Subparsers, add_command
from mlnlab.cli.output.result_files import add_output, try_output, write_result
from mlnlab.errors import OutputError, printable

_MANUAL = """
Executes a notebook from top to bottom with this Python and writes it as one
self-contained HTML page. Opened from a disk, a stick or an e-mail it
loads nothing and goes nowhere, unless its reader clicks a link: of the notebook's
own markup it keeps only visible elements, and a browser runs no scripts but ours,
which draw plotly's figures. The page says what was left out: scripts, frames, forms,
pictures from elsewhere. Formulas are MathML, colours follow the reader's light or
dark setting, and the notebook itself is not changed.

Progress goes to stderr, one line a cell. If a cell fails, the page is written up
to that cell, the message on stderr names it, and the exit code is 1."""

_EXAMPLES = """
  mlnlab run notebooks/00_tour.ipynb                writes notebooks/00_tour.html
  mlnlab run lesson.ipynb -o handout.html           under another name
  mlnlab run lesson.ipynb --no-execute              as it was saved, without running it"""


def add_parser(subparsers: Subparsers) -> argparse.ArgumentParser:
    """Declare the command and its arguments."""
    parser = add_command(
        subparsers, "run", summary="execute a notebook into one HTML page", manual=_MANUAL, examples=_EXAMPLES
    )
    parser.add_argument("notebook", metavar="NOTEBOOK", type=Path, help="the .ipynb file")
    add_output(parser, "the page (default: beside the notebook)", metavar="OUT.html")
    parser.add_argument("--no-execute", action="store_true", help="show the saved outputs, run nothing")
    parser.add_argument(
        "--timeout",
        type=_seconds,
        default=600,
        help="seconds allowed to one cell, 0 for no limit (default: 600)",
    )
    return parser


def run(arguments: argparse.Namespace) -> int:
    """Execute, render and write; the page is written even where a cell failed."""
    from mlnlab.cli.page.execute import read_notebook

    notebook = read_notebook(arguments.notebook)
    output = _output_path(arguments.notebook, arguments.output)
    try:
        try_output(output, [arguments.notebook], force=arguments.force)
    except OutputError as problem:
        hint = " Name another place with -o." if arguments.output is None else ""
        raise OutputError(f"{problem}{hint}") from None
    failure = None
    if not arguments.no_execute:
        from mlnlab.cli.page.execute import execute

        folder = arguments.notebook.resolve().parent
        failure = execute(notebook, folder, timeout=arguments.timeout or None, say=_say)
    from mlnlab.cli.page.render import render

    page, where = render(notebook, arguments.notebook.resolve()), ""
    try:
        write_result(output, page, named=not failure)
        where = f" The page shows how far it got: {output}"
    finally:
        if failure:
            _say(f"mlnlab run: {arguments.notebook}: {failure}{where}")
    return 1 if failure else 0


def _output_path(notebook: Path, chosen: Path | None) -> Path:
    if chosen is None:
        return notebook.with_suffix(".html")
    return chosen / notebook.with_suffix(".html").name if chosen.is_dir() else chosen


def _say(sentence: str) -> None:
    print(printable(sentence), file=sys.stderr, flush=True)


def _seconds(text: str) -> int:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 <= seconds < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds")
    return math.ceil(seconds)
