"""Where to pause: conditions on two steps in a row, for looking into a learner or sampler that goes astray.

    live = Live(steps(...), breaks=[sign_change("weights"), not_finite(), decreases("objective")])
    run(steps(...), stop=when("a step is rejected", lambda state: state.rejected))
    live.breaks = [merges("clusters", "Anna", "Bob"), when("far off", lambda state: state.distance > 3)]

Where a condition takes a quantity, that is a metric's name, an attribute's name, or a function of the state;
arrays are looked at entry by entry. A live run rests where a condition fails, and says so: see
:func:`pause_reason`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from math import isfinite
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mlnlab.errors import ArgumentError
from mlnlab.steps.runs.stopping import Predicate, StopRule, name_of, reason_of
from mlnlab.steps.step import State, Step
from mlnlab.steps.values.quantities import Quantity, metric_of, numbers_of, quantity_name, quantity_of
from mlnlab.steps.values.sameness import differing_parts

# Of the previous step (none at the first) and the current one; a text says more than that it is true.
Condition: TypeAlias = Callable[[Step[Any] | None, Step[Any]], bool | str | None]
_Numbers: TypeAlias = NDArray[np.float64]


class Break(StopRule):
    """A named condition on a step and the one before it."""

    def __init__(self, name: str, condition: Condition) -> None:
        if not callable(condition):
            raise ArgumentError(f"The break {name!r} needs a function of two steps, not {condition!r}.")
        self.name = name
        self._condition = condition
        self._previous: Step[State] | None = None

    def verdict(self, step: Step[State]) -> str | None:
        """Ask the condition; where the steps begin anew, there is no step before."""
        before = self._previous
        if before is not None and step.index <= before.index:
            before = None
        self._previous = step
        found = self._condition(before, step)
        if not found:
            return None
        return f"{self.name} at step {step.index}{': ' + found if isinstance(found, str) else ''}."

    def __repr__(self) -> str:
        return f"Break({self.name!r})"


def pause_reason(condition: Predicate, step: Step[Any]) -> str | None:
    """Return why a run should rest at a step, if it should; a condition that fails is a reason too.

    Who looks into a long run wants to hear of a mistake in his condition, not to lose the run by it.
    """
    try:
        return reason_of(condition) if condition(step) else None
    except Exception as problem:  # noqa: BLE001 - whatever a condition does, the run goes on
        # The sentences of our own errors need no type in front.
        said = str(problem) if isinstance(problem, ArgumentError) else repr(problem)
        called = condition.name if isinstance(condition, Break) else name_of(condition)
        return f"Whether {called} could not be decided at step {step.index}: {said}"


def when(name: str, condition: Callable[[Any], object]) -> Break:
    """Break at every state for which a function is true; a text that it returns is said as well."""
    return Break(name, _of_state(name, condition))


def becomes(name: str, condition: Callable[[Any], object]) -> Break:
    """Break where a function of the state becomes true that was not at the step before."""
    holds = _of_state(name, condition)

    def turning(before: Step[Any] | None, now: Step[Any]) -> bool | str | None:
        found = holds(None, now)
        return found if before is None or not holds(None, before) else None

    return Break(name, turning)


def _of_state(name: str, condition: Callable[[Any], object]) -> Condition:
    if not callable(condition):
        raise ArgumentError(f"The break {name!r} needs a function of a state, not {condition!r}.")

    def of_state(_: Step[Any] | None, now: Step[Any]) -> bool | str | None:
        found = condition(now.state)
        return found if isinstance(found, str) else bool(found)

    return of_state


def merges(partition: Quantity, *members: Hashable, name: str | None = None) -> Break:
    """Break where these members come together in one cluster; without members, where any two clusters do.

    The partition is clusters (sets, tuples, lists of members), a mapping from members to their clusters, or
    an array with the label of each member's cluster.
    """
    if len(members) == 1:
        raise ArgumentError(f"Merging takes two; name a second member besides {members[0]!r}.")

    def condition(before: Step[Any] | None, now: Step[Any]) -> str | None:
        new = _cluster_of_each(quantity_of(now, partition), partition)
        if before is None:
            return None
        old = _cluster_of_each(quantity_of(before, partition), partition)
        for cluster in _clusters(new, members):
            parts: dict[Hashable, list[str]] = {}
            for member in cluster:
                if member in old:
                    parts.setdefault(old[member], []).append(str(member))
            if len(parts) > 1:
                return f"{', '.join(sorted(map(min, parts.values())))} are together now"
        return None

    these = " and ".join(map(str, members)) if members else "two clusters"
    return Break(f"{these} merge in {quantity_name(partition, name)}", condition)


def _cluster_of_each(partition: object, quantity: Quantity) -> dict[Hashable, Hashable]:
    """Return each member's cluster; clusters themselves are numbered, and so are the members of labels."""
    if isinstance(partition, Mapping):
        return dict(partition)
    if isinstance(partition, np.ndarray) and partition.ndim == 1:
        return dict(enumerate(partition.tolist()))
    if isinstance(partition, Iterable) and not isinstance(partition, str):
        clusters = list(partition)
        if all(isinstance(cluster, Iterable) and not isinstance(cluster, str) for cluster in clusters):
            return {member: number for number, cluster in enumerate(clusters) for member in cluster}
    called = quantity_name(quantity, None)
    raise ArgumentError(
        f"{called!r} has to be clusters, a mapping or labels, not {type(partition).__name__}."
    )


