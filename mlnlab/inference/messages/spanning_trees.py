"""Which variables a structured approximation ties to each other: a tree that is named, or the strongest.

The strength of a pair is how far its factors, averaged over whatever else they are over, are from a sum of
two functions of one variable each: the spread of what is left when these are taken away. A spanning tree of
most strength is found as Kruskal does, strongest pair first.
"""

from __future__ import annotations

from itertools import combinations, pairwise
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from mlnlab.errors import ArgumentError
from mlnlab.logic.suggestions import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from mlnlab.inference.messages.weighted_products import WeightedProducts

Pair: TypeAlias = tuple[int, int]

STRONGEST, NOTHING = "strongest", "none"
_WIDEST = 10  # variables of a product; a pair of a wider one has hardly anything of its weight
_LEAST = 1e-12  # strengths below are rounding
_SHOWN = 60  # letters of a name in a sentence


def strengths(products: WeightedProducts) -> dict[Pair, float]:
    """Return how strongly the factors tie each pair of variables."""
    found: dict[Pair, np.ndarray[tuple[int, int], np.dtype[np.float64]]] = {}
    variables = products.variables.tolist()
    bounds = pairwise(products.starts.tolist())
    for weight, (start, end) in zip(products.weights.tolist(), bounds, strict=True):
        if not 2 <= end - start <= _WIDEST:
            continue
        worths = [products.worth(place) for place in range(start, end)]
        means = [float(worth.mean()) for worth in worths]
        for one, other in combinations(range(end - start), 2):
            rest = weight
            for place in range(end - start):
                if place not in {one, other}:
                    rest *= means[place]
            table = rest * np.outer(worths[one] - means[one], worths[other] - means[other])
            pair = variables[start + one], variables[start + other]
            pair, table = (pair, table) if pair[0] < pair[1] else (pair[::-1], table.T)
            found[pair] = found[pair] + table if pair in found else table
    return {pair: float(table.max() - table.min()) for pair, table in found.items()}


def strongest_forest(variables: int, tied: Mapping[Pair, float]) -> tuple[Pair, ...]:
    """Return a spanning forest of most strength; of equal pairs, the first."""
    parts = list(range(variables))
    strongest_first = sorted(tied, key=lambda pair: (-round(tied[pair], 12), pair))
    return tuple(sorted(pair for pair in strongest_first if tied[pair] > _LEAST and _join_parts(parts, pair)))


def _join_parts(parts: list[int], pair: Pair) -> bool:
    """Make two parts one; say whether they were two."""
    one, other = (_part_of(parts, variable) for variable in pair)
    parts[max(one, other)] = min(one, other)
    return one != other


def _part_of(parts: list[int], variable: int) -> int:
    while parts[variable] != variable:
        parts[variable] = parts[parts[variable]]
        variable = parts[variable]
    return variable


# --- a tree that is named -------------------------------------------------------------------------


def tree_option(tree: object) -> str | tuple[tuple[str, str], ...]:
    """Return the option ``tree`` as it is kept: a word, or pairs of names; a text of pairs is taken apart."""
    if isinstance(tree, str):
        if tree in {STRONGEST, NOTHING}:
            return tree
        tree = [[name.strip() for name in pair.split("--")] for pair in tree.split(";")]
    try:
        pairs = tuple(tuple(str(name) for name in pair) for pair in tree)  # type: ignore[attr-defined]
    except TypeError:
        pairs = (("",),)
    if any(len(pair) != 2 or not all(pair) for pair in pairs):
        raise ArgumentError(
            f"tree is '{STRONGEST}', '{NOTHING}', or a list of pairs of names; in one text, they are written "
            "A(x) -- B(x); B(x) -- C(x)."
        )
    return tuple((pair[0], pair[1]) for pair in pairs)


def chosen_tree(
    tree: str | tuple[tuple[str, str], ...], products: WeightedProducts, names: Mapping[str, int]
) -> tuple[Pair, ...]:
    """Return the branches of the tree that an option names; ``names`` leads to the open variables."""
    if tree == STRONGEST:
        return strongest_forest(len(products.sizes), strengths(products))
    if tree == NOTHING or isinstance(tree, str):
        return ()
    return _named_pairs(tree, names, len(products.sizes))


def _named_pairs(
    tree: Iterable[tuple[str, str]], names: Mapping[str, int], variables: int
) -> tuple[Pair, ...]:
    parts, chosen = list(range(variables)), []
    for pair in tree:
        one, other = sorted(_number(name, names) for name in pair)
        said = " and ".join(f"{name:.{_SHOWN}}" for name in pair)
        if one == other:
            raise ArgumentError(f"The tree joins {said}, which are one variable.")
        if not _join_parts(parts, (one, other)):
            raise ArgumentError(
                f"The tree joins {said}, which other pairs join already: a tree has no cycle. Leave one out."
            )
        chosen.append((one, other))
    return tuple(sorted(chosen))


def _number(name: str, names: Mapping[str, int]) -> int:
    wanted = "".join(name.split())
    found = names.get(name, names.get(wanted))
    if found is None:
        found = next((number for known, number in names.items() if "".join(known.split()) == wanted), None)
    if found is None:
        hint = did_you_mean(name, names) or "."
        raise ArgumentError(f"The tree names {name:.{_SHOWN}}, and nothing open has this name{hint}")
    return found
