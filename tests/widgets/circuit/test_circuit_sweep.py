"""A sweep looked at: its curves are the circuit's answers at each size, and sliders move all of them."""

from __future__ import annotations

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.display.lifted.sweep_pictures import sweep_card, sweep_plots, sweep_scene
from mlnlab.display.scene.items import Text
from mlnlab.errors import ArgumentError, TooLargeError

TEXT = "S(p)\nF(p, p)\nT(q)\n-0.01 S(x)\n0.02 F(x, y) ^ S(x) => S(y)\n0.5 T(x)"
SIZES = [3, 10, 50, 200]


@pytest.fixture(scope="module")
def circuit():
    return ml.lift(ml.MLN.from_text(TEXT)).compile()


def curves(found):
    """The lines of all plots by the plots' titles."""
    return {plot.title: {line.name: line.values for line in plot.lines} for plot in sweep_plots(found)}


def assert_is_the_circuits(found, circuit, weights):
    drawn = curves(found)
    for place, size in enumerate(SIZES):
        sizes = {"p": size, "q": 4}
        assert drawn["log Z"]["log Z"][place] == pytest.approx(circuit.log_z(sizes, weights).value)
        shares = drawn["expected share of true groundings"]
        expected = np.array(circuit.expected_counts(sizes, weights)) / [size, size**2, 4]
        assert [values[place] for values in shares.values()] == pytest.approx(expected)
        for name, values in drawn["probability of an atom"].items():
            assert values[place] == pytest.approx(circuit.marginal(name, sizes, weights))


def test_curves_are_the_circuits_answers_wherever_sliders_stand(circuit):
    view = ml.sweep_view(circuit, {"p": SIZES, "q": 4})
    sent = []
    view.send = lambda message, buffers=None: sent.append(message)
    assert_is_the_circuits(view.sweep, circuit, view.weights)
    view.answer("set", {"turn": 7, "view": "a", "weights": [[1, -0.03]], "sizes": []}, [])
    assert sent[-1]["turn"] == 7
    assert "texts" in sent[-1]  # the curves move, and nothing else
    assert view.weights == (-0.01, -0.03, 0.5)
    assert_is_the_circuits(view.sweep, circuit, view.weights)
    assert [row["type"] for row in view.controls["sizes"]] == ["q"]
    view.close()


def test_what_cannot_be_swept_is_refused(circuit):
    with pytest.raises(ArgumentError, match="a list of sizes of one type"):
        ml.sweep_view(circuit, {"p": 3, "q": 4})
    with pytest.raises(ArgumentError, match="At most 200 sizes"):
        ml.sweep_view(circuit, {"p": list(range(1, 500)), "q": 4})
    with pytest.raises(TooLargeError, match="too many to follow a slider"):
        ml.sweep_view(circuit, {"p": [10, 9_000_000], "q": 4})


def test_a_sweep_shows_curves_and_table(circuit):
    found = circuit.sweep({"p": SIZES, "q": 4})
    text = str(sweep_card(found).markup())
    assert "P(S(x))" in text
    assert len(sweep_scene(found).layers[0].children) > 20
    alone = circuit.sweep({"p": 3, "q": 4})
    assert sweep_scene(alone).height > 100


def test_a_formula_of_three_atoms_is_named_in_full_at_the_end_of_its_curve():
    text = "Smokes(p)\nFriends(p, p)\n0.1 Friends(x, y) ^ Smokes(x) => Smokes(y)\n0.2 Smokes(x)"
    shown = sweep_scene(ml.lift(ml.MLN.from_text(text)).compile().sweep({"p": [5, 50]}))
    said = [item.text for item in shown.items() if isinstance(item, Text)]
    assert "Friends(x, y) ^ Smokes(x) => Smokes(y)" in said
