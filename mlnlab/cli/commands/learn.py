"""``mlnlab learn``: weights from complete databases, as a model, a table, CSV or JSON."""

from __future__ import annotations

import argparse
import csv
import io
import json
import sys
import warnings
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mlnlab.cli.arguments.manual import Subparsers, add_command
from mlnlab.cli.arguments.method_arguments import add_includes, add_most_hours, add_semantics, split_queries
from mlnlab.cli.output.result_files import add_output, try_output, write_result
from mlnlab.errors import InputError, printable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mlnlab.learning.ask.learned_weights import LearnedWeights
    from mlnlab.learning.problems.priors import Prior

_MANUAL = """
Reads a model and complete databases (atoms that are not listed are false) and learns the
weights of all formulas that are not hard or fixed. With --query only these predicates
are predicted, given all others.

The model with its weights goes to stdout, the method and any warnings to stderr. With -o
it goes to a file, with names exactly as they are (stdout shows � for invisible
characters): .mln is the model, .csv and .json have a row for each formula with its
weight, its count in the data, its expected count, and the gap between the two.

--method is pll, wpll, ll, lwl, vp, vp-pw, cd, cd-pw, dn, scg, pscg or smd; --option
sets an option of the method, such as iterations, rate or samples. --prior is none, a
deviation as in gaussian:2, or laplace:1. Ctrl-C ends learning: the weights so far are written, and
the exit code is 130. Learning that would take hours is refused with an estimate before
it begins; --most-hours allows it."""

_EXAMPLES = """
  mlnlab learn smoking.mln smoking.db -o learned.mln
  mlnlab learn uw.mln ai.db systems.db -q advisedBy --method pscg --prior gaussian:2
  mlnlab learn smoking.mln smoking.db --method cd --option rate=0.01 --option iterations=200
  mlnlab learn smoking.mln smoking.db --units --seed 7 -o weights.csv"""

_ENDINGS = (".mln", ".csv", ".json")
# Arguments of ml.learn_weights that are no options here.
_ARGUMENTS = {
    "mln": "the model's file first",
    "db": "the files of facts after the model",
    "method": "--method",
    "query": "--query",
    "prior": "--prior",
    "units": "--units",
    "seed": "--seed",
    "most_hours": "--most-hours",
}
_IN_PYTHON = ("bounds", "fixed", "observers", "rates", "start", "tied", "validation")
_NUMBERS = ("weight", "observed", "expected", "gap")


def add_parser(subparsers: Subparsers) -> argparse.ArgumentParser:
    """Declare the command and its arguments."""
    parser = add_command(
        subparsers, "learn", summary="weights from databases", manual=_MANUAL, examples=_EXAMPLES
    )
    parser.add_argument("model", metavar="MODEL", type=Path, help="the .mln file")
    parser.add_argument("databases", metavar="DB", nargs="+", type=Path, help="complete files of facts")
    parser.add_argument(
        "-q", "--query", action="append", default=[], metavar="PREDICATE", help="predicates to predict"
    )
    parser.add_argument("--method", default="pll", help="pll, ll, pscg, ... (default: %(default)s)")
    parser.add_argument(
        "--prior", default="gaussian:10", help="none, gaussian:D or laplace:S (default: %(default)s)"
    )
    parser.add_argument("--units", action="store_true", help="add a formula for each predicate without one")
    parser.add_argument(
        "--seed", metavar="N", type=int, default=0, help="seed of the random numbers (default: 0)"
    )
    parser.add_argument(
        "--option", action="append", default=[], metavar="NAME=VALUE", help="any option of the method"
    )
    add_most_hours(parser, "6")
    add_semantics(parser)
    add_includes(parser)
    add_output(parser, "write .mln, .csv or .json instead")
    return parser


