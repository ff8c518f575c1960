"""The explorer of arithmetic circuits: what is drawn are the circuit's own numbers, whatever one clicks."""

from __future__ import annotations

import re
from itertools import product
from math import exp

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.circuits.propositional.arithmetic_circuit import INDICATOR, SUM, ArithmeticCircuit
from mlnlab.display.circuits.circuit_drawings import MOST_DRAWN, number_words
from mlnlab.display.scene.items import MIME_TYPE, Group, Text
from tests.support.small_circuits import random_circuit


@pytest.fixture
def view():
    made = ml.circuit_view(random_circuit(3, zeros=0.0))
    yield made
    made.close()


def send(view, kind, name, **more):
    view._receive_message({"type": kind, "id": name, **more}, [])


def items_of(view):
    return {item.id: item for item in view.static_scene().items() if item.id}


def words_in(item):
    return [child.text for child in item.children if isinstance(child, Text)]


def numbers_in(view):
    """The second line of each drawn box, by the number of its node."""
    found = {}
    for name, item in items_of(view).items():
        if re.fullmatch(r"(node|leaf)-[\d-]+", name) and isinstance(item, Group):
            found[int(name.rpartition("-")[2])] = words_in(item)[1]
    return found


def chain(length):
    """A circuit of a Markov chain over many variables."""
    variables = [ml.RandomVariable.numbered(f"X{n}", 2) for n in range(length)]
    rows = [(INDICATOR, (), n, x, 0.0) for n in range(length) for x in range(2)]
    below = ()
    for n in reversed(range(length)):
        sums = []
        for first in range(2):
            cases = []
            for x in range(2):
                rows.append((1, (), n, x, 0.7 if x == first else 0.3))
                rows.append((3, (2 * n + x, len(rows) - 1, *below[x : x + 1]), -1, -1, 0.0))
                cases.append(len(rows) - 1)
            rows.append((2, tuple(cases), -1, -1, 0.0))
            sums.append(len(rows) - 1)
        below = tuple(sums)
    kinds, children, variable, value, numbers = zip(*rows[: below[0] + 1], strict=True)
    ends = np.cumsum([0, *map(len, children)])
    flat = np.array([child for own in children for child in own], np.uint32)
    arrays = (np.array(one) for one in (variable, value, numbers))
    return ArithmeticCircuit(tuple(variables), np.array(kinds), ends, flat, *arrays)


# --- numbers --------------------------------------------------------------------------------------


def test_boxes_hold_values_derivatives_and_flows_under_the_evidence(view):
    for evidence in ({}, {"X1": 0}, {"X1": 0, "X3": 1}):
        view.forget()
        for name, value in evidence.items():
            view.set(name, value)
        found = view.circuit.evaluate(evidence)
        for quantity, logs in (("values", found.log_values), ("derivatives", found.log_derivatives)):
            view.show(quantity)
            drawn = numbers_in(view)
            assert set(drawn) == set(view.drawn)
            assert drawn == {node: number_words(float(logs[node])) for node in drawn}
        view.show("flows")
        assert numbers_in(view) == {node: f"{found.flows[node]:.4g}" for node in view.drawn}


def test_a_click_on_an_indicator_gives_evidence_and_another_takes_it_back(view):
    node = next(n for n in view.drawn if view.circuit.kinds[n] == INDICATOR)
    variable = view.circuit.variables[view.circuit.variable[node]]
    value = variable.values[view.circuit.value[node]]
    name = next(name for name in items_of(view) if re.fullmatch(rf"(leaf-\d+|node)-{node}", name))
    before = view.scene
    send(view, "press", name)
    assert view.evidence == {variable.name: value}
    assert view.numbers.log_root == pytest.approx(view.circuit.evaluate(view.evidence).log_value)
    send(view, "press", name)
    assert view.evidence == {}
    assert view.scene == before


def test_bars_of_values_are_the_marginals(view):
    send(view, "press", "value-1-0")
    assert view.evidence == {"X1": "0"}
    wanted = view.circuit.marginals({"X1": 0})
    for number, variable in enumerate(view.circuit.variables):
        for place, value in enumerate(variable.values):
            texts = [
                t.text for t in items_of(view)[f"value-{number}-{place}"].children if isinstance(t, Text)
            ]
            assert texts[0].removeprefix("● ") == value
            assert float(texts[1].strip("<> ")) == pytest.approx(wanted[variable.name][value], abs=1e-4)


