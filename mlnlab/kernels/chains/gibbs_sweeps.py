"""Gibbs sampling over ground clauses and tables, and how often each formula holds in the samples.

The arrays are those of :mod:`mlnlab.kernels.chains.world_arrays`. A sweep draws every choice given all
others; it looks only at the choice's own clauses and tables. While everything holds that must, no sum meets
inf - inf.
"""

from __future__ import annotations

from math import exp, inf
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mlnlab.kernels.chains.world_arrays import Chain, Network, choose, smallest, turn
from mlnlab.kernels.compiled import compiled
from mlnlab.kernels.random_numbers import next_uniform

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Number = int | np.integer[Any]

_1 = np.uint32(1)


@compiled
def sweep(network: Network, chain: Chain, number: int) -> None:
    """Draw each choice in turn, given all others, in ``number`` sweeps."""
    # Tuples and calls cost much in the innermost loop, so it is written out, over local names.
    first_atoms, options, atom_starts = network.first_atoms, network.options, network.atom_starts
    occurrences, strengths, choice_starts = network.occurrences, network.strengths, network.choice_starts
    chosen, values, satisfied, random = chain.chosen, chain.values, chain.satisfied, chain.random
    for _ in range(number):
        for choice in range(len(options)):
            atom = first_atoms[choice]
            if options[choice] != 2 or first_atoms[choice + 1] - atom != 1:
                if options[choice] > 1:
                    draw_block(network, chain, choice)
                continue
            value = values[atom]
            start, end = atom_starts[atom], atom_starts[atom + 1]
            advantage = 0.0  # of true over false, in log-weight
            for place in range(start, end):
                occurrence = occurrences[place]
                clause, negated = occurrence >> _1, occurrence & _1
                if satisfied[clause] == (value ^ negated):  # no other literal satisfies the clause
                    advantage += -strengths[clause] if negated else strengths[clause]
            if choice_starts[choice] != choice_starts[choice + 1]:
                advantage += advantage_in_tables(network, chain, choice)
            # Below -700 the exponential would overflow, and the probability is 0 in any case.
            probability = 0.0 if advantage < -700.0 else 1.0 / (1.0 + exp(-advantage))
            if (next_uniform(random) < probability) == (value != 0):
                continue
            for place in range(start, end):
                occurrence = occurrences[place]
                if value ^ (occurrence & _1):
                    satisfied[occurrence >> _1] -= _1
                else:
                    satisfied[occurrence >> _1] += _1
            values[atom] = 1 - value
            if choice_starts[choice] != choice_starts[choice + 1]:
                choose(network, chain, choice, value)
            chosen[choice] = value  # option 0 makes the atom true


@compiled
def advantage_in_tables(network: Network, chain: Chain, choice: Number) -> float:
    """Return the weight that an ordinary atom's tables gain when it flips from false to true."""
    if network.gated[choice]:
        return advantage_by_trial(network, chain, choice)
    advantage = 0.0
    for place in range(network.choice_starts[choice], network.choice_starts[choice + 1]):
        table, stride = network.choice_tables[place], network.choice_strides[place]
        if_true = network.table_starts[table] + chain.cells[table] - chain.chosen[choice] * stride
        if network.bits[if_true] != network.bits[if_true + stride]:
            strength = network.table_strengths[table]
            advantage += strength if network.bits[if_true] else -strength
    return advantage


@compiled
def advantage_by_trial(network: Network, chain: Chain, choice: Number) -> float:
    """Return that gain where gates count the atom, by trying both options; hard tables decide first."""
    before, scores, held = np.int64(chain.chosen[choice]), chain.scores, chain.held
    for option in range(2):
        scores[option] = 0.0
        held[option] = 0
    score_by_trial(network, chain, choice, before)
    if held[0] != held[1]:
        return inf if held[0] > held[1] else -inf
    return float(scores[0] - scores[1])


@compiled
def score_by_trial(network: Network, chain: Chain, choice: Number, before: Number) -> None:
    """Add the strengths of true tables to the options' scores, trying each option in turn; then go back."""
    table_starts, strengths, bits, cells = (
        network.table_starts,
        network.table_strengths,
        network.bits,
        chain.cells,
    )
    for option in range(np.int64(network.options[choice])):
        choose(network, chain, choice, option)
        for place in range(network.choice_starts[choice], network.choice_starts[choice + 1]):
            table = network.choice_tables[place]
            if strengths[table] != 0.0 and bits[table_starts[table] + cells[table]]:
                add_score(chain.scores, chain.held, option, strengths[table], 1)
    choose(network, chain, choice, before)


