"""Ground only the clauses that a search comes across, for models that are too large to ground.

Most open atoms are false in every good world. So an open atom is taken to be false until it is *active*, and
a clause is ground only where the active atoms can break it: a clause with a positive weight where no literal
holds because of an idle atom, one with a negative weight only where an atom of it is active (Singla and
Domingos, Memory-efficient inference in relational domains, 2006). What is not ground is not broken, so what
the arrays say of a world is right where its true atoms are active, and else never too little. Hence a world
that is best by the arrays, and whose true atoms are active, is best of all (Riedel, Improving the accuracy
and efficiency of MAP inference for Markov logic, 2008).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from mlnlab.errors import ArgumentError, count_of
from mlnlab.grounding.lazy.decided_atoms import DecidedAtoms, decided_atoms
from mlnlab.grounding.lazy.lazy_making import LazyMaker, eager_predicates
from mlnlab.grounding.networks.network_size import size_of
from mlnlab.grounding.question.question import Opening, Question, list_atoms, opening
from mlnlab.model.database.ground_atom_text import ground_atom_from

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from mlnlab.grounding.clauses.ground_clauses import GroundClauses
    from mlnlab.grounding.lazy.lazy_relations import Register
    from mlnlab.logic.formulas.formulas import Formula
    from mlnlab.logic.formulas.ground_atoms import GroundAtom
    from mlnlab.model.database.database import Database
    from mlnlab.model.mln.mln import MLN

    Chosen = NDArray[np.integer[Any]]


def lazy_ground(
    mln: MLN,
    db: Database | Mapping[str, int] | None = None,
    query: Sequence[str | Formula] | str | Formula | None = None,
    *,
    open: Sequence[str] | str = (),  # noqa: A002 - the public name of infer's argument
    closed: Sequence[str] | str = (),
    given: Sequence[str | Formula] | str | Formula = (),
) -> LazyGround:
    r"""Return the clauses broken where every open atom is false; arguments as of ``infer``.

    ``activated`` of the result adds what further atoms can break.

    >>> import mlnlab as ml
    >>> text = "Friends(person, person)\nSmokes(person)\n-1 Friends(x, y)\n2 Smokes(x) => Friends(x, x)"
    >>> mln = ml.MLN.from_text(text + "\nperson = {1, ..., 9999}")
    >>> lazy = ml.lazy_ground(mln, ml.Database.from_text("Smokes(7)", mln), "Friends")
    >>> lazy
    <LazyGround: 1 known atom of 99,980,001, 0 of them active; 1 clause>
    >>> lazy.activated(["Friends(7, 7)"])
    <LazyGround: 1 known atom of 99,980,001, 1 of them active; 2 clauses>
    """
    asked = opening(mln, db, query, open, given, closed)
    eager = eager_predicates(asked)
    question = list_atoms(replace(asked, opened=eager, queries=()))
    return ground_lazily(asked, question, asked.opened - eager)


def ground_lazily(asked: Opening, eager: Question, lazy: frozenset[str]) -> LazyGround:
    """Return the clauses broken where all atoms of lazy predicates are false; ``eager`` has open ones."""
    return _ground(asked, eager, lazy, decided_atoms(asked, lazy), frozenset(), {}, 0)


def _ground(
    asked: Opening, eager: Question, lazy: frozenset[str], decided: DecidedAtoms,
    active: frozenset[GroundAtom], known: Mapping[str, Register], next_number: int,
) -> LazyGround:  # fmt: skip
    found = LazyMaker(asked, eager, lazy, active, known, next_number).run()
    return LazyGround(asked, found.clauses, active, eager, lazy, decided, found.known)


@dataclass(frozen=True, eq=False)
class LazyGround:
    r"""Ground clauses over the atoms that are known so far; ``active`` are the lazy ones that may be true.

    >>> import mlnlab as ml
    >>> text = "F(person, person)\nperson = {A, B, C}\n-1 F(x, y)\n3 F(x, y) => F(y, x)\n2 F(A, B)"
    >>> lazy = ml.lazy_ground(ml.MLN.from_text(text))
    >>> [str(atom) for atom in lazy.atoms], lazy.clauses.number_of_clauses
    (['F(A, B)'], 1)
    >>> [str(atom) for atom in lazy.activated(["F(A, B)"]).atoms]
    ['F(A, B)', 'F(B, A)']
    """

    asked: Opening
    clauses: GroundClauses
    active: frozenset[GroundAtom]
    eager: Question  # with the atoms that are active from the start
    lazy: frozenset[str]  # the predicates whose atoms are not
    decided: DecidedAtoms  # of these
    known: Mapping[str, Register]

    @property
    def atoms(self) -> tuple[GroundAtom, ...]:
        """The open atoms that are known so far, in the order of their numbers."""
        return tuple(atom for choice in self.clauses.question.choices for atom in choice.atoms)

    def activated(self, atoms: Iterable[str | GroundAtom]) -> LazyGround:
        """Return the clauses that can be broken when these atoms may be true too; numbers stay."""
        vocabulary = self.asked.mln.vocabulary
        found = {ground_atom_from(atom, vocabulary) for atom in atoms}
        from_start = {atom for choice in self.eager.choices for atom in choice.atoms}
        for atom in found - from_start:
            self._refuse_decided(atom)
        active = self.active | (found - from_start)
        if active == self.active:
            return self
        number = self.clauses.number_of_atoms
        return _ground(self.asked, self.eager, self.lazy, self.decided, active, self.known, number)

    def is_open(self, atom: GroundAtom) -> bool:
        """Return whether an atom, of whatever names, is a lazy one that nothing decides."""
        known = self.asked.mln.vocabulary
        if atom.predicate not in self.lazy or len(atom.arguments) != len(known[atom.predicate].types):
            return False
        typed = zip(atom.arguments, known[atom.predicate].types, strict=True)
        return all(name in known.domain(type_) for name, type_ in typed) and atom not in self.decided

    def _refuse_decided(self, atom: GroundAtom) -> None:
        if atom.predicate not in self.lazy or atom in self.decided:
            raise ArgumentError(f"{atom} is not open; only open atoms can be active.")

    def idle(self, chosen: Chosen) -> tuple[GroundAtom, ...]:
        """Return the atoms that are true in a world but not active: it is given by its choices' options."""
        first = len(self.eager.choices)
        atoms = [choice.atoms[0] for choice in self.clauses.question.choices[first:]]
        true = (atom for atom, option in zip(atoms, chosen[first:].tolist(), strict=True) if option == 0)
        return tuple(atom for atom in true if atom not in self.active)

    def __repr__(self) -> str:
        known = count_of(self.clauses.number_of_atoms, "known atom")
        active = sum(len(choice.atoms) for choice in self.eager.choices) + len(self.active)
        return (
            f"<LazyGround: {known} of {size_of(self.asked).open_atoms:,}, {active:,} of them active; "
            f"{count_of(self.clauses.number_of_clauses, 'clause')}>"
        )