def test_the_most_probable_state_is_marked_and_is_the_most_probable(view):
    send(view, "press", "best")
    marked = {}
    for number, variable in enumerate(view.circuit.variables):
        for place, value in enumerate(variable.values):
            texts = [
                t.text for t in items_of(view)[f"value-{number}-{place}"].children if isinstance(t, Text)
            ]
            if "★" in texts[0]:
                marked[variable.name] = value
    assert marked == dict(view.circuit.most_probable())
    states = product(*(variable.values for variable in view.circuit.variables))
    names = [variable.name for variable in view.circuit.variables]
    most = max(view.circuit.log_probability(dict(zip(names, state, strict=True))) for state in states)
    assert view.circuit.log_probability(marked) == pytest.approx(most)
    assert "best-links" in items_of(view)


def test_evidence_of_probability_zero_is_said_and_nothing_is_no_number():
    circuit = next(
        c for c in (random_circuit(n, zeros=0.2) for n in range(9)) if 0 in c.parameters[c.kinds == 1]
    )
    assert circuit.log_probability() > -np.inf
    zero = next(
        {a.name: x, b.name: y}
        for a, b in product(circuit.variables, repeat=2) if a != b
        for x, y in product(a.values, b.values)
        if circuit.log_probability({a.name: x, b.name: y}) == -np.inf
    )  # fmt: skip
    view = ml.circuit_view(circuit, evidence=zero)
    assert "no state agrees" in items_of(view)["probability"].text
    assert "probability 0" in view.details
    assert "nan" not in str(view.scene)
    view.show_best()
    view.forget()
    assert view.details == ""
    view.close()


# --- passes ---------------------------------------------------------------------------------------


def test_a_pass_is_watched_layer_by_layer_up_and_down(view):
    view.expand(*(n for n in range(len(view.circuit)) if view.circuit.kinds[n] >= SUM))
    found = view.circuit.evaluate()
    layers = view._state.shown.shape.layers.astype(int)
    highest = int(layers[-1])
    send(view, "press", "pass-first")
    for passed in range(2 * highest + 2):
        drawn = numbers_in(view)
        up = passed <= highest
        logs = found.log_values if up else found.log_derivatives
        for node, words in drawn.items():
            reached = layers[node] <= passed if up else layers[node] >= 2 * highest + 1 - passed
            assert words == (number_words(float(logs[node])) if reached else "·")
        send(view, "press", "pass-on")
    send(view, "press", "pass-back")
    assert "·" in numbers_in(view).values()
    send(view, "press", "pass-all")
    assert "·" not in numbers_in(view).values()


# --- opening and closing --------------------------------------------------------------------------


def test_nodes_open_and_close_and_shared_ones_are_drawn_once(view):
    root = len(view.circuit) - 1
    view.collapse(*view._state.shown.opened)
    assert view.drawn == (root,)
    send(view, "expand", f"fold-{root}", open=True)
    children = view.circuit.children[view.circuit.first_child[root] : view.circuit.first_child[root + 1]]
    assert set(view.drawn) == {root, *children.tolist()}
    view.expand(*range(root))
    ids = [name for name in items_of(view) if name.startswith("node-")]
    assert sorted(int(name[5:]) for name in ids) == np.flatnonzero(view.circuit.kinds >= SUM).tolist()
    view.show_leaves()
    assert set(view.drawn) == set(range(root + 1))
    assert not any(name.startswith("leaf-") for name in items_of(view))


def test_a_select_describes_a_node(view):
    root = len(view.circuit) - 1
    send(view, "select", f"node-{root}")
    assert view.selected == root
    assert view.details.startswith(f"sum, node {root}")
    assert "value 1.53 = " in view.details
    send(view, "select", None)
    assert view.details == ""


