"""Describe one definition of a circuit, and a circuit's numbers, in lines and tables."""

from __future__ import annotations

import json
from collections.abc import Sequence
from math import isnan, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.circuits.first_order.circuit_json import circuit_json
from mlnlab.circuits.first_order.first_order_circuit import SIGNED, calls_of
from mlnlab.display.card.cards import bounded_table, scene_image
from mlnlab.display.card.markup import Element, element, fit, shorten_text
from mlnlab.display.card.style import card, fold_away, quiet, title
from mlnlab.display.lifted.circuits.circuit_boxes import callers, missing_value, number_text
from mlnlab.display.lifted.circuits.circuit_explorer import ExploredCircuit, explorer_scene
from mlnlab.display.lifted.circuits.circuit_nodes import SIGNED_LINE, legend_lines, node_words, subdomain_name
from mlnlab.lifted.compile.rule_registry import RULES
from mlnlab.lifted.theory.symbol_names import subdomain_names, with_names
from mlnlab.lifted.theory.theory_text import clause_text
from mlnlab.logic.formulas.substitution import free_variables
from mlnlab.logic.formulas.weights import Soft, ToLearn, WeightedFormula, weight_value

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.circuits.first_order.node_values import NodeValue
    from mlnlab.lifted.ask.circuit_numbers import CircuitNumbers
    from mlnlab.lifted.ask.lift import LiftedCircuit
    from mlnlab.lifted.compile.compiling import Compiled
    from mlnlab.lifted.theory.shattering import Symbol
    from mlnlab.lifted.theory.weighted_theory import WeightedTheory
    from mlnlab.model.mln.mln import MLN

_MOST_CLAUSES, _LONGEST = 40, 300
Line = tuple[str, str]  # its kind ("head", "words", "number", "code", "lit") and its text
MOST_TEXT = 120_000  # characters of a program; longer ones are left to Python


def note_of(one: Compiled, symbols: Sequence[Symbol]) -> str:
    """Explain the rule's effect on this theory, with subdomains by their names."""
    if one.fired is None:
        return "Constants are taken out one by one when their number is known."
    return with_names(one.fired.note, one.theory, symbols)


def details_of(shown: ExploredCircuit) -> tuple[Line, ...]:
    """Describe the selected definition: its rule, value, derivative and theory."""
    if shown.selected is None:
        return ()
    circuit, one = shown.circuit, shown.circuit.definitions[shown.selected]
    symbols = circuit.weighted.shattered.symbols
    words = node_words(one.body, symbols)
    lines = [("head", f"Definition {one.number}: {words.name}, by {one.rule}")]
    lines += [("words", note_of(one, symbols)), *_citation(one.rule), *_calls(circuit, one)]
    if one.fired is None:
        for blamed in circuit.unlifted_formulas:
            lines += [("words", blamed.sentence), ("words", f"Ways out: {'; '.join(blamed.remedies)}.")]
    if shown.numbers is not None:
        lines += _value_lines(circuit, shown.numbers, one)
    lines.append(("head", "It stands for the theory"))
    matched = one.fired.clauses if one.fired is not None else ()
    for number, clause in enumerate(one.theory.clauses[:_MOST_CLAUSES]):
        text = shorten_text(clause_text(clause, one.theory, symbols), _LONGEST)
        lines.append(("lit" if number in matched else "code", text))
    more = len(one.theory.clauses) - _MOST_CLAUSES
    if more > 0:
        lines.append(("words", f"and {more:,} more clauses"))
    return (*lines, *_legend_lines(circuit, one))


def _citation(rule: str) -> tuple[Line, ...]:
    for known in RULES:
        if known.name == rule:
            return (("words", f"The rule needs {known.needs}; see {known.citation}."),)
    return ()


def _calls(circuit: LiftedCircuit, one: Compiled) -> tuple[Line, ...]:
    above = sorted(set(callers(circuit)[one.number]))
    under = list(dict.fromkeys(call.definition for call in calls_of(one.body)))
    said = []
    if above:
        said.append(f"is called by {', '.join(map(str, above[:12]))}")
    if under:
        said.append(f"calls {', '.join(map(str, under[:12]))}")
    return (("words", f"It {'; it '.join(said)}."),) if said else ()