@compiled
def draw_block(network: Network, chain: Chain, choice: Number) -> None:
    """Draw the option of a block given its Markov blanket."""
    first, end = network.first_atoms[choice], network.first_atoms[choice + 1]
    options = np.int64(network.options[choice])
    if first + chain.chosen[choice] < end:
        turn(network, chain, first + chain.chosen[choice])  # now all of its atoms are false
    scores, held = chain.scores, chain.held
    atom_starts, occurrences, strengths = network.atom_starts, network.occurrences, network.strengths
    satisfied = chain.satisfied
    for option in range(options):
        scores[option] = 0.0
        held[option] = 0
        if first + option < end:
            for place in range(atom_starts[first + option], atom_starts[first + option + 1]):
                clause, negated = occurrences[place] >> _1, occurrences[place] & _1
                if satisfied[clause] == negated:  # no literal satisfies it, or this negated one alone
                    add_score(scores, held, option, strengths[clause], -1 if negated else 1)
    if network.choice_starts[choice] != network.choice_starts[choice + 1]:
        score_tables(network, chain, choice)
    drawn = draw_option(scores, held, chain.random, options)
    if first + drawn < end:
        turn(network, chain, first + drawn)
    choose(network, chain, choice, drawn)


@compiled
def score_tables(network: Network, chain: Chain, choice: Number) -> None:
    """Add the strengths of true tables to the options' scores."""
    if network.gated[choice]:
        score_by_trial(network, chain, choice, np.int64(chain.chosen[choice]))
        return
    scores, held, bits = chain.scores, chain.held, network.bits
    for place in range(network.choice_starts[choice], network.choice_starts[choice + 1]):
        table, stride = network.choice_tables[place], np.int64(network.choice_strides[place])
        cell = np.int64(network.table_starts[table]) + np.int64(chain.cells[table])
        first = cell - np.int64(chain.chosen[choice]) * stride
        for option in range(np.int64(network.options[choice])):
            if bits[first + option * stride]:
                add_score(scores, held, option, network.table_strengths[table], 1)


@compiled
def add_score(
    scores: NDArray[np.float64], held: NDArray[np.int64], option: Number, strength: float, sign: Number
) -> None:
    """Add a strength to an option's score; hard ones are counted apart."""
    if strength == inf:
        held[option] += sign
    else:
        scores[option] += sign * strength


@compiled
def draw_option(
    scores: NDArray[np.float64], held: NDArray[np.int64], random: NDArray[np.uint64], options: np.int64
) -> Number:
    """Draw an option in proportion to exp(score), among those that satisfy most hard constraints."""
    most, peak = held[0], -inf
    for option in range(options):
        most = max(most, held[option])
    for option in range(options):
        if held[option] == most:
            peak = max(peak, scores[option])
    total = 0.0
    for option in range(options):
        total += exp(scores[option] - peak) if held[option] == most else 0.0
        scores[option] = total
    target = next_uniform(random) * total
    for option in range(options - 1):
        if target < scores[option]:
            return option
    last = options - 1
    while held[last] != most:  # rounding may let the target reach the total
        last -= 1
    return last


class Groups(NamedTuple):
    """Clauses, and tables, in stretches that belong to one formula; some count where they are false.

    Each clause of a stretch stands for as many groundings.
    """

    clause_starts: NDArray[np.uint32]
    clause_formulas: NDArray[np.uint32]
    clause_negated: NDArray[np.uint8]
    clause_groundings: NDArray[np.uint32]
    table_starts: NDArray[np.uint32]
    table_formulas: NDArray[np.uint32]


@compiled
def count(network: Network, groups: Groups, chain: Chain, counts: NDArray[np.int64]) -> None:
    """Count how many of the open groundings of each formula hold."""
    for formula in range(len(counts)):
        counts[formula] = 0
    for group in range(len(groups.clause_formulas)):
        start, end = np.int64(groups.clause_starts[group]), np.int64(groups.clause_starts[group + 1])
        holding = np.int64(0)
        for clause in range(start, end):
            holding += chain.satisfied[clause] != 0
        if groups.clause_negated[group]:
            holding = end - start - holding
        counts[groups.clause_formulas[group]] += holding * np.int64(groups.clause_groundings[group])
    for group in range(len(groups.table_formulas)):
        holding = np.int64(0)
        for table in range(groups.table_starts[group], groups.table_starts[group + 1]):
            holding += network.bits[network.table_starts[table] + chain.cells[table]]
        counts[groups.table_formulas[group]] += holding


@compiled
def sample(
    network: Network, groups: Groups, chain: Chain, samples: int, thin: int,
    sums: NDArray[np.int64], counts: NDArray[np.int64],
) -> None:  # fmt: skip
    """Draw samples, ``thin`` sweeps apart; add to ``sums`` each atom's truth and each formula's count."""
    atoms = len(chain.values)
    for _ in range(samples):
        sweep(network, chain, thin)
        for atom in range(atoms):
            sums[atom] += chain.values[atom]
        count(network, groups, chain, counts)
        for formula in range(len(counts)):
            sums[atoms + formula] += counts[formula]


def warm_up() -> None:
    """Compile every kernel of this file."""
    network, chain = smallest()
    sweep(network, chain, 1)
    starts, empty, bits = network.atom_starts, network.occurrences, network.bits
    groups = Groups(starts[:1], empty, bits, empty, starts[:1], empty)
    counts = np.zeros(0, np.int64)
    sample(network, groups, chain, 1, 1, np.zeros(1, np.int64), counts)
    count(network, groups, chain, counts)
