"""``mlnlab convert``: models to other notations, facts from and to tables."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from mlnlab.cli.arguments.manual import Subparsers, add_command
from mlnlab.cli.arguments.method_arguments import add_includes
from mlnlab.cli.output.result_files import try_output
from mlnlab.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mlnlab.model.database.database import Database
    from mlnlab.model.mln.mln import MLN

_MANUAL = """
Writes a model or facts in another format; the endings of IN and OUT say which.

  models   .mln   ->  .mln   in one layout, includes and functions written out
                      .txt   in mathematical symbols
                      .tex   a LaTeX document
                      .html  a page with tables
  facts    .db    <-> a folder of tables, a file for each predicate (--tables)
                      .sqlite, .sqlite3   a table for each predicate

Facts need --model, which declares their predicates. A path without an ending is a
folder; as IN it may hold a mixture of CSV, TSV, Parquet and JSON files.

Existing files are not overwritten: OUT must be new, or an empty folder. --force replaces
it; in a folder it removes the model's old tables and leaves everything else."""

_EXAMPLES = """
  mlnlab convert smoking.mln smoking.tex
  mlnlab convert smoking.db tables --model smoking.mln --tables parquet
  mlnlab convert tables smoking.db --model smoking.mln
  mlnlab convert shop.sqlite shop.db --model shop.mln"""

_NOTATIONS = (".mln", ".txt", ".tex", ".html")
_SQLITE = (".sqlite", ".sqlite3")
_FACTS = (".db", ".func")
_TABLES = ("csv", "tsv", "parquet")


def add_parser(subparsers: Subparsers) -> argparse.ArgumentParser:
    """Declare the command and its arguments."""
    parser = add_command(
        subparsers, "convert", summary="models to other notations, facts from and to tables",
        manual=_MANUAL, examples=_EXAMPLES,
    )  # fmt: skip
    parser.add_argument("source", metavar="IN", type=Path, help="a model, facts, or a folder of tables")
    parser.add_argument("target", metavar="OUT", type=Path, help="what to write")
    parser.add_argument("--model", metavar="MODEL", type=Path, help="the .mln file that facts belong to")
    parser.add_argument(
        "--tables", choices=_TABLES, default="csv",
        help="format of the files in a folder (default: %(default)s)",
    )  # fmt: skip
    add_includes(parser)
    parser.add_argument("--force", action="store_true", help="replace the contents of OUT")
    return parser


def run(arguments: argparse.Namespace) -> int:
    """Read one format, write the other, and print the files written."""
    from mlnlab.model.mln.mln import MLN
    from mlnlab.steps.safe_files import write_text

    source, target = arguments.source, arguments.target
    if source.suffix.lower() == ".mln":
        write = _model_writer(target)
        _require_free(target, arguments.force)
        try_output(target, [source], force=arguments.force)
        write_text(target, write(MLN.load(source, includes=arguments.includes)))
        print(target)
        return 0
    _require_known(source, target)
    if arguments.model is None:
        raise InputError("Facts need --model MODEL.mln, which declares their predicates.")
    _require_free(target, arguments.force)
    if target.suffix:
        try_output(target, [source, arguments.model], force=arguments.force)
    mln = MLN.load(arguments.model, includes=arguments.includes)
    written = _write_facts(_read_facts(source, mln), target, arguments.tables)
    if target.is_dir() and not target.suffix:
        _remove_other_tables(target, mln, written)
    for file in written:
        print(file)
    return 0


def _require_free(target: Path, force: bool) -> None:
    """Refuse to overwrite anything without ``force``."""
    if force or not target.exists():
        return
    if not target.is_dir():
        raise InputError(f"{target}: exists already; --force overwrites it.")
    if any(target.iterdir()):
        raise InputError(f"{target}: is not empty; --force replaces the tables in it.")


def _remove_other_tables(folder: Path, mln: MLN, written: Sequence[Path]) -> None:
    """Remove the tables that an earlier call wrote there in another format: reading would mix them up."""
    from mlnlab.model.tables.table_columns import CONSTANTS, stored_names

    for name in (*stored_names(mln.vocabulary.predicates).values(), CONSTANTS):
        for file in (folder / f"{name}.{ending}" for ending in _TABLES):
            if file not in written:
                file.unlink(missing_ok=True)


def _require_known(source: Path, target: Path) -> None:
    """Refuse unknown endings before anything is read."""
    for path, what in ((source, "read"), (target, "written")):
        if path.suffix and path.suffix.lower() not in (*_FACTS, *_SQLITE) and not path.is_dir():
            raise InputError(
                f"{path}: facts can be {what} as .db, {' or '.join(_SQLITE)}, or a folder without an ending;"
                " models begin with a .mln file."
            )


def _model_writer(target: Path) -> Callable[[MLN], str]:
    """Return the function that writes a model as text, by the ending of the file."""
    from mlnlab.display.model.models import model_as_latex, model_as_page, model_as_text

    match target.suffix.lower():
        case ".mln":
            return lambda mln: mln.to_text()
        case ".txt":
            return model_as_text
        case ".tex":
            return model_as_latex
        case ".html":
            return model_as_page
        case _:
            raise InputError(f"{target}: a model can be written as {', '.join(_NOTATIONS)}.")


def _read_facts(source: Path, mln: MLN) -> Database:
    from mlnlab.model.database.database import Database

    if source.suffix.lower() in _SQLITE:
        return Database.from_sqlite(source, mln)
    if source.suffix.lower() in _FACTS:
        return Database.load(source, mln)
    return Database.from_folder(source, mln)


def _write_facts(db: Database, target: Path, tables: str) -> list[Path]:
    if target.suffix.lower() in _SQLITE:
        db.to_sqlite(target)
        return [target]
    if target.suffix.lower() in _FACTS:
        db.save(target)
        return [target]
    match tables:
        case "tsv":
            return db.to_tsv(target)
        case "parquet":
            return db.to_parquet(target)
        case _:
            return db.to_csv(target)
