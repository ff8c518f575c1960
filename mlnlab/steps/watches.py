"""Watch expressions: named functions of a state, recorded beside its metrics.

trace = Trace(watches={"distance": lambda state: abs(state.weights - true_weights).max()})
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, TypeAlias

from mlnlab.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mlnlab.steps.step import State

# A watch knows the algorithm's own type of state; the stream it watches promises only metrics.
Watch: TypeAlias = "Callable[[Any], float]"


class WatchWarning(UserWarning):
    """A watch expression or a state's metrics failed, or a watch hides behind a metric of the same name."""


class Watches:
    """Watch expressions by name; one that fails gives NaN, and a warning the first time.

    Metrics that fail are left out, with a warning as well.
    """

    def __init__(self, watches: Mapping[str, Watch] | None = None) -> None:
        self._watches = dict(watches or {})
        for name, watch in self._watches.items():
            if not callable(watch):
                raise ArgumentError(f"The watch {name!r} has to be a function of a state, not {watch!r}.")
        self._warned: set[str] = set()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the watches."""
        return tuple(self._watches)

    def readings(self, state: State) -> dict[str, float]:
        """Return the state's metrics and, behind them, the values of the watches."""
        values = self._metrics(state)
        for name, watch in self._watches.items():
            if name in values:
                self._warn_once(name, f"The watch {name!r} is left out: there is a metric of that name.")
            else:
                values[name] = self._value(name, watch, state)
        return values

    def _metrics(self, state: State) -> dict[str, float]:
        try:
            return {name: float(value) for name, value in state.metrics().items()}
        except Exception as problem:  # noqa: BLE001 - the state is worth recording without its numbers
            self._warn_once("metrics()", f"The metrics of a state are left out: {problem!r}")
            return {}

    def _value(self, name: str, watch: Watch, state: State) -> float:
        try:
            return float(watch(state))
        except Exception as problem:  # noqa: BLE001 - whatever a watch does, the recording goes on
            self._warn_once(name, f"The watch {name!r} failed and is recorded as NaN: {problem!r}")
            return float("nan")

    def _warn_once(self, name: str, sentence: str) -> None:
        if name not in self._warned:
            self._warned.add(name)
            warnings.warn(sentence, WatchWarning, stacklevel=3)
