"""Hold the shared view of a search, and draw its world beside the best one so far."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mlnlab.display.card.markup import shorten_text
from mlnlab.display.card.symbols import in_symbols
from mlnlab.display.chart.bars import WIDTH, short_label
from mlnlab.display.inference.samplers.samplers_view import Latest
from mlnlab.display.inference.samplers.samplers_worlds import FALSE, FLIPPED, TRUE, mark_entries
from mlnlab.display.runs.runs import Draw, step_before
from mlnlab.display.scene.building import explained_scene, numbered_id, tooltip
from mlnlab.display.scene.items import Group, Layer, Path, Scene, Text
from mlnlab.display.scene.text_fitting import fit_text, text_width
from mlnlab.inference.search.walk_arrays import broken_in
from mlnlab.kernels.search.walk_steps import BY_NOISE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.inference.ask.solver import Solver
    from mlnlab.inference.search.world_search import WorldReader
    from mlnlab.logic.formulas.ground_atoms import GroundAtom
    from mlnlab.steps.recordings.trace import Trace
    from mlnlab.steps.step import Step

_LONGEST = 12  # literals of a clause that are written out
_LONGEST_NAME = 160
MOST_ATOMS = 120
_CELL, _HEAD, _WIDEST_NAME, _BETWEEN, _COLUMN = 20.0, 24.0, 200.0, 26.0, 40.0


class Move(NamedTuple):
    """The last move of a walk in words, and the choice that it changed; -1 for none."""

    words: str
    choice: int


@dataclass(frozen=True, eq=False)
class SearchView:
    """A search's question as its pictures need it; the model is grounded once."""

    solver: Solver
    reader: WorldReader
    atoms: tuple[GroundAtom, ...]
    broken: Callable[[Any], NDArray[np.uint32]] = field(init=False)

    def __post_init__(self) -> None:
        """Cache the broken constraints of the latest state."""
        object.__setattr__(self, "broken", Latest(self._list_broken_constraints))

    def _list_broken_constraints(self, state: Any) -> NDArray[np.uint32]:  # noqa: ANN401 - each method has states of its own
        """Return the constraints that are broken in the world of a state, the heaviest first."""
        found = np.asarray(broken_in(self.reader.landscape, world_of(state)))
        order = np.lexsort((found, -self.strengths[found]))
        ordered: NDArray[np.uint32] = found[order]
        return ordered

    @property
    def strengths(self) -> NDArray[np.float64]:
        """The cost of each constraint where it is broken."""
        network = self.reader.landscape.network
        return np.asarray(np.abs(np.concatenate([network.strengths, network.table_strengths])))

    def is_hard(self, constraint: int) -> bool:
        """Return whether a constraint must hold."""
        clauses = self.reader.landscape.clauses
        if constraint < clauses.number_of_clauses:
            return bool(clauses.hard[constraint])
        return bool(clauses.table_hard[constraint - clauses.number_of_clauses])

    def text(self, constraint: int) -> str:
        """Return the text of a constraint, as it should hold."""
        clauses = self.reader.landscape.clauses
        if constraint >= clauses.number_of_clauses:
            table = constraint - clauses.number_of_clauses
            first, end = clauses.scope_starts[table : table + 2].tolist()
            members = [self._member(choice) for choice in clauses.scope[first:end].tolist()]
            source = shorten_text(clauses.sources[clauses.table_sources[table]].text, _LONGEST_NAME)
            return in_symbols(f"{source} (about {', '.join(members[:_LONGEST])})")
        first, end = clauses.starts[constraint : constraint + 2].tolist()
        literals = clauses.literals[first:end].tolist()
        # A clause with a negative weight should be false: then the conjunction of its negations holds.
        unwanted = clauses.weights[constraint] < 0 and not clauses.hard[constraint]
        written = [
            f"{'!' if (literal & 1) != unwanted else ''}{self._name(literal >> 1)}"
            for literal in literals[:_LONGEST]
        ]
        more = [f"{len(literals) - _LONGEST:,} more"] if len(literals) > _LONGEST else []
        return in_symbols((" ^ " if unwanted else " v ").join([*written, *more]))

    def _member(self, choice: int) -> str:
        """Return the name of a choice: its atom, or the first one of its block."""
        first, end = self.reader.landscape.clauses.first_atoms[choice : choice + 2].tolist()
        return f"{self._name(first)}{' or its block' * (end - first > 1)}"

    def _name(self, atom: int) -> str:
        return shorten_text(str(self.atoms[atom]), _LONGEST_NAME)

    def option(self, choice: int, option: int) -> str:
        """Return the meaning of an option of a choice."""
        clauses = self.reader.landscape.clauses
        first, end = clauses.first_atoms[choice : choice + 2].tolist()
        if first + option < end:
            return f"{self._name(first + option)} is true"
        return f"{self._name(first)} is false" if end - first == 1 else "none of its block is true"

    def move(self, state: Any) -> Move:  # noqa: ANN401 - only walks tell their moves
        """Describe the last move of a walk, and its reason."""
        if not hasattr(state, "last") or state.last[0] < 0:
            return Move("", -1)
        constraint, choice, _, why = state.last.tolist()
        drawn = f"Drawn among the broken ones: {self.text(constraint)}. "
        if choice < 0:
            return Move(f"{drawn}All that could repair it has just changed, so it waits.", -1)
        now = self.option(choice, int(state.chosen[choice]))
        reason = "at random" if why == BY_NOISE else "that costs least"
        return Move(f"{drawn}Now {now}, {reason}.", choice)


