"""Messages of clauses, and Gibbs updates over tables of k values, beside the same loops in C."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mlnlab.factors.graphs.factor import Factor
from mlnlab.factors.graphs.factor_graph import FactorGraph
from mlnlab.factors.graphs.random_variables import RandomVariable
from mlnlab.inference.answers.memory import bytes_of
from mlnlab.inference.messages.factor_arrays import factor_question
from mlnlab.inference.messages.factor_messages import factors_of
from mlnlab.kernels.chains.table_gibbs import sweep
from mlnlab.kernels.messages.factor_tables import new_walk, scatter
from mlnlab.kernels.messages.sum_product import sweep_factors
from mlnlab.kernels.messages.sum_product_graph import room_for_messages
from mlnlab.kernels.random_numbers import streams
from tests.benchmarks.beside_c.measurement import Effort, Measurement, by_turns, compared, same_arrays

if TYPE_CHECKING:
    from mlnlab.inference.sampling.chains import Ground
    from tests.benchmarks.beside_c.in_c import FunctionsInC

SIDE, VALUES = 60, 4  # of a lattice, whose neighbours share a table
DAMPING = 0.5  # so that messages are on their way in all rounds


def lattice(side: int = SIDE, values: int = VALUES, seed: int = 1) -> FactorGraph:
    """Return a lattice of variables with random tables between neighbours."""
    rng = np.random.default_rng(seed)
    sites = [[RandomVariable.numbered(f"x{i} {j}", values) for j in range(side)] for i in range(side)]
    pairs = [(sites[i][j], sites[i][j + 1]) for i in range(side) for j in range(side - 1)]
    pairs += [(sites[i][j], sites[i + 1][j]) for i in range(side - 1) for j in range(side)]
    factors = [Factor(pair, rng.normal(size=(values, values))) for pair in pairs]
    return FactorGraph(tuple(factors), tuple(site for row in sites for site in row))


def messages_per_second(name: str, ground: Ground, effort: Effort, in_c: FunctionsInC) -> Measurement:
    """Let our kernel and the loop in C take turns, sweep by sweep, from messages that say nothing."""
    factors = factors_of(ground.clauses, asked=False)
    clauses, edges = len(factors.if_falsified), len(factors.clause_choices)
    ours, theirs = room_for_messages(factors), room_for_messages(factors)
    sweeps = max(1, effort.updates // (10 * edges))

    def by_us() -> None:
        for _ in range(sweeps):
            sweep_factors(factors, ours, DAMPING, at_once=False)

    def by_c() -> None:
        for _ in range(sweeps):
            in_c.sweep_clauses(
                clauses, len(theirs.beliefs), factors.value_starts, factors.clause_starts,
                factors.clause_choices, factors.bit_starts, factors.bits, factors.if_falsified,
                factors.counts, theirs.clause, theirs.beliefs, theirs.bans, theirs.changes,
                theirs.new_clause, theirs.falsifying, theirs.satisfying, DAMPING,
            )  # fmt: skip

    rounds = by_turns(effort, by_us, by_c)
    same = same_arrays(ours, theirs, ("clause", "beliefs", "changes"))
    memory = bytes_of(factors, ours)
    return compared(name, "messages", sweeps * edges, rounds, same_results=same, memory=memory)


def draws_per_second(name: str, graph: FactorGraph, effort: Effort, in_c: FunctionsInC) -> Measurement:
    """Let our kernel and the loop in C take turns from the same values with the same random numbers."""
    tables = factor_question(graph).tables
    variables = len(tables.value_starts) - 1
    begin = new_walk(tables, np.zeros(variables, np.uint32), streams(1, 1)[0])
    scatter(tables, begin)
    ours, theirs = (new_walk(tables, begin.values, begin.random) for _ in range(2))
    sweeps = max(1, effort.updates // (4 * variables))

    def by_c() -> None:
        in_c.sweep_tables(
            variables, tables.value_starts, tables.near_starts, tables.near_tables, tables.near_strides,
            tables.cell_starts, tables.logs, theirs.values, theirs.cells, theirs.random, theirs.scores,
            sweeps,
        )  # fmt: skip

    rounds = by_turns(effort, lambda: sweep(tables, ours, sweeps), by_c)
    same = same_arrays(ours, theirs, ("values", "cells", "random"))
    memory = bytes_of(tables, ours)
    return compared(name, "updates", sweeps * variables, rounds, same_results=same, memory=memory)
