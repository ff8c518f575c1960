"""Lifted inference beside numpy's closed form, and its growth with domain size, formulas and weight vectors.

Run it as a program for the tables alone: ``python tests/benchmarks/lifted/test_lifted_speed.py``
"""

from __future__ import annotations

import random
import time

import numpy as np
import pytest

FRIENDS = "F(d, d)\nS(d)\n0.4 !F(x, y) v !S(x) v S(y)\n-4 F(x, y)\n-0.3 S(x)"
SIGNED = "E(d, d)\n!E(x, x).\nE(x, y) => E(y, x).\nEXIST y E(x, y).\n-4 E(x, y)"
IMDB = (
    "movie(film, person)\ngenre(person, type)\nmale(person)\nactor(person)\ndirector(person)\n"
    "worked(person, person)\n"
)
PREDICATES = [
    ("movie", ("film", "person")), ("genre", ("person", "type")), ("male", ("person",)),
    ("actor", ("person",)), ("director", ("person",)), ("worked", ("person", "person")),
]  # fmt: skip


def seconds(function):
    start = time.process_time()
    result = function()
    return time.process_time() - start, result


def closed_form(n, clause, friend, smoker):
    """Z(n) and its gradient by one sum over the number of smokers."""
    from scipy.special import gammaln

    k = np.arange(n + 1.0)
    v, t = np.logaddexp(clause, friend), clause + np.logaddexp(0, friend)
    mixed = k * (n - k)
    logs = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1) + smoker * k + v * mixed + t * (n * n - mixed)
    peak = logs.max()
    shares = np.exp(logs - peak)
    total = shares.sum()
    shares /= total
    expected = shares @ mixed
    inside = np.exp(clause - v)
    gradient = (
        n * n - expected + expected * inside,
        (n * n - expected) * np.exp(friend - np.logaddexp(0, friend)) + expected * np.exp(friend - v),
        shares @ k,
    )
    return peak + np.log(total), gradient


def random_clauses(number, seed, variables=2):
    """Clauses of up to four literals and two variables over IMDB's predicates, with random weights."""
    draw = random.Random(seed)
    names = {"person": ("x", "y"), "film": ("f", "g"), "type": ("t", "s")}
    lines = []
    while len(lines) < number:
        literals = []
        for _ in range(draw.randint(1, 4)):
            name, types = draw.choice(PREDICATES)
            arguments = [draw.choice(names[t]) for t in types]
            literals.append((draw.choice(["", "!"]), name, tuple(arguments)))
        if len({a for _, _, arguments in literals for a in arguments}) <= variables:
            text = " v ".join(dict.fromkeys(f"{s}{n}({', '.join(a)})" for s, n, a in literals))
            lines.append(f"{draw.uniform(-2, 2):.3f} {text}")
    return IMDB + "\n".join(lines)


def best(function, times=3):
    return min(seconds(function)[0] for _ in range(times))


@pytest.mark.benchmark
@pytest.mark.parametrize("n", [30_000, 1_000_000])
def test_value_and_gradient_beside_the_closed_form(n):
    import mlnlab as ml

    circuit = ml.lift(ml.MLN.from_text(FRIENDS)).compile()
    ours = circuit.evaluate({"d": n}, None, expectations=True)
    value, gradient = closed_form(n, 0.4, -4.0, -0.3)
    assert ours.value == pytest.approx(value, rel=1e-13)
    assert circuit.expected_counts({"d": n})[:2] == pytest.approx(gradient[:2], rel=1e-6)
    ratio = best(lambda: circuit.evaluate({"d": n}, None, expectations=True)) / best(
        lambda: closed_form(n, 0.4, -4.0, -0.3)
    )
    print(f"friends and smokers, n = {n:,}: {ratio:.1f} times numpy's closed form")
    assert ratio < 8


@pytest.mark.benchmark
def test_evaluation_grows_with_n_and_compilation_does_not():
    import mlnlab as ml
    from mlnlab.circuits.first_order.evaluation_cost import predicted_numbers

    print_growth(ml)
    circuit = ml.lift(ml.MLN.from_text(FRIENDS)).compile()
    small, large = (predicted_numbers(circuit.circuit, [n]) for n in (1_000, 100_000))
    assert 90 < large / small < 101  # Definition 1: a polynomial in n, here of degree 1


@pytest.mark.benchmark
def test_graphs_whose_nodes_have_three_neighbours():
    import mlnlab as ml

    text = "E(d, d)\n!E(x, x).\nE(x, y) => E(y, x).\nEXIST=3 y E(x, y)."
    circuit = ml.lift(ml.MLN.from_text(text)).compile()
    for n, wanted in ((8, 19355), (10, 11180820), (12, 11555272575), (14, 19506631814670)):
        used, found = seconds(lambda n=n: circuit.world_count({"d": n}))
        print(f"graphs of {n} nodes with three neighbours each: {found}, {used:.1f} s")
        assert found == wanted


def print_growth(ml):
    """Print compile times by clauses, evaluation times by domain size, and the signed model's."""
    friends, signed = (ml.lift(ml.MLN.from_text(text)).compile() for text in (FRIENDS, SIGNED))
    for n in (100, 1_000, 10_000, 100_000):
        print(f"n = {n:>7,}: {1000 * best(lambda n=n: friends.log_z({'d': n})):8.2f} ms")
    for n in (10, 30, 100, 300):
        print(f"signed, n = {n:>3}: {1000 * best(lambda n=n: signed.log_z({'d': n}), 1):8.1f} ms")
    vectors = np.random.default_rng(0).normal(size=(50, 3)) * 0.3
    from mlnlab.circuits.first_order.log_space import log_value

    weighted = friends.weighted
    true, false = weighted.true @ vectors.T, weighted.false @ vectors.T
    taken = best(lambda: log_value(friends.circuit, [[30_000]], true, false))
    print(f"50 weight vectors, value and gradient, n = 30,000: {taken:.3f} s")
    taken = best(lambda: friends.sweep({"person": 30_000}, vectors.tolist()))
    print(f"50 weight vectors, ml.lift(...).compile().sweep, n = 30,000: {taken:.3f} s")
    for number in (2, 5, 10, 20, 30):
        compiled = []
        for seed in range(3):
            lifted = ml.lift(ml.MLN.from_text(random_clauses(number, seed)))
            used, circuit = seconds(lifted.compile)
            compiled.append(
                f"{used:.2f} s, {len(circuit.circuit)} definitions, n^{circuit.circuit.nesting()}"
            )
        print(f"{number} random clauses: {'; '.join(compiled)}")


if __name__ == "__main__":
    import mlnlab

    print_growth(mlnlab)
