"""The constants of a fact file find their numbers in the domains of their types."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.logic.vocabulary import Domain, NamedDomain
from mlnlab.syntax.facts.fact_batches import Batch
from mlnlab.syntax.facts.fact_lines import argument_places
from mlnlab.syntax.facts.fact_sets import SetLine, TypeSet, element_stop
from mlnlab.syntax.facts.fact_text import FactText

if TYPE_CHECKING:
    from numpy.typing import NDArray

MISSING = 0xFFFF_FFFF  # the number of a constant that its domain does not take

# The place of a constant as one number, so that places compare as they stand in the text:
# line, then whether it stands in braces, then which one in the line.
_LINE_SHIFT = 28
_IN_BRACES = 1 << (_LINE_SHIFT - 1)
_NEVER = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True, eq=False)
class Use:
    """Where constants of one type stand: the numbers of their names and, on demand, their places."""

    names: NDArray[np.uint32]
    places: Callable[[], NDArray[np.int64]]
    in_braces: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Numbering:
    """The constants of one type: the new domain, and for each name its number there or ``MISSING``."""

    domain: Domain
    numbers: NDArray[np.uint32]
    first: NDArray[np.int64]  # for each name its first place
    outside: list[int]  # names that a closed domain does not hold
    foreign: list[tuple[int, str]]  # names that are listed constants of another type
    added: list[int]  # names that the user had not listed in a domain that is a list


def uses_of(
    type_: str, batches: Iterable[Batch], sets: Iterable[TypeSet], numbers: Mapping[str, int]
) -> list[Use]:
    """Return the uses of the constants of a type, in facts and in braces."""
    in_facts = [
        Use(batch.names[:, position], partial(_places, batch, position))
        for batch in batches
        for position, other in enumerate(batch.predicate.types)
        if other == type_
    ]
    return in_facts + [
        Use(
            np.array([numbers[name] for name in line.names], np.uint32),
            partial(_places_in_braces, line),
            in_braces=True,
        )
        for set_ in sets
        if set_.type == type_
        for line in set_.lines
    ]


def _places(batch: Batch, position: int) -> NDArray[np.int64]:
    last = batch.predicate.arity - 1
    reading = position if not batch.has_value else 0 if position == last else position + 1
    return (batch.lines.astype(np.int64) << _LINE_SHIFT) | reading


def _places_in_braces(line: SetLine) -> NDArray[np.int64]:
    return ((line.line << _LINE_SHIFT) | _IN_BRACES) + np.arange(len(line.names))


@dataclass(frozen=True)
class Places:
    """Turns the place of a constant back into line and columns."""

    text: FactText
    sets: Sequence[TypeSet]

    def of(self, place: int) -> tuple[int, int, int]:
        """Return line, first and last column (exclusive, from 0)."""
        line, index = place >> _LINE_SHIFT, place & (_IN_BRACES - 1)
        text = self.text.clean_line(line)
        if not place & _IN_BRACES:
            return line, *argument_places(text)[index]
        start = self._lines_in_braces[line].starts[index]
        return line, start, element_stop(text, start)

    @cached_property
    def _lines_in_braces(self) -> dict[int, SetLine]:
        return {line.line: line for set_ in self.sets for line in set_.lines}


def number_constants(
    domain: Domain,
    uses: Sequence[Use],
    names: NDArray[np.object_],
    listed_elsewhere: Mapping[str, NamedDomain],
) -> Numbering:
    """Give the constants of one type numbers; new ones come behind, in the order of the text."""
    first = first_places(uses, len(names))
    used = np.flatnonzero(first != _NEVER)
    used = used[np.argsort(first[used], kind="stable")]
    known = _known_numbers(domain, names[used])
    numbers = np.full(len(names), MISSING, np.uint32)
    numbers[used] = np.where(known < 0, MISSING, known)
    new = used[known < 0]
    if not isinstance(domain, NamedDomain):
        return Numbering(domain, numbers, first, new.tolist(), [], [])
    in_braces = np.zeros(len(names), bool)
    for use in uses:
        if use.in_braces:
            in_braces[use.names] = True
    foreign = _foreign(new[~in_braces[new]], names, listed_elsewhere)
    if foreign:
        new = new[~np.isin(new, [number for number, _ in foreign])]
    numbers[new] = np.arange(len(domain), len(domain) + len(new), dtype=np.uint32)
    added = new[~in_braces[new]].tolist() if domain.listed else []
    return Numbering(_extend_domain(domain, names[new]), numbers, first, [], foreign, added)


def _extend_domain(domain: NamedDomain, new: NDArray[np.object_]) -> NamedDomain:
    """Return the domain with names behind it that are known to be new and different."""
    return NamedDomain((*domain.names, *new), domain.is_listed) if len(new) else domain


def first_places(uses: Iterable[Use], number_of_names: int) -> NDArray[np.int64]:
    """Return for each name its first place, or a number beyond all places."""
    first = np.full(number_of_names, _NEVER, np.int64)
    for use in uses:
        np.minimum.at(first, use.names, use.places())
    return first


def _known_numbers(domain: Domain, words: NDArray[np.object_]) -> NDArray[np.int64]:
    """Return the words' numbers in the domain, -1 where it does not have them."""
    if not len(domain):
        return np.full(len(words), -1, np.int64)
    if isinstance(domain, NamedDomain):
        numbers = {name: number for number, name in enumerate(domain.names)}
        return np.array([numbers.get(word, -1) for word in words], np.int64)
    return np.array([domain.number(word) if word in domain else -1 for word in words], np.int64)


def _foreign(
    candidates: NDArray[np.intp], names: NDArray[np.object_], listed_elsewhere: Mapping[str, NamedDomain]
) -> list[tuple[int, str]]:
    """Return the names that are constants of another type whose constants the user has listed."""
    if not listed_elsewhere or not len(candidates):
        return []
    owners = {
        name: type_ for type_, domain in reversed(list(listed_elsewhere.items())) for name in domain.names
    }
    return [(number, owners[names[number]]) for number in candidates.tolist() if names[number] in owners]
