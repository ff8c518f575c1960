"""Gibbs sampling as people meet it: choices of method, options, hard formulas, warnings, what is recorded."""

from __future__ import annotations

import math
import warnings
from math import isnan

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.grounding.question.question import pose
from mlnlab.inference import method_registry
from mlnlab.inference.ask.asking import SamplingWarning
from mlnlab.inference.methods import gibbs
from mlnlab.steps.recordings.trace import Trace
from mlnlab.steps.step import run
from tests.support.thoroughness import sample

SMOKING = "Smokes(person)\nCancer(person)\nFriends(person, person)\n1.5 Smokes(x) => Cancer(x)\n"
INFLUENCE = SMOKING + "1.1 Friends(x,y) => (Smokes(x) <=> Smokes(y))\n"


def people(number, text=SMOKING):
    return ml.MLN.from_text("person = {" + ", ".join(f"P{i}" for i in range(number)) + "}\n" + text)


def test_auto_sums_where_it_can_and_samples_where_it_must():
    few, many = people(2), people(10)
    assert ml.infer(few).method == "enumeration"
    found = ml.infer(many, samples=200, seed=1)
    assert found.method == "gibbs"
    assert "2^120 worlds" in found.reason
    assert "4 chains of 200 samples each" in found.reason
    assert isnan(found.log_z)
    assert abs(found["Smokes(P0)"] - 0.38) < 5 * found.error("Smokes(P0)") + 0.01


def test_the_same_seed_gives_the_same_answer():
    mln = people(10)
    first, again, other = (ml.infer(mln, samples=100, seed=seed).probabilities for seed in (4, 4, 5))
    assert first == again
    assert first != other


def test_a_limit_turns_to_sampling_early():
    assert ml.infer(people(2), limit=10, samples=50).method == "gibbs"
    with pytest.raises(ml.TooLargeError):
        ml.infer(people(2), limit=10, method="enumeration")


def test_options_are_checked():
    mln = people(2)
    with pytest.raises(ml.ArgumentError, match="did you mean samples"):
        ml.infer(mln, method="gibbs", sample=10)
    with pytest.raises(ml.ArgumentError, match="did you mean samples"):
        ml.infer(mln, sample=10)
    with pytest.raises(ml.ArgumentError, match="enumeration has no option samples"):
        ml.infer(mln, method="enumeration", samples=10)
    for bad in ({"samples": 0}, {"chains": 0}, {"thin": 0}, {"burn_in": -1}, {"samples": 2.5}, {"seed": -1}):
        with pytest.raises(ml.ArgumentError, match="must be a whole number"):
            ml.infer(mln, method="gibbs", **bad)
    with pytest.raises(ml.ArgumentError, match=r"a most probable world there is: enumeration"):
        ml.map_state(mln, method="gibbs")
    with pytest.raises(ml.ArgumentError, match="log Z there is"):
        ml.log_z(mln, method="gibbs")


def test_methods_are_listed():
    frame = method_registry.listing().set_index("method")
    assert frame.loc["enumeration", "answer is"] == "exact"
    assert frame.loc["gibbs", "answers"] == "marginals"
    assert "Geman" in frame.loc["gibbs", "described in"]


def test_hard_formulas_hold_and_are_warned_of():
    mln = people(6, SMOKING + "Smokes(x) ^ Friends(x,y) => Smokes(y).\nSmokes(P0).\nFriends(P0, P1).\n")
    with pytest.warns(SamplingWarning):
        found = ml.infer(mln, method="gibbs", samples=300)
    assert any("Hard formulas are left open" in warning for warning in found.warnings)
    proposed = [name for name in ("mc-sat", "junction-tree") if f'method="{name}"' in found.warnings[0]]
    assert proposed == ["mc-sat", "junction-tree"]
    assert found["Smokes(P1)"] == 1
    assert found["Friends(P0, P1)"] == 1
    assert "Warning: Hard formulas" in repr(found)


def test_conditions_hold():
    mln = people(5)
    with pytest.warns(SamplingWarning):
        found = ml.infer(mln, method="gibbs", given=["Smokes(P0) v Smokes(P1)", "!Smokes(P0)"], samples=300)
    assert found["Smokes(P1)"] == 1
    assert found["Smokes(P0)"] == 0


def test_literals_alone_that_must_hold_give_no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error", SamplingWarning)
        found = ml.infer(people(3), method="gibbs", given=["Smokes(P0)", "!Cancer(P1)"])
    assert found["Smokes(P0)"] == 1
    assert found["Cancer(P1)"] == 0


