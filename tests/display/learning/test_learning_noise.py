"""The noise that a learner's picture draws: of gaps that can move, and of each formula's own counts."""

from __future__ import annotations

import re

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.display.learning.learning_pictures import groundings_part
from mlnlab.display.learning.learning_view import learning_view
from mlnlab.display.scene.items import Text
from mlnlab.display.scene.text_fitting import text_width

MODEL = """Smokes(person)
Cancer(person)
Friends(person, person)
Smokes(x) => Cancer(x)
Cancer(x)
Smokes(x)
Friends(x, y) => (Smokes(x) <=> Smokes(y))
"""
FACTS = "Smokes(A)\nSmokes(B)\nCancer(A)\nCancer(D)\nFriends(A, B)\nFriends(B, C)\nFriends(C, D)"


@pytest.fixture
def view():
    mln = ml.MLN.from_text(MODEL)
    db = ml.Database.from_text(FACTS, mln)
    learner = ml.weight_learner("cd", mln, db, ["Smokes", "Cancer"], samples=50, iterations=9, tied=[(1, 2)])
    made = ml.dashboard(learner)
    made.step(3)
    yield made
    made.close()


def test_what_is_frozen_has_no_noise(view):
    assert view._looking.view.rows(view.shown.state)[1].error > 0
    view.freeze(1)
    rows = view._looking.view.rows(view.shown.state)
    assert [row.error > 0 for row in rows] == [True, False, False, True]
    assert [row.mark for row in rows] == ["", "frozen", "frozen", ""]
    assert [row[-2] > 0 for row in view._picture.table(view.shown).rows] == [True, False, False, True]
    view.free(2)
    assert all(row.error > 0 for row in view._looking.view.rows(view.shown.state))


def test_a_tied_gap_has_the_noise_of_all_and_a_count_its_own(view):
    state = view.shown.state
    rows = view._looking.view.rows(state)
    assert rows[1].error == rows[2].error == pytest.approx(np.hypot(*state.errors[1:3]))
    for row, error in zip(rows, state.errors, strict=True):
        assert float(re.search(r"± ([\d.e-]+)", row.tip)[1]) == pytest.approx(error, rel=1e-3)


def test_headlines_of_what_makes_a_gap_stay_inside(view):
    learning = learning_view(view._steered.learner.data, view._steered.learner.problem)
    for formula in range(4):
        scene = groundings_part(learning, formula)(view.shown, view.trace)
        texts = [item for layer in scene.layers for item in layer.children if isinstance(item, Text)]
        strong = [item for item in texts if item.look == "words strong"]
        assert any(item.text.startswith("The heaviest of") for item in strong)
        assert all(item.x + text_width(item.text, "strong") <= scene.width for item in strong)
