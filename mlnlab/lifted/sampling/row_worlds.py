"""Worlds of a model that demands something of rows, drawn exactly and without rejection.

Wang, Pu, Wang and Kuželka (LICS 2023) draw 1-types first, then 2-types one after the other, each with its
probability given those before. Here that is simple where the rows of which something is demanded share no
pair of elements that ties them: given the 1-types, rows are independent, so that a number of elements in
cells has the weight that it has without demands, times how probable each row meets its own
(:mod:`mlnlab.lifted.sampling.row_worlds`). Whether that is so is looked at in the tables of pairs. All
such weights add up to Z, without signs and tallies.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from math import comb, inf, prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mlnlab.errors import TooLargeError, UnsatisfiableError
from mlnlab.lifted.cells.cell_factors import AtomAt
from mlnlab.lifted.cells.cell_numbers import Logarithms
from mlnlab.lifted.sampling.drawn_atoms import ComponentAtoms, HiddenAtoms, TrueAtoms

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from mlnlab.lifted.cells.cell_tables import Weighed
    from mlnlab.lifted.cells.cells import Cells
    from mlnlab.lifted.sampling.random_choices import RandomChoices
    from mlnlab.lifted.sampling.row_demands import RowDemand
    from mlnlab.lifted.sampling.world_distribution import WorldDistribution
    from mlnlab.model.database.database import Database

    Values = NDArray[np.float64]
    Counts = NDArray[np.int64]
    Truths = NDArray[np.bool_]

    from numpy.typing import NDArray


MOST_TERMS = 100_000  # numbers of elements in cells, all of which are gone through
MOST_PAIRS = 4_000_000  # of elements whose atoms are drawn one by one
MOST_HIDDEN = 12  # atoms of one pair


@dataclass(frozen=True, slots=True, eq=False)
class RowComponent:
    """A component: its tables, its demands, and all numbers of elements in cells with their log weights."""

    cells: Cells
    atoms: ComponentAtoms
    demands: tuple[RowDemand, ...]
    rows: dict[tuple[int, int], PairAtoms]
    counts: tuple[Counts, ...]  # for each kind, a row for each term
    logs: Values
    symbols: Mapping[str, Mapping[tuple[int, ...], int]]

    @property
    def log_z(self) -> float:
        """The logarithm of the sum of all terms."""
        return float(np.logaddexp.reduce(self.logs, initial=-inf))

    def draw_atoms(self, choices: RandomChoices) -> Iterator[TrueAtoms]:
        """Yield the true atoms of a world."""
        term = choices.one_of(np.exp(self.logs - self.logs.max()))
        counts = [numbers[term] for numbers in self.counts]
        orders = [choices.order(int(numbers.sum())) for numbers in counts]
        others = {pair: hidden for pair, hidden in self.atoms.pairs.items() if pair not in self.rows}
        yield from self.atoms.draw_ordered_atoms(orders, counts, others, choices)
        for (a, b), pairs in self.rows.items():
            yield from self._of_rows((a, b), pairs, orders, counts, choices)

    def _of_rows(
        self, kinds: tuple[int, int], pairs: PairAtoms, orders: Sequence[Counts], counts: Sequence[Counts],
        choices: RandomChoices,
    ) -> Iterator[TrueAtoms]:  # fmt: skip
        """Yield the atoms of pairs: those that count in rows row by row, then the others pair by pair."""
        cells = [np.repeat(np.arange(len(counts[kind])), counts[kind]) for kind in kinds]
        alike = kinds[0] == kinds[1]
        size = len(cells[0]), len(cells[1])
        left, right = (
            np.triu_indices(size[0], 1) if alike else tuple(axis.ravel() for axis in np.indices(size))
        )
        truths: dict[AtomAt, Truths] = {}
        drawn: dict[str, Truths] = {}
        for place, side in enumerate(pairs.sides):
            name = side.demand.predicate
            if name not in drawn:
                p = _of_side(side, pairs.alone(place))
                ends = cells if side.row == 0 else cells[::-1]
                drawn[name] = self._matrix(side, p, kinds[side.row], ends, alike=alike, choices=choices)
            truths[side.atom] = drawn[name][left, right] if side.row == 0 else drawn[name][right, left]
        at, ones = (cells[0][left], cells[1][right]), np.ones(len(left), dtype=np.int64)
        for place in range(len(pairs.sides), len(pairs.atoms)):
            truths[pairs.atoms[place]] = choices.split(ones, pairs.compute_conditional(place, at, truths)) > 0
        elements = orders[kinds[0]][left], orders[kinds[1]][right]
        for atom, true in truths.items():
            yield TrueAtoms(atom.symbol, tuple(elements[e][true] for e in atom.elements))

    def _matrix(
        self, side: Side, p: Values, kind: int, ends: Sequence[Counts], *, alike: bool, choices: RandomChoices
    ) -> Truths:
        """Draw which atoms of rows are true; an element's with itself is decided by its cell."""
        own, others = ends
        found = np.zeros((len(own), len(others)), dtype=bool)
        for cell in np.unique(own).tolist():
            rows = np.flatnonzero(own == cell)
            columns = np.arange(len(others))
            if alike:  # all but the row's own element; in the row's own cell there is one less
                columns = np.delete(columns, rows[0])
            active, diagonal = self.state(side.demand, kind, cell)
            begun = np.full(len(rows), int(diagonal), dtype=np.int64)
            log_shares = p[cell, others[columns]]
            truth = drawn_rows(side.demand if active else None, begun, log_shares, choices)
            for place, row in enumerate(rows.tolist()):
                at = np.delete(np.arange(len(others)), row) if alike else columns
                found[row, at] = truth[place]
        return found

    def state(self, demand: RowDemand, kind: int, cell: int) -> tuple[bool, bool]:
        """Return of a cell whether something is demanded there, and whether the atom with itself is true."""
        bits = self.cells.kinds[kind].bits
        values = dict(zip(bits, self.cells.kinds[kind].cells[cell].tolist(), strict=True))
        guard = self.symbols[demand.guard][0,] if demand.guard else None
        loop = self.symbols[demand.predicate].get((0, 0))
        return guard is None or values[guard], loop is not None and values[loop]


