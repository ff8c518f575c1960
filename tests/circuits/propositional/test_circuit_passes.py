"""Answers of circuits beside sums over all assignments."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from math import exp, inf, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mlnlab.circuits.propositional import circuit_passes
from mlnlab.circuits.propositional.libra_circuits import ac_circuit
from mlnlab.errors import ArgumentError, UnsatisfiableError
from mlnlab.factors.data.data_table import DataTable
from mlnlab.factors.graphs.random_variables import RandomVariable
from tests.support.small_circuits import all_weights, plain_value, random_circuit
from tests.support.thoroughness import examples

SEEDS = st.integers(0, 10**6)


def in_logarithms(circuit):
    """Return a copy of a circuit that never uses plain numbers."""
    copy = circuit.with_parameters(circuit.parameters)
    circuit_passes.evaluator_of(copy).floor = inf
    return copy


def random_row(rng, circuit, missing=0.5):
    return [-1 if rng.random() < missing else int(rng.integers(v.size)) for v in circuit.variables]


def evidence_of(circuit, row):
    return {v.name: v.values[value] for v, value in zip(circuit.variables, row, strict=True) if value >= 0}


def weight_of(weights, row):
    return float(weights[tuple(slice(None) if value < 0 else value for value in row)].sum())


@settings(max_examples=examples(60))
@given(SEEDS)
def test_all_answers_are_those_of_enumeration(seed):
    circuit, rng = random_circuit(seed), np.random.default_rng(seed)
    weights = all_weights(circuit)
    row = random_row(rng, circuit)
    evidence, total = evidence_of(circuit, row), weight_of(weights, row)
    for one in (circuit, in_logarithms(circuit)):
        if not total:
            with pytest.raises(UnsatisfiableError, match=r"probability 0|weight 0"):
                one.marginals(evidence)
            assert one.log_probability(evidence) == -inf
            continue
        assert one.log_z == pytest.approx(log(weights.sum()))
        assert one.log_probability(evidence) == pytest.approx(log(total / weights.sum()))
        assert one.evaluate(evidence).log_value == pytest.approx(log(total))
        known = weights.copy()
        for axis, value in enumerate(row):
            if value >= 0:
                known[
                    tuple(
                        slice(None) if a != axis else np.arange(s) != value for a, s in enumerate(known.shape)
                    )
                ] = 0
        known /= total
        marginals = one.marginals(evidence)
        for axis, variable in enumerate(circuit.variables):
            expected = known.sum(axis=tuple(a for a in range(known.ndim) if a != axis))
            assert list(marginals[variable.name].values()) == pytest.approx(expected)
        positive = known[known > 0]
        assert one.entropy(evidence) == pytest.approx(-float(positive @ np.log(positive)), abs=1e-12)
        best = one.most_probable(evidence)
        assert exp(best.log_weight) == pytest.approx(known.max() * total)
        place = tuple(v.number(best[v.name]) for v in circuit.variables)
        assert known[place] * total == pytest.approx(exp(best.log_weight))
        path = one.most_probable_nodes(evidence)
        assert np.prod(circuit.parameters[path][circuit.kinds[path] == 1]) == pytest.approx(
            exp(best.log_weight)
        )


@settings(max_examples=examples(60))
@given(SEEDS)
def test_conditionals_one_by_one_and_in_batches(seed):
    circuit, rng = random_circuit(seed, zeros=0.0), np.random.default_rng(seed)
    weights = all_weights(circuit)
    given_rows = [random_row(rng, circuit, 0.6) for _ in range(40)]
    asked_rows = [random_row(rng, circuit, 0.6) for _ in range(40)]
    expected = []
    for asked, known in zip(asked_rows, given_rows, strict=True):
        both = [a if k < 0 else k for a, k in zip(asked, known, strict=True)]
        apart = any(a not in {-1, k} for a, k in zip(asked, known, strict=True) if k >= 0)
        expected.append(0.0 if apart else weight_of(weights, both) / weight_of(weights, known))
    asked, known = (DataTable(circuit.variables, rows) for rows in (asked_rows, given_rows))
    for one in (circuit, in_logarithms(circuit)):
        assert one.queries(asked, known) == pytest.approx(expected)
        found = [
            one.query(evidence_of(one, a), evidence_of(one, k))
            for a, k in zip(asked_rows, given_rows, strict=True)
        ]
        assert found == pytest.approx(expected)
        logs = [log(weight_of(weights, row) / weights.sum()) for row in given_rows]
        assert one.log_likelihoods(known) == pytest.approx(logs)
        assert one.log_likelihood(known) == pytest.approx(np.mean(logs))


@settings(max_examples=examples(40))
@given(SEEDS)
def test_derivatives_are_those_of_the_polynomial(seed):
    """The polynomial is linear in each indicator: its derivative is a difference of two values."""
    circuit, rng = random_circuit(seed), np.random.default_rng(seed)
    row = random_row(rng, circuit)
    for one in (circuit, in_logarithms(circuit)):
        found = one.evaluate(evidence_of(circuit, row))
        for node in np.flatnonzero(circuit.kinds == 0).tolist():
            own = int(circuit.variable[node]), int(circuit.value[node])

            def with_own(worth, own=own):
                return plain_value(circuit, lambda v, x: worth if (v, x) == own else float(row[v] in {-1, x}))

            assert exp(found.log_derivatives[node]) == pytest.approx(with_own(1.0) - with_own(0.0), abs=1e-15)


def test_samples_follow_the_distribution():
    circuit = random_circuit(3)
    weights = all_weights(circuit)
    evidence = {"X1": circuit.variables[1].values[1]}
    table = circuit.sample(20_000, seed=1, evidence=evidence)
    assert (table.rows[:, 1] == 1).all()
    known = weights.copy()
    known[:, np.arange(known.shape[1]) != 1] = 0
    known /= known.sum()
    seen = np.zeros(known.shape)
    np.add.at(seen, tuple(table.rows.T), 1 / len(table))
    assert not seen[known == 0].any()
    errors = np.sqrt(known * (1 - known) / len(table))
    assert (np.abs(seen - known) < 5 * errors + 1e-12).all()
    assert np.array_equal(circuit.sample(50, 7).rows, circuit.sample(50, 7).rows)
    assert not np.array_equal(circuit.sample(50, 7).rows, circuit.sample(50, 8).rows)


def long_product(number, parameter):
    """Return independent variables, each with these weights of its values."""
    text = "(" + " ".join(["2"] * number) + ")\n"
    for variable in range(number):
        base = 7 * variable
        text += f"v {variable} 0\nn {parameter}\n* {base} {base + 1}\nv {variable} 1\nn {1 - parameter}\n"
        text += f"* {base + 3} {base + 4}\n+ {base + 2} {base + 5}\n"
    return text + "* " + " ".join(str(7 * v + 6) for v in range(number)) + "\nEOF\n"


@pytest.mark.parametrize("number", [500, 3_000])
def test_small_probabilities_do_not_vanish(number):
    circuit = ac_circuit(long_product(number, 0.125))
    evidence = {f"X{n}": 0 for n in range(number)}
    assert circuit.log_probability(evidence) == pytest.approx(number * log(0.125))
    table = DataTable(circuit.variables, [[0] * number, [1] * number, [-1] * number])
    expected = [number * log(0.125), number * log(0.875), 0.0]
    assert circuit.log_likelihoods(table) == pytest.approx(expected, abs=1e-9)
    del evidence["X0"]
    assert circuit.query({"X0": 1}, evidence) == pytest.approx(0.875)
    assert circuit.marginals(evidence)["X0"]["1"] == pytest.approx(0.875)
    del evidence["X1"]
    assert circuit.entropy(evidence) == pytest.approx(-2 * (0.125 * log(0.125) + 0.875 * log(0.875)))


@pytest.mark.parametrize("known", range(585, 625, 5))
def test_probabilities_with_few_digits_left_are_computed_again(known):
    """Around 1e-308 to 1e-324 floating point has fewer digits; the answers have all of them."""
    circuit = ac_circuit(long_product(700, 0.3))
    row = [0] * known + [-1] * (700 - known)
    expected = pytest.approx(known * log(0.3), abs=1e-9)
    assert circuit.log_probability(evidence_of(circuit, row)) == expected
    assert circuit.log_likelihoods(DataTable(circuit.variables, [row])).tolist() == [expected]
    assert circuit.evaluate(evidence_of(circuit, row)).log_value == expected


def test_large_weights_do_not_overflow():
    circuit = random_circuit(5, zeros=0.0)
    changed = circuit.with_parameters(circuit.parameters * 1e150)
    expected = log(all_weights(circuit).sum()) + 5 * 150 * log(10)
    assert changed.log_z == pytest.approx(expected)
    assert changed.query({"X0": 0}, {"X1": 1}) == pytest.approx(circuit.query({"X0": 0}, {"X1": 1}))


def test_new_parameters_change_the_answers():
    circuit = random_circuit(8, zeros=0.0)
    before = circuit.log_probability({"X0": 1})
    changed = circuit.with_parameters(circuit.parameters**2)
    weights = all_weights(changed)
    assert changed.log_probability({"X0": 1}) == pytest.approx(log(weights[1].sum() / weights.sum()))
    assert circuit.log_probability({"X0": 1}) == before


def test_threads_share_a_circuit():
    circuit = random_circuit(6, zeros=0.0)
    table = circuit.sample(300, 3)
    rows = [evidence_of(circuit, row) for row in table.rows.tolist()]
    expected = [circuit.query({"X0": 1}, {**row, "X0": 1}) * circuit.log_probability(row) for row in rows]

    def ask(_):
        found = [circuit.query({"X0": 1}, {**row, "X0": 1}) * circuit.log_probability(row) for row in rows]
        return found == expected and circuit.log_likelihoods(table).tolist()

    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(ask, range(12)))
    assert found[0]
    assert all(one == found[0] for one in found)


def test_columns_in_another_order():
    circuit = random_circuit(4, zeros=0.0)
    table = circuit.sample(30, 2)
    turned = DataTable(table.variables[::-1], table.rows[:, ::-1])
    assert circuit.log_likelihoods(turned).tolist() == circuit.log_likelihoods(table).tolist()


def test_wrong_questions_are_refused():
    circuit = random_circuit(4, zeros=0.0)
    other = (*circuit.variables[1:], RandomVariable.numbered("Y", 2))
    with pytest.raises(ArgumentError, match="lacks X0 and has Y besides"):
        circuit.log_likelihood(DataTable(other, [[0] * 5]))
    changed = (RandomVariable("X0", ("no", "yes")), *circuit.variables[1:])
    with pytest.raises(ArgumentError, match="Row 1 has no for X0"):
        circuit.log_likelihood(DataTable(changed, [[0] * 5]))
    with pytest.raises(ArgumentError, match="no mean log-likelihood"):
        circuit.log_likelihood(DataTable(circuit.variables, np.zeros((0, 5), np.int32)))
    with pytest.raises(ArgumentError, match="There is no variable X9"):
        circuit.query({"X9": 1})
    with pytest.raises(ArgumentError, match="X1 has no value 7"):
        circuit.query({"X0": 1}, {"X1": 7})
    with pytest.raises(ArgumentError, match="by the names of variables"):
        circuit.query(["X1"])
    two, one = (DataTable(circuit.variables, [[0] * 5] * n) for n in (2, 1))
    with pytest.raises(ArgumentError, match="2 rows of queries and 1 of evidence"):
        circuit.queries(two, one)
    with pytest.raises(ArgumentError, match="number of rows"):
        circuit.sample(-1)
    for seed in ("a", 1.5):
        with pytest.raises(ArgumentError, match="seed must be a whole number"):
            circuit.sample(2, seed=seed)
    with pytest.raises(ArgumentError, match=r"a number for each of the .* nodes"):
        circuit.with_parameters([0.5, 0.5])


def test_impossible_evidence_is_said():
    circuit = random_circuit(4, zeros=0.0)
    numbers = circuit.parameters.copy()
    numbers[(circuit.variable == 2) & (circuit.value == 1)] = 0.0
    changed, evidence = circuit.with_parameters(numbers), {"X2": 1}
    table = DataTable(circuit.variables, [[-1, -1, 1, -1, -1]])
    assert changed.log_likelihoods(table).tolist() == [-inf]
    for ask in (
        lambda: changed.query({"X0": 0}, evidence),
        lambda: changed.marginals(evidence),
        lambda: changed.entropy(evidence),
        lambda: changed.most_probable(evidence),
        lambda: changed.sample(3, evidence=evidence),
        lambda: changed.queries(table, table),
    ):
        with pytest.raises(UnsatisfiableError, match="X2 = 1"):
            ask()
    assert changed.query({"X2": 1}) == 0.0
