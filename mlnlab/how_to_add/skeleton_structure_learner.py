"""Pairs: learning which two atoms go together, the smallest structure learner (a skeleton to copy).

Every pair of atoms that share a variable gives a clause for each combination of signs. Each is judged by the
gain in WPLL beside the unit clauses; then those that gain are added to the model, best first, all weights
learned again each time, while the gain exceeds the price of their literals.

It needs databases with some true atoms, all others false, over the same predicates without functions and
blocks; it answers a Markov logic network of unit clauses and clauses of two literals. Where rules need a
third atom, such as a path from one person to another, it finds none: use LHL.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.logic.checked_options import above, check_options, real
from mlnlab.steps.run_identity import OfRun
from mlnlab.steps.state_layout import TEXT, ArrayOf, Part, Real, Several, Whole, holds
from mlnlab.steps.values.encoding import storable
from mlnlab.structure.clauses.assembly import RetainedClause
from mlnlab.structure.clauses.clause_making import ClauseKey, make_clauses
from mlnlab.structure.clauses.clause_scores import SampledData, ScoreParams
from mlnlab.structure.clauses.clauses_together import CLOSE, LOOSE, Together
from mlnlab.structure.clauses.judged_paths import (
    BLOCKS,
    RETAINED,
    JudgedBlocks,
    JudgedPath,
    append_judged_path,
    count_judged_paths,
    flaw_of_blocks,
    judged_path,
    judged_paths,
)
from mlnlab.structure.clauses.whole_model import GrowingModel, try_clause
from mlnlab.structure.learner_record import Learner, StructureTask
from mlnlab.structure.paths.variabilized import VariabilizedPath, canonical_path

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.logic.vocabulary import Vocabulary

JUDGING, ADDING = "judging pairs", "adding clauses"


# --- parameters: frozen, checked, with a seed -----------------------------------------------------


@dataclass(frozen=True, slots=True)
class PairsParams:
    """The parameters of pairs."""

    fraction: float = 1.0  # of the ground atoms, on which clauses are scored
    price: float = 0.01  # of a literal
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse invalid parameters."""
        check_options(self, fraction=above(0, 1), price=real(0, endless=True), seed=0)


# --- the state: frozen, storable, each field says what it may hold --------------------------------


@storable("skeleton.PairsState")
@dataclass(frozen=True, slots=True, eq=False)
class PairsState(OfRun):
    """Where pairs is: the clauses judged, and the model with its weights."""

    phase: str = field(metadata=holds(TEXT))
    units: NDArray[np.float64] = field(metadata=holds(ArrayOf(np.float64, (None,))))  # weights, by predicate
    without: float = field(metadata=holds(Real()))
    score: float = field(metadata=holds(Real()))  # the WPLL of the model
    candidates: JudgedBlocks = field(default=(), metadata=holds(BLOCKS))
    model: tuple[RetainedClause, ...] = field(default=(), metadata=holds(Several(Part(RetainedClause))))
    tried: int = field(default=0, metadata=holds(Whole()))  # clauses that were tried for the model
    ended: str = field(default="", metadata=holds(TEXT))

    def metrics(self) -> Mapping[str, float]:
        """Return how far it is, and the WPLL of the model."""
        return {"pairs judged": count_judged_paths(self.candidates), "clauses tried": self.tried,
                "clauses kept": len(self.model), "WPLL": self.score}  # fmt: skip


# --- small pure functions -------------------------------------------------------------------------


def pairs_of(vocabulary: Vocabulary) -> tuple[VariabilizedPath, ...]:
    """Return each way in which two atoms may share variables."""
    found = set()
    for one, other in product(vocabulary.predicates.values(), repeat=2):
        own = tuple(range(one.arity))
        choices = [
            [*(v for v in own if one.types[v] == type_), one.arity + place]  # a variable of the first, or new
            for place, type_ in enumerate(other.types)
        ]
        for variables in product(*choices):
            if set(own) & set(variables) and (one.name, own) != (other.name, variables):
                found.add(canonical_path([(one.name, own), (other.name, variables)]))
    return tuple(sorted(found))


def judge_pair(number: int, path: VariabilizedPath, model: GrowingModel, units: Together) -> JudgedPath:
    """Judge the clauses of a pair, each by its gain in WPLL beside the unit clauses."""
    clauses = make_clauses(path)
    tried = [try_clause(model, units, ClauseKey(path, clause), LOOSE) for clause in clauses]
    gains = [one.gain for one in tried]
    return judged_path(
        number, path, clauses, [units.value + gain for gain in gains], [one.weight for one in tried],
        [gain > 0 for gain in gains], [f"it adds {gain:.4g} to the unit clauses" for gain in gains],
    )  # fmt: skip


