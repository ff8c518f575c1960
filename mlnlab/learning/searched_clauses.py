"""The ground clauses of a database as a search for its most probable world goes over them, prepared once.

Equal clauses are one, with the sum of their weights, a unit clause and its opposite included: where strong
formulas want an atom true and stronger ones want it false, one of the two would be broken in every world,
and a search that repairs what is broken would turn the atom to and fro. Which clauses are equal does not
depend on weights, so that other weights only change numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.grounding.merging import rows_of
from mlnlab.inference.chains import Ground, prepared
from mlnlab.inference.landscape import Landscape, landscape_of
from mlnlab.inference.walk_arrays import members_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.inference.net_strengths import EqualClauses
    from mlnlab.kernels.walk_steps import Members


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
    alone = prepared(replace(clauses, **fewer))
    return SearchedClauses(alone, members_of(alone), equal, heads)
