"""A world of ground clauses and tables as arrays, and how it changes.

What is sampled are *choices*: an open atom (option 0: true, 1: false), or a block of exclusive atoms (option
k makes its k-th atom true, a last option perhaps none). Every clause keeps the number of its satisfied
literals, every table the cell that its choices select; a change of one choice touches only its own clauses
and tables (its Markov blanket). Arrays, with i : i + 1 for a stretch between two entries of ``starts``:

    choice v   atoms       first_atoms[v : v + 1]
               tables      choice_starts[v : v + 1] ->  choice_tables[], choice_strides[]
    atom a     clauses     atom_starts[a : a + 1]   ->  occurrences[] = 2 * clause + (1 where negated)
    clause c   strength    strengths[c]              what its truth adds to a world's log-weight
    table t    truth       bits[table_starts[t] + cells[t]], strength table_strengths[t]
               parent      table_parents[t] < NOBODY: a gate, whose truth adds table_steps[t] to that cell

Gates (:mod:`mlnlab.grounding.clauses.gates`) stand behind the other tables, have strength 0, and each stands
behind those below it. A choice with gates is marked ``gated``: what it changes above is only known by
changing it. Strength inf marks what must hold. While everything of that kind holds, no sum meets inf - inf.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mlnlab.kernels.compiled import compiled, inlined
from mlnlab.kernels.random_numbers import next_below

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Number = int | np.integer[Any]

_1 = np.uint32(1)
NOBODY = np.uint32(0xFFFFFFFF)


class Network(NamedTuple):
    """The constant arrays that the chains share; see the picture above."""

    first_atoms: NDArray[np.uint32]
    options: NDArray[np.uint32]
    atom_starts: NDArray[np.uint32]
    occurrences: NDArray[np.uint32]
    strengths: NDArray[np.float64]
    choice_starts: NDArray[np.uint32]
    choice_tables: NDArray[np.uint32]
    choice_strides: NDArray[np.uint32]
    table_starts: NDArray[np.uint32]
    table_strengths: NDArray[np.float64]
    bits: NDArray[np.uint8]
    table_parents: NDArray[np.uint32]
    table_steps: NDArray[np.uint32]
    gated: NDArray[np.uint8]


class Chain(NamedTuple):
    """The world of one chain, values derived from it, its random numbers, and room to work."""

    chosen: NDArray[np.uint32]  # the option of each choice
    values: NDArray[np.uint8]  # the truth of each open atom
    satisfied: NDArray[np.uint32]  # satisfied literals of each clause
    cells: NDArray[np.uint32]  # the cell of each table
    random: NDArray[np.uint64]
    scores: NDArray[np.float64]  # for each option of a block
    held: NDArray[np.int64]


@compiled
def scatter(network: Network, chain: Chain) -> None:
    """Draw every choice uniformly; the chain has to be settled afterwards."""
    for choice in range(len(network.options)):
        chain.chosen[choice] = next_below(chain.random, network.options[choice])


@compiled
def settle(network: Network, chain: Chain) -> None:
    """Compute the atoms, satisfied literals and table cells from the chosen options."""
    for clause in range(len(chain.satisfied)):
        chain.satisfied[clause] = 0
    for table in range(len(chain.cells)):
        chain.cells[table] = 0
    for atom in range(len(chain.values)):
        chain.values[atom] = 0
        for place in range(network.atom_starts[atom], network.atom_starts[atom + 1]):
            occurrence = network.occurrences[place]
            chain.satisfied[occurrence >> _1] += occurrence & _1
    for choice in range(len(chain.chosen)):
        chosen = chain.chosen[choice]
        atom = network.first_atoms[choice] + chosen
        if atom < network.first_atoms[choice + 1]:
            turn(network, chain, atom)
        for place in range(network.choice_starts[choice], network.choice_starts[choice + 1]):
            chain.cells[network.choice_tables[place]] += chosen * network.choice_strides[place]
    for table in range(len(chain.cells)):
        parent = network.table_parents[table]
        if parent != NOBODY and network.bits[network.table_starts[table] + chain.cells[table]]:
            chain.cells[parent] += network.table_steps[table]


@compiled
def turn(network: Network, chain: Chain, atom: Number) -> None:
    """Flip an atom in the counts of its clauses."""
    value = chain.values[atom]
    for place in range(network.atom_starts[atom], network.atom_starts[atom + 1]):
        occurrence = network.occurrences[place]
        if value ^ (occurrence & _1):
            chain.satisfied[occurrence >> _1] -= _1
        else:
            chain.satisfied[occurrence >> _1] += _1
    chain.values[atom] = 1 - value


@inlined
def pass_on(
    parents: NDArray[np.uint32], steps: NDArray[np.uint32], starts: NDArray[np.uint32],
    bits: NDArray[np.uint8], cells: NDArray[np.uint32], table: Number, before: Number,
) -> tuple[Number, Number]:  # fmt: skip
    """Tell the tables above that a cell has changed, as far up as this makes a difference.

    Return the last table whose cell changed, and the cell that it had before.
    """
    while parents[table] != NOBODY:
        start = np.int64(starts[table])
        now = bits[start + cells[table]]
        if bits[start + before] == now:
            break
        step, table = steps[table], parents[table]
        before = np.int64(cells[table])
        cells[table] = before + step if now else before - step
    return table, before


@compiled
def choose(network: Network, chain: Chain, choice: Number, option: Number) -> None:
    """Set a choice in the cells of its tables."""
    old = chain.chosen[choice]
    if old == option:
        return
    for place in range(network.choice_starts[choice], network.choice_starts[choice + 1]):
        table, stride = network.choice_tables[place], network.choice_strides[place]
        before = np.int64(chain.cells[table])
        chain.cells[table] = before - np.int64(old) * stride + option * stride
        if network.gated[choice]:
            pass_on(
                network.table_parents, network.table_steps, network.table_starts, network.bits, chain.cells,
                np.int64(table), before,
            )  # fmt: skip
    chain.chosen[choice] = option


def new_chain(network: Network, chosen: NDArray[np.uint32], random: NDArray[np.uint64]) -> Chain:
    """Return a chain in a world; it gets copies of both arrays."""
    chain = Chain(
        chosen.copy(),
        np.zeros(len(network.atom_starts) - 1, np.uint8),
        np.zeros(len(network.strengths), np.uint32),
        np.zeros(len(network.table_strengths), np.uint32),
        random.copy(),
        np.zeros(int(network.options.max(initial=1))),
        np.zeros(int(network.options.max(initial=1)), np.int64),
    )
    settle(network, chain)
    return chain


def smallest() -> tuple[Network, Chain]:
    """Return a network of one atom, with the types used in earnest: shared arrays are read-only."""
    empty, none, bits = np.zeros(0, np.uint32), np.zeros(0), np.zeros(0, np.uint8)
    first_atoms, options, starts = (np.array(numbers, np.uint32) for numbers in ([0, 1], [2], [0, 0]))
    for array in (empty, first_atoms, options, starts):
        array.setflags(write=False)
    none.setflags(write=False)
    bits.setflags(write=False)
    gated = np.zeros(1, np.uint8)
    gated.setflags(write=False)
    network = Network(
        first_atoms,
        options,
        starts,
        empty,
        none,
        starts,
        empty,
        empty,
        empty,
        none,
        bits,
        empty,
        empty,
        gated,
    )
    return network, new_chain(network, np.zeros(1, np.uint32), np.ones(4, np.uint64))


def warm_up() -> None:
    """Compile every kernel of this file."""
    network, chain = smallest()
    scatter(network, chain)
    settle(network, chain)
    choose(network, chain, 0, 0)
