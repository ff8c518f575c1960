"""The view of an arithmetic circuit: evidence by clicks, numbers of all nodes, passes layer by layer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np
from traitlets import Dict, Unicode

from mlnlab.circuits.propositional.arithmetic_circuit import INDICATOR, SUM, ArithmeticCircuit
from mlnlab.display.card.markup import Element, fit
from mlnlab.display.circuits.circuit_drawings import (
    MOST_CHILDREN,
    MOST_DRAWN,
    QUANTITIES,
    CircuitShape,
    NodeNumbers,
    Quantity,
    ShownCircuit,
    choose_open_nodes,
    describe_node,
    last_pass,
    lay_out_circuit,
    list_drawn_nodes,
)
from mlnlab.display.circuits.circuit_lists import LISTED, By
from mlnlab.display.circuits.explorer_scenes import (
    IMPOSSIBLE,
    ExplorerState,
    explorer_markup,
    explorer_scene,
    list_rows_by,
)
from mlnlab.display.circuits.value_cells import ROWS
from mlnlab.errors import ArgumentError, MlnlabError
from mlnlab.factors.graphs.random_variables import Assignment, RandomVariable, show_name
from mlnlab.logic.suggestions import did_you_mean
from mlnlab.widgets.view.scene_view import NO_ROOM
from mlnlab.widgets.view.view import Message, View, script_of
from mlnlab.widgets.view.view_arguments import read_number

if TYPE_CHECKING:
    from mlnlab.display.scene.items import Scene

LARGE = 400  # nodes; a larger circuit is opened with the list of its layers


class ArithmeticView(View):
    """A view of an arithmetic circuit; every click of a page is a method too.

    ``set`` gives evidence or takes it back, ``show`` chooses the numbers, ``step_pass`` goes through the
    passes, ``expand`` and ``collapse`` open and close nodes, ``go`` draws what is below a node.
    """

    _esm = script_of("scene_view.js")
    scene = Dict().tag(sync=True)
    details = Unicode().tag(sync=True)

    def __init__(
        self, circuit: ArithmeticCircuit, evidence: Assignment | None = None, *, leaves: bool = False
    ) -> None:
        given = read_evidence(circuit.variables, evidence or {})  # raises before anything is to be closed
        numbers = number_nodes(circuit, given, best=False)
        super().__init__()
        shown = ShownCircuit(CircuitShape(circuit), numbers, top=len(circuit) - 1, leaves=leaves)
        shown = replace(shown, opened=choose_open_nodes(shown))
        self._state = ExplorerState(shown, given, by="layers" if len(circuit) > LARGE else None)
        self._layout = lay_out_circuit(shown)
        self._draw()

    # --- what is shown --------------------------------------------------------------------------

    @property
    def circuit(self) -> ArithmeticCircuit:
        """The circuit that is shown."""
        return self._state.shown.circuit

    @property
    def evidence(self) -> dict[str, str]:
        """The values that are given, by the names of their variables."""
        return name_evidence(self.circuit.variables, self._state.evidence)

    @property
    def numbers(self) -> NodeNumbers:
        """The numbers of all nodes given the evidence."""
        return self._state.shown.numbers

    @property
    def drawn(self) -> tuple[int, ...]:
        """The numbers of the nodes that are drawn."""
        return tuple(dict.fromkeys(one.node for one in self._layout.nodes if one.kind != "more"))

    @property
    def selected(self) -> int | None:
        """The node that is looked at closely."""
        return self._state.shown.selected

    # --- what can be done -----------------------------------------------------------------------

    def set(self, variable: str, value: object = None) -> None:
        """Give a value of a variable as evidence; without one, take the variable's evidence back."""
        number = number_of(self.circuit.variables, variable)
        given = dict(self._state.evidence)
        given.pop(number, None)
        if value is not None:
            given[number] = self.circuit.variables[number].number(value)
        self._evaluate(given)

    def forget(self) -> None:
        """Take all evidence back."""
        self._evaluate({})

    def show(self, quantity: Quantity) -> None:
        """Show the values, the derivatives or the flows of all nodes."""
        if quantity not in QUANTITIES:
            raise ArgumentError(f"The numbers of nodes are {', '.join(QUANTITIES)}, not {quantity!r:.60}.")
        self._change(quantity=quantity, passed=None)

    def show_best(self, shown: bool = True) -> None:
        """Mark a most probable state that agrees with the evidence, and the nodes that make it."""
        numbers = number_nodes(self.circuit, self._state.evidence, best=bool(shown))
        self._change(best=bool(shown), numbers=numbers)

    def step_pass(self, layers: int = 1) -> None:
        """Go through the layers of the upward and then the downward pass; before the first, begin."""
        by = read_number(layers, "A number of layers")
        passed = self._state.shown.passed
        wanted = 0 if passed is None else min(max(passed + by, 0), last_pass(self._state.shown))
        self._change(passed=wanted)

    def end_pass(self) -> None:
        """Show the numbers of all layers again."""
        self._change(passed=None)

    def show_leaves(self, shown: bool = True) -> None:
        """Draw each leaf once, as the papers do, or below each of its parents."""
        self._lay_out(leaves=bool(shown))

    def expand(self, *nodes: int) -> None:
        """Open nodes, so that their children are drawn."""
        chosen = frozenset(map(self._node, nodes))
        self._lay_out(opened=self._state.shown.opened | chosen)

    def collapse(self, *nodes: int) -> None:
        """Close nodes, so that nothing is drawn below them for their sake."""
        self._lay_out(opened=self._state.shown.opened - frozenset(map(self._node, nodes)))

    def widen(self, node: int) -> None:
        """Draw more children of a node: twice as many as are drawn."""
        number, widened = self._node(node), self._state.shown.widened
        more = 2 * widened.get(number, MOST_CHILDREN)
        self._lay_out(widened={**widened, number: more})

    def go(self, node: int | None = None) -> None:
        """Draw the part below a sum or a product; without one, draw the circuit from its root."""
        top = len(self.circuit) - 1 if node is None else self._node(node)
        if self.circuit.kinds[top] < SUM:
            raise ArgumentError(f"Node {top:,} is a leaf: nothing is below it.")
        moved = replace(self._state.shown, top=top, selected=None if node is None else top)
        self._lay_out(top=top, opened=choose_open_nodes(moved), selected=moved.selected)

    def list_by(self, by: By | None, chosen: int | None = None) -> None:
        """List nodes by "layers" or by "variables", those of a chosen one too; ``None`` closes the list."""
        if by not in {"layers", "variables", None}:
            raise ArgumentError(f'Nodes are listed by "layers" or by "variables", not by {by!r:.60}.')
        rows = [] if by is None else list_rows_by(self._state.shown, by)
        if chosen is not None and not 0 <= read_number(chosen, "A row of the list") < len(rows):
            raise ArgumentError(f"The list has rows 0 to {len(rows) - 1}, not {chosen}.")
        first = self._state.first_listed if by == self._state.by else 0
        self._restate(by=by, chosen=chosen, first_listed=first)

    def select(self, node: int | None) -> None:
        """Look closely at a node; ``None`` at none."""
        self._change(selected=None if node is None else self._node(node))

    # --- how it comes about ---------------------------------------------------------------------

    def _node(self, node: int) -> int:
        if not 0 <= read_number(node, "A node") < len(self.circuit):
            raise ArgumentError(f"Nodes are numbered 0 to {len(self.circuit) - 1:,}; there is no {node}.")
        return int(node)

    def _evaluate(self, given: Mapping[int, int]) -> None:
        numbers = number_nodes(self.circuit, given, best=self._state.shown.best)
        self._restate(evidence=given, shown=replace(self._state.shown, numbers=numbers))

    def _change(self, **changes: Any) -> None:  # noqa: ANN401 - fields of what is shown
        self._restate(shown=replace(self._state.shown, **changes))

    def _lay_out(self, **changes: Any) -> None:  # noqa: ANN401
        shown = replace(self._state.shown, **changes)
        if len(list_drawn_nodes(shown)[0]) > MOST_DRAWN:
            raise ArgumentError(NO_ROOM)
        with self._lock:
            self._layout = lay_out_circuit(shown)
            self._restate(shown=shown)

    def _restate(self, **changes: Any) -> None:  # noqa: ANN401 - fields of the state
        with self._lock:
            self._state = replace(self._state, **changes)
            self._draw()

    def _draw(self) -> None:
        self._drawn = explorer_scene(self._state, self._layout)
        with self.hold_sync():
            self.scene = self._drawn.to_json()
            self.details = fit(self._words())

    def _words(self) -> str:
        shown = self._state.shown
        if shown.numbers.log_probability == -inf:
            return IMPOSSIBLE
        return "" if shown.selected is None else describe_node(shown, shown.selected)

    # --- what a page says -----------------------------------------------------------------------

    def answer(self, kind: str, content: Message, buffers: Sequence[memoryview]) -> None:  # noqa: ARG002
        """Answer a click on an item; a name that is not drawn is left alone."""
        drawn = {item.id: item for item in self._drawn.items() if item.id}
        try:
            match kind, content:
                case "select", {"id": None}:
                    self.select(None)
                case "select", {"id": str(name)} if name in drawn and drawn[name].pick:
                    self.select(int(name.rpartition("-")[2]))
                case "expand", {"id": str(name), "open": bool(is_open)} if (
                    name in drawn and drawn[name].expands
                ):
                    (self.expand if is_open else self.collapse)(int(name.rpartition("-")[2]))
                case "press", {"id": str(name)} if name in drawn and drawn[name].press:
                    self._press(name)
        except MlnlabError as problem:
            self.details = fit(str(problem))

    def _press(self, name: str) -> None:
        word, *numbers = name.split("-")
        match word, numbers:
            case "value", [variable, value]:
                self._toggle(int(variable), int(value))
            case (("node" | "leaf"), [*_, node]) if self.circuit.kinds[int(node)] == INDICATOR:
                self._toggle(int(self.circuit.variable[int(node)]), int(self.circuit.value[int(node)]))
            case "more", [node]:
                self.widen(int(node))
            case "go", [node]:
                self.go(int(node))
            case (("layer" | "variable"), [row]):
                self.list_by(self._state.by, int(row))
            case "rows", [way]:
                self._restate(first=self._page(self._state.first, way, ROWS, len(self.circuit.variables)))
            case "list", [way] if self._state.by is not None:
                total = len(list_rows_by(self._state.shown, self._state.by))
                self._restate(first_listed=self._page(self._state.first_listed, way, LISTED, total))
            case _:
                self._press_plain(name)

    def _press_plain(self, name: str) -> None:
        shown, by = self._state.shown, self._state.by
        match name:
            case "values" | "derivatives" | "flows":
                self.show(name)
            case "best":
                self.show_best(not shown.best)
            case "leaves":
                self.show_leaves(not shown.leaves)
            case "pass-first":
                self._change(passed=0)
            case "pass-back" | "pass-on":
                self.step_pass(1 if name == "pass-on" else -1)
            case "pass-all":
                self.end_pass()
            case "by-layers":
                self.list_by(None if by == "layers" else "layers")
            case "by-variables":
                self.list_by(None if by == "variables" else "variables")
            case "root":
                self.go()
            case "forget":
                self.forget()

    def _toggle(self, variable: int, value: int) -> None:
        one = self.circuit.variables[variable]
        self.set(one.name, None if self._state.evidence.get(variable) == value else one.values[value])

    @staticmethod
    def _page(first: int, way: str, by: int, total: int) -> int:
        return max(0, min(first + (by if way == "behind" else -by), total - by))

    # --- the saved notebook ---------------------------------------------------------------------

    def static_scene(self) -> Scene | None:
        """Return the drawing as it is."""
        return self._drawn

    def static_markup(self) -> Element | None:
        """Return the drawing as a picture."""
        return explorer_markup(self._state, self._drawn)

    def __repr__(self) -> str:
        given = f"; given {', '.join(f'{name} = {value}' for name, value in self.evidence.items())}"
        return f"<Exploring {self.circuit!r}{given * bool(self.evidence)}>"


