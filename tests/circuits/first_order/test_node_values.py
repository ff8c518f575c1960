"""Values and derivatives on a circuit's definitions agree with folds, with exact rings and with worlds."""

from __future__ import annotations

from itertools import product
from math import exp, prod

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.algebra.semirings import LOGARITHMS, balls
from mlnlab.circuits.first_order.evaluation_cost import count_needed_values, predicted_numbers
from mlnlab.circuits.first_order.first_order_circuit import Counting, calls_of
from mlnlab.circuits.first_order.fold import Weights, all_values
from mlnlab.circuits.first_order.node_values import log_node_values, ring_node_values
from mlnlab.errors import TooLargeError
from mlnlab.lifted.ask.circuit_numbers import LIVE_NUMBERS, circuit_numbers
from tests.circuits.first_order.test_folds import MODELS, asked, compiled

SIGNED = "E(p, p)\nS(p)\n0.5 S(x)\n0.3 E(x, y) => E(y, x)\nEXIST y E(x, y).\n-0.7 S(x) => E(x, x)"


@pytest.mark.parametrize("name", MODELS)
def test_values_are_those_of_a_fold_and_derivatives_those_of_a_ring(name):
    circuit = compiled(name)
    sizes, true, false = asked(circuit, 4)
    found, nodes = log_node_values(circuit.circuit, sizes, true[:, 0], false[:, 0])
    logs = Weights(list(true[:, 0]), list(false[:, 0]))
    expected = all_values(circuit.circuit, sizes, LOGARITHMS, logs)
    assert found.value[0] == pytest.approx(expected[circuit.circuit.root, sizes], rel=1e-12)
    for number, one in nodes.items():
        assert one.value == pytest.approx(expected[number, one.sizes], rel=1e-12, abs=1e-12)
    from flint import arb

    weights = Weights([arb(exp(w)) for w in true[:, 0]], [arb(exp(w)) for w in false[:, 0]])
    _, exact = ring_node_values(circuit.circuit, sizes, balls(), weights)
    for number, one in exact.items():
        assert nodes[number].uses == pytest.approx(one.uses, rel=1e-9, abs=1e-12)
        if one.chosen is not None:
            shares = nodes[number].chosen
            assert shares[: len(one.chosen)] == pytest.approx(one.chosen, rel=1e-9, abs=1e-12)
    assert exact[circuit.circuit.root].uses == pytest.approx(1.0)


def test_what_is_chosen_is_how_many_atoms_are_true_in_a_world():
    mln = ml.MLN.from_text("S(p)\nF(p, p)\n0.6 F(x, y) ^ S(x) => S(y)\n-0.4 S(x)")
    circuit = ml.lift(mln).compile()
    counting = [n for n, d in enumerate(circuit.circuit.definitions) if isinstance(d.body, Counting)]
    (number,) = counting
    found = circuit_numbers(circuit, {"p": 3}).nodes[number].chosen
    weights = np.zeros(4)
    for smokes in product((0, 1), repeat=3):
        # Each pair of people is its own sum over whether they are friends.
        pairs = prod(
            exp(0.6) + (exp(0.6) if not smokes[a] or smokes[b] else 1.0) for a in range(3) for b in range(3)
        )
        weights[sum(smokes)] += exp(-0.4 * sum(smokes)) * pairs
    assert found == pytest.approx(weights / weights.sum())


def test_what_cancels_is_used_less_than_never():
    """Of the 2^3 rows of an element the empty one is taken off again, so that 7 are left."""
    circuit = ml.lift(ml.MLN.from_text("E(p, p)\nEXIST y E(x, y).")).compile()
    found = circuit_numbers(circuit, {"p": 3})
    assert min(one.uses for one in found.nodes.values()) == pytest.approx(-3 / 7)


def test_a_signed_circuit_says_what_balls_say():
    circuit = ml.lift(ml.MLN.from_text(SIGNED)).compile()
    found = circuit_numbers(circuit, {"p": 3})
    assert found.log_z.value == pytest.approx(circuit.log_z({"p": 3}).value, rel=1e-14)
    assert found.expected_counts == pytest.approx(circuit.expected_counts({"p": 3}))
    assert found.nodes[0].value == pytest.approx(found.log_z.value, rel=1e-12)


def test_what_takes_too_long_is_known_before():
    circuit = compiled("two counted")
    for n in (3, 10):
        needed = count_needed_values(circuit.circuit, (n,), 10**6)
        assert needed <= predicted_numbers(circuit.circuit, (n,)) <= 40 * needed
    with pytest.raises(TooLargeError, match=r"With p = 30,000 this circuit takes about [0-9,]+ numbers"):
        circuit_numbers(circuit, {"p": 30_000})
    assert predicted_numbers(compiled("friends").circuit, (30_000,)) < LIVE_NUMBERS
    either = compiled("either").circuit  # it counts nothing: a number for each definition and each call
    calls = [call for definition in either.definitions for call in calls_of(definition.body)]
    assert predicted_numbers(either, (9, 9)) == len(either) + len(calls)


def test_atoms_of_sorts_that_were_taken_apart_have_their_own_marginals():
    mln = ml.MLN.from_text("E(d, d)\nP(d)\nE(x, y) v E(z, u) v P(w).\n0.2 P(x)\n0.3 E(x, y)")
    circuit = ml.lift(mln).compile()
    assert circuit.weighted.stands
    assert circuit.by_floats
    found = circuit_numbers(circuit, {"d": 4}).marginals
    assert [one.atom for one in found] == ["E(x, x)", "E(x, y)", "P(x)"]
    expected = circuit.marginals([one.atom for one in found], {"d": 4})
    assert [one.probability for one in found] == pytest.approx(expected)
    assert [one.atoms for one in found] == pytest.approx([4, 12, 4])


def test_where_numbers_are_asked_for_nodes_tell_of_the_worlds_that_have_them():
    """Three people with one friend each: values are of one or more each, shares of three in all."""
    mln = ml.MLN.from_text("S(p)\nF(p, p)\nEXIST=1 y F(x, y).\n0.6 F(x, y) ^ S(x) => S(y)\n-0.4 S(x)")
    circuit = ml.lift(mln).compile(method="rules")
    (number,) = [n for n, d in enumerate(circuit.circuit.definitions) if isinstance(d.body, Counting)]
    nodes = circuit_numbers(circuit, {"p": 3}).nodes
    weights, everything = np.zeros(4), 0.0
    for smokes in product((0, 1), repeat=3):
        broken = np.array([[smokes[a] and not smokes[b] for b in range(3)] for a in range(3)])
        for friends in product((0, 1), repeat=9):
            chosen = np.reshape(friends, (3, 3))
            weight = exp(-0.4 * sum(smokes) + 0.6 * (9 - (broken * chosen).sum()))
            everything += weight * (chosen.sum(axis=1) >= 1).all()
            weights[sum(smokes)] += weight * (chosen.sum(axis=1) == 1).all()
    assert nodes[number].chosen == pytest.approx(weights / weights.sum())
    root = nodes[circuit.circuit.root]
    assert root.uses == pytest.approx(1.0)
    assert root.value == pytest.approx(np.log(everything))


def test_a_definition_that_is_made_of_other_things_at_other_sizes_has_a_value():
    circuit = ml.lift(ml.MLN.from_text("T(p, p)\nT(x, y) ^ T(y, z) => T(x, z).")).compile()
    found = circuit_numbers(circuit, {"p": 4})
    assert exp(found.log_z.value) == pytest.approx(3_994)  # transitive relations, OEIS A006905
    assert found.nodes[circuit.circuit.root].uses == pytest.approx(1.0)
