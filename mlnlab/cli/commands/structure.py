"""``mlnlab structure``: a model whose formulas are learned from complete databases."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mlnlab.cli.arguments.manual import Subparsers, add_command
from mlnlab.cli.arguments.method_arguments import add_includes, add_most_hours
from mlnlab.cli.output.result_files import (
    add_output,
    only_checkpoint_warnings,
    try_output,
    write_result,
)
from mlnlab.errors import InputError, printable

if TYPE_CHECKING:
    from mlnlab.structure.results.learned_structure import LearnedStructure

_MANUAL = """
Reads the predicates that a model declares and complete databases (atoms that are not
listed are false), and learns formulas with their weights. The formulas of the model are
ignored.

The learned model goes to stdout, or by -o to a file; a summary goes to stderr, on a
terminal with a progress line. --method is lhl (hypergraph lifting, Kok and Domingos
2009), lhl-noheu (without heuristics 1 and 2), lhl-findpaths (without lifting),
lhl-liftgraph (only lifting: rules over clusters of constants), msl (beam search, Kok and
Domingos 2005) or busl (template networks, Mihalkova and Mooney 2007). --option sets
further options of the method, such as signs, dangling, assembly, or
apart=SameBib,SameVenue: predicates of which a formula holds at most one literal; for msl
beam, price, forbidden=Smokes,!Cancer, or theory=FILE: a model of clauses to begin with.

With --checkpoint the run saves its progress to a file, and the same command resumes
from there. A run that would take more than --most-hours is refused before it begins.
Ctrl-C ends learning: the best model so far is written, and the exit code is 130."""

_EXAMPLES = """
  mlnlab structure uw.mln ai.db systems.db --longest 4 -o learned.mln
  mlnlab structure uw.mln ai.db --method lhl-noheu --longest 3 --option dangling=True
  mlnlab structure imdb.mln 1.db 2.db --method msl --option variables=4 --option price=0.1
  mlnlab structure imdb.mln 1.db 2.db --checkpoint run.npz --most-hours 8 -o learned.mln"""

# Algorithm 1's parameters by their names in Python, and what the paper calls them.
_PARAMETERS = {
    "longest": "ω: most hyperedges of a path",
    "penalty": "λ: price of a hyperedge when lifting",
    "fewest": "μ: fewest true atoms of a path",
    "sampled": "ν: most ground atoms of a path to sample, or None",
    "fraction": "σ: fraction of the atoms to score on",
    "length_penalty": "π: price of a literal",
    "path_length_penalty": "π': the same on the atoms of a path",
}


def add_parser(subparsers: Subparsers) -> argparse.ArgumentParser:
    """Declare the command and its arguments."""
    parser = add_command(
        subparsers, "structure", summary="formulas and weights from databases",
        manual=_MANUAL, examples=_EXAMPLES,
    )  # fmt: skip
    parser.add_argument("model", metavar="MODEL", type=Path, help="the .mln file that declares predicates")
    parser.add_argument("databases", metavar="DB", nargs="+", type=Path, help="complete files of facts")
    parser.add_argument("--method", default="lhl", help="lhl, msl, busl, ... (default: %(default)s)")
    for name, meaning in _PARAMETERS.items():
        parser.add_argument(f"--{name.replace('_', '-')}", metavar="N", help=meaning)
    add_includes(parser)
    parser.add_argument(
        "--seed", metavar="N", type=int, default=0, help="seed of the random numbers (default: 0)"
    )
    parser.add_argument(
        "--option", action="append", default=[], metavar="NAME=VALUE", help="any option of the method"
    )
    add_most_hours(parser, "1", 1.0)
    parser.add_argument(
        "--checkpoint", metavar="FILE", type=Path, help="save progress here, and resume from it"
    )
    add_output(parser, "write this .mln file instead")
    return parser


def run(arguments: argparse.Namespace) -> int:
    """Read, learn, write; where somebody stops it, the best model so far."""
    from mlnlab.model.database.database import Database
    from mlnlab.model.mln.mln import MLN
    from mlnlab.steps.runs.interrupted import Interrupted
    from mlnlab.structure.ask.learn_structure import learn_structure
    from mlnlab.structure.results.learned_structure import LearnedStructure

    out = arguments.output
    if out is not None and out.suffix.lower() != ".mln":
        raise InputError(f"{out}: a learned model is written as a .mln file.")
    read = [arguments.model, *arguments.databases, arguments.checkpoint]
    try_output(out, read, force=arguments.force)
    options = _options(arguments)
    mln = MLN.load(arguments.model, includes=arguments.includes)
    if "theory" in options:
        options["theory"] = MLN.load(Path(str(options["theory"])), includes=arguments.includes)
    databases = [Database.load(path, mln) for path in arguments.databases]
    try:
        with only_checkpoint_warnings():  # what else there is to doubt is said below
            learned = learn_structure(
                databases, arguments.method, seed=arguments.seed, most_hours=arguments.most_hours,
                checkpoint=arguments.checkpoint, **options,
            )  # fmt: skip
    except Interrupted as stopped:
        known = stopped.results(LearnedStructure)
        if known is None:
            raise
        _write(known, out)
        print("stopped", file=sys.stderr)
        return 130
    _write(learned, out)
    return 0


def _options(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the options that are given, each once: the paper's parameters, and NAME=VALUE."""
    from mlnlab.cli.reproductions.table_2_command import options_of

    named = [name for name in _PARAMETERS if getattr(arguments, name) is not None]
    options = options_of([f"{name}={getattr(arguments, name)}" for name in named])
    for text in arguments.option:
        for name, value in options_of([text]).items():
            if name in _ELSEWHERE:
                raise InputError(f"--option {name}: {_ELSEWHERE[name]}.")
            if name in options:
                raise InputError(f"The option {name} is given twice.")
            options[name] = str(value).split(",") if name in _NAMES else value
    return options


_NAMES = ("forbidden", "required")  # options that are lists of predicates


# Arguments of ml.learn_structure that are no options here.
_ELSEWHERE = {
    "dbs": "write the files of facts after the model instead",
    **{name: f"write --{name.replace('_', '-')} instead" for name in (
        "method", "seed", "most_hours", "checkpoint")},
    **dict.fromkeys(("observers", "executor", "progress", "start", "smoothing", "modes"),
        "it needs more than a word; use ml.learn_structure in Python"),
}  # fmt: skip


def _write(learned: LearnedStructure, out: Path | None) -> None:
    """Write the model, and say on stderr how it was learned."""
    summary = repr(learned).splitlines()[0].strip("<>")
    print("\n".join(map(printable, [summary, *learned.remarks])), file=sys.stderr)
    text = learned.mln.to_text()
    if out is None:
        print(text, end="")
        return
    write_result(out, text)