def test_a_start_is_found_where_it_is_hidden():
    rng = np.random.default_rng(7)
    hidden = rng.random(200) < 0.5
    lines = []
    for _ in range(700):  # 3-SAT at a ratio of 3.5, satisfiable by construction
        atoms = rng.choice(200, 3, replace=False)
        signs = rng.random(3) < 0.5
        signs[0] = hidden[atoms[0]]
        lines.append(
            " v ".join(f"{'' if s else '!'}S(P{a})" for a, s in zip(atoms, signs, strict=True)) + "."
        )
    mln = people(200, "S(person)\n" + "\n".join(lines))
    state = next(gibbs.steps(gibbs.Params(chains=2), pose(mln, None, ["S"])))
    assert state.chosen.shape == (2, 200)
    assert not np.array_equal(*state.chosen)


def test_contradictions_are_told_honestly():
    pigeons = "p = {A, B, C}\nh = {H1, H2}\nIn(p, h)\nEXIST h In(p, h).\n!In(A, h) v !In(B, h).\n"
    pigeons += "!In(A, h) v !In(C, h).\n!In(B, h) v !In(C, h).\n"
    with pytest.raises(ml.UnsatisfiableError, match="No world satisfies"):
        ml.infer(ml.MLN.from_text(pigeons), method="gibbs")
    more = people(40, pigeons + "S(person)\n")
    with pytest.raises(ml.UnsatisfiableError, match="none of them can be left out"):
        ml.infer(more, method="gibbs")


def test_a_block_without_a_choice_and_a_question_without_open_atoms():
    mln = ml.MLN.from_text("e = {A}\nc = {R}\nL(e, c!)\nS(e)\n1 S(x) ^ L(x, R)")
    found = ml.infer(mln, method="gibbs", samples=2000)
    assert found["L(A, R)"] == 1
    assert abs(found["S(A)"] - 0.7311) < 5 * found.error("S(A)")
    nothing = ml.infer(mln, ml.Database.from_text("S(A)\nL(A, R)", mln), ["S"], method="gibbs")
    assert nothing["S(A)"] == 1
    assert nothing.error("S(A)") == 0


def test_chains_that_stay_apart_are_warned_of():
    mln = people(8, "S(person)\n3 S(x) <=> S(y)\n")
    with pytest.warns(SamplingWarning, match="R-hat above"):
        found = ml.infer(mln, method="gibbs", samples=200, burn_in=0, chains=6, seed=1)
    assert found.estimates["S(P0)"].r_hat > 1.05
    frame = found.to_frame()
    assert {"error", "r_hat", "effective_size"} <= set(frame.columns)


def test_a_trace_is_kept_and_observers_see_the_same():
    mine = Trace()
    found = ml.infer(people(10), samples=200, observers=[mine])
    assert len(found.trace) == len(mine) > 5
    columns = found.trace.metrics()
    assert {"log_weight", "largest_r_hat", "smallest_effective_size"} <= set(columns.columns)


def test_the_log_weight_is_that_of_the_world():
    mln = people(3, INFLUENCE)
    question = pose(mln, None, None)
    state = next(gibbs.steps(gibbs.Params(chains=1), question))
    (chosen,) = state.chosen
    options = zip(question.choices, chosen, strict=True)
    true = frozenset(atom for choice, option in options for atom in choice.atoms[option : option + 1])
    world = ml.World(mln.vocabulary, true)
    expected = sum(f.weight.value * world.count(f.formula) for f in mln.formulas)
    assert state.metrics()["log_weight"] == pytest.approx(expected)


def test_a_sampler_is_iterated_and_goes_on():
    sampler = ml.sampler("gibbs", people(4, INFLUENCE), samples=100, burn_in=0, seed=2, sweeps_per_state=10)
    assert "gibbs" in repr(sampler)
    steps = list(sampler.steps())
    assert [step.index for step in steps] == list(range(11))
    assert run(sampler, stop=lambda step: step.state.samples >= 50).state.samples == 50
    rest = list(sampler.resume(steps[4].state))
    assert np.array_equal(rest[-1].chosen, steps[-1].state.chosen)
    assert sampler.marginals(steps[-1].state).probabilities == sampler.marginals(rest[-1]).probabilities
    with pytest.raises(ml.ArgumentError, match=r"step by step; these can: .*gibbs, "):
        ml.sampler("enumeration", people(2))


def test_thinning_and_burning_in_are_counted():
    params = gibbs.Params(samples=12, burn_in=7, thin=3, chains=1, sweeps_per_state=6)
    states = list(gibbs.steps(params, pose(people(3), None, None)))
    assert [state.sweeps for state in states] == [0, 6, 7, 13, 19, 25, 31, 37, 43]
    assert [state.samples for state in states] == [0, 0, 0, 2, 4, 6, 8, 10, 12]


def test_formulas_too_wide_for_a_table_are_counted():
    found = ml.infer(
        people(30, "S(person)\n-3 EXIST>10 x S(x)"), method="gibbs", samples=4_000, burn_in=500, seed=1
    )
    weights = [math.comb(30, k) * math.exp(-3 if k > 10 else 0) for k in range(31)]
    expected = sum(k / 30 * weight for k, weight in enumerate(weights)) / sum(weights)
    assert expected < 0.45
    assert np.mean(list(found.values())) == pytest.approx(expected, abs=0.02)


