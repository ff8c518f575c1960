"""Models that are lifted, before and after compilation, as they show themselves in a cell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlnlab.display.card.cards import Card, Part, table_of
from mlnlab.display.card.markup import count_of, element, shorten_text
from mlnlab.display.lifted.circuits.circuit_legend import legend_lines
from mlnlab.display.lifted.circuits.circuit_scenes import circuit_scene
from mlnlab.lifted.theory.theory_text import clause_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mlnlab.display.scene.items import Scene
    from mlnlab.lifted.ask.lift import Lift, LiftedCircuit
    from mlnlab.lifted.circuit.arithmetic import LiftedValue

_LONGEST_THEORY = 600


def lift_card(source: Lift) -> Card:
    """Return the card of a theory that is not compiled yet."""
    theory, symbols = source.compilation.theory, source.weighted.shattered.symbols
    rows = ((clause_text(clause, theory, symbols),) for clause in theory.clauses)
    return Card(
        "Lifted model",
        lift_question(source),
        table=table_of(("clause",), rows, len(theory.clauses), "clauses"),
        remarks=(
            *(shorten_text(text, 200) for text in legend_lines(source.weighted)[:12]),
            "Different variables stand for different constants.",
            element("div", "Compile it at once, ", element("code", ".compile()"), ", or watch: ",
                    element("code", "ml.stepper(...)"), kind="quiet"),
            "From: Van den Broeck et al. (2011), first-order knowledge compilation.",
        ),
    )  # fmt: skip


def lift_question(source: Lift) -> str:
    """Say how large a theory is."""
    theory = source.compilation.theory
    kinds = f"{count_of(len(theory.pieces), 'kind')} of equiprobable atoms"
    return f"{count_of(len(theory.clauses), 'clause')}, {kinds}, {count_of(theory.subdomains, 'subdomain')}"


def circuit_card(found: LiftedCircuit) -> Card:
    """Return the card of a compiled model: drawn, and its definitions as a table."""
    rows = (
        (str(one.number), one.rule, shorten_text(found.lift.text(one.theory), 200))
        for one in found.definitions
    )
    order = found.circuit.nesting()
    cost = "no sum over sizes" if not order else f"about n^{order} terms for domains of n"
    if not found.circuit.is_complete:
        cost = "partly grounded when sizes are known"
    left = ((shorten_text(text, _LONGEST_THEORY),) for text in found.unlifted)
    theories = table_of(("theory",), left, len(found.unlifted), "theories")
    return Card(
        "First-order circuit",
        f"{count_of(len(found.circuit), 'definition')}, {cost}",
        lead=tuple(_write_unlifted(found)),
        picture=scene_of(found),
        table=table_of(
            ("", "rule", "theory"), rows, len(found.definitions), "definitions",
            numbers=(0,), name="definitions",
        ),
        remarks=(
            element("div", "Ask it: ", element("code", ".log_z({...})"), " · ",
                    element("code", ".expected_counts({...})"), " · ",
                    element("code", ".marginal(atom, {...})"), kind="quiet"),
        ),
        folds=(("the theories that are left, in clauses", theories),) if found.unlifted else (),
    )  # fmt: skip


def _write_unlifted(found: LiftedCircuit) -> Iterator[Part]:
    """Yield the user's formulas that no rule lifts, and the ways out."""
    for one in found.unlifted_formulas:
        yield element("div", element("strong", one.sentence))
        yield f"Ways out: {'; '.join(one.remedies)}."


def scene_of(found: LiftedCircuit) -> Scene:
    """Return a compiled model's circuit as a drawing."""
    bodies = {one.number: one.body for one in found.definitions}
    return circuit_scene(bodies, found.weighted.shattered.symbols, legend_lines(found.weighted))


def lifted_value_card(found: LiftedValue) -> Card:
    """Return the card of a value of log Z."""
    value = element("div", element("strong", f"{found.value:.15g}"), f" ± {found.error:.0e}")
    return Card("log Z", found.arithmetic, lead=(value,))
