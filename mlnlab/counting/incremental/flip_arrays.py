"""The arrays of the kernel that follows flips: programs, and the room for relations and counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.counting.incremental.flip_programs import Compiler, Program, key_strides

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mlnlab.counting.incremental.views import View
    from mlnlab.kernels.counting.changing_relations import Programs, Store

    _Array = NDArray[Any]

_LARGE = 1 << 62
_START = 64  # flips and counts for which there is room at first


def programs_of(compiler: Compiler, views: Sequence[View], kind: type) -> Programs:
    """Return compiled programs as the kernel reads them."""
    from mlnlab.kernels.counting.changing_relations import Programs

    relations = compiler.relations
    columns = max([1, *(len(relation.sizes) for relation in relations)])
    programs = [program for found in compiler.programs for program in found]
    first = np.concatenate([[0], np.cumsum([len(found) for found in compiler.programs])]).astype(np.int64)
    # Each view has an index more, of its counts; these come last.
    starts = np.concatenate([[0], np.cumsum([len(relation.indexes) for relation in relations])])
    indexes = int(starts[-1])
    strides = np.zeros((indexes + len(views) + 1, columns), np.int64)
    members = np.zeros(strides.shape, bool)
    static = np.zeros(len(strides), bool)
    links = np.zeros(len(strides), np.int64)
    for relation in relations:
        for number, own in enumerate(relation.indexes):
            index = int(starts[relation.number]) + number
            strides[index, : len(relation.sizes)] = key_strides(relation.sizes, own)
            members[index, list(own)] = True
            static[index], links[index] = relation.listed is not None, number
    sizes = np.ones((len(relations), columns), np.int64)
    for relation in relations:
        sizes[relation.number, : len(relation.sizes)] = relation.sizes
    table = np.zeros((max(1, len(views)), 4), np.int64)
    for number, view in enumerate(views):
        threshold = view.threshold
        # < and <= tip where >= and > do, and != where = does.
        more = threshold.bound + (threshold.relation in {">", "<="})
        equal = int(threshold.relation in {"=", "!="})
        bound = more if -_LARGE < more < _LARGE else (_LARGE if more > 0 else -_LARGE)
        table[number] = (compiler.by_name[view.predicate.name].number, indexes + number, equal, bound)
    deep = [any(program.target < 0 for program in found) for found in compiler.programs]
    usual: _Array = np.array([view.usual for view in views] or [0], kind)
    return Programs(
        first,
        *_by_program(programs, columns, kind),
        *_by_state(programs, [int(start) for start in starts], columns),
        strides, members, links, starts.astype(np.int64), sizes, static, table, usual, np.array(deep, bool),
    )  # fmt: skip


def _by_program(
    programs: Sequence[Program], columns: int, kind: type
) -> tuple[_Array, _Array, _Array, _Array, _Array, _Array]:
    """Return targets, coefficients, arguments, keys of counts, first states, lookups and their numbers."""
    number = max(1, len(programs))
    arguments, out = np.full((number, columns), -1, np.int64), np.full((number, columns), -1, np.int64)
    start, lookups = np.zeros(number, np.int64), np.zeros((number, 2), np.int64)
    states = looked_up = 0
    for place, program in enumerate(programs):
        arguments[place, : len(program.arguments)] = program.arguments
        out[place, : len(program.out)] = program.out
        start[place] = states
        lookups[place] = (looked_up, len(program.lookups))
        states += len(program.states)
        looked_up += len(program.lookups)
    targets = np.array([program.target for program in programs] or [0], np.int64)
    coefficients: _Array = np.array([program.coefficients for program in programs] or [(0, 0)], kind)
    return targets, coefficients, arguments, out, start, lookups


def _by_state(
    programs: Sequence[Program], starts: Sequence[int], columns: int
) -> tuple[_Array, _Array, _Array, _Array, _Array]:
    """Return, by state and lookup, the next state, the index, whether it is plain; then lookups' patterns."""
    number = max(1, sum(len(program.states) for program in programs))
    width = max([1, *(len(program.lookups) for program in programs)])
    follows, index = np.full((number, width), -1, np.int64), np.zeros((number, width), np.int64)
    plain = np.zeros((number, width), bool)
    patterns = [lookup.pattern for program in programs for lookup in program.lookups]
    pattern_table = np.full((max(1, len(patterns)), columns), -1, np.int64)
    alike = np.tile(np.arange(columns), (max(1, len(patterns)), 1))
    base = 0
    for program in programs:
        for state, open_ones in enumerate(program.states, base):
            for place, one in open_ones.items():
                follows[state, place] = base + one.follows
                index[state, place] = starts[program.lookups[place].relation] + one.index
                plain[state, place] = one.plain
        base += len(program.states)
    for place, pattern in enumerate(patterns):
        pattern_table[place, : len(pattern)] = pattern
        alike[place, : len(pattern)] = [pattern.index(one) for one in pattern]
    return follows, index, plain, pattern_table, alike.astype(np.int64)


