"""The distribution over worlds of a model that is compiled to cells, from which whole worlds are drawn.

Wang, van Bremen, Wang and Kuželka, "Domain-lifted sampling for universal two-variable logic and extensions"
(AAAI 2022): the ground atoms that formulas mention first, then of each component how many elements are in
each cell (:mod:`mlnlab.lifted.sampling.world_distribution`), then its atoms
(:mod:`mlnlab.lifted.sampling.drawn_atoms`). Each step has its probability given those before, so that worlds
are exact and independent samples.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, inf, perm, prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mlnlab.errors import TooLargeError, UnsatisfiableError
from mlnlab.lifted.cells.cell_bounds import Boxes
from mlnlab.lifted.cells.cell_evaluation import CellEvaluation, log_weights
from mlnlab.lifted.cells.cell_numbers import Logarithms
from mlnlab.lifted.cells.cell_sums import CellSum, Total, points_of
from mlnlab.lifted.sampling.drawn_atoms import ComponentAtoms, TrueAtoms, drawn_groups, hidden_atoms
from mlnlab.logic.relations import Relation, sorted_rows
from mlnlab.logic.vocabulary import FrozenMapping, Vocabulary
from mlnlab.model.database.database import Database

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from numpy.typing import NDArray

    from mlnlab.lifted.cells.cell_components import Parts
    from mlnlab.lifted.cells.cell_factors import KindName, TwoVariableModel
    from mlnlab.lifted.cells.cell_tables import Table
    from mlnlab.lifted.sampling.drawn_atoms import HiddenAtoms
    from mlnlab.lifted.sampling.random_choices import RandomChoices

    Values = NDArray[np.float64]
    Counts = NDArray[np.int64]
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mlnlab.lifted.cells.cell_merging import MergedCells
    from mlnlab.lifted.cells.cell_problems import Problem
    from mlnlab.lifted.cells.cell_values import ComponentAt


MOST_KEY = float(1 << 62)  # of numbers of tuples that are sorted as one number


@dataclass(frozen=True, slots=True, eq=False)
class WorldDistribution:
    """The distribution of worlds; ``dropped`` bounds the error of any probability by terms left out."""

    model: TwoVariableModel
    parts: Parts
    vocabulary: Vocabulary
    branches: Values  # how probable each way to decide ground atoms is
    ground: HiddenAtoms
    counts: tuple[CountDistribution, ...]  # of each component
    atoms: tuple[ComponentAtoms, ...]
    free: Mapping[int, float]  # of symbols that no formula mentions, how probable an atom is
    constants: Mapping[KindName, Counts]

    @property
    def dropped(self) -> float:
        """A bound of the share of the distribution that was left out as negligible."""
        return sum(one.dropped for one in self.counts)

    def draw_world(self, choices: RandomChoices) -> Database:
        """Return a world that is drawn, as a database of its true atoms."""
        return self.world(self._true_atoms(choices))

    def world(self, true: Iterable[TrueAtoms]) -> Database:
        """Return true atoms as a database; those of predicates that translation made are left out."""
        rows: dict[str, list[NDArray[np.uint32]]] = {}
        for atoms in true:
            symbol = self.model.symbols[atoms.symbol]
            if symbol.predicate in self.vocabulary.predicates:
                rows.setdefault(symbol.predicate, []).append(self._rows(atoms))
        relations = {name: self._relation(name, found) for name, found in rows.items()}
        return Database(self.vocabulary, FrozenMapping({n: r for n, r in relations.items() if len(r.true)}))

    def _true_atoms(self, choices: RandomChoices) -> Iterator[TrueAtoms]:
        branch = choices.one_of(self.branches)
        yield from self.ground_atoms(branch, choices)
        for number in self.parts.branches[branch]:
            yield from self.atoms[number].draw_atoms(self.counts[number].draw_counts(choices), choices)
        yield from self.free_atoms(choices)

    def free_atoms(self, choices: RandomChoices) -> Iterator[TrueAtoms]:
        """Yield true atoms of which no formula says anything."""
        for symbol, probability in self.free.items():
            kinds = self.model.kinds(symbol)
            sizes = {kind: len(self.constants[kind]) for kind in kinds}
            yield TrueAtoms(symbol, drawn_tuples(kinds, sizes, probability, choices))

    def ground_atoms(self, branch: int, choices: RandomChoices) -> Iterator[TrueAtoms]:
        """Yield ground atoms that are true: decided ones, and those that are summed out."""
        true = [
            feature.weighed.number
            for feature in self.parts.ground.features
            if feature.weighed.kind == "symbol" and not feature.hidden and feature.truth[branch]
        ]
        groups = drawn_groups(self.ground, (np.array([branch]),), np.ones(1, dtype=np.int64), choices)
        true += [atom.symbol for atom in self.ground.atoms if groups.truths[atom][0]]
        for symbol in true:
            yield TrueAtoms(symbol, ())

    def _rows(self, atoms: TrueAtoms) -> NDArray[np.uint32]:
        """Return atoms by the numbers of their constants."""
        symbol, kinds = self.model.symbols[atoms.symbol], self.model.kinds(atoms.symbol)
        number = len(atoms.elements[0]) if atoms.elements else 1
        rows = np.empty((number, len(symbol.pattern)), np.uint32)
        for column, (place, type_) in enumerate(zip(symbol.pattern, symbol.types, strict=True)):
            if isinstance(place, str):
                rows[:, column] = self.vocabulary.domain(type_).number(place)
            else:
                rows[:, column] = self.constants[kinds[place]][atoms.elements[place]]
        return rows

    def _relation(self, name: str, found: Iterable[NDArray[np.uint32]]) -> Relation:
        """Return a predicate's true atoms in order: by one number for each, which is sorted quickly."""
        rows = np.concatenate(list(found))
        sizes = tuple(len(self.vocabulary.domain(type_)) for type_ in self.vocabulary[name].types)
        if len(sizes) < 2 or np.prod(sizes, dtype=float) > MOST_KEY:
            return Relation(len(sizes), sorted_rows(rows))
        keys = np.sort(np.ravel_multi_index(tuple(rows.T.astype(np.int64)), sizes))
        columns = np.unravel_index(keys, sizes)
        return Relation(len(sizes), np.stack(columns, axis=1).astype(np.uint32))


