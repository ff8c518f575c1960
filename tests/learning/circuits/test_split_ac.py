"""SplitAC: Definition 3, Lemmas 1 to 3, Theorem 1 and the edge costs, on random runs and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlnlab.circuits.propositional.arithmetic_circuit import INDICATOR, PARAMETER, PRODUCT, SUM
from mlnlab.learning.circuits.split_ac import NO_LIMIT, SplitCircuit, grow_network
from tests.learning.circuits.circuit_oracles import (
    RandomSplits,
    check_definition_3,
    children_of,
    evaluate_circuit,
    make_variables,
    network_polynomial,
)

runs = st.tuples(
    st.sampled_from([(2, 2), (2, 2, 2), (2, 3, 2), (3, 2, 2, 2), (2, 2, 2, 2, 2), (1, 2, 3), (4, 3, 2)]),
    st.integers(0, 10**6), st.integers(1, 12),
)  # fmt: skip


def split_randomly(sizes, seed, number):
    """Yield a circuit and the splits so far, before each of some random splits, with the split."""
    splits, circuit = RandomSplits(sizes, seed), SplitCircuit(make_variables(sizes), held=True)
    for _ in range(number):
        chosen = splits.draw()
        if chosen is None:
            break
        yield circuit, splits, chosen
        splits.apply(*chosen)


# --- by hand ----------------------------------------------------------------------------------------


def test_the_first_circuit_is_figure_5_1():
    circuit = SplitCircuit(make_variables((2, 2))).freeze([[0.3, 0.7], [0.6, 0.4]])
    root = len(circuit) - 1
    assert circuit.kinds[root] == PRODUCT
    sums = children_of(circuit, root)
    assert [circuit.kinds[node] for node in sums] == [SUM, SUM]
    for variable, (sum_, expected) in enumerate(zip(sums, [[0.3, 0.7], [0.6, 0.4]], strict=True)):
        for value, product in enumerate(children_of(circuit, sum_)):
            indicator, parameter = children_of(circuit, product)
            assert circuit.kinds[product] == PRODUCT
            assert (circuit.kinds[indicator], circuit.kinds[parameter]) == (INDICATOR, PARAMETER)
            assert (circuit.variable[indicator], circuit.value[indicator]) == (variable, value)
            assert circuit.parameters[parameter] == expected[value]
    assert (len(circuit), circuit.edges) == (15, 14)


def test_a_split_makes_figure_5_2():
    # A split on B: a sum over b of products of b, the copy of what was above B, and that of A's part.
    work = SplitCircuit(make_variables((2, 2)))
    work.split(0, 1)
    circuit = work.freeze([[0.3, 0.7], [0.6, 0.4], [0.1, 0.9]])
    (sum_,) = children_of(circuit, len(circuit) - 1)
    for value, product in enumerate(children_of(circuit, sum_)):
        indicator, above_b, above_a = children_of(circuit, product)
        assert (circuit.variable[indicator], circuit.value[indicator]) == (1, value)
        (b,) = children_of(circuit, above_b)
        (parameter,) = children_of(circuit, b)
        assert circuit.parameters[parameter] == [0.6, 0.4][value]
        pairs = [children_of(circuit, node) for node in children_of(circuit, above_a)]
        assert [circuit.variable[indicator] for indicator, _ in pairs] == [0, 0]
        leaf = [[0.3, 0.7], [0.1, 0.9]][value]
        assert [circuit.parameters[parameter] for _, parameter in pairs] == leaf


def test_collapsed_circuits_have_no_single_children():
    work = SplitCircuit(make_variables((2, 2)))
    work.split(0, 1)
    found = work.freeze([[0.3, 0.7], [0.6, 0.4], [0.1, 0.9]], collapsed=True)
    assert found.edges == work.collapsed_edges == 20
    assert 1 not in np.diff(found.first_child.astype(int))


def test_the_chain_of_section_5_5_3():
    """AB-BC-CD-DE-EF: an arc from A to F makes A to E cheaper; one from B to F makes A to F dearer."""

    def chain():
        circuit = SplitCircuit(make_variables((2,) * 6))
        for child in range(1, 6):
            circuit.split(child, child - 1)
        return circuit

    def add_arc(circuit, parent, child):
        """Split all leaves of the child on the parent; return the edges that the first and all cost."""
        before, first = circuit.edges, circuit.edge_cost(child, parent)
        for leaf in np.flatnonzero(circuit.leaf_variables == child).tolist():
            circuit.split(leaf, parent)
        return first, circuit.edges - before

    a, b, e, f = 0, 1, 4, 5
    from_a, from_b = chain(), chain()
    add_arc(from_a, a, f)
    add_arc(from_b, b, f)
    assert add_arc(chain(), a, e) == (70, 108)
    assert add_arc(from_a, a, e) == (12, 24)
    assert add_arc(chain(), a, f) == (97, 146)
    assert add_arc(from_b, a, f)[1] == 180


def test_variables_of_many_values_are_split():
    work = SplitCircuit(make_variables((70, 2, 64)))
    for leaf, variable in ((1, 0), (2, 0), (5, 2)):
        expected = work.edges + work.edge_cost(leaf, variable)
        work.split(leaf, variable)
        assert work.edges == expected
    distributions = [np.full(work.sizes[own], 1 / work.sizes[own]) for own in work.leaf_variables]
    circuit = work.freeze(distributions)
    ones = [np.ones(size) for size in (70, 2, 64)]
    assert evaluate_circuit(circuit, ones) == pytest.approx(1)


# --- random runs -------------------------------------------------------------------------------------


@given(runs)
def test_each_split_keeps_definition_3_and_the_network_polynomial(run):
    for circuit, splits, (leaf, variable) in split_randomly(*run):
        circuit.split(leaf, variable)
        done = [*splits.splits, (leaf, variable)]
        probabilities = [
            splits.random.dirichlet(np.ones(circuit.sizes[own])) for own in circuit.leaf_variables
        ]
        network = grow_network(circuit.variables, done, probabilities)
        indicators = [splits.random.normal(size=size) for size in circuit.sizes]
        expected = pytest.approx(network_polynomial(network, indicators), rel=1e-9, abs=1e-12)
        for collapsed in (False, True):
            frozen = circuit.freeze(probabilities, collapsed=collapsed)
            check_definition_3(frozen)
            assert frozen.edges == (circuit.collapsed_edges if collapsed else circuit.edges)
            assert evaluate_circuit(frozen, indicators) == expected


@given(runs)
def test_edge_costs_are_the_edges_added(run):
    for circuit, _, (leaf, variable) in split_randomly(*run):
        cost = circuit.edge_cost(leaf, variable)
        expected = circuit.edges + cost
        circuit.split(leaf, variable)
        assert circuit.edges == expected
        assert cost > 0


@given(runs)
def test_circuits_collapse_as_they_grow(run):
    collapsing = SplitCircuit(make_variables(run[0]), held=True, collapses=True)
    for circuit, splits, (leaf, variable) in split_randomly(*run):
        cost = collapsing.edge_cost(leaf, variable)
        expected = collapsing.collapsed_edges + cost
        circuit.split(leaf, variable)
        collapsing.split(leaf, variable)
        assert collapsing.edges == collapsing.collapsed_edges == circuit.collapsed_edges == expected
        probabilities = [
            splits.random.dirichlet(np.ones(circuit.sizes[own])) for own in circuit.leaf_variables
        ]
        frozen = collapsing.freeze(probabilities)
        check_definition_3(frozen)
        indicators = [splits.random.normal(size=size) for size in circuit.sizes]
        expected = evaluate_circuit(circuit.freeze(probabilities), indicators)
        assert evaluate_circuit(frozen, indicators) == pytest.approx(expected, rel=1e-9, abs=1e-12)


@given(runs, st.integers(0, 60))
def test_counting_stops_only_above_the_limit(run, limit):
    collapsing = SplitCircuit(make_variables(run[0]), collapses=True)
    for literal, splits, chosen in split_randomly(*run):
        for circuit in (literal, collapsing):
            for leaf, variable in splits.valid():
                cost = circuit.edge_cost(leaf, variable)
                stopped = circuit.edge_cost(leaf, variable, limit)
                assert stopped == cost if cost <= limit else stopped > limit
            circuit.split(*chosen)


@given(runs)
def test_savings_are_kept_up_to_date(run):
    from mlnlab.kernels.splits.split_regions import count_copies
    from mlnlab.kernels.splits.work_circuit import holds_variable

    circuit = SplitCircuit(make_variables(run[0]), collapses=True)
    for _, _, chosen in split_randomly(*run):
        circuit.split(*chosen)
        number = int(circuit._kernels[0].sort_nodes(circuit.work))
        work, expected = circuit.work, np.zeros(len(run[0]), int)
        for node in work.order[:number].tolist():
            if work.kind[node] == SUM:
                for variable in range(len(run[0])):
                    if holds_variable(work, node, variable):
                        saved = work.n_children[node] - count_copies(work, node, variable)
                        expected[variable] += max(0, saved)
        assert work.savings.tolist() == expected.tolist()


@given(runs)
def test_rows_tell_the_leaves_and_indicators_below(run):
    for circuit, _, (leaf, variable) in split_randomly(*run):
        circuit.split(leaf, variable)
        work, number = circuit.work, int(circuit._kernels[0].sort_nodes(circuit.work))
        nodes = work.order[:number].tolist()
        leaf_of = {
            int(work.parameter[work.first_parameter[leaf] + j]): leaf
            for leaf, own in enumerate(circuit.leaf_variables) for j in range(circuit.sizes[own])
        }  # fmt: skip
        for node in nodes:
            below, held = np.zeros_like(work.below[0]), np.zeros_like(work.held[0])
            if node in leaf_of:
                held[leaf_of[node] >> 6] |= np.uint64(1 << (leaf_of[node] & 63))
            if work.kind[node] == INDICATOR:
                place = int(work.shift[work.variable[node]] + work.value[node])
                below[work.word[work.variable[node]] + place // 64] |= np.uint64(1 << place % 64)
            for slot in range(work.first[node], work.first[node] + work.n_children[node]):
                assert work.owner[slot] == node
                below |= work.below[work.child[slot]]
                held |= work.held[work.child[slot]]
            assert (work.below[node] == below).all()
            assert (work.held[node] == held).all()


@given(runs)
def test_the_plain_twins_split_alike(run):
    from mlnlab.kernels.compiled import plain_twin
    from mlnlab.kernels.splits import circuit_splitting, split_regions

    cost, space = plain_twin(split_regions.edge_cost), plain_twin(split_regions.measure_space)
    apply = plain_twin(circuit_splitting.apply_split)
    for circuit, _, (leaf, variable) in split_randomly(*run):
        twin = type(circuit)(circuit.variables, held=True)
        twin.work = type(circuit.work)(*(array.copy() for array in circuit.work))
        circuit.split(leaf, variable)
        lengths = (
            len(getattr(circuit.work, name)) for name in ("kind", "child", "first_parameter", "parameter")
        )
        twin._grow(*lengths)
        cost(twin.work, leaf, variable, NO_LIMIT)
        space(twin.work, variable)
        apply(twin.work, leaf, variable)
        for name in ("kind", "child", "owner", "n_children", "totals", "below", "held", "parameter"):
            mine, other = getattr(circuit.work, name), getattr(twin.work, name)
            alike = tuple(slice(min(pair)) for pair in zip(mine.shape, other.shape, strict=True))
            assert (mine[alike] == other[alike]).all(), name
