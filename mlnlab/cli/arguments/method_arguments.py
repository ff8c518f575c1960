"""Arguments that the commands share which ask a model: the method with its options, and lists of queries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence


def add_method(group: argparse._ArgumentGroup) -> None:
    """Declare the method, and its options."""
    group.add_argument("--method", default="auto", help="enumeration, gibbs, ... (default: %(default)s)")
    group.add_argument("--seed", metavar="N", help="seed of the random numbers (default: 0)")
    group.add_argument("--samples", metavar="N", help="samples from each chain")
    group.add_argument("--burn-in", metavar="N", help="sweeps to discard at the start of each chain")
    group.add_argument("--chains", metavar="N", help="number of chains, each from a different world")
    group.add_argument(
        "--option", action="append", default=[], metavar="NAME=VALUE", help="any other option of the method"
    )
    add_most_hours(group, "6, or 24 with --method")


def add_most_hours(group: argparse._ActionsContainer, usual: str, default: float | None = None) -> None:
    """Declare the hours that a run may take, by its estimate."""
    group.add_argument(
        "--most-hours", metavar="H", type=float, default=default,
        help=f"refuse runs that take longer (default: {usual})",
    )  # fmt: skip


def add_semantics(parser: argparse.ArgumentParser) -> None:
    """Declare the meaning of formulas."""
    parser.add_argument(
        "--semantics", choices=("textbook", "alchemy"), default="textbook",
        help="meaning of formulas that are not clauses (default: %(default)s)",
    )  # fmt: skip


def add_includes(parser: argparse.ArgumentParser) -> None:
    """Declare which files a model may include."""
    parser.add_argument(
        "--includes", choices=("below", "anywhere"), default="below",
        help="files that MODEL may include: below its folder, or anywhere (default: %(default)s)",
    )  # fmt: skip


def method_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the options of the method, or of those that "auto" chooses from, in their own types."""
    from mlnlab.cli.arguments.method_options import typed_options
    from mlnlab.inference.ask.choosing import EXACT, SAMPLING
    from mlnlab.inference.method import MARGINALS
    from mlnlab.inference.method_registry import find_method

    names = (EXACT, SAMPLING) if arguments.method == "auto" else (arguments.method,)
    methods = [find_method(name, MARGINALS) for name in names]
    named = [(name, getattr(arguments, name)) for name in ("seed", "samples", "burn_in", "chains")]
    texts = [f"{name}={value}" for name, value in named if value is not None]
    return typed_options([*texts, *arguments.option], methods)


def samples_of(method: str, options: Mapping[str, Any]) -> int | None:
    """Return how many samples a run takes from each chain, if the method says so."""
    from mlnlab.inference.ask.choosing import SAMPLING
    from mlnlab.inference.method_registry import find_method

    params = find_method(SAMPLING if method == "auto" else method).params
    samples = options.get("samples", getattr(params, "samples", None))
    return samples if isinstance(samples, int) else None


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
