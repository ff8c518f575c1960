"""What makes a formula's gap: the atoms, or ground formulas, that differ most from what is expected.

For a pseudo-likelihood the gap is a sum over atoms, (truth - P(true | the rest)) Δn_i, those of blocks
included (:mod:`mlnlab.learning.heaviest_blocks`); for a likelihood a sum over ground formulas, truth in the
data - P(true). The first is exact; probabilities of ground formulas are shares among samples that are drawn
here, from where the learner's own chains are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.counting.deltas import DeltaCounter
from mlnlab.counting.facts import facts_of
from mlnlab.learning.block_moves import block_options
from mlnlab.learning.conditional_log_likelihood import Drawn
from mlnlab.learning.contributions import Contribution, Heaviest
from mlnlab.learning.counts_of_best_worlds import BestWorldCounts
from mlnlab.learning.heaviest_blocks import AtomsOfGap, atoms_of_blocks
from mlnlab.learning.lifted_by_cells import LikelihoodByCells, heaviest_as_one
from mlnlab.learning.lifted_class_counts import heaviest_classes
from mlnlab.learning.lifted_counts import LiftedLogLikelihood
from mlnlab.learning.mini_batches import MiniBatches
from mlnlab.learning.pseudo_log_likelihood import PseudoLogLikelihood
from mlnlab.learning.sampled_counts import SampledCounts
from mlnlab.learning.steering import GoingOn
from mlnlab.logic.ground_atoms import GroundAtom
from mlnlab.logic.weights import Hard

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.counting.deltas import AtomDeltas
    from mlnlab.grounding.clauses import GroundClauses
    from mlnlab.learning.block_moves import BlockOptions
    from mlnlab.learning.ground_example import GroundExample
    from mlnlab.learning.learning_state import LearningState
    from mlnlab.learning.problem import Problem
    from mlnlab.learning.training_data import Example, TrainingData

    Numbers = NDArray[np.float64]

MOST = 12  # that are named
MOST_CELLS = 4_000_000  # atoms times formulas that are looked at one by one
MOST_CLAUSES = 100_000  # ground clauses whose truth is looked up in every sample
SAMPLES = 60
_DIGITS = 9  # to which numbers agree that are called alike


@dataclass(frozen=True, eq=False)
class GapMakers:
    """Finds what makes gaps, formula by formula and state by state; changes of atoms are counted once."""

    data: TrainingData
    problem: Problem

    def of(self, state: LearningState, formula: int, most: int = MOST) -> Heaviest:
        """Return what makes the gap of a formula at a state."""
        objective = self.problem.objective
        while isinstance(objective, GoingOn | MiniBatches):
            objective = objective.objective if isinstance(objective, GoingOn) else objective.whole
        if isinstance(objective, PseudoLogLikelihood):
            return self._of_atoms(state.weights, formula, objective.weighted, most)
        if isinstance(objective, LiftedLogLikelihood):
            return heaviest_classes(self.data, objective, state.weights, formula)
        if isinstance(objective, LikelihoodByCells):
            return heaviest_as_one(objective, state.weights, formula)
        return _of_groundings(objective, state, formula, most)

    def _of_atoms(self, weights: Numbers, formula: int, weighted: bool, most: int) -> Heaviest:
        counted, left_out = self._counted
        found: list[Contribution] = []
        for one in counted:
            found += _merged(one, one.at(weights, formula), one.number if weighted else 1)
        found.sort(key=lambda row: -abs(row.share))
        remark = "Exact: an atom's share is (truth − probability) · Δn."
        if left_out:
            names = ", ".join(dict.fromkeys(left_out))
            remark += f" Left out, because they are too many: the atoms of {names}."
        return Heaviest("atoms", tuple(found[:most]), sum(row.alike for row in found), remark)

    @cached_property
    def _counted(self) -> tuple[list[_Atoms | _Blocks], list[str]]:
        """The changes of the counts by each atom, and the predicates that have too many of them."""
        data, counted, left_out = self.data, list[_Atoms | _Blocks](), list[str]()
        formulas = [weighted.formula for weighted in data.formulas]
        hard = np.array([isinstance(weighted.weight, Hard) for weighted in data.formulas], bool)
        for example in data.examples:
            counter = DeltaCounter(formulas, example.vocabulary)
            facts = facts_of(example.database, example.vocabulary)
            for name in data.mentioned:
                predicate, known = example.vocabulary[name], data.known_false(example, name)
                atoms = example.number_of_atoms(name)
                if atoms * len(formulas) > MOST_CELLS:
                    left_out.append(name)
                elif predicate.exclusive:
                    counted.append(
                        _Blocks(example, name, block_options(formulas, hard, facts, predicate, known))
                    )
                elif atoms > len(known):
                    counted.append(_atoms(example, name, counter(facts, name), hard, known))
        return counted, left_out


def heaviest(
    data: TrainingData, problem: Problem, state: LearningState, formula: int, most: int = MOST
) -> Heaviest:
    """Return what makes the gap of a formula at a state."""
    return GapMakers(data, problem).of(state, formula, most)


# --- pseudo-likelihoods: atoms --------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class _Atoms:
    """The atoms of a predicate in a database that may be otherwise, and their Δn."""

    example: Example
    predicate: str
    number: int  # of all atoms that are predicted: what weighting divides by
    atoms: NDArray[np.uint32]
    truths: NDArray[np.bool_]
    values: Numbers  # a column for each formula

    def at(self, weights: Numbers, formula: int) -> AtomsOfGap:
        """Return those that matter to a formula, with their probabilities."""
        from scipy.special import expit

        kept = self.values[:, formula] != 0
        values = self.values[kept]
        return AtomsOfGap(self.atoms[kept], self.truths[kept], expit(values @ weights), values[:, formula])


@dataclass(frozen=True, slots=True, eq=False)
class _Blocks:
    """The blocks of a predicate in a database."""

    example: Example
    predicate: str
    options: BlockOptions

    @property
    def number(self) -> int:
        """How many blocks there are: what weighting divides by."""
        return len(self.options.atoms)

    def at(self, weights: Numbers, formula: int) -> AtomsOfGap:
        """Return the atoms that matter to a formula, with their probabilities."""
        return atoms_of_blocks(self.options, weights, formula)


def _atoms(
    example: Example,
    name: str,
    deltas: AtomDeltas,
    hard: NDArray[np.bool_],
    known_false: NDArray[np.uint32],
) -> _Atoms:
    sizes = deltas.sizes
    atoms = np.stack(
        [grid.ravel() for grid in np.indices(sizes, dtype=np.uint32)], axis=1
    ) if sizes else np.zeros((1, 0), np.uint32)  # fmt: skip
    if len(known_false):  # what is known beforehand is not predicted
        places = np.ravel_multi_index(tuple(known_false.T.astype(np.int64)), tuple(sizes))
        atoms = np.delete(atoms, places, axis=0)
    truths = deltas.truths(atoms)
    values = np.asarray(deltas.at(atoms, truths), np.float64)
    # An atom on which a hard formula depends holds it as it is: it is certain, and contributes nothing.
    kept = ~(values[:, hard] != 0).any(axis=1)
    values = np.where(hard, 0.0, values[kept])
    return _Atoms(example, name, len(atoms), atoms[kept], truths[kept], values)


def _merged(of: _Atoms | _Blocks, rows: AtomsOfGap, atoms: int) -> Iterator[Contribution]:
    """Yield one contribution for all atoms that are alike."""
    if not len(rows.atoms):
        return
    keys = np.column_stack([rows.truths, np.round(rows.probabilities, _DIGITS), rows.changes])
    _, firsts, numbers = np.unique(keys, axis=0, return_index=True, return_counts=True)
    vocabulary = of.example.vocabulary
    domains = [tuple(vocabulary.domain(type_)) for type_ in vocabulary[of.predicate].types]
    for first, number in zip(firsts.tolist(), numbers.tolist(), strict=True):
        constants = zip(domains, rows.atoms[first].tolist(), strict=True)
        atom = GroundAtom(of.predicate, tuple(str(domain[place]) for domain, place in constants))
        truth, chance, change = bool(rows.truths[first]), rows.probabilities[first], rows.changes[first]
        share = (truth - chance) * change * number / atoms
        yield Contribution(str(atom), truth, float(chance), float(change), float(share), number)


# --- likelihoods: ground formulas -----------------------------------------------------------------


def _of_groundings(objective: Any, state: LearningState, formula: int, most: int) -> Heaviest:  # noqa: ANN401
    expecting = getattr(objective, "expecting", None) or SampledCounts("mc-sat")
    found: list[Contribution] = []
    number = 0
    for place, example in enumerate(objective.examples):
        clauses = example.ground.clauses
        if clauses.number_of_clauses + clauses.number_of_tables > MOST_CLAUSES:
            many = f"There are more than {MOST_CLAUSES:,} ground formulas: too many to look at one by one."
            return Heaviest("ground formulas", (), clauses.number_of_clauses, many)
        in_data = _truths(clauses, example.data, formula)
        worlds = _worlds(example, expecting, state, place)
        chances = np.mean([_truths(clauses, world, formula) for world in worlds], axis=0)
        number += len(in_data)
        order = np.argsort(-np.abs(in_data - chances), kind="stable")[:most]
        for one in order.tolist():
            chance, truth = float(chances[one]), bool(in_data[one])
            found.append(Contribution(_text(clauses, formula, one), truth, chance, 1.0, truth - chance, 1))
    found.sort(key=lambda row: -abs(row.share))
    how = (
        "in a most probable world"
        if isinstance(expecting, BestWorldCounts)
        else f"shares of {SAMPLES} samples that were drawn for this picture"
    )
    remark = f"A ground formula's share is truth − probability; probabilities are {how}."
    return Heaviest("ground formulas", tuple(found[:most]), number, remark)


def _worlds(
    example: GroundExample, expecting: SampledCounts | BestWorldCounts, state: LearningState, place: int
) -> list[NDArray[np.uint32]]:
    """Return worlds of one database at the weights of a state."""
    chains = (
        state.memory.chains[place] if isinstance(state.memory, Drawn) else expecting.first(example, place)
    )
    if isinstance(expecting, BestWorldCounts):
        return list(chains.chosen)
    one = replace(expecting, samples=1)
    found: list[NDArray[np.uint32]] = []
    for _ in range(SAMPLES):
        _, chains = one.drawn(example, state.weights, chains)
        found += list(chains.chosen)
    return found


def _truths(clauses: GroundClauses, chosen: NDArray[np.uint32], formula: int) -> NDArray[np.bool_]:
    """Return which open groundings of a formula hold in a world: clauses first, then tables."""
    own = clauses.clause_sources == formula
    holds = (clauses.satisfied(chosen) != clauses.negated)[own]
    if not clauses.number_of_tables:
        return np.asarray(holds)
    cells = np.zeros(clauses.number_of_tables, np.int64)
    starts = clauses.scope_starts.astype(np.int64)
    tables = np.repeat(np.arange(len(cells)), starts[1:] - starts[:-1])
    np.add.at(cells, tables, chosen.astype(np.int64)[clauses.scope] * clauses.strides)
    clauses.gates.add_to(cells, chosen, clauses.bits)
    selected = clauses.bits[clauses.bit_starts + cells] == 1
    return np.concatenate([holds, selected[clauses.table_sources == formula]])


def _text(clauses: GroundClauses, formula: int, place: int) -> str:
    """Return an open grounding of a formula as text, by its place among them."""
    atoms = [atom for choice in clauses.question.choices for atom in choice.atoms]
    own = np.flatnonzero(clauses.clause_sources == formula)
    if place < len(own):
        clause = int(own[place])
        first, end = clauses.starts[clause : clause + 2].tolist()
        negated = bool(clauses.negated[clause])
        words = [
            f"{'!' if (literal & 1) != negated else ''}{atoms[literal >> 1]}"
            for literal in clauses.literals[first:end].tolist()
        ]
        return (" ^ " if negated else " v ").join(words)
    table = int(np.flatnonzero(clauses.table_sources == formula)[place - len(own)])
    first, end = clauses.scope_starts[table : table + 2].tolist()
    choices = clauses.scope[first:end].tolist()
    return "about " + ", ".join(str(atoms[int(clauses.first_atoms[choice])]) for choice in choices)
