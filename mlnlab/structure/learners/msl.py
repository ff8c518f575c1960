"""MSL: a beam search for clauses that improve a whole model (Kok and Domingos 2005, as in Alchemy).

    the model has a unit clause for each predicate, and those with arguments that are the same variable
    repeat  beam <- the best of all clauses of two literals
            repeat  beam <- the best of the clauses one edit away: a literal added, removed, or flipped
            until two rounds of this found no better clause
            the ten best are weighed tightly, and the best joins the model
    until no clause improves the model

A clause is worth the gain in WPLL of the whole model, all weights learned again, less a price for each
literal that was added, removed or flipped since the search began. Numbers are learned loosely (10 Newton
steps) to rank clauses and tightly to decide. A theory may be given to begin with: its clauses are edited as
well, and what comes of one takes its place. To drop one costs as much as its literals, and rarely pays.

It needs databases with some true atoms, all others false, over the same predicates without functions and
blocks; it answers a Markov logic network that models all predicates jointly. Being greedy it misses rules
whose parts say nothing by themselves, as an exclusive-or: LHL finds these where the data has paths for them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mlnlab.errors import require
from mlnlab.learning.problems.priors import Gaussian
from mlnlab.logic.checked_options import above, check_options, checked_truth, real, whole
from mlnlab.logic.vocabulary import FrozenMapping
from mlnlab.model.mln.mln import MLN
from mlnlab.steps.run_identity import OfRun, settings_text
from mlnlab.steps.state_layout import (
    REPORTED,
    TEXT,
    ArrayOf,
    Part,
    Real,
    Several,
    Whole,
    holds,
    make_damage_error,
    tuple_holds,
)
from mlnlab.steps.values.encoding import storable
from mlnlab.structure.beam.candidate_gains import CandidateGains, Elsewhere
from mlnlab.structure.beam.clause_changes import ClauseChanges
from mlnlab.structure.beam.clause_edits import Bias, ClauseSpace
from mlnlab.structure.beam.edited_clauses import (
    DROPPED,
    PAIR,
    START,
    EditedBlocks,
    EditedClauses,
    Place,
    Proposal,
    Tried,
    append_batch,
    batch_of,
    batches_of,
    count_clauses,
    find_tried,
    flaw_of_search,
    grouped_by_path,
    judged_of,
    proposals_around,
    proposals_for_theory,
    rank_clauses,
    words_of,
)
from mlnlab.structure.beam.given_theory import theory_clauses
from mlnlab.structure.clauses.assembly import RetainedClause, Weighing
from mlnlab.structure.clauses.clause_making import ClauseKey, dangling_variables
from mlnlab.structure.clauses.clause_scores import DEVIATION, SampledData, ScoreParams
from mlnlab.structure.clauses.clauses_together import LOOSE, TIGHT, Together
from mlnlab.structure.clauses.judged_paths import (
    BLOCKS,
    JudgedBlocks,
    append_judged_path,
    count_judged_paths,
    flaw_of_blocks,
    judged_path,
    judged_paths,
)
from mlnlab.structure.learner_record import Learner, StructureTask
from mlnlab.structure.training_checks import estimated_edit_hours, refuse_long_search

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.logic.vocabulary import Vocabulary
    from mlnlab.structure.paths.variabilized import VariabilizedPath

PAIRS, SEARCHING, DECIDING = "trying pairs of literals", "beam search", "deciding"
PHASES = (PAIRS, SEARCHING, DECIDING)
_MOST_WEIGHT = 1e9


@dataclass(frozen=True, slots=True)
class MslParams:
    """The parameters of MSL with Alchemy's defaults, and bias."""

    beam: int | None = 5  # clauses that are edited further; None: all
    longest: int = 6  # literals of a clause
    variables: int = 6  # of a clause
    least_weight: float = 0.01  # of a clause, whatever its sign
    price: float = 0.01  # of a literal that is added, removed or flipped
    decided: int | None = 10  # clauses that are weighed tightly; None: all
    patience: int | None = 2  # levels without a better clause that end a search; None: any number
    fraction: float = 0.8  # of the ground atoms, on which clauses are scored
    deviation: float = DEVIATION  # of the prior over weights
    dangling: bool = True  # whether clauses with dangling variables may join the model
    keep: bool = False  # whether clauses that do not improve the model are edited further, too
    theory: MLN | None = None  # a model of clauses to begin with
    forbidden: tuple[str, ...] = ()  # see clause_edits.Bias
    required: tuple[str, ...] = ()
    modes: Mapping[str, str] = FrozenMapping()
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse invalid parameters."""
        bias = Bias.of(self.forbidden, self.required, self.modes)
        for name in ("forbidden", "required", "modes"):
            object.__setattr__(self, name, getattr(bias, name))
        for name in ("dangling", "keep"):
            checked_truth(name, getattr(self, name))
        if self.theory is not None:
            require(self.theory, MLN, "theory= takes a model, made by ml.MLN.from_text or ml.MLN.load")
        check_options(self, beam=whole(1).or_none(), decided=whole(1).or_none(), patience=whole(1).or_none())
        check_options(self, longest=whole(2, 8), variables=whole(1, 10), fraction=above(0, 1), seed=0)
        check_options(self, least_weight=real(0), price=real(0), deviation=real(1e-9, 1_000_000))

    @property
    def bias(self) -> Bias:
        """The declarative bias."""
        return Bias(self.forbidden, self.required, self.modes)

    def space(self, vocabulary: Vocabulary) -> ClauseSpace:
        """Return the clauses among which it searches."""
        return ClauseSpace(vocabulary, self.longest, self.variables, self.bias)

    def text(self) -> str:
        """Return all parameters but the seed; of a theory its text."""
        theory = "" if self.theory is None else self.theory.to_text()
        return f"{settings_text(self, ('theory', 'modes'))}, modes={dict(self.modes)}, theory={theory!r}"


class Decided(NamedTuple):
    """A clause weighed tightly."""

    number: int
    gain: float
    net: float
    weight: float


storable("msl.Decided")(Decided)
tuple_holds(Decided, number=Whole(), gain=Real(), net=Real(), weight=Real())

_NUMBERS = Several(Whole())


@storable("msl.MslState")
@dataclass(frozen=True, slots=True, eq=False)
class MslState(OfRun):
    """Where MSL is: the model, and the search for the clause that joins it next."""

    phase: str = field(metadata=holds(TEXT))
    round: int = field(metadata=holds(Whole()))  # how many searches ended with a clause before this one
    level: int = field(metadata=holds(Whole()))  # 1: clauses of two literals, and those of the theory
    units: NDArray[np.float64] = field(metadata=holds(ArrayOf(np.float64, (None,))))  # weights, by predicate
    model: tuple[RetainedClause, ...] = field(metadata=holds(Several(Part(RetainedClause))))
    given: tuple[int, ...] = field(metadata=holds(_NUMBERS))  # places in the model of the theory's clauses
    score: float = field(metadata=holds(Real()))  # the WPLL of the model
    without: float = field(metadata=holds(REPORTED))
    earlier: JudgedBlocks = field(metadata=holds(BLOCKS))  # candidates of searches before this one
    batches: EditedBlocks = field(default=(), metadata=holds(Several(Several(Part(EditedClauses)))))
    parents: tuple[int, ...] = field(default=(), metadata=holds(_NUMBERS))  # that this level edits
    done: int = field(default=0, metadata=holds(Whole()))  # of the parents, or of the first level's paths
    beam: tuple[int, ...] = field(default=(), metadata=holds(_NUMBERS))  # the best of this level so far
    best: tuple[int, ...] = field(default=(), metadata=holds(_NUMBERS))  # the best of this search so far
    leader: int = field(default=-1, metadata=holds(Whole(-1)))  # the best before this level
    stale: int = field(default=0, metadata=holds(Whole()))  # levels without a better one
    decided: tuple[Decided, ...] = field(default=(), metadata=holds(Several(Part(Decided))))
    joined: int = field(default=-1, metadata=holds(Whole(-1)))  # the clause that ended this search
    ended: str = field(default="", metadata=holds(TEXT))

    @property
    def candidates(self) -> JudgedBlocks:
        """The clauses tried so far, of this search and of those before."""
        return self.earlier + judged_of(self.batches)

    def tree(self) -> Iterator[Tried]:
        """Yield the clauses of this search, each with the number of the one that it was made from."""
        for batch in batches_of(self.batches):
            yield from batch.list_clauses()

    def find(self, number: int) -> Tried:
        """Return a clause of this search by its number."""
        return find_tried(self.batches, number)

    @property
    def newest(self) -> EditedClauses | None:
        """The clauses that were tried last."""
        return self.batches[-1][-1] if self.batches else None

    def metrics(self) -> Mapping[str, float]:
        """Return how far it is, the WPLL of the model, and the best clause of this search."""
        return {
            "clauses joined": self.round + (self.joined >= 0), "level": self.level,
            "clauses of this search": count_clauses(self.batches), "WPLL": self.score,
            "best net gain": self.find(self.best[0]).net if self.best else 0.0,
        }  # fmt: skip


# --- the search -----------------------------------------------------------------------------------


class Msl:
    """MSL over databases: each state follows from the one before."""

    def __init__(self, task: StructureTask, params: MslParams) -> None:
        """Draw the sampled atoms."""
        self.params = params
        scoring = ScoreParams(fraction=params.fraction, deviation=params.deviation, seed=params.seed)
        self.data = SampledData(task.databases, scoring)
        token = np.random.default_rng().bytes(16)
        self.elsewhere = (
            None if task.executor is None else Elsewhere(task.executor, token, task.databases, scoring)
        )
        self.changes = ClauseChanges(self.data)
        vocabulary = task.databases[0].vocabulary
        self.space = params.space(vocabulary)
        self.pairs = self.space.pairs()
        self._model: tuple[tuple[RetainedClause, ...], CandidateGains] | None = None
        self._seen: tuple[EditedClauses | None, set[tuple[int, ClauseKey]]] = (None, set())

    def begin(self) -> MslState:
        """Return the model of all unit clauses, and of the theory, at its best weights."""
        units = [ClauseKey(path, 1) for path in self.space.unit_paths()]
        theory = self.params.theory
        given = () if theory is None else theory_clauses(theory, self.space.vocabulary)
        alone = CandidateGains(self.data, self.changes, ()).best.value
        gains = CandidateGains(self.data, self.changes, [*units, *given])
        earlier: JudgedBlocks = ()
        for number, one in enumerate([*units, *given]):
            reason = "it is in the theory" if one in given else "all unit clauses are in the model at first"
            earlier = append_judged_path(earlier, judged_path(
                number, one.path, [one.positive], [gains.best.value], [gains.best.weights[number]], [True],
                [reason],
            ))  # fmt: skip
        clauses = [RetainedClause(*one, 0.0, 0.0, n) for n, one in enumerate([*units, *given])]
        places = tuple(range(len(units), len(clauses)))
        return MslState(PAIRS, 0, 1, _frozen(gains.best.units), _with_weights(clauses, gains.best), places,
                        gains.best.value, alone, earlier)  # fmt: skip

    def advance(self, state: MslState) -> MslState:
        """Return the state that follows."""
        if state.joined >= 0:
            state = replace(
                state, phase=PAIRS, round=state.round + 1, level=1, earlier=state.candidates, batches=(),
                parents=(), done=0, beam=(), best=(), leader=-1, stale=0, decided=(), joined=-1,
            )  # fmt: skip
        while state.phase != DECIDING:
            if state.done < (len(self._first(state)) if state.level == 1 else len(state.parents)):
                return self._edit(state)
            stale = 0 if state.best[:1] != ((state.leader,) if state.leader >= 0 else ()) else state.stale + 1
            if not state.beam or (self.params.patience is not None and stale >= self.params.patience):
                state = replace(state, phase=DECIDING, stale=stale)
            else:
                leader = state.best[0] if state.best else -1
                state = replace(
                    state, phase=SEARCHING, level=state.level + 1, parents=state.beam, done=0, beam=(),
                    leader=leader, stale=stale,
                )  # fmt: skip
        return self._decide(state)

    # --- one level ----------------------------------------------------------------------------

    def _first(self, state: MslState) -> tuple[int | VariabilizedPath, ...]:
        """Return the first level: places of the theory's clauses, each twice, and pairs of atoms."""
        return (*(place for place in state.given for _ in range(2)), *self.pairs)

    def _edit(self, state: MslState) -> MslState:
        """Try the clauses of two atoms, or those around a clause."""
        parent, replaced, proposals = -1, -1, []
        if state.level == 1:
            item = self._first(state)[state.done]
            if isinstance(item, int):
                replaced = item
                clause = state.model[item]
                key = ClauseKey(clause.path, clause.positive)
                if state.done % 2 == 0:
                    proposals = [Proposal(key, START, 0)]
                else:
                    parent = count_clauses(state.batches) - 1
                    proposals = proposals_for_theory(self.space, key)
            else:
                proposals = [Proposal(one, PAIR, 2) for one in self.space.clauses_of(item)]
        else:
            one = state.find(state.parents[state.done])
            parent, replaced = one.number, one.replaced
            proposals = proposals_around(self.space, one)
        batch = self._try_clauses(state, parent, replaced, proposals)
        return self._with_batch(state, batch)

    def _try_clauses(
        self, state: MslState, parent: int, replaced: int, proposals: Sequence[Proposal]
    ) -> EditedClauses:
        seen = self._seen_in(state)
        held = {(one.path, one.positive) for one in state.model}
        proposals = grouped_by_path([
            one for one in proposals if one.change in {START, DROPPED}
            or (one.clause not in held and (replaced, one.clause) not in seen)
        ])  # fmt: skip
        seen |= {(replaced, one.clause) for one in proposals}
        gains, weights = self._gains(state, replaced, proposals)
        nets = gains - self.params.price * np.array([one.edits for one in proposals])
        changes = [one.change for one in proposals]
        kept = [self.improves(*one) for one in zip(nets, weights, changes, strict=True)]
        least = self.params.least_weight
        reasons = [words_of(*one, least) for one in zip(proposals, gains, nets, weights, strict=True)]
        place = Place(count_clauses(state.batches), parent, replaced, count_judged_paths(state.candidates))
        return batch_of(place, proposals, gains, weights, nets, state.score, kept, reasons)

    def _gains(
        self, state: MslState, replaced: int, proposals: Sequence[Proposal]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        model = self.model_of(state)
        plain = [place for place, one in enumerate(proposals) if one.change not in {START, DROPPED}]
        gains, weights = np.zeros(len(proposals)), np.zeros(len(proposals))
        keys = [proposals[place].clause for place in plain]
        if self.elsewhere is None:
            gains[plain], weights[plain] = model.gains_of(keys, replaced, LOOSE)
        else:
            gains[plain], weights[plain] = self.elsewhere.gains_of(
                state.model, model.best, keys, replaced, LOOSE
            )
        for place, one in enumerate(proposals):
            if one.change == START:
                weights[place] = state.model[replaced].weight
            elif one.change == DROPPED:
                gains[place] = model.gain_without(replaced, LOOSE)
        return gains, weights

    def model_of(self, state: MslState) -> CandidateGains:
        """Return the model of a state, counted once."""
        if self._model is None or self._model[0] is not state.model:
            weights = np.array([one.weight for one in state.model])
            best = Together(weights, state.units, state.score)
            self._model = state.model, CandidateGains(self.data, self.changes, state.model, best)
        return self._model[1]

    def _seen_in(self, state: MslState) -> set[tuple[int, ClauseKey]]:
        """Return the clauses that this search tried; they are collected again after a resumption."""
        if self._seen[0] is not state.newest or state.newest is None:
            self._seen = None, {(one.replaced, one.clause) for one in state.tree()}
        return self._seen[1]

    def improves(self, net: float, weight: float, change: str = PAIR) -> bool:
        """Tell whether a clause improves the model by more than its price, with a weight that counts."""
        return net > 0 and (abs(weight) >= self.params.least_weight or change == DROPPED)

    def _with_batch(self, state: MslState, batch: EditedClauses) -> MslState:
        """Return the state with more clauses, those of the level and of the search ranked anew."""
        params, batches = self.params, append_batch(state.batches, batch)
        self._seen = batch, self._seen[1]
        beam, best = [], []
        for one in batch.list_clauses():
            if one.change == START or not (params.keep or self.improves(one.net, one.weight, one.change)):
                continue
            beam.append(one)
            if self.may_join(one):
                best.append(one)
        return replace(
            state, batches=batches, done=state.done + 1, phase=PAIRS if state.level == 1 else SEARCHING,
            beam=rank_clauses(batches, state.beam, beam, params.beam),
            best=rank_clauses(batches, state.best, best, params.decided),
        )  # fmt: skip

    def may_join(self, one: Tried) -> bool:
        """Tell whether a clause may join the model, whatever its gain."""
        if one.change == DROPPED:
            return True
        dangles = not self.params.dangling and dangling_variables(one.clause.path.atoms)
        return self.space.bias.is_met(one.clause) and not dangles

    # --- which clause joins -------------------------------------------------------------------

    def _decide(self, state: MslState) -> MslState:
        """Weigh the next of the best clauses tightly; after the last one let the best join the model."""
        if len(state.decided) < len(state.best):
            one = state.find(state.best[len(state.decided)])
            found = Decided(one.number, *self._weigh_tightly(state, one))
            return replace(state, decided=(*state.decided, found))
        fit = [
            one for one in state.decided
            if self.improves(one.net, one.weight, state.find(one.number).change)
        ]  # fmt: skip
        for chosen in sorted(fit, key=lambda one: (-one.net, one.number)):
            grown = self._join(state, state.find(chosen.number))
            if grown.score > state.score:  # the prior, too, has a say when all weights are learned
                return grown
        return replace(state, ended="no clause improves the model")

    def _weigh_tightly(self, state: MslState, one: Tried) -> tuple[float, float, float]:
        model = self.model_of(state)
        if one.change == DROPPED:
            gain = model.gain_without(one.replaced, TIGHT)
            return gain, gain - self.params.price * one.edits, 0.0
        gains, weights = model.gains_of([one.clause], one.replaced, TIGHT)
        return float(gains[0]), float(gains[0]) - self.params.price * one.edits, float(weights[0])

    def _join(self, state: MslState, one: Tried) -> MslState:
        places = [place for place in range(len(state.model)) if place != one.replaced]
        model = [state.model[place] for place in places]
        given = [number for number, place in enumerate(places) if place in state.given]
        if one.change != DROPPED:
            if one.replaced >= 0:
                given.append(len(model))
            model.append(RetainedClause(*one.clause, state.score + one.net, one.weight, one.judged))
        start = np.array([clause.weight for clause in model])
        grown = CandidateGains(self.data, self.changes, model, Together(start, state.units, state.score))
        best = grown.model.learn_together((start, state.units), TIGHT)
        return replace(
            state, model=_with_weights(model, best), units=_frozen(best.units), given=tuple(given),
            score=best.value, joined=one.number,
        )  # fmt: skip


def _with_weights(clauses: Sequence[RetainedClause], learned: Together) -> tuple[RetainedClause, ...]:
    pairs = zip(clauses, learned.weights.tolist(), strict=True)
    return tuple(clause._replace(weight=weight) for clause, weight in pairs)


def _frozen(array: NDArray[np.float64]) -> NDArray[np.float64]:
    found = array.copy()
    found.setflags(write=False)
    return found


# --- the record -----------------------------------------------------------------------------------


def steps(task: StructureTask, params: MslParams, start: MslState | None) -> Iterator[MslState]:
    """Yield a state for each path of two atoms, each clause that is edited, weighed, or joins the model."""
    search = Msl(task, params)
    state = start
    if state is None:
        state = search.begin()
        yield state
    elif not np.isclose(search.model_of(state).value(), state.score, rtol=1e-6, atol=1e-9):
        raise make_damage_error("The model of this state", "its score is not that of its clauses and weights")
    while not state.ended:
        state = search.advance(state)
        yield state


def flaw(task: StructureTask, params: MslParams, state: MslState) -> str:
    """Return how a state from outside contradicts the data; empty if it fits."""
    space = params.space(task.databases[0].vocabulary)
    units = sum(not one.closed for one in space.vocabulary.predicates.values())
    if state.phase not in PHASES or len(state.units) != units or np.any(abs(state.units) >= _MOST_WEIGHT):
        return "its phase is unknown, or its unit clauses are of other predicates or of no weight"
    found = flaw_of_blocks(state.earlier) or flaw_of_search(
        state.batches, count_judged_paths(state.earlier), space
    )
    if found:
        return found
    judged = {one.number: one.scores for one in judged_paths(state.candidates)}
    for clause in state.model:
        scores = judged.get(clause.number)
        if scores is None or scores.path != clause.path or clause.positive not in scores.clauses.tolist():
            return "its model has clauses that were not tried"
        if not space.holds(ClauseKey(clause.path, clause.positive)) or not abs(clause.weight) < _MOST_WEIGHT:
            return "its model has clauses or weights that are none"
    tried, model = count_clauses(state.batches), len(state.model)
    if len({(one.path, one.positive) for one in state.model}) < model or state.score > 0:
        return "its model has a clause twice, or a score above 0"
    decided = tuple(one.number for one in state.decided)
    if any(one >= tried for one in (*state.parents, *state.beam, *state.best, state.leader, state.joined)):
        return "it speaks of clauses that were not tried"
    if any(place >= model for place in state.given) or decided != state.best[: len(decided)]:
        return "its theory is not in its model, or others were decided than the best of its clauses"
    replaced = {batch.replaced for batch in batches_of(state.batches)}
    known = state.joined >= 0 or replaced <= {-1, *state.given}
    return "" if known else "its clauses take the place of others that are none of the theory"


def _refuse(task: StructureTask, params: MslParams) -> None:
    """Refuse bias or a theory that is not of these predicates, and a search that takes too long."""
    vocabulary = task.databases[0].vocabulary
    params.bias.refuse_unknown(vocabulary)
    if params.theory is not None:
        theory_clauses(params.theory, vocabulary)
    space = params.space(vocabulary)
    pairs = space.pairs()
    some = pairs[:: max(1, len(pairs) // 20)]
    around = max((len(space.around(ClauseKey(path, 0))) for path in some), default=0)
    hours = estimated_edit_hours(
        task.databases, 4 * len(pairs), around, params.longest - 1, params.beam, params.fraction
    )
    refuse_long_search(hours, task.most_hours, params.longest, params.beam)


def _weigh(params: MslParams) -> Weighing:
    return Weighing(True, params.deviation, Gaussian(0.0, params.deviation))


LEARNER = Learner(
    "msl", "beam search for the clause that improves the whole model most", "Kok and Domingos 2005",
    "some true atoms, all others false; no functions and blocks", MslParams, MslState, PHASES, steps,
    refuse=_refuse, flaw=flaw, text=MslParams.text, weigh=_weigh,
)  # fmt: skip
