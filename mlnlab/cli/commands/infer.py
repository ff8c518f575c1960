"""``mlnlab infer``: probabilities of atoms and formulas, as a table, CSV or JSON."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from mlnlab.cli.manual import Subparsers, add_command
from mlnlab.errors import InputError, printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mlnlab.cli.answers import Answer
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

The table goes to stdout, how it was computed to stderr; what the facts themselves say
is marked (fact). With -o the answer goes to a file instead, as CSV or JSON by its
ending: all digits, and names exactly as they are."""

_EXAMPLES = """
  mlnlab infer smoking.mln smoking.db --query Smokes,Cancer
  mlnlab infer smoking.mln smoking.db --query "Smokes(Anna) ^ Smokes(Bob)" --open Smokes
  mlnlab infer smoking.mln monday.db tuesday.db --query Smokes -o answers.csv"""

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
    parser.add_argument("--method", default="auto", help="how to compute (default: %(default)s)")
    parser.add_argument(
        "--semantics", choices=("textbook", "alchemy"), default="textbook",
        help="of formulas that are no clauses (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument("-o", "--output", metavar="OUT", type=Path, help="write .csv or .json instead")
    return parser


def run(arguments: argparse.Namespace) -> int:
    """Read, ask, print."""
    from mlnlab.cli.answers import as_csv, as_json, as_table
    from mlnlab.model.mln import MLN
    from mlnlab.syntax.sources import write_text

    output = arguments.output
    if output is not None and output.suffix.lower() not in _ENDINGS:
        raise InputError(f"{output}: the ending tells the format; it must be {' or '.join(_ENDINGS)}.")
    if not split_queries(arguments.query):
        raise InputError("--query is empty: name a predicate, an atom or a formula, as in --query Smokes.")
    mln = MLN.load(arguments.model, semantics=arguments.semantics)
    answers = [_ask(mln, path, arguments) for path in arguments.databases or [None]]
    if output is None:
        print(as_table(answers), end="")
    else:
        write_text(output, as_csv(answers) if output.suffix.lower() == ".csv" else as_json(answers))
        print(output)
    return 0


def _ask(mln: MLN, path: Path | None, arguments: argparse.Namespace) -> Answer:
    """Answer the question for one file of facts, and say how."""
    from mlnlab.cli.answers import Answer
    from mlnlab.display.probabilities import how_computed, why_empty
    from mlnlab.inference.asking import infer
    from mlnlab.model.database import Database

    db: Database | None = None if path is None else Database.load(path, mln)
    marginals = infer(
        mln, db, split_queries(arguments.query), open=split_queries(arguments.open),
        given=split_queries(arguments.given), method=arguments.method,
    )  # fmt: skip
    how = how_computed(marginals) if marginals else why_empty(marginals)
    print(printable(f"{path or 'no facts'}: {how}"), file=sys.stderr)
    return Answer(str(path or ""), marginals)


def split_queries(texts: Sequence[str]) -> list[str]:
    """Split at the commas that stand outside of brackets and quotes: ``Smokes,Friends(Anna,x)``."""
    found: list[str] = []
    for text in texts:
        depth, quoted, start = 0, False, 0
        for position, character in enumerate(text):
            quoted ^= character == '"'
            depth += 0 if quoted else (character in "([{") - (character in ")]}")
            if character == "," and not quoted and depth == 0:
                found.append(text[start:position])
                start = position + 1
        found.append(text[start:])
    return [query.strip() for query in found if query.strip()]
