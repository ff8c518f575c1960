"""``mlnlab structure``: a model whose formulas are learned from complete databases."""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mlnlab.cli.manual import Subparsers, add_command
from mlnlab.errors import InputError, printable

if TYPE_CHECKING:
    from mlnlab.structure.learned_structure import LearnedStructure

_MANUAL = """
Reads the predicates that a model declares and complete databases (what they do not
list is false), and learns formulas with their weights by hypergraph lifting (Kok and
Domingos 2009). The formulas of the model are not looked at.

The learned model goes to stdout, or by -o to a file; a summary goes to stderr, on a
terminal with a line that tells how far it is. --method is lhl, lhl-noheu (without
heuristics 1 and 2), lhl-findpaths (without lifting) or lhl-liftgraph (only lifting:
rules over clusters of constants). --option sets what else a method has, such as
signs, dangling or assembly.

With --checkpoint the run writes to a file where it is, and the same command goes on
from there. What would take more than --most-hours is refused before it begins. Ctrl-C
ends learning: the best model so far is written, and the exit code is 130."""

_EXAMPLES = """
  mlnlab structure uw.mln ai.db systems.db --longest 4 -o learned.mln
  mlnlab structure uw.mln ai.db --method lhl-noheu --longest 3 --option dangling=True
  mlnlab structure imdb.mln 1.db 2.db --checkpoint run.npz --most-hours 8 -o learned.mln"""

# Algorithm 1's parameters by their names in Python, and what the paper calls them.
_PARAMETERS = {
    "longest": "ω: hyperedges of a path at most",
    "penalty": "λ: price of a hyperedge when lifting",
    "fewest": "μ: true atoms that a path needs",
    "sampled": "ν: ground atoms of a path that are looked at, or None",
    "fraction": "σ: of all atoms that scores are taken on",
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
    parser.add_argument("--method", default="lhl", help="lhl, lhl-noheu, ... (default: %(default)s)")
    for name, meaning in _PARAMETERS.items():
        parser.add_argument(f"--{name.replace('_', '-')}", metavar="N", help=meaning)
    parser.add_argument("--seed", metavar="N", type=int, default=0, help="of the random numbers (default: 0)")
    parser.add_argument(
        "--option", action="append", default=[], metavar="NAME=VALUE", help="any option of the method"
    )
    parser.add_argument(
        "--most-hours", metavar="H", type=float, default=1.0, help="refuse what takes longer (default: 1)"
    )
    parser.add_argument("--checkpoint", metavar="FILE", type=Path, help="write where it is; go on from there")
    parser.add_argument("-o", "--out", metavar="OUT", type=Path, help="write this .mln file instead")
    return parser


def run(arguments: argparse.Namespace) -> int:
    """Read, learn, write; where somebody stops it, the best model so far."""
    from mlnlab.model.database import Database
    from mlnlab.model.mln import MLN
    from mlnlab.structure.learn_structure import learn_structure
    from mlnlab.structure.structure_learner import StructureInterrupted

    out = arguments.out
    _refuse_odd_output(out)
    options = _options(arguments)
    mln = MLN.load(arguments.model)
    databases = [Database.load(path, mln) for path in arguments.databases]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what there is to doubt is said below
            learned = learn_structure(
                databases, arguments.method, seed=arguments.seed, most_hours=arguments.most_hours,
                checkpoint=arguments.checkpoint, **options,
            )  # fmt: skip
    except StructureInterrupted as stopped:
        _write(stopped.so_far(), out)
        print("stopped", file=sys.stderr)
        return 130
    _write(learned, out)
    return 0


def _refuse_odd_output(out: Path | None) -> None:
    """Say before hours of learning, not behind them, that the answer could not be written."""
    if out is not None and out.suffix.lower() != ".mln":
        raise InputError(f"{out}: what is learned is a model; the ending must be .mln.")
    if out is not None and not out.parent.is_dir():
        raise InputError(f"{out} cannot be written: there is no folder {out.parent}.")


def _options(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the options that are given, each once: the paper's parameters, and NAME=VALUE."""
    from mlnlab.cli.table_2 import options_of

    named = [name for name in _PARAMETERS if getattr(arguments, name) is not None]
    options = options_of([f"{name}={getattr(arguments, name)}" for name in named])
    for text in arguments.option:
        for name, value in options_of([text]).items():
            if name in _ELSEWHERE:
                raise InputError(f"--option {name}: {_ELSEWHERE[name]}.")
            if name in options:
                raise InputError(f"The option {name} is given twice.")
            options[name] = value
    return options


# Arguments of ml.learn_structure that are no options here.
_ELSEWHERE = {
    "dbs": "write the files of facts behind the model's instead",
    **{name: f"write --{name.replace('_', '-')} instead" for name in (
        "method", "seed", "most_hours", "checkpoint")},
    **dict.fromkeys(("observers", "executor", "progress", "start", "smoothing"),
        "it takes more than a word; ml.learn_structure has it in Python"),
}  # fmt: skip


def _write(learned: LearnedStructure, out: Path | None) -> None:
    """Write the model, and say on stderr how it was learned."""
    from mlnlab.syntax.sources import write_text

    summary = repr(learned).splitlines()[0].strip("<>")
    print("\n".join(map(printable, [summary, *learned.remarks])), file=sys.stderr)
    text = learned.mln.to_text()
    if out is None:
        print(text, end="")
        return
    write_text(out, text)
    print(out)
