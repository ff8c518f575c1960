"""``ml.marginals``: one door to the distributions of a factor graph's or Bayesian network's variables."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from mlnlab.errors import ArgumentError
from mlnlab.inference.answers.memory import bytes_of
from mlnlab.inference.ask.asking import TRACE_BYTES, SamplingWarning
from mlnlab.inference.ask.run_costs import (
    RunCost,
    limit_hours,
    refuse_hours,
    seconds_of_run,
    smaller_options,
)
from mlnlab.inference.messages.factor_arrays import FactorQuestion, factor_question
from mlnlab.inference.method import RunLength
from mlnlab.inference.networks.factor_gibbs import NAME as SAMPLING
from mlnlab.inference.networks.factor_methods import (
    JUNCTION_TREE,
    FactorMethod,
    TreeParams,
    choose_method,
    find_method,
    make_params,
    passing_of,
    tree_answer,
)
from mlnlab.steps import budget
from mlnlab.steps.budget import BOUNDLESS
from mlnlab.steps.free_memory import refuse_beyond_memory
from mlnlab.steps.recordings.trace import Trace
from mlnlab.steps.runs.interrupted import Interrupted
from mlnlab.steps.step import Observer, State, notify_observers, number_states, run

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mlnlab.factors.graphs.bayesian_network import BayesianNetwork
    from mlnlab.factors.graphs.factor_graph import FactorGraph
    from mlnlab.factors.graphs.random_variables import Assignment
    from mlnlab.inference.messages.factor_arrays import FactorQuestion
    from mlnlab.inference.networks.factor_answers import NetworkMarginals
    from mlnlab.inference.networks.factor_methods import FactorMethod


@dataclass(frozen=True, slots=True, eq=False)
class FactorRun:
    """A method with its parameters and its question; each iteration over it is a run of its own."""

    method: FactorMethod
    params: Any
    question: FactorQuestion

    def __iter__(self) -> Iterator[State]:
        return self.resume(None)

    def resume(self, state: State | None) -> Iterator[State]:
        """Yield the states that follow a state, of this process or from a checkpoint."""
        return self.method.steps(self.params, self.question, state)

    def marginals(self, state: State, seconds: float = 0.0) -> NetworkMarginals:
        """Return the distributions as far as they are known in a state."""
        known = self.method.read(self.params, self.question, state)
        return self.method.answer(self.params, self.question, known, seconds)

    def __repr__(self) -> str:
        return f"<FactorRun {self.method.name}: {self.question.number_of_variables:,} open, {self.params}>"


def _make_interruption(source: FactorRun, trace: Trace[State]) -> Interrupted:
    last = trace[-1]

    def read_known() -> NetworkMarginals:
        found = source.marginals(last.state, last.seconds)
        return replace(found, reason=f"stopped early; {found.reason}", trace=trace)

    name = source.method.name
    return Interrupted(
        f"{name} was stopped at step {last.index}; ml.so_far() returns its results.", read_known, last.state
    )


def marginals(
    model: FactorGraph | BayesianNetwork,
    evidence: Assignment | None = None,
    *,
    method: str = "auto",
    seed: int = 0,
    observers: Iterable[Observer] | None = (),
    most_hours: float | None = None,
    **options: object,
) -> NetworkMarginals:
    """Return the distribution of each variable of a factor graph or Bayesian network, given evidence.

    ``method`` is "junction-tree" (exact), "gibbs" (samples, with standard errors), "belief-propagation",
    "ijgp" (messages between clusters of at most ``i`` variables), "mean-field" or "structured-mean-field"
    (approximations), or "auto": the junction tree where its tables fit, else Gibbs sampling, or belief
    propagation where zeros cut the space; ``reason`` of the answer says which and why. The options are the
    method's: ``order=`` and ``most_cells=``; ``samples=``, ``burn_in=``, ``chains=``, ``thin=``; ``order=``,
    ``damping=``, ``tolerance=``, ``sweeps=``; ``i=``, ``turns=``, ``elimination=``; ``tree=`` (pairs of
    names) and ``begin=``. What they make longer than ``most_hours`` (24) is refused with its estimate.

    >>> import mlnlab as ml
    >>> network = ml.sample_network("greenhouse")
    >>> exact = ml.marginals(network, {"Wilting": "yes"})
    >>> round(exact["Soil"]["dry"], 4), exact.reason
    (0.6378, 'junction-tree: width 3, largest table 36 cells, so the answer is exact')
    >>> sampled = ml.marginals(network, {"Wilting": "yes"}, method="gibbs", seed=1)
    >>> abs(sampled["Soil"]["dry"] - exact["Soil"]["dry"]) < 5 * sampled.error("Soil", "dry")
    True
    """
    if method not in {"auto", JUNCTION_TREE}:
        find_method(method)
    if method == "auto":
        find_method(SAMPLING).settings(
            **options
        )  # misspelt options are refused also where they are not needed
    question = factor_question(model, evidence)
    name, why = choose_method(question) if method == "auto" else (method, "")
    if name == JUNCTION_TREE:
        return _exact(question, {} if method == "auto" else options, observers or ())
    known = options if name in {method, SAMPLING} else {}
    source = _run(name, question, seed, known)
    refuse_costly_network(source.method, source.params, question, most_hours)
    answer = _stepwise(source, observers or ())
    for warning in answer.warnings:
        warnings.warn(warning, SamplingWarning, stacklevel=2)
    return replace(answer, reason=f"{answer.reason} ({why})" if why else answer.reason)


def marginal_steps(
    model: FactorGraph | BayesianNetwork,
    evidence: Assignment | None = None,
    *,
    method: str = "gibbs",
    **options: object,
) -> FactorRun:
    """Return a method as an object to iterate over, to watch by ``ml.live`` and to step through.

    >>> import mlnlab as ml
    >>> run = ml.marginal_steps(ml.sample_network("lattice"), method="belief-propagation")
    >>> states = list(run)
    >>> states[-1].converged
    True
    >>> run.marginals(states[-1]).method
    'belief-propagation'
    """
    if method == JUNCTION_TREE:
        raise ArgumentError("The steps of a junction tree are those of ml.junction_tree(model).passing(...).")
    found = find_method(method)
    source = FactorRun(found, found.settings(**options), factor_question(model, evidence))
    refuse_beyond_network_chains(found, source.params, source.question)
    return source


def _run(name: str, question: FactorQuestion, seed: int, options: dict[str, object]) -> FactorRun:
    method = find_method(name)
    usual = {"seed": seed} if method.knows("seed") else {}
    return FactorRun(method, method.settings(**{**usual, **options}), question)


def _exact(
    question: FactorQuestion, options: dict[str, object], observers: Iterable[Observer]
) -> NetworkMarginals:
    began = time.perf_counter()
    passing = passing_of(question, make_params(JUNCTION_TREE, TreeParams, options))
    trace: Trace[State] = Trace(budget=TRACE_BYTES)
    steps = notify_observers(number_states(passing), (trace, *observers))
    found = tree_answer(question, passing, (step.state for step in steps))
    # All messages are in the trace, and they are what is kept; a clique's table is there while it is summed.
    memory = bytes_of(question, passing, found.distributions) + 8 * passing.tree.largest + trace.size
    return replace(found, trace=trace, seconds=time.perf_counter() - began, memory=memory)


def _stepwise(source: FactorRun, observers: Iterable[Observer]) -> NetworkMarginals:
    trace: Trace[State] = Trace(budget=TRACE_BYTES)
    try:
        last = run(source, observers=(trace, *observers))
    except KeyboardInterrupt:
        if not len(trace):
            raise
        raise _make_interruption(source, trace) from None
    known = source.marginals(last.state, last.seconds)
    held = bytes_of(source.question, last.state, known.distributions, known.estimates)
    return replace(known, trace=trace, memory=held + trace.size)


# --- costs --------------------------------------------------------------------------------------

# Hours of work, and more memory than is free, are refused.


def network_run_length(params: Any) -> RunLength:  # noqa: ANN401 - each method has parameters of its own
    """Return the length of a run, by its options."""
    if hasattr(params, "samples"):
        return RunLength(params.burn_in + params.samples * params.thin, chains=params.chains)
    return RunLength(params.sweeps, at_most=True)


def network_cost(method: FactorMethod, params: Any, question: FactorQuestion) -> RunCost:  # noqa: ANN401
    """Estimate the seconds and the bytes of a run."""
    length, usual = network_run_length(params), network_run_length(method.params())
    sweep = budget.LEAST_NETWORK_SWEEP + question.visits * budget.NETWORK_CELL.get(
        method.name, budget.NETWORK_TREE_CELL
    )
    memory = min(length.chains, BOUNDLESS) * (
        budget.CHAIN + budget.NETWORK_SUMS * float(question.sizes.sum())
    )
    return RunCost(seconds_of_run(length, usual, sweep), memory)


def refuse_beyond_network_chains(method: FactorMethod, params: Any, question: FactorQuestion) -> None:  # noqa: ANN401
    """Refuse a run whose chains do not fit into the memory that is free."""
    ways = smaller_options(params, method.params())
    refuse_beyond_memory(network_cost(method, params, question).memory, f"A run of {method.name}", ways)


def refuse_costly_network(
    method: FactorMethod, params: Any, question: FactorQuestion, most_hours: float | None  # noqa: ANN401
) -> None:  # fmt: skip
    """Refuse a run that takes more hours than are begun, or more memory than is free."""
    allowed = limit_hours(most_hours)
    refuse_beyond_network_chains(method, params, question)
    ways = smaller_options(params, method.params())
    at_most = network_run_length(params).at_most
    seconds = network_cost(method, params, question).seconds
    refuse_hours(method.name, seconds, allowed, ways, at_most=at_most)
