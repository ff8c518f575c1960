"""``mlnlab run``: a notebook, executed and written as one self-contained HTML page."""

from __future__ import annotations

import argparse
import math
import sys
from pathlib import Path

from mlnlab.cli.manual import Subparsers, add_command
from mlnlab.errors import InputError, printable

_MANUAL = """
Executes a notebook from top to bottom with this Python and writes it as one HTML
page that holds everything it shows: opened from a disk, a stick or an e-mail it
asks no network for anything. Formulas are MathML, colours follow the reader's
light or dark setting, and the notebook itself is not changed.

Progress goes to stderr, one line a cell. If a cell fails, the page is written as
far as it got, the sentence on stderr names the cell, and the exit code is 1."""

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
    parser.add_argument(
        "-o", "--output", metavar="OUT.html", type=Path, help="the page (default: beside the notebook)"
    )
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
    from mlnlab.cli.page.read import read_notebook
    from mlnlab.cli.page.write import write_whole

    notebook = read_notebook(arguments.notebook)
    output = _output_path(arguments.notebook, arguments.output)
    failure = None
    if not arguments.no_execute:
        from mlnlab.cli.page.execute import execute

        folder = arguments.notebook.resolve().parent
        failure = execute(notebook, folder, timeout=arguments.timeout or None, say=_say)
    from mlnlab.cli.page.render import render

    write_whole(output, render(notebook, arguments.notebook.resolve()))
    if failure:
        _say(f"mlnlab run: {arguments.notebook}: {failure} The page shows how far it got: {output}")
        return 1
    print(output)
    return 0


def _output_path(notebook: Path, chosen: Path | None) -> Path:
    if chosen is None:
        return notebook.with_suffix(".html")
    output = chosen / notebook.with_suffix(".html").name if chosen.is_dir() else chosen
    if output.resolve() == notebook.resolve():
        raise InputError(f"{output}: the page would overwrite the notebook.")
    if not output.parent.is_dir():
        raise InputError(f"{output}: the folder {output.parent} does not exist.")
    return output


def _say(sentence: str) -> None:
    print(printable(sentence), file=sys.stderr, flush=True)


def _seconds(text: str) -> int:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 <= seconds < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds")
    return math.ceil(seconds)
