"""What methods share that pass messages: their graph, their states, and the answers from beliefs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.errors import count_of
from mlnlab.grounding.counting_refusal import refuse_counting
from mlnlab.inference.belief_trees import Surroundings, surroundings_of
from mlnlab.inference.broken_symmetry import broken_symmetry
from mlnlab.inference.chains import prepared, random_world
from mlnlab.inference.colour_passing import settled_colours
from mlnlab.inference.estimates import Asked, QueryEstimates, asked_of
from mlnlab.inference.factor_messages import Reading, factors_of, has_loops, read
from mlnlab.inference.joint_beliefs import joint_probabilities
from mlnlab.inference.marginals import Marginals
from mlnlab.inference.memory import bytes_of
from mlnlab.inference.sampled_worlds import grounded
from mlnlab.kernels.belief_propagation_graph import room_for_messages
from mlnlab.kernels.random_numbers import streams
from mlnlab.steps.encoding import storable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from mlnlab.grounding.clauses import GroundClauses
    from mlnlab.grounding.question import Question
    from mlnlab.kernels.belief_propagation_graph import Factors

    Reals = NDArray[np.float64]

ROUNDING = 1e-9  # of beliefs on a graph without loops, where no weight is large


@dataclass(frozen=True, eq=False)
class Graph:
    """A question's ground clauses, those of the model and those asked for, each as a factor graph."""

    clauses: GroundClauses
    model: Factors
    queries: Factors

    @cached_property
    def loops(self) -> bool:
        """Whether a message can come back, so that beliefs are approximations."""
        return has_loops(self.model)

    @cached_property
    def surroundings(self) -> Surroundings:
        """What ties choices to each other, for formulas over several of them."""
        return surroundings_of(self.model, loops=self.loops)

    @cached_property
    def rounding(self) -> float:
        """A bound on the relative error of beliefs without loops: floats round each weight once or twice."""
        clauses = self.clauses
        soft = np.concatenate([clauses.weights[~clauses.hard], clauses.table_weights[~clauses.table_hard]])
        return max(ROUNDING, 4 * float(np.finfo(float).eps) * float(np.abs(soft).sum()))

    @cached_property
    def asked(self) -> Asked:
        """The queries, and where their answers are."""
        return asked_of(self.clauses)

    @cached_property
    def colours(self) -> NDArray[np.int64]:
        """A number for each choice, equal where the model does not tell them apart."""
        return settled_colours(self.model)

    @property
    def factors(self) -> int:
        """The number of clauses and tables of the model."""
        return len(self.model.if_falsified) + len(self.model.if_true)


@storable("beliefs.State")
@dataclass(frozen=True, slots=True, eq=False)
class BeliefState:
    """All messages after some sweeps, and the probabilities that follow; arrays are read-only."""

    sweeps: int
    clause: Reals  # the logarithm of what each edge of a clause says
    table: Reals  # and of what each edge of a table says of each option
    news: Reals  # what each factor has to tell, where they speak in that order
    changes: Reals  # by how much a message of each factor changed in the last sweep
    largest_change: float
    converged: bool
    options: Reals  # the probability of each option of each choice

    def metrics(self) -> Mapping[str, float]:
        """Return how much messages still change; before the first sweep nobody knows."""
        if not self.sweeps:
            return {}
        moving = float((self.changes > 0).mean()) if len(self.changes) else 0.0
        return {"largest_change": float(self.largest_change), "share_of_changing_factors": moving}


def graph_of(question: Question) -> Graph:
    """Ground a question; where something has to hold, make sure that some world lets it."""
    ground = grounded(question, gather=False)
    clauses = ground.clauses
    refuse_counting(clauses, "passing messages")
    if clauses.hard.any() or clauses.table_hard.any():
        random_world(prepared(clauses), streams(0, 1)[0])
    return Graph(clauses, factors_of(clauses, asked=False), factors_of(clauses, asked=True))


# --- reading --------------------------------------------------------------------------------------


def reading_of(graph: Graph, state: BeliefState) -> Reading:
    """Read the messages of a state."""
    messages = room_for_messages(graph.model)
    messages.clause[:], messages.table[:] = state.clause, state.table
    found = read(graph.model, graph.queries, weights_of(graph.clauses), messages)
    if not len(found.asked):
        return found
    asked = joint_probabilities(graph.surroundings, found.messages, graph.queries, found.asked)
    return replace(found, asked=asked)


def weights_of(clauses: GroundClauses) -> Reals:
    """Return what a satisfied clause, or true table, adds to a log-weight; 0 where hard.

    A negated clause with the opposite weight -w adds w where it is not satisfied, so where it is, nothing.
    """
    ours, tables = model_parts(clauses)
    weights = np.where(clauses.hard | clauses.negated, 0.0, clauses.weights)[ours]
    return np.concatenate([weights, np.where(clauses.table_hard, 0.0, clauses.table_weights)[tables]])


def model_parts(clauses: GroundClauses) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which clauses and which tables are the model's, not those asked for."""
    queries = np.array([source.kind == "query" for source in clauses.sources], np.bool_)
    return ~queries[clauses.clause_sources], ~queries[clauses.table_sources]


