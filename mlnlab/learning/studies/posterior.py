r"""Sample the posterior distribution of weights by Hamiltonian Monte Carlo.

    P(w | x) ∝ P(x | w) P(w)        (lecture notes, eq. 43 to 46)

A walker in the landscape of -log P gets a random push p ~ N(0, M) and glides for some leapfrog steps

    p <- p + ε/2 g(w),   w <- w + ε M^-1 p,   p <- p + ε/2 g(w)

before where it came to is accepted with probability min(1, exp(-ΔH)), which makes the posterior exactly
the distribution that the chain settles in (Duane et al. 1987; Neal, "MCMC using Hamiltonian dynamics", 2011).
M is the Hessian at the most probable weights, so that all directions are of one length; ε and the number of
steps are drawn anew each time, so that no period of the landscape is met.

Needs: an exact log-likelihood (``ll``), a prior wherever the data leave a weight open; no Laplace prior.
Answers: the weights' mean (the Bayesian estimate), deviations, quantiles, with R-hat and effective samples.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.errors import ArgumentError
from mlnlab.inference.ask.run_costs import refuse_hours, smaller_options
from mlnlab.learning.ask.learner import WeightLearner, weight_learner
from mlnlab.learning.ask.learning_costs import time_work
from mlnlab.learning.ask.state_fits import sizes_of
from mlnlab.learning.diagnosis.runaways import runaways, runaways_in_words
from mlnlab.learning.problems.learning_state import frozen
from mlnlab.learning.problems.priors import Gaussian, PriorLike
from mlnlab.learning.studies.weight_samples import WeightPosterior
from mlnlab.logic.checked_options import above, check_options
from mlnlab.steps import budget
from mlnlab.steps.budget import limit_seconds
from mlnlab.steps.free_memory import refuse_beyond_memory
from mlnlab.steps.recordings.trace import Trace
from mlnlab.steps.run_identity import OfRun, resume_run, settings_text
from mlnlab.steps.state_layout import FLAG, TEXT, ArrayOf, Whole, holds
from mlnlab.steps.step import Observer, run
from mlnlab.steps.values.encoding import storable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.learning.problems.problem import Point, Problem
    from mlnlab.model.database.database import Database
    from mlnlab.model.mln.mln import MLN

    Numbers = NDArray[np.float64]

_USUAL_PRIOR = Gaussian(0.0, 2.0)
TRACE_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class Params:
    """How many samples of how many chains, and how far each glides: ``reach`` in posterior deviations."""

    samples: int = 1000
    chains: int = 4
    burn_in: int = 100
    steps: int = 8
    reach: float = 1.5
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse invalid parameters."""
        check_options(self, samples=4, chains=1, burn_in=0, steps=1, seed=0, reach=above(0))


@storable("posterior.State")
@dataclass(frozen=True, slots=True, eq=False)
class State(OfRun):
    """One sample of each chain; arrays are read-only."""

    iteration: int = field(metadata=holds(Whole()))
    # A row for each chain.
    parameters: Numbers = field(metadata=holds(ArrayOf(np.float64, ("chains", "parameters"))))
    weights: Numbers = field(metadata=holds(ArrayOf(np.float64, ("chains", "formulas"))))
    # Of each chain, up to a constant.
    log_densities: Numbers = field(metadata=holds(ArrayOf(np.float64, ("chains",))))
    # How many glides of each chain so far.
    accepted: Numbers = field(metadata=holds(ArrayOf(np.float64, ("chains",), least=0.0)))
    burning_in: bool = field(metadata=holds(FLAG))
    ended: str = field(default="", metadata=holds(TEXT))

    def metrics(self) -> Mapping[str, float]:
        """Return the numbers worth plotting."""
        share = float(self.accepted.mean()) / max(1, self.iteration)
        found = {"log_density": float(self.log_densities.mean()), "accepted_share": share}
        return found | {f"weight_{n}": float(w) for n, w in enumerate(self.weights.mean(axis=0)[:20])}