@dataclass(frozen=True, slots=True, eq=False)
class RowWorlds:
    """The distribution of worlds whose rows have demands; ``plain`` is the one without these."""

    plain: WorldDistribution
    components: tuple[RowComponent, ...]
    branches: Values
    log_z: float
    dropped: float = 0.0

    def draw_world(self, choices: RandomChoices) -> Database:
        """Return a world that is drawn, as a database of its true atoms."""
        return self.plain.world(self._true_atoms(choices))

    def _true_atoms(self, choices: RandomChoices) -> Iterator[TrueAtoms]:
        branch = choices.one_of(self.branches)
        yield from self.plain.ground_atoms(branch, choices)
        for number in self.plain.parts.branches[branch]:
            yield from self.components[number].draw_atoms(choices)
        yield from self.plain.free_atoms(choices)


def row_worlds(
    plain: WorldDistribution, demands: Sequence[RowDemand], sizes: Sequence[Sequence[int]],
    weights: Mapping[Weighed, tuple[object, object]],
) -> RowWorlds | None:  # fmt: skip
    """Return the distribution of worlds; ``None`` where pairs tie rows or there are too many terms.

    ``sizes`` are those of each component's kinds, ``weights`` the log weights of plain tables.
    """
    symbols: dict[str, dict[tuple[int, ...], int]] = {}
    for number, symbol in enumerate(plain.model.symbols):
        symbols.setdefault(symbol.predicate, {})[symbol.pattern] = number  # type: ignore[index]
    made = []
    for atoms, own in zip(plain.atoms, sizes, strict=True):
        component = _component(atoms, demands, own, weights, symbols)
        if component is None:
            return None
        made.append(component)
    ground = plain.parts.ground.values(Logarithms(), weights)
    logs = np.array(
        [g + sum(made[c].log_z for c in b) for g, b in zip(ground, plain.parts.branches, strict=True)]
    )
    if logs.max() == -inf:
        raise UnsatisfiableError("No world satisfies the hard formulas in domains of these sizes.")
    log_z = float(np.logaddexp.reduce(logs))
    return RowWorlds(plain, tuple(made), np.exp(logs - logs.max()), log_z)


