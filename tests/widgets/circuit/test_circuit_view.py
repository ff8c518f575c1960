"""A compiled model explored: what sliders and clicks change is what the engine says; the rest is refused."""

from __future__ import annotations

import json
import re

import pytest

import mlnlab as ml
from mlnlab.display.card.markup import render
from mlnlab.display.lifted.circuits.circuit_boxes import value_line
from mlnlab.display.lifted.circuits.circuit_explorer import below, choose_folded_definitions, drawn_depths
from mlnlab.display.scene.items import Group, Text
from mlnlab.errors import ArgumentError, TooLargeError

TEXT = "Smokes(person)\nFriends(person, person)\n0.3 Smokes(x)\n0.01 Friends(x, y) ^ Smokes(x) => Smokes(y)"
EXAMPLE_1 = "Smokes(people)\nFriends(people, people)\nFriends(x, y) ^ Smokes(x) => Smokes(y)."
NESTED = "F(p, p)\nS(p)\nT(p)\nU(p)\n0.1 F(x, y) ^ S(x) => T(y)\n0.2 F(x, y) ^ T(x) => U(y)\n0.3 S(x) ^ U(y)"


@pytest.fixture(scope="module")
def circuit():
    return ml.lift(ml.MLN.from_text(TEXT)).compile()


@pytest.fixture
def view(circuit):
    made = ml.circuit_view(circuit, {"person": 50})
    sent = made.sent = []
    made.send = lambda message, buffers=None: sent.append((message, buffers))
    yield made
    made.close()


def texts(view):
    return [item.text for item in view.static_scene().items() if isinstance(item, Text)]


def slide(view, *, weights=(), sizes=(), turn=1):
    """Say what a page says whose slider was moved."""
    view.answer("set", {"turn": turn, "view": "page-1", "weights": [*weights], "sizes": [*sizes]}, [])
    return view.sent[-1][0]


def test_numbers_are_those_of_the_engine_wherever_sliders_stand(view, circuit):
    moves = [({0: -1.0}, {}), ({1: 0.02}, {"person": 200}), ({}, {"person": 30_000})]
    for turn, (weights, sizes) in enumerate(moves):
        frame = slide(view, weights=map(list, weights.items()), sizes=map(list, sizes.items()), turn=turn)
        now = {"person": dict(view.sizes)["person"]}
        assert frame["turn"] == turn
        assert frame["values"]["logZ"] == f"{circuit.log_z(now, view.weights).value:.12g}"
        expected = circuit.expected_counts(now, view.weights)
        assert view.numbers.expected_counts == pytest.approx(expected, rel=1e-9)
        for one in view.numbers.marginals:
            assert one.probability == pytest.approx(circuit.marginal(one.atom, now, view.weights), rel=1e-9)
        lines = {value_line(one) for one in view.numbers.nodes.values()}
        assert lines <= set(texts(view))
        assert "texts" in frame  # a patch: nothing in the drawing has moved
    view.answer("settle", {}, [])
    assert view.controls["weights"][0]["value"] == -1.0
    json.dumps([view.scene, view.controls, view.values, view.details])


def test_what_takes_too_long_is_refused_and_the_slider_stays_usable():
    circuit = ml.lift(ml.MLN.from_text(NESTED)).compile()
    assert circuit.circuit.nesting() > 1
    view = ml.circuit_view(circuit, {"p": 20})
    sent = []
    view.send = lambda message, buffers=None: sent.append(message)
    before = view.numbers
    view.answer("set", {"turn": 1, "view": "a", "weights": [], "sizes": [["p", 100_000]]}, [])
    assert "too many to follow a slider" in sent[-1]["said"]
    assert "still those for p = 20." in sent[-1]["said"]
    assert view.numbers is before
    largest = int(re.search(r"as with p = ([\d,]+)\.", sent[-1]["said"])[1].replace(",", ""))
    for size, refused in ((largest + 1, True), (largest, False)):
        view.answer("set", {"turn": 1, "view": "a", "weights": [], "sizes": [["p", size]]}, [])
        assert ("too many to follow a slider" in sent[-1]["said"]) is refused
    view.answer("set", {"turn": 2, "view": "a", "weights": [], "sizes": [["p", 21]]}, [])
    assert sent[-1]["said"] == ""
    assert view.numbers.log_z.value == pytest.approx(circuit.log_z({"p": 21}).value)
    with pytest.raises(TooLargeError, match="p = 100,000"):
        view.set(sizes={"p": 100_000})
    assert view.sizes == {"p": 21}
    view.close()


