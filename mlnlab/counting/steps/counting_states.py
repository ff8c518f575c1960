"""Counting step by step: the outline of a plan, and the immutable states in which it is worked out.

An outline lists what a count consists of as rows of a tree: terms, and below each the tables that are read,
joined and summed out. A state says which rows are done, how large their values are, what the last value is,
and the sum so far. Nothing here computes; :mod:`mlnlab.counting.steps.counting_steps` does.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.counting.facts.tables import Part, Table, Vector
from mlnlab.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

MOST_SAMPLED = 100  # rows of a value that a state keeps
_LARGEST = 10**300  # of numbers that become floats


@dataclass(frozen=True, slots=True)
class OutlineRow:
    """One thing to be worked out; ``coefficient`` is that of a term, which is a number."""

    text: str
    depth: int
    parent: int  # the row to which it belongs, -1 at the top
    estimate: float | None = None
    coefficient: int | None = None
    network: int = -1  # the network of variables to which it belongs
    eliminates: tuple[str, ...] = ()  # the variables that are summed out here
    scope: tuple[str, ...] = ()  # the variables of its value


@dataclass(frozen=True, slots=True)
class JoinNetwork:
    """The variables of a conjunction and its joins: a label and a scope for each table that is read.

    ``kept`` are those by which bindings are grouped: they are not summed out.
    """

    title: str
    variables: tuple[str, ...]
    joins: tuple[tuple[str, tuple[str, ...]], ...]
    kept: tuple[str, ...] = ()

    def neighbours(self) -> dict[str, set[str]]:
        """Return the primal graph: variables that share a table."""
        found: dict[str, set[str]] = {variable: set() for variable in self.variables}
        for _, scope in self.joins:
            for variable in scope:
                found[variable] |= set(scope) - {variable}
        return found


@dataclass(frozen=True, slots=True)
class Outline:
    """All that is to be worked out for one count."""

    formula: str
    method: str
    rows: tuple[OutlineRow, ...]
    networks: tuple[JoinNetwork, ...]


@dataclass(frozen=True, slots=True)
class SampledValue:
    """Some rows of a table of bindings with their weights: all of them, or those with the largest weights."""

    columns: tuple[str, ...]
    rows: tuple[tuple[tuple[str, ...], int], ...]
    length: int

    @property
    def number(self) -> int | None:
        """The number that it is where it has no variables."""
        return None if self.columns else self.rows[0][1]


@dataclass(frozen=True, slots=True)
class Done:
    """One step of work: a row, its value or some of it, the sum of the terms after it, and words."""

    row: int
    value: SampledValue
    total: int
    words: str


@dataclass(frozen=True, slots=True)
class Size:
    """How many rows the value of a row of the outline has, and the number where it is one."""

    row: int
    length: int
    number: int | None


@dataclass(frozen=True, slots=True)
class CountingState:
    """How far a count has come; ``done`` holds the rows that are worked out, in the order of the work."""

    outline: Outline
    number: int
    done: tuple[Size, ...]
    value: SampledValue | None
    total: int
    words: str

    @property
    def current(self) -> int:
        """The row that was worked out last, -1 before the first."""
        return self.done[-1].row if self.done else -1

    @property
    def sizes(self) -> dict[int, Size]:
        """The size of each row that is done."""
        return {size.row: size for size in self.done}

    def metrics(self) -> Mapping[str, float]:
        """Return the rows of the last value, how many were expected, and the sum of the terms so far."""
        rows = self.done[-1].length if self.done else 0
        row = self.outline.rows[self.current] if self.done else None
        estimate = rows if row is None or row.estimate is None else row.estimate
        found = {"rows": rows, "estimate": estimate, "running sum": self.total}
        return {name: float(max(-_LARGEST, min(number, _LARGEST))) for name, number in found.items()}

    def after(self, done: Done) -> CountingState:
        """Return the state after one step of work."""
        size = Size(done.row, done.value.length, done.value.number)
        return replace(
            self, number=self.number + 1, done=(*self.done, size), value=done.value, total=done.total,
            words=done.words,
        )  # fmt: skip


class CountingSteps:
    """A count as an iterable of states, from nothing done to the number of true groundings.

    Each iteration counts anew; tables are computed when their state is asked for.
    """

    def __init__(self, outline: Outline, work: Callable[[], Iterator[Done]]) -> None:
        """Take the outline of the work, and the function that does the work."""
        self.outline, self._work = outline, work

    def begin(self) -> CountingState:
        """Return the state before anything is worked out."""
        return CountingState(self.outline, 0, (), None, 0, "nothing is worked out yet")

    def __iter__(self) -> Iterator[CountingState]:
        state = self.begin()
        yield state
        for done in self._work():
            state = state.after(done)
            yield state

    def resume(self, state: CountingState) -> Iterator[CountingState]:
        """Yield the states that follow one; earlier tables that they need are computed again."""
        if getattr(state, "outline", None) != self.outline:
            raise ArgumentError(
                "This state belongs to another count: a state of the same formula, method and data is needed."
            )
        return islice(iter(self), state.number + 1, None)

    def __repr__(self) -> str:
        return (
            f"<Counting {self.outline.formula[:200]} by {self.outline.method}, {len(self.outline.rows)} rows>"
        )


# --- values -------------------------------------------------------------------------------------


def a_number(number: int) -> SampledValue:
    """Return a value without variables."""
    return SampledValue((), (((), number),), 1)


def sample_value(value: Part, names: Sequence[str], domains: Sequence[Sequence[str]]) -> SampledValue:
    """Return some rows of a value; variable k is called ``names[k]``, its constants are ``domains[k]``."""
    match value:
        case Vector(variable, weights):
            kept = np.flatnonzero(weights)
            return _largest((variable,), kept[:, None], weights[kept], names, domains)
        case Table(variables, rows, weights):
            return _largest(variables, rows, weights, names, domains)
        case number:
            return a_number(int(number))


def _largest(
    variables: Sequence[int],
    rows: NDArray[np.unsignedinteger] | NDArray[np.intp],
    weights: NDArray[Any] | None,
    names: Sequence[str],
    domains: Sequence[Sequence[str]],
) -> SampledValue:
    """Return the rows of the largest weights, in their own order where weights are equal."""
    if weights is None or len(rows) <= MOST_SAMPLED:
        places = np.arange(min(len(rows), MOST_SAMPLED))
    else:
        places = np.sort(np.argsort(-weights, kind="stable")[:MOST_SAMPLED])
    found = tuple(
        (
            tuple(domains[v][number] for v, number in zip(variables, row, strict=True)),
            1 if weights is None else int(weights[place]),
        )
        for place, row in zip(places.tolist(), rows[places].tolist(), strict=True)
    )
    return SampledValue(tuple(names[v] for v in variables), found, len(rows))
