"""``ml.marginals``: one door to the distributions of a factor graph's or Bayesian network's variables."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from mlnlab.errors import ArgumentError
from mlnlab.inference.asking import TRACE_BYTES, SamplingWarning
from mlnlab.inference.factor_arrays import FactorQuestion, factor_question
from mlnlab.inference.factor_gibbs import NAME as SAMPLING
from mlnlab.inference.factor_methods import (
    JUNCTION_TREE,
    FactorMethod,
    TreeParams,
    chosen,
    named,
    passing_of,
    settled,
    tree_answer,
)
from mlnlab.inference.memory import bytes_of
from mlnlab.steps.step import numbered, run, watched
from mlnlab.steps.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mlnlab.factors.bayesian_network import BayesianNetwork
    from mlnlab.factors.factor_graph import FactorGraph
    from mlnlab.factors.random_variables import Assignment
    from mlnlab.inference.factor_answers import NetworkMarginals
    from mlnlab.steps.step import Observer, State


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
        return self.method.answer(self.params, self.question, state, seconds)

    def __repr__(self) -> str:
        return f"<FactorRun {self.method.name}: {self.question.number_of_variables:,} open, {self.params}>"


class MarginalsInterrupted(KeyboardInterrupt):
    """Somebody stopped a method that goes step by step; what it knew by then is not lost."""

    def __init__(self, source: FactorRun, trace: Trace[State]) -> None:
        self._source, self._trace = source, trace
        name, step = source.method.name, trace[-1].index
        super().__init__(f"{name} was stopped at step {step}; so_far() tells what it knew.")

    def so_far(self) -> NetworkMarginals:
        """Return the distributions as they were known."""
        last = self._trace[-1]
        known = self._source.marginals(last.state, last.seconds)
        return replace(known, reason=f"stopped early; {known.reason}", trace=self._trace)

    def _render_traceback_(self) -> list[str]:
        """Show the sentence alone in a notebook: IPython's own hook."""
        return [f"KeyboardInterrupt: {self}"]


def marginals(
    model: FactorGraph | BayesianNetwork,
    evidence: Assignment | None = None,
    *,
    method: str = "auto",
    seed: int = 0,
    observers: Iterable[Observer] | None = (),
    **options: object,
) -> NetworkMarginals:
    """Return the distribution of each variable of a factor graph or Bayesian network, given evidence.

    ``method`` is "junction-tree" (exact), "gibbs" (samples, with standard errors), "belief-propagation",
    "mean-field" or "structured-mean-field" (approximations), or "auto": the junction tree where its tables
    fit, else Gibbs sampling, or belief propagation where zeros cut the space; ``reason`` of the answer says
    which and why. The options are
    the method's: ``order=`` and ``most_cells=``; ``samples=``, ``burn_in=``, ``chains=``, ``thin=``;
    ``order=``, ``damping=``, ``tolerance=``, ``sweeps=``; ``tree=`` (pairs of names) and ``begin=``.

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
        named(method)
    if method == "auto":
        named(SAMPLING).settings(**options)  # misspelt options are refused also where they are not needed
    question = factor_question(model, evidence)
    name, why = chosen(question) if method == "auto" else (method, "")
    if name == JUNCTION_TREE:
        return _exact(question, {} if method == "auto" else options, observers or ())
    known = options if name in {method, SAMPLING} else {}
    answer = _stepwise(_run(name, question, seed, known), observers or ())
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
    found = named(method)
    return FactorRun(found, found.settings(**options), factor_question(model, evidence))


def _run(name: str, question: FactorQuestion, seed: int, options: dict[str, object]) -> FactorRun:
    method = named(name)
    usual = {"seed": seed} if method.knows("seed") else {}
    return FactorRun(method, method.settings(**{**usual, **options}), question)


def _exact(
    question: FactorQuestion, options: dict[str, object], observers: Iterable[Observer]
) -> NetworkMarginals:
    began = time.perf_counter()
    passing = passing_of(question, settled(JUNCTION_TREE, TreeParams, options))
    trace: Trace[State] = Trace(budget=TRACE_BYTES)
    steps = watched(numbered(passing), (trace, *observers))
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
        raise MarginalsInterrupted(source, trace) from None
    known = source.marginals(last.state, last.seconds)
    held = bytes_of(source.question, last.state, known.distributions, known.estimates)
    return replace(known, trace=trace, memory=held + trace.size)
