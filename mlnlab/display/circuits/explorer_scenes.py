"""Draw the explorer of arithmetic circuits in one frame: evidence, passes, lists, and the circuit below."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING

from mlnlab.display.card.cards import scene_image
from mlnlab.display.card.markup import Element, count_of, element
from mlnlab.display.card.style import card, quiet, title
from mlnlab.display.circuits.circuit_drawings import (
    QUANTITIES,
    CircuitLayout,
    ShownCircuit,
    circuit_scene,
    describe_node,
    last_pass,
    number_words,
)
from mlnlab.display.circuits.circuit_lists import By, ListRow, list_items, list_layers, list_variables
from mlnlab.display.circuits.value_cells import Beliefs, belief_pages
from mlnlab.display.scene.building import WIDTH
from mlnlab.display.scene.chips import Chip, chip_lines
from mlnlab.display.scene.items import Group, Item, Layer, Rectangle, Scene, Text
from mlnlab.display.scene.text_fitting import fit_text, text_width

if TYPE_CHECKING:
    from collections.abc import Sequence

_LABEL = 62.0
IMPOSSIBLE = "The evidence has probability 0: no state agrees with it."


@dataclass(frozen=True, slots=True, eq=False)
class ExplorerState:
    """The choices of an explorer: a drawing with its numbers, evidence, and which list stands open."""

    shown: ShownCircuit
    evidence: Mapping[int, int] = field(default_factory=dict)
    first: int = 0  # of the variables that are listed
    by: By | None = None
    first_listed: int = 0
    chosen: int | None = None  # the layer or the variable whose nodes are listed

    def beliefs(self) -> Beliefs:
        """Return the distributions of the variables, as they are drawn."""
        shown = self.shown
        variables, found = shown.circuit.variables, shown.numbers.marginals
        shares = [] if found is None else [tuple(found[one.name].values()) for one in variables]
        best = [-1] * len(variables) if shown.best else []
        for node in shown.numbers.best if shown.best else ():
            if shown.circuit.kinds[node] == 0:
                best[shown.circuit.variable[node]] = int(shown.circuit.value[node])
        return Beliefs(variables, shares, self.evidence, best)


def list_rows_by(shown: ShownCircuit, by: By) -> list[ListRow]:
    """Return all rows of a list."""
    return list_layers(shown.shape) if by == "layers" else list_variables(shown.shape)


def explorer_scene(state: ExplorerState, found: CircuitLayout | None = None) -> Scene:
    """Return all of it as one drawing; only the circuit pans and zooms."""
    shown = state.shown
    items: list[Item] = [Text(id="probability", x=8, y=18, text=_headline(state), look="words strong")]
    top = 26.0
    for label, chips in _toolbar(state):
        items.append(Text(x=8, y=top + 13.5, text=label, look="quiet small"))
        made, top = chip_lines(chips, _LABEL, top, WIDTH)
        items += made
    made, top = belief_pages(state.beliefs(), state.first, top + 4)
    items += made
    if state.by is not None:
        rows = list_rows_by(shown, state.by)
        made, top = list_items(shown, rows, state.by, state.first_listed, state.chosen, top + 4)
        items += made
    drawn = circuit_scene(shown, found)
    top += 6
    width = max(WIDTH, drawn.width)
    plate = Rectangle(x=0, y=0, width=width, height=top - 2, look="plate")
    layers = tuple(Layer(one.id, (Group(y=top, children=one.children),), one.zooms) for one in drawn.layers)
    controls = Layer("controls", (plate, *items), zooms=False)
    return Scene(width, top + drawn.height, (*layers, controls), drawn.title, drawn.description)


def _headline(state: ExplorerState) -> str:
    """Tell the root's value, and the probability of the evidence."""
    shown, given = state.shown, state.beliefs().evidence_words()
    log = shown.numbers.log_probability
    if log == -inf:
        return fit_text(f"P({given}) = 0: no state agrees with the evidence", WIDTH - 16, "words strong")
    root = f"root = {number_words(shown.numbers.log_root)}, its logarithm {shown.numbers.log_root:.6g}"
    if not given:
        return f"{root}: the sum of all terms"
    probability = f" = {number_words(log)}"
    room = WIDTH - 24 - text_width(f"{root} · {probability}", "words strong")
    return f"{root} · {fit_text(f'P({given})', room, 'words strong')}{probability}"


def _toolbar(state: ExplorerState) -> list[tuple[str, Sequence[Chip]]]:
    """Return the lines of buttons with their labels."""
    shown = state.shown
    last = last_pass(shown)
    tips = {
        "values": "the value of each node: the upward pass",
        "derivatives": "how much the root changes with each node: the downward pass",
        "flows": "value × derivative / root: the share of the probability that passes each node",
    }
    numbers: list[Chip] = [
        (name, name, tips[name], shown.passed is None and shown.quantity == name) for name in QUANTITIES
    ]
    numbers.append(("best", "most probable state", "mark the nodes that make it, and its values", shown.best))
    passes: list[Chip] = [("pass-first", "from the leaves", "begin with the upward pass", False)]
    if shown.passed is not None:
        passes += [
            ("pass-back", "‹", "the layer before", False), ("pass-on", "›", "the next layer", False),
            ("pass-all", f"{pass_words(shown)} ({shown.passed} of {last})", "show all numbers again", True),
        ]  # fmt: skip
    lists: list[Chip] = [
        ("by-layers", "by layer", "how many nodes each layer has", state.by == "layers"),
        ("by-variables", "by variable", "how many nodes stand next to each variable's leaves",
         state.by == "variables"),
        ("leaves", "each leaf once", "draw it once, as papers do, or below each parent", shown.leaves),
    ]  # fmt: skip
    if shown.top != len(shown.circuit) - 1:
        lists.append(("root", "back to the root", "draw the circuit from its root again", False))
    if state.evidence:
        lists.append(("forget", "forget the evidence", count_of(len(state.evidence), "value"), False))
    return [("numbers", numbers), ("pass", passes), ("nodes", lists)]


def pass_words(shown: ShownCircuit) -> str:
    """Say where the watched pass is."""
    highest = int(shown.shape.layers[-1])
    if shown.passed is None:
        return "all numbers"
    if shown.passed <= highest:
        return f"values, up to layer {shown.passed}"
    return f"derivatives, down to layer {2 * highest + 1 - shown.passed}"


def explorer_markup(state: ExplorerState, drawn: Scene) -> Element:
    """Return the explorer for a saved notebook: the drawing, and the selected node in words."""
    shown = state.shown
    words = "" if shown.selected is None else describe_node(shown, shown.selected)
    return card(
        title("Arithmetic circuit", drawn.description),
        scene_image(drawn, "An arithmetic circuit with its numbers, and the distributions of its variables."),
        quiet(IMPOSSIBLE) if shown.numbers.log_probability == -inf else None,
        element("div", *(element("div", line) for line in words.splitlines())) if words else None,
    )