def test_a_click_tells_theory_rule_value_and_derivative(view, circuit):
    view.answer("select", {"id": "definition-1"}, [])
    told = [text for _, text in view.details]
    one = circuit.definitions[1]
    assert view.selected == 1
    assert any(one.rule in text for text in told)
    assert len([kind for kind, _ in view.details if kind == "lit"]) == len(one.fired.clauses)
    value = view.numbers.nodes[1]
    assert any(f"{value.value:.12g}" in text for text in told)
    assert any(f"= {value.uses:.8g}" in text for text in told)
    view.answer("select", {"id": None}, [])
    assert not view.details
    with pytest.raises(ArgumentError, match="numbered 0 to"):
        view.select(99)


def test_a_click_on_a_call_of_what_is_above_looks_at_that():
    circuit = ml.lift(ml.MLN.from_text("R(a, b)\nR(x, y) v !R(z, y) v R(z, u) v !R(x, u).")).compile()
    view = ml.circuit_view(circuit, {"a": 3, "b": 3})
    names = [item.id for item in view.static_scene().items() if item.id.startswith("again-")]
    assert len(names) == 2
    for name in names:
        view.answer("select", {"id": None}, [])
        view.answer("select", {"id": name}, [])
        assert view.selected == 0
    for strange in ("again-1-0-99", "again-1-0", "again-1-0-x", "again-1-0-²"):
        view.answer("select", {"id": strange}, [])
        assert view.selected == 0
    inner = next(one for one in view._layout.joined.values() if len(one.numbers) > 1)
    view.select(inner.numbers[1])  # the box that it stands in is marked
    marked = [
        item.id
        for item in view.static_scene().items()
        if isinstance(item, Group)
        and any("thick" in child.look.split() for child in item.children if hasattr(child, "look"))
    ]
    assert marked == [f"definition-{inner.numbers[0]}"]
    view.close()


def test_folding_hides_what_is_below_and_nothing_else(view, circuit):
    def drawn():
        names = {item.id for item in view.static_scene().items() if isinstance(item, Group)}
        return {int(name.split("-")[1]) for name in names if name.startswith("definition-")}

    everything = drawn()
    assert everything == set(range(len(circuit.definitions)))
    number = max(everything, key=lambda n: len(below(circuit, n)) if n else 0)
    view.answer("expand", {"id": f"fold-{number}", "open": False}, [])
    assert number in drawn()
    assert drawn() == everything - below(circuit, number)
    view.answer("expand", {"id": f"fold-{number}", "open": True}, [])
    assert drawn() == everything


def test_a_large_circuit_is_folded_at_first():
    circuit = ml.lift(ml.MLN.from_text(NESTED)).compile()
    assert len(circuit.definitions) > 40
    for most in (10, 40):
        assert 1 < len(drawn_depths(circuit, choose_folded_definitions(circuit, most))) <= most
    view = ml.circuit_view(circuit, {"p": 2})
    assert view.folded
    view.unfold()
    assert not view.folded
    view.fold()
    assert len(drawn_depths(circuit, view.folded)) == 2
    view.close()


def test_figure_1_is_recognised():
    """Example 1 of the paper: S are the smokers, all others do not smoke, and no smoker is their friend."""
    circuit = ml.lift(ml.MLN.from_text(EXAMPLE_1)).compile()
    view = ml.circuit_view(circuit, {"people": 5}, leaves=True)
    found = texts(view)
    assert any("S ⊆ people" in text for text in found)
    for leaf in ("∀x ∈ people′: Smokes(x)", "∀x ∈ people: ¬Smokes(x)",
                 "∀x ∈ people′, y ∈ people: ¬Friends(x, y)"):  # fmt: skip
        assert leaf in found
    view.close()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ({"weights": {0: float("nan")}}, "A weight must be a number between"),
        ({"weights": {7: 1.0}}, "Formulas are numbered 0 to 1"),
        ({"weights": [1.0]}, "needs as many weights, not 1"),
        ({"sizes": {"persn": 3}}, "no type persn; did you mean person"),
        ({"sizes": {"person": -1}}, "whole number from 0 to 10,000,000, not -1"),
    ],
)
def test_what_has_no_meaning_is_refused(view, content, words):
    with pytest.raises(ArgumentError, match=words):
        view.set(**content)


