"""A world: constants, and which ground atoms are true."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from mlnlab.errors import ArgumentError, count_of
from mlnlab.logic.evaluation import evaluate, groundings
from mlnlab.logic.ground_atoms import GroundAtom

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mlnlab.logic.formulas import Formula
    from mlnlab.logic.vocabulary import Domain, Predicate, Vocabulary


@dataclass(frozen=True, slots=True)
class World:
    r"""A truth value for every ground atom: those in ``true_atoms`` are true, all others false.

    >>> import mlnlab as ml
    >>> mln = ml.MLN.from_text("person = {Anna, Bob}\nSmokes(person)\nCancer(person)")
    >>> world = ml.World.of(mln.vocabulary, [("Smokes", ("Anna",))])
    >>> world.count(mln.parse("Smokes(x) => Cancer(x)"))
    1
    """

    vocabulary: Vocabulary
    true_atoms: frozenset[GroundAtom]

    def __repr__(self) -> str:
        return f"<World with {count_of(len(self.true_atoms), 'true atom')}>"

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
        named = GroundAtom(*atom)
        check_ground_atom(named, self.vocabulary)
        return World(self.vocabulary, self.true_atoms ^ {named})

    def count(self, formula: Formula) -> int:
        """Return n_i, the number of the formula's true groundings (lecture notes, eq. 16), by enumeration."""
        return sum(evaluate(formula, self, binding) for binding in groundings(formula, self))

    def number_of_groundings(self, formula: Formula) -> int:
        """Return the number of the formula's groundings, true or not."""
        return sum(1 for _ in groundings(formula, self))

    def respects_blocks(self) -> bool:
        """Return whether each block (arguments marked ``!`` or ``?``) has one true atom, or at most one."""
        for predicate in self.vocabulary.predicates.values():
            if predicate.exclusive:
                numbers = self._true_in_blocks(predicate)
                if max(numbers, default=1) > 1 or (min(numbers, default=1) < 1 and not predicate.at_most_one):
                    return False
        return True

    def _true_in_blocks(self, predicate: Predicate) -> list[int]:
        """Return the number of true atoms in each block of a predicate."""
        keys = predicate.block_keys
        numbers = Counter(dict.fromkeys(product(*(self.domain(predicate.types[k]) for k in keys)), 0))
        for name, arguments in self.true_atoms:
            if name == predicate.name:
                numbers[tuple(arguments[k] for k in keys)] += 1
        return list(numbers.values())


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