def world_distribution(
    evaluation: CellEvaluation, vocabulary: Vocabulary, formulas: Values, true: Values, false: Values,
    *, counted: bool = True,
) -> WorldDistribution:  # fmt: skip
    """Return the distribution at weights of formulas, and of true and false atoms of symbols (logarithms).

    Not ``counted``, it has the atoms alone: how many elements are in each cell is drawn by something else.
    """
    compiled = evaluation.compiled
    parts, weights = compiled.parts, log_weights(formulas, true, false)
    counts = tuple(count_distribution(one) for one in evaluation.components(weights)) if counted else ()
    ground = parts.ground.values(Logarithms(), weights)
    logs = np.array(
        [g + sum(counts[c].log_z for c in b if counted) for g, b in zip(ground, parts.branches, strict=True)]
    )
    if logs.max() == -inf:
        raise UnsatisfiableError("No world satisfies the hard formulas in domains of these sizes.")

    def find_hidden_atoms(table: Table) -> HiddenAtoms:
        return hidden_atoms(table, table.log_shares(Logarithms(), weights))

    atoms = tuple(
        ComponentAtoms(
            one.cells,
            tuple(find_hidden_atoms(kind.weights) for kind in one.cells.kinds),
            {pair: find_hidden_atoms(table) for pair, table in one.cells.pairs.items()},
        )
        for one in compiled.merged
    )
    free = {s: float(np.exp(true[s] - np.logaddexp(true[s], false[s]))) for s in parts.free}
    return WorldDistribution(
        compiled.model, parts, vocabulary, np.exp(logs - logs.max()), find_hidden_atoms(parts.ground), counts,
        atoms,
        free, _constants(compiled.model, vocabulary),
    )  # fmt: skip


def _constants(model: TwoVariableModel, vocabulary: Vocabulary) -> dict[KindName, Counts]:
    """Return the numbers of the constants of each kind: the first group of a type has all that are left."""
    weighted, found = model.weighted, {}
    for type_, domain in vocabulary.types.items():
        left = np.ones(len(domain), dtype=bool)
        left[[domain.number(name) for name in weighted.constants.get(type_, ())]] = False
        for number, group in enumerate(weighted.evidence.groups_of(type_)):
            if number:
                members = np.array([domain.number(name) for name in group.members], dtype=np.int64)
                left[members] = False
                found[type_, number] = members
        found[type_, 0] = np.flatnonzero(left)
    return found


# --- atoms of three and more arguments that no formula relates ----------------------------------

# Each is true by itself with one probability.

PIECE = 1 << 20  # tuples that are drawn at once, where many are true
FEW = 0.01  # so small a part is chosen without listing the others
MOST_TUPLES = 1 << 62


def drawn_tuples(
    kinds: Sequence[KindName], sizes: Mapping[KindName, int], probability: float, choices: RandomChoices
) -> tuple[Counts, ...]:
    """Draw tuples of elements of some kinds, different ones where these are the same."""
    total = prod(perm(sizes[kind], kinds.count(kind)) for kind in dict.fromkeys(kinds))
    if total > MOST_TUPLES:
        raise TooLargeError(
            f"A predicate of {len(kinds)} arguments has {total:.3g} atoms; at most {MOST_TUPLES:.3g} can be"
            " numbered.", float(total), ["draw worlds of smaller domains"],
        )  # fmt: skip
    piece = PIECE if probability > FEW else max(total, 1)
    starts = np.arange(0, total, piece)
    lengths = np.minimum(piece, total - starts)
    true = choices.split(lengths, np.full(len(starts), probability))
    places = [
        start + choices.places(length, number)
        for start, length, number in zip(starts.tolist(), lengths.tolist(), true.tolist(), strict=True)
        if number
    ]
    return _elements(np.concatenate([np.zeros(0, dtype=np.int64), *places]), kinds, sizes)


