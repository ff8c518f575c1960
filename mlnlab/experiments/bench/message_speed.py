"""Messages of clauses, and Gibbs updates over tables of k values, beside the same loops in C."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.experiments.bench.gibbs_speed import PEOPLE, smokers
from mlnlab.experiments.bench.measurement import Effort, Measurement, compared, own_seconds
from mlnlab.factors.factor import Factor
from mlnlab.factors.factor_graph import FactorGraph
from mlnlab.factors.random_variables import RandomVariable
from mlnlab.inference.factor_arrays import factor_question
from mlnlab.inference.factor_messages import factors_of
from mlnlab.inference.memory import bytes_of
from mlnlab.kernels.belief_propagation import sweep_factors
from mlnlab.kernels.belief_propagation_graph import room_for_messages
from mlnlab.kernels.factor_gibbs import sweep
from mlnlab.kernels.factor_tables import new_walk, scatter
from mlnlab.kernels.random_numbers import streams

if TYPE_CHECKING:
    from mlnlab.experiments.bench.in_c import FunctionsInC
    from mlnlab.inference.chains import Ground

SIDE, VALUES = 60, 4  # of a lattice, whose neighbours share a table
DAMPING = 0.5  # so that messages are on their way in all rounds


def measured(effort: Effort, in_c: FunctionsInC | None) -> Iterator[Measurement]:
    """Yield the speeds of both."""
    yield messages_per_second(f"Belief propagation, {PEOPLE:,} friends and smokers", smokers(), effort, in_c)
    yield draws_per_second(f"Gibbs, {SIDE} x {SIDE} variables of {VALUES} values", lattice(), effort, in_c)


def lattice(side: int = SIDE, values: int = VALUES, seed: int = 1) -> FactorGraph:
    """Return a lattice of variables with random tables between neighbours."""
    rng = np.random.default_rng(seed)
    sites = [[RandomVariable.numbered(f"x{i} {j}", values) for j in range(side)] for i in range(side)]
    pairs = [(sites[i][j], sites[i][j + 1]) for i in range(side) for j in range(side - 1)]
    pairs += [(sites[i][j], sites[i + 1][j]) for i in range(side - 1) for j in range(side)]
    factors = [Factor(pair, rng.normal(size=(values, values))) for pair in pairs]
    return FactorGraph(tuple(factors), tuple(site for row in sites for site in row))


def messages_per_second(name: str, ground: Ground, effort: Effort, in_c: FunctionsInC | None) -> Measurement:
    """Let our kernel and the loop in C take turns, sweep by sweep, from messages that say nothing."""
    factors = factors_of(ground.clauses, asked=False)
    clauses, edges = len(factors.if_falsified), len(factors.clause_choices)
    ours, theirs = room_for_messages(factors), room_for_messages(factors)
    sweeps = max(1, effort.updates // (10 * edges))

    def by_us() -> None:
        for _ in range(sweeps):
            sweep_factors(factors, ours, DAMPING, at_once=False)

    def by_c() -> None:
        for _ in range(sweeps if in_c is not None else 0):
            in_c.sweep_clauses(  # type: ignore[union-attr]
                clauses, len(theirs.beliefs), factors.value_starts, factors.clause_starts,
                factors.clause_choices, factors.bit_starts, factors.bits, factors.if_falsified,
                factors.counts, theirs.clause, theirs.beliefs, theirs.bans, theirs.changes,
                theirs.new_clause, theirs.falsifying, theirs.satisfying, DAMPING,
            )  # fmt: skip

    rounds = [
        (own_seconds(by_us), None if in_c is None else own_seconds(by_c)) for _ in range(effort.rounds + 1)
    ]
    parts = ((ours.clause, theirs.clause), (ours.beliefs, theirs.beliefs), (ours.changes, theirs.changes))
    same = all(np.array_equal(one, other) for one, other in parts)
    memory = bytes_of(factors, ours)
    return compared(name, "messages", sweeps * edges, rounds[1:], same_results=same, memory=memory)


def draws_per_second(name: str, graph: FactorGraph, effort: Effort, in_c: FunctionsInC | None) -> Measurement:
    """Let our kernel and the loop in C take turns from the same values with the same random numbers."""
    tables = factor_question(graph).tables
    variables = len(tables.value_starts) - 1
    begin = new_walk(tables, np.zeros(variables, np.uint32), streams(1, 1)[0])
    scatter(tables, begin)
    ours, theirs = (new_walk(tables, begin.values, begin.random) for _ in range(2))
    sweeps = max(1, effort.updates // (4 * variables))

    def by_c() -> None:
        if in_c is not None:
            in_c.sweep_tables(
                variables, tables.value_starts, tables.near_starts, tables.near_tables, tables.near_strides,
                tables.cell_starts, tables.logs, theirs.values, theirs.cells, theirs.random, theirs.scores,
                sweeps,
            )  # fmt: skip

    rounds: list[tuple[float, float | None]] = []
    for _ in range(effort.rounds + 1):
        own = own_seconds(lambda: sweep(tables, ours, sweeps))
        rounds.append((own, None if in_c is None else own_seconds(by_c)))
    parts = ((ours.values, theirs.values), (ours.cells, theirs.cells), (ours.random, theirs.random))
    same = all(np.array_equal(one, other) for one, other in parts)
    memory = bytes_of(tables, ours)
    return compared(name, "updates", sweeps * variables, rounds[1:], same_results=same, memory=memory)
