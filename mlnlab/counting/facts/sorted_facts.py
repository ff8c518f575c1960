"""Hold the true atoms of a world as sorted arrays, with the indexes computed from each array.

The indexes (degrees, adjacency, bits, selections) belong to the array of true atoms itself: a side table
forgets them together with the array. Databases that share a relation share its indexes, and a changed
relation is another array.
"""

from __future__ import annotations

import weakref
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.counting.facts.renumbering import renumber_tables
from mlnlab.errors import ArgumentError
from mlnlab.logic.formulas.ground_atoms import GroundAtom
from mlnlab.logic.relations import frozen, no_rows, sorted_rows
from mlnlab.logic.vocabulary import FrozenMapping, Vocabulary

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from mlnlab.model.database.database import Database
    from mlnlab.model.database.world import World


# An argument position of an atom: the number of a variable, or -1 - the number of a constant.
Pattern = tuple[int, ...]

_EMPTY = tuple(no_rows(arity) for arity in range(8))


@dataclass(frozen=True, slots=True, eq=False)
class Facts:
    """The true ground atoms of a world, closed: a sorted array of constant numbers for each predicate."""

    vocabulary: Vocabulary
    tables: Mapping[str, NDArray[np.uint32]]

    def rows(self, predicate: str) -> NDArray[np.uint32]:
        """Return the true atoms of a predicate, sorted, each once, a column for each argument."""
        found = self.tables.get(predicate)
        if found is not None:
            return found
        arity = self.vocabulary[predicate].arity
        return _EMPTY[arity] if arity < len(_EMPTY) else no_rows(arity)

    def size(self, type_: str) -> int:
        """Return the number of constants of a type."""
        return len(self.vocabulary.domain(type_))


def facts_of(world: Database | World | Facts, vocabulary: Vocabulary | None = None) -> Facts:
    """Return the true atoms of a database or world; atoms not listed as true are false.

    A vocabulary may be given that has all of the world's constants, as :meth:`MLN.expand` returns it.
    """
    # Loaded here: most that counts needs facts, and no files of them.
    from mlnlab.model.database.database import Database
    from mlnlab.model.database.world import World

    if isinstance(world, Facts):
        tables = world.tables
    elif isinstance(world, Database):
        tables = {name: relation.true for name, relation in world.relations.items()}
    elif isinstance(world, World):
        tables = _tables_of_world(world)
    else:
        raise ArgumentError(f"Formulas are counted in a Database or a World, not in {type(world).__name__}.")
    if vocabulary is None or vocabulary is world.vocabulary:
        return world if isinstance(world, Facts) else Facts(world.vocabulary, tables)
    return Facts(vocabulary, renumber_tables(tables, world.vocabulary, vocabulary))


def _tables_of_world(world: World) -> dict[str, NDArray[np.uint32]]:
    numbers: dict[str, list[tuple[int, ...]]] = {}
    for predicate, arguments in world.true_atoms:
        domains = map(world.vocabulary.domain, world.vocabulary[predicate].types)
        try:
            row = tuple(domain.number(name) for domain, name in zip(domains, arguments, strict=True))
        except (KeyError, ValueError):
            raise ArgumentError(
                f"{GroundAtom(predicate, arguments)} is not an atom of this world's vocabulary: it needs"
                f" constants of {world.vocabulary[predicate]}."
            ) from None
        numbers.setdefault(predicate, []).append(row)
    return {
        name: sorted_rows(np.array(rows, np.uint32).reshape(len(rows), world.vocabulary[name].arity))
        for name, rows in numbers.items()
    }


def facts_from_tables(vocabulary: Vocabulary, tables: Mapping[str, NDArray[np.uint32]]) -> Facts:
    """Return facts from arrays of constant numbers in any order."""
    return Facts(vocabulary, FrozenMapping({name: sorted_rows(rows) for name, rows in tables.items()}))


# --- what is kept beside an array ---------------------------------------------------------------