def glide(
    problem: Problem, start: Point, push: Numbers, mass: Numbers, step: float, steps: int
) -> tuple[Point, Numbers]:
    """Return where a walker comes to by leapfrog steps, and its push there."""
    point, inverse = start, np.linalg.inv(mass)
    for _ in range(steps):
        push = push + 0.5 * step * point.gradient
        point = problem.at(point.parameters + step * (inverse @ push))
        push = push + 0.5 * step * point.gradient
    return point, push


def sample_chains(
    params: Params, problem: Problem, mode: Numbers, start: State | None = None
) -> Iterator[State]:
    """Yield a state for each sample of all chains, those of the burn-in first; ``mode`` is the likeliest."""
    mass = problem.at(mode).hessian()
    root: Numbers = np.linalg.cholesky(mass).astype(np.float64)
    state = _first(params, problem, mode, mass) if start is None else start
    if start is None:
        yield state
    while not state.ended:
        # Each step has random numbers of its own, so that a run can go on from any state.
        random = np.random.default_rng([params.seed, state.iteration + 1])
        moved = [_glide_chain(params, problem, row, mass, root, random) for row in state.parameters]
        state = _state(params, state, moved)
        yield state


def _first(params: Params, problem: Problem, mode: Numbers, mass: Numbers) -> State:
    """Begin wider than the posterior, so that chains that do not mix can be told from those that do."""
    random = np.random.default_rng([params.seed, 0])
    away = random.standard_normal((params.chains, len(mode))) @ np.linalg.inv(np.linalg.cholesky(mass))
    points = [problem.at(mode + 2.0 * row) for row in away]
    none = np.zeros(params.chains)
    return _of(points, 0, none, burning_in=True)


def _glide_chain(
    params: Params, problem: Problem, parameters: Numbers, mass: Numbers, root: Numbers,
    random: np.random.Generator,
) -> tuple[Point, bool]:  # fmt: skip
    """Glide once from a chain's parameters; stay there where the glide is refused."""
    point = problem.at(parameters)
    push = root @ random.standard_normal(len(parameters))
    steps = int(random.integers(1, params.steps + 1))
    step = params.reach / params.steps * random.uniform(0.8, 1.2)
    reached, after = glide(problem, point, push, mass, step, steps)
    inverse = np.linalg.inv(mass)
    energies = [
        _read_value(one) - 0.5 * float(p @ inverse @ p) for one, p in ((reached, after), (point, push))
    ]
    accepted = bool(np.log(random.uniform()) < energies[0] - energies[1])
    return (reached if accepted else point), accepted


def _read_value(point: Point) -> float:
    return -np.inf if point.value is None else point.value


def _state(params: Params, before: State, moved: Sequence[tuple[Point, bool]]) -> State:
    iteration = before.iteration + 1
    last = iteration >= params.burn_in + params.samples
    return _of(
        [point for point, _ in moved], iteration,
        before.accepted + np.array([accepted for _, accepted in moved], np.float64),
        burning_in=iteration <= params.burn_in,
        ended=f"{params.samples:,} samples of each of {params.chains} chains were drawn" if last else "",
    )  # fmt: skip


def _of(
    points: Sequence[Point], iteration: int, accepted: Numbers, *, burning_in: bool, ended: str = ""
) -> State:
    return State(
        iteration, frozen(np.array([point.parameters for point in points])),
        frozen(np.array([point.weights for point in points])),
        frozen(np.array([_read_value(point) for point in points])), frozen(accepted), burning_in, ended,
    )  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class PosteriorSampler:
    """A source of states: iterate, or go on from one with ``resume``."""

    learner: WeightLearner
    params: Params
    mode: Numbers

    def __iter__(self) -> Iterator[State]:
        return self.resume(None)

    def resume(self, state: State | None) -> Iterator[State]:
        """Yield the states that follow a state."""
        own = self.learner.identity
        settings = ", ".join((own.settings, settings_text(self.params, ("samples",))))
        identity = replace(own, method="the posterior", settings=settings, seed=str(self.params.seed))
        sizes = {**sizes_of(self.learner.problem), "chains": self.params.chains}
        states = partial(sample_chains, self.params, self.learner.problem, self.mode)
        return resume_run(identity, State, state, states, lambda: sizes)

    def refuse_costly(self, most_hours: float | None) -> None:
        """Refuse samples that take more hours than are begun, or more memory than is free."""
        params, problem = self.params, self.learner.problem
        ways, formulas = smaller_options(params, Params()), len(problem.free.base)
        chains, samples = min(params.chains, budget.BOUNDLESS), min(params.samples, budget.BOUNDLESS)
        held = chains * (budget.CHAIN + 8.0 * formulas**2) + samples * (
            budget.POSTERIOR_STATE + 24.0 * chains * formulas
        )
        refuse_beyond_memory(held, "Samples of the posterior", ways)
        evaluations = (min(params.burn_in, budget.BOUNDLESS) + samples) * chains * (params.steps + 3) / 2
        seconds = evaluations * time_work(lambda: problem.at(self.mode))
        refuse_hours(
            "sampling",
            seconds,
            limit_seconds(most_hours, budget.MOST_SECONDS),
            ways,
            doing="the posterior",
            kept="",
        )


