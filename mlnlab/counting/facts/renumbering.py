"""Facts brought into another vocabulary: the same constants, perhaps more, perhaps numbered otherwise.

Everything that counts goes by numbers, so facts of one vocabulary read in another would silently be other
facts. Here they are looked at once: where the numbers agree nothing is done, where they differ rows are
renumbered, and constants that the other vocabulary lacks are refused by name.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.errors import ArgumentError
from mlnlab.logic.relations import sorted_rows
from mlnlab.logic.vocabulary import Domain, NamedDomain, Vocabulary

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray


# Of two domains, the new number of each old one, or None where all stay.
_KNOWN: OrderedDict[tuple[int, int], tuple[Domain, Domain, NDArray[np.uint32] | None]] = OrderedDict()
_MOST_KNOWN = 256
_SHOWN = 3


def renumber_tables(
    tables: Mapping[str, NDArray[np.uint32]], own: Vocabulary, wanted: Vocabulary
) -> Mapping[str, NDArray[np.uint32]]:
    """Return tables of one vocabulary with the numbers of another one, which has all of its constants."""
    if own is wanted:
        return tables
    for type_ in own.types:
        if type_ in wanted.types:
            numbers_in(own.domain(type_), wanted.domain(type_), type_)
    found: dict[str, NDArray[np.uint32]] = {}
    for name, rows in tables.items():
        if name not in wanted.predicates:
            continue
        types = own[name].types
        if types != wanted[name].types:
            raise ArgumentError(
                f"{own[name]} is declared as {wanted[name]} where it is counted; give both one declaration."
            )
        columns = [numbers_in(own.domain(type_), wanted.domain(type_), type_) for type_ in types]
        found[name] = rows if all(new is None for new in columns) else _renumber_rows(rows, columns)
    return found


def _renumber_rows(rows: NDArray[np.uint32], columns: list[NDArray[np.uint32] | None]) -> NDArray[np.uint32]:
    moved = [rows[:, place] if new is None else new[rows[:, place]] for place, new in enumerate(columns)]
    return sorted_rows(np.stack(moved, axis=1))


def numbers_in(own: Domain, wanted: Domain, type_: str) -> NDArray[np.uint32] | None:
    """Return the number in the wanted domain of each constant of the own one; ``None`` where all agree."""
    if own is wanted:
        return None
    key = (id(own), id(wanted))
    known = _KNOWN.get(key)
    if known is None:  # the domains are kept too, so that their ids stay theirs
        known = _KNOWN[key] = (own, wanted, _numbers_in(own, wanted, type_))
        if len(_KNOWN) > _MOST_KNOWN:
            _KNOWN.popitem(last=False)
    return known[2]


def _numbers_in(own: Domain, wanted: Domain, type_: str) -> NDArray[np.uint32] | None:
    if _begins_with(wanted, own):
        return None
    missing = [name for name in own if name not in wanted][: _SHOWN + 1]
    if missing:
        listed = ", ".join(missing[:_SHOWN]) + (", ..." if len(missing) > _SHOWN else "")
        raise ArgumentError(
            f"The facts know constants of type {type_} that are not known where they are counted: {listed}."
            " Prepare the formula with the vocabulary of these facts, or with one that has all constants."
        )
    return np.array([wanted.number(name) for name in own], np.uint32)


def _begins_with(wanted: Domain, own: Domain) -> bool:
    if len(own) > len(wanted):
        return False
    if own == wanted or not len(own):
        return True
    if isinstance(own, NamedDomain) and isinstance(wanted, NamedDomain):
        return wanted.names[: len(own)] == own.names
    if type(own) is type(wanted):  # numbers that follow each other: the ends tell
        return own[0] == wanted[0] and own[-1] == wanted[len(own) - 1]
    return all(one == other for one, other in zip(own, wanted, strict=False))
