"""Random theories: what is compiled equals the junction tree, and the gradient equals differences."""

from __future__ import annotations

import random

import pytest

import mlnlab as ml
from mlnlab.lifted.compile.compiling import NotLiftableError
from tests.support.thoroughness import examples

DECLARED = "P(a)\nQ(a)\nE(a, a)\nR(a, b)\nU(b)\n"
PREDICATES = [("P", "a"), ("Q", "a"), ("E", "aa"), ("R", "ab"), ("U", "b")]


def random_formula(draw, variables, constants, depth=2):
    def term(type_):
        if constants and draw.random() < 0.1:
            return type_.upper() + "1"
        return draw.choice(variables[type_])

    def formula(left):
        kind = draw.random()
        if not left or kind < 0.35:
            if draw.random() < 0.08:
                first, last = variables["a"][0], variables["a"][-1]
                return f"({first} = {last} ^ (E({first}, {last}) v !E({first}, {last})))"
            name, types = draw.choice(PREDICATES)
            return f"{draw.choice(['', '', '!'])}{name}({', '.join(map(term, types))})"
        if kind < 0.88:
            operator = draw.choice(["v", "v", "^", "=>", "<=>"])
            return f"({formula(left - 1)} {operator} {formula(left - 1)})"
        type_ = draw.choice(["a", "a", "b"])
        bound = f"{draw.choice(variables[type_])}:{type_}"
        return f"({draw.choice(['EXIST', 'FORALL'])} {bound} ({formula(left - 1)}))"

    return formula(depth)


def random_model(draw, number):
    variables = {"a": ["x", "y", "z"][: 2 + (number % 4 == 0)], "b": ["u"]}
    constants = draw.random() < 0.3
    lines = []
    for _ in range(draw.randint(1, 3)):
        formula = random_formula(draw, variables, constants)
        lines.append(f"{formula}." if draw.random() < 0.35 else f"{draw.choice([0.7, -1.3, 2.1])} {formula}")
    small = 2 if constants else 1
    sizes = {"a": draw.randint(small, 3), "b": draw.randint(1, 2)}
    return DECLARED + "\n".join(lines), sizes | ({"b": 1} if sizes["a"] == 3 else {})


def log_z(function):
    try:
        return function().value
    except ml.MlnlabError:
        return None


@pytest.mark.random
@pytest.mark.parametrize("number", range(examples(40)))
def test_log_z_equals_the_junction_tree(number):
    draw = random.Random(number)
    text, sizes = random_model(draw, number)
    mln = ml.MLN.from_text(text)
    try:
        circuit = ml.lift(mln, recursions=0).compile()
    except NotLiftableError:
        assert number % 4 == 0 or "R(" in text  # two variables of each type are always lifted
        return
    expected = log_z(lambda: ml.log_z(mln, sizes, method="junction-tree"))
    found = log_z(lambda: circuit.log_z(sizes))
    assert (expected is None) == (found is None), text
    if expected is None:
        return
    assert found == pytest.approx(expected, rel=1e-11, abs=1e-11), text
    if circuit.circuit.is_complete:
        ml.check_circuit(circuit.circuit, circuit.subdomain_sizes(sizes))
    if number % 3 == 0:
        check_gradient(circuit, mln.weights, sizes)


def check_gradient(circuit, weights, sizes, step=1e-5):
    expected = circuit.expected_counts(sizes)
    for number, weight in enumerate(weights):
        if weight is None:
            continue
        moved = [[w or 0.0 for w in weights] for _ in range(2)]
        moved[0][number] += step
        moved[1][number] -= step
        up, down = (circuit.log_z(sizes, one).value for one in moved)
        assert expected[number] == pytest.approx((up - down) / (2 * step), rel=1e-4, abs=1e-5)
