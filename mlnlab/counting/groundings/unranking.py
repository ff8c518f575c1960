"""Single true groundings, found by counting instead of looking for them.

The true groundings of a formula have an order: by the constant of the first variable, then of the second, and
so on. Counting them for each constant of the first variable tells which constant the r-th one has, and how
many come before; with that constant put in, the same is asked of the next variable. So any grounding is found
by as many counts as there are variables, and random numbers give a uniform sample of trillions.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.counting.counts.counter import Counter
from mlnlab.counting.deltas.deltas import DeltaCounter
from mlnlab.counting.facts.sorted_facts import Facts
from mlnlab.errors import TooLargeError
from mlnlab.logic.formulas.formulas import And, Atom, Constant, Formula, Variable
from mlnlab.logic.formulas.substitution import free_variables, substitute
from mlnlab.logic.vocabulary import Predicate

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray


MOST_CELLS = 2_000_000  # numbers that are listed at once
_MOST_ONE_BY_ONE = 2_000  # combinations that are counted by themselves
_PICKED = "is picked"  # no name of the language holds a space


def counts_by(formula: Formula, variables: Sequence[Variable], facts: Facts) -> NDArray[Any]:
    """Return how many true groundings have each combination of constants of some free variables.

    It is Δn of a predicate that only picks these constants: with one atom of it true, the groundings of
    ``formula ^ picked(x, y)`` are those of the formula with these constants.
    """
    sizes = tuple(facts.size(variable.type) for variable in variables)
    if prod(sizes) > MOST_CELLS:
        names = ", ".join(variable.name for variable in variables)
        raise TooLargeError(
            f"{prod(sizes):,} numbers would be listed, one for each {names} (the limit is {MOST_CELLS:,}).",
            float(prod(sizes)),
            ["use fewer constants", "ask by fewer variables"],
        )
    picked = Predicate(_PICKED, tuple(variable.type for variable in variables))
    vocabulary = facts.vocabulary.with_predicate(picked)
    both = And((formula, Atom(_PICKED, tuple(variables))))
    try:
        found = DeltaCounter([both], vocabulary)(Facts(vocabulary, facts.tables), _PICKED)
    except TooLargeError:
        if prod(sizes) > _MOST_ONE_BY_ONE:
            raise
        return _one_by_one(formula, variables, sizes, facts)
    rows = np.indices(sizes, np.uint32).reshape(len(sizes), prod(sizes)).T
    return np.asarray(found.at(rows, np.zeros(len(rows), bool))[:, 0].reshape(sizes))


def _one_by_one(
    formula: Formula, variables: Sequence[Variable], sizes: tuple[int, ...], facts: Facts
) -> NDArray[Any]:
    """Return the same by a count for each combination: a single count has more ways than all at once."""
    domains = [facts.vocabulary.domain(variable.type) for variable in variables]
    found: NDArray[Any] = np.zeros(sizes, object)
    for place in np.ndindex(*sizes):
        names = [domain[number] for domain, number in zip(domains, place, strict=True)]
        chosen = {v: Constant(name, v.type) for v, name in zip(variables, names, strict=True)}
        found[place] = Counter(substitute(formula, chosen), facts.vocabulary)(facts)
    return found


def groundings_at(formula: Formula, facts: Facts, ranks: Sequence[int]) -> list[dict[Variable, str]]:
    """Return the true groundings with these numbers, which count from 0 and are in ascending order."""
    variables = free_variables(formula)
    return [
        dict(zip(variables, names, strict=True)) for names in _descend(formula, variables, facts, list(ranks))
    ]


def _descend(
    formula: Formula, variables: tuple[Variable, ...], facts: Facts, ranks: list[int]
) -> Iterator[tuple[str, ...]]:
    if not variables:
        yield from [()] * len(ranks)
        return
    first, rest = variables[0], variables[1:]
    ends = _running_sum(counts_by(formula, [first], facts))
    domain = facts.vocabulary.domain(first.type)
    places = np.searchsorted(ends, np.array(ranks, ends.dtype), side="right").tolist()
    for place in dict.fromkeys(places):
        begin = int(ends[place - 1]) if place else 0
        inner = [rank - begin for rank, own in zip(ranks, places, strict=True) if own == place]
        chosen = Constant(domain[place], first.type)
        for names in _descend(substitute(formula, {first: chosen}), rest, facts, inner):
            yield (chosen.name, *names)


def _running_sum(numbers: NDArray[Any]) -> NDArray[Any]:
    fits = numbers.dtype != object and float(numbers.sum(dtype=float)) < 1 << 62
    return np.cumsum(numbers if fits else numbers.astype(object))


def drawn_ranks(total: int, number: int, rng: np.random.Generator) -> list[int]:
    """Draw ``number`` different numbers below a total, each set of them with equal probability."""
    if number >= total:
        return list(range(total))
    length = (total.bit_length() + 7) // 8
    spare = (1 << 8 * length) // total * total  # beyond it the remainders would not be equally probable
    found: set[int] = set()
    while len(found) < number:
        value = int.from_bytes(rng.bytes(length), "big")
        if value < spare:
            found.add(value % total)
    return sorted(found)
