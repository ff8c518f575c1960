"""Read the states of MC-SAT, including its slices, and warn of badly drawn ones."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.errors import count_of
from mlnlab.inference.sampling.estimates import asked_of, estimate_marginals, query_estimates, warnings_of
from mlnlab.inference.sampling.state_reading import ChainsReader
from mlnlab.kernels.chains.sample_sat_components import FAILED, TIGHT

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.inference.answers.marginals import Marginals
    from mlnlab.inference.sampling.chains import Ground

OFTEN = 0.1  # of the tight components: so many that stayed as they were are told


@dataclass(frozen=True, eq=False)
class SliceReader(ChainsReader):
    """Reads states of MC-SAT."""

    def marginals(self, state: Any) -> Marginals:  # noqa: ANN401 - a state of MC-SAT
        """Return the probabilities as far as they are known in a state."""
        found = estimate_marginals(self.method, self.ground, state.batches, 0.0, single_changes=False)
        return replace(found, warnings=(*found.warnings, *slice_warnings(state)))

    def warnings(self, state: Any) -> tuple[str, ...]:  # noqa: ANN401 - a state of MC-SAT
        """Return sentences on why these probabilities may be wrong."""
        found = query_estimates(self.asked, state.batches)
        if not state.batches.samples:  # a burn-in has few samples by design
            found = replace(found, effective_sizes=np.full(len(self.names), nan))
        doubts = warnings_of(self.ground.clauses, self.asked, found, single_changes=False)
        return (*doubts, *slice_warnings(state))

    def select_constraints(self, state: Any) -> NDArray[np.bool_]:  # noqa: ANN401 - a state of MC-SAT
        """Return which clauses, and behind them tables, the last slices asked for, a row for each chain."""
        clauses = self.ground.clauses
        number = clauses.number_of_clauses + clauses.number_of_tables
        return np.unpackbits(state.joined, axis=1, count=number).astype(np.bool_)


def slice_warnings(state: Any) -> tuple[str, ...]:  # noqa: ANN401 - a state of MC-SAT
    """Say where slices were often too tight to be drawn."""
    failed, tight = int(state.tallies[:, FAILED].sum()), int(state.tallies[:, TIGHT].sum())
    if failed <= OFTEN * tight:
        return ()
    sentence = (
        f"In {count_of(failed, 'slice')} of {tight:,} that were too tight for plain tries, SampleSAT found no"
        " world in time, and part of the world stayed as it was. That is not an error, but the chains move"
        " slowly: raise moves=, or sample longer."
    )
    return (sentence,)


def slices_reader(method: str, ground: Ground, burn_in: int, sweeps: int) -> SliceReader:
    """Return a reader of MC-SAT states over ground clauses."""
    return SliceReader(method, ground, asked_of(ground.clauses), burn_in, sweeps)