def run(arguments: argparse.Namespace) -> int:
    """Read, learn, write; if the user stops it, write the weights so far."""
    from mlnlab.learning.ask.learn_weights import learn_weights
    from mlnlab.learning.ask.learned_weights import LearnedWeights
    from mlnlab.model.database.database import Database
    from mlnlab.model.mln.mln import MLN
    from mlnlab.steps.runs.interrupted import Interrupted

    output = arguments.output
    if output is not None and output.suffix.lower() not in _ENDINGS:
        raise InputError(f"{output}: the ending tells the format; it must be one of {', '.join(_ENDINGS)}.")
    try_output(output, [arguments.model, *arguments.databases], force=arguments.force)
    prior, options = prior_of(arguments.prior), options_of(arguments.option)
    mln = MLN.load(arguments.model, semantics=arguments.semantics, includes=arguments.includes)
    databases = [Database.load(path, mln) for path in arguments.databases]
    query = split_queries(arguments.query) or None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what there is to doubt is said below, a line each
            learned = learn_weights(
                mln, databases, arguments.method, query, prior=prior, units=arguments.units,
                seed=arguments.seed, most_hours=arguments.most_hours, **options,
            )  # fmt: skip
    except Interrupted as stopped:
        known = stopped.results(LearnedWeights)
        if known is None:
            raise
        _write(known, output)
        print("stopped", file=sys.stderr)
        return 130
    _write(learned, output)
    return 0


def prior_of(text: str) -> Prior | None:
    """Return the prior that a word names: none, gaussian:2, laplace:1."""
    from mlnlab.learning.problems.priors import Gaussian, Laplace

    name, _, width = text.strip().casefold().partition(":")
    if name == "none" and not width:
        return None
    try:
        number = float(width or "10" if name == "gaussian" else width or "1")
    except ValueError:
        number = float("nan")
    if name not in {"gaussian", "laplace"} or not (isfinite(number) and number > 0):
        raise InputError(f"--prior {text:.40}: write none, gaussian:DEVIATION or laplace:SCALE.")
    return Gaussian(0.0, number) if name == "gaussian" else Laplace(0.0, number)


def options_of(texts: list[str]) -> dict[str, Any]:
    """Return options NAME=VALUE: whole numbers, numbers, yes and no, and words; the learner knows which."""
    found: dict[str, Any] = {}
    for text in texts:
        written, equals, value = text.partition("=")
        name = written.strip().replace("-", "_")
        if not equals or not name.isidentifier():
            raise InputError(f"--option {text:.60}: write NAME=VALUE, as in iterations=200.")
        if name in found:
            raise InputError(f"The option {name} is given twice.")
        if name in _ARGUMENTS:
            raise InputError(f"--option {name}: write {_ARGUMENTS[name]} instead.")
        if name in _IN_PYTHON:
            raise InputError(f"--option {name}: it needs more than a word; use ml.learn_weights in Python.")
        found[name] = _value(value.strip())
    return found


def _value(text: str) -> object:
    words = {"yes": True, "true": True, "no": False, "false": False, "none": None}
    if text.casefold() in words:
        return words[text.casefold()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _write(learned: LearnedWeights, output: Path | None) -> None:
    """Write the model or the table, and say on stderr how it was learned."""
    lines = [repr(learned).strip("<>"), *(f"warning: {sentence}" for sentence in learned.diagnostics)]
    print("\n".join(map(printable, lines)), file=sys.stderr)
    if output is None:
        print(learned.mln.to_text(), end="")
        return
    makers = {".mln": _as_mln, ".csv": as_csv, ".json": as_json}
    write_result(output, makers[output.suffix.lower()](learned))


def _as_mln(learned: LearnedWeights) -> str:
    return learned.mln.to_text()


def _rows(learned: LearnedWeights) -> list[Mapping[str, Any]]:
    frame = learned.to_frame()
    names = ("formula", *_NUMBERS, "learned")
    return [{name: frame[name][row].item() if name != "formula" else frame[name][row] for name in names}
            for row in range(len(frame))]  # fmt: skip


def as_csv(learned: LearnedWeights) -> str:
    """Return a row for each formula, all digits."""
    stream = io.StringIO()
    rows = _rows(learned)
    writer = csv.DictWriter(stream, ["formula", *_NUMBERS, "learned"], lineterminator="\n")
    writer.writeheader()
    writer.writerows(
        {name: repr(value) if isinstance(value, float) else value for name, value in row.items()}
        for row in rows
    )
    return stream.getvalue()


def as_json(learned: LearnedWeights) -> str:
    """Return the learned weights, and the way of learning, as JSON."""
    value = learned.objective
    record = {
        "method": learned.method,
        "steps": learned.state.iteration,
        "ended": learned.state.ended,
        "averaged": learned.averaged,
        "objective": value if isfinite(value) else None,
        "seconds": learned.seconds,
        "warnings": list(learned.diagnostics),
        "formulas": _rows(learned),
    }
    return json.dumps(record, indent=2, ensure_ascii=False) + "\n"
