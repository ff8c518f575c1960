"""A clause as a constraint network: a drawing, its treewidth, its variables and constraints as tables."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from mlnlab.counting.constraint_network import min_fill_order, width_of
from mlnlab.display.constraint_network_scenes import MOST_VARIABLES, network_scene, scope_text
from mlnlab.display.counts import number_text
from mlnlab.display.databases import share
from mlnlab.display.markup import Element, count_of, element, shortened
from mlnlab.display.scene.pictures import scene_image
from mlnlab.display.style import BREAKING, card, folded, quiet, title
from mlnlab.display.symbols import in_symbols
from mlnlab.display.tables import bounded_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mlnlab.counting.constraint_network import ConstraintNetwork
    from mlnlab.display.scene.items import Scene

_LONGEST, _SHOWN_CONSTANTS = 160, 12


def scene_of(network: ConstraintNetwork) -> Scene | None:
    """Return the drawing; none where there are no variables, or too many."""
    return network_scene(network)


def constraint_network_display(network: ConstraintNetwork) -> Element:
    """Return the display of a constraint network."""
    scene = scene_of(network)
    sentence = (
        "It has no variables."
        if not network.variables
        else f"More than {MOST_VARIABLES} variables are not drawn."
    )
    return card(
        title("Constraint network", _sizes(network)),
        element("div", in_symbols(shortened(network.clause, _LONGEST)), kind="formula"),
        quiet(sentence) if scene is None else scene_image(scene, f"{scene.title}: {scene.description}"),
        element("p", elimination_words(network), style=BREAKING),
        quiet("Its solutions are the groundings that violate the clause."),
        folded("constraints as a table", _constraints_table(network)),
        folded("variables as a table", _variables_table(network)),
    )


def _sizes(network: ConstraintNetwork) -> str:
    variables, constraints = len(network.variables), len(network.constraints)
    return f"{count_of(variables, 'variable')}, {count_of(constraints, 'constraint')}"


def elimination_words(network: ConstraintNetwork) -> str:
    """Say what the treewidth is, and name an order of elimination with its width."""
    order = min_fill_order(network.neighbours())
    width = width_of(network.neighbours(), order)
    bound = "" if network.treewidth_is_exact else "at most "
    shown = ", ".join(shortened(name) for name in order[:MOST_VARIABLES]) or "nothing"
    return f"Treewidth {bound}{network.treewidth}. Eliminating {shown}, in this order, has width {width}."


def _constraints_table(network: ConstraintNetwork) -> Element:
    rows = (
        (
            shortened(scope_text(one)),
            in_symbols(shortened(one.literal, _LONGEST)),
            "true" if one.allows_listed else "false",
            number_text(one.allowed),
            share(one.allowed, total),
        )
        for one, total in zip(network.constraints, _totals(network), strict=True)
    )
    headings = ("constraint", "literal", "allows where the atom is", "tuples", "of all")
    return bounded_table(headings, rows, len(network.constraints), "constraints", numbers=(3, 4))


def _totals(network: ConstraintNetwork) -> Sequence[int]:
    return [prod(one.sizes) for one in network.constraints]


def _variables_table(network: ConstraintNetwork) -> Element:
    near = network.neighbours()
    rows = (
        (
            shortened(name),
            f"{len(domain):,}",
            shortened(
                ", ".join(domain[:_SHOWN_CONSTANTS]) + (", …" if len(domain) > _SHOWN_CONSTANTS else ""), 200
            ),
            ", ".join(shortened(other) for other in sorted(near[name])),
        )
        for name, domain in zip(network.variables, network.domains, strict=True)
    )
    headings = ("variable", "constants", "domain", "neighbours")
    return bounded_table(headings, rows, len(network.variables), "variables", numbers=(1,))


def constraint_network_text(network: ConstraintNetwork) -> str:
    """Return a constraint network as text."""
    lines = [
        f"  {shortened(scope_text(one))} of {in_symbols(shortened(one.literal, _LONGEST))}:"
        f" allows {number_text(one.allowed)} of {number_text(total)}"
        for one, total in zip(network.constraints, _totals(network), strict=True)
    ]
    clause = in_symbols(shortened(network.clause, _LONGEST))
    return "\n".join(
        [f"<ConstraintNetwork of {clause}: {_sizes(network)}>", elimination_words(network), *lines]
    )
