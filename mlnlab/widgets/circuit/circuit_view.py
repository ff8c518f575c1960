"""The view of a compiled model: its circuit with values, and sliders that move all numbers at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mlnlab.circuits.propositional.arithmetic_circuit import ArithmeticCircuit
from mlnlab.display.lifted.circuits.circuit_details import (
    circuit_program,
    details_of,
    explorer_markup,
    numbers_json,
)
from mlnlab.display.lifted.circuits.circuit_explorer import (
    MOST_SHOWN,
    ExploredCircuit,
    below,
    choose_folded_definitions,
    drawn_depths,
    explorer_scene,
    laid_out,
)
from mlnlab.errors import ArgumentError
from mlnlab.learning.circuits.learned_circuit import LearnedCircuit
from mlnlab.lifted.ask.cell_theory import CellTheory
from mlnlab.lifted.ask.circuit_numbers import CircuitNumbers, circuit_numbers
from mlnlab.lifted.ask.lift import LiftedCircuit
from mlnlab.widgets.circuit.arithmetic_view import ArithmeticView
from mlnlab.widgets.circuit.cell_view import CellView
from mlnlab.widgets.circuit.circuit_sliders import Sliders, Weights, sliders_of
from mlnlab.widgets.circuit.circuit_sliding import SlidingView
from mlnlab.widgets.view.scene_view import NO_ROOM
from mlnlab.widgets.view.view import Message
from mlnlab.widgets.view.view_arguments import read_number

if TYPE_CHECKING:
    from mlnlab.display.card.markup import Element
    from mlnlab.factors.graphs.random_variables import Assignment

_HINT = "Click a node: its theory, the rule that made it, its value and derivative."


class CircuitView(SlidingView):
    """A view of a first-order circuit to fold, query and move; every action of a page is a method too.

    ``numbers`` are those that are shown: of the last weights and sizes that could be evaluated.
    """

    def __init__(
        self, circuit: LiftedCircuit, sizes: Mapping[str, int] | None = None, weights: Weights | None = None,
        *, leaves: bool = False,
    ) -> None:  # fmt: skip
        sliders = sliders_of(circuit, sizes or {}, weights)  # raises before there is anything to be closed
        numbers = _numbers(circuit, sliders)
        super().__init__()
        self._sliders = sliders
        self._shown = ExploredCircuit(circuit, numbers, choose_folded_definitions(circuit), leaves=leaves)
        self._layout = laid_out(self._shown)
        self._drawn = explorer_scene(self._shown, self._layout)
        self.program = circuit_program(circuit)
        self._settle()

    # --- what is shown --------------------------------------------------------------------------

    @property
    def circuit(self) -> LiftedCircuit:
        """The circuit that is shown."""
        return self._shown.circuit

    @property
    def numbers(self) -> CircuitNumbers:
        """All numbers that are shown."""
        assert self._shown.numbers is not None  # noqa: S101 - a view begins with some
        return self._shown.numbers

    @property
    def sizes(self) -> dict[str, int]:
        """Where the sliders of the domains stand."""
        return dict(self._sliders.sizes)

    @property
    def selected(self) -> int | None:
        """The definition that is looked at closely."""
        return self._shown.selected

    @property
    def folded(self) -> frozenset[int]:
        """The definitions below which nothing is drawn."""
        return self._shown.folded

    # --- what can be done -----------------------------------------------------------------------

    def select(self, number: int | None) -> None:
        """Look closely at a definition, by its number; ``None`` at no one."""
        with self._lock:
            self._show(selected=None if number is None else self._number(number))
            self._settle()

    def fold(self, *numbers: int) -> None:
        """Draw nothing below these definitions; without numbers, below the root's calls."""
        chosen = frozenset(map(self._number, numbers)) or self._below_root()
        with self._lock:
            self._show(folded=self.folded | chosen)
            self._settle()

    def unfold(self, *numbers: int) -> None:
        """Unfold these definitions to draw their calls; without numbers, unfold all if there is room."""
        chosen = frozenset(map(self._number, numbers)) or self.folded
        with self._lock:
            left = self.folded - chosen
            if len(drawn_depths(self.circuit, left)) > MOST_SHOWN:
                raise ArgumentError(NO_ROOM)
            self._show(folded=left)
            self._settle()

    def show_leaves(self, shown: bool = True) -> None:
        """Draw leaves as nodes of their own, as the papers do, or as lines in their definitions."""
        with self._lock:
            self._show(leaves=bool(shown))
            self._settle()

    def _below_root(self) -> frozenset[int]:
        drawn = drawn_depths(self.circuit, self.folded)
        return frozenset(n for n in drawn if n and below(self.circuit, n))

    def _number(self, number: int) -> int:
        known = len(self.circuit.definitions)
        if not 0 <= read_number(number, "A definition") < known:
            raise ArgumentError(f"Definitions are numbered 0 to {known - 1}; there is no number {number}.")
        return int(number)

    def _show(self, **changes: Any) -> None:  # noqa: ANN401 - fields of what is shown
        self._shown = _replace_fields(self._shown, changes)
        if changes.keys() & {"folded", "leaves"}:
            self._layout = laid_out(self._shown)
        self._drawn = explorer_scene(self._shown, self._layout)

    # --- what is drawn and told -----------------------------------------------------------------

    def _move(self, sliders: Sliders) -> None:
        self._show(numbers=_numbers(self.circuit, sliders))

    def _values(self) -> dict[str, Any]:
        return numbers_json(self.circuit.mln, self.numbers)

    def _details(self) -> Iterable[tuple[str, str]]:
        return details_of(self._shown)

    def _switches(self) -> dict[str, Any]:
        return {"leaves": self._shown.leaves, "hint": _HINT}

    def _shown_sizes(self) -> str:
        return ", ".join(f"{type_} = {size:,}" for type_, size in self.numbers.sizes.items())

    # --- what a page says -----------------------------------------------------------------------

    def _handle_click(self, kind: str, content: Message) -> None:
        match kind, content:
            case "select", {"id": None}:
                self.select(None)
            case "select", {"id": str(name)} if (number := _number_in(name, "definition")) is not None:
                self.select(number)
            case "select", {"id": str(name)} if (called := _called_again(name)) is not None:
                self.select(called)
            case "expand", {"id": str(name), "open": bool(is_open)}:
                number = _number_in(name, "fold")
                if number is not None:
                    (self.unfold if is_open else self.fold)(number)
            case "leaves", {"shown": bool(shown)}:
                self.show_leaves(shown)

    # --- the saved notebook ---------------------------------------------------------------------

    def static_markup(self) -> Element | None:
        """Return the drawing and the numbers as a card."""
        return explorer_markup(self._shown)

    def __repr__(self) -> str:
        return f"<Exploring {self.circuit!r}; {self._shown_sizes() or 'no domains'}: {self.numbers.log_z!r}>"