def _component(
    atoms: ComponentAtoms, demands: Sequence[RowDemand], sizes: Sequence[int],
    weights: Mapping[Weighed, tuple[object, object]], symbols: Mapping[str, Mapping[tuple[int, ...], int]],
) -> RowComponent | None:  # fmt: skip
    cells = atoms.cells
    terms = prod(comb(n + len(kind) - 1, len(kind) - 1) for n, kind in zip(sizes, cells.kinds, strict=True))
    if terms > MOST_TERMS:
        return None
    rows, own = {}, []
    for pair, hidden in atoms.pairs.items():
        inside = [
            d
            for d in demands
            if any(atom.symbol == symbols[d.predicate].get((0, 1)) for atom in hidden.atoms)
        ]
        if not inside:
            continue
        if len(hidden.atoms) > MOST_HIDDEN:
            return None
        rows[pair] = pair_atoms(hidden, inside, symbols)
        own += inside
        if not rows[pair].ties_no_rows():
            return None
        _refuse_many_pairs(sizes[pair[0]] * sizes[pair[1]])
    counts = _all_counts([len(kind) for kind in cells.kinds], sizes)
    found = RowComponent(cells, atoms, tuple(own), rows, counts, np.zeros(0), symbols)
    logs = _weights(cells, counts, weights)
    for pair, pairs in rows.items():
        logs = logs + _compute_demand_probability(found, pair, pairs)
    alive = logs > -inf
    return RowComponent(
        cells, atoms, tuple(own), rows, tuple(one[alive] for one in counts), logs[alive], symbols
    )


def _refuse_many_pairs(pairs: int) -> None:
    if pairs > MOST_PAIRS:
        raise TooLargeError(
            f"Rows with constraints have {pairs:,} atoms, which are drawn one by one; the limit is"
            f" {MOST_PAIRS:,}.", float(pairs), ["draw worlds of smaller domains"],
        )  # fmt: skip


def _all_counts(cells: Sequence[int], sizes: Sequence[int]) -> tuple[Counts, ...]:
    """Return all ways to put the elements of each kind into cells, those of all kinds together."""
    each = [_compositions(size, number) for size, number in zip(sizes, cells, strict=True)]
    grid = np.indices([len(one) for one in each]).reshape(len(each), -1)
    return tuple(one[rows] for one, rows in zip(each, grid, strict=True))


def _compositions(number: int, parts: int) -> Counts:
    """Return all ways to write ``number`` as a sum of ``parts`` numbers, as rows."""
    if parts == 1:
        return np.array([[number]], dtype=np.int64)
    rows = [np.insert(_compositions(number - k, parts - 1), 0, k, axis=1) for k in range(number + 1)]
    return np.concatenate(rows)


