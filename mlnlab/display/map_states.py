"""A most probable world: what it makes true, what it violates, and whether that is proven to be the least."""

from __future__ import annotations

from dataclasses import fields
from math import isnan, prod
from typing import TYPE_CHECKING

from mlnlab.display.markup import Element, count_of, element, shortened
from mlnlab.display.style import card, folded, quiet, title
from mlnlab.display.symbols import in_symbols
from mlnlab.display.tables import MOST_ROWS, bounded_table
from mlnlab.display.worlds import true_atoms_table, world_text
from mlnlab.inference.memory import cost_in_words
from mlnlab.logic.substitution import free_variables

if TYPE_CHECKING:
    from mlnlab.inference.conflict_parts import Conflict, Part
    from mlnlab.inference.map_states import MapState
    from mlnlab.inference.solving import Solver
    from mlnlab.logic.formulas import Formula

_MOST_OPEN = 60  # of one predicate
_MOST_WITH_EXAMPLES = 12
_LARGEST_WITH_EXAMPLES = 200_000  # groundings that are looked through for examples


def map_state_display(state: MapState) -> Element:
    """Return the display of a most probable world."""
    return card(
        title("Most probable world", f"log-weight {state.log_weight:.6g}, {proof_in_words(state)}"),
        quiet(shortened(state.reason, 600) + _cost(state)) if state.reason or state.seconds else None,
        _decided(state),
        _violated(state),
        folded("all true atoms, evidence included", true_atoms_table(state.world)),
    )


def _cost(state: MapState) -> str:
    return f" · {cost_in_words(state.seconds, state.memory)}" if state.seconds else ""


def proof_in_words(state: MapState) -> str:
    """Say how good the world is known to be."""
    if state.proven_optimal:
        return f"proven optimal, by {state.method}"
    if isnan(state.gap):
        return f"the best found, not proven optimal, by {state.method}"
    return f"at most {state.gap:.4g} below the optimum, by {state.method}"


def _decided(state: MapState) -> Element:
    """Return of each predicate with open atoms, how many of these the world makes true, and which."""
    true: dict[str, list[str]] = {}
    number = state.numbers_of_open_atoms
    for atom in sorted(state.world.true_atoms):
        if (atom.predicate, atom.arguments) in state.open_atoms:
            true.setdefault(atom.predicate, []).append(str(atom))
    headings = ("open predicate", "made true", "open", "made true are")
    rows = (
        (shortened(name), f"{len(true.get(name, ())):,}", f"{number[name]:,}", _listing(true.get(name, [])))
        for name in sorted(number)
    )
    if not number:
        return quiet("Evidence leaves nothing open.")
    return bounded_table(headings, rows, len(number), "predicates", numbers=(1, 2))


def _listing(atoms: list[str]) -> str:
    shown = ", ".join(shortened(atom, 120) for atom in atoms[:_MOST_OPEN])
    rest = len(atoms) - _MOST_OPEN
    return (f"{shown}, … and {rest:,} more" if rest > 0 else shown) or "none"


def _violated(state: MapState) -> Element:
    if not state.violated:
        return quiet("No formula has a grounding that this world scores against.")
    rows = (
        (f"{number:,}", in_symbols(shortened(text, 400)), _examples(state, text, place))
        for place, (text, number) in enumerate(state.violated)
    )
    headings = ("groundings", "formula that this world scores against", "for example where")
    return element("div", bounded_table(headings, rows, len(state.violated), "formulas", numbers=(0,)))


def _examples(state: MapState, text: str, place: int) -> str:
    size = sum(_at_most(state, weighted.formula) for weighted in state.formulas)
    if place >= _MOST_WITH_EXAMPLES or size > _LARGEST_WITH_EXAMPLES:
        return ""
    return shortened("; ".join(state.examples(text, 2)), 200)


def _at_most(state: MapState, formula: Formula) -> int:
    """Return a bound on a formula's groundings that looks at none: a world may be of billions of atoms."""
    return prod(len(state.world.domain(variable.type)) for variable in free_variables(formula))


def map_state_text(state: MapState) -> str:
    """Return a most probable world as text."""
    head = f"<MapState: log-weight {state.log_weight:.6g}, {proof_in_words(state)}{_cost(state)}>"
    against = [
        f"  {count_of(number, 'grounding')} against {text}" for text, number in state.violated[:MOST_ROWS]
    ]
    return "\n".join([head, world_text(state.world), *against])


def conflict_display(conflict: Conflict) -> Element:
    """Return the display of formulas, facts and blocks that contradict each other."""
    rows = (
        (
            element("span", part.kind, style="white-space:nowrap"),
            in_symbols(shortened(part.text, 400)),
            _binding(part),
            _place(part),
        )
        for part in conflict.parts
    )
    headings = ("what", "says", "where", "written in")
    lines = [line for part in conflict.parts for line in _excerpt(part)]
    return card(
        title("Contradiction", conflict.heading.partition(":")[0]),
        bounded_table(headings, rows, len(conflict.parts), "parts"),
        folded("the lines themselves", element("pre", *lines)) if lines else None,
        quiet(conflict.advice) if conflict.advice else None,
        element("ul", *(element("li", shortened(str(remedy), 400)) for remedy in conflict.advised))
        if conflict.advised
        else None,
    )


def _place(part: Part) -> str:
    return shortened(part.place.words, 200) if part.place is not None else ""


def _excerpt(part: Part) -> list[str]:
    """Return the place of a part, its line and a caret below, as compilers print them."""
    lines = part.place.excerpt() if part.place is not None else []
    return [f"{_place(part)}\n", *(f"{line}\n" for line in lines)] if lines else []


def _binding(part: Part) -> str:
    return shortened(", ".join(f"{variable} = {constant}" for variable, constant in part.binding), 200)


def solver_display(solver: Solver) -> Element:
    """Return the display of a search: what would be searched, with which settings, and how to watch it."""
    settings = [(part.name, getattr(solver.params, part.name)) for part in fields(solver.params)]
    rows = ((name.replace("_", " "), shortened(str(value), 80)) for name, value in settings)
    ways = "next(iter(solver)), ml.Trace.of(solver), ml.stepper(solver), ml.live(solver)"
    return card(
        title(f"Solver {solver.method.name}", _open_in_words(solver)),
        bounded_table(("setting", "value"), rows, len(settings), "settings"),
        quiet(f"Nothing has been searched yet. Go step by step: {ways}."),
        quiet(f"Needs: {solver.method.needs}. From: {solver.method.citation}."),
    )


def solver_text(solver: Solver) -> str:
    """Return a search as text."""
    return f"{shortened(repr(solver), 500)}\n  {_open_in_words(solver)}"


def _open_in_words(solver: Solver) -> str:
    atoms = sum(len(choice.atoms) for choice in solver.question.choices)
    return f"{count_of(atoms, 'open atom')} in {count_of(len(solver.question.choices), 'choice')}"
