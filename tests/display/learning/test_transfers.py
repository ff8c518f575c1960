"""Cards of what weights mean at other sizes, and of both gradients: what is drawn are the numbers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.display.doors.bundles import bundle
from mlnlab.display.learning.learning_gradients import comparison_scene
from mlnlab.display.learning.transfers import transfer_scene
from mlnlab.display.scene.items import Circle, Text
from mlnlab.learning.diagnosis.runaways import LearningWarning

TEXT = "S(p)\nF(p, p)\nS(x)\nF(x, y)\nS(x) ^ F(x, y) => S(y)"


@pytest.fixture(scope="module")
def data():
    mln = ml.MLN.from_text(TEXT)
    return mln, ml.Database.from_text("S(A)\nS(B)\nF(A, B)\nF(B, A)\nF(C, D)\np = {E}", mln)


def test_shares_are_drawn_where_they_are_those_that_drift_most_first(data):
    learned = ml.learn_weights(*data, method="lwl", progress=False)
    with pytest.warns(LearningWarning, match="do not mean the same at p = 100"):
        moved = ml.transfer(learned, {"p": 100})
    rows = [item for item in transfer_scene(moved).layers[0].children if item.id.startswith("formula-")]
    assert [int(row.id.removeprefix("formula-")) for row in rows] == moved.by_drift
    (left, right) = 366.0, 656.0
    for number, row in zip(moved.by_drift, rows, strict=True):
        dots = [child for child in row.children if isinstance(child, Circle)]
        shares = [(dot.x - left) / (right - left) for dot in dots]
        assert shares == pytest.approx([moved.expected[number], moved.elsewhere[number]], abs=1e-3)
    assert repr(moved) == "<Transfer from p = 5 to p = 100: some shares drift>"
    assert "S(x)" in bundle(moved)["text/plain"].splitlines()[3]  # falls to nearly 0 among 100
    for share, words in ((0.0, "0.0%"), (1e-6, "0.0001%")):
        remark = replace(moved, observed=np.full(3, share)).remark
        assert f"holds in {words} of its groundings in the data" in remark


def test_both_gradients_stand_in_the_picture_and_what_each_would_do_in_the_table(data):
    found = ml.compare_gradients(*data, [0.0, 0.0, 0.0])
    told = {item.text for item in comparison_scene(found).items() if isinstance(item, Text)}
    for pulls in (found.likelihood, found.pseudo):
        assert {f"{pull:+.3g}" for pull in pulls} <= told
    assert "Both would lower the weight." in bundle(found)["text/html"]
