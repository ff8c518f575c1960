"""``ml.tune_rate``: learning rates chosen on validation data, for CLL and for AUC (thesis, section 4.3.3).

Each rate learns from the tuning databases for as long as is allowed and is judged on the validation
databases; what is best there by a measure then learns again from all of them together. The thesis found plain
gradient descent so sensitive to rates that more data could upset the rates that fewer data had chosen.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite, nan
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.errors import ArgumentError
from mlnlab.learning.ask.held_out import HiddenAtoms, Measure, hidden_atoms
from mlnlab.learning.ask.learner import WeightLearner, complete_run, weight_learner
from mlnlab.learning.ask.presets import find_preset
from mlnlab.learning.optimizers.gradient_descent import Params as DescentParams
from mlnlab.learning.optimizers.gradient_descent import first_rate, rates_of
from mlnlab.learning.optimizers.stochastic_meta_descent import Params as MetaParams
from mlnlab.model.database.database import Database
from mlnlab.steps.step import run

if TYPE_CHECKING:
    import pandas as pd

    from mlnlab.learning.ask.learned_weights import LearnedWeights
    from mlnlab.model.mln.mln import MLN

FACTORS = (1 / 16, 1 / 4, 1, 4, 16, 64)  # of the rate that curvature says
MEASURES: tuple[Measure, ...] = ("cll", "auc")
_COLUMNS = (
    "rate", "cll", "cll_error", "auc", "auc_error", "iterations", "seconds", "taken_back",
    "best_cll", "best_auc",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Trial:
    """One rate: its scores on the validation databases, and its cost."""

    rate: float
    cll: float
    cll_error: float
    auc: float
    auc_error: float
    iterations: int
    seconds: float
    taken_back: int  # steps after which the gradient had grown too long


@dataclass(frozen=True, eq=False)
class TunedRate:
    """Which rates were tried, and which is best by either measure; ``learn()`` learns again from all data."""

    trials: tuple[Trial, ...]
    method: str
    mln: MLN
    databases: tuple[Database, ...]  # those tuned on, and those judged by
    query: tuple[str, ...]
    options: Mapping[str, Any]

    def rate(self, by: Measure = "cll") -> float:
        """Return the rate that was best on the validation databases."""
        return self._best(by).rate

    def _best(self, by: Measure) -> Trial:
        return best_trial(self.trials, by)

    def learn(self, by: Measure = "cll", **options: Any) -> LearnedWeights:  # noqa: ANN401 - of learn_weights
        """Learn from all databases with the best rate; ``options`` replace those of tuning."""
        given = {**self.options, **options, "rate": self.rate(by)}
        observers = given.pop("observers", None) or ()
        began = time.perf_counter()
        asked = self.method, self.mln, list(self.databases), list(self.query) or None
        return complete_run(weight_learner(*asked, **given), observers, began)

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each rate."""
        import pandas as pd

        best = {
            by: max((getattr(t, by) for t in self.trials if isfinite(getattr(t, by))), default=nan)
            for by in MEASURES
        }
        rows = [
            [
                *(getattr(trial, name) for name in _COLUMNS[:-2]),
                *(getattr(trial, by) == best[by] for by in MEASURES),
            ]
            for trial in self.trials
        ]
        return pd.DataFrame(rows, columns=list(_COLUMNS))

    def __repr__(self) -> str:
        said = [
            f"{self._best(by).rate:.3g} by {by.upper()}"
            for by in MEASURES
            if any(isfinite(getattr(trial, by)) for trial in self.trials)
        ]
        best = " and ".join(said) or "none"
        return f"<TunedRate of {self.method}: {len(self.trials)} rates tried, best {best}>"


def best_trial(trials: Sequence[Trial], by: Measure) -> Trial:
    """Return the trial that is best by a measure."""
    _check_measure(by)
    known = [trial for trial in trials if isfinite(getattr(trial, by))]
    if not known:
        raise ArgumentError(
            f"No rate has an {by.upper()} on the validation databases: no predicted atom is true there."
        )
    return max(known, key=lambda trial: float(getattr(trial, by)))


