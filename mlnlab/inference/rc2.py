"""RC2: a most probable world with a proof, by exact weighted MaxSAT.

A SAT solver is asked for a world in which nothing is broken. Its refutation names a *core*, formulas that
cannot all hold; the cheapest of them is paid for, and from then on one of the core may be broken (Ignatiev,
Morgado and Marques-Silva, RC2: an efficient MaxSAT solver, 2019; the solver is python-sat's). What was paid
is a lower bound of every world's cost, and where the solver finds a world at that price, it is optimal.
Heavy formulas come first, so that there is a world, and a bound, long before the end.

Needs: every weight known; finite domains. Answers: a most probable world. Weights are taken as the binary
fractions that floats are, so nothing is lost by scaling. Tables become clauses, blocks exactly-one
constraints. Not where cores are many and large: then the bound rises slowly, and a search is sooner at a
good world.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from math import nan
from typing import TYPE_CHECKING

from mlnlab.errors import ArgumentError, TooLargeError
from mlnlab.inference.conflicts import contradiction
from mlnlab.inference.core_guided import CoreGuided
from mlnlab.inference.landscape import LARGEST_WHOLE, Landscape, landscape
from mlnlab.inference.method import Method
from mlnlab.inference.weighted_clauses import weighted_clauses
from mlnlab.inference.world_search import Found, WorldReader, searched
from mlnlab.steps.encoding import storable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from mlnlab.grounding.question import Question
    from mlnlab.steps.step import Observer


@dataclass(frozen=True, slots=True)
class Params:
    """When to give up; ``None``: never."""

    conflicts: int | None = None  # of the SAT solver
    cores: int | None = None
    seconds: float | None = None
    constraints: int | None = None  # a question with more ground formulas is refused
    conflicts_per_state: int = 2_000

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        for name in ("conflicts", "cores", "constraints", "conflicts_per_state"):
            value = getattr(self, name)
            if value is not None and (type(value) is not int or value < 1):
                raise ArgumentError(f"{name} is a whole number from 1 on, not {value!r}.")
        if self.seconds is not None and not self.seconds > 0:
            raise ArgumentError(f"seconds is a positive number, not {self.seconds!r}.")


@storable("rc2.State")
@dataclass(frozen=True, slots=True, eq=False)
class ProofState:
    """How far the proof has come, and the best world so far; arrays are read-only."""

    number: int  # of this state, from 0 on
    cores: int
    conflicts: int
    bound: float  # no world costs less
    best: NDArray[np.uint32]  # the options of the best world
    best_cost: float
    done: bool

    @property
    def gap(self) -> float:
        """How much cheaper another world could be."""
        return 0.0 if self.done else max(0.0, self.best_cost - self.bound)

    def metrics(self) -> Mapping[str, float]:
        """Return what was paid so far, the cost of the best world, and what lies between."""
        return {
            "bound": self.bound,
            "best_cost": self.best_cost,
            "gap": self.gap,
            "cores": float(self.cores),
            "conflicts": float(self.conflicts),
        }


def steps(params: Params, question: Question, start: ProofState | None = None) -> Iterator[ProofState]:
    """Yield a state for each core and each stretch of conflicts, or those that follow ``start``."""
    return steps_on(params, landscape(question, LARGEST_WHOLE), start)


def steps_on(
    params: Params, landscape: Landscape, start: ProofState | None = None
) -> Iterator[ProofState]:  # fmt: skip
    """Yield the states over clauses that are there already.

    What the SAT solver has learnt is in no state; to go on, the run is repeated up to the state.
    """
    if start is not None and start.done:
        return
    _refuse_large(params, landscape)
    for state in _proof(params, landscape):
        if start is None or state.number > start.number:
            yield state


def _refuse_large(params: Params, landscape: Landscape) -> None:
    if params.constraints is not None and landscape.constraints > params.constraints:
        raise TooLargeError(
            f"There are {landscape.constraints:,} ground formulas, more than the {params.constraints:,} for"
            " which a proof is tried.", landscape.constraints, ["use max-walk-sat", "give a higher limit"],
        )  # fmt: skip


def _proof(params: Params, landscape: Landscape) -> Iterator[ProofState]:
    problem = weighted_clauses(landscape.clauses)
    began, best, best_cost, number = time.monotonic(), None, nan, 0
    with CoreGuided(problem, params.conflicts_per_state) as solver:
        for progress in solver.run():
            if progress is None:
                raise contradiction(landscape.clauses)
            if solver.model is not None:
                world = problem.propositions.options_in(solver.model)
                cost = landscape.cost(world)
                # Floats may call worlds equal that whole numbers tell apart; the last one is the cheapest.
                if best is None or cost.soft < best_cost or progress == "optimal":
                    best, best_cost = world, cost.soft
            if best is None:
                continue  # no world is known yet
            bound = problem.cost_of(solver.paid)
            done = progress == "optimal"
            yield ProofState(number, solver.cores, solver.conflicts, bound, best, best_cost, done)
            number += 1
            if done or _is_enough(params, solver, began):
                return


def _is_enough(params: Params, solver: CoreGuided, began: float) -> bool:
    return (
        (params.conflicts is not None and solver.conflicts >= params.conflicts)
        or (params.cores is not None and solver.cores >= params.cores)
        or (params.seconds is not None and time.monotonic() - began >= params.seconds)
    )


def most_probable(params: Params, question: Question, observers: Iterable[Observer] = ()) -> Found:
    """Return a most probable world, or where the proof was given up the best that was met."""
    ground = landscape(question, LARGEST_WHOLE)
    found = searched(ground, steps_on(params, ground), observers, f"{METHOD.name}: {{state.cores:,}} cores")
    if found.gap == 0:
        paid = found.reason.partition(":")[0]
        return found._replace(reason=_optimal_words(found, paid, ground))
    return found._replace(reason=f"{found.reason.rpartition(':')[0]}: given up at a gap of {found.gap:.6g}")


def _optimal_words(found: Found, name: str, ground: Landscape) -> str:
    cost = ground.highest - found.log_weight
    return f"{name}: proven optimal by weighted MaxSAT at cost {cost:.6g}; weights are exact, not scaled"


METHOD = Method(
    name="rc2",
    needs="every weight known; finite domains; formulas whose groundings are clauses, conjunctions or narrow",
    is_exact=True,
    params=Params,
    citation="Ignatiev, Morgado and Marques-Silva 2019",
    most_probable=most_probable,
    steps=steps,
    worlds=lambda params, question: WorldReader(landscape(question, LARGEST_WHOLE)),  # noqa: ARG005
)
