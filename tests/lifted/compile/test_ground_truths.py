"""Counts that are known: each theory's worlds over 1, 2, 3, ... constants, by rules alone."""

from __future__ import annotations

from math import comb, exp, factorial, log, perm, prod

import pytest

import mlnlab as ml

E = "E(d, d)\n"
SYMMETRIC_TRANSITIVE = E + "E(x, y) => E(y, x).\nE(x, y) ^ E(y, z) => E(x, z)."
ORDER = E + "E(x, x).\nE(x, y) ^ E(y, z) => E(x, z).\nE(x, y) ^ E(y, x) => x = y."
GRAPH = E + "!E(x, x).\nE(x, y) => E(y, x).\n"
ROWS = {
    "any": (E, [2, 16, 512, 65536, 33554432]),
    "irreflexive": (E + "!E(x, x).", [1, 4, 64, 4096, 1048576]),
    "graph": (GRAPH, [1, 2, 8, 64, 1024, 32768, 2097152]),
    "graph with loops": (E + "E(x, y) => E(y, x).", [2, 8, 64, 1024, 32768, 2097152]),
    "tournament": (E + "!E(x, x).\nx != y => (E(x, y) <=> !E(y, x)).", [1, 2, 8, 64, 1024]),
    "oriented": (E + "!E(x, x).\nx != y => !E(x, y) v !E(y, x).", [1, 3, 27, 729, 59049]),
    "either": (E + "R(d)\nR(x) v E(x, y).", [3, 25, 729, 83521, 39135393]),
    "friends": (E + "S(d)\nE(x, y) ^ S(x) => S(y).", [4, 48, 1792, 221184, 98566144]),
    "drawer": (E + "U(d)\nE(x, y) => U(x) ^ U(y).", [3, 21, 567, 67689, 33887403]),
    "two colours": (E + "R(d)\nE(x, y) => E(y, x).\nE(x, y) => (R(x) <=> !R(y)).", [2, 6, 26, 162, 1442]),
    "some": ("U(d)\nEXIST x U(x).", [1, 3, 7, 15, 31]),
    "rows": (E + "EXIST y E(x, y).", [1, 9, 343, 50625, 28629151]),
    "rows and columns": (E + "EXIST y E(x, y).\nEXIST y E(y, x).", [1, 7, 265, 41503, 24997921]),
    "a full row": (E + "EXIST x (FORALL y E(x, y)).", [1, 7, 169, 14911, 4925281]),
    "nobody alone": (GRAPH + "EXIST y E(x, y).", [0, 1, 4, 41, 768, 27449, 1887284]),
    "nobody alone, loops": (E + "E(x, y) => E(y, x).\nEXIST y E(x, y).", [1, 5, 45, 809, 28217, 1914733]),
    "functions": (E + "EXIST=1 y E(x, y).", [1, 4, 27, 256, 3125]),
    "functions by clauses": (
        E + "EXIST y E(x, y).\n!E(x, y) v !E(x, z) v y = z.",
        [1, 4, 27, 256, 3125, 46656],
    ),
    "permutations": (E + "EXIST=1 y E(x, y).\nEXIST=1 y E(y, x).", [1, 2, 6, 24, 120, 720]),
    "derangements": (E + "!E(x, x).\nEXIST=1 y E(x, y).\nEXIST=1 y E(y, x).", [0, 1, 2, 9, 44, 265]),
    "involutions": (E + "E(x, y) => E(y, x).\nEXIST=1 y E(x, y).", [1, 2, 4, 10, 26, 76]),
    "perfect matchings": (GRAPH + "EXIST=1 y E(x, y).", [0, 1, 0, 3, 0, 15, 0, 105]),
    "matchings": (GRAPH + "EXIST<=1 y E(x, y).", [1, 2, 4, 10, 26, 76]),
    "partial functions": (E + "EXIST<=1 y E(x, y).", [2, 9, 64, 625, 7776]),
    "2-regular": (GRAPH + "EXIST=2 y E(x, y).", [0, 0, 1, 3, 12, 70]),
    "at least two": (E + "EXIST>=2 y E(x, y).", [0, 1, 64, 14641]),
    "any number but one": (E + "!(EXIST=1 y E(x, y)).", [1, 4, 125, 20736]),
    "partial equivalences": (SYMMETRIC_TRANSITIVE, [2, 5, 15, 52, 203, 877]),
    "equivalences": (SYMMETRIC_TRANSITIVE + "\nE(x, x).", [1, 2, 5, 15, 52, 203]),
    "linear orders": (ORDER + "\nE(x, y) v E(y, x).", [1, 2, 6, 24, 120]),
    "posets": (ORDER, [1, 3, 19]),
    "transitive": (E + "E(x, y) ^ E(y, z) => E(x, z).", [2, 13, 171]),
    "two of them": ("U(d)\n|U| = 2.", [0, 1, 3, 6, 10, 15]),
    "two of either": ("U(d)\nV(d)\nW(d)\nW(x) <=> U(x) v V(x).\n|W| = 2.", [0, 9, 27, 54, 90]),
}