def weight_posterior(
    mln: MLN,
    db: Database | Sequence[Database],
    query: Sequence[str] | str | None = None,
    *,
    prior: PriorLike = _USUAL_PRIOR,
    samples: int = 1000,
    chains: int = 4,
    burn_in: int = 100,
    seed: int = 0,
    observers: Iterable[Observer] | None = (),
    most_hours: float | None = None,
    **options: Any,  # noqa: ANN401 - those of weight_learner
) -> WeightPosterior:
    r"""Return samples of the weights' posterior distribution, for models with an exact likelihood.

    What would take more than ``most_hours`` (6), or more memory than is free, is refused with its estimate.

    >>> import mlnlab as ml
    >>> mln = ml.MLN.from_text("Smokes(person)\nSmokes(x)")
    >>> db = ml.Database.from_text("Smokes(Anna)\nperson = {Bob, Carl}", mln)
    >>> found = ml.weight_posterior(mln, db, prior=ml.Gaussian(0, 1), samples=500)
    >>> found
    <WeightPosterior of 1 weights: 4 chains of 500 samples, R-hat at most 1.003>
    """
    params = Params(samples=samples, chains=chains, burn_in=burn_in, seed=seed)
    chosen = sorted({"method", "objective", "optimizer", "counts"} & set(options))
    if chosen:
        raise ArgumentError(
            f"The posterior is that of the exact log-likelihood: leave {', '.join(chosen)}= out."
        )
    learner = weight_learner("ll", mln, db, query, prior=prior, optimizer="l-bfgs", **options)
    problem = learner.problem
    if problem.priors.has_kinks or problem.free.is_bounded:
        raise ArgumentError("The posterior is sampled with Gaussian priors or none, and without bounds.")
    if runaways(problem):
        said = next(runaways_in_words(learner.data, problem))
        raise ArgumentError(f"There is no posterior without a prior here. {said}")
    *_, best = learner
    mode = problem.free.parameters_of(best.answer)
    if np.linalg.eigvalsh(problem.at(mode).hessian()).min() <= 1e-9:
        raise ArgumentError("The data do not tell some weights apart; there is no posterior without a prior.")
    sampler = PosteriorSampler(learner, params, mode)
    sampler.refuse_costly(most_hours)
    trace: Trace[State] = Trace(budget=TRACE_BYTES)
    kept = _Kept()
    run(sampler, observers=(trace, kept, *(observers or ())))
    rows = np.array(kept.weights).transpose(1, 0, 2)
    share = float(trace[-1].state.accepted.mean()) / trace[-1].state.iteration
    return WeightPosterior(learner.data, rows, share, trace)


class _Kept:
    """Keeps the samples after the burn-in."""

    def __init__(self) -> None:
        self.weights: list[Numbers] = []

    def on_step(self, step: Any) -> None:  # noqa: ANN401 - a step with a state of ours
        """Keep a sample."""
        if not step.state.burning_in:
            self.weights.append(step.state.weights)

    def on_end(self, last: Any) -> None:  # noqa: ANN401
        """Nothing is left to do."""
