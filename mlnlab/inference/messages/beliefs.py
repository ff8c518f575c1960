"""Hold the parts that all message-passing methods share: graph, states, and answers from beliefs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf, nan
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.errors import count_of
from mlnlab.grounding.clauses.counting_refusal import refuse_counting
from mlnlab.inference.answers.marginals import Marginals
from mlnlab.inference.answers.memory import bytes_of
from mlnlab.inference.messages.belief_trees import (
    Nodes,
    Surroundings,
    falsifying,
    surroundings_of,
    trees_between,
)
from mlnlab.inference.messages.broken_symmetry import broken_symmetry
from mlnlab.inference.messages.colour_passing import settled_colours
from mlnlab.inference.messages.factor_messages import Reading, factors_of, has_loops, read
from mlnlab.inference.sampling.chains import prepare_chains, random_world
from mlnlab.inference.sampling.estimates import Asked, QueryEstimates, asked_of
from mlnlab.inference.sampling.sampled_worlds import ground_question
from mlnlab.kernels.messages.sum_product_graph import Factors, room_for_messages
from mlnlab.kernels.random_numbers import streams
from mlnlab.steps.run_identity import OfRun
from mlnlab.steps.state_layout import FLAG, REPORTED, ArrayOf, Whole, holds
from mlnlab.steps.values.encoding import storable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.grounding.clauses.ground_clauses import GroundClauses
    from mlnlab.grounding.question.question import Question

    Reals = NDArray[np.float64]
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mlnlab.kernels.messages.sum_product_graph import Factors, Messages

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
        """The neighbours of each choice and factor, for formulas over several choices."""
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


SHARES = ArrayOf(np.float64, ("values",), least=0.0, most=1.0 + 1e-9)  # the probability of each option


def message_sizes(factors: Factors) -> dict[str, int]:
    """Return the sizes that the messages in a state from outside must fit."""
    return {
        "edges": len(factors.clause_choices),
        "told": int(factors.message_starts[-1]),
        "factors": len(factors.if_falsified) + len(factors.if_true),
        "values": int(factors.value_starts[-1]),
    }


@storable("beliefs.State")
@dataclass(frozen=True, slots=True, eq=False)
class BeliefState(OfRun):
    """All messages after some sweeps, and the probabilities that follow; arrays are read-only."""

    sweeps: int = field(metadata=holds(Whole()))
    # The logarithm of what each edge of a clause says.
    clause: Reals = field(metadata=holds(ArrayOf(np.float64, ("edges",), finite=False)))
    # And of what each edge of a table says of each option.
    table: Reals = field(metadata=holds(ArrayOf(np.float64, ("told",), finite=False)))
    # What each factor has to tell, where they speak in that order.
    news: Reals = field(metadata=holds(ArrayOf(np.float64, ("factors",), finite=False)))
    # By how much a message of each factor changed in the last sweep.
    changes: Reals = field(metadata=holds(ArrayOf(np.float64, ("factors",), finite=False, nan=True)))
    largest_change: float = field(metadata=holds(REPORTED))
    converged: bool = field(metadata=holds(FLAG))
    options: Reals = field(metadata=holds(SHARES))  # the probability of each option of each choice

    def metrics(self) -> Mapping[str, float]:
        """Return how much messages still change; before the first sweep nobody knows."""
        if not self.sweeps:
            return {}
        moving = float((self.changes > 0).mean()) if len(self.changes) else 0.0
        return {"largest_change": float(self.largest_change), "share_of_changing_factors": moving}


def graph_of(question: Question) -> Graph:
    """Ground a question; where something has to hold, make sure that some world lets it."""
    ground = ground_question(question, gather=False)
    clauses = ground.clauses
    refuse_counting(clauses, "passing messages")
    if clauses.hard.any() or clauses.table_hard.any():
        random_world(prepare_chains(clauses), streams(0, 1)[0])
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
    """Return the log-weight of each satisfied clause and true table; 0 where hard.

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


def count_bytes(graph: Graph, *more: object) -> int:
    """Return the bytes of the ground clauses, both factor graphs, and a method's further objects."""
    question = graph.clauses.question
    return bytes_of(question.true, question.choices, question.query_atoms, graph, *more)


def make_marginals(
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
        memory=count_bytes(graph, state),
    )


