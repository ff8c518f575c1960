"""Hold the shared view of a search's pictures: names of atoms and ground formulas, and broken constraints."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mlnlab.display.card.markup import shorten_text
from mlnlab.display.card.symbols import in_symbols
from mlnlab.display.inference.samplers.samplers_view import Latest
from mlnlab.inference.search.walk_arrays import broken_in
from mlnlab.kernels.search.walk_steps import BY_NOISE

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from mlnlab.inference.ask.solver import Solver
    from mlnlab.inference.search.world_search import WorldReader
    from mlnlab.logic.formulas.ground_atoms import GroundAtom

_LONGEST = 12  # literals of a clause that are written out
_LONGEST_NAME = 160


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
