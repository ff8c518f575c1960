"""Drawn worlds: each has exactly its probability, found by going through every answer of chance."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from itertools import permutations
from math import comb, exp, factorial

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.lifted.cells.cell_factors import TooManyVariablesError
from mlnlab.lifted.sampling import drawn_atoms, world_distribution
from mlnlab.lifted.sampling.random_choices import RandomChoices
from mlnlab.lifted.sampling.row_worlds import RowWorlds
from tests.lifted.compile import test_random_theories
from tests.support import oracles
from tests.support.thoroughness import examples


class EveryChoice:
    """In the place of a generator: goes through all answers, one way after the other, with probabilities."""

    def __init__(self):
        self.path, self.at, self.probability = [], 0, 1.0

    def again(self):
        """Go on to the next way; False where all have been gone."""
        while self.path and self.path[-1][0] + 1 == self.path[-1][1]:
            self.path.pop()
        if not self.path:
            return False
        self.path[-1][0] += 1
        self.at, self.probability = 0, 1.0
        return True

    def _pick(self, options):
        options = [one for one in options if one[1] > 0]
        if self.at == len(self.path):
            self.path.append([0, len(options)])
        value, probability = options[self.path[self.at][0]]
        self.at += 1
        self.probability *= probability
        return value

    def one_of(self, shares):
        return self._pick([(n, share / shares.sum()) for n, share in enumerate(shares.tolist())])

    def split(self, counts, probabilities):
        pairs = zip(counts.tolist(), np.broadcast_to(probabilities, counts.shape).tolist(), strict=True)
        return np.array([self._binomial(n, p) for n, p in pairs], dtype=np.int64)

    def _binomial(self, n, p):
        return self._pick([(k, comb(n, k) * p**k * (1 - p) ** (n - k)) for k in range(n + 1)])

    def spread(self, number, shares):
        found = []
        for place, share in enumerate(shares.tolist()):
            left = shares[place:].sum()
            found.append(self._binomial(number - sum(found), share / left if left else 0.0))
        return np.array(found)

    def order(self, number):
        return np.array(self._pick([(p, 1 / factorial(number)) for p in permutations(range(number))]), int)

    def places(self, among, number):
        ways = list(permutations(range(among), number))
        return np.array(self._pick([(p, 1 / len(ways)) for p in ways]), int)


FRIENDS = "S(a)\nF(a, a)\n0.9 F(x, y) ^ S(x) => S(y)\n"
LOOPLESS = FRIENDS + "!F(x, x).\n"
MODELS = {
    "symmetric friends": (LOOPLESS + "F(x, y) => F(y, x).\n-0.4 S(x)\n0.6 F(x, y)", 2),
    "a graph": ("F(a, a)\n!F(x, x).\nF(x, y) => F(y, x).\n0.3 F(x, y)", 3),
    "directed friends": (FRIENDS + "0.5 F(x, y) ^ F(y, x)\n0.3 F(x, x) ^ S(x)", 2),
    "two types": ("P(a)\nU(b)\nR(a, b)\n0.8 R(x, u) ^ P(x) => U(u)\n-0.7 R(x, u)\nU(u) v P(x).", (3, 1)),
    "propositions": (
        "Rain()\nWet()\nP(a)\nQ(a)\n1.2 Rain() ^ P(x) => Q(y)\n0.4 Wet() v Rain()\nRain() => P(x).",
        2,
    ),
    "constants": (FRIENDS + "1.1 S(A1) => F(x, A1)\n-0.3 F(A1, x)", 2),
    "one at most": ("P(a)\nQ(a)\nP(x) ^ P(y) => x = y.\n0.6 P(x) ^ Q(y)\n-0.4 Q(x)", 3),
    "merged cells": (
        "P(a)\nQ(a)\nE(a, a)\n!E(x, x).\n0.8 Q(x) => E(x, y)\n0.9 P(x) ^ E(x, y) ^ P(y)\nP(x) v Q(x).",
        2,
    ),
    "interacting pairs": (
        "P(a)\nE(a, a)\nG(a, a)\n!E(x, x).\n!G(x, x).\n0.7 E(x, y) ^ G(y, x) => P(y)\n-0.6 E(x, y) v G(x, y)",
        2,
    ),
    "three arguments": ("P(a)\nT(a, b, a)\n0.8 T(x, u, y)\n0.5 P(x)", (2, 1)),
}
SIGNED = {
    "an existential tied": ("S(a)\nF(a, a)\nEXIST y F(x, y).\nF(x, y) => F(y, x).\n0.6 F(x, y) ^ S(x)", 2),
    "soft existentials": ("S(a)\nF(a, a)\n!F(x, x).\n0.9 S(x) => EXIST y F(x, y)\n-0.7 EXIST y F(y, x)", 2),
    "a cardinality": ("S(a)\nF(a, a)\n|F| = 2.\n0.6 F(x, y) ^ S(x) => S(y)\n-0.4 S(x)", 2),
}
ROWS = {
    "existential": ("S(a)\nF(a, a)\nEXIST y F(x, y).\n0.6 F(x, y) ^ S(x) => S(y)\n-0.4 F(x, y)", 2),
    "columns": ("S(a)\nF(a, a)\nEXIST y F(y, x).\n0.6 F(x, y) ^ S(x) => S(y)\n-0.4 F(x, y)", 2),
    "no loops": ("F(a, a)\n!F(x, x).\nEXIST y F(x, y).\n-0.4 F(x, y)", 3),
    "a function": ("S(a)\nF(a, a)\nEXIST=1 y F(x, y).\n0.6 F(x, y) ^ S(x) => S(y)", 2),
    "not many": ("S(a)\nR(a, b)\nEXIST<=1 u R(x, u).\n0.6 R(x, u) ^ S(x)\n-0.3 R(x, u)", (2, 3)),
    "behind a guard": ("S(a)\nF(a, a)\nS(x) => EXIST>=2 y F(x, y).\n0.6 F(x, y) ^ S(x) => S(y)", 2),
    "blocks": ("S(a)\nC(a, b!)\nT(b)\n0.6 C(x, u) ^ S(x) => T(u)\n0.3 C(x, u)", (2, 2)),
    "blocks of at most one": ("C(a, b?)\n0.6 C(x, u)", (2, 2)),
    "blocks by columns": ("C(a!, b)\nT(b)\n0.6 C(x, u) ^ T(u)\nRain() v T(u).\nRain()", (2, 2)),
    "blocks of one type": ("B(a, a!)\nS(a)\n0.6 B(x, y) ^ S(x) => S(y)", 2),
    "two of them": (
        "F(a, b)\nG(a, b!)\nS(a)\nEXIST u F(x, u).\n0.6 G(x, u) ^ S(x)\n-0.3 F(x, u) v S(x)",
        (2, 2),
    ),
    "others beside": ("F(a, a)\nG(a, a)\n!G(x, x).\nEXIST y F(x, y).\n0.6 G(x, y) ^ F(x, y)", 2),
}
KNOWN = {
    "a group": (LOOPLESS + "0.2 F(x, y)", "S(A1)", 2),
    "two groups": (LOOPLESS + "Old(a)\n0.6 F(x, y) ^ Old(x)", "Old(A1)\n!Old(A2)\nS(A1)", 2),
    "a pair": (FRIENDS + "0.3 S(x)", "F(A1, A2)", 2),
}


def named(text, sizes):
    sizes = sizes if isinstance(sizes, tuple) else (sizes,)
    domains = [f"{t} = {{{', '.join(f'{t.upper()}{n + 1}' for n in range(s))}}}"
               for t, s in zip("ab", sizes, strict=False)]  # fmt: skip
    return ml.MLN.from_text("\n".join([text, *domains]))


def every_way(worlds):
    """The probability of each world, all ways to draw it together; and of drawing one that is kept."""
    found, choices = defaultdict(float), EveryChoice()
    while True:
        world = worlds.distribution.draw_world(choices)
        share = choices.probability * (1.0 if worlds.kept is None else worlds.kept(world))
        if share:
            found[frozenset(world.atoms())] += share
        if not choices.again():
            total = sum(found.values())
            return {world: share / total for world, share in found.items()}, total


def weighed(mln, db=None):
    known = dict.fromkeys(db.atoms(), True) | dict.fromkeys(db.atoms("false"), False) if db else {}
    weights = {
        world.true_atoms: exp(oracles.log_weight(mln, world))
        for world in oracles.all_worlds(mln.vocabulary)
        if all((atom in world.true_atoms) is truth for atom, truth in known.items())
    }
    total = sum(weights.values())
    return {world: weight / total for world, weight in weights.items() if weight > 0}


@pytest.mark.parametrize("name", [*MODELS, *SIGNED, *ROWS, *KNOWN])
def test_each_world_is_drawn_with_exactly_its_probability(name, monkeypatch):
    monkeypatch.setattr(drawn_atoms, "PIECE", 2)  # blocks in pieces, too
    monkeypatch.setattr(world_distribution, "PIECE", 2)
    if name not in KNOWN:
        mln, db = named(*(MODELS | SIGNED | ROWS)[name]), None
    else:
        text, facts, size = KNOWN[name]
        mln = named(text, size)
        db = ml.Database.from_text(facts, mln)
    theory = ml.lift(mln, db).compile(method="cells")
    worlds = theory.sample_worlds()
    assert (worlds.kept is not None) == (name in SIGNED)
    assert isinstance(worlds.distribution, RowWorlds) == (name in ROWS)
    found, share = every_way(worlds)
    expected = weighed(mln, db)
    assert share == pytest.approx(worlds.acceptance, rel=1e-11)
    assert found.keys() == expected.keys()
    assert all(found[world] == pytest.approx(p, rel=1e-11) for world, p in expected.items())


@pytest.mark.random
def test_random_models(monkeypatch):
    """Soft and hard formulas with quantifiers and constants; of each, all ways to draw every world."""
    monkeypatch.setattr(test_random_theories, "PREDICATES", [("P", "a"), ("E", "aa"), ("U", "b")])
    compared = [compared_random_model(number) for number in range(7, 7 + examples(8))]
    assert sum(compared) >= len(compared) / 5


def compared_random_model(number):
    """Compare one random model; False where it has no world, or is refused."""
    draw = random.Random(31_000 + number)
    variables = {"a": ["x", "y"], "b": ["u"]}
    lines = ["P(a)\nE(a, a)\nU(b)"]
    for _ in range(2):
        formula = test_random_theories.random_formula(draw, variables, constants=draw.random() < 0.3)
        lines.append(f"{formula}." if draw.random() < 0.35 else f"{draw.choice([0.7, -1.3, 2.1])} {formula}")
    mln = named("\n".join(lines), (2, 1))
    try:
        worlds = ml.lift(mln).compile(method="cells").sample_worlds()
    except (ml.TooLargeError, ml.UnsatisfiableError, TooManyVariablesError):
        return False
    found, share = every_way(worlds)
    assert found == pytest.approx(weighed(mln), rel=1e-10), lines
    assert share == pytest.approx(worlds.acceptance, rel=1e-10), lines
    return True


QUESTIONS = {
    "one_of": (np.array([0.2, 0.0, 0.7, 0.4]),),
    "split": (np.array([3, 1]), np.array([0.3, 0.8])),
    "spread": (3, np.array([0.5, 2.0, 0.7])),
    "order": (3,),
    "places": (4, 2),
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_generator_answers_as_often_as_is_probable(question):
    """By a chi-square test with a fixed seed, against what the enumeration above takes for granted."""
    from scipy.stats import chisquare

    asked, number, every, expected = QUESTIONS[question], 2_000, EveryChoice(), defaultdict(float)
    while True:
        answer = getattr(every, question)(*asked)
        expected[tuple(np.atleast_1d(answer).tolist())] += every.probability
        if not every.again():
            break
    choices = RandomChoices(np.random.default_rng(4))
    drawn = Counter(tuple(np.atleast_1d(getattr(choices, question)(*asked)).tolist()) for _ in range(number))
    assert drawn.keys() <= expected.keys()
    assert chisquare([drawn[a] for a in expected], [p * number for p in expected.values()]).pvalue > 0.001


def test_many_worlds_fall_as_often_as_they_are_probable():
    """All of it together, worlds as drawn with a seed."""
    from scipy.stats import chisquare

    mln = named(*MODELS["a graph"])
    worlds = ml.lift(mln).compile(method="cells").sample_worlds(400, seed=3)
    drawn, expected = Counter(frozenset(world.atoms()) for world in worlds), weighed(mln)
    assert drawn.keys() <= expected.keys()
    numbers = [[drawn[world] for world in expected], [p * len(worlds) for p in expected.values()]]
    assert chisquare(*numbers).pvalue > 0.001


def test_means_of_large_worlds_are_the_expected_counts():
    text = (
        "S(a)\nB(b)\nF(a, a)\nR(a, b)\n0.02 F(x, y) ^ S(x) => S(y)\n-3 F(x, y)\n"
        "0.1 R(x, u) ^ S(x) => B(u)\n-0.5 S(x)\n-4 R(x, u)\n!F(x, x)."
    )
    mln, sizes, number = ml.MLN.from_text(text), {"a": 150, "b": 60}, 60
    theory = ml.lift(mln).compile(method="cells")
    worlds = theory.sample_worlds(number, sizes, seed=8)
    counts = np.array([ml.count(mln, world).numbers for world in worlds], float)
    soft = [n for n, weight in enumerate(mln.weights) if weight is not None]
    means, errors = counts.mean(axis=0)[soft], counts.std(axis=0, ddof=1)[soft] / number**0.5
    expected = np.array(theory.expected_counts(sizes))[soft]
    assert (np.abs(means - expected) <= 4.5 * errors).all()
    assert worlds.dropped < 1e-15


def test_the_kth_world_is_the_same_however_many_are_asked_for():
    theory = ml.lift(ml.MLN.from_text(FRIENDS)).compile(method="cells")
    few, many = (theory.sample_worlds(number, {"a": 20}, seed=5) for number in (3, 9))
    assert few[2] == many[2] == many[:4][2]
    assert few[1] != few[2]
    assert theory.sample_worlds(3, {"a": 20}, seed=6)[2] != few[2]


def test_a_world_takes_the_memory_of_its_true_atoms():
    """20,000 constants have 400 million pairs; some sixty thousand are true."""
    import tracemalloc

    theory = ml.lift(ml.MLN.from_text(FRIENDS + "-9.5 F(x, y)\n-1 S(x)")).compile(method="cells")
    worlds = theory.sample_worlds(1, {"a": 20_000}, weights=[0.001, -9.5, -1])
    tracemalloc.start()
    world = worlds[0]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert 20_000 < world.number_of_facts() < 80_000
    assert peak < 500 * world.number_of_facts()


def test_what_is_too_large_is_refused_with_the_number_of_atoms():
    theory = ml.lift(ml.MLN.from_text(FRIENDS)).compile(method="cells")
    with pytest.raises(ml.TooLargeError, match=r"\de\+09 true atoms"):
        theory.sample_worlds(1, {"a": 50_000})
    with pytest.raises(ml.ArgumentError, match="number= needs a whole number"):
        theory.sample_worlds(1.5, {"a": 5})


def test_worlds_that_are_rarely_kept_are_refused():
    sparse = ml.lift(ml.MLN.from_text("F(a, a)\nEXIST y F(x, y).\nF(x, y) => F(y, x).\n-4 F(x, y)")).compile()
    with pytest.raises(ml.TooLargeError, match=r"one of 10\^\d"):
        sparse.sample_worlds(1, {"a": 15})
    tied = "F(a, b)\nC(a, b!)\nEXIST u F(x, u).\n0.5 C(x, u) ^ F(x, u)"
    with pytest.raises(ml.ArgumentError, match="no formula ties their rows"):
        ml.lift(ml.MLN.from_text(tied)).compile().sample_worlds(1, {"a": 3, "b": 2})
    none = ml.lift(ml.MLN.from_text("C(a, b!)\n!C(x, u).")).compile()
    with pytest.raises(ml.UnsatisfiableError):
        none.sample_worlds(1, {"a": 3, "b": 2})


def test_sums_by_rows_are_z_where_signs_and_tallies_are_not_needed():
    """Another way to the same number: balls and Skolem's signs, and terms that are all positive."""
    text = "S(a)\nF(a, a)\nEXIST y F(x, y).\n-6 F(x, y)\n0.02 F(x, y) ^ S(x) => S(y)"
    for text_of, size in ((text, 40), (ROWS["a function"][0], 6), (ROWS["behind a guard"][0], 3)):
        theory = ml.lift(ml.MLN.from_text(text_of)).compile(method="cells")
        worlds = theory.sample_worlds(1, {"a": size})
        assert worlds.distribution.log_z == pytest.approx(theory.log_z({"a": size}).value, rel=1e-12)


