"""A world in which everything holds that must, or a proof that there is none: by a SAT solver.

The solver stops after a number of conflicts, so that it always comes back; the same question always gets the
same answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mlnlab.grounding.networks.propositional import NumberedClause, Propositions
from mlnlab.inference.sat.conflicts import contradiction
from mlnlab.inference.sat.refutation import distinct
from mlnlab.inference.sat.sat_calls import Asked

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from mlnlab.grounding.clauses.ground_clauses import GroundClauses

MOST_CONFLICTS = 200_000  # of the solver: some seconds


def hard_clauses(propositions: Propositions) -> Iterator[NumberedClause]:
    """Yield the hard constraints as clauses: blocks, hard formulas, conditions."""
    clauses = propositions.clauses
    for _, block in propositions.blocks():
        yield from block
    for number in np.flatnonzero(clauses.hard).tolist():
        yield propositions.clause(number)
    tables = np.flatnonzero(clauses.table_hard).tolist()
    yield from distinct(c for number in tables for c in propositions.table(number, holds=True))


def start_of(clauses: GroundClauses, most: int = MOST_CONFLICTS) -> NDArray[np.uint32] | None:
    """Return the options of a world in which everything holds that must.

    ``None`` where nothing must hold, so that any world will do, and where the solver gave up. Raises the
    conflict where there is no such world.
    """
    if not (clauses.hard.any() or clauses.table_hard.any()):
        return None
    propositions = Propositions(clauses)
    with Asked(hard_clauses(propositions)) as solver:
        answer = solver.answer(conflicts=most)
        if answer:
            return propositions.options_in(solver.model())
    if answer is None:
        return None
    raise contradiction(clauses)
