"""Define the nodes of a plan: a frozen tree of tables that are read, joined and summed out.

Each node knows its variables (numbers), an estimate of its size, and how to compute its value in a
:class:`Run`, which holds one world's facts; a run remembers real sizes when it is asked to.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.counting.facts.sorted_facts import Facts, Pattern, adjacency, bit_rows, degrees, select_rows
from mlnlab.counting.facts.tables import (
    MOST_DENSE,
    Part,
    Table,
    Vector,
    compose_tables,
    join_tables,
    message,
    ones,
    product_of,
    scalar_product,
    summed_out,
    total,
    weigh_rows,
)
from mlnlab.logic.relations import frozen

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray


_STRETCH = 20_000_000  # neighbours or words of bits that are looked at without a pause: some 50 ms


@dataclass(slots=True, eq=False)
class Run:
    """One computation of plans: the facts, the kind of number, and real sizes where they are wanted."""

    facts: Facts
    kind: type = np.int64
    derived: Mapping[int, NDArray[np.uint32]] = field(default_factory=dict)
    sizes: dict[int, int] | None = None

    def table(self, node: Node) -> Table:
        """Return the value of a node that has more than one variable."""
        found = self.value(node)
        if isinstance(found, Table):
            return found
        raise TypeError(f"{node} is not a table.")

    def vectors(self, nodes: Sequence[Node]) -> list[Vector]:
        """Return the values of nodes that have one variable."""
        return [found for found in map(self.value, nodes) if isinstance(found, Vector)]

    def value(self, node: Node) -> Part:
        """Return the value of a node, and remember its size."""
        found = node.value(self)
        if self.sizes is not None:
            self.sizes[id(node)] = 1 if isinstance(found, int | float) else found.length
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Scan:
    """Read the true atoms of a predicate (or listed tuples) that fit a pattern of variables and constants."""

    label: str
    source: str | int  # a predicate, or the number of a derived relation
    pattern: Pattern | None  # None: every column is a variable of its own, in order
    variables: tuple[int, ...]
    size: int  # of the variable's type, where there is one variable only
    estimate: float
    listed: NDArray[np.uint32] | None = None
    weighted: bool = False

    def rows(self, run: Run) -> NDArray[np.uint32]:
        """Return the tuples."""
        if self.listed is not None:
            found = self.listed
        elif isinstance(self.source, str):
            found = run.facts.rows(self.source)
        else:
            found = run.derived[self.source]
        return found if self.pattern is None else select_rows(found, self.pattern)

    def value(self, run: Run) -> Part:
        """Return a number without variables, a vector for one, a table for more."""
        rows = self.rows(run)
        match len(self.variables):
            case 0:
                return len(rows)
            case 1 if self.size <= MOST_DENSE:
                weights = degrees(rows, 0, self.size)
                return Vector(self.variables[0], weights.astype(run.kind, copy=False))
            case _:
                return Table(self.variables, rows)

    @property
    def inputs(self) -> tuple[Node, ...]:
        """Nothing is computed before."""
        return ()


@dataclass(frozen=True, slots=True, eq=False)
class SumOut:
    """Join the inputs and sum a variable out (variable elimination); -1: only join."""

    variable: int
    inputs: tuple[Node, ...]
    variables: tuple[int, ...]
    sizes: Mapping[int, int]
    estimate: float
    weighted: bool = True

    def value(self, run: Run) -> Part:
        """Return the sum over the variable of the product of the inputs."""
        vectors: list[Vector] = []
        tables: list[Table] = []
        for node in self.inputs:
            found = run.value(node)
            if isinstance(found, Vector):
                vectors.append(found)
            elif isinstance(found, Table):
                tables.append(found)
        if not tables:
            return self._of_vectors(vectors, run.kind)
        if self.variable >= 0 and all(vector.variable == self.variable for vector in vectors):
            direct = self._direct(vectors, tables, run.kind)
            if direct is not None:
                return direct
        return self._join_parts(vectors, tables, run.kind)

    def _of_vectors(self, vectors: list[Vector], kind: type) -> Part:
        if len(vectors) == 2 and kind is not object and self.variable >= 0:
            return scalar_product(vectors[0].weights, vectors[1].weights)
        weights = product_of(vectors, kind)
        if weights is None:
            return 1
        return total(weights) if self.variable >= 0 else Vector(vectors[0].variable, weights)

    def _direct(self, vectors: list[Vector], tables: list[Table], kind: type) -> Part | None:
        """Sum out without a join, where one or two unweighted binary tables are all there is."""
        if any(table.weights is not None or len(table.variables) != 2 for table in tables):
            return None
        if len(tables) == 1 and self.variables and self.sizes[self.variables[0]] <= MOST_DENSE:
            size = self.sizes[self.variables[0]]
            return message(tables[0], self.variable, product_of(vectors, kind), size, kind)
        narrow = all(self.sizes[v] <= MOST_DENSE for v in (self.variable, *self.variables))
        if len(tables) == 2 and len(self.variables) == 2 and kind is np.int64 and narrow:
            left, right = tables
            return compose_tables(left, right, self.variable, product_of(vectors, kind), self.sizes)
        return None

    def _join_parts(self, vectors: list[Vector], tables: list[Table], kind: type) -> Part:
        tables.sort(key=lambda table: table.length)
        result, *waiting = tables
        while waiting:
            known = frozenset(result.variables)
            nearest = next((table for table in waiting if known.intersection(table.variables)), waiting[0])
            waiting = [table for table in waiting if table is not nearest]
            result = join_tables(result, nearest, self.sizes, kind)
        inside = [vector for vector in vectors if vector.variable in result.variables]
        result = weigh_rows(result, inside, kind)
        return result if self.variable < 0 else summed_out(result, self.variable, self.sizes, kind)


@dataclass(frozen=True, slots=True, eq=False)
class Triangle:
    """Count triangles by bits: for each row (x, z) of the sparsest table, which y both have."""

    driver: Node
    left: Node  # over x and y
    right: Node  # over z and y
    middle: int
    ends: tuple[Node, ...]  # vectors over x and z
    sizes: Mapping[int, int]
    estimate: float
    variables: tuple[int, ...] = ()
    weighted: bool = True

    @property
    def inputs(self) -> tuple[Node, ...]:
        """The tables and vectors."""
        return (self.driver, self.left, self.right, *self.ends)

    def value(self, run: Run) -> Part:
        """Return the weighted number of triangles."""
        from mlnlab.kernels.counting.true_tuples import common_neighbours

        driver, left, right = (run.table(node) for node in (self.driver, self.left, self.right))
        vectors = run.vectors(self.ends)
        bits, weights = [], []
        ends = tuple(next(v for v in table.variables if v != self.middle) for table in (left, right))
        # Where the driver was joined from several tables, the smallest of them says what comes first.
        rows = driver.rows if driver.variables == ends else frozen(driver.rows[:, ::-1])
        for table, variable in zip((left, right), ends, strict=True):
            column = table.variables.index(variable)
            bits.append(bit_rows(table.rows, column, self.sizes[variable], self.sizes[self.middle]))
            found = product_of([v for v in vectors if v.variable == variable], run.kind)
            weights.append(ones(self.sizes[variable], run.kind) if found is None else found)
        number = 0
        step = max(1, _STRETCH // max(1, bits[0].shape[1]))
        for begin in range(0, len(rows), step):
            end = min(begin + step, len(rows))
            number += common_neighbours(rows, begin, end, bits[0], bits[1], weights[0], weights[1])
        return number


@dataclass(frozen=True, slots=True, eq=False)
class Cycle:
    """A count conditioned on a pivot variable: the rest is a tree, along which short lists are sent."""

    pivot: int
    program: NDArray[np.int64]
    edges: tuple[tuple[Node, int], ...]  # a binary table, and the variable from which it is followed
    weights: tuple[Node, ...]
    places: Mapping[int, int]  # the number of each variable in the program
    sizes: Mapping[int, int]
    lists: float  # of neighbours that are begun
    estimate: float
    variables: tuple[int, ...] = ()
    weighted: bool = True

    @property
    def inputs(self) -> tuple[Node, ...]:
        """The tables and vectors."""
        return (*(node for node, _ in self.edges), *self.weights)

    def value(self, run: Run) -> Part:
        """Return the weighted number of bindings."""
        from mlnlab.kernels.counting.counting_cycles import MOST_EDGES, count_bindings

        starts, targets = [], []
        for node, source in self.edges:
            table = run.table(node)
            found = adjacency(table.rows, table.variables.index(source), self.sizes[source])
            starts.append(found.starts)
            targets.append(found.targets)
        vectors = run.vectors(self.weights)
        pivots = product_of([v for v in vectors if v.variable == self.pivot], run.kind)
        fill = MOST_EDGES - len(starts)
        count, width = self.sizes[self.pivot], max(self.sizes[v] for v in self.places)
        pivot_weights = ones(count, run.kind) if pivots is None else pivots
        weights = self._weights(vectors, width, run.kind)
        arrays = (*starts, *starts[:1] * fill), (*targets, *targets[:1] * fill), weights
        number = 0
        # Short stretches, so that an interrupt is heard; but each makes its own work arrays.
        step = max(1, int(count * _STRETCH / max(self.estimate, 1.0)))
        for begin in range(0, count, step):
            end = min(begin + step, count)
            number += count_bindings(self.program, *arrays, pivot_weights, begin, end, width)
        return number

    def _weights(self, vectors: Sequence[Vector], width: int, kind: type) -> NDArray[Any]:
        """Return a line of weights for each variable of the program, none where nothing is weighed."""
        lines: NDArray[Any] = np.ones((len(self.places) if vectors else 1, width if vectors else 1), kind)
        for vector in vectors:
            if vector.variable in self.places:
                lines[self.places[vector.variable], : len(vector.weights)] *= vector.weights.astype(kind)
        return lines


Node = Scan | SumOut | Triangle | Cycle
