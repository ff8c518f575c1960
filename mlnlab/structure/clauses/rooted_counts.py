r"""How many groundings of some atoms are true, by the constants of some of their variables, in full tables.

    f(x, z) = sum over y of A(x, y) B(y, z),  the atoms A and B rooted at x and z

A *rooted* set of atoms names its heads 0, 1, ... and hangs together by its other variables. One of these is
summed out at a time: without it the atoms fall apart into smaller rooted sets, each counted once for all the
paths that share it. Tables are exact in floating point, because their numbers are whole and below 2^53. The
tables of all databases lie behind each other in one array, so that one look-up serves them all.

This is quick where databases have some hundred constants of a type, as folds have. What would need larger
tables is refused, and counted by plans over true atoms alone
(:mod:`mlnlab.structure.clauses.conjunction_deltas`).
"""

from __future__ import annotations

from collections import OrderedDict
from functools import lru_cache
from math import prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from mlnlab.counting.facts.sorted_facts import Facts

    Numbers = NDArray[np.float64]
    Row = tuple[str, tuple[int, ...]]  # a predicate and its variables

NEGATED, DIFFERS = "!", "!="  # before a predicate whose atom is to be false; before the type of x != y
MOST_CELLS = 1 << 22  # of one table, of all databases together
MOST_WORK = 1 << 27  # products that are added up for one table
MOST_EXACT = 2.0**53
MOST_BYTES = 256 << 20  # of the tables that are kept
_DENSE = 4  # times as quick is a product of dense matrices, for each number


class TablesTooLarge(Exception):  # noqa: N818 - no error to a person: who gets it counts in another way
    """Full tables would be too large, or their numbers."""


class Rooted(NamedTuple):
    """Atoms that hang together by variables that are no heads; the heads are numbered first."""

    heads: int
    atoms: tuple[Row, ...]


class Split(NamedTuple):
    """How a rooted set is counted: by summing one variable out of the product of its parts."""

    last: int  # the variable's number
    parts: tuple[tuple[Rooted, tuple[int, ...]], ...]  # with the variables that are each part's heads


@lru_cache(maxsize=1 << 16)
def root_atoms(heads: tuple[int, ...], atoms: frozenset[Row]) -> Rooted:
    """Return atoms with variables numbered anew, heads first, in an order that hardly depends on the old.

    >>> root_atoms((7,), frozenset({("Friends", (7, 3)), ("Smokes", (3,))}))
    Rooted(heads=1, atoms=(('Friends', (0, 1)), ('Smokes', (1,))))
    """
    names = {variable: number for number, variable in enumerate(heads)}
    left, written = sorted(atoms), []
    unknown = len(heads) + 100  # variables that have no number yet look alike, and come last
    while left:
        best = min(left, key=lambda row: (row[0], tuple(names.get(v, unknown) for v in row[1])))
        left.remove(best)
        written.append((best[0], tuple(names.setdefault(v, len(names)) for v in best[1])))
    return Rooted(len(heads), tuple(written))


def group_linked_atoms(heads: frozenset[int], atoms: Iterable[Row]) -> list[frozenset[Row]]:
    """Return the parts of atoms that hang together by variables that are no heads."""
    parts: list[tuple[set[int], set[Row]]] = []
    for row in dict.fromkeys(atoms):
        free, members = {v for v in row[1] if v not in heads}, {row}
        apart = []
        for part in parts:
            if free.isdisjoint(part[0]):
                apart.append(part)
            else:
                free |= part[0]
                members |= part[1]
        parts = [*apart, (free, members)]
    return [frozenset(members) for _, members in parts]


