"""Which drawn options satisfy a component's constraints; small components drawn from a list of all that do.

SampleSAT is not uniform, least of all on few choices under many constraints. There a list is short: each
combination of options is looked at, and the k-th that satisfies everything takes the place of the one kept
so far with probability 1/k, which leaves each of them with the same probability.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.kernels.chains.sample_sat_constraints import Constraints, Slice, smallest_slice
from mlnlab.kernels.chains.world_arrays import Network
from mlnlab.kernels.compiled import compiled, inlined
from mlnlab.kernels.random_numbers import next_below

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Number = int | np.integer[Any]

_1 = np.uint32(1)
MOST_LISTED = 1 << 9  # combinations of a component's options: as much work as the moves of SampleSAT


@compiled
def listing(
    network: Network, constraints: Constraints, random: NDArray[np.uint64], work: Slice, component: int
) -> bool:
    """Draw one of all ways to satisfy a component, each alike; ``False`` where there are too many to try."""
    first, end = np.int64(work.member_starts[component]), np.int64(work.member_starts[component + 1])
    start, last = work.constraint_starts[component], work.constraint_starts[component + 1]
    combinations = 1
    for place in range(first, end):
        work.drawn[work.members[place]] = 0
        combinations *= int(network.options[work.members[place]])
        if combinations > MOST_LISTED:
            return False
    found = 0
    for _ in range(combinations):
        if is_open(network, work, first, end) and all_hold(network, constraints, work, start, last):
            found += 1
            if next_below(random, found) == 0:
                for place in range(first, end):
                    work.held[place] = work.drawn[work.members[place]]
        for place in range(first, end):  # the next combination
            choice = work.members[place]
            work.drawn[choice] += _1
            if work.drawn[choice] < network.options[choice]:
                break
            work.drawn[choice] = 0
    for place in range(first, end):
        work.drawn[work.members[place]] = work.held[place]
    return found > 0


@compiled
def is_open(network: Network, work: Slice, first: Number, end: Number) -> bool:
    """Return whether no block has an option drawn that the slice excludes."""
    for place in range(first, end):
        choice = np.int64(work.members[place])
        begin, beyond = np.int64(network.first_atoms[choice]), np.int64(network.first_atoms[choice + 1])
        atom = begin + np.int64(work.drawn[choice])
        if beyond - begin > 1 and atom < beyond and work.frozen[atom]:
            return False
    return True


@compiled
def all_hold(network: Network, constraints: Constraints, work: Slice, start: int, last: int) -> bool:
    """Return whether the drawn options satisfy some of the collected constraints."""
    drawn, owners, literals, first_atoms = (
        work.drawn,
        constraints.owners,
        constraints.literals,
        network.first_atoms,
    )
    clauses = len(constraints.odds)
    for place in range(start, last):
        constraint = np.int64(work.collected[place])
        if constraint >= clauses:
            if not table_holds(network, constraints, drawn, work.sums, constraint - clauses):
                return False
            continue
        holds = False
        for position in range(constraints.starts[constraint], constraints.starts[constraint + 1]):
            atom = literals[position] >> _1
            choice = owners[atom]
            is_true = first_atoms[choice] + drawn[choice] == atom
            if is_true != (literals[position] & _1 != 0):
                holds = True
                break
        if not holds:
            return False
    return True


@compiled
def table_holds(
    network: Network,
    constraints: Constraints,
    drawn: NDArray[np.uint32],
    sums: NDArray[np.int64],
    table: Number,
) -> bool:
    """Return whether the drawn options satisfy a table."""
    tables = len(constraints.gate_starts) - 1
    sums[table] = 0
    first, end = np.int64(constraints.gate_starts[table]), np.int64(constraints.gate_starts[table + 1])
    for gate in range(tables + first, tables + end):
        sums[gate] = 0
    for gate in range(tables + first, tables + end):  # each behind those below it
        if network.bits[cell_of(network, constraints, drawn, sums, gate)]:
            sums[network.table_parents[gate]] += network.table_steps[gate]
    cell = cell_of(network, constraints, drawn, sums, table)
    return bool(network.bits[cell] == constraints.table_favours[table])


@inlined
def cell_of(
    network: Network,
    constraints: Constraints,
    drawn: NDArray[np.uint32],
    sums: NDArray[np.int64],
    table: Number,
) -> Number:
    """Return the place of a table's truth for the drawn options, where the gates below have added theirs."""
    cell: Number = np.int64(network.table_starts[table]) + sums[table]
    for position in range(constraints.scope_starts[table], constraints.scope_starts[table + 1]):
        cell += drawn[constraints.scope[position]] * constraints.strides[position]
    return cell


def warm_up() -> None:
    """Compile every kernel of this file."""
    network, chain, constraints, work = smallest_slice()
    listing(network, constraints, chain.random, work, 0)
