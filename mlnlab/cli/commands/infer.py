"""``mlnlab infer``: probabilities of atoms and formulas, as a table, CSV or JSON."""

from __future__ import annotations

import argparse
import csv
import io
import json
import sys
import warnings
from dataclasses import replace
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from mlnlab.cli.arguments.manual import Subparsers, add_command
from mlnlab.cli.arguments.method_arguments import (
    add_includes,
    add_method,
    add_semantics,
    method_options,
    samples_of,
    split_queries,
)
from mlnlab.cli.arguments.network_questions import NETWORKS, answer_network
from mlnlab.cli.output.result_files import add_output, try_output, write_result
from mlnlab.display.inference.probabilities import by_probability, facts_among, probability_in_words
from mlnlab.errors import InputError, printable

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence

    from mlnlab.inference.answers.marginals import Marginals
    from mlnlab.model.database.database import Database
    from mlnlab.model.mln.mln import MLN

_MANUAL = """
Reads a model and facts and prints the probability of each atom or formula asked for,
the most probable first. A query names a predicate (all its atoms), an atom or a
formula; several are separated by commas or by repeating --query.

The query predicates' atoms that the facts do not list are unknown; those listed are
evidence. Other predicates are closed: atoms that are not listed are false, unless --open
names the predicate. Each file of facts is a separate database with its own answers;
without any file, every atom is unknown.

The table goes to stdout, the method and any warnings to stderr; atoms that the facts
decide are marked (fact), and an estimate is followed by its standard error. With -o the
answer goes to a file instead, as CSV or JSON by its ending: all digits, and names
exactly as they are.

Where there are too many worlds to sum over, the answer is sampled; the same seed gives
the same answer. What would take hours is refused with an estimate, and with the methods
that would answer; --most-hours allows it. Ctrl-C stops sampling: the results so far are printed (or written),
and the exit code is 130.

A model that ends in .uai or .bif is a factor graph or a Bayesian network. Then a query
names variables (* is all of them), the file after it is UAI evidence, --method is one
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
  mlnlab infer uw.mln ai.db -q advisedBy --method mc-sat --samples 1e7 --most-hours 48
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
        "-q",
        "--query",
        action="append",
        required=True,
        metavar="QUERY",
        help="predicates, atoms or formulas to answer",
    )
    parser.add_argument(
        "--open",
        action="append",
        default=[],
        metavar="PREDICATE",
        help="predicates whose unlisted atoms are unknown too",
    )
    parser.add_argument(
        "--given", action="append", default=[], metavar="FORMULA", help="formula known to be true"
    )
    add_method(parser.add_argument_group("how to compute"))
    add_semantics(parser)
    add_includes(parser)
    add_output(parser, "write .csv or .json instead")
    return parser


def run(arguments: argparse.Namespace) -> int:
    """Read, ask, print; if the user stops it, print the results so far."""
    from mlnlab.model.mln.mln import MLN

    output, asked = arguments.output, split_queries(arguments.query)
    is_network = arguments.model.suffix.lower() in NETWORKS
    if output is not None and not is_network and output.suffix.lower() not in _ENDINGS:
        raise InputError(f"{output}: the ending tells the format; it must be {' or '.join(_ENDINGS)}.")
    try_output(output, [arguments.model, *arguments.databases], force=arguments.force)
    if not asked:
        raise InputError("--query is empty: name a predicate, an atom or a formula, as in --query Smokes.")
    if is_network:
        return answer_network(arguments, asked)
    options = method_options(arguments)
    mln = MLN.load(arguments.model, semantics=arguments.semantics, includes=arguments.includes)
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
    from mlnlab.cli.output.progress_bar import progress_bars
    from mlnlab.inference.ask.asking import SamplingWarning, infer
    from mlnlab.model.database.database import Database

    db: Database | None = None if path is None else Database.load(path, mln)
    bars = progress_bars(path.name if path else "sampling", samples_of(arguments.method, options))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SamplingWarning)  # they are said below, in a line of their own
        marginals = infer(
            mln, db, split_queries(arguments.query), open=split_queries(arguments.open),
            given=split_queries(arguments.given), method=arguments.method,
            observers=bars, most_hours=arguments.most_hours, **options,
        )  # fmt: skip
    _say(path, marginals)
    return Answer(str(path or ""), marginals)


def _say(path: Path | None, marginals: Marginals) -> None:
    """Say on stderr how an answer was computed, and each doubt in a line."""
    from mlnlab.display.inference.probabilities import describe_method, why_empty

    how = describe_method(replace(marginals, warnings=())) if marginals else why_empty(marginals)
    lines = [f"{path or 'no facts'}: {how}", *(f"warning: {warning}" for warning in marginals.warnings)]
    print("\n".join(map(printable, lines)), file=sys.stderr)


def _show(answers: Sequence[Answer], output: Path | None) -> None:
    """Print the answers as a table, or write them to a file."""
    if output is None:
        print(as_table(answers), end="")
    else:
        write_result(output, as_csv(answers) if output.suffix.lower() == ".csv" else as_json(answers))


def _stop(
    answers: Sequence[Answer], path: Path | None, stopped: KeyboardInterrupt, output: Path | None
) -> int:
    """Show the results so far when the user presses Ctrl-C."""
    from mlnlab.inference.answers.marginals import Marginals
    from mlnlab.steps.runs.interrupted import Interrupted

    known = stopped.results(Marginals) if isinstance(stopped, Interrupted) else None
    found = [*answers, *([] if known is None else [Answer(str(path or ""), known, complete=False)])]
    if known is None:
        print(printable(f"{path or 'no facts'}: stopped before anything was known."), file=sys.stderr)
    else:
        _say(path, known)
    if found:
        _show(found, output)
    print("stopped", file=sys.stderr)
    return 130


# --- print probabilities as a table, as CSV and as JSON -----------------------------------------

_ESTIMATED = ("error", "r_hat", "effective_size")


class Answer(NamedTuple):
    """The marginals of one database."""

    database: str
    marginals: Marginals
    complete: bool = True  # not where somebody stopped the sampling


def as_table(answers: Sequence[Answer]) -> str:
    """Return the answers as lines, the most probable first; several databases one below the other."""
    blocks = []
    for answer in answers:
        known = facts_among(answer.marginals)
        heading = [f"{answer.database}:"] if len(answers) > 1 else []
        rows = [
            f"{probability_in_words(value):>8}{_error_in_words(name, answer.marginals, known)}  {name}"
            f"{'  (fact)' if name in known else ''}"
            for name, value in by_probability(answer.marginals)
        ]
        blocks.append("".join(f"{printable(line)}\n" for line in [*heading, *rows]))
    return "\n".join(blocks)


def _error_in_words(name: str, marginals: Marginals, known: Container[str]) -> str:
    """Return the standard error of an estimate, in a column; exact answers have none."""
    if not marginals.estimates:
        return ""
    if name in known or not marginals.error(name):
        return " " * len(" ± 0.0000")
    return f" ± {max(marginals.error(name), 0.0001):.4f}"


def as_csv(answers: Sequence[Answer]) -> str:
    """Return the answers as CSV; columns tell the database where there are several, and errors if sampled."""
    several, sampled = len(answers) > 1, any(answer.marginals.estimates for answer in answers)
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    columns = ["query", "probability", "fact", *(_ESTIMATED if sampled else ())]
    writer.writerow([*(["database"] if several else []), *columns])
    for answer in answers:
        known = facts_among(answer.marginals)
        for name, value in answer.marginals.probabilities.items():
            row = [*([answer.database] if several else []), name, repr(value)]
            row.append("true" if name in known else "false")
            writer.writerow([*row, *(_list_estimates(name, answer.marginals) if sampled else ())])
    return stream.getvalue()


def _list_estimates(name: str, marginals: Marginals) -> list[str]:
    """Return error, R-hat and effective sample size; missing numbers are empty."""
    estimate = marginals.estimates.get(name)
    if estimate is None:
        return [repr(marginals.error(name)), "", ""]
    numbers = (estimate.error, estimate.r_hat, estimate.effective_size)
    return [repr(number) if isfinite(number) else "" for number in numbers]


def _facts(marginals: Marginals) -> list[str]:
    """Return the queries that the facts answer, in the order asked."""
    known = facts_among(marginals)
    return [name for name in marginals if name in known]


def _estimates(marginals: Marginals) -> dict[str, object]:
    """Return the errors, R-hats and effective sample sizes of the estimates, if there are any."""
    columns = {
        "errors": {name: estimate.error for name, estimate in marginals.estimates.items()},
        "r_hats": {name: estimate.r_hat for name, estimate in marginals.estimates.items()},
        "effective_sizes": {name: estimate.effective_size for name, estimate in marginals.estimates.items()},
    }
    return {
        column: {name: number if isfinite(number) else None for name, number in numbers.items()}
        for column, numbers in columns.items()
        if numbers
    }


def as_json(answers: Sequence[Answer]) -> str:
    """Return the answers as JSON: a list with an object for each database."""
    records = [
        {
            "database": answer.database,
            "method": answer.marginals.method,
            "log_z": answer.marginals.log_z if isfinite(answer.marginals.log_z) else None,
            "warnings": list(answer.marginals.warnings),
            "worlds": answer.marginals.number_of_worlds,
            "seconds": answer.marginals.seconds,
            "memory": answer.marginals.memory,
            "complete": answer.complete,
            "probabilities": dict(answer.marginals.probabilities),
            "facts": _facts(answer.marginals),
            **_estimates(answer.marginals),
        }
        for answer in answers
    ]
    return json.dumps(records, indent=2, ensure_ascii=False) + "\n"