RARE = {
    "two of rare ones": "EXIST>=2 y F(x, y).\n-20 F(x, y)",
    "rarer than floats": "EXIST y F(x, y).\n-800 F(x, y)",
    "few of what is nearly always": "EXIST<=1 y F(x, y).\n40 F(x, y)",
}


@pytest.mark.parametrize("name", RARE)
def test_rows_that_are_rarely_as_demanded_have_their_probabilities(name):
    theory = ml.lift(ml.MLN.from_text(f"F(a, a)\n{RARE[name]}")).compile(method="cells")
    worlds = theory.sample_worlds(1, {"a": 5})
    assert isinstance(worlds.distribution, RowWorlds)
    assert worlds.distribution.log_z == pytest.approx(theory.log_z({"a": 5}).value, rel=1e-13)


def test_rare_atoms_that_tie_rows_are_not_taken_for_independent():
    tied = ml.MLN.from_text("F(a, a)\nEXIST y F(x, y).\nF(x, y) => F(y, x).\n-30 F(x, y)")
    with pytest.raises(ml.TooLargeError, match="one of"):  # for what is kept of worlds without demands
        ml.lift(tied).compile(method="cells").sample_worlds(1, {"a": 3})


def test_rows_that_cannot_be_as_demanded_have_no_worlds():
    theory = ml.lift(ml.MLN.from_text("F(a, b)\nEXIST>=2 u F(x, u).\n0.6 F(x, u)")).compile(method="cells")
    with pytest.raises(ml.UnsatisfiableError):
        theory.sample_worlds(1, {"a": 2, "b": 1})


