"""The clauses around a clause: a literal added, removed, or its sign flipped (Kok and Domingos 2005).

Clauses hang together by the variables of their atoms, no atom stands in one twice, and none is a tautology.
A literal may be ``x = y``, of two variables that other literals have; it is never negated, for the clause
``x != y v C`` is the clause C with x for y. Declarative bias narrows the clauses down.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

from mlnlab.errors import ArgumentError
from mlnlab.logic.checked_options import check_names
from mlnlab.logic.suggestions import did_you_mean
from mlnlab.logic.vocabulary import FrozenMapping
from mlnlab.structure.clauses.clause_making import ClauseKey, clause_key, make_clauses
from mlnlab.structure.paths.variabilized import EQUALS, PathAtom, VariabilizedPath

if TYPE_CHECKING:
    from mlnlab.logic.vocabulary import Vocabulary

ADDED, REMOVED, FLIPPED = "added", "removed", "flipped"


class Edit(NamedTuple):
    """A clause, and the change that made it."""

    clause: ClauseKey
    change: str


@dataclass(frozen=True, slots=True)
class Bias:
    """Declarative bias: predicates that clauses must not have, or must have, and modes of arguments.

    ``forbidden`` and ``required`` name predicates, or literals of one sign as ``!Smokes``; ``=`` is that of
    equality. Clauses with anything forbidden are never tried; a clause needs all that is required to join the
    model, for on the way there it is made of clauses that lack it. A mode has a letter for each argument of a
    predicate: ``+`` for a variable that the clause has already when the literal is added, ``-`` for any.
    """

    forbidden: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    modes: Mapping[str, str] = FrozenMapping()

    @classmethod
    def of(cls, forbidden: object, required: object, modes: object) -> Bias:
        """Return the bias of three options; refuse values that are none."""
        if not isinstance(modes, Mapping) or not all(
            isinstance(name, str) and isinstance(mode, str) and mode and set(mode) <= {"+", "-"}
            for name, mode in modes.items()
        ):
            raise ArgumentError(
                "modes= takes a letter for each argument of a predicate, + for a variable that the clause "
                f'has already and - for any, as in modes={{"Friends": "+-"}}, not {modes!r:.60}.'
            )
        names = [check_names(given, option, "!Smokes")
                 for given, option in ((forbidden, "forbidden"), (required, "required"))]  # fmt: skip
        return cls(names[0], names[1], FrozenMapping(modes))

    def refuse_unknown(self, vocabulary: Vocabulary) -> None:
        """Refuse predicates that do not exist, and modes of another number of arguments."""
        known = (*vocabulary.predicates, EQUALS)
        for name in (*(one.removeprefix("!") for one in (*self.forbidden, *self.required)), *self.modes):
            if name not in known:
                hint = did_you_mean(name, known) or "."
                raise ArgumentError(f"There is no predicate {name:.60}{hint} There are: {', '.join(known)}.")
        for name in self.required:
            if name in self.forbidden or name.removeprefix("!") in self.forbidden:
                raise ArgumentError(f"{name} is required and forbidden: no clause could join the model.")
        if literal_name(EQUALS, positive=False) in (*self.forbidden, *self.required):
            raise ArgumentError("Clauses never have x != y, for which a variable is put; equality is =.")
        for name, mode in self.modes.items():
            arity = 2 if name == EQUALS else vocabulary[name].arity
            if len(mode) != arity:
                raise ArgumentError(f"{name} takes {arity} arguments, but its mode {mode} has {len(mode)}.")

    def allows(self, predicate: str, *, positive: bool) -> bool:
        """Tell whether clauses may have a literal."""
        return not {predicate, literal_name(predicate, positive=positive)} & set(self.forbidden)

    def is_met(self, clause: ClauseKey) -> bool:
        """Tell whether a clause has all that is required."""
        held = set()
        for place, atom in enumerate(clause.path.atoms):
            positive = clause.positive >> place & 1 == 1
            held |= {atom.predicate, literal_name(atom.predicate, positive=positive)}
        return held.issuperset(self.required)


def literal_name(predicate: str, *, positive: bool) -> str:
    """Return a predicate with the sign of its literal, as bias writes it."""
    return predicate if positive else f"!{predicate}"


@dataclass(frozen=True, slots=True)
class ClauseSpace:
    """The clauses over a vocabulary within limits."""

    vocabulary: Vocabulary
    literals: int
    variables: int
    bias: Bias = Bias()

    def unit_paths(self) -> tuple[VariabilizedPath, ...]:
        """Return the atoms in which several arguments are the same variable.

        A predicate whose arguments are p, p, q gives P(x, x, y), one with p, p, p gives four.
        """
        return tuple(
            VariabilizedPath((PathAtom(name, variables),))
            for name, predicate in self.vocabulary.predicates.items() if not predicate.closed
            for variables in _identify_variables(predicate.types) if len(set(variables)) < predicate.arity
        )  # fmt: skip

    def pairs(self) -> tuple[VariabilizedPath, ...]:
        """Return the atoms of all clauses of two literals."""
        found: dict[VariabilizedPath, None] = {}
        for name, predicate in self.vocabulary.predicates.items():
            for variables in _identify_variables(predicate.types):
                first = (PathAtom(name, variables),)
                if self.literals < 2 or len(set(variables)) > self.variables:
                    continue
                for atom in self._literals_for(first):
                    path = clause_key((*first, atom), 0).path
                    if any(self.signs(path, bits) for bits in range(4)):
                        found[path] = None
        return tuple(sorted(found))

    def signs(self, path: VariabilizedPath, positive: int) -> bool:
        """Tell whether a clause's literals have signs that are allowed."""
        return all(
            self.bias.allows(atom.predicate, positive=positive >> place & 1 == 1)
            and (atom.predicate != EQUALS or positive >> place & 1)
            for place, atom in enumerate(path.atoms)
        )

    def clauses_of(self, path: VariabilizedPath) -> tuple[ClauseKey, ...]:
        """Return the clauses of some atoms, with all signs."""
        every = (ClauseKey(path, bits) for bits in make_clauses(path) if self.signs(path, bits))
        return tuple(clause for clause in every if not has_idle_equality(clause))

    def around(self, clause: ClauseKey) -> tuple[Edit, ...]:
        """Return the clauses that are one edit away, each once, in an order that depends on nothing else."""
        every = (*self._with_literal(clause), *self._without_literal(clause), *self._flip_literals(clause))
        found: dict[ClauseKey, str] = {}
        for one in every:
            if one.clause != clause and not has_idle_equality(one.clause):
                found.setdefault(one.clause, one.change)
        return tuple(Edit(*one) for one in found.items())

    def holds(self, clause: ClauseKey) -> bool:
        """Tell whether a clause is over these predicates and in its canonical form, whatever the limits."""
        types: dict[int, str] = {}
        for place, (name, variables) in enumerate(clause.path.atoms):
            if name == EQUALS:
                if len(set(variables)) != 2 or not clause.positive >> place & 1:
                    return False
                continue
            predicate = self.vocabulary.predicates.get(name)
            if predicate is None or predicate.arity != len(variables):
                return False
            if any(types.setdefault(*one) != one[1] for one in zip(variables, predicate.types, strict=True)):
                return False
        for name, variables in clause.path.atoms:
            if name == EQUALS and len({types.get(variable, variable) for variable in variables}) != 1:
                return False
        return bool(types) and clause == clause_key(clause.path.atoms, clause.positive)

    def _with_literal(self, clause: ClauseKey) -> Iterator[Edit]:
        atoms = clause.path.atoms
        if len(atoms) >= self.literals:
            return
        for atom in self._literals_for(atoms):
            grown = (*atoms, atom)
            for positive in (1,) if atom.predicate == EQUALS else (0, 1):
                if not self.bias.allows(atom.predicate, positive=bool(positive)):
                    continue
                yield Edit(clause_key(grown, clause.positive | positive << len(atoms)), ADDED)

    def _literals_for(self, atoms: Sequence[PathAtom]) -> Iterator[PathAtom]:
        """Yield the atoms that may be added to some: each has a variable of theirs."""
        types = VariabilizedPath(tuple(atoms)).types(self.vocabulary)
        for name, predicate in self.vocabulary.predicates.items():
            mode = self.bias.modes.get(name, "-" * predicate.arity)
            for variables in self._arguments(predicate.types, types, mode):
                atom = PathAtom(name, variables)
                if atom not in atoms:
                    yield atom
        held = {atom for atom in atoms if atom.predicate == EQUALS}
        for one, other in product(range(len(types)), repeat=2):
            if one < other and types[one] == types[other] and self.bias.allows(EQUALS, positive=True):
                atom = PathAtom(EQUALS, (one, other))
                if atom not in held and PathAtom(EQUALS, (other, one)) not in held:
                    yield atom

    def _arguments(self, wanted: Sequence[str], types: Sequence[str], mode: str) -> Iterator[tuple[int, ...]]:
        """Yield the arguments of an atom, new variables numbered as they come."""
        known = len(types)

        def go_on(chosen: tuple[int, ...], new: tuple[str, ...]) -> Iterator[tuple[int, ...]]:
            if len(chosen) == len(wanted):
                if any(variable < known for variable in chosen):
                    yield chosen
                return
            type_ = wanted[len(chosen)]
            own = [n for n, other in enumerate((*types, *new)) if other == type_]
            if mode[len(chosen)] == "+":
                own = [n for n in own if n < known]
            for variable in own:
                yield from go_on((*chosen, variable), new)
            if mode[len(chosen)] == "-" and known + len(new) < self.variables:
                yield from go_on((*chosen, known + len(new)), (*new, type_))

        yield from go_on((), ())

    def _without_literal(self, clause: ClauseKey) -> Iterator[Edit]:
        atoms = clause.path.atoms
        if len(atoms) <= 2:
            return
        for place in range(len(atoms)):
            rest = atoms[:place] + atoms[place + 1 :]
            if hangs_together(rest):
                low = clause.positive & (1 << place) - 1
                yield Edit(clause_key(rest, low | clause.positive >> place + 1 << place), REMOVED)

    def _flip_literals(self, clause: ClauseKey) -> Iterator[Edit]:
        for place, atom in enumerate(clause.path.atoms):
            flipped = clause.positive ^ 1 << place
            if atom.predicate != EQUALS and self.signs(clause.path, flipped):
                yield Edit(clause_key(clause.path.atoms, flipped), FLIPPED)


