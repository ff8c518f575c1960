"""The open groundings of a clause by joins: what evidence satisfies is never looked at.

A literal holds back from satisfying a clause where evidence makes it false, or where it is open. For a
negative literal these are the true and the open atoms, which are listed; so it is joined with them. A
positive literal keeps bindings whose atom is not true. A grounding with several open literals is found once,
by the first of them: literal i is open, those before it are known to be false, those behind are either. The
literals are taken in the order in which they are expected to leave the fewest bindings.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.errors import TooLargeError
from mlnlab.grounding.evidence_relations import MOST_KEYS, EvidenceRelations, Reading
from mlnlab.grounding.join_steps import BEGIN, Bindings, Equate, Filter, LookUp, Spread, Step
from mlnlab.logic.formulas import Atom, Constant, Equality, Variable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from mlnlab.grounding.clause_literals import SignedAtom

MOST_MADE = 1_000_000_000  # bindings, over all steps of the join of one formula: a minute or so
Readings = tuple[Reading, Reading, Reading]
EVERY: Readings = (Reading.KNOWN, Reading.OPEN, Reading.EITHER)
_ABSENT = np.iinfo(np.uint32).max  # in a row of literals


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """Open groundings of a clause: the literals of all, one behind the other, and the number of each."""

    literals: NDArray[np.uint32]
    sizes: NDArray[np.uint32]


class ClauseJoins:
    """Joins over the relations of a question."""

    def __init__(self, relations: EvidenceRelations) -> None:
        self.relations = relations
        self.vocabulary = relations.vocabulary

    def can_join(self, literals: Sequence[SignedAtom]) -> bool:
        """Return whether all constants are known, and all atoms can be numbered."""
        return all(self._is_known(literal) for literal in literals)

    def _is_known(self, literal: SignedAtom) -> bool:
        atom = literal.atom
        if isinstance(atom, Equality):
            types = [literal.variables[0].type] * 2
        elif self.relations.cells(atom.predicate) >= MOST_KEYS:
            return False
        else:
            types = list(self.vocabulary[atom.predicate].types)
        pairs = zip(literal.terms, types, strict=True)
        return all(term.name in self.vocabulary.domain(t) for term, t in pairs if isinstance(term, Constant))

    def open_groundings(
        self, literals: Sequence[SignedAtom], variables: tuple[Variable, ...], readings: Readings = EVERY
    ) -> Iterator[Found]:
        """Yield the groundings that no evidence decides, and that hold no literal and its opposite.

        ``readings`` say how the literals before the first one that is open are read, how that is read, and
        how those behind it.
        """
        made = Budget(MOST_MADE)
        for first, literal in enumerate(literals):
            if not self._has_open(literal):
                continue
            before, here, behind = readings
            read = [before] * first + [here] + [behind] * (len(literals) - first - 1)
            steps = self._steps(literals, read, variables)
            for bindings in _run(steps, variables=frozenset(), made=made):
                found = _clauses(bindings, literals)
                if len(found.sizes):
                    yield found

    def number_false(
        self, literals: Sequence[SignedAtom], variables: tuple[Variable, ...], most: int
    ) -> int | None:
        """Return how many groundings evidence makes false; ``None`` where the search takes too long."""
        return self._number(literals, variables, Reading.KNOWN, most)

    def number_undecided(
        self, literals: Sequence[SignedAtom], variables: tuple[Variable, ...], most: int
    ) -> int | None:
        """Return how many groundings evidence does not make true; ``None`` where that takes too long."""
        return self._number(literals, variables, Reading.EITHER, most)

    def _number(
        self, literals: Sequence[SignedAtom], variables: tuple[Variable, ...], reading: Reading, most: int
    ) -> int | None:
        steps = self._steps(literals, [reading] * len(literals), variables)
        try:
            return sum(found.number for found in _run(steps, frozenset(), Budget(most)))
        except TooLargeError:
            return None

    def undecided(
        self, literals: Sequence[SignedAtom], variables: tuple[Variable, ...]
    ) -> Iterator[Bindings]:
        """Yield the bindings of the variables for which evidence makes none of the literals true."""
        steps = self._steps(literals, [Reading.EITHER] * len(literals), variables)
        yield from _run(steps, frozenset(variables), Budget(MOST_MADE))

    def _has_open(self, literal: SignedAtom) -> bool:
        return isinstance(literal.atom, Atom) and self.relations.has_open(literal.atom.predicate)

    # --- planning ---------------------------------------------------------------------------------

    def _steps(
        self, literals: Sequence[SignedAtom], readings: Sequence[Reading], variables: tuple[Variable, ...]
    ) -> list[Step]:
        """Return the steps, each time the one that is expected to leave the fewest bindings."""
        bound: set[object] = set()
        pairs = zip(literals, readings, strict=True)
        left = {place: (one, reading, one.variables) for place, (one, reading) in enumerate(pairs)}
        steps: list[Step] = []
        while left or not bound.issuperset(variables):
            choices = self._possible(left, bound, variables)
            _, place, step = min(choices, key=lambda one: (one[0], isinstance(one[2], Spread)))
            steps.append(step)
            bound.update([step.variable] if isinstance(step, Spread) else left.pop(place)[2])
        return steps

    def _possible(
        self,
        left: dict[int, tuple[SignedAtom, Reading, tuple[Variable, ...]]],
        bound: set[object],
        variables: tuple[Variable, ...],
    ) -> Iterator[tuple[float, int, Step]]:
        """Yield what can come next: how many one binding will become, a literal's place, a step."""
        for place, (literal, reading, own) in left.items():
            keeps = self._has_open(literal) and reading is not Reading.KNOWN
            if bound.issuperset(own):
                yield 0.0, place, Filter(literal, place, reading, self.relations, keeps)
            elif isinstance(literal.atom, Equality):
                if (step := self._equated(literal, bound)) is not None:
                    yield 1.0, place, step
            else:
                known = frozenset(bound)
                lookup = self.relations.lookup(literal, reading, known)
                if lookup is not None:
                    given = tuple(v for v in own if v in bound)
                    new = tuple(v for v in own if v not in bound)
                    yield lookup.fan_out, place, LookUp(literal, place, lookup, given, new, keeps)
        for variable in variables:
            if variable not in bound:
                size = len(self.vocabulary.domain(variable.type))
                yield float(size), -1, Spread(variable, size)

    def _equated(self, literal: SignedAtom, bound: set[object]) -> Equate | None:
        """Return what binds x by x = y, which is the only way not to satisfy x != y."""
        if literal.positive:
            return None
        for one, other in (literal.terms, literal.terms[::-1]):
            if isinstance(one, Variable) and one not in bound:
                if isinstance(other, Constant):
                    return Equate(one, self.vocabulary.domain(one.type).number(other.name))
                if other in bound:
                    return Equate(one, other)
        return None