def _how(state: BeliefState) -> str:
    sweeps = count_of(state.sweeps, "sweep")
    if state.converged:
        return f"{sweeps} until messages settled"
    return f"{sweeps}, and messages still change by {state.largest_change:.2g}"


def _loops(graph: Graph) -> str:
    if graph.loops:
        return "; the factor graph has loops, so the error of the beliefs is not known"
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
        return make_marginals(self.method, self.graph, self.messages(state), 0.0)

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


# --- joint beliefs of several choices -----------------------------------------------------------

# Beliefs in single choices say nothing of how they hang together. The factors between the choices of a
# formula do: on a graph without loops they form a tree, and all that lies outside of it has already sent its
# messages there. So choices are clamped to the options that make the formula false (or true), the tree is
# summed over from its leaves to its top, and the share of what is left is the probability, exactly. On a
# graph with loops the same is done over the factors that hold two or more of its choices, without those that
# would close a loop; that is an approximation like the beliefs themselves.

_ROWS = 4_096  # clamped at once


# --- sums over it ---------------------------------------------------------------------------------


def log_sums(
    around: Surroundings, messages: Messages, tree: Nodes, allowed: dict[int, NDArray[np.bool_]]
) -> Reals:
    """Return the log-sum of a tree, for each way of clamping some of its choices.

    ``allowed`` has for each clamped choice a row of options for each way of clamping.
    """
    rows = max((len(options) for options in allowed.values()), default=1)
    inside = {node for node, _ in tree}
    told: dict[tuple[int, int], Reals] = {}
    below: dict[int, list[int]] = {}
    for node, above in tree:
        if node < around.choices:
            sums = np.tile(_from_outside(around, messages, node, inside), (rows, 1))
            if node in allowed:
                sums = np.where(allowed[node], sums, -inf)
            for factor in below.get(node, ()):
                sums = sums + told[factor, node]
            told[node, above] = sums
        else:
            heard = {choice: told[choice, node] for choice in below.get(node, ())}
            told[node, above] = _from_factor(around, messages, node, above, heard, rows)
        below.setdefault(above, []).append(node)
    return np.asarray(np.logaddexp.reduce(told[tree[-1]], axis=1))


def _from_outside(around: Surroundings, messages: Messages, choice: int, inside: set[int]) -> Reals:
    """Return the joint message to a choice from the factors outside of the tree."""
    start, end = (int(place) for place in around.factors.value_starts[choice : choice + 2])
    finite, bans = messages.beliefs[start:end].copy(), messages.bans[start:end].copy()
    for node in around.near[choice]:
        if node in inside:
            said = _message(around, messages, node, choice)
            finite -= np.where(np.isinf(said), 0.0, said)
            bans -= np.isinf(said)
    return np.where(bans > 0.5, -inf, finite)


def _message(around: Surroundings, messages: Messages, node: int, choice: int) -> Reals:
    """Return the last message of a factor to a choice, a number for each option."""
    factors = around.factors
    edge = around.edges(node)[around.members(node).index(choice)]
    if around.is_table(node):
        first, last = (int(place) for place in factors.message_starts[edge : edge + 2])
        return messages.table[first:last]
    return np.where(falsifying(factors, edge, choice), messages.clause[edge], 0.0)


def _from_factor(
    around: Surroundings, messages: Messages, node: int, above: int, heard: dict[int, Reals], rows: int
) -> Reals:  # fmt: skip
    """Return a factor's message to the choice above it; at the top of the tree, its sum."""
    others = [choice for choice in around.members(node) if choice != above]
    worths = {
        choice: heard[choice] if choice in heard else _from_outside(around, messages, choice, {node})[None, :]
        for choice in others
    }
    tell = _from_table if around.is_table(node) else _from_clause
    return np.broadcast_to(found := tell(around, node, above, worths), (rows, found.shape[1]))


def _from_clause(around: Surroundings, node: int, above: int, worths: dict[int, Reals]) -> Reals:
    """Return log(weights that satisfy + exp(-w) weights that do not), for each option above."""
    factors, own = around.factors, np.zeros(1, np.bool_)
    all_false, some_true = np.zeros((1, 1)), np.full((1, 1), -inf)
    for edge, choice in zip(around.edges(node), around.members(node), strict=True):
        false = falsifying(factors, edge, choice)
        if choice == above:
            own = false
            continue
        falsified = np.logaddexp.reduce(np.where(false, worths[choice], -inf), axis=1)[:, None]
        satisfied = np.logaddexp.reduce(np.where(false, -inf, worths[choice]), axis=1)[:, None]
        total = np.logaddexp(falsified, satisfied)
        some_true = np.logaddexp(some_true + total, all_false + satisfied)
        all_false = all_false + falsified
    shrunk = all_false + factors.log_if_falsified[node - around.choices]
    weighed: Reals = np.logaddexp(some_true, shrunk)
    if above < 0:
        return weighed
    whole: Reals = np.logaddexp(some_true, all_false)
    return np.where(own[None, :], weighed, whole)


