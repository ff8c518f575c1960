"""A world: constants, and which ground atoms are true."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from mlnlab.errors import ArgumentError, count_of, require
from mlnlab.logic.building import checked_formula
from mlnlab.logic.evaluation import evaluate, groundings
from mlnlab.logic.formulas.ground_atoms import GroundAtom

if TYPE_CHECKING:
    from mlnlab.logic.formulas.formulas import Formula
    from mlnlab.logic.vocabulary import Domain, Predicate, Vocabulary


_ATOMS = 'Ground atoms are pairs of a predicate and its constants, as in ("Smokes", ("Anna",))'


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

    def __post_init__(self) -> None:
        """Refuse atoms of another kind, which no look-up would ever find."""
        require(self.true_atoms, Iterable, _ATOMS)
        object.__setattr__(self, "true_atoms", frozenset(map(_ground_atom, self.true_atoms)))

    def __repr__(self) -> str:
        return f"<World with {count_of(len(self.true_atoms), 'true atom')}>"

    @classmethod
    def of(cls, vocabulary: Vocabulary, true_atoms: Iterable[tuple[str, tuple[str, ...]]]) -> World:
        """Return the world in which just these atoms are true, after checking that each exists."""
        world = cls(vocabulary, true_atoms)  # type: ignore[arg-type]  # it makes them ground atoms
        for atom in world.true_atoms:
            check_ground_atom(atom, vocabulary)
        return world

    def domain(self, type_: str) -> Domain:
        """Return the constants of a type."""
        return self.vocabulary.domain(type_)

    def holds(self, predicate: str, arguments: tuple[str, ...]) -> bool:
        """Return whether a ground atom is true."""
        return (predicate, arguments) in self.true_atoms

    def flipped(self, atom: GroundAtom) -> World:
        """Return the world in which this one atom has the other truth value."""
        named = _ground_atom(atom)
        check_ground_atom(named, self.vocabulary)
        return World(self.vocabulary, self.true_atoms ^ {named})

    def count(self, formula: Formula) -> int:
        """Return n_i, the number of the formula's true groundings (lecture notes, eq. 16), by enumeration."""
        checked = checked_formula(formula)
        return sum(evaluate(checked, self, binding) for binding in groundings(checked, self))

    def number_of_groundings(self, formula: Formula) -> int:
        """Return the number of the formula's groundings, true or not."""
        return sum(1 for _ in groundings(checked_formula(formula), self))

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


def _ground_atom(atom: object) -> GroundAtom:
    """Return an atom that is given as a predicate's name and its constants."""
    if type(atom) is GroundAtom:
        return atom
    require(atom, tuple, _ATOMS)
    match atom:
        case (str(predicate), list() | tuple() as arguments):
            return GroundAtom(predicate, tuple(arguments))
        case _:
            raise ArgumentError(f"{_ATOMS}, not {atom!r:.60}.")


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
