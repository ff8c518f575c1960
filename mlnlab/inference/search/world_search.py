"""Share the work of searches for a most probable world: their result, and reading their states."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan
from typing import TYPE_CHECKING, Any, NamedTuple

from mlnlab.inference.answers.memory import bytes_of
from mlnlab.inference.sampling.chains import ONE_CHOSEN
from mlnlab.steps.state_layout import make_damage_error, unlike
from mlnlab.steps.step import Observer, State, run

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from mlnlab.inference.search.landscape import Cost, Landscape
    from mlnlab.logic.formulas.ground_atoms import GroundAtom


class Found(NamedTuple):
    """A world that a method found: its true atoms, its log-weight, and how much better another could be.

    ``gap`` bounds the log-weight that is missing to a most probable world: 0 where it is one, nan where
    nothing is known. ``broken`` counts what must hold and does not; then it is no possible world.
    ``against`` counts for each formula the groundings that the world scores against, where that is known.
    """

    true: frozenset[GroundAtom]
    log_weight: float
    gap: float = nan
    reason: str = ""
    broken: int = 0
    against: tuple[int, ...] | None = None
    memory: int = 0  # bytes that the method held, as counted from its arrays


@dataclass(frozen=True, slots=True, eq=False)
class WorldReader:
    """Reads the worlds in the states of a search; the model is grounded once for all of them."""

    landscape: Landscape

    def read_world(self, state: Any, reason: str = "") -> Found:  # noqa: ANN401 - each method has states of its own
        """Return the best world that was known in a state, if need be one from a file."""
        wrong = unlike(ONE_CHOSEN, state.best, self.landscape.sizes)
        if wrong:
            raise make_damage_error("This state", f"its best {wrong}")
        cost = self.landscape.cost(state.best)
        gap = 0.0 if not any(cost) else float(getattr(state, "gap", nan))
        log_weight = self.landscape.highest - cost.soft
        against = self.landscape.against(state.best)
        return Found(self.landscape.world(state.best), log_weight, gap, reason, cost.hard, against)

    def cost(self, chosen: NDArray[Any]) -> Cost:
        """Return the cost of a world, given by the options of its choices."""
        return self.landscape.cost(chosen)


def run_search(
    landscape: Landscape, states: Iterable[State] | Iterator[State], observers: Iterable[Observer], words: str
) -> Found:
    """Let a search run to its end and return the best world; ``words`` describe the search."""
    last: Any = run(states, observers=observers).state
    found = WorldReader(landscape).read_world(last)._replace(memory=_count_bytes(landscape, last))
    if found.gap == 0:
        why = "nothing is broken in this world, so none is more probable"
    else:
        why = "no proof that there is no better world"
    return found._replace(reason=f"{words.format(state=last)}; cost {last.best_cost:.6g}: {why}")


def _count_bytes(landscape: Landscape, last: Any) -> int:  # noqa: ANN401
    """Return the bytes of the ground model and of two walks: the current one and the last state."""
    question = landscape.clauses.question
    atoms = (question.true, question.choices, question.query_atoms)
    return bytes_of(*atoms, landscape) + 2 * bytes_of(last)


def frozen_copies(*arrays: NDArray[Any]) -> tuple[NDArray[Any], ...]:
    """Return copies of the arrays that nobody can change."""
    copies = tuple(array.copy() for array in arrays)
    for array in copies:
        array.setflags(write=False)
    return copies
