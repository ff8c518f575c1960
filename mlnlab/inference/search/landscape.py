"""Define the landscape of a search for a most probable world: worlds and their costs.

The cost of a world is the sum of |w| over the ground formulas that it *breaks*: those with w > 0 that are
false in it and those with w < 0 that are true. Its log-weight is the highest that any world could have, where
nothing is broken, minus its cost; so the cheapest world is the most probable one. A hard constraint costs
more than everything else together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mlnlab.errors import ArgumentError
from mlnlab.grounding.clauses.ground_clause_making import ground_clauses
from mlnlab.inference.sampling.chains import Ground, prepare_chains, refuse_impossible, sizes_of_worlds
from mlnlab.kernels.chains.gibbs_sweeps import count
from mlnlab.kernels.chains.modes import cost_of, costs_apart, descend
from mlnlab.kernels.chains.world_arrays import Chain, Network, new_chain

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.grounding.clauses.ground_clauses import GroundClauses
    from mlnlab.grounding.question.question import Question
    from mlnlab.logic.formulas.ground_atoms import GroundAtom

MOST_SWEEPS = 10_000
LARGEST = 1e12  # of all weights together: beyond, small weights are lost in the rounding of large ones
LARGEST_WHOLE = 1e300  # where costs are whole numbers, and floats only report them


class Cost(NamedTuple):
    """The cost of a world: how many hard constraints it breaks, and the weight of broken soft ones."""

    hard: int
    soft: float


@dataclass(frozen=True, slots=True, eq=False)
class Landscape:
    """Ground clauses and tables with a finite cost for each."""

    ground: Ground
    network: Network
    penalty: float  # of what must hold
    highest: float  # the log-weight of a world in which nothing is broken

    @property
    def clauses(self) -> GroundClauses:
        """The ground clauses and tables."""
        return self.ground.clauses

    @property
    def constraints(self) -> int:
        """The number of clauses and tables."""
        return self.clauses.number_of_clauses + self.clauses.number_of_tables

    @property
    def sizes(self) -> dict[str, Any]:
        """The sizes that the worlds of a state from outside must fit."""
        return sizes_of_worlds(self.network, 1)

    def no_options(self) -> NDArray[np.uint32]:
        """Return the first option of each choice."""
        return np.zeros(len(self.network.options), np.uint32)

    def cost(self, chosen: NDArray[np.uint32]) -> Cost:
        """Return the cost of a world, computed from scratch."""
        return self.cost_in(self.chain(chosen, np.zeros(4, np.uint64)))

    def cost_in(self, chain: Chain) -> Cost:
        """Return the cost of a chain's settled world, its hard and soft parts apart."""
        hard, soft = costs_apart(self.network, chain, self.penalty)
        return Cost(int(hard), float(soft))

    def against(self, chosen: NDArray[np.uint32]) -> tuple[int, ...]:
        """Return for each formula of the model how many groundings a world scores against.

        Of a hard formula that is no clause, what counts is each of the clauses that it is written as.
        """
        counts = np.zeros(len(self.clauses.sources), np.int64)
        count(self.network, self.ground.groups, self.chain(chosen, np.zeros(4, np.uint64)), counts)
        found = []
        for source, tally, true in zip(
            self.clauses.sources, self.clauses.tallies, counts.tolist(), strict=True
        ):
            if source.kind == "formula" and source.hard:
                found.append(tally.false + tally.clauses + tally.tables - true)
            elif source.kind == "formula":
                holding = tally.true + true
                found.append(holding if source.weight < 0 else tally.groundings - holding)
        return tuple(found)

    def chain(self, chosen: NDArray[np.uint32], random: NDArray[np.uint64]) -> Chain:
        """Return a chain in a world."""
        return new_chain(self.network, chosen, random)

    def go_downhill(self, chain: Chain) -> float:
        """Go from a chain's world to where no single change helps, and return the cost."""
        for _ in range(MOST_SWEEPS):  # each of them gains something, except by rounding
            if not descend(self.network, chain):
                break
        return cost_of(self.network, chain)

    def world(self, chosen: NDArray[np.uint32]) -> frozenset[GroundAtom]:
        """Return the atoms that are true in a world, those of the evidence included."""
        options = zip(self.clauses.question.choices, chosen.tolist(), strict=True)
        true = (choice.atoms[option] for choice, option in options if option < len(choice.atoms))
        return self.clauses.question.true | frozenset(true)


def landscape(question: Question, largest: float = LARGEST) -> Landscape:
    """Ground a question's formulas over the open atoms; queries are not grounded."""
    clauses = ground_clauses(question)
    refuse_impossible(clauses)
    return landscape_of(prepare_chains(clauses), largest)


def landscape_of(ground: Ground, largest: float = LARGEST) -> Landscape:
    """Return the costs of ground clauses that are there already."""
    clauses = ground.clauses
    soft = np.concatenate([clauses.weights[~clauses.hard], clauses.table_weights[~clauses.table_hard]])
    with np.errstate(over="ignore"):
        total = float(np.abs(soft).sum())
    if not total <= largest:
        way_out = (
            " rc2 computes with whole numbers of any size; else make the largest weights hard."
            if total <= LARGEST_WHOLE
            else " Make the largest weights hard, or divide all of them by one number."
        )
        raise ArgumentError(
            f"The weights of the ground formulas add up to {total:.2g}, more than the {largest:g} that can be"
            f" searched with.{way_out}"
        )
    penalty = 1.0 + 2.0 * total  # above each soft weight, however large
    network = ground.network._replace(
        strengths=_finite(ground.network.strengths, penalty),
        table_strengths=_finite(ground.network.table_strengths, penalty),
    )
    return Landscape(ground, network, penalty, _highest(clauses))


def _finite(strengths: NDArray[np.float64], penalty: float) -> NDArray[np.float64]:
    array = np.where(np.isinf(strengths), penalty, strengths)
    array.setflags(write=False)
    return array


def _highest(clauses: GroundClauses) -> float:
    """Return the log-weight of evidence and of all open ground formulas, each as it adds most."""
    weights = np.where(clauses.negated, -clauses.weights, clauses.weights)[~clauses.hard]
    tables = clauses.table_weights[~clauses.table_hard]
    best = float(np.maximum(weights, 0).sum()) + float(np.maximum(tables, 0).sum())
    return clauses.decided_log_weight + best
