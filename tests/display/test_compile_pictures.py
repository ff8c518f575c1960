"""The pictures of compilation: each step shows its rule, what it matched, and the circuit so far."""

from __future__ import annotations

import pytest

import mlnlab as ml
from mlnlab.circuits.first_order import calls_of
from mlnlab.display.circuit_nodes import node_words
from mlnlab.display.circuit_scenes import circuit_scene, depths
from mlnlab.display.compile_pictures import bodies_of
from mlnlab.display.run_pictures import picture_of
from mlnlab.display.scene.items import Text

MODELS = {
    "friends": "F(p, p)\nS(p)\n1.5 F(x, y) ^ S(x) => S(y)",
    "some": "E(p, p)\n!E(x, x).\nE(x, y) => E(y, x).\nEXIST y E(x, y).",
    "two kinds": "S(p)\nT(q)\nS(x) v T(y).",
    "recursive": "E(p, p)\nE(x, y) => E(y, x).\nE(x, y) ^ E(y, z) => E(x, z).",
    "transitive": "E(p, p)\nE(x, y) ^ E(y, z) => E(x, z).",
    "alone": "S(p)\nT(p)\nx != y => S(x) v T(y).",
    "constant": "S(p)\n1 S(Anna) => S(x)",
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
    assert "unit propagation stands before it" in said(asked, trace[2])
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
    assert set(depths(bodies)) == set(bodies)
    assert circuit_scene(bodies, symbols).width > 0
