"""Ground clauses, tables and blocks as clauses of numbers, as SAT solvers want them.

Variable ``a + 1`` is open atom ``a``; further variables are made where a block is large. Every part is exact:
a world satisfies the clauses of a part just where it satisfies the part.
"""

from __future__ import annotations

from itertools import combinations, pairwise
from math import prod
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from mlnlab.grounding.clauses.definitions import SMALL

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from mlnlab.grounding.clauses.ground_clauses import GroundClauses

NumberedClause = list[int]
MOST_IN_PAIRS = 6  # atoms of a block of which each two exclude each other, clause by clause


_Key = tuple[tuple[int, ...], tuple[bool, ...]]


class _Definition(NamedTuple):
    """A literal, and the clauses that make it true just where it has to be."""

    literal: int
    clauses: tuple[NumberedClause, ...]


class Propositions:
    """The parts of a question as clauses; remembers which variables are taken."""

    def __init__(self, clauses: GroundClauses) -> None:
        self.clauses = clauses
        self.top = clauses.number_of_atoms
        self._roots = frozenset(clauses.gates.roots.tolist())
        # What counts so many of some literals, and what says which options some choices have.
        self._definitions: dict[_Key, _Definition] = {}
        self._tables: dict[_Key, _Definition] = {}
        self._literals = np.where(clauses.literals & 1, -1, 1) * (clauses.literals.astype(np.int64) // 2 + 1)

    def new_variable(self) -> int:
        """Return a variable that means nothing yet."""
        self.top += 1
        return self.top

    def clause(self, number: int) -> NumberedClause:
        """Return a ground clause."""
        first, end = self.clauses.starts[number : number + 2].tolist()
        return self._literals[first:end].tolist()  # type: ignore[no-any-return]

    def blocks(self) -> Iterator[tuple[int, list[NumberedClause]]]:
        """Yield each choice that is not a free atom with its clauses: one of its options is chosen."""
        sizes = np.diff(self.clauses.first_atoms.astype(np.int64))
        for choice in np.flatnonzero((sizes > 1) | (self.clauses.options == sizes)).tolist():
            first, end = self.clauses.first_atoms[choice : choice + 2].tolist()
            atoms = list(range(first + 1, end + 1))
            needed = [atoms] if self.clauses.options[choice] == len(atoms) else []
            yield choice, [*needed, *self.at_most_one(atoms)]

    def at_most_one(self, literals: list[int]) -> list[NumberedClause]:
        """Return that no two are true: pair by pair, or by a chain of variables (Sinz, 2005, figure 1)."""
        if len(literals) <= MOST_IN_PAIRS:
            return [[-one, -other] for one, other in combinations(literals, 2)]
        found: list[NumberedClause] = []
        earlier = 0  # true where one of the literals before is
        for literal in literals:
            now = self.new_variable()
            found.append([-literal, now])
            if earlier:
                found += [[-earlier, now], [-literal, -earlier]]
            earlier = now
        return found

    def table(self, number: int, *, holds: bool) -> list[NumberedClause]:
        """Return clauses that say that a table is true, or that it is false."""
        if number in self._roots:
            return self._counting(number, holds=holds)
        first, end = self.clauses.scope_starts[number : number + 2].tolist()
        scope = self.clauses.scope[first:end].tolist()
        shape = tuple(int(self.clauses.options[choice]) for choice in scope)
        start = int(self.clauses.bit_starts[number])
        bits = self.clauses.bits[start : start + int(np.prod(shape))].reshape(shape)
        return list(self._exclude_cells(bits != holds, scope))

    # --- tables that count ------------------------------------------------------------------------

    def _counting(self, number: int, *, holds: bool) -> list[NumberedClause]:
        """Return clauses that say that a formula that is too wide for a table is true, or false."""
        found: list[NumberedClause] = []
        first, end = self.clauses.scope_starts[number : number + 2].tolist()
        strides = self.clauses.strides[first:end].tolist()
        counted = self._counted_choices(self.clauses.scope[first:end].tolist(), strides)
        below = self.clauses.gates.below.get(len(self.clauses.gates) + number, [])
        literals = [*counted, *(self._gate(gate, found) for gate in below)]
        root = self._define_literal(
            literals, self._truths(int(self.clauses.bit_starts[number]), literals), found
        )
        return [*found, [root if holds else -root]]

    def _counted_choices(self, scope: list[int], strides: list[int]) -> list[int]:
        """Return a literal for each unit that a choice of two options adds with its second option."""
        firsts = self.clauses.first_atoms
        pairs = zip(scope, strides, strict=True)
        return [-(int(firsts[choice]) + 1) for choice, stride in pairs for _ in range(stride)]

    def _truths(self, start: int, literals: list[int]) -> list[bool]:
        return [bool(bit) for bit in self.clauses.bits[start : start + len(literals) + 1].tolist()]

    def _gate(self, number: int, found: list[NumberedClause]) -> int:
        """Return a variable that is true where a gate is, and add the clauses that define it."""
        gates = self.clauses.gates
        first, end = gates.scope_starts[number : number + 2].tolist()
        scope, strides = gates.scope[first:end].tolist(), gates.strides[first:end].tolist()
        start, below = int(gates.bit_starts[number]), gates.below.get(number, [])
        sizes = [int(self.clauses.options[choice]) for choice in scope]
        if not below and (len(scope) == 1 or prod(sizes) <= SMALL) and strides == _row_major(sizes):
            return self._small(scope, self.clauses.bits[start : start + prod(sizes)].reshape(sizes), found)
        literals = [*self._counted_choices(scope, strides), *(self._gate(one, found) for one in below)]
        return self._define_literal(literals, self._truths(start, literals), found)

    def _small(self, scope: list[int], bits: NDArray[np.uint8], found: list[NumberedClause]) -> int:
        """Return a variable that is true where a small table is; the same for equal tables."""
        key = (tuple(scope), tuple(map(bool, bits.ravel())))
        if key not in self._tables:
            gate = self.new_variable()
            true = ([*clause, gate] for clause in self._exclude_cells(bits == 1, scope))
            false = ([*clause, -gate] for clause in self._exclude_cells(bits != 1, scope))
            self._tables[key] = _Definition(gate, (*true, *false))
        found += self._tables[key].clauses
        return self._tables[key].literal

    def _define_literal(self, literals: list[int], truths: list[bool], found: list[NumberedClause]) -> int:
        """Return a literal that is true for certain counts of true literals; equal definitions share it.

        Its clauses are added each time: a part must mean the same whichever other parts are left out.
        """
        opposite = tuple(not truth for truth in truths)
        key, negated = (tuple(literals), tuple(truths)), (tuple(literals), opposite)
        if key not in self._definitions and negated not in self._definitions:
            clauses: list[NumberedClause] = []
            self._definitions[key] = _Definition(
                define_literal(literals, truths, self, clauses), tuple(clauses)
            )
        same = self._definitions.get(key)
        known = same or self._definitions[negated]
        found += known.clauses
        return known.literal if same is not None else -known.literal

    def _exclude_cells(self, wrong: NDArray[np.bool_], scope: list[int]) -> Iterator[NumberedClause]:
        """Yield a clause for each group of cells that must not be selected, splitting option by option."""
        if not wrong.any():
            return
        if wrong.all():
            yield []
            return
        if (wrong == wrong[0]).all():  # this choice makes no difference
            yield from self._exclude_cells(wrong[0], scope[1:])
            return
        for option in range(wrong.shape[0]):
            for rest in self._exclude_cells(wrong[option], scope[1:]):
                yield [*self.is_not(scope[0], option), *rest]

    def is_not(self, choice: int, option: int) -> NumberedClause:
        """Return the literals one of which is true where another option is chosen."""
        first, end = self.clauses.first_atoms[choice : choice + 2].tolist()
        if first + option < end:
            return [-(first + option + 1)]
        return list(range(first + 1, end + 1))

    def options_in(self, model: set[int]) -> NDArray[np.uint32]:
        """Return the option of each choice in a world, given by its true variables."""
        found = np.empty(len(self.clauses.options), np.uint32)
        starts = self.clauses.first_atoms.tolist()
        for choice, (first, end) in enumerate(pairwise(starts)):
            true = (atom - first for atom in range(first, end) if atom + 1 in model)
            # An atom that no clause mentions may be in no model: it is false, or the first of its block.
            found[choice] = next(true, end - first if self.clauses.options[choice] > end - first else 0)
        found.setflags(write=False)
        return found


def _row_major(sizes: list[int]) -> list[int]:
    """Return the strides of a table that has a cell for each combination of options."""
    return [prod(sizes[place + 1 :]) for place in range(len(sizes))]


# --- encode counts as clauses: a variable that is true just where a certain number of literals are

# Conjunctions and disjunctions are Tseitin's definitions (1968); other numbers are read from the outputs of
# a sequential counter (Sinz, Towards an optimal CNF encoding of Boolean cardinality constraints, 2005), here
# with all its equivalences, so that each world has just one continuation.


class Numbering(Protocol):
    """A source of new variables."""

    def new_variable(self) -> int:
        """Return a variable that means nothing yet."""
        ...


def define_literal(
    literals: Sequence[int], truths: Sequence[bool], numbering: Numbering, clauses: list[list[int]]
) -> int:
    """Return a literal that is true where ``truths`` has the number of the true literals; add its clauses.

    >>> class Numbers:
    ...     top = 3
    ...     def new_variable(self):
    ...         self.top += 1
    ...         return self.top
    >>> clauses = []
    >>> define_literal([1, 2, 3], [False, False, False, True], Numbers(), clauses), clauses
    (4, [[-4, 1], [-4, 2], [-4, 3], [4, -1, -2, -3]])
    """
    true = sum(truths)
    if true == 1 and truths[-1]:
        return _conjunction(literals, numbering, clauses)
    if true == 1 and truths[0]:
        return _conjunction([-literal for literal in literals], numbering, clauses)
    if true == len(literals) and not truths[0]:
        return -_conjunction([-literal for literal in literals], numbering, clauses)
    if true == len(literals) and not truths[-1]:
        return -_conjunction(literals, numbering, clauses)
    changes = [number for number in range(1, len(truths)) if truths[number] != truths[number - 1]]
    output = numbering.new_variable()
    at_least = _counter(literals, max(changes, default=0), numbering, clauses)
    for begin, end in pairwise([0, *changes, len(truths)]):
        outside = [-at_least[begin - 1]] if begin else []
        outside += [at_least[end - 1]] if end < len(truths) else []
        clauses.append([*outside, output if truths[begin] else -output])
    return output


def _conjunction(literals: Sequence[int], numbering: Numbering, clauses: list[list[int]]) -> int:
    output = numbering.new_variable()
    clauses.extend([-output, literal] for literal in literals)
    clauses.append([output, *(-literal for literal in literals)])
    return output


def _counter(literals: Sequence[int], most: int, numbering: Numbering, clauses: list[list[int]]) -> list[int]:
    """Return variables that say that at least 1, 2, ..., ``most`` of the literals are true."""
    before: list[int] = []  # the same of the literals so far, of which there may be fewer
    for literal in literals:
        now = [numbering.new_variable() for _ in range(min(most, len(before) + 1))]
        for place, variable in enumerate(now):
            one_less = [before[place - 1]] if place else []  # at least none is always true
            already = [before[place]] if place < len(before) else []
            clauses.append([-literal, *(-one for one in one_less), variable])
            clauses.append([-variable, literal, *already])
            clauses.extend([-one, variable] for one in already)
            clauses.extend([-variable, *already, one] for one in one_less)
        before = now
    return before
