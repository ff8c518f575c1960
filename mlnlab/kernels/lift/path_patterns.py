"""Variabilised paths as arrays: their canonical form, and a table of them.

A path is a row of numbers for each atom: its predicate, then its variables, -1 where it has no more places.
Predicates are numbered by name, so that the canonical forms are those of
:mod:`mlnlab.structure.paths.variabilized`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mlnlab.kernels.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Rows = NDArray[np.int16]
    Numbers = NDArray[np.int64]
    Number = int | np.integer[Any]


class Paths(NamedTuple):
    """Paths of one length, and slots that lead from a path's hash to its row; -1 where a slot is empty."""

    rows: Rows
    slots: Numbers


class Naming(NamedTuple):
    """Room for finding a canonical form: at each place, the names given to variables before it."""

    atoms: Rows
    names: Numbers
    counts: Numbers
    named: Numbers
    order: Numbers
    best_order: Numbers
    tried: Numbers
    used: Numbers


@compiled
def naming(length: Number, width: Number) -> Naming:
    """Return room for the canonical form of paths of up to some length."""
    variables = length * width
    return Naming(
        np.empty((length, width), np.int16),
        np.empty((length + 1, variables), np.int64),
        np.zeros(length + 1, np.int64),
        np.empty((length, length, width), np.int64),
        np.empty(length, np.int64),
        np.empty(length, np.int64),
        np.empty(length, np.int64),
        np.zeros(length, np.int64),
    )


@compiled
def canonical(path: Rows, best: Rows, room: Naming) -> None:
    """Write the smallest way to put a path down into ``best``: only ties are gone through.

    ``room.best_order`` says which of the atoms, sorted by predicate, stands in each place of it.
    """
    length = len(path)
    _sort(path, room.atoms)
    for variable in range(room.names.shape[1]):
        room.names[0, variable] = -1
    for unused in range(length):
        room.used[unused] = 0
    place = np.int64(0)
    valid = _open(room, best, place, np.int64(0), length)
    while place >= 0:
        atom = _next_tie(room, best, place, length)
        if atom < 0:
            place -= 1
            if place >= 0:
                room.used[room.order[place]] = 0
            continue
        room.order[place] = atom
        if place + 1 == length:
            copy_row(room.order[:length], room.best_order)
        else:
            _name(room, place, atom)
            room.used[atom] = 1
            place += 1
            valid = _open(room, best, place, valid, length)


@compiled
def _sort(path: Rows, sorted_: Rows) -> None:
    """Write the atoms in the order of their predicates."""
    for place in range(len(path)):
        to = place
        while to > 0 and sorted_[to - 1, 0] > path[place, 0]:
            copy_row(sorted_[to - 1], sorted_[to])
            to -= 1
        copy_row(path[place], sorted_[to])


@compiled
def copy_row(row: Any, into: Any) -> None:  # noqa: ANN401 - rows of any numbers
    """Copy a row number by number: numpy's code for it takes seconds to compile."""
    for column in range(len(row)):
        into[column] = row[column]


@compiled
def _open(room: Naming, best: Rows, place: Number, valid: Number, length: Number) -> Number:
    """Find the smallest atom that can come next; return how many rows of ``best`` are valid now."""
    smallest = np.int64(-1)
    for atom in range(length):
        if room.used[atom] == 0 and room.atoms[atom, 0] == room.atoms[place, 0]:
            _rename(room, place, atom)
            if smallest < 0 or _compare_rows(room.named[place, atom], room.named[place, smallest]) < 0:
                smallest = np.int64(atom)
    comparison = -1 if place >= valid else _compare_rows(room.named[place, smallest], best[place])
    room.tried[place] = length if comparison > 0 else -1
    if comparison >= 0:
        return valid
    for column in range(best.shape[1]):
        best[place, column] = room.named[place, smallest, column]
    return place + 1


@compiled
def _rename(room: Naming, place: Number, atom: Number) -> None:
    """Write an atom with the names that variables have; those without one get the next."""
    names, named, row = room.names[place], room.named[place, atom], room.atoms[atom]
    named[0] = row[0]
    count = room.counts[place]
    for column in range(1, len(row)):
        name = np.int64(-1)
        if row[column] >= 0:
            name = names[row[column]]
            earlier = 1
            while name < 0 and earlier < column:
                if row[earlier] == row[column]:
                    name = named[earlier]
                earlier += 1
            if name < 0:
                name = count
                count += 1
        named[column] = name


@compiled
def _compare_rows(left: Any, right: Any) -> Number:  # noqa: ANN401 - rows of two kinds of numbers
    for column in range(len(left)):
        if left[column] != right[column]:
            return -1 if left[column] < right[column] else 1
    return 0


@compiled
def _next_tie(room: Naming, best: Rows, place: Number, length: Number) -> Number:
    """Return the next atom that is as small as the smallest in its place; -1 where there is none."""
    for atom in range(room.tried[place] + 1, length):
        room.tried[place] = atom
        if (
            room.used[atom] == 0
            and room.atoms[atom, 0] == best[place, 0]
            and _compare_rows(room.named[place, atom], best[place]) == 0
        ):
            return atom
    room.tried[place] = length
    return -1


@compiled
def _name(room: Naming, place: Number, atom: Number) -> None:
    """Let the variables of the atom in a place have the names that they got there."""
    copy_row(room.names[place], room.names[place + 1])
    count = room.counts[place]
    for column in range(1, room.atoms.shape[1]):
        if room.atoms[atom, column] >= 0:
            name = room.named[place, atom, column]
            room.names[place + 1, room.atoms[atom, column]] = name
            count = max(count, name + 1)
    room.counts[place + 1] = count


# --- a table --------------------------------------------------------------------------------------


@compiled
def slot_of(path: Rows, paths: Paths) -> Number:
    """Return the slot of a path, or the empty one where it would be."""
    mixed = np.uint64(14695981039346656037)
    for atom in range(path.shape[0]):
        for column in range(path.shape[1]):
            mixed = (mixed ^ np.uint64(path[atom, column] + 1)) * np.uint64(1099511628211)
    mask = len(paths.slots) - 1
    slot = np.int64((mixed ^ (mixed >> np.uint64(29))) & np.uint64(mask))
    while paths.slots[slot] >= 0 and not _is_same(path, paths.rows[paths.slots[slot]]):
        slot = (slot + 1) & mask
    return slot


@compiled
def _is_same(left: Rows, right: Rows) -> bool:
    for atom in range(left.shape[0]):
        for column in range(left.shape[1]):
            if left[atom, column] != right[atom, column]:
                return False
    return True


@compiled
def fill_slots(paths: Paths, number: Number) -> None:
    """Let the slots lead to the first rows, which are all different."""
    paths.slots[:] = -1
    for row in range(number):
        paths.slots[slot_of(paths.rows[row], paths)] = row


def warm_up() -> None:
    """Compile every kernel of this file."""
    rows = np.array([[[0, 0, 1], [0, 1, 2]]], np.int16)
    best, room = np.empty((2, 3), np.int16), naming(2, 3)
    canonical(rows[0], best, room)
    fill_slots(Paths(rows, np.empty(4, np.int64)), 1)
