"""Atoms that are drawn once it is known how many elements are in each cell.

Wang, van Bremen, Wang and Kuželka (AAAI 2022): the elements are shuffled over the cells, and then the atoms
of each pair are drawn, independently given its two cells. Pairs of the same two cells are drawn together: how
many of them have each 2-type is drawn atom by atom, then which pairs these are. Pairs without a true atom
are never listed, so that a world takes the memory of its true atoms.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from mlnlab.lifted.cells.cell_factors import AtomAt
    from mlnlab.lifted.cells.cell_tables import Table
    from mlnlab.lifted.cells.cells import Cells, Kind
    from mlnlab.lifted.sampling.random_choices import RandomChoices

    Values = NDArray[np.float64]
    Counts = NDArray[np.int64]

PIECE = 1 << 20  # pairs of a block that are drawn at once, where many have true atoms
FEW = 0.01  # of pairs: so few are chosen without listing the others


class TrueAtoms(NamedTuple):
    """True atoms of a symbol: an array for each of its classes of arguments, of elements by their numbers."""

    symbol: int
    elements: tuple[Counts, ...]


@dataclass(frozen=True, slots=True, eq=False)
class HiddenAtoms:
    """A table's hidden atoms as they are drawn one after the other, with probabilities given the former.

    ``log_shares`` are those of both values of an atom, by what it depends on.
    """

    rows: tuple[int, ...]
    atoms: tuple[AtomAt, ...]
    scopes: tuple[tuple[AtomAt, ...], ...]
    log_shares: tuple[Values, ...]

    def probability(
        self, place: int, rows: Sequence[Counts], truths: dict[AtomAt, NDArray[np.bool_]]
    ) -> Values:
        """Return how probable an atom is in some rows, where atoms before it are drawn."""
        found = np.exp(self.log_probability(place, rows, truths, value=True))
        return np.asarray(np.clip(found, 0.0, 1.0))  # sums of shares are 1 but for rounding

    def log_probability(
        self, place: int, rows: Sequence[Counts], truths: dict[AtomAt, NDArray[np.bool_]], *, value: bool
    ) -> Values:
        """Return how probable it is that an atom has a value, in logarithms, so that none rounds to 0."""
        own, scope = self.atoms[place], self.scopes[place]
        given = [np.intp(value) if atom == own else truths[atom].astype(np.intp) for atom in scope]
        shape = (*self.rows, *(2,) * len(scope))
        return np.asarray(np.broadcast_to(self.log_shares[place], shape)[(*rows, *given)])

    def nothing(self, rows: Sequence[Counts]) -> Values:
        """Return how probable it is in some rows that no atom is true."""
        total = np.ones(len(rows[0]))
        truths = {atom: np.zeros(len(rows[0]), dtype=bool) for atom in self.atoms}
        for place in range(len(self.atoms)):
            total *= 1.0 - self.probability(place, rows, truths)
        return total


def hidden_atoms(table: Table, log_shares: Sequence[Values]) -> HiddenAtoms:
    """Return the hidden atoms of a table in the order of drawing: the last one summed out comes first."""
    steps = tuple(reversed(table.steps))
    atoms = tuple(step.scope[step.axis] for step in steps)
    return HiddenAtoms(table.batch, atoms, tuple(step.scope for step in steps), tuple(reversed(log_shares)))


@dataclass(frozen=True, slots=True, eq=False)
class Groups:
    """How many of each block agree in all hidden atoms, sorted by blocks."""

    block: NDArray[np.intp]
    counts: Counts
    truths: dict[AtomAt, NDArray[np.bool_]]

    def select_groups(self, which: NDArray[np.intp] | NDArray[np.bool_]) -> Groups:
        """Return some of the groups."""
        truths = {atom: truth[which] for atom, truth in self.truths.items()}
        return Groups(self.block[which], self.counts[which], truths)


def drawn_groups(
    hidden: HiddenAtoms, rows: Sequence[Counts], counts: Counts, choices: RandomChoices
) -> Groups:
    """Draw how many of each block of ``counts`` have which hidden atoms: atom by atom, groups are split."""
    groups = Groups(np.arange(len(counts)), counts, {})
    for place, atom in enumerate(hidden.atoms):
        own = [row[groups.block] for row in rows]
        true = choices.split(groups.counts, hidden.probability(place, own, groups.truths))
        truths = {a: np.concatenate([t, t]) for a, t in groups.truths.items()}
        truths[atom] = np.repeat([True, False], len(true))
        both = Groups(np.tile(groups.block, 2), np.concatenate([true, groups.counts - true]), truths)
        groups = both.select_groups(both.counts > 0)
    return groups.select_groups(np.argsort(groups.block, kind="stable"))


@dataclass(frozen=True, slots=True, eq=False)
class ComponentAtoms:
    """The hidden atoms that a component is drawn by: those of its kinds, and of pairs of kinds."""

    cells: Cells
    single: tuple[HiddenAtoms, ...]
    pairs: dict[tuple[int, int], HiddenAtoms]

    def draw_atoms(self, counts: Sequence[Counts], choices: RandomChoices) -> Iterator[TrueAtoms]:
        """Yield true atoms where it is known how many elements of each kind are in each cell."""
        orders = [choices.order(int(numbers.sum())) for numbers in counts]
        yield from self.draw_ordered_atoms(orders, counts, self.pairs, choices)

    def draw_ordered_atoms(
        self, orders: Sequence[Counts], counts: Sequence[Counts],
        pairs: Mapping[tuple[int, int], HiddenAtoms], choices: RandomChoices,
    ) -> Iterator[TrueAtoms]:  # fmt: skip
        """Yield true atoms of single elements, and of some pairs of kinds, where elements are in an order."""
        for number, kind in enumerate(self.cells.kinds):
            yield from _of_elements(kind, self.single[number], orders[number], counts[number], choices)
        for (a, b), hidden in pairs.items():
            if hidden.atoms:
                members = _Members(orders[a], counts[a]), _Members(orders[b], counts[b])
                yield from _of_pairs(hidden, *members, alike=a == b, choices=choices)


def _of_elements(
    kind: Kind, hidden: HiddenAtoms, order: Counts, counts: Counts, choices: RandomChoices
) -> Iterator[TrueAtoms]:
    """Yield atoms of single elements: decided by cells, then hidden ones; members are in random order."""
    cells = np.repeat(np.arange(len(counts)), counts)
    for number, symbol in enumerate(kind.bits):
        yield TrueAtoms(symbol, (order[kind.cells[cells, number]],))
    if hidden.atoms:
        used = np.flatnonzero(counts)
        groups = drawn_groups(hidden, (used,), counts[used], choices)
        for atom in hidden.atoms:
            yield TrueAtoms(atom.symbol, (order[np.repeat(groups.truths[atom], groups.counts)],))


class _Members(NamedTuple):
    """Elements in the order of their cells, and how many are in each."""

    order: Counts
    counts: Counts

    def at(self, cells: Counts, places: Counts) -> Counts:
        """Return elements by their cells, and places in these."""
        first = np.cumsum(self.counts) - self.counts
        return np.asarray(self.order[first[cells] + places])


class _Pieces(NamedTuple):
    """Pairs of elements in two cells, from one number on; of one cell and kind, a pair counts once."""

    first: Counts  # cells
    second: Counts
    start: Counts
    length: Counts


def _of_pairs(
    hidden: HiddenAtoms, first: _Members, second: _Members, *, alike: bool, choices: RandomChoices
) -> Iterator[TrueAtoms]:
    """Yield the atoms of pairs: how many pairs have which true atoms, then which pairs these are."""
    pieces = _pieces(hidden, first.counts, second.counts, alike=alike)
    groups = drawn_groups(hidden, (pieces.first, pieces.second), pieces.length, choices)
    groups = groups.select_groups(np.any(list(groups.truths.values()), axis=0))
    number = np.bincount(groups.block, groups.counts, len(pieces.length)).astype(np.int64)
    used = np.flatnonzero(number)
    if not len(used):
        return
    places = np.concatenate(
        [pieces.start[n] + choices.places(int(pieces.length[n]), int(number[n])) for n in used.tolist()]
    )
    piece = np.repeat(used, number[used])
    cells = pieces.first[piece], pieces.second[piece]
    width = np.maximum(second.counts[cells[1]], 1)
    left, right = places // width, places % width
    if alike:
        same = cells[0] == cells[1]
        left[same], right[same] = below_diagonal(places[same])
    elements = first.at(cells[0], left), second.at(cells[1], right)
    for atom in hidden.atoms:
        true = np.repeat(groups.truths[atom], groups.counts)
        yield TrueAtoms(atom.symbol, tuple(elements[e][true] for e in atom.elements))


def _pieces(hidden: HiddenAtoms, first: Counts, second: Counts, *, alike: bool) -> _Pieces:
    """Return blocks of pairs, one for each two cells; large ones with many true atoms in pieces."""
    grid = np.meshgrid(np.flatnonzero(first), np.flatnonzero(second), indexing="ij")
    one, other = grid[0].ravel(), grid[1].ravel()
    if alike:
        one, other = one[one <= other], other[one <= other]
    many = first[one] * second[other]
    if alike:
        many = np.where(one == other, many - first[one], many)
        many = np.where(one == other, many // 2, many)
    one, other, many = one[many > 0], other[many > 0], many[many > 0]
    parts = np.where(1.0 - hidden.nothing((one, other)) > FEW, -(-many // PIECE), 1)
    block = np.repeat(np.arange(len(many)), parts)
    start = (np.arange(len(block)) - np.repeat(np.cumsum(parts) - parts, parts)) * PIECE
    length = np.where(parts[block] > 1, np.minimum(PIECE, many[block] - start), many[block])
    return _Pieces(one[block], other[block], start, length)


def below_diagonal(places: Counts) -> tuple[Counts, Counts]:
    """Return pairs i < j by their numbers j (j - 1) / 2 + i."""
    larger = ((1.0 + np.sqrt(1.0 + 8.0 * places)) / 2.0).astype(np.int64)
    larger -= larger * (larger - 1) // 2 > places
    larger += larger * (larger + 1) // 2 <= places
    return places - larger * (larger - 1) // 2, larger
