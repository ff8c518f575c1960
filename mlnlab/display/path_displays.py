"""A path of a lifted hypergraph, and a variabilised one, as they show themselves in a cell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlnlab.display.lifted_edges import edge_name
from mlnlab.display.markup import Element, element
from mlnlab.display.mathematics import formula_markup, formula_text
from mlnlab.display.path_lit import lit_items
from mlnlab.display.path_panel import clause_of, conjunction_of
from mlnlab.display.path_view import drawing_of
from mlnlab.display.scene.items import Group, Layer, Scene
from mlnlab.display.scene.pictures import scene_image
from mlnlab.display.style import card, folded, quiet, title
from mlnlab.display.tables import bounded_table
from mlnlab.errors import count_of
from mlnlab.logic.formulas import And, Atom, Not, Or, Variable

if TYPE_CHECKING:
    from mlnlab.logic.formulas import Formula
    from mlnlab.structure.paths import Path
    from mlnlab.structure.variabilized import VariabilizedPath

_WIDTH = 560.0


def path_scene(path: Path) -> Scene:
    """Return the hyperedges of a path with their clusters."""
    drawing = drawing_of(path.graph, path.hyperedges, _WIDTH)
    drawn = Group(id="path", children=tuple(lit_items(path.graph, drawing, path.edges)))
    words = f"{count_of(len(path.edges), 'hyperedge')}: {_atoms_text(path.variabilized())}."
    return Scene(drawing.width, drawing.height, (Layer("drawn", (drawn,)),), "Path", words)


def path_display(path: Path) -> Element:
    """Return the display of a path: drawn, as conjunction and clause, and its hyperedges as a table."""
    scene, form = path_scene(path), path.variabilized()
    vocabulary = path.graph.hypergraph.vocabulary
    rows = ((edge_name(path.graph, edge), f"{edge.true:,}", f"{edge.atoms:,}") for edge in path.hyperedges)
    sizes = f"{count_of(len(path.edges), 'hyperedge')}, {count_of(path.true_atoms, 'true atom')}"
    return card(
        title("Path", sizes),
        scene_image(scene, f"{scene.title}: {scene.description}"),
        quiet("conjunction"),
        formula_markup(conjunction_of(form, vocabulary)),
        quiet("clause"),
        formula_markup(clause_of(form, vocabulary)),
        folded(
            "hyperedges",
            bounded_table(
                ("hyperedge", "true atoms", "of"), rows, len(path.edges), "hyperedges", numbers=(1, 2)
            ),
        ),
    )


def path_text(path: Path) -> str:
    """Return a path as text."""
    lines = (f"  {edge_name(path.graph, edge)} {edge.true:,} of {edge.atoms:,}" for edge in path.hyperedges)
    return "\n".join([repr(path), *lines])


def variabilized_display(path: VariabilizedPath) -> Element:
    """Return the display of a variabilised path: its conjunction and its clause."""
    dangling = len(path.dangling)
    words = f"{count_of(len(path.atoms), 'atom')}, {count_of(path.number_of_variables, 'variable')}"
    return card(
        title("Variabilised path", words + f", {dangling} of them dangling" * bool(dangling)),
        quiet("conjunction"),
        formula_markup(_conjunction(path)),
        quiet("clause"),
        element("div", formula_markup(_clause(path))),
    )


def variabilized_text(path: VariabilizedPath) -> str:
    """Return a variabilised path as text."""
    return _atoms_text(path)


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


def _atoms_text(path: VariabilizedPath) -> str:
    return formula_text(_conjunction(path))