def number_nodes(circuit: ArithmeticCircuit, given: Mapping[int, int], *, best: bool) -> NodeNumbers:
    """Return the numbers of a circuit's nodes given values by the numbers of their variables."""
    evidence = name_evidence(circuit.variables, given)
    found = circuit.evaluate(evidence)
    if found.log_value == -inf:
        return NodeNumbers(found.log_values, found.log_derivatives, np.zeros(len(circuit)), None)
    return NodeNumbers(
        found.log_values, found.log_derivatives, found.flows, found.marginals(), circuit.log_z,
        frozenset(circuit.most_probable_nodes(evidence).tolist()) if best else frozenset(),
    )  # fmt: skip


def name_evidence(variables: Sequence[RandomVariable], given: Mapping[int, int]) -> dict[str, str]:
    """Return values by the names of their variables."""
    return {variables[number].name: variables[number].values[value] for number, value in given.items()}


def read_evidence(variables: Sequence[RandomVariable], evidence: Assignment) -> dict[int, int]:
    """Return values by numbers, after a look whether there are such."""
    numbers = {name: number_of(variables, name) for name in evidence}
    return {numbers[name]: variables[numbers[name]].number(value) for name, value in evidence.items()}


def number_of(variables: Sequence[RandomVariable], name: str) -> int:
    """Return the number of a variable."""
    names = [one.name for one in variables]
    if name not in names:
        hint = did_you_mean(str(name), names) or "."
        raise ArgumentError(f"There is no variable {show_name(str(name))}{hint}")
    return names.index(name)