class LazyRound(NamedTuple):
    """A round: the ground clauses, the world chosen by them, and its atoms to be activated."""

    lazy: LazyGround
    chosen: Chosen
    new: tuple[GroundAtom, ...]


def lazy_rounds(lazy: LazyGround, solve: Callable[[GroundClauses], Chosen]) -> Iterator[LazyRound]:
    r"""Yield rounds of solving and of activating true atoms, until none is new.

    ``solve`` returns a world as the options of its choices (0: the atom is true). If that is always a most
    probable one by the clauses given, then the last round's world is a most probable one of the whole model.

    >>> import mlnlab as ml, numpy as np
    >>> text = "F(person, person)\nperson = {1, ..., 900}\n-0.5 F(x, y)\n3 F(x, y) => F(y, x)\n2 F(1, 2)"
    >>> def by_hand(clauses):
    ...     worlds = np.array(list(np.ndindex(*clauses.options)))
    ...     return max(worlds, key=clauses.log_weight)
    >>> rounds = list(ml.lazy_rounds(ml.lazy_ground(ml.MLN.from_text(text)), by_hand))
    >>> [len(one.lazy.atoms) for one in rounds], rounds[-1].chosen.tolist()
    ([1, 2, 2], [0, 0])
    """
    while True:
        chosen = solve(lazy.clauses)
        new = lazy.idle(chosen)
        yield LazyRound(lazy, chosen, new)
        if not new:
            return
        lazy = lazy.activated(new)
