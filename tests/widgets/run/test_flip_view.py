"""Atoms flipped by hand in the stepper of an estimated count: the steps are those of the flips asked for."""

from __future__ import annotations

import pytest

import mlnlab as ml
from mlnlab.display.counting.atom_buttons import MOST_BUTTONS
from mlnlab.errors import ArgumentError
from mlnlab.steps.run_identity import OfRun
from tests.support.patience import wait_until

FIGURE_1 = ml.MLN.from_text("t = {A, B}\nR(t, t)\nS(t, t)\nT(t, t)\n1 !R(x, y) v S(y, z) v T(x, z)")
WORLD = ml.Database.from_text("R(A, B)\nR(B, A)\nS(A, B)\nT(A, B)", FIGURE_1)
ATOMS = [f"{name}({x}, {y})" for name in "RST" for x in "AB" for y in "AB"]


@pytest.fixture
def view():
    found = ml.stepper(ml.counting_steps(FIGURE_1, WORLD, method="ijgp", i=2, sweeps=60), delay=0)
    yield found
    found.close()


def press(view, atom):
    """Click an atom, as a page tells of it."""
    view.answer("press", {"id": f"flip-{ATOMS.index(atom)}"}, [])


def buttons(view):
    """What stands on the buttons."""
    layer = next(layer for layer in view.static_scene().layers if layer.id == "atoms")
    return [item.children[1].text for item in layer.children if item.id.startswith("flip-")]


def states(flips):
    run = ml.counting_steps(FIGURE_1, WORLD, method="ijgp", i=2, sweeps=60, flips=flips)
    return list(run)


def test_a_click_flips_an_atom_and_lights_the_messages_that_were_computed_again(view):
    view.step(3)
    assert view.parts == ("clusters", "queue", "estimate")
    press(view, "T(A, A)")
    press(view, "S(B, B)")
    expected = states(["T(A, A)", "S(B, B)"])
    assert [step.index for step in view.trace] == [0, 1, 2]
    for step, state in zip(view.trace, expected, strict=True):
        assert isinstance(state, OfRun)
        assert (step.state.atom, step.state.estimate) == (state.atom, state.estimate)
        assert step.state.recomputed.tolist() == state.recomputed.tolist()
    lit = [one.id for one in view.static_scene().items() if one.id.startswith("message-") and one.tooltip]
    assert lit == [f"message-{number}" for number in expected[2].recomputed.nonzero()[0]]
    assert lit


def test_the_buttons_say_what_is_true_at_the_step_that_is_looked_at(view):
    true = {"R(A, B)", "R(B, A)", "S(A, B)", "T(A, B)"}
    assert buttons(view) == [f"{'●' if atom in true else '○'} {atom}" for atom in ATOMS]
    press(view, "R(A, B)")
    press(view, "T(B, B)")
    after = true - {"R(A, B)"}
    view.back()
    assert buttons(view) == [f"{'●' if atom in after else '○'} {atom}" for atom in ATOMS]


def test_a_flip_from_an_earlier_step_leaves_out_the_flips_behind_it(view):
    for atom in ("R(A, A)", "R(B, B)", "R(A, A)"):
        view.flip(atom)
    assert [step.state.true for step in view.trace][1:] == [True, True, False]
    view.seek(1)
    press(view, "S(A, A)")
    assert [step.state.atom for step in view.trace] == ["", "R(A, A)", "S(A, A)"]


def test_what_makes_no_sense_is_left_alone_and_a_wrong_atom_is_refused(view):
    for name in ("flip-99", "flip-x", "flip-", "cluster-0", "flip-1-2", ""):
        view.answer("press", {"id": name}, [])
    assert view.parts[1] == "queue"
    with pytest.raises(ArgumentError, match="Q"):
        view.flip("Q(A)")
    assert view.parts[1] == "queue"
    view.answer("play", {}, [])
    wait_until(lambda: view.live.ended)
    assert view.shown.state.settled


def test_too_many_atoms_have_no_buttons_and_flip_by_name():
    names = ", ".join(f"C{number}" for number in range(MOST_BUTTONS + 1))
    mln = ml.MLN.from_text(f"t = {{{names}}}\nP(t)\nQ(t)\n1 P(x) => Q(x)")
    with_view = ml.stepper(ml.counting_steps(mln, ml.Database.from_text("", mln), method="ijgp"), delay=0)
    try:
        assert buttons(with_view) == []
        press(with_view, "R(A, A)")
        with_view.flip("P(C3)")
        assert with_view.shown.state.estimate == MOST_BUTTONS
    finally:
        with_view.close()
