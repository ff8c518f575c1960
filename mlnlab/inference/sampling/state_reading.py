"""Read the states of a sampler: many of them, with the model grounded once.

A picture that follows a run asks these questions twenty times a second, so the answers are arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import nan
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from mlnlab.inference.answers.query_instances import all_instances
from mlnlab.inference.sampling.estimates import (
    Asked,
    QueryEstimates,
    asked_of,
    estimate_marginals,
    open_atoms,
    query_estimates,
    warnings_of,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.grounding.question.question import Question
    from mlnlab.inference.answers.marginals import Marginals
    from mlnlab.inference.sampling.batches import Batches
    from mlnlab.inference.sampling.chains import Ground
    from mlnlab.logic.formulas.ground_atoms import GroundAtom


class StateReader(Protocol):
    """Reads the states of one sampler: ``names`` are the queries in the order asked."""

    @property
    def names(self) -> tuple[str, ...]:
        """The queries in the order asked: atoms, then formulas."""
        ...

    @property
    def known(self) -> NDArray[np.bool_]:
        """Which of them evidence decides, so that nothing is sampled."""
        ...

    def marginals(self, state: Any, /) -> Marginals:  # noqa: ANN401 - each method has states of its own
        """Return the probabilities as far as they are known in a state."""
        ...

    def estimates(self, state: Any, /) -> QueryEstimates:  # noqa: ANN401
        """Return the same numbers as arrays, in the order of the names; NaN before there are samples."""
        ...

    def warnings(self, state: Any, /) -> tuple[str, ...]:  # noqa: ANN401
        """Return sentences on why these probabilities may be wrong."""
        ...


@dataclass(frozen=True, eq=False)
class MarginalsReader:
    """Reads the states of a method that says nothing of them but marginals."""

    question: Question
    marginals: Callable[[Any], Marginals]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The queries in the order asked: atoms, then formulas."""
        instances = (text for text, _ in all_instances(self.question))
        return tuple(dict.fromkeys([*map(str, self.question.query_atoms), *instances]))

    @cached_property
    def known(self) -> NDArray[np.bool_]:
        """Which of them evidence decides."""
        unknown = {str(atom) for choice in self.question.choices for atom in choice.atoms}
        facts = {str(atom) for atom in self.question.query_atoms} - unknown
        return np.array([name in facts for name in self.names], np.bool_)

    def estimates(self, state: Any) -> QueryEstimates:  # noqa: ANN401 - each method has states of its own
        """Return the numbers as arrays, in the order of the names."""
        found = self.marginals(state)
        estimates = [found.estimates.get(name) for name in self.names]
        pairs = zip(self.names, estimates, strict=True)
        rows = [
            (e.error, e.r_hat, e.effective_size) if e else (found.error(name), nan, nan) for name, e in pairs
        ]
        errors, r_hats, sizes = np.array(rows, np.float64).reshape(-1, 3).T
        probabilities = np.array([found[name] for name in self.names], np.float64)
        if not (found.number_of_worlds or found.inexact):
            probabilities[~self.known] = nan
        return QueryEstimates(probabilities, errors, r_hats, sizes)

    def warnings(self, state: Any) -> tuple[str, ...]:  # noqa: ANN401
        """Return sentences on why these probabilities may be wrong."""
        return self.marginals(state).warnings


class ChainsState(Protocol):
    """A state of several chains that walk from world to world and add up counts."""

    @property
    def sweeps(self) -> int:
        """The sweeps of each chain."""
        ...

    @property
    def chosen(self) -> NDArray[np.uint32]:
        """The option of each choice, a row for each chain."""
        ...

    @property
    def log_weights(self) -> NDArray[np.float64]:
        """The log-weight of each chain's world."""
        ...

    @property
    def batches(self) -> Batches:
        """The sums over the samples."""
        ...


@dataclass(frozen=True, eq=False)
class ChainsReader:
    """Reads states of several chains, also for each chain alone: its world and its fractions."""

    method: str
    ground: Ground
    asked: Asked
    burn_in: int  # sweeps of each chain that are thrown away
    sweeps: int  # of each chain in a whole run

    @property
    def names(self) -> tuple[str, ...]:
        """The queries in the order asked: atoms, then formulas."""
        return self.asked.names

    @cached_property
    def known(self) -> NDArray[np.bool_]:
        """Which of them evidence decides."""
        return self.asked.columns < 0

    @cached_property
    def atoms(self) -> tuple[GroundAtom, ...]:
        """The open atoms in the order of their numbers."""
        return open_atoms(self.ground.clauses)

    def marginals(self, state: ChainsState) -> Marginals:
        """Return the probabilities as far as they are known in a state."""
        return estimate_marginals(self.method, self.ground, state.batches, 0.0)

    def estimates(self, state: ChainsState) -> QueryEstimates:
        """Return the same numbers as arrays, in the order of the names; NaN before there are samples."""
        found = query_estimates(self.asked, state.batches)
        if state.batches.samples:
            return found
        return replace(found, probabilities=np.where(self.known, found.probabilities, nan))

    def warnings(self, state: ChainsState) -> tuple[str, ...]:
        """Return sentences on why these probabilities may be wrong."""
        found = query_estimates(self.asked, state.batches)
        if not state.batches.samples:  # a burn-in has few samples by design
            found = replace(found, effective_sizes=np.full(len(self.names), nan))
        return warnings_of(self.ground.clauses, self.asked, found)

    def truths(self, state: ChainsState) -> NDArray[np.bool_]:
        """Return which open atoms are true in the chains' worlds, a row for each chain."""
        firsts = self.ground.clauses.first_atoms.astype(np.int64)
        chosen = state.chosen.astype(np.int64)
        found = np.zeros((len(chosen), len(self.atoms)), np.bool_)
        # An option beyond the atoms of a choice makes none of them true.
        chains, choices = np.nonzero(chosen < np.diff(firsts))
        found[chains, firsts[choices] + chosen[chains, choices]] = True
        return found

    def fractions(self, state: ChainsState, places: Sequence[int]) -> NDArray[np.float64]:
        """Return each chain's own fractions of some queries, a row for each chain; NaN before samples."""
        batches, columns = state.batches, self.asked.columns[list(places)]
        total = batches.partial[:, columns].copy()
        for batch in batches.complete:
            total += batch[:, columns]
        shares = total / batches.samples if batches.samples else np.full(total.shape, nan)
        return np.where(columns < 0, self.asked.truths[list(places)], shares)


def chains_reader(method: str, ground: Ground, burn_in: int, sweeps: int) -> ChainsReader:
    """Return a reader of the states of chains over ground clauses."""
    return ChainsReader(method, ground, asked_of(ground.clauses), burn_in, sweeps)