def _from_table(around: Surroundings, node: int, above: int, worths: dict[int, Reals]) -> Reals:
    """Return the logarithm of the sum over the cells with each option above."""
    factors = around.factors
    table = node - around.choices - len(factors.if_falsified)
    size, first = int(factors.table_sizes[table]), int(factors.cell_starts[table])
    bits, cells = factors.cells[first : first + size] != 0, np.arange(size)
    sums = np.where(bits, factors.log_if_true[table], factors.log_if_false[table])[None, :]
    digits = np.zeros(size, np.int64)
    for edge, choice in zip(around.edges(node), around.members(node), strict=True):
        options = int(factors.value_starts[choice + 1]) - int(factors.value_starts[choice])
        own = cells // int(factors.strides[edge]) % options
        if choice == above:
            digits = own
        else:
            sums = sums + worths[choice][:, own]
    return np.stack(
        [np.logaddexp.reduce(sums[:, digits == option], axis=1) for option in range(digits.max() + 1)], axis=1
    )


# --- formulas -------------------------------------------------------------------------------------


def joint_probabilities(
    around: Surroundings, messages: Messages, queries: Factors, single: Reals
) -> Reals:  # fmt: skip
    """Return the probability of each clause and table asked for; ``single`` holds for those of one choice."""
    asked = Surroundings(queries, around.near, (), (), around.parts)
    found = single.copy()
    for factor in range(len(single)):
        node = asked.choices + factor
        choices = asked.members(node)
        if len(choices) < 2 or (around.above and len(set(around.parts[choices].tolist())) == len(choices)):
            continue
        trees = list(trees_between(around, choices))
        if len(trees) < len(choices):  # else nothing ties them to each other
            found[factor] = _clamp_node(around, messages, asked, node, trees)
    return found


def _clamp_node(
    around: Surroundings, messages: Messages, asked: Surroundings, node: int, trees: Sequence[Nodes]
) -> float:
    """Return the share of the worlds in which a formula that is asked for holds."""
    choices = asked.members(node)
    ways, holds = _table_ways(asked, node) if asked.is_table(node) else _clause_ways(asked, node)
    share = 0.0
    for first in range(0, max(map(len, ways)), _ROWS):
        allowed = {c: way[first : first + _ROWS] for c, way in zip(choices, ways, strict=True)}
        logs = np.zeros(1)
        for tree in trees:
            inside = {choice: allowed[choice] for choice, _ in tree if choice in allowed}
            logs = logs + log_sums(around, messages, tree, inside) - log_sums(around, messages, tree, {})
        share += float(np.exp(logs).sum())
    return share if holds else 1.0 - share


def _clause_ways(asked: Surroundings, node: int) -> tuple[list[NDArray[np.bool_]], bool]:
    """Return the one way in which all literals of a clause are false."""
    pairs = zip(asked.edges(node), asked.members(node), strict=True)
    return [falsifying(asked.factors, edge, choice)[None, :] for edge, choice in pairs], False


def _table_ways(asked: Surroundings, node: int) -> tuple[list[NDArray[np.bool_]], bool]:
    """Return the options of each cell in which a table is true, or false where these are fewer."""
    factors = asked.factors
    table = node - asked.choices - len(factors.if_falsified)
    size, first = int(factors.table_sizes[table]), int(factors.cell_starts[table])
    bits = factors.cells[first : first + size] != 0
    holds = 2 * int(bits.sum()) <= size
    cells, ways = np.flatnonzero(bits == holds), []
    for edge, choice in zip(asked.edges(node), asked.members(node), strict=True):
        options = int(factors.value_starts[choice + 1]) - int(factors.value_starts[choice])
        ways.append((cells // int(factors.strides[edge]) % options)[:, None] == np.arange(options))
    return ways, holds
