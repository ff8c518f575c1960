"""Store relations that change row by row, and the counts that follow them.

All relations lie in one hash table. An entry belongs to an index (a relation and some of its columns) and a
key (the constants in these columns, as one number); it has the number of rows with that key and the first of
them, from which they are linked. Counts of quantities are entries without rows. Entries stay when they become
empty, so nothing moves while a flip is worked out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mlnlab.kernels.compiled import compiled, inlined

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Whole = NDArray[np.int64]

# Of the cursor: where the kernel is, how much it still does before it returns, and what the store has.
ITEM, STARTED, HEAD, TAIL, TOUCHED, BUFFERED, MADE, PROGRAM, DEPTH, STATE, LEFT, ENTRIES, FREE = range(13)


class Programs(NamedTuple):
    """The programs of lookups after a flip of each relation; they never change.

    A program starts from the flipped row, whose columns bind or match ``arguments`` (a variable's number, or
    -1 minus a constant's). Its states say which of its lookups are open; in a state a lookup has an index,
    and a state that follows. ``plain`` lookups bind nothing that is asked for later: their rows are counted.
    """

    first: Whole  # program of each relation
    target: Whole  # a formula, or -1 minus a view
    coefficients: NDArray[Any]  # for false and for true atoms
    arguments: Whole
    out: Whole  # the key of a view's count, by columns
    start: Whole  # state
    lookups: Whole  # the first of each program, and their number
    follows: Whole  # by state and lookup; -1: not open
    asked: Whole  # index, by state and lookup
    plain: NDArray[np.bool_]
    patterns: Whole
    alike: Whole  # the first column of a lookup with the same variable
    strides: Whole  # by index and column
    members: NDArray[np.bool_]
    links: Whole  # by index: which one it is of its relation's
    indexes: Whole  # the first index of each relation; it has all columns
    sizes: Whole  # by relation and column, 1 beyond its arity
    static: NDArray[np.bool_]  # by index: the same for every chain
    views: Whole  # relation, count index, comparison, bound, by view
    usual: NDArray[Any]  # count of each view where none is listed
    deep: NDArray[np.bool_]  # by relation: a flip may change a view


class Store(NamedTuple):
    """The relations and counts of all chains, and work arrays."""

    owner: Whole  # index of an entry, -1 where there is none
    key: Whole
    head: NDArray[np.int32]
    number: NDArray[Any]  # of rows, or the count itself
    before: NDArray[Any]  # number of a touched entry before the flip
    touched: NDArray[np.bool_]
    rows: NDArray[np.uint32]
    following: NDArray[np.int32]
    previous: NDArray[np.int32]
    free: NDArray[np.int32]
    buffer: Whole  # view and key
    amounts: NDArray[Any]
    waiting: Whole  # touched counts: view and key
    queue: Whole  # flips: relation and key
    made: Whole  # by the flip at work: relation and key of a row, or -1 minus a view and key of a count
    made_amounts: NDArray[Any]  # added to counts
    made_change: NDArray[Any]  # of the totals
    cursor: Whole
    totals: NDArray[Any]  # by chain and formula
    change: NDArray[Any]
    values: Whole  # of variables
    states: Whole  # by depth: state, lookup, slot
    products: NDArray[Any]  # by depth; the last is of a pause


@inlined
def place_of(owners: Whole, keys: Whole, owner: int, key: int) -> int:
    """Return the place of an entry, or where it would be put."""
    last = np.uint64(len(owners) - 1)
    mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(owner) * np.uint64(0xC2B2AE3D27D4EB4F)
    place = (mixed ^ (mixed >> np.uint64(29))) & last
    while owners[place] >= 0 and (owners[place] != owner or keys[place] != key):
        place = (place + np.uint64(1)) & last
    return np.int64(place)  # type: ignore[return-value]


@inlined
def entry_of(store: Store, owner: int, key: int) -> int:
    """Return the place of an entry, made where there was none."""
    place = place_of(store.owner, store.key, owner, key)
    if store.owner[place] < 0:
        store.owner[place] = owner
        store.key[place] = key
        store.head[place] = -1
        store.number[place] = 0
        store.touched[place] = False
        store.cursor[ENTRIES] += 1
    return place


@compiled
def move_entries(old: Store, new: Store) -> None:
    """Copy all entries that are not empty into a larger table."""
    new.cursor[ENTRIES] = 0
    for place in range(len(old.owner)):
        if old.owner[place] >= 0 and (old.number[place] != 0 or old.touched[place]):
            there = entry_of(new, old.owner[place], old.key[place])
            new.head[there] = old.head[place]
            new.number[there] = old.number[place]
            new.before[there] = old.before[place]
            new.touched[there] = old.touched[place]


@inlined
def flip_row(programs: Programs, store: Store, relation: int, key: int, chain: int) -> None:
    """Put a row in, or take it out; there is room."""
    shift = chain * len(programs.strides)
    first, last = programs.indexes[relation], programs.indexes[relation + 1]
    own = place_of(store.owner, store.key, first + (0 if programs.static[first] else shift), key)
    if store.owner[own] >= 0 and store.number[own] != 0:
        _take_out(programs, store, relation, store.head[own], shift)
        return
    store.cursor[FREE] -= 1
    slot = store.free[store.cursor[FREE]]
    rest = key
    for column in range(programs.sizes.shape[1] - 1, -1, -1):
        store.rows[slot, column] = rest % programs.sizes[relation, column]
        rest //= programs.sizes[relation, column]
    for index in range(first, last):
        partial = 0
        for column in range(programs.strides.shape[1]):
            partial += np.int64(store.rows[slot, column]) * programs.strides[index, column]
        place = entry_of(store, index + (0 if programs.static[index] else shift), partial)
        head = store.head[place]
        store.following[slot, index - first] = head
        store.previous[slot, index - first] = -1
        if head >= 0:
            store.previous[head, index - first] = slot
        store.head[place] = slot
        store.number[place] += 1


@inlined
def _take_out(programs: Programs, store: Store, relation: int, slot: int, shift: int) -> None:
    first, last = programs.indexes[relation], programs.indexes[relation + 1]
    for index in range(first, last):
        partial = 0
        for column in range(programs.strides.shape[1]):
            partial += np.int64(store.rows[slot, column]) * programs.strides[index, column]
        place = place_of(store.owner, store.key, index + (0 if programs.static[index] else shift), partial)
        after, before = store.following[slot, index - first], store.previous[slot, index - first]
        if before >= 0:
            store.following[before, index - first] = after
        else:
            store.head[place] = after
        if after >= 0:
            store.previous[after, index - first] = before
        store.number[place] -= 1
    store.free[store.cursor[FREE]] = slot
    store.cursor[FREE] += 1


@inlined
def log(store: Store, what: int, key: int, amount: Any) -> None:  # noqa: ANN401 - of any kind
    """Record a change by the flip at work, so that it can be taken back; there is room."""
    place = store.cursor[MADE]
    store.made[place, 0] = what
    store.made[place, 1] = key
    store.made_amounts[place] = amount
    store.cursor[MADE] += 1


@compiled
def taken_back(programs: Programs, store: Store, chain: int) -> None:
    """Take back all that the flip at work has done so far, last things first; that needs no new room."""
    shift = chain * len(programs.strides)
    for place in range(store.cursor[MADE] - 1, -1, -1):
        what, key = store.made[place, 0], store.made[place, 1]
        if what >= 0:
            flip_row(programs, store, what, key, chain)
        else:
            entry = entry_of(store, programs.views[-1 - what, 1] + shift, key)
            store.number[entry] -= store.made_amounts[place]
    for place in range(store.cursor[TOUCHED]):
        owner = programs.views[store.waiting[place, 0], 1] + shift
        store.touched[place_of(store.owner, store.key, owner, store.waiting[place, 1])] = False
    for formula in range(len(store.made_change)):
        store.totals[chain, formula] -= store.made_change[formula]
        store.made_change[formula] = 0
    store.cursor[MADE] = 0
    store.cursor[TOUCHED] = 0


@compiled
def put_rows(programs: Programs, store: Store, relation: int, keys: Whole, chain: int) -> None:
    """Put many rows in; there is room."""
    for place in range(len(keys)):
        flip_row(programs, store, relation, keys[place], chain)


@compiled
def note_counts(store: Store, owner: int, keys: Whole, counts: NDArray[Any]) -> None:
    """Note many counts; there is room."""
    for place in range(len(keys)):
        store.number[entry_of(store, owner, keys[place])] = counts[place]


def smallest() -> tuple[Programs, Store]:
    """Return one relation of one possible row, which no formula speaks of."""
    one, row = np.zeros(1, np.int64), np.zeros((1, 1), np.int64)
    no, numbers, pair = np.zeros(1, bool), np.zeros(1, np.int32), np.zeros((1, 2), np.int64)
    programs = Programs(
        np.zeros(2, np.int64), one, pair, row, row, one, pair, row, row, np.zeros((1, 1), bool), row, row,
        np.ones((1, 1), np.int64), np.ones((1, 1), bool), one, np.array([0, 1]), row + 1, no,
        np.zeros((1, 4), np.int64), one, no,
    )  # fmt: skip
    links = np.zeros((1, 1), np.int32)
    store = Store(
        np.full(8, -1, np.int64), np.zeros(8, np.int64), np.zeros(8, np.int32), np.zeros(8, np.int64),
        np.zeros(8, np.int64), np.zeros(8, bool), np.zeros((1, 1), np.uint32), links, links.copy(), numbers,
        pair.copy(), one.copy(), pair.copy(), pair.copy(), pair.copy(), one.copy(), one.copy(),
        np.zeros(13, np.int64), row.copy(), one.copy(), one.copy(), np.zeros((1, 3), np.int64), one.copy(),
    )  # fmt: skip
    store.cursor[FREE] = 1
    return programs, store


def warm_up() -> None:
    """Compile every kernel of this file."""
    programs, store = smallest()
    zero = np.zeros(1, np.int64)
    put_rows(programs, store, 0, zero, 0)
    note_counts(store, 1, zero, zero)
    move_entries(store, smallest()[1])
    taken_back(programs, store, 0)
