"""Write results to files: each is tried before the work, and a result that cannot go there goes elsewhere."""

from __future__ import annotations

import secrets
import sys
import tempfile
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mlnlab.errors import InputError, OutputError, printable

if TYPE_CHECKING:
    import argparse

    import pandas as pd


def add_output(parser: argparse.ArgumentParser, meaning: str, *, metavar: str = "OUT") -> None:
    """Declare the file that a result goes to, and the leave to overwrite one that the command reads."""
    parser.add_argument("-o", "--output", metavar=metavar, type=Path, help=meaning)
    parser.add_argument("--force", action="store_true", help=f"let {metavar} overwrite an input file")


def try_output(output: Path | None, inputs: Iterable[Path | None], *, force: bool) -> None:
    """Refuse an output that cannot be written, or that is an input, before the work whose result it holds."""
    from mlnlab.steps.safe_files import is_special, try_to_write

    if output is None:
        return
    read = (file for path in inputs if path for file in (path, *_list_included_files(path, output)))
    if not force and not is_special(output) and any(_are_same(output, file) for file in read):
        raise InputError(f"{output}: the command reads this file; --force overwrites it.")
    try_to_write(output)


def _list_included_files(path: Path, output: Path) -> tuple[Path, ...]:
    """Return the files that a model includes, if the output may be one of them."""
    from mlnlab.syntax.formulas.analysis import analyse_file

    if {path.suffix.lower(), output.suffix.lower()} != {".mln"} or not output.exists():
        return ()
    with suppress(InputError):  # the command itself says so
        return analyse_file(path, includes="anywhere").included
    return ()


def _are_same(output: Path, path: Path) -> bool:
    """Return whether two paths lead to one file, through links too."""
    with suppress(OSError):
        return output.samefile(path)
    return output.resolve() == path.resolve()


def write_result(output: Path, text: str, *, named: bool = True) -> None:
    """Write a result and name its file; where that fails, write it elsewhere and say where."""
    from mlnlab.steps.safe_files import is_special, write_text

    try:
        write_text(output, text)
    except OutputError as problem:
        raise OutputError(f"{problem} {_rescue(output, text)}") from None
    if named:
        print(printable(str(output)), file=sys.stderr if is_special(output) else sys.stdout)


def write_table(path: Path, table: pd.DataFrame) -> None:
    """Write a table as CSV."""
    from mlnlab.steps.safe_files import write_text

    write_text(path, table.to_csv(index=False, lineterminator="\n"))


def write_plot(path: Path, plot: Any) -> None:  # noqa: ANN401 - a figure of plotly, which has no types
    """Write a page to zoom into; plotly's own script goes beside it."""
    from mlnlab.steps.safe_files import replacing_file

    with replacing_file(path) as unfinished:
        plot.write_html(unfinished, include_plotlyjs="directory")


def _rescue(output: Path, text: str) -> str:
    """Write a result where that is possible, at the worst to the terminal; return where it is."""
    from mlnlab.steps.safe_files import write_text

    name = f"{output.stem}-{secrets.token_hex(3)}{output.suffix}"
    for folder in (output.parent, Path.cwd()):
        with suppress(OutputError):
            write_text(folder / name, text)
            return f"The result is in {(folder / name).absolute()} instead."
    with suppress(OSError):
        folder = Path(tempfile.mkdtemp(prefix="mlnlab-"))  # which nobody else can have prepared
        try:
            write_text(folder / name, text)
        except OutputError:
            folder.rmdir()
        else:
            return f"The result is in {folder / name} instead."
    print(text, end="")
    return "The result is printed instead."


@contextmanager
def only_checkpoint_warnings() -> Iterator[None]:
    """Print problems of a checkpoint on stderr at once; other warnings are part of the answer."""
    from mlnlab.steps.files.checkpoint import CheckpointWarning

    with warnings_in_lines():
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", CheckpointWarning)
        yield


@contextmanager
def warnings_in_lines() -> Iterator[None]:
    """Say warnings on stderr as sentences, without the lines of code that they come from."""
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *_, **__: _say(message)
        yield


def _say(message: Warning | str) -> None:
    print(printable(f"warning: {message}"), file=sys.stderr, flush=True)


@contextmanager
def pressing_on(problems: list[str]) -> Iterator[None]:
    """Go on where a file cannot be written, say so once, and keep it for the exit code."""
    try:
        yield
    except OutputError as problem:
        if str(problem) not in problems:
            _say(str(problem))
            problems.append(str(problem))
