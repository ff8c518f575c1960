"""Where pseudo-likelihood misleads, and what weights mean at other sizes."""

from __future__ import annotations

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.errors import ArgumentError
from mlnlab.experiments.studies.long_chains import chain_growth
from mlnlab.learning.diagnosis.runaways import LearningWarning
from mlnlab.learning.studies.heaviest import GapMakers, class_counts

FRIENDS = """Smokes(person)
Friends(person, person)
Smokes(x)
Friends(x, y)
Smokes(x) ^ Friends(x, y) => Smokes(y)
"""


def test_long_chains_mislead_the_pseudo_likelihood_and_short_ones_do_not():
    growth = chain_growth([2, 8]).to_frame().set_index("length")
    lost = growth["lwl_test"] - growth["pll_test"]
    assert abs(lost[2]) < 0.5
    assert lost[8] > 100
    assert (growth["lwl_training"] > growth["pll_training"] - 0.01).all()


def test_gradients_side_by_side():
    mln, db = ml.long_chain(8)
    found = ml.learn_weights(mln, db, "pll", prior=ml.Gaussian(0, 100))
    both = ml.compare_gradients(found, db)
    assert both.method == "lifted"
    assert np.abs(both.pseudo).max() < 0.01
    assert np.abs(both.likelihood).max() > 30
    assert both.log_likelihood == pytest.approx(ml.log_likelihood(found.mln, db))
    assert both.pseudo_log_likelihood == pytest.approx(ml.pseudo_log_likelihood(found.mln, db))
    frame = both.to_frame()
    assert frame["formula"].iloc[0].startswith("P")
    assert frame["observed"].iloc[0] < frame["expected"].iloc[0]
    lifted = ml.learn_weights(mln, db, "lwl", prior=ml.Gaussian(0, 100))
    assert np.abs(ml.compare_gradients(lifted, db).likelihood).max() < 0.01
    with pytest.raises(ArgumentError, match="each of the 15 formulas"):
        ml.compare_gradients(mln, db, [0.0])
    with pytest.raises(ArgumentError, match="each of the 15 formulas"):
        ml.compare_gradients(mln, db, ["a", "b"])


def test_gradients_of_what_cannot_be_lifted_are_exact_too():
    mln = ml.MLN.from_text("E(a, a)\n0.5 E(x, y) ^ E(y, z) => E(x, z)")
    db = ml.Database.from_text("E(A, B)\nE(B, C)", mln)
    both = ml.compare_gradients(mln, db)
    assert both.method == "exact"
    assert both.log_likelihood == pytest.approx(ml.log_likelihood(mln, db, method="enumeration"))


def test_weights_do_not_transfer_to_other_sizes_and_that_is_said():
    mln = ml.MLN.from_text(FRIENDS)
    facts = ["person = {1, ..., 20}", *(f"Smokes({n})" for n in range(1, 9))]
    facts += [f"Friends({n}, {n % 20 + 1})" for n in range(1, 21)]
    db = ml.Database.from_text("\n".join(facts), mln)
    found = ml.learn_weights(mln, db, "lwl")
    with pytest.warns(
        LearningWarning, match=r"learned at person = 20 .* at person = 2,000: Smokes\(x\) holds in 40"
    ):
        moved = ml.transfer(found, {"person": 2000})
    assert moved.expected == pytest.approx(moved.observed, abs=1e-2)
    assert abs(moved.elsewhere[0] - 0.4) > 0.05
    assert moved.elsewhere == pytest.approx(
        np.array(ml.lift(found.mln).compile().expected_counts({"person": 2000})) / [2000, 4e6, 4e6]
    )
    people = ml.Database.from_text("person = {1, ..., 60}", mln)
    with pytest.warns(ml.DomainSizeWarning, match="learned where person has 20"):
        ml.compare_gradients(found, people)
    for nothing in (None, {}):
        with pytest.raises(ArgumentError, match="Give the size of person"):
            ml.transfer(found, nothing)
    same = ml.transfer(found, db)  # no warning
    assert not same.is_another_size
    assert same.remark == ""
    assert same.to_frame()["formula"][0] == "Smokes(x)"


def test_a_sparse_relation_that_thins_out_drifts():
    mln = ml.MLN.from_text("F(p, p)\nF(x, y)\nF(x, y) ^ F(x, z)")
    ring = [f"F({n}, {n % 100 + 1})" for n in range(1, 101)]
    found = ml.learn_weights(mln, ml.Database.from_text("\n".join(ring), mln), "lwl")
    with pytest.warns(LearningWarning, match=r"in 0\.01% by the model .*, and in 0\.0000\d+% here"):
        moved = ml.transfer(found, {"p": 5000})
    assert "nothing drifts" not in repr(moved)


def test_odd_chains_are_refused():
    for given in ({"length": 1}, {"length": 50}, {"people": 0}, {"stays": 2.0}, {"stays": "x"}):
        with pytest.raises(ArgumentError):
            ml.long_chain(**given)


@pytest.mark.parametrize("rules", ["", "Friends(x, Anna) => Smokes(x)\n!Friends(Anna, x)\n!Smokes(x)\n"])
def test_counts_by_class_add_up_to_the_moments(rules):
    mln = ml.MLN.from_text(FRIENDS + rules)
    databases = [
        ml.Database.from_text(
            "Smokes(Anna)\nFriends(Anna, Bob)\nFriends(Bob, Bob)\nFriends(Carl, Anna)", mln
        ),
        ml.Database.from_text("Smokes(Dora)\nFriends(Dora, Anna)\nFriends(Anna, Anna)", mln),
    ]
    learner = ml.weight_learner("lwl", mln, databases)
    state = list(learner)[2]
    makers = GapMakers(learner.data, learner.problem)
    for formula in range(len(learner.data.formulas)):
        rows = class_counts(learner.data, learner.problem.objective, state.weights, formula)
        assert sum(row.observed for row in rows) == state.observed[formula]
        assert sum(row.expected for row in rows) == pytest.approx(state.expected[formula])
        found = makers.of(state, formula)
        assert found.kind == "classes"
        assert sum(row.share for row in found.rows) == pytest.approx(
            state.observed[formula] - state.expected[formula]
        )
        assert all(0 < row.probability <= 1 + 1e-9 and 0 <= row.share_true <= 1 for row in found.rows)
