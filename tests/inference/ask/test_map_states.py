"""Most probable worlds as people ask for them: methods, reasons, proofs, interrupts, costs of real models."""

from __future__ import annotations

from dataclasses import replace
from math import isnan

import pytest
from hypothesis import given, settings

import mlnlab as ml
from mlnlab.grounding.question.question import pose
from mlnlab.inference.ask import map_states
from mlnlab.inference.methods import rc2
from mlnlab.inference.search.landscape import landscape
from mlnlab.steps.runs.interrupted import Interrupted
from mlnlab.steps.step import run
from tests.support import oracles, small_models
from tests.support.thoroughness import examples

SMOKING = "Smokes(person)\nCancer(person)\nFriends(person, person)\n1.5 Smokes(x) => Cancer(x)\n"
TIED = (
    SMOKING
    + "1.1 Friends(x,y) => (Smokes(x) <=> Smokes(y))\n-0.8 Friends(x, y)\n0.4 !Cancer(x)\n1 Smokes(x)\n"
)
ALL = ("enumeration", "rc2", "max-walk-sat", "icm", "simulated-annealing")


def people(number, text=TIED):
    return ml.MLN.from_text("person = {" + ", ".join(f"P{i}" for i in range(number)) + "}\n" + text)


@pytest.fixture(scope="module")
def references(reference_folder):
    """The models on which other programs were measured, and what is asked."""

    def load(model, facts, query):
        folder = reference_folder / "alchemy-inputs"
        mln = ml.load(folder / model)
        return mln, ml.load_db(folder / facts, mln), [query] if isinstance(query, str) else query

    return {
        "smokers": load("smokers1000.mln", "smokers1000.db", ["Smokes", "Cancer"]),
        "imdb": load("imdb1-gen-learned.mln", "imdb_fold5_noq.db", "workedUnder"),
        "uw": load("uw1-gen-learned.mln", "uwcse_fold3_noq.db", "advisedBy"),
    }


@pytest.mark.parametrize("method", ALL)
def test_every_method_finds_the_same_world_and_says_how_good_it_is(method):
    mln = people(3)
    found, best = ml.map_state(mln, method=method), ml.map_state(mln)
    assert found.log_weight == pytest.approx(best.log_weight)
    assert found.method == method
    assert found.reason.startswith(method)
    weights = [f.weight.value for f in mln.formulas]
    counts = [found.world.count(f.formula) for f in mln.formulas]
    assert found.log_weight == pytest.approx(sum(w * n for w, n in zip(weights, counts, strict=True)))
    assert found.violated == map_states._list_violated_formulas(mln, found.world, None)
    assert found.proven_optimal == (found.gap == 0)
    assert found.proven_optimal or isnan(found.gap)
    assert (found.trace is None) == (method == "enumeration")


def test_auto_enumerates_then_proves_then_searches(monkeypatch):
    assert ml.map_state(people(2)).method == "enumeration"
    proven = ml.map_state(people(6))
    assert proven.method == "rc2"
    assert proven.proven_optimal
    assert "not enumeration" in proven.reason
    monkeypatch.setattr(map_states, "MOST_CONSTRAINTS", 10)
    searched = ml.map_state(people(6), flips=20_000, seed=1)
    assert searched.method == "max-walk-sat"
    assert "not rc2: There are" in searched.reason
    assert searched.log_weight == pytest.approx(proven.log_weight)
    assert not searched.proven_optimal


def test_where_a_proof_is_given_up_the_gap_is_said(monkeypatch):
    mln = people(8)
    best = ml.map_state(mln, method="rc2")
    monkeypatch.setattr(map_states, "MOST_CORES", 1)
    found = ml.map_state(mln, flips=20_000, seed=1)
    assert not found.proven_optimal
    assert found.gap > 0
    assert found.log_weight <= best.log_weight + 1e-9 <= found.log_weight + found.gap + 2e-9
    assert "none is better by" in found.reason


def test_bounds_hold_in_every_state_of_a_proof():
    mln = people(6)
    solver = ml.solver("rc2", mln, conflicts_per_state=1)
    states = list(solver)
    best = landscape(solver.question).highest - ml.map_state(mln, method="rc2").log_weight
    assert [s.bound for s in states] == sorted(s.bound for s in states)
    assert all(s.bound <= best + 1e-9 <= s.best_cost + 2e-9 for s in states)
    assert states[-1].done
    assert states[-1].gap == 0
    early = solver.map_state(states[0])
    assert early.proven_optimal is False
    assert early.log_weight + early.gap >= landscape(solver.question).highest - best - 1e-9


