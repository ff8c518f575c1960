"""Draw the atoms of a formula as buttons below its join graph: a stepper flips the one that is pressed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

from mlnlab.display.card.markup import shorten_text
from mlnlab.display.scene.building import WIDTH, numbered_id
from mlnlab.display.scene.buttons import Button, button_line
from mlnlab.display.scene.items import Item, Layer, Scene, Text
from mlnlab.display.scene.text_fitting import fit_text, text_width
from mlnlab.logic.formulas.ground_atoms import GroundAtom
from mlnlab.logic.formulas.traversal import predicates

if TYPE_CHECKING:
    from mlnlab.counting.steps.cluster_steps import ClusterRun
    from mlnlab.display.runs.runs import RunPicture

MOST_BUTTONS = 60
_LINE, _EDGE, _WIDEST = 24.0, 8.0, 150.0
_HINT = "● true, ○ false: click an atom to flip it; messages that had to be computed again are then lit."
_MORE = 'Too many atoms for a button each: stepper.flip("...") flips any of them.'


def with_atom_buttons(run: ClusterRun[Any], picture: RunPicture) -> RunPicture:
    """Return the pictures of a run with its atoms below the first of them."""
    atoms = list_atoms(run)
    (name, draw), *_ = picture.parts.items()

    def draw_both(step: Any, trace: Any) -> Scene:  # noqa: ANN401 - as all pictures of runs
        return _add_buttons(draw(step, trace), atoms, lambda atom: run.holds(atom, step.state))

    return replace(picture, parts={**picture.parts, name: draw_both})


def list_atoms(run: ClusterRun[Any]) -> tuple[GroundAtom, ...]:
    """Return all atoms of the predicates of the formula; none where these are too many for buttons."""
    words = run.facts.vocabulary
    domains = {name: [*map(words.domain, words[name].types)] for name in predicates(run.counter.formula)}
    if sum(prod(map(len, types)) for types in domains.values()) > MOST_BUTTONS:
        return ()
    return tuple(GroundAtom(name, row) for name, types in domains.items() for row in product(*types))


def _add_buttons(scene: Scene, atoms: tuple[GroundAtom, ...], holds: Callable[[GroundAtom], bool]) -> Scene:
    items: list[Item] = [
        Text(id="hint", x=_EDGE, y=scene.height + 14, text=_HINT if atoms else _MORE, look="quiet small")
    ]
    x, y, before = _EDGE, scene.height, ""
    for number, atom in enumerate(atoms):
        words = f"{'●' if holds(atom) else '○'} {fit_text(shorten_text(str(atom)), _WIDEST, 'small')}"
        if atom.predicate != before or x + text_width(words, "small") + 16 > WIDTH - _EDGE:
            x, y, before = _EDGE, y + _LINE, atom.predicate
        button: Button = (numbered_id("flip", number), words, "flip it")
        line, x = button_line([button], x, y)
        items += line
    width, height = max(scene.width, WIDTH), y + _LINE
    return replace(
        scene, width=width, height=height, layers=(*scene.layers, Layer("atoms", tuple(items), zooms=False))
    )