def new_store(programs: Programs, chains: int, formulas: int, rows: int, counts: int, kind: type) -> Store:
    """Return empty relations with room for the given numbers of rows and counts."""
    from mlnlab.kernels.counting.changing_relations import FREE, Store

    links = int(programs.links.max()) + 1
    entries = 1 << max(8, (4 * (rows * links + counts)).bit_length())
    slots = max(16, rows + rows // 4)
    depth = programs.follows.shape[1] + 1
    variables = 1 + max(
        int(programs.arguments.max()), int(programs.patterns.max()), int(programs.out.max()), 0
    )
    cursor = np.zeros(13, np.int64)
    cursor[FREE] = slots
    return Store(
        np.full(entries, -1, np.int64), np.zeros(entries, np.int64), np.full(entries, -1, np.int32),
        np.zeros(entries, kind), np.zeros(entries, kind), np.zeros(entries, bool),
        np.zeros((slots, programs.strides.shape[1]), np.uint32), np.zeros((slots, links), np.int32),
        np.zeros((slots, links), np.int32), np.arange(slots, dtype=np.int32)[::-1].copy(),
        np.zeros((_START, 2), np.int64), np.zeros(_START, kind), np.zeros((_START, 2), np.int64),
        np.zeros((_START, 2), np.int64), np.zeros((_START, 2), np.int64), np.zeros(_START, kind),
        np.zeros(formulas, kind), cursor, np.zeros((chains, formulas), kind), np.zeros(formulas, kind),
        np.zeros(variables, np.int64), np.zeros((depth, 3), np.int64), np.zeros(depth, kind),
    )  # fmt: skip


def with_buffer(store: Store) -> Store:
    """Return the store with room for twice as many changes of counts by one flip."""
    return store._replace(buffer=_double_array(store.buffer), amounts=_double_array(store.amounts))


def with_queue(store: Store) -> Store:
    """Return the store with room for twice as many flips that follow from one."""
    return store._replace(waiting=_double_array(store.waiting), queue=_double_array(store.queue))


def with_log(store: Store) -> Store:
    """Return the store with room for twice as many things that one flip has done."""
    return store._replace(made=_double_array(store.made), made_amounts=_double_array(store.made_amounts))


def with_rows(store: Store) -> Store:
    """Return the store with room for twice as many rows."""
    from mlnlab.kernels.counting.changing_relations import FREE

    slots = len(store.rows)
    free = np.zeros(2 * slots, np.int32)
    free[:slots] = np.arange(slots, 2 * slots)[::-1]  # no old slot is free
    cursor = store.cursor.copy()  # where there is no memory, the store stays as it is
    cursor[FREE] = slots
    return store._replace(
        rows=_double_array(store.rows), following=_double_array(store.following),
        previous=_double_array(store.previous),
        free=free, cursor=cursor,
    )  # fmt: skip


def with_table(store: Store) -> Store:
    """Return the store with an empty table twice as large."""
    entries = 2 * len(store.owner)
    kind = store.number.dtype
    return store._replace(
        owner=np.full(entries, -1, np.int64), key=np.zeros(entries, np.int64),
        head=np.full(entries, -1, np.int32), number=np.zeros(entries, kind),
        before=np.zeros(entries, kind), touched=np.zeros(entries, bool), cursor=store.cursor.copy(),
    )  # fmt: skip


def copy_store(store: Store) -> Store:
    """Return a copy that goes its own way."""
    changing = {name: getattr(store, name).copy() for name in store._fields}
    return store._replace(**changing)


def _double_array(array: NDArray[Any]) -> NDArray[Any]:
    return np.concatenate([array, np.zeros_like(array)])
