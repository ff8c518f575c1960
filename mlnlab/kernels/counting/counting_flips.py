"""Counts that follow the flips of single atoms.

A flip first looks, then makes sure that there is room, then writes. Where there is no room, or after as much
work as it was given, the kernel returns, and goes on from where it was when it is called again. What a flip
has done is written down until it is complete, so that it can be taken back where it is not to be completed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mlnlab.kernels.compiled import compiled, inlined
from mlnlab.kernels.counting.changing_relations import (
    BUFFERED,
    DEPTH,
    ENTRIES,
    FREE,
    HEAD,
    ITEM,
    LEFT,
    MADE,
    PROGRAM,
    STARTED,
    TAIL,
    TOUCHED,
    Programs,
    Store,
    entry_of,
    flip_row,
    log,
    place_of,
    smallest,
    taken_back,
)
from mlnlab.kernels.counting.flip_lookups import (
    DONE,
    LOG_FULL,
    PAUSED,
    QUEUE_FULL,
    ROWS_FULL,
    TABLE_FULL,
    follow_bindings,
    match_row,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Whole = NDArray[np.int64]

AT_LEAST, EQUAL = range(2)


@inlined
def _compute_flip(
    programs: Programs, store: Store, relation: int, key: int, chain: int, writing: bool
) -> int:  # fmt: skip
    """Compute the changes by one flip and, where ``writing``, apply them; return why it stopped."""
    cursor = store.cursor
    shift = chain * len(programs.strides)
    first = programs.indexes[relation]
    own = place_of(store.owner, store.key, first + (0 if programs.static[first] else shift), key)
    true = 1 if store.owner[own] >= 0 and store.number[own] != 0 else 0
    if cursor[PROGRAM] < 0:
        cursor[PROGRAM] = programs.first[relation]
        cursor[BUFFERED] = 0
        store.change[:] = 0
    while cursor[PROGRAM] < programs.first[relation + 1]:
        program = cursor[PROGRAM]
        if cursor[DEPTH] >= 0 or match_row(programs, store, program, relation, key):
            status = follow_bindings(programs, store, program, programs.coefficients[program, true], shift)
            if status != DONE:
                return status
        cursor[PROGRAM] += 1
    if writing:
        new = cursor[BUFFERED] + programs.indexes[relation + 1] - first
        if 2 * (cursor[ENTRIES] + new) > len(store.owner):
            return TABLE_FULL
        if cursor[FREE] == 0:
            return ROWS_FULL
        if cursor[TOUCHED] + cursor[BUFFERED] > len(store.waiting):
            return QUEUE_FULL
        if cursor[MADE] + cursor[BUFFERED] + 1 > len(store.made):
            return LOG_FULL
        _write_flip(programs, store, relation, key, chain)
    cursor[PROGRAM] = -1
    return DONE


@inlined
def _write_flip(programs: Programs, store: Store, relation: int, key: int, chain: int) -> None:
    """Apply the noted changes to the counts, then flip the row itself; there is room."""
    shift = chain * len(programs.strides)
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
        log(store, -1 - view, its_key, store.amounts[noted])
    flip_row(programs, store, relation, key, chain)
    log(store, relation, key, 0)
    store.cursor[LEFT] -= store.cursor[BUFFERED]


@inlined
def _holds(programs: Programs, view: int, count: Any) -> bool:  # noqa: ANN401 - a whole number of any kind
    number, bound = programs.usual[view] + count, programs.views[view, 3]
    if programs.views[view, 2] == AT_LEAST:
        return bool(number >= bound)
    return bool((number == bound) == (programs.views[view, 2] == EQUAL))


@inlined
def _queue_flips(programs: Programs, store: Store, chain: int) -> bool:
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
def flip_atoms(
    programs: Programs, store: Store, chains: Whole, relations: Whole, keys: Whole, changing: bool,
    changes: NDArray[Any],
) -> int:  # fmt: skip
    """Flip atoms one after the other, or only compute the changes that each flip alone would cause.

    Where a flip may change a view, it is made and taken back. Returns ``DONE`` or why it stopped; then the
    same call goes on.
    """
    cursor = store.cursor
    while cursor[ITEM] < len(keys):
        item = cursor[ITEM]
        chain, relation = chains[item], relations[item]
        writing = changing or programs.deep[relation]
        if cursor[LEFT] <= 0:
            return PAUSED
        cursor[LEFT] -= 1
        if cursor[STARTED] == 0:
            store.queue[0, 0], store.queue[0, 1] = relation, keys[item]
            cursor[HEAD] = 0
            cursor[TAIL] = 1
            cursor[PROGRAM] = -1
            cursor[DEPTH] = -1
            cursor[STARTED] = 1
        while cursor[HEAD] < cursor[TAIL] or cursor[TOUCHED] > 0:
            if cursor[HEAD] == cursor[TAIL]:
                if not _queue_flips(programs, store, chain):
                    return QUEUE_FULL
                continue
            head = cursor[HEAD]
            status = _compute_flip(
                programs, store, store.queue[head, 0], store.queue[head, 1], chain, writing
            )
            if status != DONE:
                return status
            for formula in range(len(store.change)):
                changes[item, formula] += store.change[formula]
                if writing:
                    store.totals[chain, formula] += store.change[formula]
                    store.made_change[formula] += store.change[formula]
            cursor[HEAD] += 1
        if writing and not changing:
            taken_back(programs, store, chain)
        cursor[STARTED] = 0
        cursor[MADE] = 0
        store.made_change[:] = 0
        cursor[ITEM] += 1
    return DONE


def warm_up() -> None:
    """Compile every kernel of this file."""
    import numpy as np

    programs, store = smallest()
    zero = np.zeros(1, np.int64)
    flip_atoms(programs, store, zero, zero, zero, True, np.zeros((1, 1), np.int64))