def _value_lines(circuit: LiftedCircuit, numbers: CircuitNumbers, one: Compiled) -> list[Line]:
    symbols = circuit.weighted.shattered.symbols
    value = numbers.nodes.get(one.number)
    if value is None:
        return [("words", f"Its value: {missing_value(circuit)}.")]
    names = subdomain_names(one.theory, symbols)
    where = ", ".join(
        f"{subdomain_name(n)} = |{name}| = {size:,}"
        for n, (name, size) in enumerate(zip(names, value.sizes, strict=False))
    )
    lines = [("head", "Value and derivative")]
    sign = ", which is negative" if value.is_negative else ""
    lines.append(("number", f"log |value| = {value.value:.12g}{sign}{f' at {where}' if where else ''}"))
    if circuit.weighted.tallies:
        words = "That is of all worlds, whatever their numbers of true atoms; the derivative is of those"
        lines.append(("words", f"{words} whose numbers are right."))
    if value.different > 1:
        lines.append(
            ("number", f"It has values at {value.different:,} sizes; most of log Z hangs on this one.")
        )
    lines.append(
        (
            "number",
            f"∂ log Z / ∂ log value = {value.uses:.8g}: how often a random world goes through it on average",
        )
    )
    if not circuit.weighted.tallies and value.value != -np.inf and value.uses and not isnan(value.value):
        log = np.log(abs(value.uses)) + numbers.log_z.value - value.value
        minus = ", with a minus sign" if value.uses < 0 else ""
        lines.append(("number", f"log |∂ Z / ∂ value| = {log:.12g}{minus}"))
    return lines + _chosen_lines(value)


def _chosen_lines(value: NodeValue) -> list[Line]:
    if value.chosen is None or not len(value.chosen):
        return []
    sizes = np.arange(len(value.chosen))
    mean = float(value.chosen @ sizes)
    deviation = sqrt(max(float(value.chosen @ (sizes - mean) ** 2), 0.0))
    most = int(np.argmax(value.chosen))
    probable = f"most probable are {most:,}, with probability {number_text(float(value.chosen[most]))}"
    elements = f"{number_text(mean)} ± {number_text(deviation)} elements"
    return [("number", f"The subset has {elements}; {probable}.")]


def _legend_lines(circuit: LiftedCircuit, one: Compiled) -> list[Line]:
    signed = any(piece.symbol == SIGNED for piece in one.theory.pieces)
    found = (*legend_lines(circuit.weighted), *(SIGNED_LINE,) * signed)
    lines = [("words", "Different variables stand for different constants.")]
    if found:
        lines.append(("head", "Where"))
        lines += [("code", shorten_text(text, _LONGEST)) for text in found[:20]]
    return lines


def _atoms(number: int) -> str:
    return f"{number_text(number)} atom{'' if number == 1 else 's'}"


def numbers_json(mln: MLN, numbers: CircuitNumbers) -> dict[str, Any]:
    """Return the numbers as texts and shares, as a page shows them."""
    log_z = numbers.log_z
    rows = [
        {"text": fit(shorten_text(str(one.formula))), "expected": number_text(expected),
         "of": number_text(total), "share": expected / total if total else None}
        for one, expected, total in zip(
            mln.formulas, numbers.expected_counts, numbers.groundings, strict=True
        )
    ]  # fmt: skip
    marginals = [
        {"text": fit(shorten_text(one.atom)), "share": None if isnan(one.probability) else one.probability,
         "probability": "none" if isnan(one.probability) else f"{one.probability:.6f}",
         "of": "" if isnan(one.atoms) else _atoms(round(one.atoms))}
        for one in numbers.marginals
    ]  # fmt: skip
    return {
        "logZ": f"{log_z.value:.12g}", "error": f"± {log_z.error:.0e}, by {log_z.arithmetic}",
        "rows": rows, "marginals": marginals,
    }  # fmt: skip


