"""Circuits are decomposable, deterministic and smooth; those that are not are told by name."""

from __future__ import annotations

from dataclasses import replace
from math import perm

import pytest

import mlnlab as ml
from mlnlab.circuits.first_order import properties
from mlnlab.circuits.first_order.first_order_circuit import Call, Definition, Leaf, Product, Sum
from mlnlab.circuits.first_order.sizes import of_subdomain, tuples_of
from mlnlab.errors import CircuitError
from tests.circuits.first_order.test_folds import MODELS

MORE = {
    "lonesum": "R(a, b)\n!(R(x, y) ^ R(u, v) ^ !R(x, v) ^ !R(u, y)).",
    "existential": "R(p, p)\nEXIST y R(x, y).",
    "functions": "R(p, q!)\nS(q)\n0 R(x, y) ^ S(y)",
    "two neighbours": "E(p, p)\nEXIST=2 y E(x, y).\nE(x, y) => E(y, x).",
    "symmetric transitive": "E(p, p)\nE(x, y) ^ E(y, z) => E(x, z).\nE(x, y) => E(y, x).",
    "facts": "F(p, p)\nF(Anna, x) => F(x, Anna).\n0 F(x, y) ^ F(y, x)",
}


@pytest.mark.parametrize("name", [*MODELS, *MORE])
def test_what_is_compiled_has_all_three(name):
    circuit = ml.lift(ml.MLN.from_text({**MODELS, **MORE}[name])).compile()
    first = {"constant": 1, "facts": 1}.get(name, 0)
    for size in range(first, 4):
        domains = dict.fromkeys(circuit.mln.vocabulary.types, size)
        ml.check_circuit(circuit.circuit, circuit.subdomain_sizes(domains))


def test_all_atoms_are_named_once():
    circuit = ml.lift(ml.MLN.from_text(MODELS["friends"])).compile()
    symbols = circuit.weighted.shattered.symbols
    for size in range(5):
        atoms = [perm(size, len(symbol.variables)) for symbol in symbols]
        ml.check_circuit(circuit.circuit, [size], atoms)


def with_body(circuit, number, body):
    definitions = list(circuit.definitions)
    definitions[number] = Definition(definitions[number].subdomains, body)
    return replace(circuit, definitions=tuple(definitions))


def first_sum(circuit):
    return next((n, one.body) for n, one in enumerate(circuit.definitions) if isinstance(one.body, Sum))


def test_what_is_broken_is_told_by_name():
    circuit = ml.lift(ml.MLN.from_text(MODELS["friends"])).compile()
    whole = circuit.circuit
    number, body = first_sum(whole)
    twice = with_body(whole, number, Sum((*body.terms, *body.terms)))
    with pytest.raises(CircuitError, match=rf"not deterministic: definition {number} at sizes \[\] has"):
        ml.check_circuit(twice, [3])
    fewer = Sum((body.terms[0], Product((), body.terms[1].calls)))
    words = rf"not smooth: in definition {number} one case names \d atoms of symbol \d and another one \d at"
    with pytest.raises(CircuitError, match=words):
        ml.check_circuit(with_body(whole, number, fewer), [3])
    again = Call(whole.root, (of_subdomain(0),))
    shared = Product((Leaf(0, "free", tuples_of([0])),), (again,))
    definitions = (*whole.definitions, Definition(1, shared))
    shared = replace(whole, definitions=definitions, root=len(whole.definitions))
    atoms = [perm(3, len(symbol.variables)) for symbol in circuit.weighted.shattered.symbols]
    ml.check_circuit(whole, [3], atoms)
    named = rf"{atoms[0] + 3} atoms of symbol 0 are named; there are {atoms[0]}"
    with pytest.raises(CircuitError, match=f"not decomposable: {named}"):
        ml.check_circuit(shared, [3], atoms)
    with pytest.raises(CircuitError, match=f"not smooth: {atoms[0]} atoms of symbol 0 are named; there are"):
        ml.check_circuit(whole, [3], [atoms[0] + 1, *atoms[1:]])


def test_what_cannot_be_checked_is_refused():
    open_ended = ml.lift(ml.MLN.from_text("E(p, p)\nE(x, y) ^ E(y, z) => E(x, z).")).compile()
    with pytest.raises(ml.ArgumentError, match="compiled only when sizes are known"):
        ml.check_circuit(open_ended.circuit, [2])
    friends = ml.lift(ml.MLN.from_text(MODELS["friends"])).compile().circuit
    with pytest.raises(ml.ArgumentError, match="root has 1 subdomains, not 2"):
        ml.check_circuit(friends, [2, 2])
    with pytest.raises(ml.TooLargeError, match="checked at small sizes"):
        ml.check_circuit(friends, [1_000])


def test_as_many_atoms_as_are_allowed_are_checked(monkeypatch):
    monkeypatch.setattr(properties, "MOST_ATOMS", 10)
    of_two = ml.lift(ml.MLN.from_text("S(p)\nT(p)\nS(x) v T(x).")).compile().circuit
    ml.check_circuit(of_two, [5])
    with pytest.raises(ml.TooLargeError, match="more than 10 atoms are named"):
        ml.check_circuit(of_two, [6])


def test_what_is_no_circuit_and_no_sizes_is_refused():
    compiled = ml.lift(ml.MLN.from_text(MODELS["friends"])).compile()
    for circuit in (compiled, None):
        with pytest.raises(ml.ArgumentError, match="A circuit is needed"):
            ml.check_circuit(circuit, [3])
    for sizes in (None, 3, "3", ["a"], [1.5], [-1]):
        with pytest.raises(ml.ArgumentError, match="whole numbers of at least 0"):
            ml.check_circuit(compiled.circuit, sizes)
    with pytest.raises(ml.ArgumentError, match="whole numbers of at least 0"):
        ml.check_circuit(compiled.circuit, [3], atoms=["a"])
