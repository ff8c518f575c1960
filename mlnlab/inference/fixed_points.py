"""Whether beliefs settle elsewhere where messages begin elsewhere.

On graphs with loops the fixed points of belief propagation are the stationary points of the Bethe free
energy, of which there may be many (Yedidia, Freeman and Weiss 2005): then beliefs tell where messages began.
"""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.inference.beliefs import atom_probabilities
from mlnlab.inference.broken_symmetry import APART
from mlnlab.inference.estimates import open_atoms
from mlnlab.inference.message_passing import first_messages, passed

if TYPE_CHECKING:
    from mlnlab.inference.beliefs import BeliefState, Graph
    from mlnlab.inference.message_passing import Passing

_SEED = 20050701  # of the other start: the same question gets the same warning


def settles_elsewhere(graph: Graph, passing: Passing, state: BeliefState) -> tuple[str, ...]:
    """Begin with random messages, and say where the beliefs that these settle at are others."""
    if not (state.converged and graph.loops):
        return ()
    sweeps = min(passing.sweeps, 4 * state.sweeps + 20)  # as long as it took, and some more
    begun = _random_messages(first_messages(graph.model))
    last = deque(passed(replace(passing, sweeps=sweeps), graph.model, begun), maxlen=1)
    if not last or not last[0].converged:
        return ()
    others = last[0].options
    apart = np.abs(others - state.options)
    if not len(apart) or apart.max() < APART:
        return ()
    ours, theirs = atom_probabilities(graph, state.options), atom_probabilities(graph, others)
    where = int(np.abs(theirs - ours).argmax())
    sentence = (
        f"From other messages to begin with, beliefs settle elsewhere: {open_atoms(graph.clauses)[where]} at"
        f" {theirs[where]:.3g} instead of {ours[where]:.3g}. Formulas hold atoms together so strongly that"
        " these beliefs tell where messages began; mc-sat samples both ways."
    )
    return (sentence,)


def _random_messages(state: BeliefState) -> BeliefState:
    random = np.random.default_rng(_SEED)
    clause, table = random.normal(size=len(state.clause)), random.normal(size=len(state.table))
    for array in (clause, table):
        array.setflags(write=False)
    return replace(state, clause=clause, table=table)