def explorer_markup(shown: ExploredCircuit) -> Element:
    """Return the picture and the numbers as tables, for where there is no kernel."""
    scene = explorer_scene(shown)
    parts: list[Element] = []
    if shown.numbers is not None:
        parts = numbers_tables(shown.circuit.mln, shown.numbers)
    lines = [element("div", text, kind="title" if kind == "head" else "") for kind, text in details_of(shown)]
    return card(
        title("First-order circuit", scene.description),
        scene_image(scene, f"{scene.title}: {scene.description}"),
        *parts,
        fold_away("what was selected", *lines) if lines else None,
        quiet("Sliders need a kernel."),
    )


def numbers_tables(mln: MLN, numbers: CircuitNumbers) -> list[Element]:
    """Return log Z, and tables of formulas and of atoms."""
    found = numbers_json(mln, numbers)
    sizes = ", ".join(f"{type_} = {size:,}" for type_, size in numbers.sizes.items())
    formulas = (
        (row["text"], f"{weight:g}", row["expected"], row["of"])
        for row, weight in zip(found["rows"], numbers.weights, strict=True)
    )
    marginals = ((one["text"], one["probability"], one["of"].partition(" ")[0]) for one in found["marginals"])
    return [
        element("div", element("strong", f"log Z = {found['logZ']}"), f" {found['error']}; {sizes}"),
        bounded_table(("formula", "weight", "expected true", "of"), formulas, len(found["rows"]), "formulas",
                      numbers=(1, 2, 3)),
        bounded_table(("atoms", "probability", "atoms there are"), marginals, len(found["marginals"]),
                      "kinds of atoms", numbers=(1, 2)),
    ]  # fmt: skip


# --- program --------------------------------------------------------------------------------------
# The page's evaluator, ``static/circuit_numbers.js``, counts in logarithms of floats without bounds of
# errors. So it gets programs only of circuits for which floats suffice, and not of large ones: these would
# take longer than a frame, and make each saved notebook large.


def circuit_program(circuit: LiftedCircuit) -> dict[str, Any]:
    """Return a model's circuit with its atoms' weights, or nothing where a page would compute wrong numbers.

    Where signs cancel, a definition calls itself, or compiling ends only when sizes are known, Python alone
    has reliable numbers; where sorts are taken apart, it shares out what atoms of one symbol are.
    """
    if not circuit.by_floats or circuit.weighted.stands:
        return {}
    weighted, types = circuit.weighted, list(circuit.mln.vocabulary.types)
    program = {
        "format": "mlnlab-program", "version": 1, "circuit": circuit_json(circuit.circuit),
        "symbols": len(weighted.shattered.symbols),
        "least": [len(domain) for domain in circuit.mln.vocabulary.types.values()],
        "subdomains": [
            _subdomain(weighted, type_, group, types)
            for type_, group in zip(circuit.types, circuit.groups, strict=True)
        ],
        "true": _entries(weighted.true), "false": _entries(weighted.false),
        "groundings": [_types_of(one, types) for one in circuit.mln.formulas],
        "marginals": [
            n for n, symbol in enumerate(weighted.shattered.symbols)
            if symbol.predicate in circuit.mln.vocabulary.predicates
        ],
    }  # fmt: skip
    return program if len(json.dumps(program, separators=(",", ":"))) <= MOST_TEXT else {}


def _subdomain(weighted: WeightedTheory, type_: str, group: int, types: list[str]) -> list[int]:
    """Return the type of a subdomain and how many of its constants stand elsewhere, or -1 and its size."""
    groups = weighted.evidence.groups_of(type_)
    if group:
        return [-1, len(groups[group].members)]
    listed = sum(len(one.members) for one in groups[1:])
    return [types.index(type_), len(weighted.constants.get(type_, ())) + listed]


def _entries(matrix: NDArray[np.float64]) -> list[list[float]]:
    """Return the entries of a matrix that are not 0: symbol, formula, how often it counts."""
    return [[int(n), int(i), float(matrix[n, i])] for n, i in np.argwhere(matrix)]


def _types_of(one: WeightedFormula, types: list[str]) -> list[int] | None:
    """Return the types of a hard formula's variables, whose sizes are its groundings; nothing of others."""
    if isinstance(one.weight, Soft | ToLearn) or weight_value(one.weight) is not None:
        return None
    return [types.index(variable.type) for variable in free_variables(one.formula)]
