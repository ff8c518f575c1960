"""``ml.counting_error``: how far a counter is from exact counts, and the bounds on learning with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlnlab.learning.ask.counters import OPTIONS_OF, counter_choice
from mlnlab.learning.objectives.relaxed_objective import CountingError, measure_error
from mlnlab.learning.problems.training_data import training_data
from mlnlab.logic.checked_options import checked_seed, refuse_unknown_options, whole_number
from mlnlab.steps.runs.interrupted import report_early_stop

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mlnlab.model.database.database import Database
    from mlnlab.model.database.hiding import FalseFacts
    from mlnlab.model.mln.mln import MLN


def counting_error(
    mln: MLN,
    db: Database | Sequence[Database],
    query: Sequence[str] | str | None = None,
    *,
    counter: str = "ijgp",
    draws: int = 100,
    seed: int = 0,
    false_facts: FalseFacts = "data",
    **options: object,
) -> CountingError:
    r"""Return how far a counter is from exact counts, and the bounds on learning that follow.

    ``query``, ``false_facts`` and ``counter`` with its options are those of :func:`ml.learn_weights`. Where
    all worlds of the predicted atoms can be listed, ε is exact; else it is the largest error in ``draws``
    worlds at random, an estimate from below. ``lemma_1(weights)`` bounds the difference of the objectives,
    ``theorem_1(alpha, beta)`` the loss in log-likelihood by learning β with these counts.

    >>> import mlnlab as ml
    >>> mln = ml.MLN.from_text("t = {A, B}\nR(t, t)\nS(t, t)\nR(x, y) ^ S(y, z) => R(x, z)")
    >>> db = ml.Database.from_text("R(A, B)\nR(B, A)\nS(A, B)", mln)
    >>> error = ml.counting_error(mln, db, counter="ijgp", i=2)
    >>> error.is_exact, error.worlds, round(error.epsilon, 2)
    (True, 256, 1.0)
    >>> round(error.theorem_1([0.5], [0.4]), 2)
    1.8
    """
    data = training_data(mln, db, query, false_facts=false_facts)
    given: dict[str, object] = {"counter": counter, **options}
    choice = counter_choice(given)
    refuse_unknown_options(f'counter="{counter}"', given, OPTIONS_OF.get(counter, ()))
    with report_early_stop("ml.counting_error"):
        return measure_error(data, choice, draws=whole_number(draws, "draws", 1), seed=checked_seed(seed))