def test_blocks_and_rows_of_large_worlds_are_as_demanded():
    text = "S(p)\nC(p, c!)\nT(c)\n0.6 C(x, u) ^ S(x) => T(u)\nEXIST>=2 x:p (D(u, x)).\nD(c, p)\n-7 D(u, x)"
    theory = ml.lift(ml.MLN.from_text(text)).compile()
    worlds = theory.sample_worlds(3, {"p": 400, "c": 6}, seed=2)
    assert worlds[1] == theory.sample_worlds(2, {"p": 400, "c": 6}, seed=2)[1] != worlds[2]
    for world in worlds:
        chosen, least = (rows(world, name) for name in ("C", "D"))
        assert len(chosen) == 400
        assert set(chosen.values()) == {1}
        assert len(least) == 6
        assert min(least.values()) >= 2


def rows(world, name):
    """How many true atoms each first argument has."""
    texts = (str(atom) for atom in world.atoms())
    return Counter(text.split("(")[1].split(",")[0] for text in texts if text.startswith(f"{name}("))


def test_more_than_two_variables_are_refused_with_what_to_do():
    circuit = ml.lift(ml.MLN.from_text("E(a, a)\n0.5 E(x, y) ^ E(y, z) ^ E(x, z)")).compile()
    with pytest.raises(ml.ArgumentError, match=r"at most two constants at once.*mc-sat"):
        circuit.sample_worlds(1, {"a": 3})
