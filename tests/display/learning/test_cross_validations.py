"""Cross-validations as tables in cells, and as figures: the numbers are those of the results."""

from __future__ import annotations

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.display.doors.bundles import bundle


@pytest.fixture(scope="module")
def found():
    mln = ml.MLN.from_text("Has(page, word)\nTopic(page)\nHas(p, Exam) => Topic(p)")
    texts = [
        "Has(A, Exam)\nTopic(A)\npage = {A, B}",
        "Has(C, Exam)\nTopic(D)",
        "Has(E, Exam)\nTopic(E)\nHas(F, Bee)",
    ]
    dbs = {f"<b>{n}": ml.Database.from_text(text, mln) for n, text in enumerate(texts)}
    learners = {
        "half": lambda model, *_: model.with_weights([0.5]),
        "<i>none": lambda model, *_: model.with_weights([0.0]),
        "broken": lambda *_: None,
    }
    return ml.cross_validate(mln, dbs, learners, "Topic")


def test_a_cell_shows_what_was_reached_and_what_was_not(found):
    shown = bundle(found)
    html, text = shown["text/html"], shown["text/plain"]
    row = found.summary().set_index("learner").loc["half"]
    number = f"{row['cll']:.4f}".replace("-", "−")
    assert number in html
    assert number in text
    assert "&lt;i&gt;none" in html
    assert "<i>none" not in html
    assert "broken on" in html
    assert "6 of 9 finished" in html


def test_a_figure_has_every_fold_and_the_means(found):
    figure = ml.plot(found)
    assert len(figure.data) == 2 * (3 + 1)
    by_axis = [trace for trace in figure.data if trace.xaxis == "x2"]
    for trace, fold in zip(by_axis, found.folds, strict=False):
        expected = [r.auc for name in found.learners[:2] for r in found.by(name) if r.fold == fold]
        assert trace.y[:2].tolist() == pytest.approx(expected)
        assert np.isnan(trace.y[2])
    assert figure.data[3].y[0] == pytest.approx(found.summary()["cll"][0])
    assert all("<i>" not in str(trace.name) for trace in figure.data)
    nothing = type(found)(found.by("broken"), ("broken",), found.folds)
    with pytest.raises(ml.ArgumentError, match="no learner finished"):
        ml.plot(nothing)
