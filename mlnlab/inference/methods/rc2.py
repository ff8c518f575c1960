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
from dataclasses import dataclass, field
from functools import partial
from math import nan
from typing import TYPE_CHECKING, NamedTuple

from mlnlab.errors import TooLargeError
from mlnlab.inference.costs.inference_problem import Cost, Problem
from mlnlab.inference.method import Method
from mlnlab.inference.sampling.chains import ONE_CHOSEN, refuse_impossible
from mlnlab.inference.sat.conflicts import contradiction
from mlnlab.inference.sat.core_guided import CoreGuided
from mlnlab.inference.sat.weighted_clauses import weighted_clauses
from mlnlab.inference.search.landscape import LARGEST_WHOLE, Landscape, landscape
from mlnlab.inference.search.world_search import Found, WorldReader, run_search
from mlnlab.logic.checked_options import above, check_options, whole
from mlnlab.steps import budget
from mlnlab.steps.run_identity import OfRun, resume_run
from mlnlab.steps.state_layout import FLAG, REPORTED, Real, Whole, holds
from mlnlab.steps.values.encoding import storable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from mlnlab.grounding.clauses.ground_clauses import GroundClauses
    from mlnlab.grounding.question.question import Question
    from mlnlab.steps.step import Observer

_FORMULA_BYTES, _LITERAL_BYTES = 300, 100  # in the lists that the SAT solver is given


@dataclass(frozen=True, slots=True)
class Params:
    """When to give up; ``None``: never."""

    conflicts: int | None = None  # of the SAT solver
    cores: int | None = None
    seconds: float | None = None
    constraints: int | None = None  # a question with more ground formulas is refused
    conflicts_per_state: int = 2_000

    def __post_init__(self) -> None:
        """Refuse options outside of their ranges."""
        limit = whole(1).or_none()
        check_options(self, conflicts=limit, cores=limit, constraints=limit, conflicts_per_state=limit)
        check_options(self, seconds=above(0, endless=True).or_none())


MOST_TRIED = 20_000  # ground formulas of which a proof is tried, to tell whether it would answer
TRIAL = Params(conflicts=300, cores=300, conflicts_per_state=100)


@storable("rc2.State")
@dataclass(frozen=True, slots=True, eq=False)
class ProofState(OfRun):
    """How far the proof has come, and the best world so far; arrays are read-only."""

    number: int = field(metadata=holds(Whole()))  # of this state, from 0 on
    cores: int = field(metadata=holds(Whole()))
    conflicts: int = field(metadata=holds(Whole()))
    bound: float = field(metadata=holds(REPORTED))  # no world costs less
    best: NDArray[np.uint32] = field(metadata=holds(ONE_CHOSEN))  # the options of the best world
    best_cost: float = field(metadata=holds(Real()))
    done: bool = field(metadata=holds(FLAG))

    @property
    def gap(self) -> float:
        """How much cheaper another world could be."""
        return 0.0 if self.done else max(0.0, self.best_cost - self.bound)

    def metrics(self) -> Mapping[str, float]:
        """Return the bound paid so far, the best world's cost, their gap, and the cores and conflicts."""
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
    identity = METHOD.identity(params, landscape.clauses.question)
    return resume_run(
        identity, ProofState, start,
        partial(_states, params, landscape), lambda: landscape.sizes,
    )  # fmt: skip


def _states(params: Params, landscape: Landscape, start: ProofState | None) -> Iterator[ProofState]:
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
    found = run_search(ground, steps_on(params, ground), observers, f"{METHOD.name}: {{state.cores:,}} cores")
    found = found._replace(memory=found.memory + _count_list_bytes(ground.clauses))
    if found.gap == 0:
        paid = found.reason.partition(":")[0]
        return found._replace(reason=_optimal_words(found, paid, ground))
    return found._replace(reason=f"{found.reason.rpartition(':')[0]}: given up at a gap of {found.gap:.6g}")


def _count_list_bytes(clauses: GroundClauses) -> int:
    """Return about how many bytes the lists take that the SAT solver is given."""
    formulas = clauses.number_of_clauses + clauses.number_of_tables
    return formulas * _FORMULA_BYTES + (len(clauses.literals) + len(clauses.scope)) * _LITERAL_BYTES


def _optimal_words(found: Found, name: str, ground: Landscape) -> str:
    cost = ground.highest - found.log_weight
    return f"{name}: proven optimal by weighted MaxSAT at cost {cost:.6g}; weights are exact, not scaled"


class Effort(NamedTuple):
    """How many cores and conflicts a proof took."""

    cores: int
    conflicts: int


def _try_proof(ground: GroundClauses) -> Effort | None:
    """Return the effort of a proof, if it ends within the budget of a trial."""
    with CoreGuided(weighted_clauses(ground), TRIAL.conflicts_per_state) as solver:
        for progress in solver.run():
            if progress == "optimal":
                return Effort(solver.cores, solver.conflicts)
            if progress is None or _is_enough(TRIAL, solver, 0.0):
                break
    return None


def estimate_cost(params: Params, problem: Problem) -> Cost | None:  # noqa: ARG001 - tried by a small budget
    """Estimate the cost of a proof that a trial of bounded work comes to the end of."""
    ground = problem.ground if problem.small else None
    if ground is None or ground.number_of_clauses + ground.number_of_tables > MOST_TRIED:
        return None
    refuse_impossible(ground)
    effort = _try_proof(ground)
    if effort is None:
        return None
    constraints = len(ground.literals) + len(ground.scope)
    seconds = constraints * budget.PROOF_CONSTRAINT + effort.cores * budget.PROOF_CORE
    seconds += effort.conflicts * budget.PROOF_CONFLICT
    memory = budget.LEAST + (len(ground.options) + constraints) * budget.SEARCHED
    return Cost(budget.SEARCH_BEGINNING + seconds, memory, "a proof was found within a moment")


METHOD = Method(
    name="rc2",
    needs="every weight known; finite domains; formulas whose groundings are clauses, conjunctions or narrow",
    is_exact=True,
    params=Params,
    citation="Ignatiev, Morgado and Marques-Silva 2019",
    most_probable=most_probable,
    steps=steps,
    state=ProofState,
    goes_on=("conflicts", "cores", "seconds", "constraints"),
    worlds=lambda params, question: WorldReader(landscape(question, LARGEST_WHOLE)),  # noqa: ARG005
    estimate_cost=estimate_cost,
)
