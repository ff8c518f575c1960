"""What a run that was stopped tells: what it knew, or in a sentence that it knew nothing yet."""

from __future__ import annotations

from math import isnan

import pytest

import mlnlab as ml
from mlnlab.display.inference.probabilities import marginals_card, marginals_scene
from mlnlab.inference.method import MARGINALS, MOST_PROBABLE
from mlnlab.inference.method_registry import methods

TEXT = "e = {A, B, C}\nP(e)\nQ(e)\n1 P(x)\n0.5 P(x) => Q(x)"
STEPPING = [method for method in methods(MARGINALS) if method.steps is not None]
SAMPLING = [method for method in STEPPING if not method.is_approximation]


class Finger:
    """Presses Ctrl-C when it is told of a step."""

    def __init__(self, step):
        self._step = step

    def on_step(self, step):
        if step.index == self._step:
            raise KeyboardInterrupt

    def on_end(self, last):
        pass


def stopped(method, step, **options):
    mln = ml.MLN.from_text(TEXT)
    db = ml.Database.from_text("P(A)\n!Q(B)", mln)
    with pytest.raises(KeyboardInterrupt) as caught:
        ml.infer(mln, db, ["P", "Q", "P(B) ^ Q(C)"], method=method, observers=[Finger(step)], **options)
    return caught.value


@pytest.mark.parametrize("method", SAMPLING, ids=lambda method: method.name)
def test_before_the_first_sample_the_answer_says_that_nothing_is_known(method):
    error = stopped(method.name, 0, burn_in=1_000)
    assert "no sample was drawn by then" in str(error)
    assert not error.knows_something
    known = error.so_far()
    assert (known["P(A)"], known["Q(B)"]) == (1, 0)
    assert (known.error("P(A)"), known.error("Q(B)")) == (0, 0)
    for query in ("P(B)", "Q(C)", "P(B) ^ Q(C)"):
        assert isnan(known[query])
        assert isnan(known.error(query))
    assert known.number_of_worlds == 0
    assert "only what evidence decides is known" in known.reason
    assert "let it run longer" in known.warnings[0]
    assert len(known.trace) == 1


def test_what_is_not_known_is_shown_as_unknown_and_last():
    known = stopped("gibbs", 0, burn_in=1_000).so_far()
    assert "unknown  P(B)" in repr(known)
    text = marginals_card(known).text()
    (line,) = [line for line in text.splitlines() if "P(B)  " in line]
    assert line.split()[-1] == "unknown"
    scene = marginals_scene(known)
    assert any(getattr(item, "text", "") == "unknown" for item in scene.items())
    assert "nan" not in str(known.to_frame().to_dict("list")["query"])


@pytest.mark.parametrize("method", STEPPING, ids=lambda method: method.name)
def test_after_some_samples_the_answer_is_what_was_known(method):
    options = {"burn_in": 10, "samples": 5_000, "sweeps": 50}
    error = stopped(method.name, 3, **{name: v for name, v in options.items() if method.knows(name)})
    assert "so_far() returns its results" in str(error)
    known = error.so_far()
    assert 0 < known["P(B)"] < 1
    assert known.reason.startswith("stopped early; ")


@pytest.mark.parametrize("method", STEPPING, ids=lambda method: method.name)
def test_an_interrupt_while_the_model_is_made_ready_is_told_as_such(method, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("mlnlab.inference.ask.asking.Trace.on_step", interrupted)
    mln = ml.MLN.from_text(TEXT)
    with pytest.raises(KeyboardInterrupt, match="before its first step") as caught:
        ml.infer(mln, method=method.name)
    known = caught.value.so_far()
    assert all(map(isnan, known.values()))
    assert len(known) == 6


@pytest.mark.parametrize("method", [m for m in methods(MOST_PROBABLE) if m.steps], ids=lambda m: m.name)
def test_a_search_that_was_stopped_has_its_best_world(method):
    mln = ml.MLN.from_text(TEXT)
    with pytest.raises(KeyboardInterrupt, match="best world") as caught:
        ml.map_state(mln, method=method.name, observers=[Finger(0)])
    found = caught.value.so_far()
    assert "stopped early" in found.reason
    assert found.log_weight <= ml.map_state(mln, method="enumeration").log_weight + 1e-9
