"""A database made ready for likelihoods: its predicted atoms open, its formulas ground, its own world known.

Grounding happens once; other weights only change numbers in arrays, whatever evidence leaves open.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.errors import ArgumentError, TooLargeError
from mlnlab.grounding.clause_making import ground_clauses
from mlnlab.grounding.question import opening, pose
from mlnlab.inference.chains import Ground, prepared, refuse_impossible
from mlnlab.inference.net_strengths import EqualClauses, equal_clauses
from mlnlab.inference.slices import constraints_of
from mlnlab.kernels.gibbs import count
from mlnlab.kernels.ground_network import new_chain
from mlnlab.learning.searched_clauses import SearchedClauses, searched_clauses
from mlnlab.logic.weights import Fixed, Hard, Soft

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.grounding.clauses import GroundClauses
    from mlnlab.grounding.question import Opening, Question
    from mlnlab.kernels.ground_network import Chain
    from mlnlab.kernels.sample_sat_constraints import Constraints
    from mlnlab.learning.training_data import Example, TrainingData
    from mlnlab.model.database import Database
    from mlnlab.model.mln import MLN

    Numbers = NDArray[np.float64]

_WAYS = (
    'use the pseudo-likelihood, which counts groundings instead of listing them: method="pll"',
    "predict fewer predicates, given the others: query=[...]",
    "use fewer constants, or learn from several smaller databases",
)


@dataclass(frozen=True, eq=False)
class GroundExample:
    """The ground clauses of one database, and the option of each choice in the database's own world."""

    ground: Ground
    data: NDArray[np.uint32]
    hard: NDArray[np.bool_]  # which formulas must hold: they have no weight and count nothing

    @property
    def formulas(self) -> int:
        """The number of formulas."""
        return len(self.hard)

    @cached_property
    def observed(self) -> Numbers:
        """n_i of the open groundings in the data."""
        return self.counts_in(self.chain(self.data, np.zeros(4, np.uint64)))

    @cached_property
    def decided(self) -> Numbers:
        """How many groundings of each formula evidence alone makes true."""
        tallies = self.ground.clauses.tallies
        return np.where(self.hard, 0.0, [float(tally.true) for tally in tallies])

    def chain(self, chosen: NDArray[np.uint32], random: NDArray[np.uint64]) -> Chain:
        """Return a chain in a world."""
        return new_chain(self.ground.network, chosen, random)

    @cached_property
    def equal(self) -> EqualClauses:
        """Which ground clauses are equal."""
        return equal_clauses(self.ground.clauses)

    @cached_property
    def constraints(self) -> Constraints:
        """The clauses as MC-SAT chooses among them, at some weights."""
        return constraints_of(self.ground, self.equal)

    @cached_property
    def searched(self) -> SearchedClauses:
        """The clauses as a search for a most probable world goes over them."""
        return searched_clauses(self.ground, self.equal)

    def counts_in(self, chain: Chain) -> Numbers:
        """Return n_i of the open groundings in a chain's world."""
        numbers = np.zeros(self.formulas, np.int64)
        count(self.ground.network, self.ground.groups, chain, numbers)
        return np.where(self.hard, 0.0, numbers.astype(np.float64))

    def reweighted(self, weights: Numbers) -> Ground:
        """Return the same ground clauses with other weights of the formulas."""
        clauses = self.ground.clauses
        own = weights[clauses.clause_sources]
        of_clauses = np.where(clauses.hard, 0.0, np.where(clauses.negated, -own, own))
        of_tables = np.where(clauses.table_hard, 0.0, weights[clauses.table_sources])
        of_gates = np.zeros(len(clauses.gates))  # parts of tables, which have no strength of their own
        changed: Any = {"weights": _settled(of_clauses), "table_weights": _settled(of_tables)}
        network = self.ground.network._replace(
            strengths=_settled(np.where(clauses.hard, inf, of_clauses)),
            table_strengths=_settled(
                np.concatenate([np.where(clauses.table_hard, inf, of_tables), of_gates])
            ),
        )
        return Ground(replace(clauses, **changed), network, self.ground.groups)


def _settled(values: Numbers) -> Numbers:
    array = np.ascontiguousarray(values, np.float64)
    array.setflags(write=False)
    return array


def ground_example(data: TrainingData, example: Example) -> GroundExample:
    """Ground the formulas over what evidence leaves open in a database."""
    model = _with_any_weights(data.model(example))
    formulas = model.formulas
    question, clauses = _ground(model, data.hidden(example), _opened(data, example))
    if len(clauses.sources) != len(formulas):
        raise ArgumentError(
            f"{len(formulas)} formulas became {len(clauses.sources)} when they were read again; learn from"
            " the model that mln.expand(db) returns."
        )
    refuse_impossible(clauses)
    hard = np.array([isinstance(weighted.weight, Hard) for weighted in formulas], bool)
    return GroundExample(prepared(clauses), _options_of_data(question, example), hard)


def asked_of(data: TrainingData, example: Example) -> Opening:
    """Return what would be ground, of which sizes can be told."""
    return opening(_with_any_weights(data.model(example)), data.hidden(example), _opened(data, example))


def _with_any_weights(model: MLN) -> MLN:
    """Any number will do for a weight: grounding does not look at it, and learning brings its own."""
    formulas = tuple(
        weighted if isinstance(weighted.weight, Hard | Fixed | Soft) else replace(weighted, weight=Soft(0.0))
        for weighted in model.formulas
    )
    return replace(model, formulas=formulas)


def _opened(data: TrainingData, example: Example) -> list[str]:
    """Return what is predicted here; predicates over a type that is empty in a database have no atoms."""
    return [name for name in data.mentioned if example.number_of_atoms(name)]


def _ground(mln: MLN, db: Database, opened: list[str]) -> tuple[Question, GroundClauses]:
    """Return what is asked and its ground clauses; what is too large is refused with a learner's ways out."""
    try:
        question = pose(mln, db, opened)
        return question, ground_clauses(question)
    except TooLargeError as refusal:
        of_formula = [way for way in refusal.remedies if way.startswith("drop or change")]
        summary = f"This learner grounds the model over the data, which is too much here. {refusal.summary}"
        raise TooLargeError(summary, refusal.estimate, [*_WAYS, *of_formula]) from None


def _options_of_data(question: Question, example: Example) -> NDArray[np.uint32]:
    true = frozenset(example.database.atoms())
    found = np.zeros(len(question.choices), np.uint32)
    for number, choice in enumerate(question.choices):
        held = [place for place, atom in enumerate(choice.atoms) if atom in true]
        found[number] = held[0] if held else len(choice.atoms)
    found.setflags(write=False)
    return found
