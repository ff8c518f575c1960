"""A path of a lifted hypergraph, and a variabilised one, as they show themselves in a cell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlnlab.display.card.cards import Card, table_of
from mlnlab.display.card.formula_markup import formula_markup, formula_text
from mlnlab.display.card.markup import element
from mlnlab.display.scene.items import Group, Layer, Scene
from mlnlab.display.structure.lift.lifted_edges import edge_name
from mlnlab.display.structure.paths.path_lit import lit_items
from mlnlab.display.structure.paths.path_panel import clause_of, conjunction_of
from mlnlab.display.structure.paths.path_view import drawing_of
from mlnlab.errors import count_of
from mlnlab.logic.formulas.formulas import And, Atom, Not, Or, Variable

if TYPE_CHECKING:
    from mlnlab.logic.formulas.formulas import Formula
    from mlnlab.structure.paths.hyperedge_paths import Path
    from mlnlab.structure.paths.variabilized import VariabilizedPath

_WIDTH = 560.0


def path_scene(path: Path) -> Scene:
    """Return the hyperedges of a path with their clusters."""
    drawing = drawing_of(path.graph, path.hyperedges, _WIDTH)
    drawn = Group(id="path", children=tuple(lit_items(path.graph, drawing, path.edges)))
    words = f"{count_of(len(path.edges), 'hyperedge')}: {formula_text(_conjunction(path.variabilize()))}."
    return Scene(drawing.width, drawing.height, (Layer("drawn", (drawn,)),), "Path", words)


def path_card(path: Path) -> Card:
    """Return the card of a path: drawn, as conjunction and clause, and its hyperedges as a table."""
    form, vocabulary = path.variabilize(), path.graph.hypergraph.vocabulary
    rows = ((edge_name(path.graph, edge), f"{edge.true:,}", f"{edge.atoms:,}") for edge in path.hyperedges)
    headings = ("hyperedge", "true atoms", "of")
    return Card(
        "Path",
        f"{count_of(len(path.edges), 'hyperedge')}, {count_of(path.true_atoms, 'true atom')}",
        picture=path_scene(path),
        table=table_of(headings, rows, len(path.edges), "hyperedges", numbers=(1, 2), name="hyperedges"),
        remarks=(
            "conjunction",
            formula_markup(conjunction_of(form, vocabulary)),
            "clause",
            formula_markup(clause_of(form, vocabulary)),
        ),
    )


def variabilized_card(path: VariabilizedPath) -> Card:
    """Return the card of a variabilised path: its conjunction and its clause."""
    dangling = len(path.dangling)
    words = f"{count_of(len(path.atoms), 'atom')}, {count_of(path.number_of_variables, 'variable')}"
    clause = element("div", formula_markup(_clause(path)))
    return Card(
        "Variabilised path",
        words + f", {dangling} of them dangling" * bool(dangling),
        lead=("conjunction", formula_markup(_conjunction(path)), "clause", clause),
        plain=formula_text(_conjunction(path)),
    )


def _atoms(path: VariabilizedPath) -> tuple[Atom, ...]:
    """Return the atoms without types, which only a vocabulary knows."""
    return tuple(
        Atom(atom.predicate, tuple(Variable(f"x{number}") for number in atom.variables))
        for atom in path.atoms
    )


def _conjunction(path: VariabilizedPath) -> Formula:
    atoms = _atoms(path)
    return And(atoms) if len(atoms) != 1 else atoms[0]


def _clause(path: VariabilizedPath) -> Formula:
    literals = tuple(Not(atom) for atom in _atoms(path))
    return Or(literals) if len(literals) != 1 else literals[0]
