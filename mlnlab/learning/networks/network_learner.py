"""``ml.learn_network`` and ``ml.network_learner``: a table and parameters, to run, stop and resume."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from functools import cached_property, partial
from itertools import chain
from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.errors import ArgumentError, count_of
from mlnlab.factors.data.data_table import DataTable
from mlnlab.factors.data.table_coding import MISSING
from mlnlab.learning.networks.learned_network import LearnedNetwork
from mlnlab.learning.networks.tree_networks import TREES, NetworkParams, NetworkState, flaw, steps
from mlnlab.logic.checked_options import checked_observers, refuse_unknown_options
from mlnlab.steps.recordings.trace import Trace
from mlnlab.steps.run_identity import RunIdentity, check_state, digest, resume_run, settings_text
from mlnlab.steps.runs.interrupted import Interrupted
from mlnlab.steps.runs.run_line import show_progress
from mlnlab.steps.step import Observer, Step, number_states, run

if TYPE_CHECKING:
    from mlnlab.steps.state_layout import Sizes

TRACE_BYTES = 64 << 20
GOES_ON = "most_splits", "patience"  # how long a run lasts is no part of which run it is


@dataclass(frozen=True, eq=False)
class NetworkLearner:
    """A network learner to iterate over: each iteration is a run of its own, which yields its states."""

    table: DataTable
    params: NetworkParams
    valid: DataTable | None = None

    def __iter__(self) -> Iterator[NetworkState]:
        return self.resume(None)

    def steps(self) -> Iterator[Step[NetworkState]]:
        """Yield the states with their numbers and times."""
        return number_states(self)

    @cached_property
    def identity(self) -> RunIdentity:
        """The identity of a run on this table with these parameters."""
        tables = [table for table in (self.table, self.valid) if table is not None]
        cells = [np.asarray(table.rows, np.min_scalar_type(-self._most_values)) for table in tables]
        names = [(variable.name, variable.values) for variable in self.table.variables]
        settings = settings_text(self.params, GOES_ON)
        return RunIdentity(f"network of {self.params.cpds}", data=digest(*cells, names), settings=settings)

    @property
    def _most_values(self) -> int:
        return max((variable.size for variable in self.table.variables), default=1)

    def _sizes(self) -> Sizes:
        return {"variables": len(self.table.variables)}

    def check_state(self, state: object, called: str = "This state") -> NetworkState:
        """Return a state of this learner, or raise a sentence, before anything is computed from it."""
        checked = partial(flaw, self.table)
        return check_state(self.identity, NetworkState, state, self._sizes, checked, called)

    def resume(self, state: object) -> Iterator[NetworkState]:
        """Yield the states that follow a state, of this process or from a checkpoint; all after ``None``."""
        states = partial(steps, self.params, self.table, self.valid)
        return resume_run(self.identity, NetworkState, state, states, self._sizes, partial(flaw, self.table))

    def learned(self, trace: Trace[Any], seconds: float = nan) -> LearnedNetwork:
        """Return the network of a recorded run; of a stopped run the best so far."""
        return LearnedNetwork(self.table, self.params, trace, seconds, self.valid)

    def __repr__(self) -> str:
        return f"<NetworkLearner: {self.table!r}, {self.params}>"


def network_learner(
    train: object, cpds: str = TREES, *, valid: object = None, **options: object
) -> NetworkLearner:
    """Return a network learner to iterate over; the options are those of :func:`ml.learn_network`.

    >>> import mlnlab as ml
    >>> learner = ml.network_learner({"Rain": [0, 0, 0, 1, 1, 1] * 9, "Wet": [0, 0, 0, 1, 1, 0] * 9})
    >>> list(learner)[-1].ended
    'no split improves the score'
    """
    known = [one.name for one in fields(NetworkParams) if one.name != "cpds"]
    refuse_unknown_options("learn_network", options, known)
    params = NetworkParams(cpds, **options)  # type: ignore[arg-type]  # which are checked there
    table = DataTable.of(train)
    if not len(table) or not table.variables:
        raise ArgumentError(f"A network is learned from rows and columns, and here is {table!r}.")
    held_out = None if valid is None else DataTable.of(valid, table.variables)
    if held_out is not None and not (held_out.rows != MISSING).all(axis=1).any():
        raise ArgumentError(
            f"Held-out rows without missing cells are needed, and valid= has none among its "
            f"{count_of(len(held_out), 'row')}."
        )
    return NetworkLearner(table, params, held_out)


def learn_network(
    train: object,
    cpds: str = TREES,
    *,
    valid: object = None,
    observers: Iterable[Observer] | None = (),
    progress: bool | None = None,
    start: NetworkState | None = None,
    **options: object,
) -> LearnedNetwork:
    """Return a Bayesian network learned from a table: a frame, an array, a file, or a ``DataTable``.

    ``cpds``: "trees" (decision trees as conditional distributions), "tables", or "chow-liu" (the best tree of
    edges). Each step applies the split with the best gain in log-likelihood, less ``k_p`` for each parameter,
    or less -log ``kappa``; without both the penalty is log(N)/2. With ``valid``, held-out rows, there is no
    penalty unless one is given: the run goes on until ``patience`` (0.25) times as many splits have not
    improved their log-likelihood, and the best model on the way is the result.

    ``score="bayesian-dirichlet"`` takes the marginal likelihood instead of the likelihood, ``prior`` (1) is
    added to the count of each value, ``splits="subsets"`` splits values into two subsets, ``merge=True``
    unites leaves of a tree, ``most_splits`` limits the network. ``observers`` are called with each step,
    ``start`` is a state from which to go on; after Ctrl-C :func:`ml.so_far` returns the network so far.

    >>> import mlnlab as ml
    >>> net = ml.learn_network({"Rain": [0, 0, 0, 1, 1, 1] * 9, "Wet": [0, 0, 0, 1, 1, 0] * 9})
    >>> net.network
    <TreeNetwork of 2 variables and 3 leaves>
    >>> round(net.log_likelihood({"Rain": [1, 0], "Wet": [1, 0]}), 3)
    -0.926
    """
    learner = network_learner(train, cpds, valid=valid, **options)
    watching = checked_observers(observers)
    if start is not None:
        learner.check_state(start)
    trace: Trace[Any] = Trace(budget=TRACE_BYTES)
    began = time.perf_counter()
    with show_progress("learn_network", progress, watching) as line:
        states = learner.resume(start)
        try:
            run(states if start is None else chain([start], states),
                observers=(trace, *watching, *([line] if line is not None else [])))  # fmt: skip
        except KeyboardInterrupt:
            if not len(trace):
                raise
            raise _make_interruption(learner, trace, time.perf_counter() - began) from None
    return learner.learned(trace, time.perf_counter() - began)


def _make_interruption(learner: NetworkLearner, trace: Trace[Any], seconds: float) -> Interrupted:
    last: NetworkState = trace[-1].state
    return Interrupted(
        f"learn_network was stopped after {count_of(last.n_splits, 'split')}; ml.so_far() returns the "
        "network so far, and learner.resume(state) goes on.", lambda: learner.learned(trace, seconds), last,
    )  # fmt: skip
