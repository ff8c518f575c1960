"""``counter=`` of weight learning: who counts true groundings, in the data and in other worlds.

``counts=`` says how expected counts are found; ``counter=`` says how a count itself comes about.
"""

from __future__ import annotations

from mlnlab.counting.counts.counting_methods import METHODS, cluster_params
from mlnlab.errors import ArgumentError
from mlnlab.learning.counts.counted_worlds import CounterChoice
from mlnlab.logic.checked_options import is_one_of
from mlnlab.logic.suggestions import did_you_mean

# tolerance= and damping= are the optimiser's here.
OPTIONS_OF = {"ijgp": ("i", "sweeps", "turns"), "auto": ("i", "sweeps", "turns")}


def counter_choice(options: dict[str, object]) -> CounterChoice:
    """Return the counter of worlds; it takes ``counter`` and the counter's own options out of ``options``."""
    name = options.pop("counter", None) or "planned"
    if not is_one_of(name, METHODS):
        near = did_you_mean(str(name), METHODS) or "."
        raise ArgumentError(f"counter= must be one of {', '.join(METHODS)}, not {name!r:.60}{near}")
    own = {key: options.pop(key) for key in OPTIONS_OF.get(str(name), ()) if key in options}
    cluster_params("ijgp", own)  # says which are wrong
    return CounterChoice(str(name), own)
