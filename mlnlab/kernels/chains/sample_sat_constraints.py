"""Ground clauses and tables as constraints of a slice: which are asked for, and which of these are broken.

A *slice* asks for clauses and tables (:mod:`mlnlab.kernels.chains.sample_sat_slices`); those of the component
in hand are watched: whenever a choice gets another option, what breaks is put on a list, and what is mended
is taken off it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mlnlab.kernels.chains.world_arrays import Chain, Network, pass_on, smallest
from mlnlab.kernels.compiled import borrowing, inlined
from mlnlab.kernels.random_numbers import next_below

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Number = int | np.integer[Any]

_1, _ONE = np.uint32(1), np.uint64(1)
FIRST, MEMBERS, BROKEN = 0, 1, 2  # places in Slice.sizes; the component in hand begins at FIRST
NOBODY = np.uint32(0xFFFFFFFF)
COLLECTED, HAND = 2, 3  # of an asked constraint: it belongs to a component, to the one in hand


class Constraints(NamedTuple):
    """The candidates for a slice: each clause's literals, and how it joins; each table likewise."""

    starts: NDArray[np.uint32]
    literals: NDArray[np.uint32]
    odds: NDArray[np.float64]  # 1 - exp(-|w|): how probably it joins where it favours the world
    favours: NDArray[np.uint8]  # 1 where it joins when it holds, 0 where it joins when it does not
    scope_starts: NDArray[np.uint32]
    scope: NDArray[np.uint32]
    strides: NDArray[np.uint32]
    table_odds: NDArray[np.float64]
    table_favours: NDArray[np.uint8]
    owners: NDArray[np.uint32]  # the choice of each atom
    plain: NDArray[np.uint8]  # choices that are single atoms without tables: for them everything is quicker
    simple: NDArray[np.uint8]  # constraints over such choices alone, all of them clauses
    gate_starts: NDArray[np.uint32]  # of each table, where its gates begin among the gates


class Slice(NamedTuple):
    """Room to work on a slice: its constraints, its fixed atoms and choices, and the component in hand."""

    joined: NDArray[np.uint8]  # the clauses of the slice, and behind them the tables
    asked: NDArray[np.uint8]  # of each clause: 0 no or settled, 1 yes, or its component
    free: NDArray[np.uint32]  # literals of a clause that nothing fixes yet
    tables_asked: NDArray[np.uint8]
    frozen: NDArray[np.uint8]  # atoms that keep their truth
    fixed: NDArray[np.uint8]  # choices that keep their option
    seen: NDArray[np.uint8]  # choices that are in a component already
    stack: NDArray[np.uint32]  # frozen atoms whose consequences are still to be drawn
    members: NDArray[np.uint32]  # the choices of one component behind those of another
    member_starts: NDArray[np.int64]
    movable: NDArray[np.uint32]  # of each member in hand its atom where it is plain, else NOBODY
    collected: NDArray[np.uint32]  # the constraints of the components, likewise: clauses, behind them tables
    constraint_starts: NDArray[np.int64]
    drawn: NDArray[np.uint32]  # an option for each choice, to be looked at before it is taken
    held: NDArray[np.uint32]  # the options to go back to
    broken: NDArray[np.uint32]  # constraints in hand that do not hold: clauses, and behind them tables
    places: NDArray[np.uint32]  # where each stands there, from 1 on; 0: it holds
    sums: NDArray[np.int64]  # the cells of tables that count, of options that are looked at
    sizes: NDArray[np.int64]
    tallies: NDArray[np.int64]


# --- what is broken -------------------------------------------------------------------------------


@inlined
def note_broken(
    broken: NDArray[np.uint32], places: NDArray[np.uint32], number: np.uint64, constraint: Number
) -> np.uint64:
    """Put a constraint on the list of the broken ones; return how many there are now."""
    broken[number] = constraint
    number += _ONE
    places[constraint] = number
    return number


@inlined
def note_mended(
    broken: NDArray[np.uint32], places: NDArray[np.uint32], number: np.uint64, constraint: Number
) -> np.uint64:
    """Take a constraint off the list, where the last one takes its place; return how many are left."""
    number -= _ONE
    place, other = places[constraint], broken[number]
    broken[place - _1] = other
    places[other] = place
    places[constraint] = 0
    return number


@inlined
def flip(
    atom_starts: NDArray[np.uint32], occurrences: NDArray[np.uint32], satisfied: NDArray[np.uint32],
    values: NDArray[np.uint8], asked: NDArray[np.uint8], broken: NDArray[np.uint32],
    places: NDArray[np.uint32], number: np.uint64, atom: np.uint32,
) -> np.uint64:  # fmt: skip
    """Flip an atom in its clauses; return how many constraints in hand are broken then."""
    value = values[atom]
    for place in range(atom_starts[atom], atom_starts[atom + _1]):
        occurrence = occurrences[place]
        clause = occurrence >> _1
        if value ^ (occurrence & _1):
            left = satisfied[clause] - _1
            satisfied[clause] = left
            if left == 0 and asked[clause] == HAND:
                number = note_broken(broken, places, number, clause)
        else:
            before = satisfied[clause]
            satisfied[clause] = before + _1
            if before == 0 and asked[clause] == HAND:
                number = note_mended(broken, places, number, clause)
    values[atom] = 1 - value
    return number