def _clusters(cluster_of: Mapping[Hashable, Hashable], members: tuple[Hashable, ...]) -> list[list[Hashable]]:
    """Return the clusters; of named members only those, where they are in one cluster."""
    found: dict[Hashable, list[Hashable]] = {}
    for member, cluster in cluster_of.items():
        if not members or member in members:
            found.setdefault(cluster, []).append(member)
    return [cluster for cluster in found.values() if not members or len(cluster) == len(set(members))]


def crosses(quantity: Quantity, value: float, *, name: str | None = None) -> Break:
    """Break when a number reaches or passes a value, from either side."""
    called = quantity_name(quantity, name)
    return Break(f"{called} crosses {value:g}", _crossing(quantity, value))


def sign_change(quantity: Quantity, *, name: str | None = None) -> Break:
    """Break when a number reaches zero or passes it; one that leaves zero has not changed its sign."""
    return Break(f"{quantity_name(quantity, name)} changes sign", _crossing(quantity, 0.0))


def _crossing(quantity: Quantity, value: float) -> Condition:
    def condition(before: Step[Any] | None, now: Step[Any]) -> str | None:
        if before is None:
            numbers_of(now, quantity)  # a misspelt name is said at once
            return None
        old, new = numbers_of(before, quantity), numbers_of(now, quantity)
        if old.shape != new.shape:
            return None
        return _first_of((old < value) & (new >= value) | (old > value) & (new <= value), old, new)

    return condition


def _first_of(where: NDArray[np.bool_], old: _Numbers, new: _Numbers) -> str | None:
    """Return the first place at which something holds with the numbers there, and how many more there are."""
    places = np.argwhere(where)
    if not len(places):
        return None
    place = tuple(places[0])
    index = f"[{', '.join(map(str, place))}] " if place else ""
    others = f", and {len(places) - 1:,} more" if len(places) > 1 else ""
    return f"{index}{old[place]:.6g} became {new[place]:.6g}{others}"


def changes(quantity: Quantity, *, name: str | None = None) -> Break:
    """Break when the value of a quantity of any kind changes."""

    def condition(before: Step[Any] | None, now: Step[Any]) -> str | None:
        value = quantity_of(now, quantity)
        if before is None:
            return None
        return "; ".join(differing_parts(quantity_of(before, quantity), value, most=3)) or None

    return Break(f"{quantity_name(quantity, name)} changes", condition)


def not_finite(quantity: Quantity | None = None, *, name: str | None = None) -> Break:
    """Break when a number is infinite or not a number at all; without a quantity, any metric."""

    def condition(_: Step[Any] | None, now: Step[Any]) -> str | None:
        if quantity is None:
            metrics = now.state.metrics()
            return ", ".join(f"{n} is {v}" for n, v in metrics.items() if not isfinite(v)) or None
        numbers = numbers_of(now, quantity)
        places = np.argwhere(~np.isfinite(numbers))
        return f"{numbers[tuple(places[0])]} at {places[0].tolist()}" if len(places) else None

    called = "a metric" if quantity is None else quantity_name(quantity, name)
    return Break(f"{called} is not finite", condition)


def decreases(metric: str, *, by_more_than: float = 0.0) -> Break:
    """Break when a metric is smaller than at the step before."""

    def condition(before: Step[Any] | None, now: Step[Any]) -> str | None:
        value = metric_of(now, metric)
        if before is None:
            return None
        old = metric_of(before, metric)
        return f"{old:.6g} became {value:.6g}" if old - value > by_more_than else None

    return Break(f"{metric} decreases", condition)
