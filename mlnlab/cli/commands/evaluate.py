"""``mlnlab evaluate``: how good a model's probabilities are on facts that it does not see."""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from mlnlab.cli.arguments.manual import Subparsers, add_command
from mlnlab.cli.arguments.method_arguments import (
    add_includes,
    add_method,
    add_semantics,
    method_options,
    samples_of,
    split_queries,
)
from mlnlab.cli.output.result_files import add_output, try_output, write_result
from mlnlab.errors import InputError, printable

if TYPE_CHECKING:
    from mlnlab.evaluation.evaluating import Evaluation

_MANUAL = """
Hides the facts of the queried predicates, infers their probabilities from all others,
and compares these with what was hidden. Predicates that are separated by commas are
hidden together; each further --query is hidden on its own, with the others as evidence.
Several files of facts are evaluated one by one, and their atoms are pooled.

CLL is the mean logarithm of the probabilities given to the true values, AUC the area
under the precision-recall curve; each is followed by its standard error. With -o the
result goes to a file: CSV has a row for each atom, JSON the scores by predicate."""

_EXAMPLES = """
  mlnlab evaluate smoking.mln smoking.db --query Smokes,Cancer
  mlnlab evaluate smoking.mln smoking.db -q Smokes -q Cancer --method gibbs --samples 10000
  mlnlab evaluate imdb.mln fold1.db fold2.db -q Actor,Director -q WorkedUnder -o scores.json"""

_ENDINGS = (".csv", ".json")


def add_parser(subparsers: Subparsers) -> argparse.ArgumentParser:
    """Declare the command and its arguments."""
    parser = add_command(
        subparsers, "evaluate", summary="measure a model's answers on facts that it does not see",
        manual=_MANUAL, examples=_EXAMPLES,
    )  # fmt: skip
    parser.add_argument("model", metavar="MODEL", type=Path, help="the .mln file")
    parser.add_argument("databases", metavar="DB", nargs="+", type=Path, help="files of facts")
    parser.add_argument(
        "-q", "--query", action="append", required=True, metavar="PREDICATE", help="predicates to hide"
    )
    parser.add_argument(
        "--open",
        action="append",
        default=[],
        metavar="PREDICATE",
        help="predicates whose unlisted atoms are unknown too",
    )
    parser.add_argument("--prior", type=float, metavar="N", help="samples added for each truth value")
    add_method(parser.add_argument_group("how to compute"))
    add_semantics(parser)
    add_includes(parser)
    add_output(parser, "write .csv or .json instead")
    return parser


def run(arguments: argparse.Namespace) -> int:
    """Read, hide, infer, compare, print."""
    from mlnlab.cli.output.progress_bar import progress_bars
    from mlnlab.evaluation.evaluating import PRIOR, evaluate
    from mlnlab.inference.ask.asking import SamplingWarning
    from mlnlab.model.database.database import Database
    from mlnlab.model.mln.mln import MLN

    output = arguments.output
    if output is not None and output.suffix.lower() not in _ENDINGS:
        raise InputError(f"{output}: the ending tells the format; it must be {' or '.join(_ENDINGS)}.")
    try_output(output, [arguments.model, *arguments.databases], force=arguments.force)
    groups = [names for text in arguments.query if (names := split_queries([text]))]
    if not groups:
        raise InputError("--query is empty: name the predicates to hide, as in --query Smokes.")
    options = method_options(arguments)
    mln = MLN.load(arguments.model, semantics=arguments.semantics, includes=arguments.includes)
    databases = [Database.load(path, mln) for path in arguments.databases]
    bars = progress_bars("evaluating", samples_of(arguments.method, options))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SamplingWarning)  # they are said below, in a line of their own
        found = evaluate(
            mln, databases, groups, method=arguments.method, open=split_queries(arguments.open),
            prior=PRIOR if arguments.prior is None else arguments.prior, observers=bars,
            most_hours=arguments.most_hours, **options,
        )  # fmt: skip
    for line in (*dict.fromkeys(answer.reason for answer in found.answers), *found.remarks):
        print(printable(line), file=sys.stderr)
    _show(found, output)
    return 0


def _show(found: Evaluation, output: Path | None) -> None:
    """Print the scores, or write them, or those of all atoms, to a file."""
    if output is None:
        print(_table(found), end="")
        return
    csv = output.suffix.lower() == ".csv"
    text = (
        found.to_frame().to_csv(index=False)
        if csv
        else found.by_predicate().to_json(orient="records", indent=2)
    )
    write_result(output, text if text.endswith("\n") else text + "\n")


def _table(found: Evaluation) -> str:
    parts = [(name, found.of(name)) for name in found.predicates]
    rows = [
        (name, f"{len(part.judged):,}", f"{int(part.judged.truths.sum()):,}", str(part.cll), str(part.auc))
        for name, part in [*parts, *([("all together", found)] if len(parts) > 1 else [])]
    ]
    table = [("predicate", "atoms", "true", "CLL", "AUC"), *rows]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = [
        "  ".join(
            [row[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(row[1:], widths[1:], strict=True))]
        )
        for row in table
    ]
    return "".join(f"{printable(line.rstrip())}\n" for line in lines)
