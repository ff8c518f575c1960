"""A clause as a constraint network: a drawing, its treewidth, its variables and constraints as tables."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from mlnlab.counting.elimination.constraint_network import min_fill_order, width_of
from mlnlab.display.card.cards import Card, Table, table_of
from mlnlab.display.card.markup import count_of, element, shorten_text
from mlnlab.display.card.style import BREAKING
from mlnlab.display.card.symbols import in_symbols
from mlnlab.display.counting.constraint_network_scenes import MOST_VARIABLES, network_scene, scope_text
from mlnlab.display.counting.count_bars import number_text
from mlnlab.display.model.databases import share

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mlnlab.counting.elimination.constraint_network import ConstraintNetwork
    from mlnlab.display.scene.items import Scene

_LONGEST, _SHOWN_CONSTANTS = 160, 12


def scene_of(network: ConstraintNetwork) -> Scene | None:
    """Return the drawing; none where there are no variables, or too many."""
    return network_scene(network)


def constraint_network_card(network: ConstraintNetwork) -> Card:
    """Return the card of a constraint network."""
    return Card(
        "Constraint network",
        _sizes(network),
        lead=(element("div", in_symbols(shorten_text(network.clause, _LONGEST)), kind="formula"),),
        picture=scene_of(network),
        undrawn=f"More than {MOST_VARIABLES} variables are not drawn."
        if network.variables
        else "It has no variables.",
        table=_constraints_table(network),
        remarks=(
            element("p", elimination_words(network), style=BREAKING),
            "Its solutions are the groundings that violate the clause.",
        ),
        folds=(("variables as a table", _variables_table(network)),),
    )


def _sizes(network: ConstraintNetwork) -> str:
    variables, constraints = len(network.variables), len(network.constraints)
    return f"{count_of(variables, 'variable')}, {count_of(constraints, 'constraint')}"


def elimination_words(network: ConstraintNetwork) -> str:
    """State the treewidth, and name an order of elimination with its width."""
    order = min_fill_order(network.neighbours())
    width = width_of(network.neighbours(), order)
    bound = "" if network.treewidth_is_exact else "at most "
    shown = ", ".join(shorten_text(name) for name in order[:MOST_VARIABLES]) or "nothing"
    return f"Treewidth {bound}{network.treewidth}. Eliminating {shown}, in this order, has width {width}."


def _constraints_table(network: ConstraintNetwork) -> Table:
    rows = (
        (
            shorten_text(scope_text(one)),
            in_symbols(shorten_text(one.literal, _LONGEST)),
            "true" if one.allows_listed else "false",
            number_text(one.allowed),
            share(one.allowed, total),
        )
        for one, total in zip(network.constraints, _totals(network), strict=True)
    )
    headings = ("constraint", "literal", "allows where the atom is", "tuples", "of all")
    name = "constraints as a table"
    return table_of(headings, rows, len(network.constraints), "constraints", numbers=(3, 4), name=name)


def _totals(network: ConstraintNetwork) -> Sequence[int]:
    return [prod(one.sizes) for one in network.constraints]


def _variables_table(network: ConstraintNetwork) -> Table:
    near = network.neighbours()
    rows = (
        (
            shorten_text(name),
            f"{len(domain):,}",
            shorten_text(
                ", ".join(domain[:_SHOWN_CONSTANTS]) + (", …" if len(domain) > _SHOWN_CONSTANTS else ""), 200
            ),
            ", ".join(shorten_text(other) for other in sorted(near[name])),
        )
        for name, domain in zip(network.variables, network.domains, strict=True)
    )
    headings = ("variable", "constants", "domain", "neighbours")
    return table_of(headings, rows, len(network.variables), "variables", numbers=(1,))