@pytest.mark.parametrize(
    "message",
    [
        {"weights": [["0", 1]], "sizes": "x"}, {"weights": [[0, "1"]]}, {"sizes": [["<b>", 3], [1]]},
        {"weights": [[10**30, 1.0]]}, {"weights": [[True, 1.0]]}, {"sizes": [["person", 1e300]]},
    ],
)  # fmt: skip
def test_strange_messages_change_nothing(view, message):
    before = view.numbers
    view.answer("set", {"turn": 1, "view": "a", **message}, [])
    assert view.numbers.log_z == before.log_z
    view.answer("expand", {"id": "fold-99999", "open": False}, [])
    view.answer("select", {"id": "definition-99999"}, [])
    assert "numbered 0 to" in view.said


def test_a_saved_notebook_has_picture_and_tables(view):
    html = render(view.static_markup())
    assert "data:image/svg+xml" in html
    assert "log Z = " in html
    assert "Smokes(x)" in html
    assert len(html) < 350_000


def test_explore_takes_a_compiled_model(circuit):
    view = ml.explore(circuit, {"person": 5})
    assert view.numbers.log_z.value == pytest.approx(circuit.log_z({"person": 5}).value)
    view.close()
    with pytest.raises(ArgumentError, match="domain sizes alone, not with query="):
        ml.explore(circuit, {"person": 5}, "Smokes")


def test_with_facts_kinds_of_atoms_are_told_apart_by_what_is_known():
    mln = ml.MLN.from_text(TEXT)
    circuit = ml.lift(mln, ml.Database.from_text("Smokes(Anna)\n!Smokes(Carl)", mln)).compile()
    view = ml.explore(circuit, {"person": 20})
    atoms = {one.atom: one.probability for one in view.numbers.marginals}
    assert len(atoms) == len(view.numbers.marginals)
    assert atoms["Smokes(x), x: Smokes"] == pytest.approx(1.0)
    assert atoms["Smokes(x), x: !Smokes"] == 0
    assert 0 < atoms["Smokes(x), x: nothing known"] < 1
    assert view.controls["sizes"][0]["stops"][0] == 2
    view.close()


def test_what_is_unfinished_is_followed_as_far_as_it_goes():
    mln = ml.MLN.from_text("B(e, e)\n0.3 B(x, y)\nB(x, y) ^ B(y, z) => B(x, z).")
    circuit = ml.lift(mln).compile()
    view = ml.explore(circuit, {"e": 2})
    assert view.numbers.log_z.value == pytest.approx(circuit.log_z({"e": 2}).value)
    with pytest.raises(TooLargeError, match="more than 600 values in ball arithmetic"):
        view.set(sizes={"e": 30})
    assert view.sizes == {"e": 2}
    view.close()


# --- what is shown where there is no number -----------------------------------------------------------


def test_a_box_without_a_number_says_why():
    counted = ml.lift(
        ml.MLN.from_text("E(a, a)\n!E(x, x).\nE(x, y) => E(y, x).\nEXIST=2 y E(x, y).")
    ).compile()
    transitive = ml.lift(ml.MLN.from_text("B(e, e)\nB(x, y) ^ B(y, z) => B(x, z).")).compile()
    exists = ml.lift(ml.MLN.from_text("Sits(guest, chair)\nEXIST x Sits(x, y).")).compile()
    for circuit, sizes, said, meant in (
        (counted, {"a": 4}, "used 1×", "of all worlds; u: in those alone"),
        (transitive, {"e": 3}, "no value by itself", "was grounded"),
        (exists, {"guest": 5, "chair": 4}, "used −", "u below 0"),
    ):
        made = ml.circuit_view(circuit, sizes)
        shown = " ".join(texts(made)).replace("used -", "used −")
        missing = [n for n in range(len(circuit.definitions)) if n not in made.numbers.nodes]
        assert said in shown
        assert meant in shown
        if missing:
            made.select(missing[0])
            assert any(said in text for _, text in made.details)
        made.close()


def test_the_sign_of_a_second_part_of_a_type_is_in_the_legend(circuit):
    split = ml.circuit_view(circuit, {"person": 5}, leaves=True)
    whole = ml.circuit_view(ml.lift(ml.MLN.from_text("S(a)\n0.1 S(x)")).compile(), {"a": 3}, leaves=True)
    assert [any("further parts" in text for text in texts(one)) for one in (split, whole)] == [True, False]
    split.close()
    whole.close()


def test_one_atom_is_one_atom(circuit):
    one = ml.circuit_view(circuit, {"person": 1})
    assert "1 atom" in [row["of"] for row in one.values["marginals"]]
    one.close()
