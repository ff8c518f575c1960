"""Most probable counts: the largest class of all worlds, by visiting them."""

from __future__ import annotations

from collections import defaultdict
from itertools import product
from math import exp, log

import numpy as np
import pytest

import mlnlab as ml

FRIENDS = "S(p)\nF(p, p)\n{} F(x, y) ^ S(x) => S(y)\n{} S(x)\n{} F(x, y)"


def classes(weights, size):
    """The weight of all worlds with so many smokers, friends summed out of each."""
    rule, smokes, friends = weights
    found = defaultdict(float)
    for who in product((False, True), repeat=size):
        log_weight = smokes * sum(who)
        for x, y in product(range(size), repeat=2):
            broken = who[x] and not who[y]
            log_weight += log(exp(rule) + exp(friends + (0.0 if broken else rule)))
        found[sum(who)] += exp(log_weight)
    return found


@pytest.mark.parametrize("weights", [(1.5, 0.0, 0.0), (0.4, -0.3, -1.0), (0.4, 0.9, 2.0), (-0.7, 0.1, 0.5)])
def test_they_are_those_of_the_heaviest_class_of_worlds(weights):
    size = 5
    found = ml.lift(ml.MLN.from_text(FRIENDS.format(*weights))).compile().most_probable_counts({"p": size})
    known = classes(weights, size)
    best = max(known.values())
    (count,) = found.counts
    assert (count.atom, count.size) == ("S(x)", size)
    assert known[count.true] == pytest.approx(best)
    assert found.probability == pytest.approx(best / sum(known.values()))


def test_counts_below_each_other_are_found_together():
    text = "A(p)\nB(p)\nF(p, p)\n1.1 F(x, y) ^ A(x) => A(y)\n0.6 A(x)\n-0.8 B(x)\n0.9 F(x, y) ^ B(x) => B(y)"
    mln = ml.MLN.from_text(text)
    circuit = ml.lift(mln).compile()
    found = circuit.most_probable_counts({"p": 4})
    assert {count.atom for count in found.counts} == {"A(x)", "B(x)"}
    heaviest = -np.inf
    for cells in product(product((0, 1), repeat=2), repeat=4):
        if list(cells) != sorted(cells):
            continue
        logs = sum(0.6 * a - 0.8 * b for a, b in cells)
        for (a, b), (c, d) in product(cells, repeat=2):
            first, second = (1.1 if not a or c else 0.0), (0.9 if not b or d else 0.0)
            logs += log(exp(1.1 + 0.9) + exp(first + second))
        ways = multinomial([cells.count(cell) for cell in set(cells)])
        heaviest = max(heaviest, logs + log(ways))
    assert found.log_probability == pytest.approx(heaviest - circuit.log_z({"p": 4}).value)


def multinomial(numbers):
    """Ways to share things out among heaps of these sizes."""
    from math import factorial, prod

    return factorial(sum(numbers)) // prod(map(factorial, numbers))


def test_signs_and_shared_worlds_have_no_largest_term():
    signed = ml.lift(ml.MLN.from_text("E(p, p)\nEXIST y E(x, y).\n1 E(x, y)")).compile()
    with pytest.raises(ml.ArgumentError, match="no largest one"):
        signed.most_probable_counts({"p": 3})