def _weights(
    cells: Cells, counts: Sequence[Counts], weights: Mapping[Weighed, tuple[object, object]]
) -> Values:
    """Return the logarithm of each term without demands: Beame et al. 2015, section 3."""
    from scipy.special import gammaln

    numbers = Logarithms()
    logs = np.zeros(len(counts[0]))
    for kind, own in zip(cells.kinds, counts, strict=True):
        values = kind.weights.values(numbers, weights)
        logs += gammaln(own.sum(axis=1) + 1) - gammaln(own + 1).sum(axis=1)
        logs += _times(own, values[None]).sum(axis=1)
    for (a, b), table in cells.pairs.items():
        values = table.values(numbers, weights)
        for c, d in product(range(values.shape[0]), range(values.shape[1])):
            if a != b:
                logs += _times(counts[a][:, c] * counts[b][:, d], values[c, d])
            elif c < d:
                logs += _times(counts[a][:, c] * counts[a][:, d], values[c, d])
            elif c == d:
                logs += _times(counts[a][:, c] * (counts[a][:, c] - 1) // 2, values[c, c])
    return logs


def _of_side(side: Side, log_shares: Values) -> Values:
    """Return the log shares of an atom by the cell of the element that has the row, then the other's."""
    return log_shares if side.row == 0 else log_shares.swapaxes(0, 1)


def _times(numbers: Counts, logs: object) -> Values:
    """Return numbers times logarithms, of which none counts where there is nothing."""
    with np.errstate(invalid="ignore"):
        return np.where(numbers > 0, numbers * np.asarray(logs, dtype=float), 0.0)


def _compute_demand_probability(component: RowComponent, kinds: tuple[int, int], pairs: PairAtoms) -> Values:
    """Return the log probability that all rows meet their demands, for each term."""
    logs = np.zeros(len(component.counts[0]))
    known = set()
    for place, side in enumerate(pairs.sides):
        if side.demand.predicate in known:  # of pairs of one kind, both sides are rows of the same predicate
            continue
        known.add(side.demand.predicate)
        own, other = kinds[side.row], kinds[1 - side.row]
        p = _of_side(side, pairs.alone(place))
        for cell in range(len(component.cells.kinds[own])):
            active, diagonal = component.state(side.demand, own, cell)
            if not active:
                continue
            numbers = component.counts[other].copy()
            if own == other:
                numbers[:, cell] -= 1
            here = component.counts[own][:, cell]
            met = np.zeros(len(logs))
            some = here > 0
            met[some] = compute_demand_probability(side.demand, diagonal, numbers[some], p[cell])
            logs += _times(here, met)
    return logs


# --- the atoms of pairs of elements of which some count in rows ---------------------------------

# How probable they are together, and alone.

_ALIKE = 1e-9  # of logarithms: what rounding leaves where rows are independent


class Side(NamedTuple):
    """An atom of a pair that counts in a row: that of the pair's first element, or of its second."""

    demand: RowDemand
    atom: AtomAt
    row: int


@dataclass(frozen=True, slots=True, eq=False)
class PairAtoms:
    """The atoms of pairs of two kinds; first those that count in rows, and of all how probable they are.

    Probabilities are logarithms: a demand may be met by atoms alone that are rarer than floats can tell.
    """

    sides: tuple[Side, ...]
    atoms: tuple[AtomAt, ...]
    joint: Values  # by the two cells, then an axis for each atom

    def alone(self, place: int) -> Values:
        """Return how probable it is that an atom is false, and true, by the cells of the pair."""
        axes = tuple(2 + n for n in range(len(self.atoms)) if n != place)
        return np.asarray(np.logaddexp.reduce(self.joint, axis=axes))

    def ties_no_rows(self) -> bool:
        """Tell whether the atoms that count in rows are independent of each other, whatever the cells are."""
        count = len(self.sides)
        together = np.logaddexp.reduce(self.joint, axis=tuple(range(2 + count, self.joint.ndim)))
        apart = np.zeros_like(together)
        for place in range(count):
            own = self.alone(place)
            apart = apart + own.reshape([*own.shape[:2], *(2 if n == place else 1 for n in range(count))])
        possible = np.isfinite(together)
        if (possible != np.isfinite(apart)).any():
            return False
        return bool(np.abs(together[possible] - apart[possible]).max(initial=0.0) < _ALIKE)

    def compute_conditional(
        self, place: int, cells: tuple[Counts, Counts], truths: Mapping[AtomAt, Truths]
    ) -> Values:
        """Return how probable an atom is, no logarithm, where the cells and the atoms before it are known."""
        summed = np.logaddexp.reduce(self.joint, axis=tuple(range(3 + place, self.joint.ndim)))
        known = tuple(truths[atom].astype(np.intp) for atom in self.atoms[:place])
        both = summed[(*cells, *known)]
        total = np.logaddexp.reduce(both, axis=-1)
        possible = total > -np.inf
        share = np.exp(np.subtract(both[..., 1], total, out=np.full_like(total, -np.inf), where=possible))
        return np.asarray(np.clip(share, 0.0, 1.0))


def pair_atoms(
    hidden: HiddenAtoms, demands: Sequence[RowDemand], symbols: Mapping[str, Mapping[tuple[int, ...], int]],
) -> PairAtoms:  # fmt: skip
    """Return the atoms of a table of pairs; ``hidden`` draws them one after the other."""
    sides = [
        Side(demand, atom, atom.elements[demand.outer])
        for demand in demands
        for atom in sorted(one for one in hidden.atoms if one.symbol == symbols[demand.predicate][0, 1])
    ]
    first = [side.atom for side in sides]
    atoms = (*first, *(atom for atom in hidden.atoms if atom not in first))
    rows, columns = hidden.rows
    at = tuple(axis.ravel() for axis in np.indices((rows, columns)))
    joint = np.full((rows, columns, *(2,) * len(atoms)), -np.inf)
    for values in product((False, True), repeat=len(hidden.atoms)):
        truths = {a: np.full(rows * columns, v) for a, v in zip(hidden.atoms, values, strict=True)}
        total = np.zeros(rows * columns)
        for place, value in enumerate(values):
            total = total + hidden.log_probability(place, at, truths, value=value)
        where = (int(values[hidden.atoms.index(atom)]) for atom in atoms)
        index: tuple[slice | int, ...] = (slice(None), slice(None), *where)
        joint[index] = total.reshape(rows, columns)
    return PairAtoms(tuple(sides), atoms, joint)


# --- how probable it is that a row has as many true atoms as are demanded -----------------------

# And drawing rows that have.

# An atom of a row is true with a probability that depends on the cells of its two elements. The number of
# true atoms is summed up atom by atom; told apart are numbers up to the demanded ones, and "more".
# Backwards, that says how probable each next atom is where the demand is met in the end. All that is summed
# is positive, and all are logarithms: a demand may be met by atoms alone that are rarer than floats can
# tell.


def compute_demand_probability(
    demand: RowDemand, diagonal: bool, numbers: Counts, log_shares: Values
) -> Values:
    """Return how probable the demand is met, in logarithms, for rows of numbers of elements in cells.

    ``log_shares`` are those of an atom that is false, and true, by the other element's cell; ``diagonal``:
    that with itself is true.
    """
    right = _right(demand)
    states = np.full((len(numbers), len(right)), -np.inf)
    states[:, min(int(diagonal), len(right) - 1)] = 0.0
    for cell, logs in enumerate(log_shares):
        states = _convolve_numbers(states, np.maximum(numbers[:, cell], 0), logs)
    return np.asarray(np.logaddexp.reduce(states[:, right], axis=1, initial=-np.inf))


def _right(demand: RowDemand) -> NDArray[np.bool_]:
    """Return which numbers of true atoms are demanded; the last stands for all larger ones, too."""
    numbers = np.arange(max(demand.tracked, 0) + 2)
    right = numbers >= demand.least
    return right if demand.most is None else right & (numbers <= demand.most)


def _convolve_numbers(states: Values, numbers: Counts, logs: Values) -> Values:
    """Return the numbers of true atoms with those of another cell."""
    found, last = np.full_like(states, -np.inf), states.shape[1] - 1
    for more in range(last + 1):
        exactly, at_least = _exactly(more, numbers, logs), _at_least(more, numbers, logs)
        for before in range(last - more):
            found[:, before + more] = np.logaddexp(found[:, before + more], states[:, before] + exactly)
        found[:, last] = np.logaddexp(found[:, last], states[:, last - more] + at_least)
    return found


def _exactly(more: int, numbers: Counts, logs: Values) -> Values:
    """Return the log probability that exactly ``more`` of each number of atoms are true."""
    from scipy.special import gammaln

    others = np.maximum(numbers - more, 0)
    ways = gammaln(numbers + 1.0) - gammaln(more + 1.0) - gammaln(others + 1.0)
    chance = ways + _times_logarithm(np.array(more), logs[1]) + _times_logarithm(others, logs[0])
    return np.where(numbers >= more, chance, -np.inf)


def _at_least(more: int, numbers: Counts, logs: Values) -> Values:
    """Return the log probability that at least ``more`` atoms are true, by the atom that decides it."""
    if not more:
        return np.zeros(len(numbers))
    before = np.arange(numbers.max(initial=0))
    sums = np.logaddexp.accumulate(_exactly(more - 1, before, logs) + logs[1])
    return np.asarray(np.append(-np.inf, sums)[numbers])


def _times_logarithm(numbers: Counts, log: float) -> Values:
    """Return numbers times a logarithm, which counts for nothing where there is none."""
    return np.multiply(numbers, log, out=np.zeros(np.shape(numbers)), where=numbers > 0)


def drawn_rows(
    demand: RowDemand | None, begun: Counts, log_shares: Values, choices: RandomChoices
) -> NDArray[np.bool_]:
    """Draw rows of independent atoms so that the demand is met, all with the same probabilities.

    ``begun``: how many atoms of each row are true already; ``log_shares``: of each column's atom, that it is
    false, and true. Without a demand, nothing has to be met.
    """
    found = np.zeros((len(begun), len(log_shares)), dtype=bool)
    ones = np.ones(len(begun), dtype=np.int64)
    if demand is None:
        for column, p in enumerate(np.exp(log_shares[:, 1]).tolist()):
            found[:, column] = choices.split(ones, np.full(len(begun), min(p, 1.0))) > 0
        return found
    met = _compute_end_probability(demand, log_shares)
    state = np.minimum(begun, met.shape[1] - 1)
    for column, log_p in enumerate(log_shares[:, 1].tolist()):
        after = met[column + 1, np.minimum(state + 1, met.shape[1] - 1)]
        chance = np.exp(log_p + after - met[column, state])
        found[:, column] = choices.split(ones, np.clip(chance, 0.0, 1.0)) > 0
        state = np.minimum(state + found[:, column], met.shape[1] - 1)
    return found


def _compute_end_probability(demand: RowDemand, log_shares: Values) -> Values:
    """Return how probable the demand is met in the end, by column and true atoms before; logarithms."""
    right = _right(demand)
    found = np.empty((len(log_shares) + 1, len(right)))
    found[-1] = np.where(right, 0.0, -np.inf)
    for column in range(len(log_shares) - 1, -1, -1):
        after = np.append(found[column + 1, 1:], found[column + 1, -1])
        log_q, log_p = log_shares[column]
        found[column] = np.logaddexp(log_p + after, log_q + found[column + 1])
    return found
