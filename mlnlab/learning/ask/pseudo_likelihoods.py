"""``ml.pseudo_log_likelihood``: how probable each atom of a database is, given all others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mlnlab.errors import ArgumentError
from mlnlab.learning.objectives.pseudo_log_likelihood import pseudo_log_likelihood as objective_of
from mlnlab.learning.problems.training_data import TrainingData, to_learn, training_data
from mlnlab.logic.formulas.weights import Hard, weight_value
from mlnlab.steps.runs.run_line import show_progress

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mlnlab.model.database.database import Database
    from mlnlab.model.database.hiding import FalseFacts
    from mlnlab.model.mln.mln import MLN


def pseudo_log_likelihood(
    mln: MLN,
    db: Database | Sequence[Database],
    weighted: bool = False,
    query: Sequence[str] | str | None = None,
    *,
    false_facts: FalseFacts = "data",
    progress: bool | None = None,
) -> float:
    r"""Return the sum, over ground atoms and blocks, of log P(as it is | all others as they are).

    A block (arguments marked ``!``, or ``?``) counts as one variable, whose values are its atoms (or none of
    them, with ``?``): its share is the log-probability of the value it has. ``weighted`` divides each
    predicate's share by the number of its atoms or blocks; ``query`` names the predicates whose atoms are
    summed over, all that are not closed by default. Of several databases it is the sum. ``progress`` is that
    of :func:`ml.infer`.

    >>> import mlnlab as ml
    >>> mln = ml.MLN.from_text("Smokes(person)\nCancer(person)\n1.5 Smokes(x) => Cancer(x)")
    >>> db = ml.Database.from_text("Smokes(Anna)", mln)
    >>> round(ml.pseudo_log_likelihood(mln, db), 4)
    -3.4028
    >>> round(ml.pseudo_log_likelihood(mln, db, query=["Cancer"]), 4)
    -1.7014
    """
    with show_progress("ml.pseudo_log_likelihood", progress):
        return _value(training_data(mln, db, query, false_facts=false_facts), weighted)


def _value(data: TrainingData, weighted: bool) -> float:
    if to_learn(data.mln):
        raise ArgumentError(
            "Some formulas have no weight yet: give them weights, or learn them by ml.learn_weights."
        )
    weights = [
        0.0 if isinstance(one.weight, Hard) else (weight_value(one.weight) or 0.0) for one in data.formulas
    ]
    value = objective_of(data, weighted=weighted).moments(np.array(weights, np.float64))[0].value
    assert value is not None  # noqa: S101 - a pseudo-likelihood has a value
    return value
