"""A recording of a run: step back, replay, seek, plot, save.

A trace holds a full state every so often and what changed in between. It has a budget in bytes: when that is
used up, every second step is dropped, evenly over the whole run; the first and the last are always kept. The
metrics of dropped steps stay, as far as a quarter of the budget reaches.
"""

from __future__ import annotations

import warnings
from array import array
from bisect import bisect_right
from enum import Enum
from sys import getsizeof
from threading import RLock
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, cast, overload

import numpy as np

from mlnlab.errors import ArgumentError
from mlnlab.steps.recordings.state_deltas import (
    ChangedEntries,
    ChangedFields,
    ChangedItems,
    ChangedKeys,
    Delta,
    Replaced,
    apply_delta,
    compose_deltas,
    difference,
    sharing,
)
from mlnlab.steps.recordings.trace_files import Record, read_records, write_records
from mlnlab.steps.step import Observer, S, State, Step, notify_observers, run
from mlnlab.steps.values.metric_columns import MetricArrays, MetricColumns
from mlnlab.steps.values.parts import field_names, is_mapping, seal_value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from os import PathLike

    import pandas as pd

    from mlnlab.steps.step import State

_MEBIBYTE = 2**20


class Trace(Generic[S]):
    r"""The recorded steps of one run, oldest first: ``len(trace)``, ``trace[k]``, iteration, ``seek``.

    ``every``: a full state after so many steps, which bounds the work of looking at any one of them.
    ``budget``: bytes of memory, beyond the state that was recorded last.
    ``most_steps``: also thin out when more steps than this are held.
    ``watches``: named functions of a state, recorded beside its metrics.

    It may be read in one thread while another one records.

    >>> import mlnlab as ml
    >>> mln = ml.MLN.from_text("Smokes(person)\nCancer(person)\n1.5 Smokes(x) => Cancer(x)")
    >>> sampler = ml.sampler("gibbs", mln, {"person": 3}, samples=100, burn_in=20, sweeps_per_state=10)
    >>> trace = ml.Trace.of(sampler, watches={"first chain": lambda state: state.log_weights[0]})
    >>> len(trace), trace[-1].state.sweeps, trace.seek(5).index
    (13, 120, 5)
    >>> trace.to_frame().columns.tolist()[:4]
    ['seconds', 'log_weight', 'samples', 'first chain']
    """

    def __init__(
        self,
        *,
        every: int = 64,
        budget: int = 64 * _MEBIBYTE,
        most_steps: int = 10_000,
        watches: Mapping[str, Watch] | None = None,
    ) -> None:
        if every < 1 or most_steps < 2 or budget < 1:
            raise ArgumentError("A trace needs every >= 1, most_steps >= 2 and a budget of some bytes.")
        self._budget, self._most_steps = budget, most_steps
        self._watches = Watches(watches)
        self._columns = MetricColumns(budget // 4)
        self._store = StateStore(every)
        self._indices, self._seconds = array("q"), array("d")
        self._loose: Step[S] | None = None  # the last step, where it stands between two that are kept
        self._stride, self._offered = 1, 0
        self._lock = RLock()

    def __getstate__(self) -> dict[str, object]:
        """Return the attributes of a copy; a lock cannot be copied."""
        return {name: value for name, value in vars(self).items() if name != "_lock"}

    def __setstate__(self, held: dict[str, object]) -> None:
        vars(self).update(held, _lock=RLock())

    # --- recording ----------------------------------------------------------------------------

    @classmethod
    def of(
        cls,
        states: Iterable[S],
        *,
        stop: Callable[[Step[S]], bool] | None = None,
        watches: Mapping[str, Watch] | None = None,
        most_steps: int = 10_000,
    ) -> Trace[S]:
        """Run an algorithm to its end, or to the first step for which ``stop`` is true, and record it."""
        trace: Trace[S] = cls(watches=watches, most_steps=most_steps)
        run(states, stop=stop, observers=[trace])
        return trace

    def on_step(self, step: Step[State]) -> None:
        """Record a step."""
        self.add(step, self._watches.readings(step.state))

    def on_end(self, last: Step[State]) -> None:
        """Do nothing: the last step is always kept."""

    def add(self, step: Step[State], readings: Mapping[str, float]) -> None:
        """Record a step with these metrics, without asking its state for them."""
        mine = cast("Step[S]", step)
        with self._lock:
            self._refuse_the_past(step.index)
            self._columns.add(step.index, step.seconds, readings)
            number = self._offered
            self._offered += 1
            if number % self._stride:
                before = self._loose.state if self._loose else self._store.newest
                self._loose = Step(mine.index, mine.seconds, cast("S", seal_value(mine.state, before)))
            else:
                self._keep(mine)

    def add_readings(self, index: int, seconds: float, readings: Mapping[str, float]) -> None:
        """Record only the metrics of a step, as those of one whose state was dropped."""
        with self._lock:
            self._columns.add(index, seconds, readings)

    def _refuse_the_past(self, index: int) -> None:
        last = self._last_index()
        if last is not None and index <= last:
            raise ArgumentError(
                f"This trace holds steps up to {last} already, and step {index} is not a later one: "
                "record each run in a Trace of its own."
            )

    def _keep(self, step: Step[S]) -> None:
        self._loose = None
        self._store.append(step.state)
        self._indices.append(step.index)
        self._seconds.append(step.seconds)
        while len(self._store) > 1 and (
            len(self._store) > self._most_steps or self._store.size > self._budget - self._budget // 4
        ):
            self._halve()

    def _halve(self) -> None:
        if len(self._store) % 2 == 0 and self._loose is None:
            self._loose = self._read_step(len(self._store) - 1)
        self._store.halve()
        del self._indices[1::2]
        del self._seconds[1::2]
        self._stride *= 2

    # --- reading ------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self._store) + (self._loose is not None)

    def __iter__(self) -> Iterator[Step[S]]:
        return self.replay()

    @overload
    def __getitem__(self, position: int) -> Step[S]: ...
    @overload
    def __getitem__(self, position: slice) -> list[Step[S]]: ...
    def __getitem__(self, position: int | slice) -> Step[S] | list[Step[S]]:
        with self._lock:
            size = len(self)
            if isinstance(position, slice):
                return [self._read_step(place) for place in range(*position.indices(size))]
            if not -size <= position < size:
                raise IndexError(f"This trace holds {size:,} steps, so there is none at {position}.")
            return self._read_step(position % size)

    def _read_step(self, position: int) -> Step[S]:
        if position == len(self._store) and self._loose is not None:
            return self._loose
        state = cast("S", self._store[position])
        return Step(self._indices[position], self._seconds[position], state)

    def seek(self, index: int) -> Step[S]:
        """Return the step that had this index in the run, or the last one kept before it."""
        with self._lock:
            position = self._position_before(index + 1)
            if position < 0:
                first = f"step {self._indices[0]}" if self._indices else "nothing"
                raise ArgumentError(f"There is no step {index} or earlier: this trace begins with {first}.")
            return self._read_step(position)

    def _position_before(self, index: int) -> int:
        """Return the position of the last step whose index is smaller, -1 where there is none."""
        if self._loose is not None and self._loose.index < index:
            return len(self._store)
        return bisect_right(self._indices, index - 1) - 1

    def replay(
        self, start: int | None = None, stop: int | None = None, observers: Iterable[Observer] = ()
    ) -> Iterator[Step[S]]:
        """Yield the kept steps with indices from ``start`` to before ``stop``, telling the observers of each.

        Steps that are recorded meanwhile are yielded, too.
        """
        return notify_observers(self._steps_between(start, stop), observers)

    def _steps_between(self, start: int | None, stop: int | None) -> Iterator[Step[S]]:
        following = start
        while True:
            # Positions shift when steps are dropped meanwhile; indices do not.
            with self._lock:
                position = 0 if following is None else self._position_before(following) + 1
                if position >= len(self):
                    return
                step = self._read_step(position)
            if stop is not None and step.index >= stop:
                return
            yield step
            following = step.index + 1

    # --- numbers ------------------------------------------------------------------------------

    @property
    def indices(self) -> tuple[int, ...]:
        """The indices that the kept steps had in the run."""
        with self._lock:
            return (*self._indices, *((self._loose.index,) if self._loose else ()))

    @property
    def recorded(self) -> int:
        """How many steps were recorded, with those whose states were dropped."""
        return self._offered

    @property
    def size(self) -> int:
        """The bytes that the recording takes, as estimated."""
        return self._store.size + self._columns.size + 16 * len(self._indices)

    @property
    def watches(self) -> tuple[str, ...]:
        """The names of the watch expressions."""
        return self._watches.names

    def metrics(self) -> MetricArrays:
        """Return the metrics and watches of all steps as arrays, also of most steps that were dropped."""
        with self._lock:
            return self._columns.arrays()

    def readings(self, step: Step[S]) -> dict[str, float]:
        """Return the recorded metrics and watches of a step, or compute them anew if they were dropped."""
        with self._lock:
            row = self._columns.row(step.index)
        return self._watches.readings(step.state) if row is None else row

    def to_frame(self) -> pd.DataFrame:
        """Return the metrics as a data frame with a row for each step."""
        return self.metrics().to_frame()

    def __repr__(self) -> str:
        kept, offered = len(self), self._offered
        held = f"{kept:,} steps" if kept == offered else f"{kept:,} of {offered:,} steps"
        return f"<Trace of {held}, {self.size / _MEBIBYTE:.1f} MiB>"

    def _last_index(self) -> int | None:
        if self._loose is not None:
            return self._loose.index
        return self._indices[-1] if self._indices else None

    # --- files --------------------------------------------------------------------------------

    def save(self, path: str | PathLike[str]) -> None:
        """Write the trace to a file of JSON lines."""
        write_records(self._records(), path)

    def _records(self) -> Iterator[Record]:
        rows = self.metrics()
        names = list(rows.columns)
        table = np.array([rows[name] for name in names]).reshape(len(names), len(rows))
        place = 0
        for step in self:
            while place < len(rows) and rows.indices[place] <= step.index:
                if rows.indices[place] < step.index:
                    readings = dict(zip(names, table[:, place].tolist(), strict=True))
                    yield Record(int(rows.indices[place]), float(rows.seconds[place]), readings)
                place += 1
            yield Record(step.index, step.seconds, self.readings(step), step.state)

    @classmethod
    def load(
        cls,
        path: str | PathLike[str],
        *,
        every: int = 64,
        budget: int = 64 * _MEBIBYTE,
        most_steps: int = 10_000,
    ) -> Trace[State]:
        """Read a trace that :meth:`save` wrote; the classes of its states have to be registered."""
        trace: Trace[State] = Trace(every=every, budget=budget, most_steps=most_steps)
        for record in read_records(path):
            if record.state is None:
                trace.add_readings(record.index, record.seconds, record.readings)
            else:
                step = Step(record.index, record.seconds, cast("State", record.state))
                trace.add(step, record.readings)
        return trace


# --- watch expressions: named functions of a state, recorded beside its metrics -----------------

# trace = Trace(watches={"distance": lambda state: abs(state.weights - true_weights).max()})

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


# --- store states: a full one now and then, and the changes in between --------------------------

_SLOT = 8  # bytes of a place in a list


class StateStore:
    """A growing sequence of states; ``store[p]`` applies fewer than ``every`` deltas to a snapshot.

    Every position has a delta from the one before, also where a snapshot stands: so a row can be thinned out
    by composing neighbouring deltas, without making any of the states.
    """

    def __init__(self, every: int) -> None:
        self._every = every
        self._clear()

    def _clear(self) -> None:
        self._snapshots: list[object] = []
        self._deltas: list[Delta | None] = []
        self._bytes = 0
        self._snapshot_parts: set[int] = set()  # what the last snapshot holds is not counted again
        self._newest: object = None
        self._visited: tuple[int, object] = (-1, None)

    def __len__(self) -> int:
        return len(self._deltas)

    @property
    def size(self) -> int:
        """The bytes that all of it takes, as estimated."""
        return self._bytes

    @property
    def newest(self) -> object:
        """The last state; nothing where there is none."""
        return self._newest

    def append(self, state: object) -> None:
        """Add a state at the end."""
        new = seal_value(state, self._newest)
        position = len(self._deltas)
        delta = difference(self._newest, new) if position else None
        self._newest = sharing(self._newest, delta, new) if position else new
        self._add(delta, self._newest)

    def _add(self, delta: Delta | None, state: object) -> None:
        """Add a delta, and the state too where a snapshot is due."""
        seen: set[int] = set()
        self._bytes += _SLOT + delta_size(delta, seen)
        if len(self._deltas) % self._every == 0:
            self._bytes += value_size(state, seen | self._snapshot_parts)
            self._snapshot_parts = set()
            value_size(state, self._snapshot_parts)
            self._snapshots.append(state)
        self._deltas.append(delta)

    def __getitem__(self, position: int) -> object:
        if position == len(self._deltas) - 1:
            return self._newest
        start = position - position % self._every
        state = self._snapshots[start // self._every]
        visited, there = self._visited
        if start < visited <= position:
            start, state = visited, there
        change: Delta | None = None
        # Composing first makes one copy of a changed array instead of one for each delta.
        for delta in self._deltas[start + 1 : position + 1]:
            change = compose_deltas(change, delta)
        state = apply_delta(state, change)
        self._visited = (position, state)
        return state

    def halve(self) -> None:
        """Drop every second state: those at odd positions."""
        if len(self._deltas) % 2 == 0:
            self._newest = self[len(self._deltas) - 2]
            self._deltas.pop()
        deltas, snapshots, newest = self._deltas, self._snapshots[::2], self._newest
        self._clear()
        self._newest = newest
        self._add(None, snapshots[0])
        for odd, even in zip(deltas[1::2], deltas[2::2], strict=True):
            position = len(self._deltas)
            self._add(compose_deltas(odd, even), snapshots[position // self._every])


# --- estimate the bytes of a recorded value -----------------------------------------------------

_COLLECTED = 16  # what the garbage collector puts before each object that may hold others
_ARRAY_HEADER = 128
_PAIR = 56 + _COLLECTED
_INTERPRETERS_OWN = range(-5, 257)  # integers of which there is one object each


def value_size(value: object, seen: set[int]) -> int:
    """Return the bytes of a value without the parts whose identities are in ``seen``; add its parts there."""
    if value is None or isinstance(value, bool | Enum | type):
        return 0
    if id(value) in seen or (type(value) is int and value in _INTERPRETERS_OWN):
        return 0
    seen.add(id(value))
    if isinstance(value, np.ndarray):
        return _ARRAY_HEADER + value.nbytes
    size = getsizeof(value)
    if names := field_names(value):
        inside = sum(value_size(getattr(value, name), seen) for name in names)
        holder = getattr(value, "__dict__", None)
        return size + _COLLECTED + inside + (0 if holder is None else getsizeof(holder))
    if isinstance(value, tuple | list | frozenset | set):
        return size + _COLLECTED + sum(value_size(item, seen) for item in value)
    if is_mapping(value):
        entries = sum(value_size(key, seen) + value_size(item, seen) for key, item in value.items())
        return size + _COLLECTED + getsizeof(dict(value)) + entries
    return size


def delta_size(delta: Delta | None, seen: set[int]) -> int:
    """Return the bytes of a delta without the parts in ``seen``; names of fields belong to the class."""
    if delta is None:
        return 0
    size = getsizeof(delta) + _COLLECTED
    match delta:
        case Replaced(value):
            return size + value_size(value, seen)
        case ChangedEntries(positions, values):
            return size + getsizeof(positions) + getsizeof(values)
        case ChangedFields(fields):
            inside = sum(_PAIR + delta_size(inner, seen) for _, inner in fields)
            return size + getsizeof(fields) + _COLLECTED + inside
        case ChangedItems(_, items):
            inside = sum(_PAIR + 32 + delta_size(inner, seen) for _, inner in items)
            return size + getsizeof(items) + _COLLECTED + inside
        case ChangedKeys(removed, entries):
            keys = value_size(removed, seen)
            inside = sum(_PAIR + value_size(key, seen) + delta_size(inner, seen) for key, inner in entries)
            return size + keys + getsizeof(entries) + _COLLECTED + inside
