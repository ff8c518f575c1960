"""Number the ground atoms that learning predicts, and keep a world as its differences from the data.

Atoms have numbers, so that nothing is listed however many there are: those of a predicate are its rows of
constants read as one number, one predicate after the other. A choice is an atom by itself, or a block of
exclusive atoms. A world is the data with some atoms flipped.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.counting.facts.sorted_facts import Facts, facts_of
from mlnlab.errors import TooLargeError
from mlnlab.logic.relations import frozen as frozen_rows
from mlnlab.steps.state_layout import ArrayOf, Whole, holds
from mlnlab.steps.values.encoding import storable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mlnlab.learning.problems.training_data import Example, TrainingData

    Keys = NDArray[np.int64]

MOST_ATOMS = 1 << 52  # that a random number tells apart

Row = tuple[int, ...]


@storable("learning.FlippedWorld")
@dataclass(frozen=True, slots=True, eq=False)
class FlippedWorld:
    """A world: the numbers of the atoms that differ from the data, ascending, and its random numbers."""

    flipped: NDArray[np.int64] = field(metadata=holds(ArrayOf(np.int64, (None,), least=0, below="atoms")))
    random: NDArray[np.uint64] = field(metadata=holds(ArrayOf(np.uint64, (4,), no_empty_rows=True)))
    drawn: int = field(default=0, metadata=holds(Whole()))  # steps since the chain began in the data

    def flaw(self) -> str:
        """Say that flipped atoms are not in order, in a state from outside."""
        return "flipped atoms are not ascending" if (np.diff(self.flipped) <= 0).any() else ""


@dataclass(frozen=True, eq=False)
class OpenPredicate:
    """The predicted atoms of one predicate: its choices, and which atoms are true in the data."""

    name: str
    sizes: tuple[int, ...]
    block_keys: tuple[int, ...]
    exclusive: tuple[int, ...]
    may_be_none: bool  # whether all atoms of a choice may be false
    true: Keys  # in the data, ascending
    known: Keys  # atoms that are known to be false, ascending

    @property
    def atoms(self) -> int:
        """The number of ground atoms."""
        return prod(self.sizes)

    @property
    def choices(self) -> int:
        """The number of blocks, or of atoms where there are no blocks."""
        return prod(self.sizes[position] for position in self.block_keys)

    @property
    def open_keys(self) -> list[int]:
        """The atoms that are not known to be false."""
        keys = np.arange(self.atoms)
        return list(map(int, keys[~_among(keys, self.known)] if len(self.known) else keys))

    def options(self, choice: int) -> Keys:
        """Return the atoms of a choice that may be true."""
        found = np.array([choice], np.int64)
        if self.exclusive:
            columns = np.zeros(
                (prod(self.sizes[place] for place in self.exclusive), len(self.sizes)), np.int64
            )
            key = np.unravel_index(choice, [self.sizes[place] for place in self.block_keys] or [1])
            for place, number in zip(self.block_keys, key, strict=False):
                columns[:, place] = number
            own = np.indices([self.sizes[place] for place in self.exclusive]).reshape(len(self.exclusive), -1)
            columns[:, list(self.exclusive)] = own.T
            found = np.asarray(np.ravel_multi_index(tuple(columns.T), self.sizes), np.int64)
        return found[~_among(found, self.known)] if len(self.known) else found

    def row(self, key: int) -> Row:
        """Return the constants of an atom."""
        return tuple(int(number) for number in np.unravel_index(key, self.sizes)) if self.sizes else ()

    def is_true(self, key: int) -> bool:
        """Return whether an atom is true in the data."""
        place = int(np.searchsorted(self.true, key))
        return place < len(self.true) and int(self.true[place]) == key


def _among(keys: Keys, known: Keys) -> NDArray[np.bool_]:
    places = np.searchsorted(known, keys)
    return np.asarray(np.take(known, places, mode="clip") == keys)


@dataclass(frozen=True, eq=False)
class OpenAtoms:
    """The predicted atoms of one database, predicate after predicate."""

    facts: Facts
    predicates: tuple[OpenPredicate, ...]

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """The number of the first atom of each predicate, and behind them the number of all atoms."""
        return tuple(accumulate((one.atoms for one in self.predicates), initial=0))

    @cached_property
    def first_choices(self) -> tuple[int, ...]:
        """The first choice of each predicate, and behind them the number of all choices."""
        return tuple(accumulate((one.choices for one in self.predicates), initial=0))

    @property
    def atoms(self) -> int:
        """The number of atoms."""
        return self.starts[-1]

    @property
    def choices(self) -> int:
        """The number of choices."""
        return self.first_choices[-1]

    def number(self, predicate: str, row: Row) -> int:
        """Return the number of an atom."""
        place = self.places[predicate]
        key = 0
        for constant, size in zip(row, self.predicates[place].sizes, strict=True):
            key = key * size + constant
        return self.starts[place] + key

    @cached_property
    def places(self) -> dict[str, int]:
        """The place of each predicate."""
        return {predicate.name: place for place, predicate in enumerate(self.predicates)}

    def choice(self, number: int) -> tuple[int, Keys]:
        """Return the predicate of a choice, by its place, and the atoms that may be true."""
        place = int(np.searchsorted(self.first_choices, number, side="right")) - 1
        return place, self.predicates[place].options(number - self.first_choices[place])

    def flips(self, number: int) -> list[tuple[int, ...]]:
        """Return the atoms that each option of a choice flips in the data; the data's own comes first."""
        place, keys = self.choice(number)
        predicate, first = self.predicates[place], self.starts[place]
        options = [(first + int(key),) for key in keys]
        true = [first + int(key) for key in keys if predicate.is_true(int(key))]
        if not true:
            return [(), *options]
        others = [(true[0], atom) for (atom,) in options if atom != true[0]]
        return [(), *others, *([(true[0],)] if predicate.may_be_none else [])]

    def flipped_rows(self, flipped: Sequence[int] | Keys) -> dict[str, NDArray[np.uint32]]:
        """Return flipped atoms as rows of constants, by predicate."""
        numbers = np.asarray(flipped, np.int64)
        found = {}
        for predicate, first, end in zip(self.predicates, self.starts, self.starts[1:], strict=False):
            keys = numbers[(numbers >= first) & (numbers < end)] - first
            if len(keys):
                found[predicate.name] = _rows_of(keys, predicate.sizes)
        return found

    def facts_with(self, flipped: Sequence[int] | Keys) -> Facts:
        """Return the facts of the data with some atoms flipped."""
        numbers = np.asarray(flipped, np.int64)
        if not len(numbers):
            return self.facts
        tables = dict(self.facts.tables)
        for predicate, first, end in zip(self.predicates, self.starts, self.starts[1:], strict=False):
            keys = numbers[(numbers >= first) & (numbers < end)] - first
            if len(keys):
                left = np.setxor1d(predicate.true, keys, assume_unique=True)
                tables[predicate.name] = frozen_rows(_rows_of(left, predicate.sizes))
        return Facts(self.facts.vocabulary, tables)

    def flaw(self, world: FlippedWorld) -> str:
        """Say how a world from outside breaks a block, or makes an atom true that is known to be false."""
        for predicate, first, end in zip(self.predicates, self.starts, self.starts[1:], strict=False):
            keys = world.flipped[(world.flipped >= first) & (world.flipped < end)] - first
            if len(predicate.known) and _among(keys, predicate.known).any():
                return f"an atom of {predicate.name} is flipped that is known to be false"
            if predicate.exclusive and _breaks_blocks(predicate, keys):
                return f"a block of {predicate.name} has not the number of true atoms that it must have"
        return ""


