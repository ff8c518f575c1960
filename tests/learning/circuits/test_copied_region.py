"""The region that a split copies is that of Definition 4, found here from the circuit alone."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from mlnlab.circuits.propositional.arithmetic_circuit import INDICATOR, PARAMETER, PRODUCT, SUM
from mlnlab.factors.data.data_table import DataTable
from mlnlab.factors.graphs.random_variables import RandomVariable
from mlnlab.learning.circuits.copied_region import copied_region
from mlnlab.learning.circuits.learn_ac import LearnACParams, LearnACTask, build_model, steps
from mlnlab.learning.circuits.split_ac import SplitCircuit
from mlnlab.learning.circuits.split_replays import Replay
from mlnlab.learning.circuits.split_states import all_splits, split_columns
from mlnlab.learning.networks.split_gains import SplitGains


def children(circuit, node):
    return circuit.children[circuit.first_child[node] : circuit.first_child[node + 1]].tolist()


def ancestors(circuit, leaves):
    """The nodes above some leaves, and these."""
    found = set(leaves)
    for node in range(len(circuit)):
        if found & set(children(circuit, node)):
            found.add(node)
    return found


def region_by_definition(circuit, own, variable):
    """Mutual ancestors, and the D- and the V-ancestors below them; ``own`` are the parameters of D."""
    indicators = np.flatnonzero((circuit.kinds == INDICATOR) & (circuit.variable == variable)).tolist()
    above_d, above_v = ancestors(circuit, own), ancestors(circuit, indicators)
    both = above_d & above_v
    mutual = {node for node in both if not both & set(children(circuit, node))}
    below, waiting = set(), list(mutual)
    for node in waiting:
        new = set(children(circuit, node)) - below
        below |= new
        waiting += new
    return mutual, above_d & below, (above_v & below) - set(indicators)


def random_table(seed, rows=60, variables=5):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 4, variables)
    cells = np.zeros((rows, variables), int)
    for column, size in enumerate(sizes):
        parent = cells[:, rng.integers(0, column)] if column else np.zeros(rows, int)
        copied = rng.random(rows) < 0.6
        cells[:, column] = np.where(copied, parent % size, rng.integers(0, size, rows))
    names = (RandomVariable.numbered(f"X{n}", int(size)) for n, size in enumerate(sizes))
    return DataTable(tuple(names), cells)


@given(st.integers(0, 10_000))
def test_the_region_of_each_split_is_that_of_the_definition(seed):
    table = random_table(seed)
    params = LearnACParams(k_e=0.02, k_p=0.1, most_splits=8, edges="table 5.2")
    state = list(steps(LearnACTask(table), params, None))[-1]
    circuit, owners = SplitCircuit(table.variables), list(range(len(table.variables)))
    sizes = [variable.size for variable in table.variables]
    for (leaf, variable), added in zip(all_splits(state), split_columns(state)[1].tolist(), strict=True):
        numbered = [[number + 1.0] * sizes[owner] for number, owner in enumerate(owners)]
        more = [owners[leaf]] * (sizes[variable] - 1)
        after = numbered + [[len(numbered) + n + 1.0] * sizes[owners[leaf]] for n in range(len(more))]
        found = copied_region(circuit, leaf, variable, numbered, after)
        before = found.before
        own = np.flatnonzero((before.kinds == PARAMETER) & (before.parameters == leaf + 1)).tolist()
        mutual, toward_d, toward_v = region_by_definition(before, own, variable)
        roles = {role: {n for n, part in found.parts_before.items() if part.role == role}
                 for role in ("mutual", "toward D", "toward V")}  # fmt: skip
        assert roles == {"mutual": mutual, "toward D": toward_d, "toward V": toward_v}
        assert found.after.edges - before.edges == added
        new = [leaf + 1, *range(len(numbered) + 1, len(after) + 1)]
        for value, number in enumerate(new):  # each value has the parameters of its own leaf
            own = np.flatnonzero(
                (found.after.kinds == PARAMETER) & (found.after.parameters == number)
            ).tolist()
            assert all(found.parts_after[node].value == value for node in own)
            assert all(found.parts_after[node].role == "toward D" for node in own)
        for node, part in found.parts_after.items():
            kind = {"sum": SUM, "product": PRODUCT, "mutual": PRODUCT}.get(part.role)
            assert kind is None or found.after.kinds[node] == kind
        owners += more


def test_figure_5_2_of_two_variables():
    circuit = SplitCircuit([RandomVariable.numbered(name, 2) for name in "AB"])
    half = [0.5, 0.5]
    found = copied_region(circuit, 0, 1, [half] * 2, [half] * 3)  # P(A) split on B
    assert Counter(part.role for part in found.parts_before.values()) == {
        "mutual": 1, "toward D": 5, "toward V": 3,
    }  # fmt: skip
    assert Counter(found.parts_after.values())["sum", -1] == 1
    for value in range(2):
        assert Counter(found.parts_after.values())["product", value] == 1
        assert Counter(found.parts_after.values())["toward D", value] == 5
        assert Counter(found.parts_after.values())["toward V", value] == 2


@given(st.integers(0, 1_000))
def test_a_replay_says_the_same_of_a_step_wherever_it_comes_from(seed):
    table, params = random_table(seed), LearnACParams(k_e=0.02, k_p=0.1, quick=False, most_splits=5)
    states = [state for state in steps(LearnACTask(table), params, None) if state.number and not state.ended]
    forward = Replay(table, params)
    told = [forward.last_split(all_splits(state)) for state in states]
    gains = SplitGains(table, params.score, params.prior)
    for state, one in zip(reversed(states), reversed(told), strict=True):
        again = Replay(table, params).last_split(all_splits(state))
        assert (again.before, again.after, again.condition) == (one.before, one.after, one.condition)
        assert again.candidates == one.candidates
        best = one.candidates[0]  # a greedy step applies the best of all
        applied = next(c for c in one.candidates if (c.leaf, c.asked) == all_splits(state)[-1])
        assert applied.score >= best.score - 1e-9
        assert applied.edges == split_columns(state)[1][-1]
        network = build_model(gains, all_splits(state)).network
        assert one.after == network.trees[one.variable]