def test_weights_of_all_sizes_are_exact():
    text = "e = {A, B}\nS(e)\nT(e)\n1e-9 S(x)\n-3e-9 S(A) v S(B)\n1e6 T(x)\n999999.9999999 !T(x)\n"
    mln = ml.MLN.from_text(text)
    assert ml.map_state(mln, method="rc2").world == ml.map_state(mln, method="enumeration").world


@pytest.mark.parametrize("method", ALL)
@pytest.mark.parametrize(
    "formulas",
    [
        "-2 S(A) v S(B)\n1.5 S(A)\n1.2 !S(B)",
        "-2 S(A) v S(B) v S(C)\n1.5 S(A)\n-0.7 S(B) <=> S(C)\n0.1 S(C)",
        "-0.7 S(B) <=> S(C)\n0.5 S(C)\n0.4 S(B)",
        "-0.7 S(B) ^ S(C)\n0.5 S(C)\n0.4 S(B)",
    ],
)
def test_what_has_a_negative_weight_costs_where_it_is_true(method, formulas):
    mln = ml.MLN.from_text(f"e = {{A, B, C}}\nS(e)\n{formulas}\n")
    best = max(sum(f.weight.value * world.count(f.formula) for f in mln.formulas) for world in worlds_of(mln))
    found = ml.map_state(mln, method=method)
    assert found.log_weight == pytest.approx(best)
    assert sum(f.weight.value * found.world.count(f.formula) for f in mln.formulas) == pytest.approx(best)


def test_weights_are_paid_once():
    """To make P true costs three times 2, to make it false 7."""
    mln = ml.MLN.from_text("p = {A}\nq = {1, 2, 3}\nP(p)\nR(q)\n7 P(x)\n2 P(x) => R(y)\n100 !R(y)")
    assert ml.map_state(mln, method="rc2").log_weight == pytest.approx(307)


@pytest.mark.parametrize(
    "formulas", ["-2 S(A) v S(B)\n1.5 S(A)\n1.2 !S(B)", "-0.7 S(B) <=> S(C)\n0.5 S(C)\n0.4 S(B)"]
)
def test_what_was_paid_at_the_end_is_the_cost_of_the_best_world(formulas):
    mln = ml.MLN.from_text(f"e = {{A, B, C}}\nS(e)\n{formulas}\n0.3 S(x) v S(y)")
    for model in (mln, people(4), people(3, SMOKING + "-0.4 EXIST y Friends(x, y)\n0.5 Smokes(x)")):
        last = list(ml.solver("rc2", model))[-1]
        assert last.done
        assert last.bound == pytest.approx(last.best_cost, abs=1e-9)


def worlds_of(mln):
    return list(oracles.all_worlds(mln.vocabulary))


def test_options_are_checked():
    mln = people(3)
    with pytest.raises(ml.ArgumentError, match="did you mean flips"):
        ml.map_state(mln, method="max-walk-sat", flip=3)
    with pytest.raises(ml.ArgumentError, match="did you mean flips"):
        ml.map_state(mln, flip=3)
    with pytest.raises(ml.ArgumentError, match="enumeration has no option noise"):
        ml.map_state(mln, method="enumeration", noise=1)
    with pytest.raises(ml.ArgumentError, match="step by step; these can: icm"):
        ml.solver("enumeration", mln)
    for bad in ({"flips": 0}, {"tries": 0}, {"tabu": -1}, {"seed": -1}):
        with pytest.raises(ml.ArgumentError, match="must be a whole number"):
            ml.map_state(mln, method="max-walk-sat", **bad)
    for bad in ({"noise": 1.5}, {"target": -1.0}, {"target": float("nan")}):
        with pytest.raises(ml.ArgumentError):
            ml.map_state(mln, method="max-walk-sat", **bad)
    with pytest.raises(ml.ArgumentError, match="hottest must not be below coldest"):
        ml.map_state(mln, method="simulated-annealing", hottest=0.1, coldest=1.0)
    with pytest.raises(ml.ArgumentError, match="that can be searched with"):
        ml.map_state(people(2, "Smokes(person)\n1e15 Smokes(x)"), method="icm")


def test_an_interrupt_keeps_the_best_world():
    class Finger:
        def on_step(self, step):
            if step.index == 3:
                raise KeyboardInterrupt

        def on_end(self, last):
            pass

    with pytest.raises(Interrupted, match="stopped at step 3") as caught:
        ml.map_state(people(5), method="max-walk-sat", flips_per_state=20, observers=[Finger()])
    found = caught.value.so_far()
    assert "stopped early" in found.reason
    assert found.log_weight <= ml.map_state(people(5)).log_weight + 1e-9
    assert len(found.trace) == 4