def _elements(places: Counts, kinds: Sequence[KindName], sizes: Mapping[KindName, int]) -> tuple[Counts, ...]:
    """Return tuples by their numbers: each argument is one of those that arguments before it leave."""
    found: list[Counts] = []
    for position, kind in enumerate(kinds):
        before = [found[n] for n in range(position) if kinds[n] == kind]
        left = sizes[kind] - len(before)
        places, own = places // left, places % left
        if before:
            for taken in np.sort(np.stack(before), axis=0):
                own = own + (own >= taken)
        found.append(own)
    return tuple(found)


# --- the distribution of the numbers of elements in cells, and drawing from it ------------------

# Wang, van Bremen, Wang and Kuželka, "Domain-lifted sampling for universal two-variable logic and
# extensions" (AAAI 2022), first step: the numbers of elements of each 1-type have the probability of their
# term in the sum for Z. The terms are the sum's own (:mod:`mlnlab.lifted.cells.cell_sums`), box by box:
# first a box is drawn by its mass, then a term in it; elements of closed cells and of merged ones are shared
# out independently.


class _Weighed(NamedTuple):
    boxes: Boxes
    masses: Values  # logarithms


@dataclass(frozen=True, slots=True, eq=False)
class CountDistribution:
    """Boxes of terms with their masses; ``dropped`` bounds the share of Z of terms left out."""

    merged: MergedCells
    problem: Problem
    shares: Sequence[Values]  # of each kind's cells in the merged ones
    corners: Values
    width: NDArray[np.int64]
    masses: Values  # as shares of the largest
    log_z: float
    dropped: float

    def draw_counts(self, choices: RandomChoices) -> list[Counts]:
        """Return for each kind how many elements are in each of its cells."""
        box = choices.one_of(self.masses)
        (points,) = points_of(Boxes(self.corners[box : box + 1], self.width))
        e = self.problem.complete_points(points)
        logs, q = self.problem.terms(e)
        term = choices.one_of(np.exp(logs - logs.max()))
        numbers = np.rint(e[term]).astype(np.int64)
        return [
            self._in_cells(kind, self._count_in_merged_cells(kind, numbers, q[term], choices), choices)
            for kind in range(len(self.merged.kinds))
        ]

    def _count_in_merged_cells(self, kind: int, numbers: Counts, q: Values, choices: RandomChoices) -> Counts:
        """Return how many elements are in each merged cell; the rest are in closed ones."""
        at = self.problem.at
        found = np.zeros(len(self.merged.kinds[kind].chosen), dtype=np.int64)
        own = np.setdiff1d(np.flatnonzero(at.kind == kind), at.rest)
        found[at.cell[own]] = numbers[own]
        members = np.flatnonzero(at.member_kind == kind)
        rest = int(numbers[at.rest[kind]])
        if rest:
            found[at.member_cell[members]] = choices.spread(rest, q[members])
        return found

    def _in_cells(self, kind: int, merged: Counts, choices: RandomChoices) -> Counts:
        """Return how many elements are in each cell: rows of those merged differ by factors alone."""
        into = self.merged.kinds[kind].into
        found = np.zeros(len(into), dtype=np.int64)
        for place in np.flatnonzero(merged).tolist():
            own = np.flatnonzero(into == place)
            number = int(merged[place])
            found[own] = number if len(own) == 1 else choices.spread(number, self.shares[kind][own])
        return found


def count_distribution(component: ComponentAt) -> CountDistribution:
    """Return the distribution for a component at weights and sizes."""
    problem, shares = component.to_draw()
    cell_sum = CellSum(problem, moments=False, budget=component.budget)
    total = Total(-inf, 0.0, [])
    width = np.ones(len(problem.at.open), dtype=np.int64)
    found = [_Weighed(Boxes(np.zeros((0, len(width))), width), np.zeros(0))]
    for boxes, _ in cell_sum.small_boxes(total):
        for number, points in enumerate(points_of(boxes)):
            e = problem.complete_points(points)
            logs, q = problem.terms(e)
            total.add(logs, e, q, moments=False)
            each = len(points) // int(np.prod(boxes.width))
            start = number * each
            corners = boxes.corners[start : start + each]
            masses = np.logaddexp.reduce(logs.reshape(len(corners), -1), axis=1)
            found.append(_Weighed(Boxes(corners, boxes.width), masses))
    masses = np.concatenate([one.masses for one in found])
    alive = masses > -inf
    log_z = float(np.logaddexp.reduce(masses))
    corners = np.concatenate([one.boxes.corners for one in found])[alive]
    return CountDistribution(
        component.merged, problem, shares, corners, found[-1].boxes.width,
        np.exp(masses[alive] - masses.max(initial=-inf)), log_z,
        exp(min(0.0, total.dropped - log_z)) if log_z > -inf else 0.0,
    )  # fmt: skip
