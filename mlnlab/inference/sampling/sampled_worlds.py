"""Share the work of all world samplers: grounding with queries, and log-weights of worlds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.grounding.clauses.gathering import gathered_where_it_pays
from mlnlab.grounding.clauses.ground_clause_making import ground_clauses
from mlnlab.inference.answers.query_instances import all_instances
from mlnlab.inference.sampling.batches import Batches, no_batches
from mlnlab.inference.sampling.chains import (
    Ground,
    prepare_chains,
    refuse_cancelling,
    refuse_impossible,
    sizes_of_worlds,
)
from mlnlab.kernels.chains.gibbs_sweeps import count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mlnlab.grounding.question.question import Question
    from mlnlab.kernels.chains.world_arrays import Chain

STATES = 40  # at least so many in a run, so that there is something to see and to compare


def ground_question(question: Question, *, gather: bool = True) -> Ground:
    """Ground the model and the asked formulas over the open atoms.

    Where many groundings are equal they are gathered, unless ``gather`` is false.
    """
    clauses = ground_clauses(question, all_instances(question))
    refuse_impossible(clauses)
    refuse_cancelling(clauses)
    return prepare_chains(gathered_where_it_pays(clauses) if gather else clauses)


def empty_sums(ground: Ground, chains: int) -> Batches:
    """Return the sums over no samples: a column for each open atom, then one for each source."""
    asked = sum(source.kind == "query" for source in ground.clauses.sources)
    atoms = ground.clauses.number_of_atoms
    return no_batches(chains, atoms + len(ground.clauses.sources), atoms + asked)


def sizes_of_states(ground: Ground, chains: int) -> dict[str, Any]:
    """Return the sizes that a state from outside must fit: chains, choices and columns of sums."""
    sums = empty_sums(ground, chains)
    return {**sizes_of_worlds(ground.network, chains), "columns": sums.columns, "binary": sums.binary}


def room_for_sums(ground: Ground, chains: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the kernels' accumulators: a row of sums for each chain, and counts of the sources."""
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
