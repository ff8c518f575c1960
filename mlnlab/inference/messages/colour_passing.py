"""Colour passing: which choices and factors of a graph send and receive the same messages, whatever happens.

Kersting, Ahmadi and Natarajan, Counting belief propagation (2009): a choice tells its factors its
colour, a factor tells its choices a colour that says what it heard and in which places, and choices that
heard the same get the same colour; until no colour splits. Then one of each colour stands for all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, pairwise, permutations
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.kernels.messages.sum_product_graph import Factors, make_read_only

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]


_FEW = 5  # axes of a table whose orders are all tried


@dataclass(frozen=True, eq=False)
class Places:
    """The input of colour passing: the factor, choice and kind of place of each edge.

    Edges of clauses come first, then those of tables; places of one kind in a clause can be exchanged.
    """

    factors: Numbers
    choices: Numbers
    kinds: Numbers
    factor_kinds: Numbers  # of each clause, and behind them each table: equal where they compute the same
    options: Numbers  # of each choice


@dataclass(frozen=True, eq=False)
class Colours:
    """The colour of each choice and of each factor, and of each edge the class of its messages."""

    choices: Numbers
    factors: Numbers
    messages: Numbers


def places_of(graph: Factors) -> Places:
    """Return the edges of a graph with their kinds."""
    starts, table_starts = _wide(graph.clause_starts), _wide(graph.table_starts)
    clauses, tables = len(starts) - 1, len(table_starts) - 1
    value_starts = _wide(graph.value_starts)
    options = value_starts[1:] - value_starts[:-1]
    choices = np.concatenate([_wide(graph.clause_choices), _wide(graph.table_choices)])
    factors = np.concatenate([
        np.repeat(np.arange(clauses), starts[1:] - starts[:-1]),
        clauses + np.repeat(np.arange(tables), table_starts[1:] - table_starts[:-1]),
    ])  # fmt: skip
    masks = _mask_kinds(graph, options)
    forms, axes = _table_forms(graph, options)
    kinds = np.concatenate([masks, int(masks.max(initial=-1)) + 1 + axes])
    _, of_clauses = np.unique(graph.log_if_falsified, return_inverse=True)
    factor_kinds = np.concatenate([of_clauses, int(of_clauses.max(initial=-1)) + 1 + forms])
    return Places(factors, choices, kinds, factor_kinds.astype(np.int64), options)


def _mask_kinds(graph: Factors, options: Numbers) -> Numbers:
    """Return a number for each edge of a clause, equal where the same options falsify it."""
    starts, sizes = graph.bit_starts.tolist(), options[_wide(graph.clause_choices)].tolist()
    numbers: dict[bytes, int] = {}
    bits = graph.bits.tobytes()
    found = [
        numbers.setdefault(bits[start : start + size], len(numbers))
        for start, size in zip(starts, sizes, strict=True)
    ]
    return np.array(found, np.int64)


def _table_forms(graph: Factors, options: Numbers) -> tuple[Numbers, Numbers]:
    """Return a number for each table, equal where only the order of axes differs, and for each axis."""
    starts, sizes = _wide(graph.table_starts).tolist(), options[_wide(graph.table_choices)].tolist()
    cells, known = graph.cell_starts.tolist(), dict[tuple[object, ...], tuple[bytes, tuple[int, ...]]]()
    numbers: dict[tuple[object, ...], int] = {}
    forms, axes = [], list[int]()
    for table, (first, last) in enumerate(pairwise(starts)):
        shape = tuple(sizes[first:last])
        key = (cells[table], shape)
        if key not in known:
            begin = cells[table]
            bits = graph.cells[begin : begin + prod(shape)].reshape(shape)
            known[key] = _form(bits)
        form, order = known[key]
        worth = (float(graph.log_if_true[table]), float(graph.log_if_false[table]))
        forms.append(numbers.setdefault((form, *worth), len(numbers)))
        axes += order
    return np.array(forms, np.int64), np.array(axes, np.int64)


def _form(bits: NDArray[np.uint8]) -> tuple[bytes, tuple[int, ...]]:
    """Return a table with its axes in an order of its own, and for each axis which one it is there.

    Axes that can be exchanged are one. Of more than a few axes, only those that can be exchanged are found.
    """
    number = bits.ndim
    orders = permutations(range(number)) if number <= _FEW else (tuple(range(number)),)

    def read(order: tuple[int, ...]) -> tuple[tuple[int, ...], bytes]:
        return tuple(bits.shape[axis] for axis in order), bits.transpose(order).tobytes()

    best = min(orders, key=read)
    ordered = bits.transpose(best)
    first_alike = list(range(number))
    for one, other in combinations(range(number), 2):
        if first_alike[other] == other and np.array_equal(ordered, ordered.swapaxes(one, other)):
            first_alike[other] = first_alike[one]
    places = {axis: first_alike[place] for place, axis in enumerate(best)}
    shape, text = read(best)
    return repr(shape).encode() + text, tuple(places[axis] for axis in range(number))


def first_colours(places: Places) -> Numbers:
    """Give choices with equally many options one colour."""
    _, colours = np.unique(places.options, return_inverse=True)
    return colours.astype(np.int64)


def passed_on(places: Places, colours: Numbers) -> Colours:
    """Let colours go from choices to factors and back, once."""
    keys = _number_pairs(places.kinds, colours[places.choices])
    factors = _signatures(places.factors, keys, places.factor_kinds)
    messages = _number_pairs(factors[places.factors], keys)
    return Colours(_signatures(places.choices, messages, colours), factors, messages)


def settled_colours(graph: Factors) -> Numbers:
    """Return the colours of the choices when none splits any more."""
    places = places_of(graph)
    colours, number = first_colours(places), 0
    while (found := int(colours.max(initial=-1)) + 1) > number:
        colours, number = passed_on(places, colours).choices, found
    return colours


def _number_pairs(one: Numbers, other: Numbers) -> Numbers:
    """Return a number for each pair, equal where the pairs are."""
    _, found = np.unique(one * (int(other.max(initial=0)) + 1) + other, return_inverse=True)
    return np.asarray(found, np.int64)


def _signatures(owners: Numbers, keys: Numbers, own: Numbers) -> Numbers:
    """Return a number for each owner, equal where it and the keys of its edges, with repetitions, are."""
    order = np.lexsort((keys, owners))
    degrees = np.bincount(owners, minlength=len(own))
    starts = np.concatenate([[0], np.cumsum(degrees)])
    ordered, found, taken = keys[order], np.zeros(len(own), np.int64), 0
    for degree in np.unique(degrees).tolist():
        members = np.flatnonzero(degrees == degree)
        edges = ordered[starts[members][:, None] + np.arange(degree)]
        rows = np.column_stack([own[members], edges])
        _, numbers = np.unique(rows, axis=0, return_inverse=True)
        found[members] = taken + numbers.ravel()
        taken += int(numbers.max()) + 1
    return found


# --- the graph of colours -------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Compressed:
    """A graph with one choice and one factor for each colour, and where ground messages are in it."""

    graph: Factors
    clause_places: Numbers  # of each ground clause edge, the edge that stands for it
    table_places: Numbers  # of each number that ground tables send, its place
    value_places: Numbers  # of each option of each choice


def compress_graph(graph: Factors, places: Places, colours: Colours) -> Compressed:
    """Return the graph in which one of each colour stands for all of them, with counts on its edges."""
    clauses = len(graph.if_falsified)
    _, choice_heads = np.unique(colours.choices, return_index=True)
    _, factor_heads = np.unique(colours.factors, return_index=True)
    heads = np.sort(factor_heads)
    of_clauses, of_tables = heads[heads < clauses], heads[heads >= clauses] - clauses
    kept = np.flatnonzero(np.isin(places.factors, heads))
    edges = len(graph.clause_choices)
    counts = _counts(places, colours, kept, choice_heads)
    clause_edges, table_edges = kept[kept < edges], kept[kept >= edges] - edges
    renumbered = colours.choices[places.choices]
    sizes = places.options[choice_heads]
    told = places.options[places.choices[edges + table_edges]]
    small = Factors(
        _words(_sums(sizes)), _words(_sums(_sizes(graph.clause_starts)[of_clauses])),
        _words(renumbered[clause_edges]), _words(_wide(graph.bit_starts)[clause_edges]), graph.bits,
        make_read_only(graph.if_falsified[of_clauses]), make_read_only(graph.log_if_falsified[of_clauses]),
        make_read_only(counts[kept < edges]),
        _words(_sums(_sizes(graph.table_starts)[of_tables])), _words(renumbered[edges + table_edges]),
        _words(_wide(graph.strides)[table_edges]), _words(_sums(told)), make_read_only(counts[kept >= edges]),
        _words(_wide(graph.cell_starts)[of_tables]), graph.cells,
        _words(_wide(graph.table_sizes)[of_tables]), make_read_only(graph.if_true[of_tables]),
        make_read_only(graph.if_false[of_tables]), make_read_only(graph.log_if_true[of_tables]),
        make_read_only(graph.log_if_false[of_tables]),
    )  # fmt: skip
    return _with_places(graph, small, colours, kept)


def _counts(places: Places, colours: Colours, kept: Numbers, heads: Numbers) -> NDArray[np.float64]:
    """Return how often a choice of a colour gets an edge's message; of equal edges the first counts."""
    classes = int(colours.messages.max(initial=-1)) + 1
    head_of = heads[colours.choices[places.choices]]  # the choice that stands for this one
    at_head = places.choices == head_of
    number = np.bincount(colours.messages[at_head], minlength=classes)
    _, first = np.unique(colours.messages[kept], return_index=True)
    found = np.zeros(len(kept))
    found[first] = number[colours.messages[kept[first]]]
    return found