class RootedCounts:
    """Counts rooted sets in several databases, and remembers the tables within a bound."""

    def __init__(self, facts: Sequence[Facts], most_bytes: int = MOST_BYTES) -> None:
        """Begin with nothing counted."""
        self.facts = tuple(facts)
        self.vocabulary = facts[0].vocabulary
        types = dict.fromkeys(t for p in self.vocabulary.predicates.values() for t in p.types)
        self.sizes = {type_: np.array([own.size(type_) for own in facts], np.int64) for type_ in types}
        self.counted = 0
        self._most_bytes, self._bytes = most_bytes, 0
        self._kept: OrderedDict[Rooted, Numbers] = OrderedDict()
        self._splits: dict[Rooted, Split | None] = {}
        self._offsets: dict[tuple[str, ...], NDArray[np.int64]] = {}

    def types(self, one: Rooted) -> dict[int, str]:
        """Return the type of each variable."""
        found: dict[int, str] = {}
        for predicate, variables in one.atoms:
            found.update(zip(variables, self._types_of(predicate), strict=True))
        return found

    def _types_of(self, predicate: str) -> tuple[str, ...]:
        if predicate.startswith(DIFFERS):
            return (predicate.removeprefix(DIFFERS),) * 2
        return self.vocabulary[predicate.removeprefix(NEGATED)].types

    def offsets(self, types: tuple[str, ...]) -> NDArray[np.int64]:
        """Return where the tables of each database begin, and the end of the last one."""
        found = self._offsets.get(types)
        if found is None:
            cells = [prod(own.size(type_) for type_ in types) for own in self.facts]
            if sum(cells) > MOST_CELLS:
                raise TablesTooLarge
            found = self._offsets[types] = np.cumsum([0, *cells])
        return found

    def of(self, one: Rooted) -> Numbers:
        """Return the tables of all databases, behind each other; raise where they would be too large."""
        known = self._kept.get(one)
        if known is not None:
            self._kept.move_to_end(one)
            return known
        types = self.types(one)
        offsets = self.offsets(tuple(types[head] for head in range(one.heads)))
        split = self._split(one, types)
        found = np.empty(int(offsets[-1]))
        parts = [] if split is None else [(self.of(part), own) for part, own in split.parts]
        for number in range(len(self.facts)):
            shape = tuple(int(self.sizes[types[head]][number]) for head in range(one.heads))
            table = self._facts_table(one, number) if split is None else _sum_out_variable(
                [(self._own(values, own, types, number), own) for values, own in parts], split.last, one.heads
            )  # fmt: skip
            found[offsets[number] : offsets[number + 1]] = np.reshape(table, -1)
            assert np.shape(table) == shape  # noqa: S101 - the order of the heads
        if len(found) and found.max() >= MOST_EXACT:
            raise TablesTooLarge
        self._keep(one, found)
        return found

    def _own(self, values: Numbers, heads: tuple[int, ...], types: dict[int, str], number: int) -> Numbers:
        """Return the table of one database, with an axis for each head."""
        names = tuple(types[head] for head in heads)
        offsets = self.offsets(names)
        return values[offsets[number] : offsets[number + 1]].reshape(
            [int(self.sizes[name][number]) for name in names]
        )

    def _keep(self, one: Rooted, found: Numbers) -> None:
        found.setflags(write=False)
        self.counted += 1
        self._kept[one] = found
        self._bytes += found.nbytes + 500
        while self._bytes > self._most_bytes and len(self._kept) > 1:
            _, freed = self._kept.popitem(last=False)
            self._bytes -= freed.nbytes + 500

    def _facts_table(self, one: Rooted, number: int) -> Numbers:
        """Return the truth of a single atom, all of whose variables are heads."""
        ((predicate, variables),) = one.atoms
        types = self._types_of(predicate)
        if predicate.startswith(DIFFERS):
            size = int(self.sizes[types[0]][number])
            return np.zeros(size) if one.heads == 1 else 1.0 - np.eye(size)
        rows = self.facts[number].rows(predicate.removeprefix(NEGATED))
        table = np.zeros([int(self.sizes[types[variables.index(head)]][number]) for head in range(one.heads)])
        for place, head in enumerate(variables):  # a variable that occurs twice wants equal constants
            rows = rows[rows[:, place] == rows[:, variables.index(head)]]
        table[tuple(rows[:, variables.index(head)] for head in range(one.heads))] = 1.0 if len(rows) else 0.0
        return 1.0 - table if predicate.startswith(NEGATED) else table

    def _split(self, one: Rooted, types: dict[int, str]) -> Split | None:
        """Choose the variable that is summed out last: with the smallest tables on the way."""
        if one in self._splits:
            return self._splits[one]
        found, least = None, np.inf
        for last in range(one.heads, len(types)):
            split = _split_by(one, last)
            tables = [tuple(types[head] for head in own) for _, own in split.parts]
            largest = max(self._cells(names) for names in tables)
            work = self._cells((*(types[head] for head in range(one.heads)), types[last]))
            # Of two tables the product is never written down, of three that of the first two is.
            most = MOST_WORK if sum(len(names) > 1 for names in tables) < 3 else MOST_CELLS
            if largest <= MOST_CELLS and work <= most and (cost := largest + 0.1 * work) < least:
                found, least = split, cost
        if found is None and len(types) > one.heads:
            raise TablesTooLarge
        self._splits[one] = found
        return found

    def _cells(self, types: tuple[str, ...]) -> float:
        cells = np.ones(len(self.facts))
        for type_ in types:
            cells = cells * self.sizes[type_]
        return float(cells.sum())


