"""Estimate the length of world counts, and limit how many numbers that long are summed."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from mlnlab.errors import TooLargeError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mlnlab.lifted.theory.weighted_theory import WeightedTheory


def most_terms(work: float, bits: float) -> int:
    """Return how many numbers of ``bits`` bits may be summed; ``work`` is in terms times bits ^ 1.35."""
    return int(work / bits**1.35)


def bits_of_counts(weighted: WeightedTheory, sizes: Mapping[str, int]) -> float:
    """Return how many bits a number of worlds may have: one for each atom."""
    predicates = weighted.mln.vocabulary.predicates.values()
    return float(max(64, min(sum(prod(sizes[type_] for type_ in one.types) for one in predicates), 10**200)))


def too_long(sizes: Mapping[str, int], most: int, terms: int, bits: float) -> TooLargeError:
    """Return the refusal to count worlds by more than ``most`` numbers of ``bits`` bits."""
    told = ", ".join(f"{type_} = {size:,}" for type_, size in sizes.items())
    numbers = f"more than {most:,} numbers" if most else "numbers"
    return TooLargeError(
        f"With {told} worlds are counted by {numbers} of up to {bits:.2g} bits, which takes minutes or more.",
        float(min(terms, 10**300)), ["ask about smaller domains", "ask log_z(...) with weights of 0"],
    )  # fmt: skip
