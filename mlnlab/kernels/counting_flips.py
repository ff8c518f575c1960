"""Counts that follow the flips of single atoms: lookups in relations that change.

A flip first looks, then makes sure that there is room, then writes. Where there is no room, the kernel
returns what is too small, and goes on from where it was when it is called again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mlnlab.kernels.changing_relations import (
    BACK,
    BUFFERED,
    ENTRIES,
    FREE,
    HEAD,
    ITEM,
    STARTED,
    TAIL,
    TOUCHED,
    Programs,
    Store,
    entry_of,
    flip_row,
    place_of,
    smallest,
)
from mlnlab.kernels.compiled import compiled, inlined

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Whole = NDArray[np.int64]

DONE, BUFFER_FULL, TABLE_FULL, ROWS_FULL, QUEUE_FULL = range(5)
AT_LEAST, EQUAL = range(2)


@inlined
def _matched(programs: Programs, store: Store, program: int, relation: int, key: int) -> bool:
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
def _noted(programs: Programs, store: Store, program: int, amount: Any) -> bool:  # noqa: ANN401
    """Note what a binding adds to its formula or view; return whether there was room."""
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
def _chosen(
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


@compiled
def _followed(programs: Programs, store: Store, program: int, amount: Any, shift: int) -> bool:  # noqa: ANN401
    """Go through the bindings that go with the flipped row; return whether there was room to note them."""
    follows, asked, plain, patterns = programs.follows, programs.asked, programs.plain, programs.patterns
    alike, strides, members = programs.alike, programs.strides, programs.members
    static, links, values, rows = programs.static, programs.links, store.values, store.rows
    owners, keys, numbers, heads = store.owner, store.key, store.number, store.head
    following, states, products = store.following, store.states, store.products
    depth, state, product, base = 0, programs.start[program], amount, programs.lookups[program, 0]
    while True:
        while True:  # as deep as it goes
            lookup, entry = _chosen(
                follows, asked, patterns, strides, members, static, owners, keys, numbers, values,
                base, state, shift,
            )  # fmt: skip
            if lookup < 0:
                if entry < 0 and not _noted(programs, store, program, product):
                    return False
                break
            if not plain[state, lookup]:
                states[depth, 0], states[depth, 1], states[depth, 2] = state, lookup, heads[entry]
                products[depth] = product
                depth += 1
                break
            product = product * numbers[entry]
            state = follows[state, lookup]
        found = False
        while depth > 0 and not found:  # the next row of the deepest lookup that has one
            slot = states[depth - 1, 2]
            if slot < 0:
                depth -= 1
                continue
            state, lookup, product = states[depth - 1, 0], states[depth - 1, 1], products[depth - 1]
            index = asked[state, lookup]
            states[depth - 1, 2] = following[slot, links[index]]
            found = _bound(patterns, alike, members, rows, values, base + lookup, index, slot)
            state = follows[state, lookup]
        if not found:
            return True


@inlined
def _flipped(
    programs: Programs, store: Store, relation: int, key: int, chain: int, writing: bool
) -> int:  # fmt: skip
    """Work out what one flip changes and, where asked to, write it down; return what is too small."""
    shift = chain * len(programs.strides)
    first = programs.indexes[relation]
    own = place_of(store.owner, store.key, first + (0 if programs.static[first] else shift), key)
    true = 1 if store.owner[own] >= 0 and store.number[own] != 0 else 0
    store.change[:] = 0
    store.cursor[BUFFERED] = 0
    for program in range(programs.first[relation], programs.first[relation + 1]):
        if _matched(programs, store, program, relation, key):
            amount = programs.coefficients[program, true]
            if not _followed(programs, store, program, amount, shift):
                return BUFFER_FULL
    if not writing:
        return DONE
    new = store.cursor[BUFFERED] + programs.indexes[relation + 1] - first
    if 2 * (store.cursor[ENTRIES] + new) > len(store.owner):
        return TABLE_FULL
    if store.cursor[FREE] == 0:
        return ROWS_FULL
    if store.cursor[TOUCHED] + store.cursor[BUFFERED] > len(store.waiting):
        return QUEUE_FULL
    for noted in range(store.cursor[BUFFERED]):
        view, its_key = store.buffer[noted, 0], store.buffer[noted, 1]
        place = entry_of(store, programs.views[view, 1] + shift, its_key)
        if not store.touched[place]:
            store.touched[place] = True
            store.before[place] = store.number[place]
            store.waiting[store.cursor[TOUCHED], 0] = view
            store.waiting[store.cursor[TOUCHED], 1] = its_key
            store.cursor[TOUCHED] += 1
        store.number[place] += store.amounts[noted]
    flip_row(programs, store, relation, key, chain)
    return DONE


@inlined
def _holds(programs: Programs, view: int, count: Any) -> bool:  # noqa: ANN401 - a whole number of any kind
    number, bound = programs.usual[view] + count, programs.views[view, 3]
    if programs.views[view, 2] == AT_LEAST:
        return bool(number >= bound)
    return bool((number == bound) == (programs.views[view, 2] == EQUAL))


@inlined
def _queued(programs: Programs, store: Store, chain: int) -> bool:
    """Queue the flips of the lowest view that was touched; return whether there was room."""
    cursor = store.cursor
    lowest = store.waiting[0, 0]
    for place in range(1, cursor[TOUCHED]):
        lowest = min(lowest, store.waiting[place, 0])
    if cursor[TOUCHED] > len(store.queue):
        return False
    kept = 0
    cursor[HEAD] = 0
    cursor[TAIL] = 0
    for place in range(cursor[TOUCHED]):
        view, key = store.waiting[place, 0], store.waiting[place, 1]
        if view != lowest:
            store.waiting[kept, 0], store.waiting[kept, 1] = view, key
            kept += 1
            continue
        entry = place_of(store.owner, store.key, programs.views[view, 1] + chain * len(programs.strides), key)
        store.touched[entry] = False
        if _holds(programs, view, store.before[entry]) != _holds(programs, view, store.number[entry]):
            store.queue[cursor[TAIL], 0], store.queue[cursor[TAIL], 1] = programs.views[view, 0], key
            cursor[TAIL] += 1
    cursor[TOUCHED] = kept
    return True


@compiled
def flipped(
    programs: Programs, store: Store, chains: Whole, relations: Whole, keys: Whole, changing: bool,
    changes: NDArray[Any],
) -> int:  # fmt: skip
    """Flip atoms one after the other, or only find what each flip alone would change.

    Where a flip may change a view, it is made and taken back. Returns ``DONE`` or what is too small; then the
    same call goes on.
    """
    cursor = store.cursor
    while cursor[ITEM] < len(keys):
        item = cursor[ITEM]
        chain, relation = chains[item], relations[item]
        writing = changing or programs.deep[relation]
        if cursor[STARTED] == 0:
            store.queue[0, 0], store.queue[0, 1] = relation, keys[item]
            cursor[HEAD] = 0
            cursor[TAIL] = 1
            cursor[STARTED] = 1
        while cursor[HEAD] < cursor[TAIL] or cursor[TOUCHED] > 0:
            if cursor[HEAD] == cursor[TAIL]:
                if not _queued(programs, store, chain):
                    return QUEUE_FULL
                continue
            head = cursor[HEAD]
            status = _flipped(programs, store, store.queue[head, 0], store.queue[head, 1], chain, writing)
            if status != DONE:
                return status
            for formula in range(len(store.change)):
                if writing:
                    store.totals[chain, formula] += store.change[formula]
                if cursor[BACK] == 0:
                    changes[item, formula] += store.change[formula]
            cursor[HEAD] += 1
        cursor[STARTED] = 0
        if writing and not changing and cursor[BACK] == 0:
            cursor[BACK] = 1
        else:
            cursor[BACK] = 0
            cursor[ITEM] += 1
    return DONE


def warm_up() -> None:
    """Compile every kernel of this file."""
    import numpy as np

    programs, store = smallest()
    zero = np.zeros(1, np.int64)
    flipped(programs, store, zero, zero, zero, True, np.zeros((1, 1), np.int64))
