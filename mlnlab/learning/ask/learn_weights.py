"""``ml.learn_weights``: a learner put together and run to its end, its rate tuned before where asked."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from mlnlab.learning.ask.learner import USUAL_PRIOR, complete_run, weight_learner
from mlnlab.learning.ask.learning_line import learning_lines
from mlnlab.learning.ask.tuning import learned_with_tuned_rate
from mlnlab.steps.runs.interrupted import report_early_stop
from mlnlab.steps.runs.run_line import show_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from mlnlab.learning.ask.learned_weights import LearnedWeights
    from mlnlab.learning.problems.priors import PriorLike
    from mlnlab.model.database.database import Database
    from mlnlab.model.database.hiding import FalseFacts
    from mlnlab.model.mln.mln import MLN
    from mlnlab.steps.step import Observer


def learn_weights(
    mln: MLN,
    db: Database | Sequence[Database],
    method: str = "pll",
    query: Sequence[str] | str | None = None,
    *,
    prior: PriorLike = USUAL_PRIOR,
    objective: str | None = None,
    optimizer: str | None = None,
    counts: str | None = None,
    units: bool = False,
    false_facts: FalseFacts = "data",
    tied: Sequence[Sequence[int]] = (),
    fixed: Sequence[int] = (),
    bounds: Mapping[int, tuple[float, float]] | tuple[float, float] | None = None,
    start: Sequence[float] | None = None,
    seed: int = 0,
    observers: Iterable[Observer] | None = (),
    most_hours: float | None = None,
    progress: bool | None = None,
    **options: object,
) -> LearnedWeights:
    r"""Return a model whose weights are learned from one or several complete databases.

    ``method`` is a preset (:mod:`mlnlab.learning.ask.presets`); ``objective=``, ``optimizer=`` and
    ``counts=`` replace its parts, ``options`` are the optimiser's and the objective's own. ``query`` names
    the predicates that the model is to predict, given all others; without it every predicate is. ``prior`` is
    ``ml.Gaussian``, ``ml.Laplace``, ``None``, or a list with one for each formula; ``tied`` lists groups of
    formulas that share a weight, whose prior counts once for each shared weight, ``fixed`` formulas whose
    weight stays, ``bounds`` limits. Formulas are numbered as in ``mln.expand(db)``; ``units=True`` adds a
    formula for each predicate that has none. Atoms that a database lists as false are data like those that it
    does not list; with ``false_facts="evidence"`` they are known beforehand, as pairs outside all canopies
    are.

    ``counter=`` chooses how groundings are counted, by a method of :func:`ml.count`: "planned", "ijgp" (with
    ``i=``, the widest cluster), "duckdb", "rejection", or "auto", the cheaper by :func:`ml.counting_plan`.
    With it nothing is ground: "cd" is Algorithm 1 of Sarkhel and others (2016), whose N, K and η are
    ``samples=``, ``frequency=`` and ``rate=`` (:mod:`mlnlab.learning.counts.counted_chains`), "vp" its voted
    perceptron with ``flips=``, both by diagonal Newton where no ``rate`` is given, and "pll" counts each atom
    once. :func:`ml.counting_error` tells how much estimates can cost.

    ``batch=`` looks at so many of the databases in each step; ``rate="tuned"`` with ``validation=`` databases
    chooses the learning rate on them, by ``tune_by="cll"`` or "auc", and learns again from all
    (:func:`ml.tune_rate`). ``observers`` are told of each step, such as ``ml.HeldOut(databases)``. In a
    terminal or a notebook a line says how far learning is; ``progress=True`` or ``False`` decides that. What
    would take more than ``most_hours`` (6), or more memory than is free, is refused before it begins.

    >>> import mlnlab as ml
    >>> mln = ml.MLN.from_text("Smokes(person)\nCancer(person)\nSmokes(x) => Cancer(x)")
    >>> db = ml.Database.from_text("Smokes(Anna)\nSmokes(Bob)\nCancer(Anna)\nCancer(Carla)", mln)
    >>> found = ml.learn_weights(mln, db, method="pll", prior=ml.Gaussian(0, 2))
    >>> round(float(found.weights[0]), 2), round(found.objective, 4)
    (-0.51, -4.0329)
    """
    lines = learning_lines(method, progress)
    watching = [*(observers or ()), *lines]
    given: dict[str, Any] = {
        "prior": prior, "objective": objective, "optimizer": optimizer, "counts": counts, "units": units,
        "false_facts": false_facts, "tied": tied, "fixed": fixed, "bounds": bounds, "start": start,
        "seed": seed, "most_hours": most_hours, **options,
    }  # fmt: skip
    with show_lines(lines), report_early_stop(f"Learning by {method}", "its first step"):
        if options.get("rate") == "tuned":
            return learned_with_tuned_rate(mln, db, method, query, watching, given)
        began = time.perf_counter()
        learner = weight_learner(method, mln, db, query, **given)
        return complete_run(learner, watching, began)