def test_a_large_circuit_opens_as_a_list_that_leads_to_any_node():
    circuit = chain(6_000)
    assert circuit.edges > 90_000
    view = ml.circuit_view(circuit)
    assert len(view.drawn) < MOST_DRAWN
    assert len(str(view.scene)) < 150_000
    rows = [item for name, item in items_of(view).items() if name.startswith("layer-")]
    counted = sum(
        int(number.replace(",", ""))
        for row in rows
        for number in re.findall(r"([\d,]+) (?:sum|product|indicator|parameter)", row.tooltip)
    )
    assert len(rows) <= 10
    assert counted == len(circuit)
    send(view, "press", "layer-4")
    offered = [int(name[3:]) for name in items_of(view) if name.startswith("go-")]
    layers = view._state.shown.shape.layers.astype(int)
    assert offered
    assert {int(layers[node]) // (-(-(layers[-1] + 1) // 10)) for node in offered} == {4}
    send(view, "press", f"go-{offered[0]}")
    assert view.drawn[0] == offered[0]
    send(view, "press", "by-variables")
    send(view, "press", "list-behind")
    assert "variable-12" in items_of(view)
    send(view, "press", "variable-12")
    assert any(name.startswith("go-") for name in items_of(view))
    send(view, "press", "rows-behind")
    assert "value-8-0" in items_of(view)
    send(view, "press", "root")
    assert view.drawn[0] == len(circuit) - 1
    assert exp(view.numbers.log_probability) == pytest.approx(1.0)
    view.close()


def test_of_many_children_those_with_the_largest_flows_are_drawn_until_more_are_asked_for():
    sizes = [40, 2]
    variables = tuple(ml.RandomVariable.numbered(f"X{n}", size) for n, size in enumerate(sizes))
    shares = np.arange(1, 41) / 820
    kinds = [0] * 40 + [1] * 40 + [3] * 40 + [2, 0, 0, 1, 1, 3, 3, 2, 3]
    children = [*([()] * 80), *((n, 40 + n) for n in range(40)), tuple(range(80, 120)), (), (), (), (),
                (121, 123), (122, 124), (125, 126), (120, 127)]  # fmt: skip
    variable = [0] * 80 + [-1] * 41 + [1] * 4 + [-1] * 4
    value = [*range(40), *range(40), *[-1] * 41, 0, 1, 0, 1, *[-1] * 4]
    numbers = [0.0] * 40 + shares.tolist() + [0.0] * 43 + [0.25, 0.75] + [0.0] * 4
    flat = [child for own in children for child in own]
    ends = np.cumsum([0, *map(len, children)])
    view = ml.circuit_view(
        ArithmeticCircuit(variables, *map(np.array, (kinds, ends, flat, variable, value, numbers)))
    )
    view.expand(120)
    assert set(range(114, 120)) <= set(view.drawn)
    assert not set(range(80, 114)) & set(view.drawn)
    send(view, "press", "more-120")
    assert set(range(108, 120)) <= set(view.drawn)
    assert "34 more" in str(items_of(view)["value-0-39"]) or "+ 34 more" in str(view.scene)
    view.close()


# --- what makes no sense --------------------------------------------------------------------------


def test_wrong_arguments_get_sentences_and_change_nothing(view):
    before = view.scene
    for call, words in (
        (lambda: view.set("X9", 1), "no variable X9"),
        (lambda: view.set("X1", 7), "has no value 7"),
        (lambda: view.show("odds"), "values, derivatives, flows"),
        (lambda: view.expand(10_000), "Nodes are numbered 0 to"),
        (lambda: view.go(0), "is a leaf"),
        (lambda: view.list_by("colour"), '"layers" or by "variables"'),
        (lambda: view.step_pass("two"), "whole number"),
        (lambda: ml.circuit_view(view.circuit, {"person": 3}), "no domain sizes"),
        (lambda: ml.circuit_view("circuit"), "arithmetic circuit"),
        (lambda: ml.circuit_view(view.circuit, evidence={"Y": 0}), "no variable Y"),
    ):  # fmt: skip
        with pytest.raises(ml.ArgumentError, match=re.escape(words)):
            call()
    assert view.scene == before


def test_messages_that_make_no_sense_are_left_alone(view):
    before = view.scene
    for content in ({}, {"type": "press"}, {"type": "press", "id": "value-99-0"}, {"type": "press", "id": 3},
                    {"type": "select", "id": "node-x"}, {"type": "expand", "id": "node-0", "open": True},
                    {"type": "press", "id": "go-1"}, {"type": "press", "id": "layer-2"}):  # fmt: skip
        view._receive_message(content, ())
    assert view.scene == before


def test_a_saved_notebook_shows_it(view):
    view.select(len(view.circuit) - 1)
    data, _ = view._repr_mimebundle_()
    assert {"text/plain", "text/html", MIME_TYPE} <= set(data)
    assert "value 1.53 = " in data["text/html"]
