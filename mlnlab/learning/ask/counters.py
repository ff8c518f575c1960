"""``counter=`` of weight learning: who counts true groundings, in the data and in other worlds.

``counts=`` says how expected counts are found; ``counter=`` says how a count itself comes about.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from mlnlab.counting.counts.counting_methods import AUTO, IJGP, METHODS, PLANNED, REJECTION, counting_params
from mlnlab.counting.counts.counts import count
from mlnlab.errors import ArgumentError
from mlnlab.learning.counts.counted_worlds import CounterChoice
from mlnlab.learning.objectives.relaxed_objective import CountingError, measure_error
from mlnlab.learning.problems.training_data import training_data
from mlnlab.logic.checked_options import checked_seed, is_one_of, refuse_unknown_options, whole_number
from mlnlab.logic.suggestions import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mlnlab.model.database.database import Database
    from mlnlab.model.database.hiding import FalseFacts
    from mlnlab.model.mln.mln import MLN

# tolerance= and damping= are the optimiser's here.
OPTIONS_OF = {IJGP: ("i", "sweeps", "turns"), AUTO: ("i", "sweeps", "turns"), REJECTION: ("bindings",)}


def counter_choice(options: dict[str, object]) -> CounterChoice:
    """Return the counter of worlds; it takes ``counter`` and the counter's own options out of ``options``."""
    name = options.pop("counter", None) or PLANNED
    if not is_one_of(name, METHODS):
        near = did_you_mean(str(name), METHODS) or "."
        raise ArgumentError(f"counter= must be one of {', '.join(METHODS)}, not {name!r:.60}{near}")
    own = {key: options.pop(key) for key in OPTIONS_OF.get(str(name), ()) if key in options}
    if name in OPTIONS_OF:
        counting_params(IJGP if name == AUTO else str(name), own)  # says which are wrong
    return CounterChoice(str(name), own)


def data_counter(options: dict[str, object]) -> object:
    """Return the counter of the data alone, which may also be a function; it takes its options out, too."""
    counter = options.pop("counter", AUTO)
    own: dict[str, Any] = {
        key: options.pop(key) for key in OPTIONS_OF.get(str(counter), ()) if key in options
    }
    return partial(count, method=str(counter), **own) if own else counter


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
    return measure_error(data, choice, draws=whole_number(draws, "draws", 1), seed=checked_seed(seed))
