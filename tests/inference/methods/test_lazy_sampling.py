"""Lazy MC-SAT: the distribution of the full model, where that can be known, without holding the model."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import tracemalloc
import warnings
from dataclasses import replace
from itertools import islice
from math import exp

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.display.doors.run_pictures import picture_of
from mlnlab.grounding.lazy.lazy_priors import lazy_model
from mlnlab.grounding.question.question import opening, pose
from mlnlab.inference.lazy.lazy_chains import draw_loose
from mlnlab.inference.lazy.seen_times import SeenTimes
from mlnlab.inference.method_registry import find_method, listing
from mlnlab.inference.methods.lazy_mc_sat import Params, chains_of, steps_on
from mlnlab.logic.formulas.ground_atoms import GroundAtom
from mlnlab.steps.files.checkpoint import load_checkpoint, save_checkpoint
from mlnlab.steps.recordings.trace import Trace
from mlnlab.steps.step import run
from mlnlab.steps.values.sameness import same_state
from tests.support.patience import PATIENCE

RULES = """
Same(r, r)
Alike(r, r)
-1.5 Same(x, y)
2.5 Alike(x, y) => Same(x, y)
1 Same(x, y) => Same(y, x)
1.5 Same(x, y) ^ Same(y, z) => Same(x, z)
"""
MODELS = {
    "implications": (RULES + "r = {1, 2, 3}", "Alike(1, 2)\nAlike(2, 3)\n!Same(3, 1)", ["Same"]),
    "nothing active at first": ("S(r)\nF(r, r)\n-1 S(x)\n-1.2 F(x, y)\n1.4 F(x, y) => S(x)\nr = {1, 2, 3}",
                                "S(3)", ["S", "F"]),
    "hard, and a predicate that is listed": (
        "S(r)\nF(r, r)\nr = {1, 2, 3}\n-0.7 F(x, y)\nF(x, y) => F(y, x).\n0.8 S(x) ^ F(x, y) => S(y)",
        "F(1, 2)\nF(2, 1)\n!F(3, 3)", ["S", "F"]),
    "a world that has to be found": ("F(r, r)\n-1 F(x, y)\nF(1, 2).\nF(x, y) => F(y, x).\nr = {1, 2, 3}",
                                     "!F(3, 3)", ["F"]),
    "conjunctions": ("F(r, r)\n-0.6 F(x, y)\n-0.9 F(x, y) ^ F(y, x)\n0.7 F(x, x)\n1 F(1, 2)\nr = {1, 2, 3}",
                     "", ["F"]),
}  # fmt: skip


@pytest.mark.parametrize("name", MODELS)
def test_the_distribution_is_that_of_the_full_model(name):
    text, facts, query = MODELS[name]
    mln = ml.MLN.from_text(text)
    db = ml.Database.from_text(facts, mln)
    truth = ml.infer(mln, db, query, method="enumeration")
    found = ml.infer(mln, db, query, method="lazy-mc-sat", samples=4_000, chains=3, seed=2)
    assert found.method == "lazy-mc-sat"
    for atom in truth:
        if atom not in found:  # true in no sample
            assert truth[atom] < 1e-3
            continue
        assert abs(found[atom] - truth[atom]) <= 5 * found.error(atom) + 1e-9, (atom, truth[atom])


def test_loose_atoms_are_drawn_as_their_priors_say():
    mln = ml.MLN.from_text("S(r)\n-1 S(x)\nr = {1, ..., 40}\n2 S(1)")
    model = lazy_model(opening(mln, ml.Database.from_text("S(2)\n!S(3)", mln), ["S"]))
    kept = frozenset(model.ground.active)
    assert {str(atom) for atom in kept} == {"S(1)"}
    loose = draw_loose(model, kept, frozenset(), 2_000, np.random.default_rng(1))
    assert {str(atom) for atom in loose.atoms} == {f"S({n})" for n in range(4, 41)}
    shares = loose.rows.mean(axis=0)
    assert np.abs(shares - exp(-1)).max() < 5 * np.sqrt(exp(-1) * (1 - exp(-1)) / 2_000)
    together = (loose.rows[:, 0] & loose.rows[:, 1]).mean()
    assert together == pytest.approx(exp(-2), abs=0.05)


@pytest.mark.parametrize("name", MODELS)
def test_formulas_are_answered_as_in_the_full_model(name):
    text, facts, query = MODELS[name]
    mln = ml.MLN.from_text(text)
    db = ml.Database.from_text(facts, mln)
    r = "Same" if "Same" in query else "F"
    if r not in mln.vocabulary.predicates or name == "nothing active at first":
        asked = ["S(1) v S(2)", "EXIST x F(x, x)", "S(x) ^ F(x, 1)"]
    else:
        asked = [
            f"{r}(1, 2) ^ {r}(2, 1)",
            f"EXIST x {r}(x, x)",
            f"EXIST>=3 x {r}(x, 1)",
            f"{r}(1, x) <=> {r}(x, 2)",
        ]
    truth = ml.infer(mln, db, asked, open=query, method="enumeration")
    found = ml.infer(mln, db, asked, open=query, method="lazy-mc-sat", samples=2_000, chains=3, seed=3)
    assert list(found) == list(truth)
    for formula in truth:
        assert abs(found[formula] - truth[formula]) <= 5 * found.error(formula) + 1e-9, formula


LARGE = RULES.replace("-1.5", "-24").replace("2.5", "25")


@pytest.mark.filterwarnings("ignore::mlnlab.inference.ask.asking.SamplingWarning")
def test_a_model_that_cannot_be_ground_is_sampled():
    mln = ml.MLN.from_text(LARGE + "r = {1, ..., 30000}")
    facts = "\n".join(f"Alike({n}, {n + 1})" for n in range(1, 20, 2))
    db = ml.Database.from_text(facts, mln)
    with pytest.raises(ml.TooLargeError):
        ml.infer(mln, db, ["Same(1, 2)"], method="mc-sat")
    assert ml.inference_plan(mln, db, ["Same(1, 2)"]).method == "lazy-mc-sat"
    asked = (mln, db, ["Same(1, 2)", "Same(5, 6)", "Same(2, 1)"])
    found = ml.infer(*asked, samples=1_000, chains=2, seed=1)
    seldom = gc.get_threshold()
    gc.set_threshold(2_000, 10, 10)  # as outside of the tests, which look for garbage less often
    tracemalloc.start()  # behind all that may be compiled; it makes the rest several times as slow
    ml.infer(*asked, samples=50, chains=2, seed=1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    gc.set_threshold(*seldom)
    assert found.method == "lazy-mc-sat"
    assert "900,000,000 open atoms" in found.reason
    # Of each pair: weight e^1 of Same(1, 2) alone against 1, less a symmetric clause: e^(25 - 24) e^-1.
    small = ml.MLN.from_text(LARGE + "r = {1, 2}")
    truth = ml.infer(small, ml.Database.from_text("Alike(1, 2)", small), ["Same"], method="enumeration")
    for atom in ("Same(1, 2)", "Same(5, 6)"):
        assert abs(found[atom] - truth["Same(1, 2)"]) < 5 * found.error(atom)
    assert peak < 60_000_000


def test_a_middling_model_agrees_with_the_eager_one():
    mln = ml.MLN.from_text(RULES.replace("-1.5", "-5").replace("2.5", "5.5") + "r = {1, ..., 12}")
    db = ml.Database.from_text("Alike(1, 2)\nAlike(2, 3)\nAlike(7, 8)\nAlike(8, 7)", mln)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        eager = ml.infer(mln, db, ["Same"], method="mc-sat", samples=4_000, chains=2, seed=1)
        lazy = ml.infer(mln, db, ["Same"], method="lazy-mc-sat", samples=4_000, chains=2, seed=1)
    for atom in ("Same(1, 2)", "Same(2, 3)", "Same(7, 8)", "Same(1, 3)", "Same(2, 1)"):
        gap = abs(eager[atom] - lazy[atom])
        assert gap < 5 * np.hypot(eager.error(atom), lazy.error(atom)), atom


def test_what_was_known_is_kept_when_it_is_stopped():
    text, facts, query = MODELS["implications"]
    mln = ml.MLN.from_text(text)

    class Impatient:
        def on_step(self, step):
            if step.index == 4:
                raise KeyboardInterrupt

        def on_end(self, last):
            pass

    with pytest.raises(KeyboardInterrupt) as caught:
        ml.infer(
            mln, ml.Database.from_text(facts, mln), query, method="lazy-mc-sat", samples=1600, chains=2,
            observers=[Impatient()],
        )  # fmt: skip
    known = caught.value.so_far()
    assert known.number_of_worlds == 2 * 200  # a beginning and two states of burn-in come first
    assert known.reason.startswith("stopped early")


def test_what_is_dense_is_refused_with_the_estimate():
    mln = ml.MLN.from_text(RULES + "r = {1, ..., 30000}")
    db = ml.Database.from_text("Alike(1, 2)", mln)
    with pytest.raises(ml.TooLargeError, match="atoms loose") as caught:
        ml.infer(mln, db, ["Same(1, 2)"], method="lazy-mc-sat")
    assert caught.value.estimate == pytest.approx(9e8 * exp(-1.5))
    without = ml.MLN.from_text("Same(r, r)\n1 Same(x, y) => Same(y, x)\nr = {1, ..., 30000}")
    with pytest.raises(ml.TooLargeError, match="no prior"):
        ml.infer(without, ml.Database.from_text("", without), ["Same(1, 2)"], method="lazy-mc-sat")


def test_an_atom_that_no_sample_made_true_is_answered_with_its_error():
    mln = ml.MLN.from_text(LARGE + "r = {1, ..., 3000}")
    db = ml.Database.from_text("Alike(1, 2)\n!Same(7, 8)\nSame(9, 8)", mln)
    found = ml.infer(mln, db, ["Same"], method="lazy-mc-sat", samples=400, burn_in=0, chains=2)
    assert "Same(70, 80)" not in found.probabilities
    assert "Same(70, 80)" in found
    assert found["Same(70, 80)"] == 0
    assert 0 < found.error("Same(70, 80)") < 2 / 800
    assert (found["Same(7, 8)"], found.error("Same(7, 8)")) == (0, 0)  # by evidence
    assert (found["Same(9, 8)"], found.error("Same(9, 8)")) == (1, 0)
    for stranger in ("Alike(1, 3)", "Same(1, 4000)"):
        with pytest.raises(ml.ArgumentError):
            found[stranger]


def large(people=3_000):
    mln = ml.MLN.from_text(LARGE.replace("-24", "-14").replace("25", "15") + f"r = {{1, ..., {people}}}")
    return mln, ml.Database.from_text("Alike(1, 2)\nAlike(3, 4)\n!Same(7, 8)\nSame(9, 8)", mln)


def test_a_model_that_cannot_be_listed_is_stepped_stored_and_resumed_bit_for_bit(tmp_path):
    sampler = ml.sampler("lazy-mc-sat", *large(), ["Same", "EXIST x Same(x, x)"], samples=300, burn_in=20)
    assert repr(sampler).startswith("<Sampler lazy-mc-sat: 8,999,998 open atoms, ")
    whole = list(sampler)
    assert any(chain.true for state in whole for chain in state.chains)
    for place in (0, 3, len(whole) - 2):
        save_checkpoint(tmp_path / "state.npz", whole[place])
        start = load_checkpoint(tmp_path / "state.npz").state
        rest = list(sampler.resume(start))
        assert len(rest) == len(whole) - place - 1
        assert all(same_state(*pair) for pair in zip(rest, whole[place + 1 :], strict=True))
    reader = sampler.reader()
    assert reader.names == ("Same(1, 2)", "Same(3, 4)", "Same(8, 9)", "Same(9, 8)", "EXIST x Same(x, x)")
    assert reader.known.tolist() == [False, False, False, True, False]
    found, numbers = sampler.marginals(whole[-1]), reader.estimates(whole[-1])
    assert numbers.probabilities.tolist() == [found[name] for name in reader.names]
    assert np.isnan(reader.estimates(whole[0]).probabilities).tolist() == [True, True, True, False, True]


SCRIPT = """
import mlnlab as ml
from tests.inference.methods.test_lazy_sampling import RULES
# Many atoms are true at a time that no formula wants to be true by itself, and are loose now and then.
mln = ml.MLN.from_text(RULES.replace("-1.5", "-2.5") + "r = {1, ..., 16}")
facts = "\\n".join(f"Alike({n}, {n + 1})" for n in range(1, 15, 3))
asked = mln, ml.Database.from_text(facts, mln), ["Same"]
found = ml.infer(*asked, method="lazy-mc-sat", samples=100, burn_in=10, chains=2, seed=4)
print(sorted(found.items()))
"""


def test_the_same_seed_gives_the_same_samples_whatever_the_order_of_sets(repository):
    printed = []
    for hash_seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
        ran = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", SCRIPT], env=environment, cwd=repository,
            capture_output=True, text=True, timeout=5 * PATIENCE, check=False,
        )  # fmt: skip
        assert ran.returncode == 0, ran.stderr
        printed.append(ran.stdout)
    assert printed[0].count("Same(") > 3
    assert printed[0] == printed[1]


def test_it_is_a_method_like_others():
    mln, db = large(30)
    assert "lazy-mc-sat" in set(listing()["method"])
    found = ml.infer(mln, db, ["Same"], method="lazy-mc-sat", samples=200, seed=1)
    assert found.trace.metrics().columns["samples"][-1] == 200
    with pytest.raises(ml.ArgumentError, match=r"does not count true groundings.*mc-sat"):
        found.sensitivities("Same(1, 2)")
    with pytest.raises(ml.ArgumentError, match="does not count true groundings"):
        ml.sensitivities(mln, db, "Same", "Same(1, 2)", method="lazy-mc-sat")
    with pytest.raises(ml.TooLargeError, match="enumeration visits each"):
        found.why("Same(1, 2)")
    few, facts = MODELS["implications"][:2]
    small = ml.MLN.from_text(few)
    db = ml.Database.from_text(facts, small)
    found = ml.infer(small, db, ["Same"], method="lazy-mc-sat", samples=2_000)
    assert found.why("Same(1, 2)").probability == pytest.approx(ml.infer(small, db, ["Same"])["Same(1, 2)"])


def test_a_question_that_was_changed_behind_its_back_is_refused():
    mln, db = large(30)
    question = pose(mln, db, ["Same"])
    other = replace(question, choices=question.choices[1:])
    with pytest.raises(ml.ArgumentError, match="as it was asked"):
        list(find_method("lazy-mc-sat").steps(Params(), other, None))


def test_too_many_instances_of_a_formula_are_refused():
    with pytest.raises(ml.TooLargeError, match="9,000,000 groundings; each would be answered"):
        ml.infer(*large(), ["Same(x, y) ^ Same(y, x)"], method="lazy-mc-sat")


@pytest.mark.parametrize("samples", [2_000, 5_000_000])
def test_states_come_as_often_however_many_samples_are_asked_for(samples):
    mln = ml.MLN.from_text(LARGE + "r = {1, ..., 3000}")
    model = lazy_model(opening(mln, ml.Database.from_text("Alike(1, 2)", mln), ["Same"]))
    params = Params(samples=samples, burn_in=0, chains=1)
    states = list(islice(steps_on(params, chains_of(params, model)), 40))
    gained = np.diff([state.samples for state in states])
    assert 0 < gained.min() <= gained.max() <= 1_000
    assert states[-1].samples <= samples


def test_batches_are_merged_without_losing_a_sample():
    atom = GroundAtom("S", ("1",))
    times, rng, total = SeenTimes(3), np.random.default_rng(1), 0
    for _ in range(300):
        samples = min(2, times.room)
        often = int(rng.integers(samples + 1))
        times, total = times.add_samples({atom: np.array([often])} if often else {}, samples), total + often
    sums = times.of([atom], 1)
    assert times.size > 3
    assert sums.samples == times.samples
    assert sums.means().tolist() == [total / times.samples, 0.0]


def test_what_it_cannot_do_is_said_in_sentences():
    mln = ml.MLN.from_text(MODELS["implications"][0])
    db = ml.Database.from_text("", mln)
    for options, said in (({"sampels": 9}, "no option sampels.*samples"), ({"thin": 2}, "no option thin"),
                          ({"samples": True}, "whole number"), ({"jumps": True}, "from 0 to 1")):  # fmt: skip
        with pytest.raises(ml.ArgumentError, match=said):
            ml.infer(mln, db, ["Same"], method="lazy-mc-sat", **options)
    with pytest.raises(ml.ArgumentError, match="lazy-mc-sat"):
        ml.infer(mln, db, ["Same"], method="lazy-mcsat")


def test_the_plan_and_the_answer_refuse_alike():
    mln = ml.MLN.from_text(LARGE + "r = {1, ..., 2000}")
    db = ml.Database.from_text("Alike(1, 2)", mln)
    said = []
    for ask in (ml.inference_plan, ml.infer):
        with pytest.raises(ml.TooLargeError) as caught:
            ask(mln, db, ["Same(x, y) ^ Same(y, x)"])
        said.append(str(caught.value))
    assert said[0] == said[1]
    assert "4,000,000" in said[0]


def test_its_run_is_drawn_and_told_step_by_step():
    sampler = ml.sampler("lazy-mc-sat", *large(), ["Same"], samples=200, burn_in=20)
    trace = Trace(budget=1 << 22)
    run(sampler, observers=[trace])
    picture = picture_of(sampler)
    assert picture.caption(trace[0]).startswith("slice 0 of 220, burn-in; ")
    assert ", 200 samples from each of 4 chains; " in picture.caption(trace[-1])
    names = [row[0] for row in picture.table(trace[-1]).rows]
    assert names == ["Same(1, 2)", "Same(3, 4)", "Same(8, 9)", "Same(9, 8)"]
    for part in picture.parts.values():
        for step in (trace[0], trace[-1]):
            assert part(step, trace).items()