def circuit_view(
    circuit: LiftedCircuit | CellTheory | ArithmeticCircuit | LearnedCircuit,
    sizes: Mapping[str, int] | None = None,
    weights: Weights | None = None, *, leaves: bool = False, evidence: Assignment | None = None,
) -> CircuitView | CellView | ArithmeticView:  # fmt: skip
    r"""Explore a compiled model: its circuit with values, with sliders for weights and domain sizes.

    Of what is compiled to cells the 1-types are shown, how many elements are in each, and r between them.

    A click on a node tells the theory that it stands for, the rule that made it, its value, and the
    derivative of log Z by it; a click on the sign below folds. ``leaves=True`` draws leaves as the papers do.
    ``ml.explore(circuit)`` is the same.

    An arithmetic circuit, learned or compiled, is explored with evidence: a click on an indicator, or on a
    value's bar, gives it or takes it back. A large circuit is opened as a list of its layers.

    >>> import mlnlab as ml
    >>> mln = ml.MLN.from_text("Smokes(person)\nFriends(person, person)\n"
    ...     "-0.01 Smokes(x)\n0.002 Friends(x, y) ^ Smokes(x) => Smokes(y)")
    >>> view = ml.circuit_view(ml.lift(mln).compile(), {"person": 1_000})
    >>> round(view.numbers.marginals[0].probability, 4)
    0.495
    >>> view.set(weights={1: 0.0}, sizes={"person": 30_000})
    >>> round(view.numbers.marginals[0].probability, 4)
    0.4975
    >>> view.select(0); view.fold(1)
    >>> view.close()
    >>> view = ml.circuit_view(ml.compile_circuit(ml.sample_network("greenhouse")))
    >>> view.set("Wilting", "yes")
    >>> round(view.numbers.marginals["Soil"]["dry"], 4)
    0.6378
    >>> view.close()
    """
    circuit = circuit.circuit if isinstance(circuit, LearnedCircuit) else circuit
    if isinstance(circuit, ArithmeticCircuit):
        if sizes is not None or weights is not None:
            raise ArgumentError("An arithmetic circuit has no domain sizes and no weights to move.")
        return ArithmeticView(circuit, evidence, leaves=leaves)
    if evidence is not None:
        raise ArgumentError("Evidence is for arithmetic circuits; a compiled model has none.")
    if isinstance(circuit, CellTheory) and not leaves:
        return CellView(circuit, sizes, weights)
    if not isinstance(circuit, LiftedCircuit):
        raise ArgumentError(
            f"This view shows a compiled model, from ml.lift(mln).compile(), or an arithmetic circuit, from "
            f"ml.learn_circuit or ml.compile_circuit, not {type(circuit).__name__}."
        )
    return CircuitView(circuit, sizes, weights, leaves=leaves)


def _numbers(circuit: LiftedCircuit, sliders: Sliders) -> CircuitNumbers:
    return circuit_numbers(circuit, dict(sliders.sizes), list(sliders.weights))


def _replace_fields(shown: ExploredCircuit, changes: Mapping[str, Any]) -> ExploredCircuit:
    return replace(shown, **changes)


def _number_in(name: str, word: str) -> int | None:
    """Return the number in an id such as ``definition-3``."""
    kind, _, number = name.partition("-")
    return int(number) if kind == word and number.isascii() and number.isdigit() else None


def _called_again(name: str) -> int | None:
    """Return the definition that a box such as ``again-9-0-2`` names: 2, which 9 calls first."""
    word, *numbers = name.split("-")
    known = word == "again" and len(numbers) == 3 and all(n.isascii() and n.isdigit() for n in numbers)
    return int(numbers[-1][:9]) if known else None
