"""The pictures of compilation: each step shows its rule, what it matched, and the circuit so far."""

from __future__ import annotations

from dataclasses import replace

import pytest

import mlnlab as ml
from mlnlab.circuits.first_order.first_order_circuit import Definition, FirstOrderCircuit, calls_of
from mlnlab.display.doors.run_pictures import picture_of
from mlnlab.display.lifted.circuits.circuit_nodes import (
    SIGNED_LINE,
    box_depths,
    joined_bodies,
    legend_lines,
    node_words,
)
from mlnlab.display.lifted.circuits.circuit_scenes import circuit_scene
from mlnlab.display.lifted.compile_pictures import bodies_of
from mlnlab.display.scene.items import Text

MODELS = {
    "friends": "F(p, p)\nS(p)\n1.5 F(x, y) ^ S(x) => S(y)",
    "some": "E(p, p)\n!E(x, x).\nE(x, y) => E(y, x).\nEXIST y E(x, y).",
    "two kinds": "S(p)\nT(q)\nS(x) v T(y).",
    "recursive": "E(p, p)\nE(x, y) => E(y, x).\nE(x, y) ^ E(y, z) => E(x, z).",
    "transitive": "E(p, p)\nE(x, y) ^ E(y, z) => E(x, z).",
    "alone": "S(p)\nT(p)\nx != y => S(x) v T(y).",
    "constant": "S(p)\n1 S(Anna) => S(x)",
    "lonesum": "R(p, q)\nR(x, y) v !R(z, y) v R(z, u) v !R(x, u).",
}


@pytest.mark.parametrize("name", MODELS)
def test_each_step_is_drawn(name):
    source = ml.lift(ml.MLN.from_text(MODELS[name]))
    trace, picture = ml.Trace.of(source), picture_of(source)
    for step in trace:
        scene = picture.parts["compilation"](step, trace)
        texts = {item.id: item.text for item in scene.items() if isinstance(item, Text)}
        newest = step.state.newest
        if newest is None:
            continue
        assert texts["rule"] == f"Definition {newest.number}: {newest.rule}"
        lit = {item.id for item in scene.items() if item.id.startswith("matched-")}
        matched = newest.fired.clauses if newest.fired is not None else ()
        assert len(lit) == min(len(matched), 14)
        drawn = {item.id for item in scene.items() if item.id.startswith("definition-")}
        assert drawn == {f"definition-{number}" for number in bodies_of(step.state)}
    assert "complete" in picture.caption(trace[-1])
    assert len(picture.table(trace[-1]).rows) == trace[-1].state.done


def test_a_click_on_a_rule_tells_why_it_was_not_taken():
    source = ml.lift(ml.MLN.from_text(MODELS["friends"]))
    trace, plain = ml.Trace.of(source), picture_of(source)
    place = [rule.name for rule in source.params.rules].index("atom counting")
    asked = plain.choose(f"rule-{place}")

    def said(picture, step):
        items = picture.parts["compilation"](step, trace).items()
        return " ".join(item.text for item in items if item.id.startswith("why-"))

    assert said(plain, trace[2]) == ""
    assert "It would apply" in said(asked, trace[2])
    assert "unit propagation comes before it" in said(asked, trace[2])
    assert "It made definition 0" in said(asked, trace[1])
    assert "No piece has exactly one argument" in said(asked, trace[3])
    assert said(asked.choose(f"rule-{place}"), trace[2]) == ""
    assert plain.choose("definition-1") is None


@pytest.mark.parametrize("name", MODELS)
def test_every_call_has_its_words(name):
    circuit = ml.lift(ml.MLN.from_text(MODELS[name])).compile()
    bodies = {one.number: one.body for one in circuit.definitions}
    symbols = circuit.weighted.shattered.symbols
    for body in bodies.values():
        assert len(node_words(body, symbols).edges) == len(list(calls_of(body)))
    every = joined_bodies(bodies, bodies)
    assert set(box_depths(every)) == set(bodies)
    assert circuit_scene(bodies, symbols).width > 0


@pytest.mark.parametrize("name", MODELS)
def test_every_call_is_drawn_and_one_of_what_is_above_names_it(name):
    circuit = ml.lift(ml.MLN.from_text(MODELS[name])).compile()
    bodies = {one.number: one.body for one in circuit.definitions}
    joined = joined_bodies(bodies)
    inside = sorted(number for one in joined.values() for number in one.numbers)
    assert inside == sorted(bodies)  # each definition stands in one box
    items = list(circuit_scene(bodies, circuit.weighted.shattered.symbols).items())
    calls = sum(len(list(calls_of(one.body))) for one in joined.values())
    assert len([item for item in items if item.id.startswith("call-")]) == calls
    above = [item.id for item in items if item.id.startswith("again-")]
    assert bool(above) == bool(circuit.circuit.recursive())
    assert {int(one.split("-")[-1]) for one in above} <= circuit.circuit.recursive()


def test_conjunctions_in_a_row_are_one_box_of_the_same_value():
    """Leaves of the inner one are counted in sizes of the outer one, as in a fold of the circuit."""
    circuit = ml.lift(ml.MLN.from_text(MODELS["recursive"])).compile()
    bodies = {one.number: one.body for one in circuit.definitions}
    joined = joined_bodies(bodies)
    assert any(len(one.numbers) > 1 for one in joined.values())
    body = {number: joined[number].body if number in joined else bodies[number] for number in bodies}
    again = FirstOrderCircuit(
        tuple(Definition(one.subdomains, body[n]) for n, one in enumerate(circuit.circuit.definitions))
    )
    assert [replace(circuit, circuit=again).world_count({"p": n}) for n in (1, 2, 3, 4)] == [2, 5, 15, 52]


def test_every_sign_that_appears_is_in_the_legend():
    source = ml.lift(ml.MLN.from_text(MODELS["lonesum"]))
    trace = ml.Trace.of(source)
    circuit = source.compile()
    bodies = {one.number: one.body for one in circuit.definitions}
    plain = circuit_scene(bodies, circuit.weighted.shattered.symbols)
    stepped = picture_of(source).parts["compilation"](trace[-1], trace)
    for scene in (plain, stepped):
        told = {item.tooltip for item in scene.items() if isinstance(item, Text) and item.tooltip}
        assert SIGNED_LINE in told
        assert {line.partition(":")[0] for line in told} >= {"∧", "Σ", "n₀ ≥ 1 ?", "dashed", "↺ 0", "× n"}
    friends = ml.lift(ml.MLN.from_text(MODELS["friends"])).compile()
    bodies = {one.number: one.body for one in friends.definitions}
    told = {item.tooltip for item in circuit_scene(bodies, friends.weighted.shattered.symbols).items()}
    assert not told & {SIGNED_LINE}
    assert not any(line.startswith("↺") for line in told)


def test_legends_explain_the_predicates_that_translation_made():
    text = "Smokes(person)\nFriends(person, person)\n1.5 Friends(x, y) ^ Smokes(x) => Smokes(y)"
    lifted = ml.lift(ml.MLN.from_text(text))
    assert legend_lines(lifted.weighted) == ("f₁(x, y)  ⇔  Friends(x, y) ^ Smokes(x) => Smokes(y)",)
    lifted = ml.lift(ml.MLN.from_text("E(p, p)\nP(q)\nEXIST y E(x, y).\n1 P(x)"))
    assert [line.split()[0] for line in legend_lines(lifted.weighted)] == ["Z₁", "S₂"]