def tune_rate(
    method: str,
    mln: MLN,
    db: Database | Sequence[Database],
    query: Sequence[str] | str | None = None,
    *,
    validation: Database | Sequence[Database],
    rates: Sequence[float] | None = None,
    seconds: float | None = None,
    samples: int = 1000,
    burn_in: int = 100,
    seed: int = 0,
    **options: Any,  # noqa: ANN401 - those of ml.learn_weights
) -> TunedRate:
    r"""Try learning rates, and say which is best on validation databases by CLL and which by AUC.

    Without ``rates`` these are 1/16 to 64 times one over the largest curvature at the start. Each learns for
    ``iterations=`` steps, or for so many ``seconds``; ``samples`` and ``burn_in`` are those of MC-SAT on the
    validation databases. ``ml.learn_weights(..., rate="tuned", validation=...)`` does all in one go.

    >>> import mlnlab as ml
    >>> mln = ml.MLN.from_text("Smokes(person)\nCancer(person)\nSmokes(x) => Cancer(x)\n!Cancer(x)")
    >>> db = ml.Database.from_text("Smokes(Anna)\nSmokes(Bob)\nCancer(Anna)\nCancer(Carla)", mln)
    >>> other = ml.Database.from_text("Smokes(Dora)\nCancer(Dora)\nSmokes(Emil)\nSmokes(Fritz)", mln)
    >>> rates = [0.001, 0.1]
    >>> found = ml.tune_rate("cd", mln, db, ["Cancer"], validation=other, rates=rates, iterations=20)
    >>> found.rate("cll")
    0.001
    >>> len(found.learn("cll").data.examples)  # learned again from both databases
    2
    """
    asked = [validation] if isinstance(validation, Database) else list(validation)
    if not asked:
        raise ArgumentError("Rates are tuned on data: name databases in validation=.")
    if seconds is not None and not _is_above_0(seconds):
        raise ArgumentError(
            f"seconds, the learning time for each rate, must be a number above 0, not {seconds!r:.60}."
        )
    databases = [db] if isinstance(db, Database) else list(db)
    follows = options.get("counter") is not None and find_preset(method).counted
    rated = {"rate": 1.0, **options} if follows else options  # else its steps would find their own length
    learner = weight_learner(method, mln, databases, query, seed=seed, **rated)
    hidden = hidden_atoms(learner.data, asked, samples=samples, burn_in=burn_in, seed=seed)
    trials = tried_rates(learner, hidden, rates, seconds)
    names = () if query is None else (query,) if isinstance(query, str) else tuple(query)
    return TunedRate(trials, method, mln, (*databases, *asked), names, {"seed": seed, **options})


def tried_rates(
    learner: WeightLearner, hidden: HiddenAtoms, rates: Sequence[float] | None, seconds: float | None
) -> tuple[Trial, ...]:
    """Try rates on a learner, and judge each by atoms that it does not see."""
    tried = usual_rates(learner) if rates is None else check_rates(rates)
    if seconds is None:
        learner.costs.refuse_run(len(tried))
    return tuple(_trial(learner, hidden, rate, seconds) for rate in tried)


def usual_rates(learner: WeightLearner) -> list[float]:
    """Return rates around one over the largest curvature at the start."""
    params, problem = learner.params, learner.problem
    if not isinstance(params, DescentParams | MetaParams):
        raise ArgumentError(
            f"{learner.optimizer.name} finds the length of its steps itself: it has no rate to tune."
        )
    own = DescentParams(per_weight=isinstance(params, DescentParams) and params.per_weight)
    middle = first_rate(own, problem.at(problem.free.start), rates_of(own, problem))
    return [factor * middle for factor in FACTORS]


def check_rates(rates: object) -> list[float]:
    """Return the rates, or refuse invalid ones."""
    found = list(rates) if isinstance(rates, Iterable) and not isinstance(rates, str) else []
    if not found or not all(map(_is_above_0, found)):
        raise ArgumentError(f"rates must be a list of numbers above 0, not {rates!r:.60}.")
    return [float(rate) for rate in found]


def _is_above_0(given: object) -> bool:
    is_number = isinstance(given, int | float | np.integer | np.floating) and not isinstance(given, bool)
    return is_number and 0 < float(given) < float("inf")  # type: ignore[arg-type]


def _trial(learner: WeightLearner, hidden: HiddenAtoms, rate: float, seconds: float | None) -> Trial:
    if not learner.optimizer.knows("rate"):
        raise ArgumentError(
            f"{learner.optimizer.name} finds the length of its steps itself: it has no rate to tune."
        )
    trying = replace(learner, params=replace(learner.params, rate=rate))
    began = time.perf_counter()
    last = run(trying, stop=None if seconds is None else lambda step: step.seconds >= seconds).state
    took = time.perf_counter() - began
    found = hidden.evaluation(last.answer)
    cll, auc = found.cll, found.auc
    return Trial(rate, cll.value, cll.error, auc.value, auc.error, last.iteration, took, last.move.rejected)


def learned_with_tuned_rate(
    mln: MLN, db: Database | Sequence[Database], method: str, query: Sequence[str] | str | None,
    observers: Sequence[Any], options: Mapping[str, Any],
) -> LearnedWeights:  # fmt: skip
    """Tune a rate, and learn again from all databases with it."""
    given = dict(options)
    if given.get("validation") is None:
        raise ArgumentError('rate="tuned" needs databases to tune on: validation=[...].')
    by = given.pop("tune_by", "cll")
    _check_measure(by)
    only: dict[str, Any] = {name: given.pop(name) for name in ("validation", "rates") if name in given}
    only["seconds"] = given.pop("tuning_seconds", None)
    given.pop("rate", None)
    tuned = tune_rate(method, mln, db, query, **only, **given)
    found = tuned.learn(by, observers=observers)
    text = (
        f"The rate {tuned.rate(by):.4g} was best of {len(tuned.trials)} by {by.upper()} on validation data."
    )
    return replace(found, diagnostics=(text, *found.diagnostics), tuned=tuned)


def _check_measure(by: object) -> None:
    if by not in MEASURES:
        raise ArgumentError(f'Rates are chosen by "cll" or by "auc", not by {by!r:.60}.')
