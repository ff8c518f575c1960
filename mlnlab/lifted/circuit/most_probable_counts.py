r"""The most probable sizes of classes: of how many constants atoms are true, and how probable that is.

A counting node of a circuit sums over how many constants of a subdomain an atom is true of; here it takes
the largest term, with all worlds that have these sizes. What lies below sums of cases and below powers is
summed out, as all other atoms are. So the result is marginal MAP over the sizes on the way from the root, and
exact where no term is negative.

>>> import mlnlab as ml
>>> mln = ml.MLN.from_text("Smokes(p)\nKnows(p, p)\n2 Knows(x, y) ^ Smokes(x) => Smokes(y)\n0.5 Smokes(x)")
>>> found = ml.lift(mln).compile().most_probable_counts({"p": 100})
>>> print(found)
Smokes(x): 100 of 100; together with probability 1.000
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp, inf, lgamma

from mlnlab.algebra.semirings import LOGARITHMS
from mlnlab.circuits.first_order.first_order_circuit import Counting, FirstOrderCircuit, Product, SizeCase
from mlnlab.circuits.first_order.fold import Key, Weights, fold, list_needed_values, resolve_call, value_of

Values = dict["Key", float]


@dataclass(frozen=True, slots=True)
class ClassCount:
    """Of how many constants an atom is true: ``true`` of ``size`` in the subdomain of a definition."""

    atom: str
    definition: int
    true: int
    size: int

    def __str__(self) -> str:
        return f"{self.atom}: {self.true:,} of {self.size:,}"


@dataclass(frozen=True, slots=True)
class MostProbableCounts:
    """The sizes, and the logarithm of the probability that all of them are so at once."""

    counts: tuple[ClassCount, ...]
    log_probability: float

    @property
    def probability(self) -> float:
        """The probability that all of them are so at once."""
        return min(1.0, exp(self.log_probability))

    def __str__(self) -> str:
        told = "; ".join(map(str, self.counts)) or "nothing is counted"
        return f"{told}; together with probability {self.probability:.3f}"

    def __repr__(self) -> str:
        return f"<MostProbableCounts: {self}>"


def most_probable_counts(
    circuit: FirstOrderCircuit, sizes: Sequence[int], weights: Weights, log_z: float, atoms: Mapping[int, str]
) -> MostProbableCounts:
    """Return the largest term of all sums of a circuit; ``atoms`` are those that counting nodes count."""
    known = _largest(circuit, tuple(sizes), weights)
    root = (circuit.root, tuple(sizes))
    counts = tuple(
        ClassCount(atoms.get(key[0], "an atom"), key[0], chosen, key[1][body.subdomain])
        for key, body, chosen in _choose_counts(circuit, root, known)
    )
    return MostProbableCounts(counts, known[root] - log_z)


def _largest(circuit: FirstOrderCircuit, sizes: tuple[int, ...], weights: Weights) -> Values:
    """Return the largest term of each definition on the way from the root, through products and counting."""
    known: Values = {}
    waiting: list[Key] = [(circuit.root, sizes)]
    while waiting:
        key = waiting[-1]
        if key in known:
            waiting.pop()
            continue
        body = circuit.body(*key)
        if not isinstance(body, Counting | Product | SizeCase):
            below = replace(circuit, root=key[0])
            known[waiting.pop()] = fold(below, key[1], LOGARITHMS, weights)
            continue
        missing = [child for child in list_needed_values(body, key[1]) if child not in known]
        if missing:
            waiting += missing
        elif isinstance(body, Counting):
            known[waiting.pop()] = max(value for _, value in _terms(body, key[1], known))
        else:
            known[waiting.pop()] = value_of(body, key[1], known, LOGARITHMS, weights)
    return known


def _terms(body: Counting, sizes: tuple[int, ...], known: Values) -> Iterator[tuple[int, float]]:
    """Yield each number of chosen constants, and the logarithm of its term: ways times value."""
    size = sizes[body.subdomain]
    for chosen in range(size + 1):
        value = known[resolve_call(body.call, sizes, chosen)]
        ways = lgamma(size + 1) - lgamma(chosen + 1) - lgamma(size - chosen + 1)
        yield chosen, -inf if value == -inf else value + ways


def _choose_counts(
    circuit: FirstOrderCircuit, root: Key, known: Values
) -> Iterator[tuple[Key, Counting, int]]:
    """Yield the counting nodes on the way of the largest terms, each once, with the count it chooses."""
    waiting, seen = [root], {root}
    while waiting:
        key = waiting.pop()
        body = circuit.body(*key)
        below: list[Key] = []
        if isinstance(body, Counting):
            chosen = max(_terms(body, key[1], known), key=lambda term: term[1])[0]
            yield key, body, chosen
            below = [resolve_call(body.call, key[1], chosen)]
        elif isinstance(body, Product | SizeCase):
            below = list_needed_values(body, key[1])
        fresh = [child for child in reversed(below) if child not in seen]
        seen.update(fresh)
        waiting += fresh