@pytest.mark.parametrize("name", ROWS)
def test_known_counts(name):
    text, values = ROWS[name]
    circuit = ml.lift(ml.MLN.from_text(text)).compile()
    assert [circuit.world_count({"d": n}) for n in range(1, len(values) + 1)] == values


TWO_TYPES = {
    "somebody each": ("R(a, b)\nEXIST y R(x, y).", lambda m, n: (2**n - 1) ** m),
    "functions": ("R(a, b)\nEXIST=1 y R(x, y).", lambda m, n: n**m),
    "injections": (
        "R(a, b)\nEXIST y R(x, y).\n!R(x, y) v !R(x, z) v y = z.\n!R(x, y) v !R(z, y) v x = z.",
        lambda m, n: perm(n, m),
    ),
    "lonesum": (
        "R(a, b)\nR(x, y) v !R(z, y) v R(z, u) v !R(x, u).",
        lambda m, n: {(1, 2): 4, (2, 2): 14, (2, 3): 46, (3, 2): 46, (3, 4): 1066}.get((m, n), 1),
    ),
    "marked functions": ("R(a, b!)", lambda m, n: n**m),
    "partial functions": ("R(a, b?)", lambda m, n: (n + 1) ** m),
}


@pytest.mark.parametrize("name", TWO_TYPES)
def test_two_types(name):
    text, formula = TWO_TYPES[name]
    circuit = ml.lift(ml.MLN.from_text(text)).compile()
    for m, n in [(1, 2), (2, 2), (2, 3), (3, 2), (3, 4), (0, 3), (2, 0)]:
        assert circuit.world_count({"a": m, "b": n}) == formula(m, n)


FRIENDS = "F(d, d)\nS(d)\n{} !F(x, y) v !S(x) v S(y)\n{} F(x, y)\n{} S(x)"
# n: log Z, and its derivatives by the weights of the clause, of F and of S
KNOWN = {
    2: (2.7784068645873744935, 3.9940882294103409024, 0.069089580956382022148, 0.85068207498508564446),
    3: (5.4177056777838585517, 8.9822671935649789786, 0.1533113230056467258, 1.2753700860541146125),
    10: (47.227968712968082309, 99.734280019467527568, 1.6702839226223805941, 4.2356433458501636882),
    100: (4222.6968344517731406, 9971.3925912477675375, 166.0453323804349546, 39.605759033982827312),
    1000: (418151.89627426468175, 999975.93654733072153, 17974.587828559180793, 1.9900472603310973497),
    30000: (376334935.12602876632, 900000000.0, 16187588.965882402224, 7.2855838611976739e-74),
}


@pytest.mark.parametrize("n", KNOWN)
def test_friends_and_smokers(n):
    value, *gradient = KNOWN[n]
    circuit = ml.lift(ml.MLN.from_text(FRIENDS.format(0.4, -4, -0.3))).compile()
    found = circuit.log_z({"d": n})
    assert abs(found.value - value) <= found.error
    assert found.error <= 1e-14 * n * n + 1e-13
    assert circuit.expected_counts({"d": n}) == pytest.approx(gradient, rel=1e-6, abs=1e-60)


def test_weights_may_be_given_and_a_marginal_be_asked():
    circuit = ml.lift(ml.MLN.from_text(FRIENDS.format(0, 0, 0))).compile()
    assert circuit.log_z({"d": 3000}, [1.5, 0, 0]).value == pytest.approx(19738325.31818668834470, rel=1e-15)
    weighted = ml.lift(ml.MLN.from_text("F(d, d)\nS(d)\n1.5 !F(x, y) v !S(x) v S(y)")).compile()
    assert weighted.marginal("F(x, y)", {"d": 10}) == pytest.approx(0.49540793770007038807, rel=1e-12)
    assert weighted.marginal("!S(x)", {"d": 10}) == pytest.approx(0.5, rel=1e-12)


STRESS = {
    2: -8.0, 3: -14.901275896707410929, 5: -20.597293343023175598, 10: -33.111206996748509283,
    20: -59.40572426599419087, 50: -124.2729818305322281, 100: -210.6464958474346181,
}  # fmt: skip


@pytest.mark.parametrize("n", STRESS)
def test_signs_that_cancel(n):
    circuit = ml.lift(ml.MLN.from_text(GRAPH + "EXIST y E(x, y).\n-4 E(x, y)")).compile()
    found = circuit.log_z({"d": n})
    assert abs(found.value - STRESS[n]) <= 1e-15 * abs(STRESS[n]) + found.error
    assert found.error < 1e-13


def stirling(n, k):
    """Ways to share n things out among k heaps."""
    return sum((-1) ** (k - j) * comb(k, j) * j**n for j in range(k + 1)) // factorial(k)


def two_regular(n):
    counts = [1, 0, 0]
    for m in range(3, n + 1):
        counts.append((m - 1) * counts[-1] + comb(m - 1, 2) * counts[-3])
    return counts[n]


