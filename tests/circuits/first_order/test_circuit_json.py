"""Circuits as JSON: what is written is read again as the same function, and what is hostile is refused."""

from __future__ import annotations

import copy
import json
from importlib.resources import files

import pytest
from jsonschema import Draft202012Validator

import mlnlab as ml
from mlnlab.algebra.semirings import LOGARITHMS
from mlnlab.circuits.first_order.fold import Weights, fold
from mlnlab.errors import ArgumentError
from tests.circuits.first_order.test_folds import MODELS, asked, compiled

SCHEMA = json.loads(
    files("mlnlab.circuits.first_order").joinpath("circuit.schema.json").read_text(encoding="utf-8")
)
UNFINISHED = "E(p, p)\nE(x, y) ^ E(y, z) => E(x, z)."


@pytest.mark.parametrize("name", MODELS)
def test_what_is_read_again_is_the_same_function(name):
    circuit = compiled(name)
    names = [str(symbol) for symbol in circuit.weighted.shattered.symbols]
    written = ml.circuit_json(circuit.circuit, names)
    Draft202012Validator(SCHEMA).validate(written)
    again = ml.circuit_from_json(json.dumps(written))
    sizes, true, false = asked(circuit, 6)
    weights = Weights(list(true[:, 0]), list(false[:, 0]))
    assert fold(again, sizes, LOGARITHMS, weights) == fold(circuit.circuit, sizes, LOGARITHMS, weights)
    assert again == circuit.circuit


def test_what_is_finished_only_when_sizes_are_known_is_not_written():
    circuit = ml.lift(ml.MLN.from_text(UNFINISHED)).compile()
    with pytest.raises(ArgumentError, match="finished only when sizes are known"):
        ml.circuit_json(circuit.circuit)


def counting_down(size, minimum=1):
    """A definition that calls itself with another size where there is an element."""
    nothing = {"leaves": [], "calls": []}
    call = {"definition": 0, "sizes": [size]}
    body = {"kind": "size-case", "subdomain": 0, "minimum": minimum,
            "large": {"leaves": [], "calls": [call]}, "small": nothing}  # fmt: skip
    definitions = [{"subdomains": 1, "body": body}]
    return {"format": "mlnlab-circuit", "version": 1, "root": 0, "definitions": definitions}


def test_only_recursion_that_ends_is_read():
    one_less = {"terms": [[0, 1]], "constant": -1}
    assert len(ml.circuit_from_json(counting_down(one_less))) == 1
    for size in ({"terms": [[0, 1]], "constant": 0}, {"terms": [], "constant": 7}):
        with pytest.raises(ArgumentError, match=r"This is not a circuit: .* calls itself"):
            ml.circuit_from_json(counting_down(size))
    for size in ({"terms": [[0, 2]], "constant": -1}, {"terms": [[0, 1]], "constant": 1}):
        with pytest.raises(ArgumentError, match="more elements"):
            ml.circuit_from_json(counting_down(size))
    assert ml.circuit_from_json(counting_down(one_less)).nesting() == 0


@pytest.mark.parametrize(("rest", "ends"), [([[-1, -1], [1, 1]], True), ([[1, 1]], False)])
def test_recursion_may_divide_elements_but_not_hand_them_on_twice(rest, ends):
    """Of b elements, k and b - k go on; with k and all b, where k may be b, it would begin again."""

    def sizes(first, constant, second):
        return [{"terms": first, "constant": constant}, {"terms": second, "constant": 0}]

    divide = {
        "kind": "counting",
        "subdomain": 1,
        "call": {"definition": 1, "sizes": sizes([[-1, 1]], 0, rest)},
    }
    circuit = counting_down({})
    down = circuit["definitions"][0]["body"]
    down["large"]["calls"] = [{"definition": 0, "sizes": sizes([[0, 1]], -1, [[1, 1]])}]
    circuit["definitions"] = [{"subdomains": 2, "body": body} for body in (divide, down)]
    if ends:
        assert len(ml.circuit_from_json(circuit)) == 2
    else:
        with pytest.raises(ArgumentError, match="more elements"):
            ml.circuit_from_json(circuit)


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (["format"], "mlnlab-scene", "its format is not 'mlnlab-circuit'"),
        (["version"], 2, "version is not 1"),
        (["root"], 99, "root is not a whole number from 0 to"),
        (["definitions"], [], "no definitions"),
        (["definitions", 0, "body", "kind"], "<script>", "no node of kind '<script>'"),
        (
            ["definitions", 0, "body", "call", "definition"],
            10**9,
            "a call's definition is not a whole number",
        ),
        (["definitions", 0, "body", "call", "sizes"], [], "gives 0 sizes to a definition of 2"),
        (["definitions", 0, "subdomains"], True, "subdomains is not a whole number"),
        (["definitions", 0, "body", "subdomain"], 5, "a subdomain is not a whole number from 0 to 0"),
        (["definitions", 0], "x", "a definition is not a JSON object"),
        (["definitions", 1, "body", "leaves", 0, "sign"], "maybe", "the sign of a leaf is one of"),
        (["definitions", 1, "body", "leaves", 0, "times", "divided"], 0, "a divisor is not a whole number"),
        (["definitions", 1, "body", "calls"], 3, "calls is not a list"),
    ],
)
def test_what_is_no_circuit_is_refused(path, value, words):
    written = copy.deepcopy(ml.circuit_json(compiled("friends").circuit))
    place = written
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    with pytest.raises(ArgumentError, match=words):
        ml.circuit_from_json(written)


@pytest.mark.parametrize("text", ["", "[" * 100_000, "{}", "[1]", '{"format": "mlnlab-circuit"}', "NaN"])
def test_strange_texts_are_refused(text):
    with pytest.raises(ArgumentError, match="This is not a circuit"):
        ml.circuit_from_json(text)
