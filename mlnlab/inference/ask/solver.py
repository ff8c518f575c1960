"""``ml.solver``: a search for a most probable world as an object to iterate over, step by step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mlnlab.errors import ArgumentError
from mlnlab.grounding.question.question import Question, pose
from mlnlab.inference.ask.map_states import MapState, map_state_of
from mlnlab.inference.method import MOST_PROBABLE, Method
from mlnlab.inference.method_registry import find_method, methods
from mlnlab.steps.step import State, Step, number_states

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mlnlab.inference.search.world_search import WorldReader
    from mlnlab.logic.formulas.formulas import Formula
    from mlnlab.model.database.database import Database
    from mlnlab.model.mln.mln import MLN


@dataclass(frozen=True, slots=True, eq=False)
class Solver:
    """A search with its parameters and its question; each iteration over it is a run of its own.

    It yields states, so it can be handed to ``steps.run``, to a ``Trace``, to ``ml.live`` and ``ml.stepper``.
    """

    method: Method
    params: Any
    question: Question

    def __iter__(self) -> Iterator[State]:
        return self.resume(None)

    def steps(self) -> Iterator[Step[State]]:
        """Yield the states with their numbers and times."""
        return number_states(self)

    def resume(self, state: State | None) -> Iterator[State]:
        """Yield the states that follow a state, of this process or from a checkpoint."""
        return self.method.require_function(self.method.steps)(self.params, self.question, state)

    def reader(self) -> WorldReader:
        """Return a reader of the states' worlds; it grounds the model once."""
        return self.method.require_function(self.method.worlds)(self.params, self.question)

    def map_state(self, state: State) -> MapState:
        """Return the best world that is known in a state."""
        known = self.method.read(self.params, self.question, state)
        found = self.reader().read_world(known, f"{self.method.name}: as far as it had come")
        return map_state_of(self.question, found, self.method.name)

    def __repr__(self) -> str:
        atoms = sum(len(choice.atoms) for choice in self.question.choices)
        return f"<Solver {self.method.name}: {atoms:,} open atoms, {self.params}>"


def solver(
    name: str,
    mln: MLN,
    db: Database | Mapping[str, int] | None = None,
    query: Sequence[str | Formula] | str | Formula | None = None,
    *,
    open: Sequence[str] | str = (),  # noqa: A002 - the public name of infer's argument
    closed: Sequence[str] | str = (),
    given: Sequence[str | Formula] | str | Formula = (),
    **options: object,
) -> Solver:
    r"""Return a search to iterate over; it is asked as ``map_state`` is, the options are the method's.

    >>> import mlnlab as ml
    >>> mln = ml.MLN.from_text("Smokes(person)\nCancer(person)\n1.5 Smokes(x) => Cancer(x)\n0.4 !Cancer(x)")
    >>> db = ml.Database.from_text("Smokes(Anna)", mln)
    >>> solver = ml.solver("max-walk-sat", mln, db, ["Cancer"], flips=100, flips_per_state=1, seed=1)
    >>> states = list(solver)
    >>> states[-1].flips, round(states[-1].best_cost, 6)
    (100, 0.4)
    >>> sorted(map(str, solver.map_state(states[-1]).world.true_atoms))
    ['Cancer(Anna)', 'Smokes(Anna)']
    """
    method = find_method(name, MOST_PROBABLE)
    if method.steps is None or method.worlds is None:
        others = ", ".join(other.name for other in methods(MOST_PROBABLE) if other.steps is not None)
        raise ArgumentError(f"{name} cannot be run step by step; these can: {others}.")
    return Solver(method, method.settings(**options), pose(mln, db, query, open, given, closed))