@borrowing
def flip_of(network: Network, chain: Chain, work: Slice, atom: Number) -> None:
    """Flip an atom of a network."""
    work.sizes[BROKEN] = flip(
        network.atom_starts, network.occurrences, chain.satisfied, chain.values,
        work.asked, work.broken, work.places, np.uint64(work.sizes[BROKEN]), np.uint32(atom),
    )  # fmt: skip


@borrowing
def move(
    network: Network, constraints: Constraints, chain: Chain, work: Slice, choice: Number, option: Number
) -> None:
    """Give a choice another option, in everything that follows from it."""
    first, end = np.int64(network.first_atoms[choice]), np.int64(network.first_atoms[choice + 1])
    # While moves go on, plain choices are as their atoms are; their options are written down at the end.
    old = np.int64(1 - chain.values[first] if constraints.plain[choice] else chain.chosen[choice])
    if old == option:
        return
    if first + old < end:
        flip_of(network, chain, work, first + old)
    if first + option < end:
        flip_of(network, chain, work, first + option)
    clauses = len(constraints.odds)
    for place in range(network.choice_starts[choice], network.choice_starts[choice + 1]):
        table: Number = np.int64(network.choice_tables[place])
        stride = np.int64(network.choice_strides[place])
        cell: Number = np.int64(chain.cells[table])
        other = cell + (option - old) * stride
        chain.cells[table] = other
        if network.gated[choice]:
            table, cell = pass_on(
                network.table_parents, network.table_steps, network.table_starts, network.bits, chain.cells,
                table, cell,
            )  # fmt: skip
            other = np.int64(chain.cells[table])
        if work.tables_asked[table] == HAND:
            start = np.int64(network.table_starts[table])
            if network.bits[start + cell] != network.bits[start + other]:
                number, constraint = np.uint64(work.sizes[BROKEN]), np.int64(clauses + table)
                if network.bits[start + other] == constraints.table_favours[table]:
                    work.sizes[BROKEN] = note_mended(work.broken, work.places, number, constraint)
                else:
                    work.sizes[BROKEN] = note_broken(work.broken, work.places, number, constraint)
    chain.chosen[choice] = option
    work.drawn[choice] = option


@borrowing
def other_option(network: Network, chain: Chain, work: Slice, choice: Number) -> Number:
    """Draw another option of a choice, all that nothing excludes alike; so a move back is as probable."""
    options, first = int(network.options[choice]), np.int64(network.first_atoms[choice])
    end, chosen = np.int64(network.first_atoms[choice + 1]), np.int64(chain.chosen[choice])
    if options == 2:
        return 1 - chosen
    while True:  # a choice of which all other options are excluded is fixed, and no member
        option = next_below(chain.random, options)
        if option != chosen and (first + option >= end or work.frozen[first + option] == 0):
            return option


@borrowing
def look_up_atoms(
    members: NDArray[np.uint32], movable: NDArray[np.uint32], first: Number, number: Number,
    plain: NDArray[np.uint8], first_atoms: NDArray[np.uint32],
) -> None:  # fmt: skip
    """Write the atom of each plain member beside it: that a move looks there alone is a tenth of its time."""
    for place in range(first, first + number):
        choice = members[place]
        movable[place] = first_atoms[choice] if plain[choice] else NOBODY


@borrowing
def write_options(
    members: NDArray[np.uint32], movable: NDArray[np.uint32], first: Number, number: Number,
    values: NDArray[np.uint8], chosen: NDArray[np.uint32], drawn: NDArray[np.uint32],
) -> None:  # fmt: skip
    """Write down the options of plain members, which moves leave to their atoms: option 0 makes one true."""
    for place in range(first, first + number):
        atom = movable[place]
        if atom != NOBODY:
            chosen[members[place]] = drawn[members[place]] = 1 - values[atom]


def smallest_slice() -> tuple[Network, Chain, Constraints, Slice]:
    """Return the arrays for a question of one atom, with the types used in earnest."""
    network, chain = smallest()
    work = new_slice(1, 0, 1, 0)
    starts, empty, none, bits = network.atom_starts[:1], network.occurrences, network.strengths, network.bits
    owners, plain = np.zeros(1, np.uint32), np.ones(1, np.uint8)
    owners.setflags(write=False)
    plain.setflags(write=False)
    constraints = Constraints(
        starts, empty, none, bits, starts, empty, empty, none, bits, owners, plain, bits, starts
    )
    return network, chain, constraints, work


def new_slice(atoms: int, clauses: int, choices: int, tables: int) -> Slice:
    """Return room to work on slices of a network of these sizes; gates are tables too."""

    def bytes_(number: int) -> NDArray[np.uint8]:
        return np.zeros(number, np.uint8)

    def words(number: int) -> NDArray[np.uint32]:
        return np.zeros(number, np.uint32)

    return Slice(
        bytes_(clauses + tables),
        bytes_(clauses), words(clauses), bytes_(tables), bytes_(atoms), bytes_(choices), bytes_(choices),
        words(atoms), words(choices), np.zeros(choices + 1, np.int64), words(choices),
        words(clauses + tables), np.zeros(choices + 1, np.int64), words(choices), words(choices),
        words(clauses + tables), words(clauses + tables), np.zeros(tables, np.int64),
        np.zeros(3, np.int64), np.zeros(8, np.int64),
    )  # fmt: skip


def warm_up() -> None:
    """Compile every kernel of this file."""
    network, chain, constraints, work = smallest_slice()
    move(network, constraints, chain, work, 0, 1)
    other_option(network, chain, work, 0)
