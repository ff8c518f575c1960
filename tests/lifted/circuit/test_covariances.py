"""Second derivatives of log Z: covariances of counts over all worlds, and differences of expected counts."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import mlnlab as ml

TEXT = "S(p)\nF(p, p)\n0.4 F(x, y) ^ S(x) => S(y)\n0.3 !S(x)\n-1 F(x, y)\n0.6 EXIST y F(x, y)"


@pytest.mark.parametrize("size", [3, 20])
def test_products_are_differences_of_expected_counts(size):
    circuit = ml.lift(ml.MLN.from_text(TEXT)).compile()
    sizes, weights, step = {"p": size}, np.array(circuit.mln.weights), 1e-4
    for direction in np.eye(4)[[0, 3]], [[0.3, -1.0, 0.7, 2.0]]:
        for along in np.asarray(direction):
            ends = [circuit.expected_counts(sizes, list(weights + s * step * along)) for s in (1, -1)]
            slope = (np.array(ends[0]) - ends[1]) / (2 * step)
            found = circuit.covariances_times(along, sizes)
            assert found == pytest.approx(slope, rel=1e-5, abs=1e-6)


def test_products_are_covariances_over_all_worlds():
    mln = ml.MLN.from_text("S(p)\nF(p, p)\n0.4 F(x, y) ^ S(x) => S(y)\n-0.3 S(x)\n-1 F(x, y)")
    circuit = ml.lift(mln).compile()
    matrix = np.array([circuit.covariances_times(row, {"p": 2}) for row in np.eye(3)])
    counts, logs = [], []
    for code in range(2**6):
        s = [code >> k & 1 for k in range(2)]
        f = [[code >> (2 + 2 * x + y) & 1 for y in range(2)] for x in range(2)]
        clause = sum(not (f[x][y] and s[x]) or s[y] for x in range(2) for y in range(2))
        counts.append([clause, sum(s), sum(map(sum, f))])
        logs.append(np.dot(counts[-1], mln.weights))
    shares = np.exp(logs) / np.exp(logs).sum()
    centred = np.array(counts) - shares @ np.array(counts)
    assert matrix == pytest.approx(centred.T @ (centred * shares[:, None]), rel=1e-12)


def test_products_are_covariances_where_each_has_one_friend():
    mln = ml.MLN.from_text("S(p)\nF(p, p)\nEXIST=1 y F(x, y).\n0.6 F(x, y) ^ S(x) => S(y)\n-0.4 S(x)")
    circuit = ml.lift(mln).compile(method="rules")
    found = [circuit.covariances_times(row, {"p": 3}) for row in np.eye(3)]
    counts, logs = [], []
    for smokes in product((0, 1), repeat=3):
        for friends in product(range(3), repeat=3):
            broken = sum(smokes[x] and not smokes[y] for x, y in enumerate(friends))
            counts.append([0, 9 - broken, sum(smokes)])
            logs.append(0.6 * (9 - broken) - 0.4 * sum(smokes))
    shares = np.exp(logs) / np.exp(logs).sum()
    centred = np.array(counts) - shares @ np.array(counts)
    assert found == pytest.approx(centred.T @ (centred * shares[:, None]), rel=1e-7, abs=1e-7)


@pytest.mark.parametrize(
    "text", [TEXT, "S(p)\nF(p, p)\n0.4 F(x, y) ^ S(x) => S(y)\n-0.3 S(x)\nF(x, y) => F(y, x).\n1 F(x, y)"]
)
def test_cells_have_the_same_products_by_differences(text):
    lifted = ml.lift(ml.MLN.from_text(text))
    circuit, cells = lifted.compile(), lifted.compile(method="cells")
    number = len(circuit.mln.formulas)
    weights = [0.5, -1.5, 0.2, 0.9][:number]
    for size in (1, 2, 12):
        for along in (*np.eye(number), [30.0, -1.0, 0.7, 2.0][:number]):
            exact = circuit.covariances_times(along, {"p": size}, weights)
            largest = np.abs(exact).max()
            assert cells.covariances_times(along, {"p": size}, weights) == pytest.approx(
                exact, rel=1e-7, abs=1e-7 * max(largest, 1e-6)
            )
    assert cells.covariances_times([0.0] * number, {"p": 3}) == pytest.approx([0.0] * number)


def test_what_is_no_direction_is_refused():
    lifted = ml.lift(ml.MLN.from_text(TEXT))
    for compiled in (lifted.compile(), lifted.compile(method="cells")):
        with pytest.raises(ml.ArgumentError, match="each of the 4 formulas"):
            compiled.covariances_times([1.0], {"p": 3})
