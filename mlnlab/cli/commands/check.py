"""``mlnlab check``: everything that is wrong with model and data files, like a linter."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mlnlab.cli.arguments.manual import Subparsers, add_command
from mlnlab.cli.arguments.method_arguments import add_includes
from mlnlab.errors import Diagnostic, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mlnlab.logic.vocabulary import Vocabulary

_MANUAL = """
Reads model files (.mln) and data files (.db, .func) and reports every problem found
in one pass: file, line, column, the line with a caret under the culprit, what was
expected, and the likely repair. Data files are checked against the model that comes
before them on the line; without a model, only their syntax is checked.

A file with errors is refused. Warnings and notes do not stop a file from being used:
they point to formulas that are repeated, always true or always false, or that Alchemy
would split into clauses, and to predicates that no formula mentions. The exit code is
1 if there are errors, with --strict also if there are warnings."""

_EXAMPLES = """
  mlnlab check smoking.mln                     one model
  mlnlab check smoking.mln train.db test.db    and data that should fit it
  mlnlab check --format json *.mln             for an editor or a script"""


def add_parser(subparsers: Subparsers) -> argparse.ArgumentParser:
    """Declare the command and its arguments."""
    parser = add_command(
        subparsers, "check", summary="report all problems of model and data files",
        manual=_MANUAL, examples=_EXAMPLES,
    )  # fmt: skip
    parser.add_argument("files", metavar="FILE", nargs="+", type=Path, help="models, each before its data")
    parser.add_argument(
        "--format", choices=("text", "json"), default="text", help="how to report (default: %(default)s)"
    )
    add_includes(parser)
    parser.add_argument("--strict", action="store_true", help="fail on warnings, too")
    return parser


def run(arguments: argparse.Namespace) -> int:
    """Check the files in turn and report."""
    from mlnlab.model.checking import checked_model

    found: list[Diagnostic] = []
    vocabulary: Vocabulary | None = None
    for path in arguments.files:
        if _holds_facts(path):
            found += _check_facts(path, vocabulary)
        else:
            problems, vocabulary = checked_model(path, arguments.includes)
            found += problems
    if arguments.format == "json":
        print(json.dumps([_as_record(diagnostic) for diagnostic in found], indent=2))
    else:
        for diagnostic in found:
            print(diagnostic)
    print(_summary(found, len(arguments.files)), file=sys.stderr)
    failing = {Severity.ERROR, Severity.WARNING} if arguments.strict else {Severity.ERROR}
    return int(any(diagnostic.severity in failing for diagnostic in found))


def _holds_facts(path: Path) -> bool:
    return path.suffix.lower() in {".db", ".func"}


def _check_facts(path: Path, vocabulary: Vocabulary | None) -> Iterable[Diagnostic]:
    from mlnlab.model.checking import check

    return check(path, vocabulary, kind="facts")


def _as_record(diagnostic: Diagnostic) -> dict[str, Any]:
    span = diagnostic.span
    return {
        "file": span.file,
        "line": span.line,
        "column": span.column,
        "end_line": span.end_line,
        "end_column": span.end_column,
        "severity": str(diagnostic.severity),
        "code": diagnostic.code,
        "message": diagnostic.message,
        "expected": diagnostic.expected,
        "repair": diagnostic.repair,
        "again": [{"file": one.file, "line": one.line, "column": one.column} for one in diagnostic.again],
    }


def _summary(found: Sequence[Diagnostic], files: int) -> str:
    from mlnlab.display.card.findings import summary_of

    return f"{summary_of(found)} in {files} file{'s' * (files != 1)}"
