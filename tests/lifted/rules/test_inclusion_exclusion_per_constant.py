"""Clauses of two parts that share one variable: known counts, random theories, signs in derivatives."""

from __future__ import annotations

import random
from math import factorial

import pytest

import mlnlab as ml
from mlnlab.circuits.first_order.circuit_json import circuit_from_json, circuit_json
from mlnlab.circuits.first_order.first_order_circuit import SIGNED
from mlnlab.errors import ArgumentError
from mlnlab.lifted.compile.compiling import NotLiftableError
from mlnlab.lifted.compile.rule_registry import RULES
from tests.lifted.compile.test_ground_truths import stirling
from tests.lifted.compile.test_random_theories import check_gradient, log_z

NAME = "inclusion-exclusion constant by constant"
LONESUM = "R(a, b)\nR(x, y) v !R(z, y) v R(z, u) v !R(x, u).\n"
WEIGHTED = LONESUM + "0.7 R(x, y)"


def poly_bernoulli(m, n):
    return sum(
        factorial(j) ** 2 * stirling(m + 1, j + 1) * stirling(n + 1, j + 1) for j in range(min(m, n) + 1)
    )


@pytest.fixture(scope="module")
def lonesum():
    return ml.lift(ml.MLN.from_text(LONESUM)).compile()


def test_lonesum_matrices_need_no_grounding(lonesum):
    assert lonesum.circuit.is_complete
    assert lonesum.is_signed
    assert NAME in [one.rule for one in lonesum.definitions]
    for m, n in [(3, 7), (7, 3), (12, 20), (20, 15)]:
        assert lonesum.world_count({"a": m, "b": n}) == poly_bernoulli(m, n)


def test_its_circuit_is_written_and_read(lonesum):
    written = circuit_json(lonesum.circuit)
    assert circuit_from_json(written) == lonesum.circuit
    assert any(leaf["symbol"] == SIGNED for leaf in _leaves(written))
    with pytest.raises(ArgumentError, match="a symbol"):
        circuit_from_json(_with_symbol(written, SIGNED - 1))


def _leaves(written):
    if isinstance(written, dict):
        found = [written] if {"symbol", "sign"} <= set(written) else []
        return found + [leaf for part in written.values() for leaf in _leaves(part)]
    return [leaf for part in written for leaf in _leaves(part)] if isinstance(written, list) else []


def _with_symbol(written, symbol):
    if isinstance(written, dict):
        changed = {key: _with_symbol(part, symbol) for key, part in written.items()}
        return changed | ({"symbol": symbol} if written.get("symbol") == SIGNED else {})
    return [_with_symbol(part, symbol) for part in written] if isinstance(written, list) else written


def test_weights_and_derivatives_of_lonesum_matrices():
    mln = ml.MLN.from_text(WEIGHTED)
    circuit = ml.lift(mln).compile()
    sizes = {"a": 2, "b": 3}
    expected = ml.log_z(mln, sizes, method="junction-tree").value
    assert circuit.log_z(sizes).value == pytest.approx(expected, rel=1e-12)
    assert circuit.circuit.is_complete
    check_gradient(circuit, mln.weights, {"a": 4, "b": 3})


ONE_TYPE = "E(d, d)\nE(x, y) v !E(z, y) v E(z, u) v !E(x, u).\n"


def test_lonesum_matrices_of_one_type():
    circuit = ml.lift(ml.MLN.from_text(ONE_TYPE)).compile()
    assert circuit.circuit.is_complete
    known = [2, 14, 230, 6902, 329462, 22934774, 2193664790]
    assert [circuit.world_count({"d": n}) for n in range(1, 8)] == known
    assert circuit.world_count({"d": 20}) == poly_bernoulli(20, 20)


def test_sorts_change_no_answer():
    text, queries, sizes = ONE_TYPE + "0.6 E(x, y)\n", ["E(x, x)", "E(x, y)"], {"d": 2}
    apart, together = (ml.lift(ml.MLN.from_text(text + more)).compile() for more in ("", "0 E(x, x)"))
    assert apart.circuit.is_complete
    assert not together.circuit.is_complete  # rows and columns are the same constants there
    assert apart.marginals(queries, sizes) == pytest.approx(together.marginals(queries, sizes), rel=1e-12)
    expected = together.expected_counts(sizes)[:-1]
    assert apart.expected_counts(sizes) == pytest.approx(expected, rel=1e-12)
    assert sum(apart.marginals(queries, sizes)) / 2 * 4 == pytest.approx(expected[1], rel=1e-12)


def test_every_answer_names_what_is_missing(lonesum):
    answers = [lonesum.why_not(NAME, one.number) for one in lonesum.definitions]
    assert {answer.verdict for answer in answers} >= {"made", "refused"}
    assert lonesum.why_not(NAME).reason.startswith("No clause falls into two parts that share one variable")


KINDS = [("E", "ab"), ("F", "ac"), ("G", "bc"), ("H", "aa")]
DECLARED = "E(a, b)\nF(a, c)\nG(b, c)\nH(a, a)\n0.4 E(x, y)\n-0.7 F(x, u)\n0.3 H(x, z)\n"
NAMES = {"a": "xz", "b": "yw", "c": "u"}


def random_clause(draw):
    kinds = draw.choices(KINDS, k=draw.randint(2, 3))
    atoms = [f"{name}({', '.join(draw.choice(NAMES[t]) for t in types)})" for name, types in kinds]
    return " v ".join(draw.choice(["", "!"]) + atom for atom in atoms) + "."


def test_random_theories_equal_the_junction_tree():
    fired = 0
    for seed in range(24):
        draw = random.Random(seed)
        text = DECLARED + "\n".join(random_clause(draw) for _ in range(draw.randint(2, 3)))
        mln, sizes = ml.MLN.from_text(text), {"a": 2, "b": 2, "c": draw.randint(1, 2)}
        try:
            circuit = ml.lift(mln, recursions=0).compile()
        except NotLiftableError:
            continue
        if NAME not in [one.rule for one in circuit.definitions]:
            continue
        fired += 1
        expected = log_z(lambda: ml.log_z(mln, sizes, method="junction-tree"))  # noqa: B023
        found = log_z(lambda: circuit.log_z(sizes))  # noqa: B023
        assert found == pytest.approx(expected, rel=1e-11, abs=1e-11), text
        if not fired % 3:
            check_gradient(circuit, mln.weights, sizes)
    assert fired >= 3


def test_where_clauses_become_no_smaller_it_is_refused():
    text = "E(a, a)\nR(a, b)\nU(b)\n0.7 E(y, x) <=> (EXIST y:a (R(y, u)))\n-1.3 !U(u)"
    with pytest.raises(NotLiftableError):
        ml.lift(ml.MLN.from_text(text), recursions=0, limit=25).compile()


def test_it_lifts_what_the_other_rules_do_not():
    text = "E(a, b)\nF(a, c)\nG(b, c)\nE(x, y) v F(x, u).\n!E(x, y) v G(y, u)."
    mln, sizes = ml.MLN.from_text(text), {"a": 2, "b": 2, "c": 2}
    others = tuple(rule for rule in RULES if rule.name != NAME)
    with pytest.raises(NotLiftableError):
        ml.lift(mln, recursions=0, rules=others).compile()
    circuit = ml.lift(mln, recursions=0).compile()
    assert circuit.log_z(sizes).value == pytest.approx(
        ml.log_z(mln, sizes, method="junction-tree").value, rel=1e-12
    )
