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
from mlnlab.grounding.clauses.ground_clause_making import ground_clauses
from mlnlab.grounding.clauses.merging import rows_of
from mlnlab.grounding.question.question import Opening, Question, opening, pose
from mlnlab.inference.sampling.chains import Ground, prepare_chains, refuse_impossible
from mlnlab.inference.sampling.net_strengths import EqualClauses, equal_clauses
from mlnlab.inference.sampling.slices import constraints_of
from mlnlab.inference.search.landscape import Landscape, landscape_of
from mlnlab.inference.search.walk_arrays import members_of
from mlnlab.kernels.chains.gibbs_sweeps import count
from mlnlab.kernels.chains.world_arrays import Chain, new_chain
from mlnlab.logic.formulas.weights import Fixed, Hard, Soft

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.grounding.clauses.ground_clauses import GroundClauses
    from mlnlab.kernels.chains.sample_sat_constraints import Constraints
    from mlnlab.learning.problems.training_data import Example, TrainingData
    from mlnlab.model.database.database import Database
    from mlnlab.model.mln.mln import MLN

    Numbers = NDArray[np.float64]
    from numpy.typing import NDArray

    from mlnlab.inference.sampling.net_strengths import EqualClauses
    from mlnlab.kernels.search.walk_steps import Members

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

    def reweigh_clauses(self, weights: Numbers) -> Ground:
        """Return the same ground clauses with other weights of the formulas."""
        clauses = self.ground.clauses
        own = weights[clauses.clause_sources]
        of_clauses = np.where(clauses.hard, 0.0, np.where(clauses.negated, -own, own))
        of_tables = np.where(clauses.table_hard, 0.0, weights[clauses.table_sources])
        of_gates = np.zeros(len(clauses.gates))  # parts of tables, which have no strength of their own
        changed: Any = {"weights": _make_read_only(of_clauses), "table_weights": _make_read_only(of_tables)}
        network = self.ground.network._replace(
            strengths=_make_read_only(np.where(clauses.hard, inf, of_clauses)),
            table_strengths=_make_read_only(
                np.concatenate([np.where(clauses.table_hard, inf, of_tables), of_gates])
            ),
        )
        return Ground(replace(clauses, **changed), network, self.ground.groups)


def _make_read_only(values: Numbers) -> Numbers:
    array = np.ascontiguousarray(values, np.float64)
    array.setflags(write=False)
    return array


def ground_example(data: TrainingData, example: Example) -> GroundExample:
    """Ground the formulas over the atoms that evidence leaves open in a database."""
    model = _with_any_weights(data.model(example))
    formulas = model.formulas
    question, clauses = _ground(
        model, data.hide_predicted_atoms(example), _list_open_predicates(data, example)
    )
    if len(clauses.sources) != len(formulas):
        raise ArgumentError(
            f"{len(formulas)} formulas became {len(clauses.sources)} when they were read again; learn from"
            " the model that mln.expand(db) returns."
        )
    refuse_impossible(clauses)
    hard = np.array([isinstance(weighted.weight, Hard) for weighted in formulas], bool)
    return GroundExample(prepare_chains(clauses), _options_of_data(question, example), hard)


def asked_of(data: TrainingData, example: Example) -> Opening:
    """Return the opening of a ground example, from which sizes can be told without grounding."""
    return opening(
        _with_any_weights(data.model(example)),
        data.hide_predicted_atoms(example),
        _list_open_predicates(data, example),
    )


def _with_any_weights(model: MLN) -> MLN:
    """Any number will do for a weight: grounding does not look at it, and learning brings its own."""
    formulas = tuple(
        weighted if isinstance(weighted.weight, Hard | Fixed | Soft) else replace(weighted, weight=Soft(0.0))
        for weighted in model.formulas
    )
    return replace(model, formulas=formulas)


def _list_open_predicates(data: TrainingData, example: Example) -> list[str]:
    """Return the predicates predicted here; those over a type empty in a database have no atoms."""
    return [name for name in data.mentioned if example.number_of_atoms(name)]


def _ground(mln: MLN, db: Database, opened: list[str]) -> tuple[Question, GroundClauses]:
    """Return the question and its ground clauses; refuse too large ones with a learner's ways out."""
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


# --- prepare the clauses for a search for the most probable world -------------------------------

# Equal clauses are one, with the sum of their weights, a unit clause and its opposite included: where strong
# formulas want an atom true and stronger ones want it false, one of the two would be broken in every world,
# and a search that repairs what is broken would turn the atom to and fro. Which clauses are equal does not
# depend on weights, so that other weights only change numbers.


@dataclass(frozen=True, slots=True, eq=False)
class SearchedClauses:
    """One clause of each group of equal ones, in the kernels' arrays, and the places of these clauses."""

    ground: Ground
    members: Members
    equal: EqualClauses
    heads: NDArray[np.int64]

    def landscape(self, weighed: Ground) -> Landscape:
        """Return the costs of worlds where all clauses have the weights that they have in ``weighed``."""
        net = self.equal.clauses.net(weighed.network.strengths)[self.heads]
        soft = np.where(self.ground.clauses.hard, 0.0, net)
        for array in (net, soft):
            array.setflags(write=False)
        changed: Any = {"weights": soft, "table_weights": weighed.clauses.table_weights}
        network = self.ground.network._replace(
            strengths=net, table_strengths=self.equal.tables.net(weighed.network.table_strengths)
        )
        return landscape_of(Ground(replace(self.ground.clauses, **changed), network, self.ground.groups))


def searched_clauses(ground: Ground, equal: EqualClauses) -> SearchedClauses:
    """Leave one of each group of equal clauses, and prepare it for a search."""
    clauses = ground.clauses
    heads = np.flatnonzero(equal.clauses.first == np.arange(len(equal.clauses.first)))
    of_clauses = ("weights", "hard", "negated", "clause_sources")
    fewer: Any = {name: getattr(clauses, name)[heads] for name in of_clauses}
    fewer |= rows_of(clauses.starts.astype(np.int64), clauses.literals, heads)
    for array in fewer.values():
        array.setflags(write=False)
    alone = prepare_chains(replace(clauses, **fewer))
    return SearchedClauses(alone, members_of(alone), equal, heads)
