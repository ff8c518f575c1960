"""From a Markov logic network to weighted first-order model counting (Van den Broeck et al. 2013, Example 2).

A weighted formula that is no literal gets a predicate of its own that is true exactly where the formula is,
and carries its weight; the weight of a literal goes to its predicate. Formulas without weight are sentences.
The logarithm of what an atom weighs is linear in the formulas' weights, up to the sign of Skolem atoms.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.errors import ArgumentError
from mlnlab.lifted.evidence import NOTHING
from mlnlab.lifted.sentences import Sentences
from mlnlab.lifted.shattering import Shattered, Shattering, literal_of
from mlnlab.lifted.sorts import sorted_apart
from mlnlab.lifted.textbook import by_the_book
from mlnlab.logic.formulas import Atom, Equality, Exists, Iff, Not, Or, Variable
from mlnlab.logic.substitution import free_variables
from mlnlab.logic.traversal import constants
from mlnlab.logic.weights import Hard

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mlnlab.lifted.evidence import Evidence
    from mlnlab.lifted.tallies import Tally
    from mlnlab.logic.formulas import Formula
    from mlnlab.logic.vocabulary import Predicate
    from mlnlab.model.mln import MLN


@dataclass(frozen=True, eq=False)
class WeightedTheory:
    """A shattered theory and what its atoms weigh.

    The logarithm is ``true[s, i]`` times the weight of formula i, summed; the factor besides may be negative.
    Of the worlds only those count whose ``tallies`` are as they must be.
    """

    mln: MLN
    shattered: Shattered
    true: NDArray[np.float64]  # (symbols, formulas): how often a true atom counts the formula
    false: NDArray[np.float64]
    factors: tuple[tuple[Fraction, Fraction], ...]  # of each symbol: of its true and of its false atoms
    tallies: tuple[Tally, ...]
    constants: dict[str, tuple[str, ...]]  # mentioned, of each type
    evidence: Evidence = NOTHING
    stands: tuple[int, ...] = ()  # for each symbol the one in whose place its atoms are, where sorts differ


def weighted_theory(mln: MLN, known: Evidence | None = None) -> WeightedTheory:
    """Translate a model; what tells constants apart in other ways than by name is refused.

    Without evidence all atoms of closed predicates are false.
    """
    mln = by_the_book(mln)
    for weighted in mln.formulas:
        if weighted.per_constant or weighted.both_signs:
            raise ArgumentError(
                f"{weighted.formula} is marked with + or *: write it out with mln.expand(db) first."
            )
    predicates = {p.name: p.types for p in mln.vocabulary.predicates.values()}
    carriers: dict[int, Atom] = {}
    sentences: list[Formula] = [s for p in mln.vocabulary.predicates.values() for s in exclusive(p)]
    if known is None:
        sentences += [_closed(p) for p in mln.vocabulary.predicates.values() if p.closed]
    for number, weighted in enumerate(mln.formulas):
        if isinstance(weighted.weight, Hard):
            sentences.append(weighted.formula)
        elif literal_of(weighted.formula) is None:
            carrier = Atom(f"formula#{number}", free_variables(weighted.formula))
            carriers[number] = carrier
            predicates[carrier.predicate] = tuple(v.type for v in free_variables(weighted.formula))
            sentences.append(Iff(carrier, weighted.formula))
    collected = Sentences()
    for sentence in sentences:
        collected.add(sentence)
    evidence = NOTHING if known is None else known
    mentioned = {**mentioned_constants(mln), **evidence.named}
    shattering = Shattering({**predicates, **collected.predicates}, mentioned, evidence)
    apart = sorted_apart(mln, shattering, collected.made)
    shattered = shattering.theory(collected.made) if apart is None else apart.shattered
    true, false = _weights_of_symbols(mln, carriers, shattering)
    one = (Fraction(1), Fraction(1))
    factors = tuple(collected.factors.get(symbol.predicate, one) for symbol in shattered.symbols)
    return WeightedTheory(
        mln, shattered, true, false, factors, tuple(collected.tallies), mentioned, evidence,
        () if apart is None else apart.stands,
    )  # fmt: skip


def mentioned_constants(mln: MLN) -> dict[str, tuple[str, ...]]:
    """Return the constants of each type that formulas mention."""
    found: dict[str, dict[str, None]] = {}
    for weighted in mln.formulas:
        for constant in constants(weighted.formula):
            found.setdefault(constant.type, {})[constant.name] = None
    return {type_: tuple(names) for type_, names in found.items()}


def _weights_of_symbols(
    mln: MLN, carriers: dict[int, Atom], shattering: Shattering
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    true = np.zeros((len(shattering.symbols), len(mln.formulas)))
    false = np.zeros_like(true)
    for number, weighted in enumerate(mln.formulas):
        if isinstance(weighted.weight, Hard):
            continue
        literal = literal_of(weighted.formula)
        atom, positive = (carriers[number], True) if literal is None else literal
        for decided in shattering.cases(free_variables(atom)):
            symbol, _ = shattering.symbol(atom, decided)
            (true if positive else false)[symbol, number] += 1.0
    return true, false


def _closed(predicate: Predicate) -> Formula:
    """Return that no atom of a closed predicate is true, as where no facts are given."""
    return Not(Atom(predicate.name, tuple(Variable(f"x{n}", t) for n, t in enumerate(predicate.types))))


def exclusive(predicate: Predicate) -> Sequence[Formula]:
    """Return what a predicate's marks ! and ? say: one true atom, or at most one, in each block."""
    if not predicate.exclusive:
        return ()
    first = [Variable(f"a{n}", t) for n, t in enumerate(predicate.types)]
    values = [n for n in range(len(first)) if n not in predicate.block_keys]
    second = [Variable(f"b{n}", v.type) if n in values else v for n, v in enumerate(first)]
    atom, other = Atom(predicate.name, tuple(first)), Atom(predicate.name, tuple(second))
    same: list[Formula] = [Not(atom), Not(other)]
    if len(values) == 1:
        unique: list[Formula] = [Or((*same, Equality(first[values[0]], second[values[0]])))]
    else:
        unique = [Or((*same, Equality(first[n], second[n]))) for n in values]
    some = () if predicate.at_most_one else (Exists(tuple(first[n] for n in values), atom),)
    return (*unique, *some)