def clauses_to_try(blocks: JudgedBlocks) -> tuple[RetainedClause, ...]:
    """Return the clauses that gain something, best first."""
    found = [
        RetainedClause(
            judged.scores.path, int(judged.scores.clauses[place]), float(judged.scores.scores[place]),
            float(judged.scores.weights[place]), judged.number,
        )
        for judged in judged_paths(blocks)
        for place in np.flatnonzero(judged.verdicts == RETAINED).tolist()
    ]  # fmt: skip
    return tuple(sorted(found, key=lambda clause: (-clause.score, clause.number, clause.positive)))


def weighed_clauses(clauses: Sequence[RetainedClause], learned: Together) -> tuple[RetainedClause, ...]:
    """Return the clauses with their weights in the model."""
    pairs = zip(clauses, learned.weights.tolist(), strict=True)
    return tuple(clause._replace(weight=weight) for clause, weight in pairs)


# --- the steps: a generator of states, all or those after ``start`` -------------------------------


def steps(task: StructureTask, params: PairsParams, start: PairsState | None) -> Iterator[PairsState]:
    """Yield a state for each pair that is judged, then one for each clause that is tried."""
    data = SampledData(task.databases, ScoreParams(fraction=params.fraction, seed=params.seed))
    alone = GrowingModel(data)
    units = alone.learn_together()
    state = start
    if state is None:
        state = PairsState(JUDGING, units.units, units.value, units.value)
        yield state
    pairs = pairs_of(task.databases[0].vocabulary)
    for number in range(count_judged_paths(state.candidates), len(pairs)):
        judged = judge_pair(number, pairs[number], alone, units)
        state = replace(state, candidates=append_judged_path(state.candidates, judged))
        yield state
    yield from _adding(state, params, alone)


def _adding(state: PairsState, params: PairsParams, model: GrowingModel) -> Iterator[PairsState]:
    if state.ended:
        return
    for clause in state.model:
        model = model.with_clause(clause)
    weights = np.array([clause.weight for clause in state.model])
    best = Together(weights, state.units, state.score)
    clauses = clauses_to_try(state.candidates)
    for number, clause in enumerate(clauses[state.tried :], state.tried + 1):
        found = try_clause(model, best, clause, CLOSE)
        state = replace(state, phase=ADDING, tried=number)
        if found.gain > 2 * params.price:
            model, best = found.model, found.learned
            kept = weighed_clauses((*state.model, clause), best)
            state = replace(state, model=kept, units=best.units, score=best.value)
        if number < len(clauses):
            yield state
    yield replace(state, phase=ADDING, ended="all clauses that gain something were tried")


def flaw(task: StructureTask, params: PairsParams, state: PairsState) -> str:  # noqa: ARG001 - asked with all
    """Return how a state from outside contradicts the data; empty if it fits."""
    vocabulary = task.databases[0].vocabulary
    pairs = pairs_of(vocabulary)
    judged = tuple(judged_paths(state.candidates))
    if len(state.units) != sum(not one.closed for one in vocabulary.predicates.values()):
        return "its unit clauses are of other predicates"
    if flaw_of_blocks(state.candidates) or [one.scores.path for one in judged] != list(pairs[: len(judged)]):
        return "its pairs are others"
    if any(one.scores.clauses.tolist() != list(make_clauses(one.scores.path)) for one in judged):
        return "its clauses are others"
    clauses = clauses_to_try(state.candidates)
    tried = {(one.path, one.positive, one.number) for one in clauses[: state.tried]}
    if state.tried > len(clauses) or not {(c.path, c.positive, c.number) for c in state.model} <= tried:
        return "its model has clauses that were not tried"
    if state.phase not in {JUDGING, ADDING} or (state.phase == ADDING and len(judged) < len(pairs)):
        return "its phase is not that of its clauses"
    return "" if all(abs(clause.weight) < 1e9 for clause in state.model) else "a weight is too large"


# --- the record -----------------------------------------------------------------------------------

LEARNER = Learner(
    name="pairs",
    description="every clause of two literals, added while the WPLL grows",
    citation="this page",
    needs="some true atoms, all others false; no functions and blocks",
    params=PairsParams,
    state=PairsState,
    phases=(JUDGING, ADDING),
    steps=steps,
    flaw=flaw,
)
