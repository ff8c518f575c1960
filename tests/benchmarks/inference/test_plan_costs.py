"""What plans say that answers cost, beside what they cost: seconds and memory over twenty varied models."""

from __future__ import annotations

import tracemalloc
import warnings
from math import exp, log
from time import process_time

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.grounding.question.question import opening
from mlnlab.inference.ask.answering_methods import ways_to_answer
from mlnlab.inference.method import MARGINALS

pytestmark = pytest.mark.benchmark

SAME = "Next(x, y) => (On(x) <=> On(y))"


def everyone(number, formulas, more=""):
    """A model in which everything is open."""
    return ml.MLN.from_text(f"p = {{1, ..., {number}}}\n{more}{formulas}"), None, None


def graph(pairs, formula):
    """A model of places that are on or not, and of neighbours, who are known."""
    mln = ml.MLN.from_text(f"On(place)\nNext(place, place)\n{formula}")
    facts = "\n".join(sorted({f"Next(P{a}, P{b})" for a, b in pairs}))
    return mln, ml.Database.from_text(facts, mln), ["On"]


def grid(side):
    across = [(n, n + 1) for n in range(side * side) if n % side < side - 1]
    return across + [(n, n + side) for n in range(side * (side - 1))]


def at_random(places, pairs):
    return np.random.default_rng(1).integers(places, size=(pairs, 2)).tolist()


def smokers(number):
    rules = "1.5 S(x) => C(x)\n0.2 F(x, y) ^ S(x) => S(y)\n-1 F(x, y)"
    return everyone(number, rules, "S(p)\nC(p)\nF(p, p)\n")


def sampled(name):
    found = ml.sample(name)
    return found.mln, found.db, ["Medicean"] if "families" in name else ["WithInstructor"]


HOUSES = "h = {A, B, C, D}\nL(p, h!)\nF(p, p)\n"
SHARED = "0.2 L(x, h) ^ L(y, h) => F(x, y)\n-0.3 F(x, y)"
SYMMETRIC = "F(x, y) => F(y, x).\n0.5 F(x, y) ^ F(y, z) => F(x, z)"
MODELS = {
    **{f"pairs of {n}": lambda n=n: everyone(n, "0.3 S(x) ^ S(y)", "S(p)\n") for n in (12, 16, 18, 24)},
    "strong among 24": lambda: everyone(24, "0.3 S(x) <=> S(y)", "S(p)\n"),
    "strong among 40": lambda: everyone(40, "0.2 S(x) <=> S(y)", "S(p)\n"),
    **{f"twins {n}": lambda n=n: everyone(n, "2 S(x) <=> T(x)", "S(p)\nT(p)\n") for n in (20, 200)},
    **{f"grid {n}": lambda n=n: graph(grid(n), f"0.5 {SAME}") for n in (6, 10, 20)},
    "families": lambda: sampled("florentine_families"),
    "club": lambda: sampled("karate_club"),
    **{f"smokers {n}": lambda n=n: smokers(n) for n in (6, 15, 25)},
    **{f"symmetric {n}": lambda n=n: everyone(n, SYMMETRIC, "F(p, p)\n") for n in (5, 8)},
    **{f"houses {n}": lambda n=n: everyone(n, SHARED, HOUSES) for n in (8, 20)},
    "transitive": lambda: everyone(8, "0.2 F(x, y) ^ F(y, z) => F(x, z)", "F(p, p)\n"),
    "sparse": lambda: graph(at_random(300, 900), "0.4 Next(x, y) ^ On(x) => On(y)"),
    "large": lambda: graph(at_random(1500, 4500), "0.4 Next(x, y) ^ On(x) => On(y)"),
}


def band(places, width):
    return [(a, b) for a in range(places) for b in range(a + 1, min(places, a + width + 1))]


def with_evidence(model):
    """Every third place is known to be on."""
    mln, db, query = model
    known = "\n".join(f"On(P{n})" for n in range(0, len(db.domain("place")), 3))
    return mln, ml.Database.from_text(f"{db.to_text()}\n{known}", mln), query


RULE = "0.4 Next(x, y) ^ On(x) => On(y)"
TREES = {
    **{f"grid {n}": lambda n=n: graph(grid(n), f"0.5 {SAME}") for n in (6, 10, 14, 17)},
    **{
        f"band {n}, {w}": lambda n=n, w=w: graph(band(n, w), RULE)
        for n, w in ((50, 10), (50, 14), (200, 12), (2000, 3), (20000, 2), (300, 8))
    },
    **{f"everyone {n}": lambda n=n: everyone(n, "0.3 S(x) ^ S(y)", "S(p)\n") for n in (16, 20)},
    "band with evidence": lambda: with_evidence(graph(band(50, 14), RULE)),
    "grid with evidence": lambda: with_evidence(graph(grid(16), f"0.5 {SAME}")),
    **{name: MODELS[name] for name in ("houses 8", "smokers 6", "smokers 15")},
}


def test_a_trees_cost_is_told_within_a_factor_of_three():
    ml.infer(*TREES["grid 6"](), method="junction-tree")
    ratios = {}
    for name, model in TREES.items():
        mln, db, query = model()
        told = next(
            way.seconds
            for way in ways_to_answer(opening(mln, db, query), MARGINALS)
            if way.method == "junction-tree"
        )
        began = process_time()
        ml.infer(mln, db, query, method="junction-tree")
        ratios[name] = (process_time() - began) / told
        print(f"{name:>18}: {told:8.3f} s told, {ratios[name]:5.2f} times that taken")
    assert all(1 / 3 < ratio < 3 for ratio in ratios.values()), ratios


def measured(mln, db, query):
    """The plan, the seconds that it takes, and the most memory, both of this process."""
    plan = ml.inference_plan(mln, db, query)
    began = process_time()
    ml.infer(mln, db, query)
    taken = process_time() - began
    short = {"samples": 200, "burn_in": 5} if plan.method in {"gibbs", "mc-sat"} else {}
    tracemalloc.start()
    ml.infer(mln, db, query, method=plan.method, **short)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return plan, taken, peak


def test_plans_are_within_a_factor_of_five_on_average():
    times, memories = [], []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for method in ("gibbs", "mc-sat", "junction-tree", "enumeration"):  # compiled before
            ml.infer(*everyone(3, "0.5 S(x) <=> S(y)", "S(p)\n"), method=method)
        print()
        for name, model in MODELS.items():
            plan, taken, peak = measured(*model())
            print(
                f"{name:>15}: {plan.method:13} {plan.seconds:8.3f} s planned, {taken:8.3f} s taken; "
                f"{plan.memory / 1e6:6.2f} MB planned, {peak / 1e6:6.2f} MB taken"
            )
            times.append(abs(log(plan.seconds / taken)))
            memories.append(abs(log(plan.memory / peak)))
    print(f"on average a factor {exp(np.mean(times)):.2f} in time and {exp(np.mean(memories)):.2f} in memory")
    assert len(MODELS) >= 20
    assert exp(np.mean(times)) < 5
    assert exp(np.mean(memories)) < 5
