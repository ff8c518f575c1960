"""Split a formula's gap into the atoms, or ground formulas, that differ most from expectation.

For a pseudo-likelihood the gap is a sum over atoms, (truth - P(true | the rest)) Δn_i, those of blocks
included (:mod:`mlnlab.learning.studies.heaviest`); for a likelihood a sum over ground formulas,
truth in the data - P(true). The first is exact; probabilities of ground formulas are shares among samples
that are drawn here, from where the learner's own chains are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.counting.counts.counts import counts_of
from mlnlab.counting.deltas.deltas import AtomDeltas, DeltaCounter
from mlnlab.counting.facts.sorted_facts import facts_of
from mlnlab.learning.ask.steering import GoingOn
from mlnlab.learning.counts.counts_of_best_worlds import BestWorldCounts
from mlnlab.learning.counts.sampled_counts import SampledCounts
from mlnlab.learning.objectives.block_moves import BlockOptions, block_options
from mlnlab.learning.objectives.conditional_log_likelihood import Drawn
from mlnlab.learning.objectives.lifted_by_cells import LikelihoodByCells, heaviest_as_one
from mlnlab.learning.objectives.lifted_counts import LiftedLogLikelihood
from mlnlab.learning.objectives.pseudo_log_likelihood import PseudoLogLikelihood
from mlnlab.learning.problems.contributions import Contribution, Heaviest
from mlnlab.learning.problems.mini_batches import MiniBatches
from mlnlab.lifted.ask.equiprobable_probabilities import symbol_of
from mlnlab.lifted.ask.lifted_likelihood import likelihoods_at
from mlnlab.lifted.circuit.equiprobable import EquiprobableClass, equiprobable_classes
from mlnlab.logic.formulas.formulas import And, Constant, Equality, Formula, Not, Variable
from mlnlab.logic.formulas.ground_atoms import GroundAtom
from mlnlab.logic.formulas.substitution import substitute
from mlnlab.logic.formulas.weights import Hard

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.grounding.clauses.ground_clauses import GroundClauses
    from mlnlab.learning.problems.ground_example import GroundExample
    from mlnlab.learning.problems.learning_state import LearningState
    from mlnlab.learning.problems.problem import Problem
    from mlnlab.learning.problems.training_data import Example, TrainingData

    Numbers = NDArray[np.float64]
    from numpy.typing import NDArray

    from mlnlab.learning.objectives.block_moves import BlockOptions


MOST = 12  # that are named
MOST_CELLS = 4_000_000  # atoms times formulas that are looked at one by one
MOST_CLAUSES = 100_000  # ground clauses whose truth is looked up in every sample
SAMPLES = 60
_DIGITS = 9  # to which numbers agree that are called alike


@dataclass(frozen=True, eq=False)
class GapMakers:
    """Splits gaps into contributions, by formula and state; changes of atoms are counted once."""

    data: TrainingData
    problem: Problem

    def of(self, state: LearningState, formula: int, most: int = MOST) -> Heaviest:
        """Return the heaviest contributions to the gap of a formula at a state."""
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
            found += _merge_contributions(one, one.at(weights, formula), one.number if weighted else 1)
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
    """Return the heaviest contributions to the gap of a formula at a state."""
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
        """The number of blocks, by which weighting divides."""
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


def _merge_contributions(of: _Atoms | _Blocks, rows: AtomsOfGap, atoms: int) -> Iterator[Contribution]:
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
        _, chains = one.draw_counts(example, state.weights, chains)
        found += list(chains.chosen)
    return found


def _truths(clauses: GroundClauses, chosen: NDArray[np.uint32], formula: int) -> NDArray[np.bool_]:
    """Return which open groundings of a formula hold in a world: clauses first, then tables."""
    own = clauses.clause_sources == formula
    holds = (clauses.mark_satisfied_clauses(chosen) != clauses.negated)[own]
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


# --- split a formula's gap over exclusive blocks ------------------------------------------------

# A block is one variable, so its gap is n_i of the data's option less the mean of n_i over all options. With
# Δn_i(a) counted from the block without a true atom, that is the sum of (truth - P(a)) Δn_i(a) over its
# atoms: the same as for atoms that stand alone.


@dataclass(frozen=True, slots=True, eq=False)
class AtomsOfGap:
    """Atoms that matter to a formula: their truth in the data, their probability, and their Δn."""

    atoms: NDArray[np.uint32]
    truths: NDArray[np.bool_]
    probabilities: Numbers
    changes: Numbers


def atoms_of_blocks(options: BlockOptions, weights: Numbers, formula: int) -> AtomsOfGap:
    """Return the atoms of blocks that matter to a formula."""
    chances = option_chances(options, weights)[:, :-1]
    changes = options.values[:, :-1, formula] - options.values[:, -1:, formula]
    places = np.arange(chances.shape[1])
    truths = places[None, :] == options.true[:, None]
    # An option that is not allowed is never taken.
    kept = (changes != 0) & (truths | options.allowed[:, :-1])
    return AtomsOfGap(options.atoms[kept], truths[kept], chances[kept], changes[kept])


def option_chances(options: BlockOptions, weights: Numbers) -> Numbers:
    """Return the probability of each option of each block, given everything else."""
    scores = np.where(options.allowed, options.values @ weights, -np.inf)
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


# --- tabulate expected and observed counts by equiprobable class --------------------------------

_ROUNDING = 1e-13  # of the groundings


@dataclass(frozen=True, slots=True)
class ClassCount:
    """A class in all databases: its groundings, how many are true, and how many are expected to be."""

    text: str
    groundings: int
    observed: int
    expected: float

    @property
    def probability(self) -> float:
        """The probability that the model gives each of its groundings."""
        return self.expected / self.groundings


def class_counts(
    data: TrainingData, objective: LiftedLogLikelihood, weights: Numbers, formula: int
) -> list[ClassCount]:
    """Return the counts of each class of a formula that has groundings."""
    weighted = objective.circuit.weighted
    expected = likelihoods_at(objective.examples, weights)
    found = []
    for one in equiprobable_classes(objective.circuit.mln).of(formula):
        symbol, positive = symbol_of(one, weighted)
        groundings = sum(one.size(example.sizes) for example in objective.examples)
        if groundings:
            atoms = sum(float((at.true if positive else at.false)[symbol]) for at in expected)
            observed = sum(count_true_groundings(one, example) for example in data.examples)
            found.append(ClassCount(str(one), groundings, observed, atoms))
    return found


def heaviest_classes(
    data: TrainingData, objective: LiftedLogLikelihood, weights: Numbers, formula: int
) -> Heaviest:
    """Return the equiprobable classes of a formula's groundings."""
    rows = []
    for one in class_counts(data, objective, weights, formula):
        share = one.observed / one.groundings
        gap = one.observed - one.expected
        if abs(gap) < _ROUNDING * one.groundings:
            gap = 0.0
        rows.append(Contribution(one.text, share > 0.5, one.probability, 1.0, gap, one.groundings, share))
    rows.sort(key=lambda row: -abs(row.share))
    remark = "Exact: all groundings of a class have one probability; data is the share of them that are true."
    return Heaviest("classes", tuple(rows), len(rows), remark)


def count_true_groundings(one: EquiprobableClass, example: Example) -> int:
    """Return how many groundings of a class are true in a database."""
    return int(counts_of([_restrict_formula(one)], facts_of(example.database, example.vocabulary))[0])


def _restrict_formula(one: EquiprobableClass) -> Formula:
    """Return the formula with equal variables made one, and the others said to be different."""
    first: dict[int, Variable] = {}
    binding: dict[Variable, Variable | Constant] = {}
    for variable, place in one.decided:
        if isinstance(place, int):
            binding[variable] = first.setdefault(place, variable)
        else:
            binding[variable] = Constant(place, variable.type)
    different = list(_differences(list(first.values()), dict(one.named)))
    formula = substitute(one.formula, binding)
    return And((formula, *different)) if different else formula


def _differences(variables: Sequence[Variable], named: Mapping[str, Sequence[str]]) -> Iterator[Formula]:
    for place, variable in enumerate(variables):
        for other in variables[:place]:
            if other.type == variable.type:
                yield Not(Equality(other, variable))
        for name in named.get(variable.type, ()):
            yield Not(Equality(variable, Constant(name, variable.type)))