def world_of(state: Any) -> NDArray[np.uint32]:  # noqa: ANN401 - each method has states of its own
    """Return the options of the world that a state is in; a proof is only ever in its best one."""
    found: NDArray[np.uint32] = state.chosen if hasattr(state, "chosen") else state.best
    return found


def search_view(solver: Solver) -> SearchView:
    """Return the view of a search; the model is grounded here."""
    atoms = tuple(atom for choice in solver.question.choices for atom in choice.atoms)
    return SearchView(solver, solver.reader(), atoms)


# --- worlds ---------------------------------------------------------------------------------------


class _Frame(NamedTuple):
    """The parts that stay from step to step: places, names and headings."""

    places: tuple[tuple[float, float], ...]
    names: tuple[str, ...]
    label: float
    headings: tuple[Text, ...]
    height: float


def worlds_part(view: SearchView) -> Draw:
    """Return a function that draws a row for each atom: its truth now, and in the best world."""
    frame_of = cache(lambda: _frame(view))

    def draw(step: Step[Any], trace: Trace[Any]) -> Scene:
        frame = frame_of()
        now, best = (_truths(view, world) for world in (world_of(step.state), step.state.best))
        earlier = step_before(step, trace)
        then = now if earlier is None else _truths(view, world_of(earlier.state))
        rows = tuple(
            _row(place, frame, bool(now[place]), bool(best[place]), bool(now[place] != then[place]), view)
            for place in range(len(frame.places))
        )
        rest = len(view.atoms) - len(rows)
        words = f"{rest:,} more open atoms are not drawn." if rest > 0 else ""
        drawn, size = Layer("rows", (*frame.headings, *rows)), (WIDTH, frame.height)
        told = _in_words(now, best)
        return explained_scene((drawn,), mark_entries(), size, "Worlds", told, gap=0, note=words)

    return draw


def _truths(view: SearchView, chosen: NDArray[np.uint32]) -> NDArray[np.bool_]:
    clauses = view.reader.landscape.clauses
    found = np.zeros(clauses.number_of_atoms, np.bool_)
    places = clauses.first_atoms[:-1].astype(np.int64) + chosen
    found[places[places < clauses.first_atoms[1:]]] = True
    return found


def _frame(view: SearchView) -> _Frame:
    names = [str(atom) for atom in view.atoms[:MOST_ATOMS]]
    shown = [fit_text(short_label(name), _WIDEST_NAME) for name in names]
    label = max(map(text_width, shown), default=0.0) + 10
    width = label + 2 * _COLUMN + _BETWEEN
    columns = min(max(1, int((WIDTH + _BETWEEN) // width)), -(-len(names) // 8) or 1)
    rows = -(-len(names) // columns)
    places = tuple(
        (place // rows * width, _HEAD + (place % rows + 0.5) * _CELL) for place in range(len(names))
    )
    headings = tuple(
        Text(
            x=column * width + label + (k + 0.5) * _COLUMN,
            y=16,
            text=text,
            look="quiet small",
            anchor="middle",
        )
        for column in range(columns)
        for k, text in enumerate(("now", "best"))
    )
    return _Frame(places, tuple(shown), label, headings, _HEAD + rows * _CELL + 8)


def _row(place: int, frame: _Frame, now: bool, best: bool, flipped: bool, view: SearchView) -> Group:
    x, y = frame.places[place]
    marks = [
        Path(path=TRUE if truth else FALSE, look="bar blue" if truth else "curve grey")
        for truth in (now, best)
    ]
    around = Path(path=FLIPPED if flipped else "", look="curve orange")
    words = f"{'true' if now else 'false'} now, {'true' if best else 'false'} in the best world so far"
    return Group(
        id=numbered_id("atom", place), x=x, y=y, tooltip=tooltip(str(view.atoms[place]), words),
        children=(
            Text(x=frame.label - 8, y=4.5, text=frame.names[place], look="words", anchor="end"),
            Group(x=frame.label + 0.5 * _COLUMN, children=(marks[0], around)),
            Group(x=frame.label + 1.5 * _COLUMN, children=(marks[1],)),
        ),
    )  # fmt: skip


def _in_words(now: NDArray[np.bool_], best: NDArray[np.bool_]) -> str:
    apart = int((now != best).sum())
    true = f"{int(now.sum()):,} open atoms are true now, {int(best.sum()):,} in the best world"
    return f"{true}; {apart:,} differ."
