"""The components of a slice, and how each of them is drawn: by rejection, or by SampleSAT where it is tight.

A *component* is a set of choices that constraints tie together and to no other open choice, so components are
drawn one by one (the arrays are those of :mod:`mlnlab.kernels.chains.sample_sat_constraints`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mlnlab.kernels.chains.sample_sat import search, wander
from mlnlab.kernels.chains.sample_sat_constraints import (
    BROKEN,
    COLLECTED,
    FIRST,
    HAND,
    MEMBERS,
    Constraints,
    Slice,
    move,
    smallest_slice,
)
from mlnlab.kernels.chains.sample_sat_listing import all_hold, listing
from mlnlab.kernels.chains.world_arrays import Chain, Network
from mlnlab.kernels.compiled import borrowing, inlined
from mlnlab.kernels.random_numbers import next_below, next_uniform

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Number = int | np.integer[Any]

_1 = np.uint32(1)
# What is tallied: of the last slice (the first four), and over all slices.
ASKED, FROZEN, COMPONENTS, LARGEST, TIGHT, JUMPS, FAILED, MOVES = range(8)
FEW = 32  # constraints of a component that is tried by rejection: of more, hardly any try succeeds


class Effort(NamedTuple):
    """How components are drawn that are too tight for rejection."""

    tries: int
    jumps: float  # how often to begin in a random world, instead of the current one
    walking: float  # share of walking moves after a jump
    temperature: float  # of wandering; 0: so cold that about half of the time nothing is broken
    passes: int  # visits for each choice
    moves: int  # at most, for each choice


@inlined
def join(seen: NDArray[np.uint8], members: NDArray[np.uint32], number: int, choice: Number) -> int:
    """Add a choice behind the members, unless it is fixed or there already; return their number."""
    if seen[choice]:
        return number
    seen[choice] = 1
    members[number] = choice
    return number + 1


@borrowing
def draw_components(
    network: Network, constraints: Constraints, chain: Chain, work: Slice, effort: Effort
) -> None:
    """Find the components of the choices that are not fixed, and draw each."""
    components = gather(network, constraints, work)
    largest = 0
    for component in range(components):
        first, end = work.member_starts[component], work.member_starts[component + 1]
        largest = max(largest, end - first)
        if end - first == 1 and work.constraint_starts[component] == work.constraint_starts[component + 1]:
            draw_free(network, chain, work.frozen, work.drawn, work.members[first])
        elif not (
            rejection(network, constraints, chain.random, work, component, effort.tries)
            or listing(network, constraints, chain.random, work, component)
        ):
            for place in range(first, end):
                work.drawn[work.members[place]] = chain.chosen[work.members[place]]
            work.sizes[FIRST], work.sizes[MEMBERS] = first, end - first
            watch(work, component, HAND)
            draw_tight(network, constraints, chain, work, effort)
            watch(work, component, COLLECTED)
    take_drawn(network, constraints, chain, work)
    work.tallies[COMPONENTS], work.tallies[LARGEST] = components, largest


@borrowing
def gather(network: Network, constraints: Constraints, work: Slice) -> int:
    """Collect the components: whatever constraints tie together. Return how many there are."""
    first_atoms, atom_starts, occurrences = network.first_atoms, network.atom_starts, network.occurrences
    starts, literals, owners = constraints.starts, constraints.literals, constraints.owners
    asked, seen, members, collected = work.asked, work.seen, work.members, work.collected
    clauses, number, done, held, components = len(asked), 0, 0, 0, 0
    for choice in range(len(seen)):
        if seen[choice]:
            continue
        number = join(seen, members, number, choice)
        while done < number:
            member = members[done]
            done += 1
            for place in range(atom_starts[first_atoms[member]], atom_starts[first_atoms[member + _1]]):
                clause = occurrences[place] >> _1
                if asked[clause] == 1:
                    asked[clause] = COLLECTED
                    collected[held] = clause
                    held += 1
                    for position in range(starts[clause], starts[clause + _1]):
                        number = join(seen, members, number, owners[literals[position] >> _1])
            for place in range(network.choice_starts[member], network.choice_starts[member + _1]):
                table = network.choice_tables[place]
                if work.tables_asked[table] == 1:
                    work.tables_asked[table] = COLLECTED
                    collected[held] = clauses + table
                    held += 1
                    for position in range(
                        constraints.scope_starts[table], constraints.scope_starts[table + _1]
                    ):
                        number = join(seen, members, number, constraints.scope[position])
        components += 1
        work.member_starts[components], work.constraint_starts[components] = number, held
    return components


@borrowing
def draw_free(
    network: Network, chain: Chain, frozen: NDArray[np.uint8], drawn: NDArray[np.uint32], choice: Number
) -> None:
    """Draw an option of a choice, all that nothing excludes alike."""
    draw_option(network.first_atoms, network.options, chain.random, frozen, drawn, choice)


@borrowing
def draw_option(
    first_atoms: NDArray[np.uint32], options: NDArray[np.uint32], random: NDArray[np.uint64],
    frozen: NDArray[np.uint8], drawn: NDArray[np.uint32], choice: Number,
) -> None:  # fmt: skip
    """Draw an option of a choice, all that nothing excludes alike."""
    option = next_below(random, options[choice])
    first, end = np.int64(first_atoms[choice]), np.int64(first_atoms[np.int64(choice) + 1])
    if end - first > 1:
        while first + option < end and frozen[first + option]:
            option = next_below(random, options[choice])
    drawn[choice] = option


@borrowing
def rejection(
    network: Network, constraints: Constraints, random: NDArray[np.uint64], work: Slice,
    component: int, tries: int,
) -> bool:  # fmt: skip
    """Draw until all constraints hold; whatever comes of it, a success is uniform."""
    first, end = work.member_starts[component], work.member_starts[component + 1]
    start, last = work.constraint_starts[component], work.constraint_starts[component + 1]
    if last - start > FEW:
        return False
    for _ in range(tries):
        for place in range(first, end):
            draw_option(
                network.first_atoms, network.options, random, work.frozen, work.drawn, work.members[place]
            )
        if all_hold(network, constraints, work, start, last):
            return True
    return False


@borrowing
def take_drawn(network: Network, constraints: Constraints, chain: Chain, work: Slice) -> None:
    """Give all choices their drawn options."""
    first_atoms, atom_starts, occurrences = network.first_atoms, network.atom_starts, network.occurrences
    chosen, drawn, values, satisfied = chain.chosen, work.drawn, chain.values, chain.satisfied
    for choice in range(len(chosen)):
        if chosen[choice] == drawn[choice]:
            continue
        if not constraints.plain[choice]:
            move(network, constraints, chain, work, choice, np.int64(drawn[choice]))
            continue
        atom = first_atoms[choice]
        value = values[atom]
        for place in range(atom_starts[atom], atom_starts[atom + _1]):
            occurrence = occurrences[place]
            if value ^ (occurrence & _1):
                satisfied[occurrence >> _1] -= _1
            else:
                satisfied[occurrence >> _1] += _1
        values[atom] = 1 - value
        chosen[choice] = drawn[choice]


@borrowing
def watch(work: Slice, component: int, mark: int) -> None:
    """Mark the constraints of a component, so that it is noted, or no longer, when one breaks."""
    clauses = len(work.asked)
    for place in range(work.constraint_starts[component], work.constraint_starts[component + 1]):
        constraint = np.int64(work.collected[place])
        if constraint < clauses:
            work.asked[constraint] = mark
        else:
            work.tables_asked[constraint - clauses] = mark


@borrowing
def draw_tight(network: Network, constraints: Constraints, chain: Chain, work: Slice, effort: Effort) -> None:
    """Draw a component by SampleSAT; where that fails, the component stays as it was."""
    first, number, tallies = work.sizes[FIRST], work.sizes[MEMBERS], work.tallies
    for place in range(first, first + number):
        work.held[place] = chain.chosen[work.members[place]]
    # So cold that a broken constraint costs about as much as there are ways to break one.
    acceptance = np.exp(-1.0 / effort.temperature) if effort.temperature > 0.0 else 1.0 / (1.0 + number)
    most = effort.moves * number + 100
    tallies[TIGHT] += 1
    if next_uniform(chain.random) < effort.jumps:
        tallies[JUMPS] += 1
        for place in range(first, first + number):
            choice = np.int64(work.members[place])
            draw_free(network, chain, work.frozen, work.drawn, choice)
            move(network, constraints, chain, work, choice, np.int64(work.drawn[choice]))
        tallies[MOVES] += search(network, constraints, chain, work, effort.walking, acceptance, most)
    if work.sizes[BROKEN] == 0:
        visits = effort.passes * number
        tallies[MOVES] += wander(network, constraints, chain, work, acceptance, visits, most)
    if work.sizes[BROKEN]:
        tallies[FAILED] += 1
        for place in range(first, first + number):
            move(network, constraints, chain, work, work.members[place], np.int64(work.held[place]))


def warm_up() -> None:
    """Compile every kernel of this file."""
    network, chain, constraints, work = smallest_slice()
    draw_components(network, constraints, chain, work, Effort(1, 0.5, 0.5, 0.0, 1, 1))
    draw_tight(network, constraints, chain, work, Effort(1, 0.5, 0.5, 0.0, 1, 1))
