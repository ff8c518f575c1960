r"""AddClausesToMLN: from retained clauses to one model (Kok and Domingos, ICML 2009, section 3.3, last part).

greedy    the clauses one at a time in order of decreasing score; after each all weights are learned again,
          and the clause is kept if the overall WPLL grows by more than ``least_gain``. On the sampled atoms,
          from the weights before
l1, l2    all clauses at once, with a Laplace prior that leaves the weights of bad ones at exactly 0, or with
          a Gaussian prior that keeps them low

In two things the defaults are not the paper's. Its model is empty at first (section 4.2), and clauses alone
say how rare true atoms are; here a unit clause for each predicate is in it from the start, as in those of
MSL and BUSL. It keeps every clause that improves the WPLL (section 3.3); here a clause has to gain more than
its length penalty, as in its score. ``units=False, least_gain=0`` is what the paper says.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

import numpy as np

from mlnlab.learning.problems.priors import Gaussian, Prior
from mlnlab.steps.state_layout import (
    FLAG,
    REPORTED,
    ArrayOf,
    Part,
    Several,
    Whole,
    holds,
    make_damage_error,
    misshapen,
    tuple_holds,
)
from mlnlab.steps.values.encoding import storable
from mlnlab.structure.clauses.clause_making import dangling_variables
from mlnlab.structure.clauses.clause_scores import DEVIATION
from mlnlab.structure.clauses.clauses_together import Together
from mlnlab.structure.clauses.judged_paths import RETAINED
from mlnlab.structure.clauses.whole_model import GrowingModel, try_clause
from mlnlab.structure.paths.variabilized import VariabilizedPath

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from mlnlab.structure.clauses.clause_scores import SampledData
    from mlnlab.structure.clauses.create_mln import CreateState
    from mlnlab.structure.clauses.judged_paths import JudgedPath

    Numbers = NDArray[np.float64]


ASSEMBLING = "assembling"  # the phase of a learner


@dataclass(frozen=True, slots=True)
class Weighing:
    """How the weights of a learned model are learned."""

    units: bool = True  # a unit clause for each predicate in the model
    deviation: float = DEVIATION  # of the Gaussian prior of the unit clauses' weights
    prior: Prior = Gaussian(0.0, DEVIATION)  # noqa: RUF009 - it is frozen; of the other clauses' weights
    sparse: bool = False  # whether clauses of weight 0 are left out


@storable("assembly.RetainedClause")
class RetainedClause(NamedTuple):
    """A clause of a model, or for one: its path, its positive literals as bits, its score and weight."""

    path: VariabilizedPath
    positive: int
    score: float
    weight: float
    number: int  # of its path, in the order in which paths were judged


tuple_holds(
    RetainedClause,
    path=Part(VariabilizedPath), positive=Whole(), score=REPORTED, weight=REPORTED, number=Whole(),
)  # fmt: skip


@storable("assembly.AssemblyState")
@dataclass(frozen=True, slots=True, eq=False)
class AssemblyState:
    """The model so far: the clauses tried, and the clauses kept with their weights."""

    tried: int = field(metadata=holds(Whole()))
    clauses: int = field(metadata=holds(Whole()))  # in all
    kept: tuple[RetainedClause, ...] = field(metadata=holds(Several(Part(RetainedClause))))
    weights: Numbers = field(metadata=holds(ArrayOf(np.float64, (None,))))  # of those that are kept
    # Of the unit clauses, by predicate.
    units: Numbers = field(metadata=holds(ArrayOf(np.float64, ("predicates",))))
    value: float = field(metadata=holds(REPORTED))  # the overall WPLL of the sampled atoms
    gains: tuple[float, ...] = field(metadata=holds(Several(REPORTED)))  # by how much each raised it
    # By how much it grew, or would have grown, with the clause tried last.
    gain: float = field(metadata=holds(REPORTED))
    accepted: bool = field(metadata=holds(FLAG))
    ended: bool = field(metadata=holds(FLAG))

    def metrics(self) -> Mapping[str, float]:
        """Return how far it is, and the WPLL."""
        return {
            "clauses tried": self.tried, "clauses to try": self.clauses, "clauses kept": len(self.kept),
            "WPLL": self.value, "gain of clause": self.gain,
        }  # fmt: skip


@runtime_checkable
class Assembling(Protocol):
    """The states of a learner that creates clauses first, and assembles a model of the retained ones."""

    @property
    def create(self) -> CreateState | None:
        """The clauses created so far."""
        ...

    @property
    def assembly(self) -> AssemblyState | None:
        """The model assembled so far."""
        ...


def retained_clauses(state: CreateState, *, dangling: bool) -> tuple[RetainedClause, ...]:
    """Return the retained clauses by decreasing score; those with dangling variables only where wanted."""
    return rank_clauses(
        judged for judged in state.list_judged_paths()
        if dangling or not dangling_variables(judged.scores.path.atoms)
    )  # fmt: skip


def rank_clauses(paths: Iterable[JudgedPath]) -> tuple[RetainedClause, ...]:
    """Return the retained clauses of judged paths by decreasing score."""
    found = [
        RetainedClause(
            judged.scores.path, int(judged.scores.clauses[place]), float(judged.scores.scores[place]),
            float(judged.scores.weights[place]), judged.number,
        )
        for judged in paths for place in np.flatnonzero(judged.verdicts == RETAINED).tolist()
    ]  # fmt: skip
    return tuple(sorted(found, key=lambda clause: (-clause.score, clause.number, clause.positive)))


def flaw_of(state: AssemblyState, clauses: Sequence[RetainedClause], predicates: int) -> str:
    """Return how an assembly from outside contradicts these clauses and predicates; empty if it fits."""
    found = misshapen(state, {"predicates": predicates})
    if found:
        return found
    tried = set(clauses[: state.tried])
    if state.clauses != len(clauses) or state.tried > len(clauses) or not tried.issuperset(state.kept):
        return "clauses were tried that are not here"
    if not len(state.weights) == len(state.gains) == len(state.kept):
        return "not every clause that was kept has a weight"
    return ""


# --- greedily -------------------------------------------------------------------------------------


def greedy_steps(
    scorer: SampledData, clauses: Sequence[RetainedClause], least_gain: float | None,
    start: AssemblyState | None = None, *, units: bool = True,
) -> Iterator[AssemblyState]:  # fmt: skip
    """Yield the model without clauses, and one state for each clause that is tried."""
    model = GrowingModel(scorer, units=units)
    if start is None:
        best = model.learn_together()
        state = AssemblyState(
            0, len(clauses), (), best.weights, best.units, best.value, (), 0.0, False, not clauses
        )
        yield state
    else:
        state = start
        for clause in state.kept:
            model = model.with_clause(clause)
        best = Together(start.weights, start.units, start.value)
        if not np.isclose(model.value_at(best), start.value, rtol=1e-6, atol=1e-9):
            raise make_damage_error(
                "The model of this state", "its score is not that of its clauses and weights"
            )
    for number, clause in enumerate(clauses[state.tried :], state.tried + 1):
        tried = try_clause(model, best, clause)
        gain = tried.gain
        least = scorer.params.length_penalty * len(clause.path.atoms) if least_gain is None else least_gain
        ended = number == len(clauses)
        if gain > least:
            model, best = tried.model, tried.learned
            state = AssemblyState(number, len(clauses), (*state.kept, clause), best.weights, best.units,
                                  best.value, (*state.gains, gain), gain, True, ended)  # fmt: skip
        else:
            state = replace(state, tried=number, gain=gain, accepted=False, ended=ended)
        yield state