def test_a_solver_is_iterated_and_goes_on():
    solver = ml.solver("max-walk-sat", people(5), flips=100, flips_per_state=10, seed=2, tries=2)
    assert "max-walk-sat" in repr(solver)
    states = list(solver)
    assert [state.flips for state in states] == list(range(0, 201, 10))
    assert [state.walk for state in states] == [0] * 11 + [1] * 10
    rest = list(solver.resume(states[13]))
    assert [state.best_total for state in rest] == [state.best_total for state in states[14:]]
    assert run(solver, stop=lambda step: step.state.flips >= 50).state.flips == 50


def test_the_way_does_not_depend_on_how_often_it_is_looked_at():
    """Going downhill is the one thing that happens at states."""
    ways = [
        list(
            ml.solver("max-walk-sat", people(6), flips=240, flips_per_state=n, seed=4, tabu=3, downhill=False)
        )
        for n in (1, 7, 240)
    ]
    assert len({tuple(way[-1].chosen.tolist()) for way in ways}) == 1
    assert len({tuple(way[-1].random.tolist()) for way in ways}) == 1
    assert len({way[-1].best_cost for way in ways}) == 1


def test_hard_formulas_hold_in_what_searches_find():
    text = (
        SMOKING
        + "Smokes(x) ^ Friends(x,y) => Smokes(y).\nSmokes(P0).\nEXIST y Friends(x, y).\n2 !Friends(x, y)\n"
    )
    text += "3 !Smokes(x)\n"
    mln = people(5, text)
    best = ml.map_state(mln, method="rc2")
    for method in ("max-walk-sat", "icm", "simulated-annealing"):
        found = ml.map_state(mln, method=method, seed=1)
        assert not any(text.endswith(".") for text, _ in found.violated)
        assert found.log_weight <= best.log_weight + 1e-9
    assert ml.map_state(mln, method="max-walk-sat", seed=1).log_weight == pytest.approx(best.log_weight)


def test_what_a_world_violates_has_examples():
    mln = ml.MLN.from_text("e = {A, B}\nS(e)\n1 S(x)\n3 !S(A)\n-0.5 S(x)\n")
    found = ml.map_state(mln)
    texts = dict(found.violated)
    assert texts == {"1.0 S(x)": 1, "-0.5 S(x)": 1}
    assert found.examples("1.0 S(x)") == ("x = A",)
    assert found.examples("-0.5 S(x)") == ("x = B",)


# --- the models of other programs ---------------------------------------------------------------------


def test_the_most_probable_world_of_imdb_holds_all_facts(references):
    """Alchemy's MaxWalkSAT made 32 of the 45 true; all 45 are, provably."""
    mln, db, query = references["imdb"]
    found = ml.map_state(mln, db, query)
    assert found.method == "rc2"
    assert found.proven_optimal
    assert sum(atom.predicate == "workedUnder" for atom in found.world.true_atoms) == 45


@pytest.mark.parametrize("name", ["smokers", "imdb", "uw"])
def test_searches_reach_the_proven_optimum(references, name):
    mln, db, query = references[name]
    best = ml.map_state(mln, db, query, method="rc2")
    assert best.proven_optimal
    found = ml.map_state(mln, db, query, method="max-walk-sat", seed=1)
    assert found.log_weight <= best.log_weight + 1e-6
    assert best.log_weight - found.log_weight <= 0.5 + 1e-6
    annealed = ml.map_state(mln, db, query, method="simulated-annealing", seed=1)
    assert best.log_weight - annealed.log_weight <= 1.0
    plain = ml.map_state(mln, db, query, method="max-walk-sat", seed=1, downhill=False, flips=100_000)
    assert plain.log_weight <= found.log_weight + 1e-6


def test_costs_say_the_same_as_log_weights(references):
    mln, db, query = references["uw"]
    question = pose(mln, db, query)
    found = ml.map_state(mln, db, query, method="max-walk-sat", seed=2, flips=10_000)
    reader = ml.solver("max-walk-sat", mln, db, query).reader()
    state = found.trace[-1].state
    assert reader.landscape.highest - state.best_cost == pytest.approx(found.log_weight)
    assert replace(question).choices == question.choices


@settings(max_examples=examples(60))
@given(small_models.questions(most_atoms=7))
def test_proofs_of_random_models_end_at_the_cost_of_their_world(posed):
    params = rc2.Params(conflicts_per_state=1)
    states = list(rc2.steps(params, posed.question))
    highest = landscape(posed.question).highest
    best = highest - posed.oracle.best()
    assert all(state.bound <= best + 1e-9 <= state.best_cost + 2e-9 for state in states)
    assert states[-1].bound == pytest.approx(best, abs=1e-9)
    assert states[-1].done
