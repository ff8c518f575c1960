"""``counter=`` of weight learning: who counts true groundings, in the data and in other worlds.

``counts=`` says how expected counts are found; ``counter=`` says how a count itself comes about.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from mlnlab.counting.counts.counting_methods import AUTO, IJGP, METHODS, PLANNED, REJECTION, counting_params
from mlnlab.counting.counts.counts import count
from mlnlab.errors import ArgumentError
from mlnlab.learning.counts.counter_choice import CounterChoice
from mlnlab.learning.descent.optimizer import OF_COUNTERS
from mlnlab.logic.checked_options import is_one_of
from mlnlab.logic.suggestions import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mlnlab.learning.descent.optimizer import Optimizer

# tolerance= and damping= are the optimiser's here.
OPTIONS_OF = {IJGP: ("i", "sweeps", "turns"), AUTO: ("i", "sweeps", "turns"), REJECTION: ("bindings",)}


def counter_choice(options: dict[str, object]) -> CounterChoice:
    """Return the counter of worlds; it takes ``counter`` and the counter's own options out of ``options``."""
    name = options.pop("counter", None)
    name = PLANNED if name is None else name
    if not is_one_of(name, METHODS):
        near = did_you_mean(str(name), METHODS) or "."
        raise ArgumentError(f"counter= must be one of {', '.join(METHODS)}, not {name!r:.60}{near}")
    own = {key: options.pop(key) for key in OPTIONS_OF.get(str(name), ()) if key in options}
    if name in OPTIONS_OF:
        counting_params(IJGP if name == AUTO else str(name), own)  # says which are wrong
    return CounterChoice(str(name), own)


def refuse_left_options(counter: object, optimizer: Optimizer, left: Mapping[str, object]) -> None:
    """Refuse an option that neither a counter with options of its own nor the optimiser has."""
    own = OPTIONS_OF.get(str(counter), ())
    known = optimizer.option_names
    for name, value in left.items():
        if own and value is not None and name not in known and name not in OF_COUNTERS:
            hint = did_you_mean(name, (*own, *known)) or "."
            raise ArgumentError(
                f'Neither counter="{counter}" nor {optimizer.name} has an option {name:.60}{hint}'
                f" The counter has: {', '.join(own)}; {optimizer.name} has: {', '.join(known)}."
            )


def data_counter(options: dict[str, object]) -> object:
    """Return the counter of the data alone, which may also be a function; it takes its options out, too."""
    counter = options.pop("counter", AUTO)
    own: dict[str, Any] = {
        key: options.pop(key) for key in OPTIONS_OF.get(str(counter), ()) if key in options
    }
    return partial(count, method=str(counter), **own) if own else counter
