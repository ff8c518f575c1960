"""Counting the solutions of a constraint network by summing its variables out, step by step.

Sarkhel, Venugopal, Pham, Singla and Gogate, "Scalable training of Markov logic networks using approximate
counting" (AAAI 2016), the section on the #SG problem: exact counting is exact inference in the network of 0/1
constraints, exponential in its treewidth. Eliminating a variable multiplies the tables that have it and sums
it out; these tables are a cluster of a junction tree, and the result is the message to the next cluster. All
tables are written out in full here: this is how the paper's figure is read, not how large data are counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.counting.elimination.constraint_network import Constraint, ConstraintNetwork
from mlnlab.counting.plans.prepared import FITS
from mlnlab.counting.steps.counting_states import (
    MOST_SAMPLED,
    CountingSteps,
    Done,
    JoinNetwork,
    Outline,
    OutlineRow,
    SampledValue,
    a_number,
)
from mlnlab.errors import TooLargeError, count_of

if TYPE_CHECKING:
    from numpy.typing import NDArray


MOST_CELLS = 4_000_000  # of the table of a cluster


@dataclass(frozen=True, slots=True, eq=False)
class _Read:
    """A constraint as a table; the scope is in the order of the network's variables."""

    constraint: Constraint
    scope: tuple[str, ...]
    inputs: tuple[_Read | _Eliminate, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class _Eliminate:
    """The product of tables, a variable summed out."""

    variable: str
    inputs: tuple[_Read | _Eliminate, ...]
    scope: tuple[str, ...]


_Cluster = _Read | _Eliminate


def count_by_elimination(network: ConstraintNetwork, groundings: int) -> CountingSteps:
    """Return how a clause's true groundings are counted: all of them minus the network's solutions."""
    sizes = {name: len(domain) for name, domain in zip(network.variables, network.domains, strict=True)}
    roots = _junction_tree(network, sizes)
    joins = tuple((one.literal, one.scope) for one in network.constraints)
    rows = [
        OutlineRow("all groundings", 0, -1, coefficient=1),
        OutlineRow("the solutions of the constraint network", 0, -1, coefficient=-1, network=0),
    ]
    places: dict[int, int] = {}
    for root in roots:
        _add(root, rows, 1, sizes, places)
    graph = JoinNetwork(network.clause, network.variables, joins)
    outline = Outline(network.clause, "junction tree", tuple(rows), (graph,))
    return CountingSteps(outline, lambda: _worked_out(roots, places, network, groundings))


def _junction_tree(network: ConstraintNetwork, sizes: Mapping[str, int]) -> list[_Cluster]:
    """Return the clusters left when all variables are summed out: parts whose numbers multiply."""
    order = {name: place for place, name in enumerate(network.variables)}
    live: list[_Cluster] = [
        _Read(one, tuple(sorted(one.scope, key=order.__getitem__))) for one in network.constraints
    ]
    for variable in network.elimination_order():
        inputs = tuple(table for table in live if variable in table.scope)
        together = {name for table in inputs for name in table.scope}
        _refuse_large(together, sizes, network)
        scope = tuple(name for name in network.variables if name in together and name != variable)
        live = [table for table in live if variable not in table.scope]
        live.append(_Eliminate(variable, inputs, scope))
    return live


def _refuse_large(cluster: set[str], sizes: Mapping[str, int], network: ConstraintNetwork) -> None:
    cells = prod(sizes[name] for name in cluster)
    if cells > MOST_CELLS:
        raise TooLargeError(
            f"The junction tree of {network.clause} has a cluster of {count_of(len(cluster), 'variable')}"
            f" with {cells:,} cells (the limit is {MOST_CELLS:,}).",
            float(cells),
            ["use fewer constants", 'take method="plan", which lists true tuples only'],
        )


def _add(
    table: _Cluster, rows: list[OutlineRow], parent: int, sizes: Mapping[str, int], places: dict[int, int]
) -> None:
    here = places[id(table)] = len(rows)
    gone = (table.variable,) if isinstance(table, _Eliminate) else ()
    cells = float(prod(sizes[name] for name in (*table.scope, *gone)))
    rows.append(OutlineRow(_text(table), rows[parent].depth + 1, parent, cells, None, 0, gone, table.scope))
    for inner in table.inputs:
        _add(inner, rows, here, sizes, places)


def _text(table: _Cluster) -> str:
    if isinstance(table, _Read):
        return f"φ({', '.join(table.scope)}) of {table.constraint.literal}"
    cluster = ", ".join([table.variable, *table.scope])
    to = f", a message over {', '.join(table.scope)}" if table.scope else ""
    return f"cluster {cluster}: sum {table.variable} out{to}"


# --- doing it -----------------------------------------------------------------------------------


def _worked_out(
    roots: Sequence[_Cluster], places: Mapping[int, int], network: ConstraintNetwork, groundings: int
) -> Iterator[Done]:
    yield Done(0, a_number(groundings), groundings, f"0 + {groundings:,} = {groundings:,}")
    kind = np.int64 if groundings < FITS else object
    domains = dict(zip(network.variables, network.domains, strict=True))
    numbers: list[int] = []
    for root in roots:
        values: dict[int, NDArray[Any]] = {}
        for table in _bottom_up(root):
            value = values[id(table)] = _value(table, values, domains, kind)
            shown = _sample_rows(value, table.scope, domains)
            yield Done(places[id(table)], shown, groundings, _describe_table(table, shown))
        numbers.append(int(values[id(root)]))
    solutions = prod(numbers)
    if len(numbers) > 1:
        words = f"multiply the parts: {' × '.join(f'{n:,}' for n in numbers)} = {solutions:,}"
        yield Done(1, a_number(solutions), groundings, words)
    after = groundings - solutions
    yield Done(1, a_number(solutions), after, f"{groundings:,} − {solutions:,} = {after:,}")


def _bottom_up(table: _Cluster) -> Iterator[_Cluster]:
    for inner in table.inputs:
        yield from _bottom_up(inner)
    yield table


def _value(
    table: _Cluster, values: dict[int, NDArray[Any]], domains: Mapping[str, Sequence[str]], kind: type
) -> NDArray[Any]:
    """Return a table in full, an axis for each variable of its scope; inputs are forgotten."""
    if isinstance(table, _Read):
        return _phi(table, kind)
    names = (*table.scope, table.variable)
    found: NDArray[Any] = np.ones([len(domains[name]) for name in names], kind)
    for inner in table.inputs:
        axes = [inner.scope.index(name) for name in names if name in inner.scope]
        shape = [len(domains[name]) if name in inner.scope else 1 for name in names]
        found *= values.pop(id(inner)).transpose(axes).reshape(shape)
    return np.asarray(found.sum(axis=-1), kind)


def _phi(table: _Read, kind: type) -> NDArray[Any]:
    """Return a constraint's φ in full."""
    one = table.constraint
    found: NDArray[Any] = np.full(one.sizes, 0 if one.allows_listed else 1, kind)
    if len(one.listed):  # of a constraint without variables, an index of no axes would mean the number itself
        found[tuple(one.listed.T)] = 1 if one.allows_listed else 0
    return found.transpose([one.scope.index(name) for name in table.scope])


def _sample_rows(
    value: NDArray[Any], scope: tuple[str, ...], domains: Mapping[str, Sequence[str]]
) -> SampledValue:
    """Return the table with its zeros, as the figure has it; where it is long, those rows that are not 0."""
    if not scope:
        return a_number(int(value))
    flat = value.ravel()
    kept = np.arange(len(flat)) if len(flat) <= MOST_SAMPLED else np.flatnonzero(flat)
    places = np.stack(np.unravel_index(kept[:MOST_SAMPLED], value.shape), axis=1).tolist()
    rows = tuple(
        (tuple(domains[name][number] for name, number in zip(scope, place, strict=True)), int(weight))
        for place, weight in zip(places, flat[kept[:MOST_SAMPLED]].tolist(), strict=True)
    )
    return SampledValue(scope, rows, len(kept) if len(flat) > MOST_SAMPLED else len(flat))


def _describe_table(table: _Cluster, value: SampledValue) -> str:
    if isinstance(table, _Read):
        return f"read {_text(table)}: {count_of(value.length, 'row')}"
    result = count_of(value.length, "row") if table.scope else f"{value.number:,}"
    if not table.inputs:
        return f"count the values of {table.variable}, in no literal: {result}"
    inner = " · ".join(
        f"{'m' if isinstance(one, _Eliminate) else 'φ'}({', '.join(one.scope)})" for one in table.inputs
    )
    return f"multiply {inner}, and sum {table.variable} out: {result}"
