"""Models that are lifted, before and after compilation, as they show themselves in a cell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlnlab.display.circuit_scenes import circuit_scene
from mlnlab.display.markup import Element, count_of, element, shortened
from mlnlab.display.scene.pictures import scene_image
from mlnlab.display.style import card, folded, quiet, title
from mlnlab.display.tables import bounded_table
from mlnlab.lifted.symbol_names import legend_lines
from mlnlab.lifted.theory_text import clause_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mlnlab.display.scene.items import Scene
    from mlnlab.lifted.arithmetic import LiftedValue
    from mlnlab.lifted.lift import Lift, LiftedCircuit

_LONGEST_THEORY = 600


def lift_display(source: Lift) -> Element:
    """Return the display of a theory that is not compiled yet."""
    theory, symbols = source.compilation.theory, source.weighted.shattered.symbols
    rows = ((clause_text(clause, theory, symbols),) for clause in theory.clauses)
    return card(
        title("Lifted model", lift_question(source)),
        bounded_table(("clause",), rows, len(theory.clauses), "clauses"),
        *(quiet(shortened(text, 200)) for text in legend_lines(source.weighted)[:12]),
        quiet("Different variables stand for different constants."),
        element("div", "Compile it at once, ", element("code", ".compile()"), ", or watch: ",
                element("code", "ml.stepper(...)"), kind="quiet"),
        quiet("From: Van den Broeck et al. (2011), first-order knowledge compilation."),
    )  # fmt: skip


def lift_question(source: Lift) -> str:
    """Say how large a theory is."""
    theory = source.compilation.theory
    kinds = f"{count_of(len(theory.pieces), 'kind')} of equiprobable atoms"
    return f"{count_of(len(theory.clauses), 'clause')}, {kinds}, {count_of(theory.subdomains, 'subdomain')}"


def lift_text(source: Lift) -> str:
    """Return a theory as text."""
    return f"<Lift of {lift_question(source)}>"


def circuit_display(found: LiftedCircuit) -> Element:
    """Return the display of a compiled model: drawn, and its definitions as a table."""
    scene = scene_of(found)
    rows = (
        (str(one.number), one.rule, shortened(found.lift.text(one.theory), 200)) for one in found.definitions
    )
    order = found.circuit.nesting()
    cost = "no sum over sizes" if not order else f"about n^{order} terms for domains of n"
    if not found.circuit.is_complete:
        cost = "partly grounded when sizes are known"
    return card(
        title("First-order circuit", f"{count_of(len(found.circuit), 'definition')}, {cost}"),
        *unlifted_markup(found),
        scene_image(scene, f"{scene.title}: {scene.description}"),
        folded(
            "definitions",
            bounded_table(("", "rule", "theory"), rows, len(found.definitions), "definitions", numbers=(0,)),
        ),
        element("div", "Ask it: ", element("code", ".log_z({...})"), " · ",
                element("code", ".expected_counts({...})"), " · ", element("code", ".marginal(atom, {...})"),
                kind="quiet"),
    )  # fmt: skip


def unlifted_markup(found: LiftedCircuit) -> Iterator[Element]:
    """Yield which of the user's formulas no rule lifts, what to do, and, folded, the clauses left."""
    for one in found.unlifted_formulas:
        yield element("div", element("strong", one.sentence))
        yield element("div", f"Ways out: {'; '.join(one.remedies)}.", kind="quiet")
    if found.unlifted:
        rows = ((shortened(text, _LONGEST_THEORY),) for text in found.unlifted)
        yield folded(
            "the theories that are left, in clauses",
            bounded_table(("theory",), rows, len(found.unlifted), "theories"),
        )


def scene_of(found: LiftedCircuit) -> Scene:
    """Return a compiled model's circuit as a drawing."""
    bodies = {one.number: one.body for one in found.definitions}
    return circuit_scene(bodies, found.weighted.shattered.symbols, legend_lines(found.weighted))


def lifted_value_display(found: LiftedValue) -> Element:
    """Return the display of a value of log Z."""
    return card(
        title("log Z", found.arithmetic),
        element("div", element("strong", f"{found.value:.15g}"), f" ± {found.error:.0e}"),
    )
