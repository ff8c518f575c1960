"""Hold the shared view of a sampler's pictures: the drawn queries, and the values read from its states.

Reading a state costs more than drawing it, so each is read once; the memo tables kept for this change no
answer.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from weakref import WeakKeyDictionary

from mlnlab.display.card.symbols import in_symbols
from mlnlab.errors import ArgumentError
from mlnlab.logic.suggestions import did_you_mean

if TYPE_CHECKING:
    from mlnlab.inference.ask.sampler import Sampler
    from mlnlab.inference.sampling.estimates import QueryEstimates
    from mlnlab.inference.sampling.state_reading import ChainsReader, StateReader
    from mlnlab.steps.recordings.trace import Trace
    from mlnlab.steps.step import Step

MOST_ROWS = 40  # queries that are drawn one by one
MOST_CHOSEN = 6  # of them whose chains are compared
MOST_POINTS = 200  # recorded steps that a curve is drawn through
_MOST_KEPT = 8 * MOST_POINTS

Row = TypeVar("Row")
Value = TypeVar("Value")


class Latest(Generic[Value]):
    """The value of a function at the state it was last asked for."""

    def __init__(self, function: Callable[[Any], Value]) -> None:
        self._function = function
        self._last: tuple[Any, Value] | None = None

    def __call__(self, state: Any) -> Value:  # noqa: ANN401 - each method has states of its own
        """Return the value at a state."""
        last = self._last
        if last is None or last[0] is not state:
            last = self._last = (state, self._function(state))
        return last[1]


class History(Generic[Row]):
    """A cache of the values that a function reads from recorded steps; each step is read once."""

    def __init__(self, read: Callable[[Step[Any]], Row]) -> None:
        self._read = read
        self._known: WeakKeyDictionary[Trace[Any], dict[int, Row]] = WeakKeyDictionary()

    def until(self, step: Step[Any], trace: Trace[Any]) -> list[Row]:
        """Return the values of evenly chosen recorded steps up to this one, and its own."""
        known = self._known.setdefault(trace, {})
        indices = trace.indices
        number = bisect_right(indices, step.index)
        stride = 1
        while number > stride * MOST_POINTS:
            stride *= 2  # powers of two, so that what was read stays of use when the run grows
        chosen = [index for index in indices[:number:stride] if index != step.index]
        if len(known) > _MOST_KEPT:
            wanted = set(chosen)
            for index in [index for index in known if index not in wanted]:
                del known[index]
        for index in chosen:
            if index not in known:
                known[index] = self._read(trace.seek(index))
        if step.index not in known:
            known[step.index] = self._read(step)
        return [*(known[index] for index in chosen), known[step.index]]


@dataclass(frozen=True, eq=False)
class SamplerView:
    """A sampler's queries as they are drawn, by their places in the order asked.

    ``shown`` are drawn one by one, the chains of ``chosen`` are compared, ``exact`` are known answers.
    """

    reader: StateReader
    shown: tuple[int, ...]
    chosen: tuple[int, ...]
    exact: Mapping[int, float]
    estimates: Callable[[Any], QueryEstimates] = field(init=False)

    def __post_init__(self) -> None:
        """Cache the estimates of the latest state."""
        object.__setattr__(self, "estimates", Latest(self.reader.estimates))

    @property
    def chains(self) -> ChainsReader | None:
        """The reader as a reader of chains, if the method has chains."""
        from mlnlab.inference.sampling.state_reading import ChainsReader

        return self.reader if isinstance(self.reader, ChainsReader) else None

    def name(self, place: int) -> str:
        """Return a query in symbols."""
        return in_symbols(self.reader.names[place])

    @property
    def rest(self) -> str:
        """Say in words that not all queries are drawn; nothing where they are."""
        number = len(self.reader.names)
        if len(self.shown) == number:
            return ""
        return f"{len(self.shown)} of {number:,} queries are drawn; the table has all."


def sampler_view(
    sampler: Sampler,
    queries: Sequence[str] | None,
    compared: Sequence[str] | None,
    exact: Mapping[str, float] | None,
) -> SamplerView:
    """Return the view of a sampler with the named queries, else with the first sampled ones."""
    reader = sampler.reader()
    shown = _places(reader, queries) if queries is not None else _first(reader)
    sampled = [place for place in shown if not reader.known[place]]
    chosen = _places(reader, compared) if compared is not None else sampled
    known = {name: place for place, name in enumerate(reader.names)}
    answers = {known[name]: float(value) for name, value in (exact or {}).items() if name in known}
    return SamplerView(reader, tuple(shown[:MOST_ROWS]), tuple(chosen[:MOST_CHOSEN]), answers)


def _first(reader: StateReader) -> list[int]:
    """Return the queries in the order asked; if these are too many, the first sampled ones."""
    places = range(len(reader.names))
    if len(places) <= MOST_ROWS:
        return list(places)
    sampled = [place for place in places if not reader.known[place]][:MOST_ROWS]
    return sampled or list(places[:MOST_ROWS])


def _places(reader: StateReader, names: Sequence[str]) -> list[int]:
    known = {name: place for place, name in enumerate(reader.names)}
    for name in names:
        if name not in known:
            hint = did_you_mean(str(name), known) or "."
            raise ArgumentError(f"{name!s:.80} was not asked for{hint}")
    return [known[name] for name in names]