class Budget:
    """How many bindings may still be made before a join gives up."""

    def __init__(self, most: int) -> None:
        self.most, self.spent = most, 0

    def spend(self, number: int) -> None:
        """Count bindings; refuse to go on beyond the limit."""
        self.spent += number
        if self.spent > self.most:
            raise TooLargeError(
                f"Joining the literals of a formula makes more than {self.most:,} bindings.", self.spent,
                ["use fewer constants", "drop the formula with the most variables",
                 "list more facts, or close predicates: only what is open is kept"],
            )  # fmt: skip


def _run(steps: Sequence[Step], variables: frozenset[Variable], made: Budget) -> Iterator[Bindings]:
    """Yield what becomes of the empty binding; columns that are in no later step are dropped."""
    needed = [variables]
    for step in reversed(steps[1:]):
        needed.append(needed[-1] | _read_by(step))
    needed.reverse()

    def go(bindings: Bindings, at: int) -> Iterator[Bindings]:
        if at == len(steps):
            yield bindings
            return
        for found in steps[at].apply(bindings, made.spend):
            yield from go(found.without(needed[at]), at + 1)

    yield from go(BEGIN, 0)


def _read_by(step: Step) -> frozenset[Variable]:
    match step:
        case LookUp():
            return frozenset(step.bound)
        case Filter():
            return frozenset(step.literal.variables)
        case Equate():
            return frozenset([step.source] if isinstance(step.source, Variable) else [])
        case Spread():
            return frozenset()


def _clauses(bindings: Bindings, literals: Sequence[SignedAtom]) -> Found:
    """Return the open literals of each binding, each once; what holds a literal and its opposite is true."""
    rows = np.empty((bindings.number, len(bindings.codes)), np.uint32)
    for column, (place, codes) in enumerate(bindings.codes.items()):
        rows[:, column] = np.where(codes >= 0, 2 * codes + (not literals[place].positive), _ABSENT)
    if rows.shape[1] == 1:
        return Found(rows[:, 0], np.ones(len(rows), np.uint32))
    rows.sort(axis=1)
    known = rows != _ABSENT
    contrary = (rows[:, 1:] == rows[:, :-1] + 1) & (rows[:, 1:] & 1 == 1) & known[:, 1:]
    known[:, 1:] &= rows[:, 1:] != rows[:, :-1]  # a literal counts once
    open_ = ~contrary.any(axis=1)
    rows, known = rows[open_], known[open_]
    return Found(rows[known], known.sum(axis=1, dtype=np.uint32))