def _rows_of(keys: Keys, sizes: tuple[int, ...]) -> NDArray[np.uint32]:
    if not sizes:
        return np.zeros((len(keys), 0), np.uint32)
    return np.ascontiguousarray(np.stack(np.unravel_index(keys, sizes), axis=1).astype(np.uint32))


def _breaks_blocks(predicate: OpenPredicate, flipped: Keys) -> bool:
    """Return whether the world after some flips has blocks with no, or with several, true atoms."""
    left = np.setxor1d(predicate.true, flipped, assume_unique=True)
    rows = _rows_of(left, predicate.sizes)
    blocks = np.zeros(len(rows), np.int64)
    for place in predicate.block_keys:
        blocks = blocks * predicate.sizes[place] + rows[:, place]
    different = len(np.unique(blocks))
    return different < len(blocks) or (not predicate.may_be_none and different < predicate.choices)


def open_atoms(data: TrainingData, example: Example) -> OpenAtoms:
    """Return the atoms of the predicted predicates that formulas mention, in one database."""
    facts = facts_of(example.database, example.vocabulary)
    found = tuple(
        _open_predicate(data, example, facts, name)
        for name in data.mentioned
        if example.number_of_atoms(name)
    )
    atoms = sum(one.atoms for one in found)
    if atoms > MOST_ATOMS:
        raise TooLargeError(
            f"{atoms:,} atoms are predicted here, and at most {MOST_ATOMS:,} have numbers.", float(atoms),
            ["predict fewer predicates, given the others: query=[...]", "use fewer constants"],
        )  # fmt: skip
    return OpenAtoms(facts, found)


def _open_predicate(data: TrainingData, example: Example, facts: Facts, name: str) -> OpenPredicate:
    declared = example.vocabulary[name]
    sizes = tuple(len(example.vocabulary.domain(type_)) for type_ in declared.types)
    known = keys_of_rows(data.known_false(example, name), sizes)
    return OpenPredicate(
        name, sizes, declared.block_keys, declared.exclusive,
        not declared.exclusive or declared.at_most_one, keys_of_rows(facts.rows(name), sizes), known,
    )  # fmt: skip


def keys_of_rows(rows: NDArray[np.uint32], sizes: Sequence[int]) -> Keys:
    """Return rows of constants as one number each, ascending."""
    keys = np.zeros(len(rows), np.int64)
    for column, size in enumerate(sizes):
        keys = keys * size + rows[:, column]
    return np.sort(keys)
