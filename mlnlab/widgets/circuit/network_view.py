"""The view of a network of decision trees: evidence by clicks in the graph, exact distributions, trees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from traitlets import Dict, Unicode

from mlnlab.circuits.propositional.arithmetic_circuit import ArithmeticCircuit
from mlnlab.display.card.markup import Element, fit, shorten_text
from mlnlab.display.circuits.network_drawings import (
    ShownNetwork,
    choose_variables,
    lay_out_network,
    network_markup,
    network_scene,
)
from mlnlab.display.circuits.value_cells import Beliefs
from mlnlab.errors import ArgumentError, MlnlabError, TooLargeError, UnsatisfiableError
from mlnlab.factors.graphs.random_variables import Assignment
from mlnlab.factors.graphs.tree_network import TreeNetwork
from mlnlab.learning.circuits.learned_circuit import LearnedCircuit
from mlnlab.learning.networks.learned_network import LearnedNetwork
from mlnlab.widgets.circuit.arithmetic_view import name_evidence, number_of, read_evidence
from mlnlab.widgets.view.view import Message, View, script_of

if TYPE_CHECKING:
    from mlnlab.display.scene.items import Scene
    from mlnlab.factors.trees.network_answers import VariableMarginals

_LONGEST = 300


class NetworkView(View):
    """A view of a network; every click of a page is a method too: ``set``, ``forget`` and ``select``."""

    _esm = script_of("scene_view.js")
    scene = Dict().tag(sync=True)
    details = Unicode().tag(sync=True)

    def __init__(
        self, network: TreeNetwork, evidence: Assignment | None, circuit: ArithmeticCircuit | None
    ) -> None:
        given = read_evidence(network.variables, evidence or {})  # raises before there is anything to close
        found, note = _circuit_of(network, circuit)
        super().__init__()
        self._circuit, self._refusal = found, note
        self._marginals: VariableMarginals | None = None
        self._shown = ShownNetwork(network, Beliefs(network.variables), choose_variables(network, None))
        self._layout = lay_out_network(self._shown)
        self._evaluate(given)

    @property
    def network(self) -> TreeNetwork:
        """The network that is shown."""
        return self._shown.network

    @property
    def marginals(self) -> VariableMarginals | None:
        """The distributions that are shown; ``None`` where there are none."""
        return self._marginals

    @property
    def evidence(self) -> dict[str, str]:
        """The values that are given, by the names of their variables."""
        return name_evidence(self.network.variables, self._shown.beliefs.evidence)

    @property
    def selected(self) -> str | None:
        """The name of the variable whose tree is shown."""
        number = self._shown.selected
        return None if number is None else self.network.variables[number].name

    def set(self, variable: str, value: object = None) -> None:
        """Give a value of a variable as evidence; without one, take the variable's evidence back."""
        number = number_of(self.network.variables, variable)
        given = dict(self._shown.beliefs.evidence)
        given.pop(number, None)
        if value is not None:
            given[number] = self.network.variables[number].number(value)
        self._evaluate(given)

    def forget(self) -> None:
        """Take all evidence back."""
        self._evaluate({})

    def select(self, variable: str | None) -> None:
        """Show the decision tree of a variable, by its name; ``None`` shows none."""
        number = None if variable is None else number_of(self.network.variables, variable)
        with self._lock:
            drawn = choose_variables(self.network, number)
            moved = drawn != self._shown.drawn
            self._shown = replace(self._shown, selected=number, drawn=drawn)
            if moved:
                self._layout = lay_out_network(self._shown)
            self._draw()

    def _evaluate(self, given: Mapping[int, int]) -> None:
        variables, note = self.network.variables, self._refusal
        found = None
        if self._circuit is not None:
            try:
                found = self._circuit.marginals(name_evidence(variables, given))
            except UnsatisfiableError as problem:
                note = shorten_text(str(problem), _LONGEST)
        shares = [] if found is None else [tuple(found[one.name].values()) for one in variables]
        with self._lock:
            self._marginals = found
            self._shown = replace(self._shown, beliefs=Beliefs(variables, shares, given), note=note)
            self._draw()

    def _draw(self) -> None:
        self._drawn = network_scene(self._shown, self._layout)
        with self.hold_sync():
            self.scene = self._drawn.to_json()
            self.details = ""

    def answer(self, kind: str, content: Message, buffers: Sequence[memoryview]) -> None:  # noqa: ARG002
        """Answer a click on an item; a name that is not drawn is left alone."""
        drawn = {item.id: item for item in self._drawn.items() if item.id}
        try:
            match kind, content:
                case "select", {"id": None}:
                    self.select(None)
                case "select", {"id": str(name)} if name in drawn and name.startswith("variable-"):
                    self.select(self.network.variables[int(name.rpartition("-")[2])].name)
                case "select", {"id": str(name)} if name in drawn and drawn[name].pick:
                    self.details = fit(drawn[name].tooltip)
                case "press", {"id": str(name)} if name in drawn and drawn[name].press:
                    self._press(name)
        except MlnlabError as problem:
            self.details = fit(shorten_text(str(problem), _LONGEST))

    def _press(self, name: str) -> None:
        match name.split("-"):
            case ["value", variable, value]:
                number, chosen = int(variable), int(value)
                one, known = self.network.variables[number], self._shown.beliefs.evidence.get(number)
                self.set(one.name, None if known == chosen else one.values[chosen])
            case ["forget"]:
                self.forget()

    def static_scene(self) -> Scene | None:
        """Return the drawing as it is."""
        return self._drawn

    def static_markup(self) -> Element | None:
        """Return the drawing as a picture."""
        return network_markup(self._drawn)

    def __repr__(self) -> str:
        given = ", ".join(f"{name} = {value}" for name, value in self.evidence.items())
        return f"<View of {self.network!r}{f'; given {given}' * bool(given)}>"


