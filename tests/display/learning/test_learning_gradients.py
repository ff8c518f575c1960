"""Likelihood and pseudo-likelihood beside each other over a run: numbers, words, and refusals."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.display.learning.learning_gradients import MOST_ROWS, GradientView, verdict
from mlnlab.display.learning.learning_pictures import learner_picture
from mlnlab.display.scene.items import Group, Text


def texts_of(scene):
    return [item.text for item in scene.items() if isinstance(item, Text)]


@pytest.fixture(scope="module")
def run():
    mln, db = ml.long_chain(8)
    learner = ml.weight_learner("pll", mln, db, prior=ml.Gaussian(0, 100))
    return mln, db, learner, ml.Trace.of(learner)


def test_a_long_chain_shows_the_pseudo_likelihood_content_where_the_likelihood_is_not(run):
    mln, db, learner, trace = run
    scene = learner_picture(learner).parts["gradients"](trace[-1], trace)
    found = ml.compare_gradients(mln, db, trace[-1].state.weights)
    worst = int(np.abs(found.likelihood).argmax())
    texts = texts_of(scene)
    assert texts[0].startswith(f"formula {worst}: ")
    assert texts[1] == "The pseudo-likelihood is content, the likelihood would lower the weight."
    rows = [item for item in scene.items() if isinstance(item, Group) and item.id.startswith("formula-")]
    assert len(rows) == MOST_ROWS
    assert rows[0].id == f"formula-{np.abs(found.likelihood - found.pseudo).argmax()}"
    number = int(rows[0].id.rpartition("-")[2])
    pulls = [child.text for child in rows[0].children if isinstance(child, Text)][1:]
    assert pulls == [f"{float(one[number]):+.3g}" for one in (found.likelihood, found.pseudo)]


def test_the_curves_show_a_likelihood_that_falls_while_the_pseudo_likelihood_rises(run):
    *_, learner, trace = run
    rows = GradientView(learner.data).history.until(trace[-1], trace)
    exact = [row.found.log_likelihood for row in rows]
    pseudo = [row.found.pseudo_log_likelihood for row in rows]
    assert [row.step for row in rows] == list(trace.indices)
    assert (np.diff(pseudo) > -1e-6).all()
    assert max(exact) - exact[-1] > 100
    assert exact.index(max(exact)) not in {0, len(exact) - 1}


def test_words_for_each_case(run):
    mln, db, *_ = run
    found = ml.compare_gradients(mln, db, [0.0] * len(mln.formulas))
    some = np.ones(len(mln.formulas))
    for pulls, said in (
        ((0, 0), "This weight suits both."),
        ((0, 9), "The likelihood is content, the pseudo-likelihood would raise the weight."),
        ((-9, -9), "Both would lower the weight."),
        ((9, -9), "The likelihood would raise the weight, the pseudo-likelihood lower it."),
    ):
        assert verdict(replace(found, likelihood=pulls[0] * some, pseudo=pulls[1] * some), 0) == said


def test_a_likelihood_that_cannot_be_known_is_said_in_words():
    mln = ml.MLN.from_text("E(a, a)\nE(x, y) ^ E(y, z) => E(x, z)")
    db = ml.Database.from_text("a = {1, ..., 12}\nE(1, 2)", mln)
    learner = ml.weight_learner("pll", mln, db, iterations=2)
    trace = ml.Trace.of(learner)
    texts = texts_of(learner_picture(learner).parts["gradients"](trace[-1], trace))
    assert texts[0] == "The likelihood is not known here."
    assert "2^144 worlds" in texts[1]