def _identify_variables(types: Sequence[str]) -> Iterator[tuple[int, ...]]:
    """Yield the ways in which arguments of some types may be the same variable."""

    def go_on(chosen: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        if len(chosen) == len(types):
            yield chosen
            return
        number = len(set(chosen))
        own = {v for v, type_ in zip(chosen, types, strict=False) if type_ == types[len(chosen)]}
        for variable in (*sorted(own), number):
            yield from go_on((*chosen, variable))

    yield from go_on(())


def hangs_together(atoms: Sequence[PathAtom]) -> bool:
    """Tell whether atoms are linked by variables, and equalities are of variables that other atoms have."""
    others = VariabilizedPath(tuple(atom for atom in atoms if atom.predicate != EQUALS))
    held = {variable for atom in others.atoms for variable in atom.variables}
    return bool(others.atoms) and others.is_connected and all(held.issuperset(a.variables) for a in atoms)


def has_idle_equality(clause: ClauseKey) -> bool:
    """Tell whether a clause is true anyway where two variables are equal, so that ``x = y`` adds nothing."""
    atoms = clause.path.atoms
    return any(
        _is_true_where_equal(clause, place) for place in range(len(atoms)) if atoms[place].predicate == EQUALS
    )


def _is_true_where_equal(clause: ClauseKey, equality: int) -> bool:
    one, other = clause.path.atoms[equality].variables
    held: dict[PathAtom, int] = {}
    for place, atom in enumerate(clause.path.atoms):
        if place == equality:
            continue
        same = PathAtom(atom.predicate, tuple(one if v == other else v for v in atom.variables))
        sign = clause.positive >> place & 1
        is_identity = same.predicate == EQUALS and len(set(same.variables)) == 1
        if is_identity or held.setdefault(same, sign) != sign:
            return True
    return False
