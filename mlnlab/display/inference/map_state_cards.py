"""Draw a most probable world: its true atoms, the formulas it violates, and whether it is proven optimal."""

from __future__ import annotations

from math import isnan, prod
from typing import TYPE_CHECKING

from mlnlab.display.card.cards import Card, Table, bullets, table_of
from mlnlab.display.card.markup import cost_in_words, element, shorten_text
from mlnlab.display.card.symbols import in_symbols
from mlnlab.display.model.databases import list_atoms, true_atoms_table
from mlnlab.logic.formulas.substitution import free_variables

if TYPE_CHECKING:
    from mlnlab.inference.ask.map_states import MapState
    from mlnlab.inference.sat.conflict_parts import Conflict, Part
    from mlnlab.logic.formulas.formulas import Formula

_MOST_OPEN = 60  # of one predicate
_MOST_WITH_EXAMPLES = 12
_LARGEST_WITH_EXAMPLES = 200_000  # groundings that are looked through for examples


def map_state_card(state: MapState) -> Card:
    """Return the card of a most probable world."""
    cost = f" · {cost_in_words(state.seconds, state.memory)}" if state.seconds else ""
    return Card(
        "Most probable world",
        f"log-weight {state.log_weight:.6g}, {proof_in_words(state)}",
        lead=(shorten_text(state.reason, 600) + cost, _list_true_atoms(state)),
        remarks=(_list_violated_formulas(state),),
        folds=(("all true atoms, evidence included", true_atoms_table(state.world)),),
    )


def proof_in_words(state: MapState) -> str:
    """Say how good the world is known to be."""
    if state.proven_optimal:
        return f"proven optimal, by {state.method}"
    if isnan(state.gap):
        return f"the best found, not proven optimal, by {state.method}"
    return f"at most {state.gap:.4g} below the optimum, by {state.method}"


def _list_true_atoms(state: MapState) -> Table | str:
    """Return of each predicate with open atoms, how many of these the world makes true, and which."""
    true: dict[str, list[str]] = {}
    number = state.numbers_of_open_atoms
    for atom in sorted(state.world.true_atoms):
        if (atom.predicate, atom.arguments) in state.open_atoms:
            true.setdefault(atom.predicate, []).append(str(atom))
    headings = ("open predicate", "made true", "open", "made true are")
    rows = (
        (
            shorten_text(name),
            f"{len(true.get(name, ())):,}",
            f"{number[name]:,}",
            list_atoms(true.get(name, []), _MOST_OPEN),
        )
        for name in sorted(number)
    )
    if not number:
        return "Evidence leaves nothing open."
    return table_of(headings, rows, len(number), "predicates", numbers=(1, 2))


def _list_violated_formulas(state: MapState) -> Table | str:
    if not state.violated:
        return "No formula has a grounding that this world scores against."
    rows = (
        (f"{number:,}", in_symbols(shorten_text(text, 400)), _examples(state, text, place))
        for place, (text, number) in enumerate(state.violated)
    )
    headings = ("groundings", "formula that this world scores against", "for example where")
    return table_of(headings, rows, len(state.violated), "formulas", numbers=(0,))


def _examples(state: MapState, text: str, place: int) -> str:
    size = sum(_at_most(state, weighted.formula) for weighted in state.formulas)
    if place >= _MOST_WITH_EXAMPLES or size > _LARGEST_WITH_EXAMPLES:
        return ""
    return shorten_text("; ".join(state.examples(text, 2)), 200)


def _at_most(state: MapState, formula: Formula) -> int:
    """Return a bound on a formula's groundings that looks at none: a world may be of billions of atoms."""
    return prod(len(state.world.domain(variable.type)) for variable in free_variables(formula))


def conflict_card(conflict: Conflict) -> Card:
    """Return the card of formulas, facts and blocks that contradict each other."""
    rows = (
        (
            element("span", part.kind, style="white-space:nowrap"),
            in_symbols(shorten_text(part.text, 400)),
            _binding(part),
            _place(part),
        )
        for part in conflict.parts
    )
    lines = [line for part in conflict.parts for line in _excerpt(part)]
    advice = (conflict.advice, bullets((str(remedy) for remedy in conflict.advised), 400))
    return Card(
        "Contradiction",
        conflict.heading.partition(":")[0],
        table=table_of(("what", "says", "where", "written in"), rows, len(conflict.parts), "parts"),
        remarks=advice if conflict.advised else advice[:1],
        folds=(("the lines themselves", element("pre", *lines)),) if lines else (),
        plain=str(conflict),
    )


def _place(part: Part) -> str:
    return shorten_text(part.place.words, 200) if part.place is not None else ""


def _excerpt(part: Part) -> list[str]:
    """Return the place of a part, its line and a caret below, as compilers print them."""
    lines = part.place.excerpt() if part.place is not None else []
    return [f"{_place(part)}\n", *(f"{line}\n" for line in lines)] if lines else []


def _binding(part: Part) -> str:
    return shorten_text(", ".join(f"{variable} = {constant}" for variable, constant in part.binding), 200)
