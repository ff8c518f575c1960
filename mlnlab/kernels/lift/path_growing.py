"""All variabilised paths that have one atom more than known ones, each once.

The arrays are those of :mod:`mlnlab.kernels.lift.path_patterns`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mlnlab.kernels.compiled import compiled
from mlnlab.kernels.lift.path_patterns import Paths, canonical, copy_row, fill_slots, naming, slot_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.kernels.lift.path_patterns import Naming, Rows

    Numbers = NDArray[np.int64]
    Number = int | np.integer[Any]


class Predicates(NamedTuple):
    """The number of places of each predicate, and the type of each of its places."""

    arities: Numbers
    types: Numbers


@compiled
def grow(
    shorter: Paths, number: Number, first: Number, predicates: Predicates,
    grown: Paths, known: Number, chosen: Numbers,
) -> tuple[Number, Number, Number]:  # fmt: skip
    """Add an atom to the shorter paths from the first on; new paths go into the table of grown ones.

    ``chosen`` gets the rows of those whose connected parts are all among the shorter ones. Returns the next
    shorter path, how many grown ones are known now, and how many were chosen; a path after which room was
    short is the next once more, and what it led to is known by then.
    """
    length, width = shorter.rows.shape[1] + 1, shorter.rows.shape[2]
    path, best = np.empty((length, width), np.int16), np.empty((length, width), np.int16)
    types, added = np.empty(length * width, np.int64), np.empty(width, np.int64)
    room, some = naming(length, width), np.int64(0)
    for row in range(first, number):
        for atom in range(length - 1):
            copy_row(shorter.rows[row, atom], path[atom])
        variables = _types_of(shorter.rows[row], predicates, types)
        for predicate in range(len(predicates.arities)):
            place = _begin(path, predicate, added)
            while place >= 0:
                place = _next_atom(path, place, variables, predicates, types, added)
                if place < 0 or not _is_new(path, variables):
                    continue
                if known == len(grown.rows) or 2 * known >= len(grown.slots) or some == len(chosen):
                    return row, known, some
                canonical(path, best, room)
                slot = slot_of(best, grown)
                if grown.slots[slot] < 0:
                    for atom in range(length):
                        copy_row(best[atom], grown.rows[known, atom])
                    grown.slots[slot] = known
                    if _has_known_parts(best, shorter, room):
                        chosen[some] = known
                        some += 1
                    known += 1
    return number, known, some


@compiled
def _types_of(path: Rows, predicates: Predicates, types: Numbers) -> Number:
    """Write the types of a path's variables, and return how many there are."""
    variables = np.int64(0)
    for atom in range(path.shape[0]):
        for place in range(predicates.arities[path[atom, 0]]):
            types[path[atom, place + 1]] = predicates.types[path[atom, 0], place]
            variables = max(variables, np.int64(path[atom, place + 1]) + 1)
    return variables


@compiled
def _begin(path: Rows, predicate: Number, added: Numbers) -> Number:
    """Put the predicate into the last atom, whose variables are all still to come."""
    last = path[len(path) - 1]
    for column in range(1, len(last)):
        last[column] = -1
    last[0] = predicate
    added[0] = 0
    return np.int64(0)


@compiled
def _next_atom(
    path: Rows, place: Number, variables: Number, predicates: Predicates, types: Numbers, added: Numbers
) -> Number:
    """Go to the next variables of the last atom; return its last place, or -1 where all were gone through.

    A place takes each variable of its type, also those that are new in this atom, and one more that is new.
    """
    atom = path[len(path) - 1]
    predicate = atom[0]
    while place >= 0:
        atom[place + 1] += 1
        variable = np.int64(atom[place + 1])
        unused = variables + added[place]
        if variable > unused:
            atom[place + 1] = -1
            place -= 1
            continue
        if variable == unused:
            types[variable] = predicates.types[predicate, place]
        elif types[variable] != predicates.types[predicate, place]:
            continue
        if place + 1 == predicates.arities[predicate]:
            return place
        added[place + 1] = added[place] + (variable == unused)
        place += 1
    return np.int64(-1)


@compiled
def _is_new(path: Rows, variables: Number) -> bool:
    """Return whether the last atom shares a variable with the others, and is none of them."""
    last = path[len(path) - 1]
    shares = False
    for column in range(1, len(last)):
        shares |= 0 <= last[column] < variables
    if not shares:
        return False
    for atom in range(len(path) - 1):
        same = True
        for column in range(len(last)):
            same &= path[atom, column] == last[column]
        if same:
            return False
    return True


@compiled
def _has_known_parts(path: Rows, shorter: Paths, room: Naming) -> bool:
    """Return whether all connected paths with one atom less are known, as any embedded path needs."""
    length, width = path.shape
    part, best = np.empty((length - 1, width), np.int16), np.empty((length - 1, width), np.int16)
    for without in range(length):
        leave_out(path, without, part)
        if is_connected(part):
            canonical(part, best, room)
            if shorter.slots[slot_of(best, shorter)] < 0:
                return False
    return True


@compiled
def leave_out(path: Rows, without: Number, part: Rows) -> None:
    """Write the atoms of a path but one."""
    for atom in range(len(part)):
        copy_row(path[atom + (atom >= without)], part[atom])


@compiled
def is_connected(path: Rows) -> bool:
    """Return whether the atoms are linked with each other by shared variables."""
    linked = np.zeros(len(path), np.uint8)
    linked[0] = 1
    number, before = 1, 0
    while before < number:
        before = number
        for atom in range(len(path)):
            for other in range(len(path)):
                if linked[atom] == 0 and linked[other] != 0 and _share(path[atom], path[other]):
                    linked[atom] = 1
                    number += 1
    return number == len(path)


@compiled
def _share(left: Any, right: Any) -> bool:  # noqa: ANN401 - rows of a path
    for column in range(1, len(left)):
        for other in range(1, len(right)):
            if left[column] >= 0 and left[column] == right[other]:
                return True
    return False


def warm_up() -> None:
    """Compile every kernel of this file."""
    shorter = Paths(np.array([[[0, 0, 1]]], np.int16), np.empty(2, np.int64))
    fill_slots(shorter, 1)
    grown = Paths(np.empty((20, 2, 3), np.int16), np.full(64, -1, np.int64))
    predicates = Predicates(np.array([2]), np.zeros((1, 2), np.int64))
    grow(shorter, 1, 0, predicates, grown, 0, np.empty(20, np.int64))
