"""From a Markov logic network to weighted first-order model counting (Van den Broeck et al. 2013, Example 2).

A weighted formula that is no literal gets a predicate of its own that is true exactly where the formula is,
and carries its weight; the weight of a literal goes to its predicate. Formulas without weight are sentences.
The logarithm of what an atom weighs is linear in the formulas' weights, up to the sign of Skolem atoms.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.errors import ArgumentError
from mlnlab.lifted.theory.evidence import NOTHING, Evidence
from mlnlab.lifted.theory.sentences import Sentences
from mlnlab.lifted.theory.shattering import Shattered, Shattering, literal_of
from mlnlab.lifted.theory.sorts import sorted_apart
from mlnlab.logic.formulas.formulas import Atom, Equality, Exists, ForAll, Formula, Iff, Not, Or, Variable
from mlnlab.logic.formulas.substitution import free_variables
from mlnlab.logic.formulas.traversal import constants, subformulas
from mlnlab.logic.formulas.weights import Hard, WeightedFormula
from mlnlab.model.mln.expansion import clauses_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mlnlab.lifted.theory.tallies import Tally
    from mlnlab.logic.vocabulary import Predicate, Vocabulary
    from mlnlab.model.mln.mln import MLN


@dataclass(frozen=True, eq=False)
class WeightedTheory:
    """A shattered theory with the weights of its atoms.

    The logarithm is ``true[s, i]`` times the weight of formula i, summed; the factor besides may be negative.
    Only worlds that meet all ``tallies`` count.
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
    """Translate a model; refuse one that tells constants apart in other ways than by name.

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
        sentences += [_close_predicate(p) for p in mln.vocabulary.predicates.values() if p.closed]
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


def _close_predicate(predicate: Predicate) -> Formula:
    """Return that no atom of a closed predicate is true, as where no facts are given."""
    return Not(Atom(predicate.name, tuple(Variable(f"x{n}", t) for n, t in enumerate(predicate.types))))


def exclusive(predicate: Predicate) -> Sequence[Formula]:
    """Return a predicate's marks ! and ? as formulas: one true atom, or at most one, in each block."""
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


# --- Alchemy's reading of a model as the book's -------------------------------------------------

# Clauses, among which the weight of a formula is divided.


def by_the_book(mln: MLN) -> MLN:
    """Return a model of ``semantics="textbook"`` that says the same in domains of any size.

    Its formulas are those of ``mln.expand()``, but hard ones stay as they are: nothing is divided.
    """
    if mln.semantics == "textbook":
        return mln
    parts = [_clauses(one, mln.vocabulary) for one in mln.formulas]
    places = tuple(place for place, of_one in zip(mln.places, parts, strict=False) for _ in of_one)
    formulas = tuple(part for of_one in parts for part in of_one)
    return replace(mln, formulas=formulas, places=places, semantics="textbook")


def _clauses(one: WeightedFormula, vocabulary: Vocabulary) -> tuple[WeightedFormula, ...]:
    if isinstance(one.weight, Hard) or one.per_constant or one.both_signs:
        return (one,)
    if any(isinstance(part, Exists | ForAll) for part in subformulas(one.formula)):
        raise ArgumentError(
            f"Alchemy writes {one.formula} out over the constants before it divides its weight, so that it"
            " says something else in each domain: give mln.expand(db), or read the model with"
            ' semantics="textbook".'
        )
    return clauses_of(one, vocabulary, complete=False)