def network_view(
    network: TreeNetwork | LearnedNetwork | LearnedCircuit, evidence: Assignment | None = None
) -> NetworkView:
    """Look at a network of decision trees: its graph, exact distributions given evidence, and its trees.

    A click on a value gives it as evidence or takes it back, a click on a variable's name shows its tree. The
    distributions come from an arithmetic circuit: a learned one, or the one that the network is compiled to.

    >>> import mlnlab as ml
    >>> from mlnlab.factors.graphs.tree_network import DecisionTree, TreeLeaf, TreeNetwork, TreeSplit
    >>> rain = DecisionTree((TreeLeaf((0.8, 0.2)),))
    >>> wet = DecisionTree((TreeSplit(0, (1, 2)), TreeLeaf((0.9, 0.1)), TreeLeaf((0.2, 0.8))))
    >>> variables = (ml.RandomVariable("Rain", ("no", "yes")), ml.RandomVariable("Wet", ("no", "yes")))
    >>> view = ml.network_view(TreeNetwork(variables, (rain, wet)))
    >>> view.set("Wet", "yes")
    >>> round(view.marginals["Rain"]["yes"], 4)
    0.6667
    >>> view.select("Wet")
    >>> view.close()
    """
    circuit = None
    if isinstance(network, LearnedCircuit):
        circuit, network = network.circuit, network.network
    elif isinstance(network, LearnedNetwork):
        network = network.trees
    if not isinstance(network, TreeNetwork):
        raise ArgumentError(
            "This view is of a network of decision trees, from ml.learn_network or ml.learn_circuit, not "
            f"{network!r:.60}."
        )
    return NetworkView(network, evidence, circuit)


def _circuit_of(
    network: TreeNetwork, circuit: ArithmeticCircuit | None
) -> tuple[ArithmeticCircuit | None, str]:
    """Return the circuit that answers for a network, or a sentence why there is none."""
    if circuit is not None:
        return circuit, ""
    from mlnlab.grounding.networks.circuit_door import compile_circuit  # its kernels load where needed

    try:
        return compile_circuit(network), ""
    except TooLargeError as refusal:
        return None, f"No distributions: {shorten_text(refusal.summary, _LONGEST)}"
