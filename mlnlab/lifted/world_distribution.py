"""The distribution over worlds of a model that is compiled to cells, from which whole worlds are drawn.

Wang, van Bremen, Wang and Kuželka, "Domain-lifted sampling for universal two-variable logic and extensions"
(AAAI 2022): the ground atoms that formulas mention first, then of each component how many elements are in
each cell (:mod:`mlnlab.lifted.count_distribution`), then its atoms (:mod:`mlnlab.lifted.drawn_atoms`). Each
step has its probability given those before, so that worlds are exact and independent samples.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.errors import UnsatisfiableError
from mlnlab.lifted.cell_evaluation import log_weights
from mlnlab.lifted.cell_numbers import Logarithms
from mlnlab.lifted.count_distribution import count_distribution
from mlnlab.lifted.drawn_atoms import ComponentAtoms, TrueAtoms, drawn_groups, hidden_atoms
from mlnlab.lifted.drawn_tuples import drawn_tuples
from mlnlab.logic.relations import Relation, sorted_rows
from mlnlab.logic.vocabulary import FrozenMapping
from mlnlab.model.database import Database

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from numpy.typing import NDArray

    from mlnlab.lifted.cell_components import Parts
    from mlnlab.lifted.cell_evaluation import CellEvaluation
    from mlnlab.lifted.cell_factors import KindName, TwoVariableModel
    from mlnlab.lifted.cell_tables import Table
    from mlnlab.lifted.count_distribution import CountDistribution
    from mlnlab.lifted.drawn_atoms import HiddenAtoms
    from mlnlab.lifted.random_choices import RandomChoices
    from mlnlab.logic.vocabulary import Vocabulary

    Values = NDArray[np.float64]
    Counts = NDArray[np.int64]

MOST_KEY = float(1 << 62)  # of numbers of tuples that are sorted as one number


@dataclass(frozen=True, slots=True, eq=False)
class WorldDistribution:
    """What worlds are drawn from; ``dropped`` bounds how far any probability is off for terms left out."""

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
        """A bound of what part of the distribution was left out as negligible."""
        return sum(one.dropped for one in self.counts)

    def drawn(self, choices: RandomChoices) -> Database:
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
            yield from self.atoms[number].drawn(self.counts[number].drawn(choices), choices)
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

    def hidden(table: Table) -> HiddenAtoms:
        return hidden_atoms(table, table.log_shares(Logarithms(), weights))

    atoms = tuple(
        ComponentAtoms(
            one.cells,
            tuple(hidden(kind.weights) for kind in one.cells.kinds),
            {pair: hidden(table) for pair, table in one.cells.pairs.items()},
        )
        for one in compiled.merged
    )
    free = {s: float(np.exp(true[s] - np.logaddexp(true[s], false[s]))) for s in parts.free}
    return WorldDistribution(
        compiled.model, parts, vocabulary, np.exp(logs - logs.max()), hidden(parts.ground), counts, atoms,
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