class Index:
    """Memo tables of one array of rows; the array itself is passed in, so that it can be forgotten."""

    __slots__ = ("adjacencies", "bits", "degrees", "selections")

    def __init__(self) -> None:
        """Start with nothing computed."""
        self.selections: dict[Pattern, NDArray[np.uint32]] = {}
        self.degrees: dict[tuple[int, int], NDArray[np.int64]] = {}
        self.adjacencies: dict[tuple[int, int], Adjacency] = {}
        self.bits: dict[tuple[int, int, int], NDArray[np.uint64]] = {}


@dataclass(frozen=True, slots=True, eq=False)
class Adjacency:
    """Rows of a binary table grouped by one column: the others of c are targets[starts[c]:starts[c + 1]]."""

    starts: NDArray[np.uint32]
    targets: NDArray[np.uint32]


_Indexes = dict[int, tuple["weakref.ref[NDArray[np.uint32]]", Index]]
_INDEXES: _Indexes = {}


def index_of(rows: NDArray[np.uint32]) -> Index:
    """Return the memo tables that belong to an array of rows; they live as long as it does."""
    key = id(rows)
    entry = _INDEXES.get(key)
    if entry is not None and entry[0]() is rows:
        return entry[1]
    index = Index()

    def forget(dead: weakref.ref[NDArray[np.uint32]], kept: _Indexes = _INDEXES) -> None:
        # Another array may have taken the place in memory, and so the number, of the one that is gone.
        found = kept.get(key)
        if found is not None and found[0] is dead:
            del kept[key]

    _INDEXES[key] = (weakref.ref(rows, forget), index)
    return index


def select_rows(rows: NDArray[np.uint32], pattern: Pattern) -> NDArray[np.uint32]:
    """Return the rows that fit a pattern, a column for each of its different variables.

    >>> rows = np.array([[0, 0], [0, 1], [1, 1]], np.uint32)
    >>> select_rows(rows, (0, 0)).tolist(), select_rows(rows, (-1, 0)).tolist()
    ([[0], [1]], [[0], [1]])
    """
    kept = index_of(rows).selections
    found = kept.get(pattern)
    if found is None:
        found = kept[pattern] = _select(rows, pattern)
    return found


def _select(rows: NDArray[np.uint32], pattern: Pattern) -> NDArray[np.uint32]:
    fits = np.ones(len(rows), bool)
    first: dict[int, int] = {}
    for column, wanted in enumerate(pattern):
        if wanted < 0:
            fits &= rows[:, column] == -1 - wanted
        elif wanted in first:
            fits &= rows[:, column] == rows[:, first[wanted]]
        else:
            first[wanted] = column
    return frozen(rows[fits][:, list(first.values())])


def degrees(rows: NDArray[np.uint32], column: int, size: int) -> NDArray[np.int64]:
    """Return how many rows have each constant in a column."""
    kept = index_of(rows).degrees
    found = kept.get((column, size))
    if found is None:
        from mlnlab.kernels.counting.true_tuples import tally

        counted = np.zeros(size, np.int64)
        tally(rows, column, counted)
        found = kept[column, size] = counted
    return found


def adjacency(rows: NDArray[np.uint32], column: int, size: int) -> Adjacency:
    """Return the other column of a binary table, grouped by one column and sorted within each group."""
    kept = index_of(rows).adjacencies
    found = kept.get((column, size))
    if found is None:
        starts = np.zeros(size + 1, np.uint32)
        np.cumsum(degrees(rows, column, size), out=starts[1:], dtype=np.uint32)
        if column == 0:
            targets = np.ascontiguousarray(rows[:, 1])
        else:
            from mlnlab.kernels.counting.true_tuples import transpose_rows

            targets = transpose_rows(rows, starts)
        starts.flags.writeable = targets.flags.writeable = False
        found = kept[column, size] = Adjacency(starts, targets)
    return found


def bit_rows(rows: NDArray[np.uint32], column: int, size: int, width: int) -> NDArray[np.uint64]:
    """Return a binary table as bits: bit t of row c says that (c, t), or (t, c), is among the rows."""
    kept = index_of(rows).bits
    found = kept.get((column, size, width))
    if found is None:
        from mlnlab.kernels.counting.true_tuples import set_bits

        found = np.zeros((size, (width + 63) // 64), np.uint64)
        set_bits(rows, column, found)
        found.flags.writeable = False
        kept[column, size, width] = found
    return found
