"""A recording of a run: step back, replay, seek, plot, save.

A trace holds a full state every so often and what changed in between. It has a budget in bytes: when that is
used up, every second step is dropped, evenly over the whole run; the first and the last are always kept. The
metrics of dropped steps stay, as far as a quarter of the budget reaches.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from threading import RLock
from typing import TYPE_CHECKING, Generic, cast, overload

import numpy as np

from mlnlab.errors import ArgumentError
from mlnlab.steps.metric_columns import MetricArrays, MetricColumns
from mlnlab.steps.parts import sealed
from mlnlab.steps.state_store import StateStore
from mlnlab.steps.step import Observer, S, State, Step, run, watched
from mlnlab.steps.trace_files import Record, read_records, write_records
from mlnlab.steps.watches import Watch, Watches

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from os import PathLike

    import pandas as pd

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
        """Return what a copy holds; a lock cannot be copied."""
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
                state = cast("S", sealed(mine.state, self._loose.state if self._loose else None))
                self._loose = Step(mine.index, mine.seconds, state)
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
                f"This trace holds steps up to {last} already, and step {index} is no later one: "
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
            self._loose = self._kept(len(self._store) - 1)
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
                return [self._kept(place) for place in range(*position.indices(size))]
            if not -size <= position < size:
                raise IndexError(f"This trace holds {size:,} steps, so there is none at {position}.")
            return self._kept(position % size)

    def _kept(self, position: int) -> Step[S]:
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
            return self._kept(position)

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
        return watched(self._steps_between(start, stop), observers)

    def _steps_between(self, start: int | None, stop: int | None) -> Iterator[Step[S]]:
        following = start
        while True:
            # Positions shift when steps are dropped meanwhile; indices do not.
            with self._lock:
                position = 0 if following is None else self._position_before(following) + 1
                if position >= len(self):
                    return
                step = self._kept(position)
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
