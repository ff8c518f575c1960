"""``mlnlab infer``: probabilities of atoms and formulas, as a table, CSV or JSON."""

from __future__ import annotations

import argparse
import sys
import warnings
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mlnlab.cli.manual import Subparsers, add_command
from mlnlab.cli.method_arguments import add_method, add_semantics, method_options, samples_of, split_queries
from mlnlab.cli.networks import NETWORKS, answer_network
from mlnlab.errors import InputError, printable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mlnlab.cli.answers import Answer
    from mlnlab.inference.marginals import Marginals
    from mlnlab.model.database import Database
    from mlnlab.model.mln import MLN

_MANUAL = """
Reads a model and facts and prints the probability of each atom or formula asked for,
the most probable first. A query names a predicate (all its atoms), an atom or a
formula; several are separated by commas or by repeating --query.

The query predicates' atoms that the facts do not list are unknown; those listed are
evidence. Other predicates are closed: what is not listed is false, unless --open
names them. Each file of facts is a database of its own, answered for itself; without
any, every atom is unknown.

The table goes to stdout, how it was computed and what to doubt to stderr; what the
facts themselves say is marked (fact), and behind an estimate stands its standard
error. With -o the answer goes to a file instead, as CSV or JSON by its ending: all
digits, and names exactly as they are.

Where there are too many worlds to sum over, the answer is sampled; the same seed gives
the same answer. Ctrl-C stops sampling: what is known so far is printed (or written),
and the exit code is 130.

A model that ends in .uai or .bif is a factor graph or a Bayesian network. Then a query
names variables (* is all of them), the file behind it is UAI evidence, --method is one
of junction-tree, gibbs, belief-propagation, mean-field, structured-mean-field, and -o
can end in .MAR too.

The last of these methods ties atoms or variables along a tree, the strongest one unless
--option names its branches: tree="Smokes(Anna) -- Smokes(Bob); Smokes(Bob) -- Smokes(Eve)"."""

_EXAMPLES = """
  mlnlab infer smoking.mln smoking.db --query Smokes,Cancer
  mlnlab infer smoking.mln smoking.db --query "Smokes(Anna) ^ Smokes(Bob)" --open Smokes
  mlnlab infer smoking.mln monday.db tuesday.db --query Smokes -o answers.csv
  mlnlab infer smoking.mln smoking.db -q Cancer --method gibbs --samples 100000 --seed 7
  mlnlab infer smoking.mln smoking.db -q Cancer --option thin=5 --option limit=1e6
  mlnlab infer grid.uai grid.uai.evid -q "*" --method belief-propagation -o grid.MAR
  mlnlab infer grid.uai -q "*" --method structured-mean-field --option "tree=v0 -- v1; v1 -- v2\""""

_ENDINGS = (".csv", ".json")


def add_parser(subparsers: Subparsers) -> argparse.ArgumentParser:
    """Declare the command and its arguments."""
    parser = add_command(
        subparsers, "infer", summary="probabilities of atoms and formulas",
        manual=_MANUAL, examples=_EXAMPLES,
    )  # fmt: skip
    parser.add_argument("model", metavar="MODEL", type=Path, help="the .mln file")
    parser.add_argument("databases", metavar="DB", nargs="*", type=Path, help="files of facts")
    parser.add_argument(
        "-q", "--query", action="append", required=True, metavar="QUERY", help="what is asked for"
    )
    parser.add_argument("--open", action="append", default=[], metavar="PREDICATE", help="also unknown")
    parser.add_argument("--given", action="append", default=[], metavar="FORMULA", help="known to be true")
    add_method(parser.add_argument_group("how to compute"))
    add_semantics(parser)
    parser.add_argument("-o", "--output", metavar="OUT", type=Path, help="write .csv or .json instead")
    return parser


def run(arguments: argparse.Namespace) -> int:
    """Read, ask, print; where somebody stops it, what is known so far."""
    from mlnlab.model.mln import MLN

    output, asked = arguments.output, split_queries(arguments.query)
    is_network = arguments.model.suffix.lower() in NETWORKS
    if output is not None and not is_network and output.suffix.lower() not in _ENDINGS:
        raise InputError(f"{output}: the ending tells the format; it must be {' or '.join(_ENDINGS)}.")
    if output is not None and not output.parent.is_dir():  # said before hours of sampling, not behind them
        raise InputError(f"{output} cannot be written: there is no folder {output.parent}.")
    if not asked:
        raise InputError("--query is empty: name a predicate, an atom or a formula, as in --query Smokes.")
    if is_network:
        return answer_network(arguments, asked)
    options = method_options(arguments)
    mln = MLN.load(arguments.model, semantics=arguments.semantics)
    answers: list[Answer] = []
    for path in arguments.databases or [None]:
        try:
            answers.append(_ask(mln, path, arguments, options))
        except KeyboardInterrupt as stopped:
            return _stop(answers, path, stopped, output)
    _show(answers, output)
    return 0


def _ask(mln: MLN, path: Path | None, arguments: argparse.Namespace, options: Mapping[str, Any]) -> Answer:
    """Answer the question for one file of facts, and say how."""
    from mlnlab.cli.answers import Answer
    from mlnlab.cli.progress import progress_bars
    from mlnlab.inference.asking import SamplingWarning, infer
    from mlnlab.model.database import Database

    db: Database | None = None if path is None else Database.load(path, mln)
    bars = progress_bars(path.name if path else "sampling", samples_of(arguments.method, options))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SamplingWarning)  # they are said below, in a line of their own
        marginals = infer(
            mln, db, split_queries(arguments.query), open=split_queries(arguments.open),
            given=split_queries(arguments.given), method=arguments.method,
            observers=bars, **options,
        )  # fmt: skip
    _say(path, marginals)
    return Answer(str(path or ""), marginals)


def _say(path: Path | None, marginals: Marginals) -> None:
    """Say on stderr how an answer was computed, and each doubt in a line."""
    from mlnlab.display.probabilities import how_computed, why_empty

    how = how_computed(replace(marginals, warnings=())) if marginals else why_empty(marginals)
    lines = [f"{path or 'no facts'}: {how}", *(f"warning: {warning}" for warning in marginals.warnings)]
    print("\n".join(map(printable, lines)), file=sys.stderr)


def _show(answers: Sequence[Answer], output: Path | None) -> None:
    """Print the answers as a table, or write them to a file."""
    from mlnlab.cli.answers import as_csv, as_json, as_table
    from mlnlab.syntax.sources import write_text

    if output is None:
        print(as_table(answers), end="")
    else:
        write_text(output, as_csv(answers) if output.suffix.lower() == ".csv" else as_json(answers))
        print(output)


def _stop(
    answers: Sequence[Answer], path: Path | None, stopped: KeyboardInterrupt, output: Path | None
) -> int:
    """Show what is known when somebody presses Ctrl-C."""
    from mlnlab.cli.answers import Answer
    from mlnlab.inference.asking import Interrupted

    asked = stopped if isinstance(stopped, Interrupted) and stopped.knows_something else None
    known = None if asked is None else asked.so_far()
    found = [*answers, *([] if known is None else [Answer(str(path or ""), known, complete=False)])]
    if known is None:
        print(printable(f"{path or 'no facts'}: stopped before anything was known."), file=sys.stderr)
    else:
        _say(path, known)
    if found:
        _show(found, output)
    print("stopped", file=sys.stderr)
    return 130
