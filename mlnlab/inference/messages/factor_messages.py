"""Build the factor graph of ground clauses for message passing, and read its messages."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, prod
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.kernels.messages.sum_product import read_factors
from mlnlab.kernels.messages.sum_product_graph import (
    Factors,
    Messages,
    add_up,
    make_read_only,
    room_for_messages,
)
from mlnlab.kernels.messages.sum_product_order import Neighbours

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.grounding.clauses.ground_clauses import GroundClauses

    Numbers = NDArray[np.int64]
    Reals = NDArray[np.float64]


def factors_of(clauses: GroundClauses, *, asked: bool) -> Factors:
    """Return the factors of the model, or those of the formulas that are asked for, whose weight is 0."""
    queries = np.array([source.kind == "query" for source in clauses.sources], np.bool_)
    kept = np.flatnonzero(queries[clauses.clause_sources] == asked)
    tables = np.flatnonzero(queries[clauses.table_sources] == asked)
    value_starts = np.concatenate([[0], np.cumsum(clauses.options.astype(np.int64))])
    edges = _clause_edges(clauses, kept)
    logs = np.where(clauses.hard, -inf, -clauses.weights)[kept]
    counts = make_read_only(np.ones(len(edges[1])))
    worths = (*_with_logs(logs), counts)
    parts = (*edges, *worths, *_table_edges(clauses, tables), *_table_worths(clauses, tables))
    return Factors(_words(value_starts), *parts)


def _with_logs(*logs: Reals) -> tuple[Reals, ...]:
    """Return the exponentials of the logarithms, then these; overflow becomes infinite."""
    with np.errstate(over="ignore"):
        return (*(make_read_only(np.exp(each)) for each in logs), *map(make_read_only, logs))


def _words(numbers: NDArray[Any]) -> NDArray[np.uint32]:
    return make_read_only(np.ascontiguousarray(numbers, np.uint32))


def _owners(clauses: GroundClauses) -> Numbers:
    firsts = clauses.first_atoms.astype(np.int64)
    return np.repeat(np.arange(len(clauses.options)), firsts[1:] - firsts[:-1])


def _edges(clauses: GroundClauses, kept: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """Return the clause and the choice of each edge, and the edge of each literal of the kept clauses."""
    starts = clauses.starts.astype(np.int64)
    sizes = (starts[1:] - starts[:-1])[kept]
    atoms = clauses.literals[_runs(starts[:-1][kept], sizes)].astype(np.int64) >> 1
    keys = np.repeat(np.arange(len(kept)), sizes) * len(clauses.options) + _owners(clauses)[atoms]
    unique, of_literal = np.unique(keys, return_inverse=True)
    return unique // max(1, len(clauses.options)), unique % max(1, len(clauses.options)), of_literal


def _clause_edges(clauses: GroundClauses, kept: Numbers) -> tuple[NDArray[Any], ...]:
    """Return where each clause's edges begin, their choices, and which options falsify their literals."""
    owners, choices, of_literal = _edges(clauses, kept)
    options = clauses.options.astype(np.int64)[choices]
    bit_starts = np.concatenate([[0], np.cumsum(options)])
    bits = np.ones(int(bit_starts[-1]), np.uint8)
    starts = clauses.starts.astype(np.int64)
    literals = clauses.literals[_runs(starts[:-1][kept], (starts[1:] - starts[:-1])[kept])].astype(np.int64)
    own = literals // 2 - clauses.first_atoms.astype(np.int64)[choices[of_literal]]
    positive = literals % 2 == 0
    bits[(bit_starts[of_literal] + own)[positive]] = 0  # this option satisfies the literal
    edges, own = of_literal[~positive], own[~positive]  # all options but this one do
    places = _runs(bit_starts[edges], options[edges])
    bits[places[places != np.repeat(bit_starts[edges] + own, options[edges])]] = 0
    counts = np.bincount(owners, minlength=len(kept))
    return (
        _words(np.concatenate([[0], np.cumsum(counts)])),
        _words(choices),
        _words(bit_starts[:-1]),
        make_read_only(bits),
    )


def _table_edges(clauses: GroundClauses, tables: Numbers) -> tuple[NDArray[Any], ...]:
    """Return where the edges of each table begin, their choices, strides and messages, and ones."""
    starts = clauses.scope_starts.astype(np.int64)
    sizes = (starts[1:] - starts[:-1])[tables]
    places = _runs(starts[:-1][tables], sizes)
    choices = clauses.scope[places].astype(np.int64)
    told = np.concatenate([[0], np.cumsum(clauses.options.astype(np.int64)[choices])])
    edges = np.concatenate([[0], np.cumsum(sizes)])
    strides = clauses.strides[places]
    return (
        _words(edges),
        _words(choices),
        _words(strides),
        _words(told),
        make_read_only(np.ones(len(choices))),
    )


def _table_worths(clauses: GroundClauses, tables: Numbers) -> tuple[NDArray[Any], ...]:
    """Return each table's first bit, the bits, its size, and the weights of true and false cells."""
    starts, options = clauses.scope_starts.tolist(), clauses.options.astype(np.int64)
    sizes = [prod(options[clauses.scope[starts[t] : starts[t + 1]]].tolist()) for t in tables.tolist()]
    weights, hard = clauses.table_weights[tables], clauses.table_hard[tables]
    if_true = np.where(hard, 0.0, np.minimum(weights, 0.0))
    if_false = np.where(hard, -inf, -np.maximum(weights, 0.0))
    bits = clauses.bits if len(clauses.bits) else np.zeros(0, np.uint8)
    return (
        _words(clauses.bit_starts[tables]), make_read_only(bits.copy()), _words(np.array(sizes, np.int64)),
        *_with_logs(if_true, if_false),
    )  # fmt: skip


