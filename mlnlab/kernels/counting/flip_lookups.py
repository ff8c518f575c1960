"""Bind a flipped row by lookups in changing relations, from state to state of a program.

A walk stops where there is no room to note a binding, or after as much work as it was given; it goes on from
there when it is called again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mlnlab.kernels.compiled import compiled, inlined
from mlnlab.kernels.counting.changing_relations import (
    BUFFERED,
    DEPTH,
    LEFT,
    STATE,
    Programs,
    Store,
    place_of,
    smallest,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Whole = NDArray[np.int64]

DONE, BUFFER_FULL, TABLE_FULL, ROWS_FULL, QUEUE_FULL, LOG_FULL, PAUSED = range(7)  # why a kernel returns


@inlined
def match_row(programs: Programs, store: Store, program: int, relation: int, key: int) -> bool:
    """Bind a program's variables to the flipped row; return whether it fits."""
    rest = key
    columns = programs.sizes.shape[1]
    for column in range(columns - 1, -1, -1):
        constant = rest % programs.sizes[relation, column]
        rest //= programs.sizes[relation, column]
        wanted = programs.arguments[program, column]
        if wanted >= 0:
            store.values[wanted] = constant
        elif -1 - wanted != constant:
            return False
    rest = key
    for column in range(columns - 1, -1, -1):  # a variable in two columns has been bound twice
        constant = rest % programs.sizes[relation, column]
        rest //= programs.sizes[relation, column]
        wanted = programs.arguments[program, column]
        if wanted >= 0 and store.values[wanted] != constant:
            return False
    return True


@inlined
def _note(programs: Programs, store: Store, program: int, amount: Any) -> bool:  # noqa: ANN401
    """Note a binding's amount for its formula or view; return whether there was room."""
    target = programs.target[program]
    if target >= 0:
        store.change[target] += amount
        return True
    noted = store.cursor[BUFFERED]
    if noted == len(store.buffer):
        return False
    key = 0
    relation = programs.views[-1 - target, 0]
    for column in range(programs.sizes.shape[1]):
        wanted = programs.out[program, column]
        constant = store.values[wanted] if wanted >= 0 else -1 - wanted
        key = key * programs.sizes[relation, column] + constant
    store.buffer[noted, 0] = -1 - target
    store.buffer[noted, 1] = key
    store.amounts[noted] = amount
    store.cursor[BUFFERED] += 1
    return True


# Reading a field of a tuple of arrays costs as much as a lookup: the loop reads each once, and passes it on.


@inlined
def _choose_lookup(
    follows: Whole, asked: Whole, patterns: Whole, strides: Whole, members: NDArray[np.bool_],
    static: NDArray[np.bool_], owners: Whole, keys: Whole, numbers: NDArray[Any], values: Whole,
    base: int, state: int, shift: int,
) -> tuple[int, int]:  # fmt: skip
    """Return the open lookup with fewest rows, and its entry; -1, 0 where one has none, -1, -1 at the end."""
    best, entry, lookup, empty = -1, -1, 0, False
    while lookup < follows.shape[1] and not empty:
        if follows[state, lookup] >= 0:
            index, key = asked[state, lookup], 0
            for column in range(strides.shape[1]):
                if members[index, column]:
                    wanted = patterns[base + lookup, column]
                    constant = values[wanted] if wanted >= 0 else -1 - wanted
                    key += constant * strides[index, column]
            place = place_of(owners, keys, index + (0 if static[index] else shift), key)
            empty = owners[place] < 0 or numbers[place] == 0
            if best < 0 or numbers[place] < numbers[entry]:
                best, entry = lookup, place
        lookup += 1
    return (-1, 0) if empty else (best, entry)


@inlined
def _bound(
    patterns: Whole, alike: Whole, members: NDArray[np.bool_], rows: NDArray[np.uint32], values: Whole,
    lookup: int, index: int, slot: int,
) -> bool:  # fmt: skip
    """Bind the open columns of a lookup to a row; return whether it fits."""
    fits = True
    for column in range(members.shape[1]):
        wanted = patterns[lookup, column]
        if wanted >= 0 and not members[index, column]:
            fits = fits and rows[slot, column] == rows[slot, alike[lookup, column]]
            values[wanted] = rows[slot, column]
    return fits


@inlined
def _next_row(
    follows: Whole, asked: Whole, links: Whole, following: NDArray[np.int32], patterns: Whole, alike: Whole,
    members: NDArray[np.bool_], rows: NDArray[np.uint32], values: Whole, states: Whole, cursor: Whole,
    base: int, depth: int,
) -> tuple[int, int]:  # fmt: skip
    """Bind the next row of the deepest lookup that has one; return its depth, or 0, and the next state."""
    state, found = -1, False
    while depth > 0 and not found:
        slot = states[depth - 1, 2]
        cursor[LEFT] -= 1
        if slot < 0:
            depth -= 1
            continue
        before, lookup = states[depth - 1, 0], states[depth - 1, 1]
        index = asked[before, lookup]
        states[depth - 1, 2] = following[slot, links[index]]
        found = _bound(patterns, alike, members, rows, values, base + lookup, index, slot)
        state = follows[before, lookup]
    return depth, state


@compiled
def follow_bindings(programs: Programs, store: Store, program: int, amount: Any, shift: int) -> int:  # noqa: ANN401
    """Go through the bindings that go with the flipped row; return why it stopped."""
    follows, asked, plain, patterns = programs.follows, programs.asked, programs.plain, programs.patterns
    alike, strides, members = programs.alike, programs.strides, programs.members
    static, links, values, rows = programs.static, programs.links, store.values, store.rows
    owners, keys, numbers, heads = store.owner, store.key, store.number, store.head
    following, states, products, cursor = store.following, store.states, store.products, store.cursor
    depth, state, product, base = 0, programs.start[program], amount, programs.lookups[program, 0]
    if cursor[DEPTH] >= 0:  # it goes on
        depth, state, product = cursor[DEPTH], cursor[STATE], products[len(products) - 1]
        cursor[DEPTH] = -1
    while True:
        while True:  # as deep as it goes
            status = DONE if cursor[LEFT] > 0 else PAUSED
            cursor[LEFT] -= 1
            lookup, entry = _choose_lookup(
                follows, asked, patterns, strides, members, static, owners, keys, numbers, values,
                base, state, shift,
            )  # fmt: skip
            if status == DONE and lookup < 0 and entry < 0 and not _note(programs, store, program, product):
                status = BUFFER_FULL
            if status != DONE:
                cursor[DEPTH], cursor[STATE], products[len(products) - 1] = depth, state, product
                return status
            if lookup < 0:
                break
            if not plain[state, lookup]:
                states[depth, 0], states[depth, 1], states[depth, 2] = state, lookup, heads[entry]
                products[depth] = product
                depth += 1
                break
            product = product * numbers[entry]
            state = follows[state, lookup]
        depth, state = _next_row(
            follows, asked, links, following, patterns, alike, members, rows, values, states, cursor,
            base, depth,
        )  # fmt: skip
        if depth == 0:
            return DONE
        product = products[depth - 1]


def warm_up() -> None:
    """Compile every kernel of this file."""
    programs, store = smallest()
    follow_bindings(programs, store, 0, 1, 0)