AT_FIFTY = {
    "graph": lambda n: 2 ** comb(n, 2),
    "oriented": lambda n: 3 ** comb(n, 2),
    "either": lambda n: (2**n + 1) ** n,
    "friends": lambda n: sum(comb(n, k) * 2 ** (n * n - k * (n - k)) for k in range(n + 1)),
    "drawer": lambda n: sum(comb(n, k) * 2 ** (k * k) for k in range(n + 1)),
    "two colours": lambda n: sum(comb(n, k) * 2 ** (k * (n - k)) for k in range(n + 1)),
    "rows": lambda n: (2**n - 1) ** n,
    "rows and columns": lambda n: sum((-1) ** j * comb(n, j) * (2 ** (n - j) - 1) ** n for j in range(n + 1)),
    "a full row": lambda n: 2 ** (n * n) - (2**n - 1) ** n,
    "nobody alone": lambda n: sum((-1) ** (n - k) * comb(n, k) * 2 ** comb(k, 2) for k in range(n + 1)),
    "nobody alone, loops": lambda n: sum(
        (-1) ** (n - k) * comb(n, k) * 2 ** comb(k + 1, 2) for k in range(n + 1)
    ),
    "functions": lambda n: n**n,
    "functions by clauses": lambda n: n**n,
    "permutations": factorial,
    "derangements": lambda n: sum((-1) ** k * factorial(n) // factorial(k) for k in range(n + 1)),
    "involutions": lambda n: sum(
        factorial(n) // (factorial(n - 2 * k) * 2**k * factorial(k)) for k in range(n // 2 + 1)
    ),
    "perfect matchings": lambda n: prod(range(n - 1, 0, -2)),
    "matchings": lambda n: sum(
        factorial(n) // (factorial(n - 2 * k) * 2**k * factorial(k)) for k in range(n // 2 + 1)
    ),
    "partial functions": lambda n: (n + 1) ** n,
    "equivalences": lambda n: sum(stirling(n, k) for k in range(n + 1)),
    "partial equivalences": lambda n: sum(stirling(n + 1, k) for k in range(n + 2)),
    "linear orders": factorial,
}


@pytest.mark.parametrize("name", AT_FIFTY)
def test_known_counts_of_fifty(name):
    circuit = ml.lift(ml.MLN.from_text(ROWS[name][0])).compile()
    assert circuit.world_count({"d": 50}) == AT_FIFTY[name](50)


def test_known_count_of_twenty():
    circuit = ml.lift(ml.MLN.from_text(ROWS["2-regular"][0])).compile()
    assert circuit.world_count({"d": 20}) == two_regular(20)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_as_many_as_are_counted(k):
    for names in ("U", "UV", "UVW"):
        declared = "\n".join(f"{name}(d)" for name in names)
        text = f"{declared}\nEXIST={k} x {' v '.join(f'{name}(x)' for name in names)}."
        circuit = ml.lift(ml.MLN.from_text(text)).compile()
        assert circuit.world_count({"d": 50}) == comb(50, k) * (2 ** len(names) - 1) ** k


def test_graphs_whose_nodes_have_three_neighbours():
    circuit = ml.lift(ml.MLN.from_text(GRAPH + "EXIST=3 y E(x, y).")).compile()
    assert [circuit.world_count({"d": n}) for n in (4, 5, 6)] == [1, 0, 70]


def test_bijections_of_two_types():
    text = "R(a, b)\nEXIST=1 y R(x, y).\nEXIST=1 x R(x, y)."
    circuit = ml.lift(ml.MLN.from_text(text)).compile()
    assert [circuit.world_count({"a": 6, "b": n}) for n in (5, 6, 7)] == [0, 720, 0]


def test_symmetric_transitivity_is_lifted_beside_predicates_of_one_argument():
    """Classes share nothing, so that the sum over partitions is the exponential of that over one class."""
    text = SYMMETRIC_TRANSITIVE + "\nE(x, x).\nP(d)\n0.5 P(x)\n0.3 E(x, y)\n0.7 E(x, y) ^ P(x) => P(y)"
    circuit = ml.lift(ml.MLN.from_text(text)).compile()
    assert circuit.circuit.is_complete
    assert ml.lift(ml.MLN.from_text(SYMMETRIC_TRANSITIVE)).compile().circuit.is_complete

    def a_class(m):
        shares = (comb(m, i) * exp(0.3 * m * m + 0.5 * i - 0.7 * i * (m - i)) for i in range(m + 1))
        return sum(shares) / factorial(m)

    sums = [1.0]
    for n in range(1, 13):
        sums.append(sum(m * a_class(m) * sums[n - m] for m in range(1, n + 1)) / n)
        expected = log(sums[n] * factorial(n)) + 0.7 * n * n
        if n in (1, 2, 5, 12):
            assert circuit.log_z({"d": n}).value == pytest.approx(expected, rel=1e-12)