def _with_places(graph: Factors, small: Factors, colours: Colours, kept: Numbers) -> Compressed:
    """Find for each ground message the one that stands for it."""
    edges, small_edges = len(graph.clause_choices), len(small.clause_choices)
    classes, first = np.unique(colours.messages[kept], return_index=True)
    where = np.zeros(int(classes.max(initial=-1)) + 1, np.int64)
    where[classes] = first
    standing = where[colours.messages]
    told, small_told = _wide(graph.message_starts), _wide(small.message_starts)
    sizes = told[1:] - told[:-1]
    begins = small_told[standing[edges:] - small_edges] if len(sizes) else np.zeros(0, np.int64)
    table_places = np.arange(int(told[-1])) + np.repeat(begins - told[:-1], sizes)
    values, small_values = _wide(graph.value_starts), _wide(small.value_starts)
    shift = small_values[:-1][colours.choices] - values[:-1]
    value_places = np.arange(int(values[-1])) + np.repeat(shift, values[1:] - values[:-1])
    return Compressed(small, standing[:edges], table_places, value_places)


def _wide(numbers: NDArray[Any]) -> Numbers:
    return numbers.astype(np.int64)


def _words(numbers: NDArray[Any]) -> NDArray[np.uint32]:
    return make_read_only(np.ascontiguousarray(numbers, np.uint32))


def _sizes(starts: NDArray[Any]) -> Numbers:
    wide = _wide(starts)
    return np.asarray(wide[1:] - wide[:-1])


def _sums(sizes: Numbers) -> Numbers:
    return np.concatenate([[0], np.cumsum(sizes)])