def _split_by(one: Rooted, last: int) -> Split:
    heads = frozenset((*range(one.heads), last))
    parts = []
    for members in group_linked_atoms(heads, one.atoms):
        own = tuple(sorted(heads & {v for _, variables in members for v in variables}))
        parts.append((root_atoms(own, members), own))
    return Split(last, tuple(parts))


def _sum_out_variable(parts: Sequence[tuple[Numbers, tuple[int, ...]]], last: int, heads: int) -> Numbers:
    """Return the sum over one variable of a product of tables, with axes for the heads in order."""
    alone = [table for table, variables in parts if variables == (last,)]
    tables = sorted((part for part in parts if part[1] != (last,)), key=lambda part: part[0].size)
    if alone:
        vector = alone[0]
        for other in alone[1:]:
            vector = vector * other
        if not tables:
            return np.asarray(vector.sum())
        table, variables = tables[0]
        if len(tables) == 1:
            return _order_axes(
                np.tensordot(table, vector, (variables.index(last), 0)), variables, last, heads
            )
        tables[0] = _product(table, variables, vector, (last,), variables), variables
    while len(tables) > 2:
        (left, own), (right, others) = tables[:2]
        both = tuple(dict.fromkeys((*own, *others)))
        tables[:2] = [(_product(left, own, right, others, both), both)]
    if len(tables) == 1:
        return _order_axes(tables[0][0].sum(axis=tables[0][1].index(last)), tables[0][1], last, heads)
    (left, own), (right, others) = tables
    if set(own) & set(others) == {last}:
        return _multiply_tables(tables[0], tables[1], last, heads)
    return _product(left, own, right, others, tuple(range(heads)))


def _multiply_tables(
    one: tuple[Numbers, tuple[int, ...]], other: tuple[Numbers, tuple[int, ...]], last: int, heads: int
) -> Numbers:
    """Return the product of two tables with no head in common as one of matrices, zeros left out."""
    from mlnlab.kernels.lift.clause_newton import add_products

    (left, own), (right, others) = one, other
    left, right = np.moveaxis(left, own.index(last), -1), np.moveaxis(right, others.index(last), 0)
    variables = tuple(v for v in (*own, *others) if v != last)
    shape = (*left.shape[:-1], *right.shape[1:])
    rows = left.reshape(prod(left.shape[:-1]), left.shape[-1])  # also where a type has no constants
    columns = right.reshape(right.shape[0], prod(right.shape[1:]))
    by_left = np.count_nonzero(rows) * columns.shape[1]
    by_right = np.count_nonzero(columns) * len(rows)
    if _DENSE * min(by_left, by_right) > rows.size * columns.shape[1]:
        return _order_axes((rows @ columns).reshape(shape), variables, last, heads)
    found = np.zeros((len(rows), columns.shape[1]) if by_left <= by_right else (columns.shape[1], len(rows)))
    if by_left <= by_right:
        add_products(np.ascontiguousarray(rows), np.ascontiguousarray(columns), found)
    else:
        add_products(np.ascontiguousarray(columns.T), np.ascontiguousarray(rows.T), found)
        found = found.T
    return _order_axes(found.reshape(shape), variables, last, heads)


def _order_axes(table: Numbers, variables: tuple[int, ...], last: int, heads: int) -> Numbers:
    left = [variable for variable in variables if variable != last]
    return np.transpose(table, [left.index(head) for head in range(heads)])


def _product(
    left: Numbers, own: tuple[int, ...], right: Numbers, others: tuple[int, ...], kept: tuple[int, ...]
) -> Numbers:
    """Return the product of two tables, summed over the variables that are not kept."""
    one, other, found = ("".join(chr(ord("a") + v) for v in names) for names in (own, others, kept))
    return np.asarray(np.einsum(f"{one},{other}->{found}", left, right))