def query_probabilities(graph: Graph, options: Reals, asked: Reals) -> Reals:
    """Return the probability of each query, in the order asked."""
    clauses, found = graph.clauses, graph.asked.truths.copy()
    atoms = atom_probabilities(graph, options)
    ours, tables = model_parts(clauses)
    sources = np.concatenate([clauses.clause_sources[~ours], clauses.table_sources[~tables]])
    opposite = np.concatenate([clauses.negated[~ours], np.zeros(int((~tables).sum()), np.bool_)])
    of_source = np.zeros(len(clauses.sources))
    of_source[sources] = np.where(opposite, 1.0 - asked, asked)
    drawn = graph.asked.columns >= 0
    values = np.concatenate([atoms, of_source])
    found[drawn] = values[graph.asked.columns[drawn]]
    return np.clip(found, 0.0, 1.0)


def atom_probabilities(graph: Graph, options: Reals) -> Reals:
    """Return the probability of each open atom."""
    firsts = graph.clauses.first_atoms.astype(np.int64)
    sizes = firsts[1:] - firsts[:-1]
    starts = graph.model.value_starts[:-1].astype(np.int64)
    return np.asarray(options[np.arange(firsts[-1]) + np.repeat(starts - firsts[:-1], sizes)])


def expected_counts(clauses: GroundClauses, truths: Reals) -> tuple[float, ...]:
    """Return E[n_i] of the model's formulas; hard ones hold in every grounding."""
    ours, tables = model_parts(clauses)
    sources = np.concatenate([clauses.clause_sources[ours], clauses.table_sources[tables]])
    opposite = np.concatenate([clauses.negated[ours], np.zeros(int(tables.sum()), np.bool_)])
    sums = np.bincount(sources, np.where(opposite, 1.0 - truths, truths), len(clauses.sources))
    pairs = zip(clauses.sources, clauses.tallies, sums.tolist(), strict=True)
    return tuple(
        float(tally.groundings) if source.hard else tally.true + found
        for source, tally, found in pairs
        if source.kind == "formula"
    )


# --- answers --------------------------------------------------------------------------------------


def held(graph: Graph, *more: object) -> int:
    """Return the bytes of the ground clauses, of both factor graphs, and of what a method keeps besides."""
    question = graph.clauses.question
    return bytes_of(question.true, question.choices, question.query_atoms, graph, *more)


def believed(
    method: str, graph: Graph, state: BeliefState, seconds: float, *, symmetric: bool = False
) -> Marginals:
    """Return the beliefs of a state as marginals; ``symmetric`` where messages cannot break a symmetry."""
    found = reading_of(graph, state)
    names = graph.asked.names
    probabilities = query_probabilities(graph, found.options, found.asked).tolist()
    exact = state.converged and not graph.loops
    drawn = (graph.asked.columns >= 0).tolist()
    unknown = (name for name, is_drawn in zip(names, drawn, strict=True) if is_drawn and not exact)
    return Marginals(
        probabilities=dict(zip(names, probabilities, strict=True)),
        method=method,
        log_z=found.log_z + graph.clauses.decided_log_weight if exact else nan,
        number_of_worlds=0,
        seconds=seconds,
        rounding=graph.rounding,
        question=graph.clauses.question,
        expected_counts=expected_counts(graph.clauses, found.truths),
        reason=f"{method}: {_how(state)}{_loops(graph)}",
        warnings=belief_warnings(graph, state, symmetric=symmetric),
        inexact=frozenset(unknown),
        memory=held(graph, state),
    )


def _how(state: BeliefState) -> str:
    sweeps = count_of(state.sweeps, "sweep")
    if state.converged:
        return f"{sweeps} until messages settled"
    return f"{sweeps}, and messages still change by {state.largest_change:.2g}"


def _loops(graph: Graph) -> str:
    if graph.loops:
        return "; the factor graph has loops, so how far off the beliefs are is not known"
    return "; the factor graph has no loops, so settled beliefs are exact"


def belief_warnings(graph: Graph, state: BeliefState, *, symmetric: bool = False) -> tuple[str, ...]:
    """Say where messages have not settled, or have at beliefs that cannot be right."""
    if state.converged:
        if symmetric or not graph.loops:
            return ()
        return broken_symmetry(graph.clauses, graph.model, graph.colours, state.options)
    sentence = (
        f"After {count_of(state.sweeps, 'sweep')} messages still change by {state.largest_change:.2g}: these"
        " beliefs have not settled. Allow more sweeps=, raise damping=, or choose another method."
    )
    return (sentence,)


@dataclass(frozen=True, eq=False)
class BeliefsReader:
    """Reads the states of a run; ``messages`` turns a state into one of the ground graph."""

    method: str
    graph: Graph
    messages: Callable[[Any], BeliefState]

    @property
    def names(self) -> tuple[str, ...]:
        """The queries in the order asked: atoms, then formulas."""
        return self.graph.asked.names

    @cached_property
    def known(self) -> NDArray[np.bool_]:
        """Which of them evidence decides."""
        return self.graph.asked.columns < 0

    def marginals(self, state: Any) -> Marginals:  # noqa: ANN401 - each method has states of its own
        """Return the beliefs of a state."""
        return believed(self.method, self.graph, self.messages(state), 0.0)

    def estimates(self, state: Any) -> QueryEstimates:  # noqa: ANN401
        """Return the beliefs as an array; their errors are not known."""
        found = reading_of(self.graph, self.messages(state))
        values = query_probabilities(self.graph, found.options, found.asked)
        unknown = np.full(len(values), nan)
        ground = self.messages(state)
        exact = ground.converged and not self.graph.loops
        errors = np.where(self.known | exact, values * self.graph.rounding, nan)
        return QueryEstimates(values, errors, unknown, unknown)

    def warnings(self, state: Any) -> tuple[str, ...]:  # noqa: ANN401
        """Say where messages have not settled."""
        return belief_warnings(self.graph, self.messages(state))
