"""A most probable world of a model that is too large to ground: round by round, with a proof at the end.

Each round proves a world optimal for what is ground so far, by weighted MaxSAT, and makes the atoms active
that are true in it (Riedel, Improving the accuracy and efficiency of MAP inference for Markov logic, 2008).
What is not ground can only cost more, so each round's log-weight is a bound for all worlds, and where nothing
new is true, the world reaches it.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.errors import count_of
from mlnlab.grounding.lazy.lazy_grounding import LazyGround, LazyRound, lazy_ground, lazy_rounds
from mlnlab.grounding.networks.network_size import open_atoms_of
from mlnlab.inference.answers.memory import bytes_of
from mlnlab.inference.ask.map_states import MapState, map_state_of
from mlnlab.inference.sampling.chains import prepare_chains, refuse_impossible
from mlnlab.inference.sat.conflicts import contradiction
from mlnlab.inference.sat.core_guided import CoreGuided
from mlnlab.inference.sat.weighted_clauses import weighted_clauses
from mlnlab.inference.search.landscape import LARGEST_WHOLE, landscape_of
from mlnlab.inference.search.world_search import Found
from mlnlab.steps.step import Observer, run

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from mlnlab.grounding.clauses.ground_clauses import GroundClauses
    from mlnlab.logic.formulas.formulas import Formula
    from mlnlab.model.database.database import Database
    from mlnlab.model.mln.mln import MLN

CONFLICTS_PER_CALL = 2_000  # of the SAT solver, between two moments at which it can be interrupted


@dataclass(frozen=True, slots=True, eq=False)
class LazyState:
    """The ground model of a round, and the bound it proved for the log-weights of all worlds."""

    number: int
    round: LazyRound
    bound: float

    def metrics(self) -> Mapping[str, float]:
        """Return how much is ground, and the bound."""
        clauses = self.round.lazy.clauses
        return {
            "bound": self.bound,
            "atoms": float(clauses.number_of_atoms),
            "clauses": float(clauses.number_of_clauses),
            "new": float(len(self.round.new)),
        }


def lazy_map_state(
    mln: MLN,
    db: Database | Mapping[str, int] | None = None,
    query: Sequence[str | Formula] | str | Formula | None = None,
    *,
    open: Sequence[str] | str = (),  # noqa: A002 - the public name of infer's argument
    closed: Sequence[str] | str = (),
    given: Sequence[str | Formula] | str | Formula = (),
    observers: Iterable[Observer] | None = (),
) -> MapState:
    r"""Return a most probable world, grounding only enough to prove it; arguments as of ``map_state``.

    It answers where most open atoms are false in good worlds, however many there are.

    >>> import mlnlab as ml
    >>> text = "Same(record, record)\nAlike(record, record)\n-1 Same(x, y)\n4 Alike(x, y) => Same(x, y)"
    >>> rules = "2 Same(x, y) => Same(y, x)\n4 Same(x, y) ^ Same(y, z) => Same(x, z)"
    >>> mln = ml.MLN.from_text(f"{text}\n{rules}\nrecord = {{1, ..., 20000}}")
    >>> found = ml.lazy_map_state(mln, ml.Database.from_text("Alike(7, 8)", mln), "Same")
    >>> sorted(str(atom) for atom in found.world.true_atoms if atom.predicate == "Same"), found.proven_optimal
    (['Same(7, 8)'], True)
    """
    began = time.perf_counter()
    lazy = lazy_ground(mln, db, query, open=open, closed=closed, given=given)
    last = run(lazy_steps(lazy), observers=observers).state
    clauses, chosen = last.round.lazy.clauses, last.round.chosen.astype(np.uint32)
    ground = landscape_of(prepare_chains(clauses), LARGEST_WHOLE)
    known = count_of(clauses.number_of_atoms, "known atom")
    made = count_of(clauses.number_of_clauses, "clause")
    rounds = count_of(last.number + 1, "round")
    reason = f"rc2, lazily: proven optimal after {rounds} with {known} and {made}"
    found = Found(
        ground.world(chosen), last.bound, 0.0, reason, against=ground.against(chosen),
        memory=bytes_of(ground, last, lazy),
    )  # fmt: skip
    answer = map_state_of(clauses.question, found, "rc2, lazily", time.perf_counter() - began)
    return replace(answer, open_numbers=open_atoms_of(lazy.asked))


def lazy_steps(lazy: LazyGround) -> Iterator[LazyState]:
    """Yield a state for each round; the last one's world is a most probable one of the whole model."""
    for number, one in enumerate(lazy_rounds(lazy, optimum)):
        yield LazyState(number, one, one.lazy.clauses.log_weight(one.chosen))


def optimum(clauses: GroundClauses) -> NDArray[np.integer[Any]]:
    """Return a most probable world by the clauses that there are."""
    refuse_impossible(clauses)
    problem = weighted_clauses(clauses)
    with CoreGuided(problem, CONFLICTS_PER_CALL) as solver:
        for progress in solver.run():
            if progress is None:
                break
        if solver.model is not None:
            return problem.propositions.options_in(solver.model)
    raise contradiction(clauses)