def _runs(starts: Numbers, sizes: Numbers) -> Numbers:
    """Return starts[0], starts[0] + 1, ... for sizes[0] numbers, then the run from starts[1], and so on."""
    before = np.concatenate([[0], np.cumsum(sizes)])
    return np.asarray(np.arange(before[-1]) + np.repeat(starts - before[:-1], sizes))


def _sizes(starts: NDArray[Any]) -> Numbers:
    wide = starts.astype(np.int64)
    return np.asarray(wide[1:] - wide[:-1])


def neighbours_of(factors: Factors) -> Neighbours:
    """Return the factors of each choice."""
    clauses, tables = len(factors.if_falsified), len(factors.if_true)
    starts, table_starts = factors.clause_starts.astype(np.int64), factors.table_starts.astype(np.int64)
    owners = np.concatenate([
        np.repeat(np.arange(clauses), _sizes(starts)),
        clauses + np.repeat(np.arange(tables), _sizes(table_starts)),
    ])  # fmt: skip
    choices = np.concatenate([factors.clause_choices, factors.table_choices]).astype(np.int64)
    by_choice = np.argsort(choices, kind="stable")
    number = len(factors.value_starts) - 1
    ends = np.concatenate([[0], np.cumsum(np.bincount(choices, minlength=number))])
    return Neighbours(_words(ends), _words(owners[by_choice]))


def has_loops(factors: Factors) -> bool:
    """Return whether a message can come back to where it came from, so that beliefs are not exact."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    found = neighbours_of(factors)
    choices = len(found.starts) - 1
    starts = found.starts.astype(np.int64)
    rows = np.repeat(np.arange(choices), starts[1:] - starts[:-1])
    nodes = choices + len(factors.if_falsified) + len(factors.if_true)
    graph = coo_array((np.ones(len(rows)), (rows, choices + found.factors.astype(np.int64))), (nodes, nodes))
    parts, _ = connected_components(graph, directed=False)
    return len(rows) > nodes - parts


def logs_of(messages: Messages) -> Reals:
    """Return the log-belief of each option; minus infinity where it is impossible."""
    return np.where(messages.bans > 0.5, -inf, messages.beliefs)


def probabilities_of(factors: Factors, beliefs: Reals) -> Reals:
    """Return the probability of each option of each choice from the logarithms of beliefs."""
    starts = factors.value_starts[:-1].astype(np.int64)
    if not len(starts):
        return np.zeros(0)
    sizes = _sizes(factors.value_starts)
    worth = np.exp(beliefs - np.repeat(np.maximum.reduceat(beliefs, starts), sizes))
    return np.asarray(worth / np.repeat(np.add.reduceat(worth, starts), sizes))


@dataclass(frozen=True, eq=False)
class Reading:
    """The result of messages: the probabilities of options, clauses and tables, and log Z."""

    options: Reals
    truths: Reals  # of the model's clauses, then of its tables
    asked: Reals  # of the clauses, then of the tables, that are asked for
    log_z: float  # without what evidence decides
    messages: Messages


def read(model: Factors, queries: Factors, weights: Reals, messages: Messages) -> Reading:
    """Read a result from messages; ``weights`` are the log-weights of true clauses and tables."""
    add_up(model, messages)
    options = probabilities_of(model, logs_of(messages))
    number = len(model.if_falsified) + len(model.if_true)
    truths, log_sums = np.zeros(number), np.zeros(number)
    read_factors(model, messages, truths, log_sums)
    others = room_for_messages(queries)._replace(beliefs=messages.beliefs, bans=messages.bans)
    asked, unused = (np.zeros(len(queries.if_falsified) + len(queries.if_true)) for _ in range(2))
    read_factors(queries, others, asked, unused)
    log_z = float(np.sum(log_sums) + np.maximum(weights, 0.0)[len(model.if_falsified) :].sum())
    log_z += float(weights[: len(model.if_falsified)].sum()) + _log_choices(model, messages)
    return Reading(options, truths, asked, log_z, messages)


def _log_choices(model: Factors, messages: Messages) -> float:
    """Return the terms of choices and edges in log Z (Yedidia, Freeman and Weiss 2005).

    With normalised cavities n and messages m: log sum_x prod m(x) for each choice, less log sum_x n(x) m(x)
    for each of its edges.
    """
    starts = model.value_starts[:-1].astype(np.int64)
    if not len(starts):
        return 0.0
    tables = model.message_starts.astype(np.int64)
    total = float(_log_sums(logs_of(messages), starts, _sizes(model.value_starts)).sum())
    total -= float(np.logaddexp(messages.satisfying, messages.falsifying + messages.clause).sum())
    if len(tables) > 1:
        told = messages.cavities + messages.table
        total -= float(_log_sums(told, tables[:-1], _sizes(model.message_starts)).sum())
    return total


def _log_sums(logs: Reals, starts: Numbers, sizes: Numbers) -> Reals:
    """Return the log-sum-exp of consecutive segments."""
    most = np.maximum.reduceat(logs, starts)
    return np.asarray(most + np.log(np.add.reduceat(np.exp(logs - np.repeat(most, sizes)), starts)))
