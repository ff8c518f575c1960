"""``mlnlab evaluate``: how good a model's probabilities are on facts that it does not see."""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from mlnlab.cli.manual import Subparsers, add_command
from mlnlab.cli.method_arguments import add_method, add_semantics, method_options, samples_of, split_queries
from mlnlab.errors import InputError, printable

if TYPE_CHECKING:
    from mlnlab.evaluation.evaluating import Evaluation

_MANUAL = """
Hides the facts of the queried predicates, infers their probabilities from all others,
and compares these with what was hidden. Predicates that are separated by commas are
hidden together; each further --query is hidden for itself, with the others as evidence.
Several files of facts are evaluated one by one, and their atoms taken together.

CLL is the mean logarithm of the probabilities given to the true values, AUC the area
under the precision-recall curve; behind each stands its standard error. With -o the
answer goes to a file: as CSV a row for each atom, as JSON the scores by predicate."""

_EXAMPLES = """
  mlnlab evaluate smoking.mln smoking.db --query Smokes,Cancer
  mlnlab evaluate smoking.mln smoking.db -q Smokes -q Cancer --method gibbs --samples 10000
  mlnlab evaluate imdb.mln fold1.db fold2.db -q Actor,Director -q WorkedUnder -o scores.json"""

_ENDINGS = (".csv", ".json")


def add_parser(subparsers: Subparsers) -> argparse.ArgumentParser:
    """Declare the command and its arguments."""
    parser = add_command(
        subparsers, "evaluate", summary="how good a model's answers are on facts that it does not see",
        manual=_MANUAL, examples=_EXAMPLES,
    )  # fmt: skip
    parser.add_argument("model", metavar="MODEL", type=Path, help="the .mln file")
    parser.add_argument("databases", metavar="DB", nargs="+", type=Path, help="files of facts")
    parser.add_argument(
        "-q", "--query", action="append", required=True, metavar="PREDICATE", help="what is hidden"
    )
    parser.add_argument("--open", action="append", default=[], metavar="PREDICATE", help="also unknown")
    parser.add_argument("--prior", type=float, metavar="N", help="samples of either value that are added")
    add_method(parser.add_argument_group("how to compute"))
    add_semantics(parser)
    parser.add_argument("-o", "--output", metavar="OUT", type=Path, help="write .csv or .json instead")
    return parser


def run(arguments: argparse.Namespace) -> int:
    """Read, hide, infer, compare, print."""
    from mlnlab.cli.progress import progress_bars
    from mlnlab.evaluation.evaluating import PRIOR, evaluate
    from mlnlab.inference.asking import SamplingWarning
    from mlnlab.model.database import Database
    from mlnlab.model.mln import MLN

    output = arguments.output
    if output is not None and output.suffix.lower() not in _ENDINGS:
        raise InputError(f"{output}: the ending tells the format; it must be {' or '.join(_ENDINGS)}.")
    if output is not None and not output.parent.is_dir():
        raise InputError(f"{output} cannot be written: there is no folder {output.parent}.")
    groups = [names for text in arguments.query if (names := split_queries([text]))]
    if not groups:
        raise InputError("--query is empty: name the predicates to hide, as in --query Smokes.")
    options = method_options(arguments)
    mln = MLN.load(arguments.model, semantics=arguments.semantics)
    databases = [Database.load(path, mln) for path in arguments.databases]
    bars = progress_bars("evaluating", samples_of(arguments.method, options))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SamplingWarning)  # they are said below, in a line of their own
        found = evaluate(
            mln, databases, groups, method=arguments.method, open=split_queries(arguments.open),
            prior=PRIOR if arguments.prior is None else arguments.prior, observers=bars, **options,
        )  # fmt: skip
    for line in (*dict.fromkeys(answer.reason for answer in found.answers), *found.remarks):
        print(printable(line), file=sys.stderr)
    _show(found, output)
    return 0


def _show(found: Evaluation, output: Path | None) -> None:
    """Print the scores, or write them, or those of all atoms, to a file."""
    from mlnlab.syntax.sources import write_text

    if output is None:
        print(_table(found), end="")
        return
    csv = output.suffix.lower() == ".csv"
    text = (
        found.to_frame().to_csv(index=False)
        if csv
        else found.by_predicate().to_json(orient="records", indent=2)
    )
    write_text(output, text if text.endswith("\n") else text + "\n")
    print(output)


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