def test_atoms_that_strong_formulas_hold_still_are_warned_of():
    # Worlds where all are true weigh as much as worlds where none is, but no chain leaves either.
    strong = ml.MLN.from_text("side = {A, B, C, D}\nLeft(side)\n12 Left(x) <=> Left(y)")
    for seed in range(4):
        with pytest.warns(SamplingWarning):
            found = ml.infer(strong, {}, query=["Left"], method="gibbs", seed=seed, samples=2_000)
        assert found.warnings
    weak = ml.MLN.from_text("side = {A, B, C, D}\nLeft(side)\n0.4 Left(x) <=> Left(y)\n-14 Left(A)")
    assert not ml.infer(weak, {}, query=["Left"], method="gibbs", samples=2_000).warnings


def test_chains_begin_in_the_false_world_where_that_is_asked_for():
    text = "person = {A, B}\nroom = {R, S}\nGlad(person)\nIn(person, room!)\nSad(person)\nShy(person)\n"
    mln = ml.MLN.from_text(text + "40 Glad(A) <=> Glad(B)\n3 Glad(x)\nSad(x) v Shy(x).\n")
    begun = {}
    for begin in gibbs.BEGINNINGS:
        params = gibbs.Params(samples=50, burn_in=0, chains=8, begin=begin)
        question = pose(mln, None, ["Glad", "In", "Sad", "Shy"])
        begun[begin] = gibbs.first_state(params, gibbs.ground(question))
    worlds = {begin: {tuple(row) for row in state.chosen.tolist()} for begin, state in begun.items()}
    assert len(worlds["random"]) > 4
    asked = {"method": "gibbs", "samples": 50, "burn_in": 0, "seed": 3}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SamplingWarning)
        found = ml.infer(mln, begin="false", **asked)
        # The world in which they are glad is e^6 times as likely, but no single change leads there.
        assert found["Glad(A)"] == found["Glad(B)"] == 0
        assert ml.infer(mln, **asked)["Glad(A)"] > 0.1
        walked = ml.infer(mln, begin="maxwalksat", **asked)
        assert walked["Glad(A)"] == walked["Glad(B)"] == 1
    assert found["In(A,R)"] + found["In(A,S)"] == pytest.approx(1)
    with pytest.raises(ml.ArgumentError, match="begin must be one of random, false, maxwalksat, not 'true'"):
        ml.infer(mln, method="gibbs", begin="true")


@pytest.mark.parametrize("seed", sample(range(6), 3))
def test_chains_that_walk_first_begin_in_a_most_probable_world(seed):
    rng = np.random.default_rng(seed)
    words = "Glad(person)\nIn(person, room!)\nLikes(person, person)\n"
    weights = rng.normal(0, 2, 4).round(2)
    rules = ("Glad(x) => In(x, R)", "Likes(x, y) ^ Glad(x) => Glad(y)", "In(x, r) ^ In(y, r) => Likes(x, y)",
             "Likes(x, y) <=> Likes(y, x)")  # fmt: skip
    lines = [f"{weight} {rule}" for weight, rule in zip(weights, rules, strict=True)]
    mln = ml.MLN.from_text(
        f"person = {{A, B}}\nroom = {{R, S}}\n{words}Glad(A) v Glad(B).\n" + "\n".join(lines)
    )
    question = pose(mln, None, ["Glad", "In", "Likes", "Glad(A) ^ Likes(A, B)"])
    ground = gibbs.ground(question)
    state = gibbs.first_state(gibbs.Params(chains=3, begin="maxwalksat", seed=seed), ground)
    best = ml.map_state(mln, None, query=["Glad", "In", "Likes"], method="enumeration").log_weight
    assert state.log_weights == pytest.approx([best] * 3, abs=1e-9)
    again = gibbs.first_state(gibbs.Params(chains=3, begin="maxwalksat", seed=seed), ground)
    assert (again.chosen == state.chosen).all()


def test_chains_that_walk_first_sample_the_same_distribution():
    mln = ml.MLN.from_text(
        "side = {A, B, C}\nLeft(side)\nFar(side, side)\n0.7 Left(x) ^ Far(x, y) => Left(y)"
    )
    asked = {"query": ["Left", "Far"]}
    exact = ml.infer(mln, {}, method="enumeration", **asked)
    found = ml.infer(mln, {}, method="gibbs", begin="maxwalksat", samples=20_000, **asked)
    for atom in ("Left(A)", "Far(A, B)", "Far(C, C)"):
        assert abs(found[atom] - exact[atom]) < 5 * found.error(atom) + 1e-3
