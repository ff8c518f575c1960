"""``ml.learn_circuit`` and ``ml.circuit_learner``: a table, a method and prices, to run, stop and resume."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial
from itertools import chain
from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.errors import ArgumentError, count_of
from mlnlab.factors.data.data_table import DataTable
from mlnlab.factors.data.table_coding import MISSING
from mlnlab.factors.graphs.random_variables import show_name
from mlnlab.learning.circuits.chow_liu_circuits import chow_liu_flaw, chow_liu_steps
from mlnlab.learning.circuits.circuit_tuning import best_trial, is_range, tune_prices
from mlnlab.learning.circuits.learn_ac import LearnACParams, LearnACTask, flaw, steps
from mlnlab.learning.circuits.learned_circuit import LearnedCircuit, Trial
from mlnlab.learning.circuits.markov_circuits import USUAL_PRIOR, learn_weights_of
from mlnlab.learning.circuits.split_states import LearnACState
from mlnlab.logic.checked_options import checked_file, checked_observers, refuse_unknown_options
from mlnlab.logic.suggestions import did_you_mean
from mlnlab.steps.files.checkpoint import Checkpointer, load_checkpoint, previous_path
from mlnlab.steps.recordings.trace import Trace
from mlnlab.steps.run_identity import RunIdentity, check_state, digest, resume_run, settings_text
from mlnlab.steps.runs.interrupted import Interrupted
from mlnlab.steps.runs.run_line import show_progress
from mlnlab.steps.step import Observer, Step, number_states, run

if TYPE_CHECKING:
    from os import PathLike

    from mlnlab.learning.problems.priors import PriorLike

METHODS = "quick", "greedy", "chow-liu", "markov"
TRACE_BYTES = 64 << 20
_SECONDS = 10.0  # between two writes of a checkpoint
_GOES_ON = "most_splits", "most_edges"  # how long a run lasts is no part of which run it is


@dataclass(frozen=True, eq=False)
class CircuitLearner:
    """A circuit learner to iterate over: each iteration is a run of its own, which yields its states.

    A Markov network gets its weights when a run is over, from its last state.
    """

    train: DataTable
    params: LearnACParams
    method: str = "quick"
    valid: DataTable | None = None
    weight_prior: PriorLike = field(default=USUAL_PRIOR, repr=False)

    def __iter__(self) -> Iterator[LearnACState]:
        return self.resume(None)

    def steps(self) -> Iterator[Step[LearnACState]]:
        """Yield the states with their numbers and times."""
        return number_states(self)

    @cached_property
    def task(self) -> LearnACTask:
        """The data of a run."""
        return LearnACTask(self.train, self.valid)

    @cached_property
    def identity(self) -> RunIdentity:
        """The identity of a run on this table with these prices."""
        tables = [table for table in (self.train, self.valid) if table is not None]
        names = [(variable.name, variable.values) for variable in self.train.variables]
        settings = settings_text(self.params, _GOES_ON)
        return RunIdentity(
            f"circuit by {self.method}", data=digest(*(table.rows for table in tables), names),
            settings=settings,
        )  # fmt: skip

    def check_state(self, state: object, called: str = "This state") -> LearnACState:
        """Return a state of this learner, or raise a sentence, before anything is computed from it."""
        return check_state(self.identity, LearnACState, state, dict, self._flaw, called)

    def _flaw(self, state: LearnACState) -> str:
        found = chow_liu_flaw if self.method == "chow-liu" else flaw
        return found(self.task, self.params, state)

    def resume(self, state: object) -> Iterator[LearnACState]:
        """Yield the states that follow a state, of this process or from a checkpoint; all after ``None``."""
        follow = chow_liu_steps if self.method == "chow-liu" else steps
        states = partial(follow, self.task, self.params)
        return resume_run(self.identity, LearnACState, state, states, dict, self._flaw)

    def learned(self, trace: Trace[Any], seconds: float = nan) -> LearnedCircuit:
        """Return the circuit of a recorded run; of a stopped run the one so far."""
        found = LearnedCircuit(self.train, self.params, self.method, trace, seconds, self.valid)
        if self.method != "markov":
            return found
        return replace(found, weighed=learn_weights_of(found, self.weight_prior))

    def __repr__(self) -> str:
        return f"<CircuitLearner {self.method}: {self.train!r}, {self.params}>"


def circuit_learner(
    train: object, method: str = "quick", *, valid: object = None, weight_prior: PriorLike = USUAL_PRIOR,
    **options: object,
) -> CircuitLearner:  # fmt: skip
    """Return a circuit learner to iterate over; the options are those of :func:`ml.learn_circuit`.

    >>> import mlnlab as ml
    >>> learner = ml.circuit_learner({"Rain": [0, 0, 0, 1, 1, 1] * 9, "Wet": [0, 0, 0, 1, 1, 0] * 9})
    >>> [state.edges for state in learner]
    [14, 20, 20]
    """
    table, held_out = read_tables(train, valid)
    return make_learner(table, held_out, method, options, weight_prior)


def read_tables(train: object, valid: object) -> tuple[DataTable, DataTable | None]:
    """Return the tables of a run; refuse those that nothing can be learned from."""
    table = DataTable.of(train)
    if not len(table) or not table.variables:
        raise ArgumentError(f"A circuit is learned from rows and columns, and here is {table!r}.")
    held_out = None if valid is None else DataTable.of(valid, table.variables)
    if held_out is not None and not len(held_out):
        raise ArgumentError("valid= has no rows, and prices are judged by their log-likelihood.")
    for called, given in (("train", table), ("valid", held_out)):
        wrong = [] if given is None else np.argwhere(given.rows == MISSING).tolist()
        if wrong:
            row, column = wrong[0]
            raise ArgumentError(
                f"Circuits are learned from rows without missing cells: row {row + 1:,} of {called} lacks "
                f"{show_name(table.variables[column].name)}. Leave such rows out, or give missing cells a "
                "value of their own."
            )
    return table, held_out


def make_learner(
    train: DataTable,
    valid: DataTable | None,
    method: str,
    options: dict[str, object],
    weight_prior: PriorLike,
) -> CircuitLearner:
    """Return a learner of tables that were read."""
    if method not in METHODS:
        raise ArgumentError(
            f"There is no method {method!r:.40}{did_you_mean(str(method), METHODS) or '.'} "
            f"Circuits are learned by {', '.join(METHODS)}."
        )
    known = [one.name for one in fields(LearnACParams) if one.name != "quick"]
    refuse_unknown_options("learn_circuit", options, known)
    params = LearnACParams(**options, quick=method != "greedy")  # type: ignore[arg-type]  # checked there
    return CircuitLearner(train, params, method, valid, weight_prior)


def learn_circuit(
    train: object,
    valid: object = None,
    method: str = "quick",
    *,
    k_e: float | Sequence[float] = 0.1,
    k_p: float | Sequence[float] = 1.0,
    weight_prior: PriorLike = USUAL_PRIOR,
    observers: Iterable[Observer] | None = (),
    progress: bool | None = None,
    start: LearnACState | None = None,
    checkpoint: str | PathLike[str] | None = None,
    **options: object,
) -> LearnedCircuit:
    """Return an arithmetic circuit learned from a table: a frame, an array, a file, or a ``DataTable``.

    ``method``: "greedy" (each step takes the best split) or "quick" (old edge costs are taken as bounds;
    several times as quick, nearly as good), both LearnAC of the thesis, chapter 5; "chow-liu", the best tree;
    "markov", a Markov network on the splits of "quick", its weights learned by exact gradients with
    ``weight_prior`` (``ml.Gaussian``, ``ml.Laplace``).

    ``k_e`` is the price of an edge and ``k_p`` that of a parameter. Where one of them is a list, ``valid``
    chooses: one run for each ``k_e`` gives the models of all ``k_p``, and the best prices learn again from
    all rows. ``edges="table 5.2"`` charges for nodes with one child, too, which SplitAC makes as it is
    printed; ``score="bayesian-dirichlet"``, ``prior`` (1, added to the count of each value),
    ``most_splits`` and ``most_edges`` are further options.

    ``observers`` are called with each step, ``start`` is a state from which to go on, ``checkpoint`` names a
    file that the run writes to, and that the same call goes on from. After Ctrl-C :func:`ml.so_far` returns
    the circuit so far.

    >>> import mlnlab as ml
    >>> ac = ml.learn_circuit({"Rain": [0, 0, 0, 1, 1, 1] * 9, "Wet": [0, 0, 0, 1, 1, 0] * 9})
    >>> ac
    <LearnedCircuit by quick: 2 variables, 1 split, 20 edges>
    >>> round(ac.query({"Rain": "1"}, evidence={"Wet": "1"}), 3)
    0.95
    """
    table, held_out = read_tables(train, valid)
    watching = checked_observers(observers)
    trials: tuple[Trial, ...] = ()
    if is_range(k_e) or is_range(k_p):
        if held_out is None:
            raise ArgumentError(
                "Several prices are judged on validation rows: give valid=, or one k_e and k_p."
            )

        def learn(given: dict[str, object]) -> LearnedCircuit:
            learner = make_learner(table, held_out, method, {**options, **given}, weight_prior)
            return complete_run(learner, watching, None, progress)

        trials = tune_prices(learn, k_e, k_p)
        best = best_trial(trials)
        k_e, k_p = best.k_e, best.k_p
        table, held_out = DataTable(table.variables, np.vstack([table.rows, held_out.rows])), None
    learner = make_learner(table, held_out, method, {**options, "k_e": k_e, "k_p": k_p}, weight_prior)
    written, writing = _checkpointing(checkpoint, learner)
    found = complete_run(learner, [*watching, *writing], written if start is None else start, progress)
    return replace(found, trials=trials)


def complete_run(
    learner: CircuitLearner, observers: Iterable[Observer], start: LearnACState | None, progress: bool | None
) -> LearnedCircuit:
    """Run a learner to its end, with observers, and return the learned circuit."""
    if start is not None:
        learner.check_state(start)
    trace: Trace[Any] = Trace(budget=TRACE_BYTES)
    watching, began = [*observers], time.perf_counter()
    with show_progress("learn_circuit", progress, watching) as line:
        states = learner.resume(start)
        try:
            run(states if start is None else chain([start], states),
                observers=(trace, *watching, *([line] if line is not None else [])))  # fmt: skip
            return learner.learned(trace, time.perf_counter() - began)
        except KeyboardInterrupt:
            if not len(trace):
                raise
            raise _make_interruption(learner, trace, time.perf_counter() - began) from None


def _make_interruption(learner: CircuitLearner, trace: Trace[Any], seconds: float) -> Interrupted:
    last: LearnACState = trace[-1].state
    return Interrupted(
        f"learn_circuit was stopped after {count_of(last.number, 'split')}; ml.so_far() returns the circuit "
        "so far, and learner.resume(state) goes on.",
        lambda: LearnedCircuit(
            learner.train, learner.params, learner.method, trace, seconds, learner.valid
        ), last,
    )  # fmt: skip


def _checkpointing(
    path: str | PathLike[str] | None, learner: CircuitLearner
) -> tuple[LearnACState | None, tuple[Checkpointer, ...]]:
    """Return the state in a file, if there is one, and the observers that go on writing to it."""
    if path is None:
        return None, ()
    file = checked_file(path)
    if not file.absolute().parent.is_dir():
        raise ArgumentError(
            f"There is no folder {str(file.absolute().parent)!r:.200} to write checkpoints to."
        )
    writing = (Checkpointer(file, seconds=_SECONDS, meta={"settings": learner.identity.settings}),)
    if not file.exists() and not previous_path(file).exists():
        return None, writing
    found = load_checkpoint(file)
    return learner.check_state(found.state, found.path.name), writing
