"""Turn a question to a factor graph or Bayesian network, given evidence, into the kernels' arrays."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.errors import TooLargeError
from mlnlab.factors.graphs.log_tables import LogTable, scale_tables
from mlnlab.factors.trees.elimination_order import as_factor_graph, fix_known_variables
from mlnlab.factors.trees.network_answers import impossible
from mlnlab.kernels.messages.factor_tables import Tables

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from mlnlab.factors.graphs.bayesian_network import BayesianNetwork
    from mlnlab.factors.graphs.factor_graph import FactorGraph
    from mlnlab.factors.graphs.random_variables import Assignment

MOST_CELLS = (1 << 32) - 1  # of all tables together: their places are numbers of 32 bits


@dataclass(frozen=True, slots=True, eq=False)
class FactorQuestion:
    """A model, its open part, and that part as arrays; the largest weight of each table is 1.

    ``log_scale`` is the logarithm of what the tables were divided by. A factor over no open variable is a
    number, and part of the scale.
    """

    whole: FactorGraph
    graph: FactorGraph
    numbers: tuple[int, ...]  # of the tables, the factors that they are
    tables: Tables
    log_scale: float

    @property
    def number_of_variables(self) -> int:
        """How many variables are open."""
        return len(self.tables.value_starts) - 1

    @property
    def number_of_tables(self) -> int:
        """How many tables are over open variables."""
        return len(self.tables.cell_starts) - 1

    @property
    def forbids(self) -> bool:
        """Whether a table forbids something."""
        return bool((self.tables.logs == -inf).any())

    @property
    def starts(self) -> NDArray[np.int64]:
        """Where the values of each open variable begin, and at last how many values there are."""
        return self.tables.value_starts.astype(np.int64)

    @property
    def sizes(self) -> NDArray[np.int64]:
        """How many values each open variable has."""
        starts = self.starts
        return np.asarray(starts[1:] - starts[:-1])

    @property
    def visits(self) -> int:
        """How many cells a sweep of Gibbs sampling looks at."""
        near = self.tables.near_starts.astype(np.int64)
        return int((self.sizes * (near[1:] - near[:-1] + 1)).sum())

    def name_values(self, values: Sequence[int]) -> dict[str, str]:
        """Return an assignment to the open variables by their names."""
        return {v.name: v.values[value] for v, value in zip(self.graph.variables, values, strict=True)}

    def scopes(self) -> Iterator[tuple[int, ...]]:
        """Yield the open variables of each table."""
        starts, scope = self.tables.scope_starts.tolist(), self.tables.scope.tolist()
        for start, end in pairwise(starts):
            yield tuple(scope[start:end])

    def table(self, number: int) -> NDArray[np.float64]:
        """Return the logarithms of a table, with an axis for each of its variables."""
        first, end = self.tables.cell_starts[number : number + 2].tolist()
        variables = self.tables.scope[slice(*self.tables.scope_starts[number : number + 2].tolist())]
        return self.tables.logs[first:end].reshape(self.sizes[variables])


def factor_question(
    model: FactorGraph | BayesianNetwork, evidence: Assignment | None = None
) -> FactorQuestion:
    """Restrict a model to its open variables; refuse evidence that contradicts a single factor."""
    whole, graph = as_factor_graph(model), fix_known_variables(model, evidence)
    scaled, log_scale = scale_tables(graph.log_tables())
    if any(float(table.logs.max()) == -inf for table in scaled):
        raise impossible({**graph.evidence})
    kept = [(n, table) for n, table in enumerate(scaled) if table.scope]
    return FactorQuestion(
        whole, graph, tuple(n for n, _ in kept), _arrays(graph, [table for _, table in kept]), log_scale
    )


def _arrays(graph: FactorGraph, tables: Sequence[LogTable]) -> Tables:
    cells = sum(table.logs.size for table in tables)
    if cells > MOST_CELLS:
        raise TooLargeError(
            f"The factors have {cells:,} cells, and at most {MOST_CELLS:,} can be worked on.",
            float(cells),
            ["give evidence on variables of the largest factors"],
        )
    sizes = np.array([variable.size for variable in graph.variables], np.int64)
    scope = np.array([v for table in tables for v in table.scope], np.int64)
    strides = np.array([s // 8 for table in tables for s in np.ascontiguousarray(table.logs).strides])
    owners = np.repeat(np.arange(len(tables)), [len(table.scope) for table in tables])
    by_variable = np.argsort(scope, kind="stable")
    logs = np.concatenate([np.zeros(0), *(table.logs.reshape(-1) for table in tables)])
    logs.setflags(write=False)
    return Tables(
        _starts(sizes),
        _starts(np.bincount(scope, minlength=len(sizes))), _words(owners[by_variable]),
        _words(strides[by_variable]),
        _starts([len(table.scope) for table in tables]), _words(scope), _words(strides),
        _starts(sizes[scope]), _starts([table.logs.size for table in tables]), logs,
    )  # fmt: skip


def _starts(sizes: NDArray[np.int64] | Sequence[int]) -> NDArray[np.uint32]:
    return _words(np.concatenate([[0], np.cumsum(np.asarray(sizes, np.int64))]))


def _words(numbers: NDArray[Any]) -> NDArray[np.uint32]:
    array = np.ascontiguousarray(numbers, np.uint32)
    array.setflags(write=False)
    return array
