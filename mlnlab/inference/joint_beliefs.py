"""How probably a formula over several choices holds, by the messages that have settled.

Beliefs in single choices say nothing of how they hang together. The factors between the choices of a formula
do: on a graph without loops they form a tree, and all that lies outside of it has already sent its messages
there. So choices are clamped to the options that make the formula false (or true), the tree is summed over
from its leaves to its top, and the share of what is left is the probability, exactly. On a graph with loops
the same is done over the factors that hold two or more of its choices, without those that would close a loop;
that is an approximation like the beliefs themselves.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.inference.belief_trees import Nodes, Surroundings, falsifying, trees_between

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mlnlab.kernels.belief_propagation_graph import Factors, Messages

    Reals = NDArray[np.float64]

_ROWS = 4_096  # clamped at once


# --- sums over it ---------------------------------------------------------------------------------


def log_sums(
    around: Surroundings, messages: Messages, tree: Nodes, allowed: dict[int, NDArray[np.bool_]]
) -> Reals:
    """Return the logarithm of what is left of a tree's sum where choices may take some options only.

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
    """Return what factors outside of the tree, together, tell a choice."""
    start, end = (int(place) for place in around.factors.value_starts[choice : choice + 2])
    finite, bans = messages.beliefs[start:end].copy(), messages.bans[start:end].copy()
    for node in around.near[choice]:
        if node in inside:
            said = _message(around, messages, node, choice)
            finite -= np.where(np.isinf(said), 0.0, said)
            bans -= np.isinf(said)
    return np.where(bans > 0.5, -inf, finite)


def _message(around: Surroundings, messages: Messages, node: int, choice: int) -> Reals:
    """Return what a factor has told a choice of each of its options."""
    factors = around.factors
    edge = around.edges(node)[around.members(node).index(choice)]
    if around.is_table(node):
        first, last = (int(place) for place in factors.message_starts[edge : edge + 2])
        return messages.table[first:last]
    return np.where(falsifying(factors, edge, choice), messages.clause[edge], 0.0)


def _from_factor(
    around: Surroundings, messages: Messages, node: int, above: int, heard: dict[int, Reals], rows: int
) -> Reals:  # fmt: skip
    """Return what a factor tells the choice above it, or where it is the top, the sum over it."""
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
            found[factor] = _clamped(around, messages, asked, node, trees)
    return found


def _clamped(
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
