"""Brute force from the definitions, the truth that everything else is compared with.

Only ``logic`` and ``model`` are imported. A world is a set of true ground atoms; its weight is
exp(sum_i w_i n_i(x)) with n_i(x) the number of true groundings of formula i (lecture notes, eq. 15-16).
Nothing here is clever, so that it can be checked by reading; it serves for a dozen open ground atoms.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations, product
from math import exp, inf, log

from mlnlab.logic.evaluation import evaluate, groundings
from mlnlab.logic.formulas.formulas import Formula
from mlnlab.logic.formulas.ground_atoms import GroundAtom
from mlnlab.logic.formulas.weights import Hard, weight_value
from mlnlab.logic.vocabulary import Vocabulary
from mlnlab.model.database.world import World
from mlnlab.model.mln.mln import MLN


def all_atoms(vocabulary: Vocabulary) -> list[GroundAtom]:
    """Every ground atom over the vocabulary's constants."""
    return [
        GroundAtom(predicate.name, arguments)
        for predicate in vocabulary.predicates.values()
        for arguments in product(*map(vocabulary.domain, predicate.types))
    ]


def all_worlds(vocabulary: Vocabulary) -> Iterator[World]:
    """Every world in which each block has exactly (or at most) one true atom."""
    atoms = all_atoms(vocabulary)
    for size in range(len(atoms) + 1):
        for true in combinations(atoms, size):
            world = World(vocabulary, frozenset(true))
            if respects_blocks(world):
                yield world


def respects_blocks(world: World) -> bool:
    """Whether each block (arguments marked ``!`` or ``?``) has one true atom, or at most one."""
    for predicate in world.vocabulary.predicates.values():
        if not predicate.exclusive:
            continue
        keys = [world.domain(predicate.types[i]) for i in predicate.block_keys]
        numbers = dict.fromkeys(product(*keys), 0)  # a block without atoms has no true one
        for arguments in product(*map(world.domain, predicate.types)):
            numbers[tuple(arguments[i] for i in predicate.block_keys)] += world.holds(
                predicate.name, arguments
            )
        allowed = {0, 1} if predicate.at_most_one else {1}
        if not set(numbers.values()) <= allowed:
            return False
    return True


def counts(mln: MLN, world: World) -> list[int]:
    """n_i(x): the true groundings of each formula (eq. 16)."""
    return [sum(evaluate(f.formula, world, b) for b in groundings(f.formula, world)) for f in mln.formulas]


def log_weight(mln: MLN, world: World) -> float:
    """sum_i w_i n_i(x), or -inf where a hard formula has a false grounding (eq. 15)."""
    total = 0.0
    for weighted, number in zip(mln.formulas, counts(mln, world), strict=True):
        if isinstance(weighted.weight, Hard):
            if number < sum(1 for _ in groundings(weighted.formula, world)):
                return -inf
        else:
            value = weight_value(weighted.weight)
            assert value is not None, "the oracle needs every weight"
            total += value * number
    return total


@dataclass(frozen=True)
class Oracle:
    """All worlds that agree with what is known, with their probabilities."""

    mln: MLN
    worlds: tuple[World, ...]
    log_weights: tuple[float, ...]

    @property
    def log_z(self) -> float:
        """log of the sum of exp(log-weight) (eq. 15)."""
        peak = max(self.log_weights, default=-inf)
        return peak if peak == -inf else peak + log(sum(exp(w - peak) for w in self.log_weights))

    def probabilities(self) -> list[float]:
        """P(x) for each world (eq. 15)."""
        return [exp(w - self.log_z) for w in self.log_weights]

    def probability(self, formula: Formula) -> float:
        """The probability of a formula without free variables."""
        pairs = zip(self.worlds, self.probabilities(), strict=True)
        return sum(p for world, p in pairs if evaluate(formula, world))

    def marginal(self, atom: GroundAtom) -> float:
        """The probability of a ground atom."""
        pairs = zip(self.worlds, self.probabilities(), strict=True)
        return sum(p for world, p in pairs if world.holds(*atom))

    def expected_counts(self) -> list[float]:
        """E[n_i] (eq. 38)."""
        result = [0.0] * len(self.mln.formulas)
        for world, p in zip(self.worlds, self.probabilities(), strict=True):
            for i, number in enumerate(counts(self.mln, world)):
                result[i] += p * number
        return result

    def best(self) -> float:
        """The log-weight of a most probable world."""
        return max(self.log_weights)


def oracle(
    mln: MLN,
    evidence: Mapping[GroundAtom, bool] | None = None,
    soft: Mapping[GroundAtom, float] | None = None,
    given: tuple[Formula, ...] = (),
) -> Oracle:
    """Enumerate the worlds of an expanded model that agree with the evidence and the given formulas.

    Soft evidence p multiplies the weight of worlds with the atom by p and of those without by 1 - p, up to
    the common factor 1 - p per atom, which is left out: a factor p / (1 - p) where the atom is true.
    """
    kept, logs = [], []
    for world in all_worlds(mln.vocabulary):
        if any(world.holds(*atom) != value for atom, value in (evidence or {}).items()):
            continue
        if not all(evaluate(formula, world, b) for formula in given for b in groundings(formula, world)):
            continue
        weight = log_weight(mln, world)
        weight += sum(log(p / (1 - p)) for atom, p in (soft or {}).items() if world.holds(*atom))
        kept.append(world)
        logs.append(weight)
    return Oracle(mln, tuple(kept), tuple(logs))


def log_likelihood(mln: MLN, world: World) -> float:
    """log P(x) over all worlds (eq. 15)."""
    return log_weight(mln, world) - oracle(mln).log_z


def pseudo_log_likelihood(mln: MLN, world: World) -> float:
    """The sum over atoms of log P(atom's value | all other atoms)."""
    total = 0.0
    for atom in all_atoms(mln.vocabulary):
        here, there = log_weight(mln, world), log_weight(mln, world.flipped(atom))
        peak = max(here, there)
        total += here - (peak + log(exp(here - peak) + exp(there - peak)))
    return total
