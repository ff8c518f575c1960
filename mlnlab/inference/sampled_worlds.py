"""What all samplers of worlds share: grounding with the queries, and log-weights of the chains' worlds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.grounding.clause_making import ground_clauses
from mlnlab.grounding.gathering import gathered_where_it_pays
from mlnlab.inference.batches import Batches, no_batches
from mlnlab.inference.chains import Ground, prepared, refuse_impossible
from mlnlab.inference.query_instances import all_instances
from mlnlab.kernels.gibbs import count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mlnlab.grounding.question import Question
    from mlnlab.kernels.ground_network import Chain

STATES = 40  # at least so many in a run, so that there is something to see and to compare


def grounded(question: Question, *, gather: bool = True) -> Ground:
    """Ground the model, and the formulas that are asked for, over what is open.

    Where many groundings are equal they are gathered, unless who asks wants each for itself.
    """
    clauses = ground_clauses(question, all_instances(question))
    refuse_impossible(clauses)
    return prepared(gathered_where_it_pays(clauses) if gather else clauses)


def empty_sums(ground: Ground, chains: int) -> Batches:
    """Return the sums over no samples: a column for each open atom, then one for each source."""
    asked = sum(source.kind == "query" for source in ground.clauses.sources)
    atoms = ground.clauses.number_of_atoms
    return no_batches(chains, atoms + len(ground.clauses.sources), atoms + asked)


def room_for_sums(ground: Ground, chains: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return what kernels add up in: a row of sums for each chain, and counts of the sources."""
    sources = len(ground.clauses.sources)
    columns = ground.clauses.number_of_atoms + sources
    return np.zeros((chains, columns), np.int64), np.zeros(sources, np.int64)


def log_weights(ground: Ground, chains: Sequence[Chain]) -> NDArray[np.float64]:
    """Return sum_i w_i n_i(x) over the soft formulas, for the world of each chain (lecture notes, eq. 13)."""
    weights = np.array([source.weight for source in ground.clauses.sources])
    counts = np.zeros(len(ground.clauses.sources), np.int64)
    found = np.empty(len(chains))
    for number, chain in enumerate(chains):
        count(ground.network, ground.groups, chain, counts)
        found[number] = ground.clauses.decided_log_weight + float(weights @ counts)
    found.setflags(write=False)
    return found


def frozen_rows(arrays: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Return copies of some arrays as the rows of a read-only one."""
    rows = np.array(arrays)
    rows.setflags(write=False)
    return rows
