"""A world: constants, and which ground atoms are true."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mlnlab.errors import ArgumentError
from mlnlab.logic.evaluation import evaluate, groundings
from mlnlab.logic.ground_atoms import GroundAtom

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mlnlab.logic.formulas import Formula
    from mlnlab.logic.vocabulary import Domain, Vocabulary


@dataclass(frozen=True, slots=True)
class World:
    """A truth value for every ground atom: those in ``true_atoms`` are true, all others false."""

    vocabulary: Vocabulary
    true_atoms: frozenset[GroundAtom]

    @classmethod
    def of(cls, vocabulary: Vocabulary, true_atoms: Iterable[tuple[str, tuple[str, ...]]]) -> World:
        """Return the world in which just these atoms are true, after checking that each exists."""
        atoms = frozenset(GroundAtom(predicate, tuple(arguments)) for predicate, arguments in true_atoms)
        for atom in atoms:
            check_ground_atom(atom, vocabulary)
        return cls(vocabulary, atoms)

    def domain(self, type_: str) -> Domain:
        """Return the constants of a type."""
        return self.vocabulary.domain(type_)

    def holds(self, predicate: str, arguments: tuple[str, ...]) -> bool:
        """Return whether a ground atom is true."""
        return (predicate, arguments) in self.true_atoms

    def flipped(self, atom: GroundAtom) -> World:
        """Return the world in which this one atom has the other truth value."""
        return World(self.vocabulary, self.true_atoms ^ {atom})

    def count(self, formula: Formula) -> int:
        """Return n_i, the number of the formula's true groundings (lecture notes, eq. 16), by enumeration."""
        return sum(evaluate(formula, self, binding) for binding in groundings(formula, self))


def check_ground_atom(atom: GroundAtom, vocabulary: Vocabulary) -> None:
    """Raise a sentence where the vocabulary has no such ground atom."""
    predicate = vocabulary[atom.predicate]
    if len(atom.arguments) != predicate.arity:
        raise ArgumentError(
            f"{atom} has {len(atom.arguments)} arguments, but the declaration is {predicate}."
        )
    for name, type_ in zip(atom.arguments, predicate.types, strict=True):
        if name not in vocabulary.domain(type_):
            raise ArgumentError(f"{atom} names {name}, which is not a constant of type {type_}.")
