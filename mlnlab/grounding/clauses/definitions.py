"""Turn ground formulas that are too wide for a table into trees of counts.

Every connective says how many of its parts have to be true: all of a conjunction, none or both of an
equivalence, some number of a counting quantifier. A part over few choices becomes a small table; a part over
many counts its own parts (:mod:`mlnlab.grounding.clauses.gates`). Nothing is lost by it.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from mlnlab.grounding.clauses.clause_store import TableStore, frozen
from mlnlab.grounding.clauses.gates import Gates
from mlnlab.logic.formulas.formulas import Relation, holds_between

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray


SMALL = 64  # cells of a part that is a table of its own


@dataclass(frozen=True, slots=True, eq=False)
class Leaf:
    """An open atom, or its negation: whether a choice has this option."""

    choice: int
    option: int
    positive: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class Count:
    """A formula that is true where the number of its true parts is one of those marked in ``truths``."""

    parts: tuple[Node, ...]
    truths: tuple[bool, ...]

    @property
    def is_conjunction(self) -> bool:
        """Whether all parts have to be true."""
        return self.truths[-1] and not any(self.truths[:-1])


Node: TypeAlias = "Leaf | Count"


@dataclass(frozen=True, slots=True)
class CountAlgebra:
    """Truth values: true, false, or a tree of counts."""

    look_up: Callable[[str, tuple[str, ...]], bool | tuple[int, int]]

    def atom(self, predicate: str, arguments: tuple[str, ...]) -> Node | bool:
        """Return evidence as it is, an open atom as a leaf."""
        found = self.look_up(predicate, arguments)
        return found if isinstance(found, bool) else Leaf(*found)

    def negation(self, value: Node | bool) -> Node | bool:
        """Return the opposite."""
        match value:
            case Leaf(choice, option, positive):
                return Leaf(choice, option, not positive)
            case Count(parts, truths):
                return Count(parts, tuple(not truth for truth in truths))
            case _:
                return not value

    def every(self, values: Iterable[Node | bool]) -> Node | bool:
        """Return the conjunction; conjunctions in it join it."""
        parts: list[Node] = []
        for value in values:
            if value is False:
                return False
            if isinstance(value, Count) and value.is_conjunction:
                parts += value.parts
            elif not isinstance(value, bool):
                parts.append(value)
        if len(parts) < 2:
            return parts[0] if parts else True
        return Count(tuple(parts), (*(False,) * len(parts), True))

    def same(self, left: Node | bool, right: Node | bool) -> Node | bool:
        """Return whether none or both are true."""
        if isinstance(left, bool):
            return right if left else self.negation(right)
        if isinstance(right, bool):
            return left if right else self.negation(left)
        return Count((left, right), (True, False, True))

    def number(self, values: Iterable[Node | bool], relation: Relation, bound: int) -> Node | bool:
        """Return whether the number of true ones stands in a relation to a bound."""
        found = list(values)
        certain = sum(value is True for value in found)
        parts = tuple(value for value in found if not isinstance(value, bool))
        truths = tuple(holds_between(relation, certain + more, bound) for more in range(len(parts) + 1))
        return truths[0] if len(set(truths)) == 1 else Count(parts, truths)


class GateStore:
    """Growing lists of gates; the tables of their formulas go to the tables' own store."""

    def __init__(self, tables: TableStore, options: Sequence[int], plain: Sequence[bool]) -> None:
        self.tables, self.options, self.plain = tables, options, plain
        self._scopes: list[Mapping[int, int]] = []
        self._starts: list[int] = []
        self._parents: list[int] = []  # a gate, or -1 - table
        self._roots: list[int] = []

    @property
    def number_of_roots(self) -> int:
        """How many formulas are kept so."""
        return len(self._roots)

    def add(self, formula: Count) -> None:
        """Keep a grounding: gates for its parts, and a table that counts them."""
        scopes: dict[int, frozenset[int]] = {}
        everything = self._scope_of(formula, scopes)
        strides, bits, below = self._tabulate_count(formula, scopes, opposite=False)
        table = self.tables.add_counting(
            {choice: strides.get(choice, 0) for choice in sorted(everything)}, bits
        )
        for gate in below:
            self._parents[gate] = -1 - table
        self._roots.append(table)

    def _scope_of(self, node: Node, scopes: dict[int, frozenset[int]]) -> frozenset[int]:
        """Return the choices of a part, and remember those of all parts in it."""
        if isinstance(node, Leaf):
            return frozenset((node.choice,))
        found = frozenset().union(*[self._scope_of(part, scopes) for part in node.parts])
        scopes[id(node)] = found
        return found

    def _tabulate_count(
        self, formula: Count, scopes: Mapping[int, frozenset[int]], *, opposite: bool
    ) -> tuple[dict[int, int], NDArray[np.bool_], list[int]]:
        """Return a count's choices with strides, its truth for each sum, and the gates below it.

        A choice counts where it has option 1, which makes a single atom false. So what is counted are the
        parts that are false, or those that are true, whichever spares more gates.
        """
        of_atoms = [p.positive for p in formula.parts if isinstance(p, Leaf) and self.plain[p.choice]]
        false = 2 * sum(of_atoms) >= len(of_atoms)
        strides: dict[int, int] = {}
        below: list[int] = []
        for part in formula.parts:
            if isinstance(part, Leaf) and self.plain[part.choice] and part.positive == false:
                strides[part.choice] = strides.get(part.choice, 0) + 1
            else:
                below.append(self._gate(part, scopes, opposite=false))
        truths = np.array(formula.truths, np.bool_) != opposite
        return strides, truths[::-1] if false else truths, below

    def _gate(self, node: Node, scopes: Mapping[int, frozenset[int]], *, opposite: bool) -> int:
        """Add a gate that is true where a part is, or where it is not; return its number."""
        scope = sorted((node.choice,) if isinstance(node, Leaf) else scopes[id(node)])
        shape = [self.options[choice] for choice in scope]
        below: list[int] = []
        if isinstance(node, Leaf) or prod(shape) <= SMALL:
            digits = dict(zip(scope, np.indices(shape, sparse=True), strict=True))
            bits = np.ascontiguousarray(np.broadcast_to(_truths(node, digits) != opposite, shape))
            strides = dict(zip(scope, bits.strides, strict=True))
        else:
            strides, bits, below = self._tabulate_count(node, scopes, opposite=opposite)
        number = len(self._starts)
        for gate in below:
            self._parents[gate] = number
        self._scopes.append(strides)
        self._starts.append(self.tables.place(bits))
        self._parents.append(number)
        return number

    def arrays(self) -> Gates:
        """Return the gates as arrays; a true gate adds one to its parent's sum."""
        number = len(self._starts)
        parents = [number - 1 - parent if parent < 0 else parent for parent in self._parents]
        columns: list[Any] = [
            np.cumsum([0, *map(len, self._scopes)]),
            [choice for scope in self._scopes for choice in scope],
            [stride for scope in self._scopes for stride in scope.values()],
            self._starts, parents, np.ones(number), self._roots,
        ]  # fmt: skip
        return Gates(*(frozen(np.array(column, np.uint32)) for column in columns))


def _truths(node: Node, digits: Mapping[int, NDArray[np.intp]]) -> NDArray[np.bool_]:
    """Return the truth of a part for every combination of its choices' options."""
    if isinstance(node, Leaf):
        return np.asarray((digits[node.choice] == node.option) == node.positive)
    number = sum((_truths(part, digits).astype(np.intp) for part in node.parts), np.zeros((), np.intp))
    return np.asarray(np.array(node.truths, np.bool_)[number])
