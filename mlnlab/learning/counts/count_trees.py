"""log Z, expected counts and their covariance in a junction tree whose weights change, exactly.

Weights come and go while the tree stays: the tables of true groundings of each formula are laid out at
cliques once. At some weights, messages go inward; what a clique says given its separator is kept, so that
going back outward takes one multiplication a cell (Lauritzen and Spiegelhalter 1988). With n_i = sum_C t_iC,

    E[n_i] = sum_C E[t_iC(x_C)],    (H d)_i = Cov(n_i, D) = sum_C E[t_iC(x_C) (E[D | x_C] - E[D])]

where D = sum_i d_i n_i. E[D | x_C] comes from one message along each edge and one back, the mean of what lies
behind the separator given the separator. So H d, exactly, costs about what log Z does. The diagonal and the
whole matrix need a direction for each formula; where that is too much they are refused, with an estimate.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.errors import TooLargeError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from mlnlab.factors.trees.tree_messages import MessagePassing
    from mlnlab.grounding.networks.ground_factors import TrueGroundings

    Numbers = NDArray[np.float64]
    Axes = tuple[int, ...]

MOST_MULTIPLIED = 1 << 31  # cells times formulas, for a whole matrix: a minute or so
_TOGETHER = 1 << 22  # cells times directions, of messages that are sent together


@dataclass(frozen=True, slots=True, eq=False)
class _Local:
    """True groundings of some formulas as a function of a few of a clique's variables."""

    axes: Axes  # of the clique, ascending
    shape: tuple[int, ...]
    formulas: NDArray[np.int64]
    tables: Numbers  # a row for each formula, a column for each combination of values

    def weigh_directions(self, directions: Numbers) -> Numbers:
        """Return sum_i d_i t_i for each column d; the last axis is that of the columns."""
        found = self.tables.T @ directions[self.formulas]
        return np.asarray(found.reshape(*self.shape, directions.shape[1]))


@dataclass(frozen=True, slots=True, eq=False)
class _Edge:
    """A child and its parent, and the positions of their shared axes among the axes of both."""

    child: int
    parent: int
    child_axes: Axes
    parent_axes: Axes


class CountTree:
    """A junction tree with the tables of true groundings at its cliques."""

    def __init__(self, passing: MessagePassing, counts: Sequence[TrueGroundings], formulas: int) -> None:
        """Lay out the tables that weights do not change, and those that they multiply."""
        self.formulas, self.cells = formulas, passing.tree.cells
        self.scopes, self.roots = passing.scopes, passing.roots
        sizes = passing.graph.sizes()
        self.shapes = [tuple(sizes[variable] for variable in scope) for scope in self.scopes]
        self.edges = [self._edge(passing, child, parent) for child, parent in passing.schedule]
        self.given: dict[int, list[tuple[Axes, Numbers]]] = {}  # of each clique: what must hold
        for home, table in zip(passing.tree.homes, passing.graph.log_tables(), strict=True):
            if table.logs.any():
                axes, logs = self._at(home, table.scope, table.logs)
                self.given.setdefault(home, []).append((axes, logs))
        self.certain = np.zeros(formulas)  # what depends on no open variable
        self.local: dict[int, list[_Local]] = {}
        self._lay_out(passing, counts)

    def _edge(self, passing: MessagePassing, child: int, parent: int) -> _Edge:
        kept = passing.separator(child, parent)
        ends = [tuple(self.scopes[end].index(variable) for variable in kept) for end in (child, parent)]
        return _Edge(child, parent, *ends)

    def _at(self, clique: int, variables: Sequence[int], values: Numbers) -> tuple[Axes, Numbers]:
        """Return the axes of a clique that some variables have, ascending, and values over them."""
        places = [self.scopes[clique].index(variable) for variable in variables]
        order = sorted(range(len(places)), key=places.__getitem__)
        return tuple(places[place] for place in order), np.asarray(values).transpose(order)

    def _lay_out(self, passing: MessagePassing, counts: Sequence[TrueGroundings]) -> None:
        graph = passing.graph
        holding: dict[int, set[int]] = {}
        for clique, scope in enumerate(self.scopes):
            for variable in scope:
                holding.setdefault(variable, set()).add(clique)
        for part in counts:
            fixed = tuple(slice(None) if name in graph else 0 for name in part.variables)
            variables = [graph.number(name) for name in part.variables if name in graph]
            if not variables:
                for formula, true in part.of_sources.items():
                    self.certain[formula] += float(true[fixed])
                continue
            together = set.intersection(*(holding[variable] for variable in variables))
            clique = min(together, key=lambda one: (len(self.scopes[one]), one))
            laid = [self._at(clique, variables, true[fixed]) for true in part.of_sources.values()]
            axes, first = laid[0]
            tables = np.stack([table.ravel() for _, table in laid])
            formulas = np.array(list(part.of_sources), np.int64)
            self.local.setdefault(clique, []).append(_Local(axes, first.shape, formulas, tables))

    def at(self, weights: Numbers) -> WeightedTree:
        """Pass all messages at some weights."""
        tables = [self._logs(clique, weights) for clique in range(len(self.scopes))]
        log_z = float(self.certain @ weights)
        conditional: dict[int, Numbers] = {}
        for edge in self.edges:
            conditional[edge.child], message = _normalise_logs(tables[edge.child], edge.child_axes)
            tables[edge.child] = message  # the table itself is not needed again
            tables[edge.parent] += _spread(message, edge.parent_axes, len(self.shapes[edge.parent]))
        beliefs: dict[int, Numbers] = {}
        for root in self.roots:
            beliefs[root], total = _normalise_logs(tables[root], ())
            log_z += float(total)
        for edge in reversed(self.edges):
            shared = _summed_to(beliefs[edge.parent], edge.parent_axes)
            width = len(self.shapes[edge.child])
            beliefs[edge.child] = conditional[edge.child] * _spread(shared, edge.child_axes, width)
        return WeightedTree(self, log_z, [beliefs[clique] for clique in range(len(self.scopes))], conditional)

    def _logs(self, clique: int, weights: Numbers) -> Numbers:
        """Return the logarithms of a clique's own table."""
        shape = self.shapes[clique]
        found = np.zeros(shape)
        for axes, logs in self.given.get(clique, ()):
            found += _spread(logs, axes, len(shape))
        parts = self.local.get(clique)
        if parts:
            found += _sum_parts(weights[:, None], tuple(range(len(shape))), parts, frozenset())[..., 0]
        return found


@dataclass(frozen=True, eq=False)
class WeightedTree:
    """The tree after all messages at some weights; also the covariance of the counts there."""

    tree: CountTree
    log_z: float
    beliefs: list[Numbers]
    conditional: dict[int, Numbers]  # of each clique that has a parent: given what they share

    def compute_expected_counts(self) -> Numbers:
        """Return E[n]."""
        found = self.tree.certain[:, None].copy()
        for clique, parts in self.tree.local.items():
            _add_products(found, parts, self.beliefs[clique][..., None])
        return found[:, 0]

    def times(self, direction: Numbers) -> Numbers:
        """Return H d."""
        return self._products(direction[:, None])[:, 0]

    def quadratic(self, direction: Numbers) -> float:
        """Return d'Hd."""
        return float(direction @ self.times(direction))

    def diagonal(self) -> Numbers:
        """Return the variances."""
        return self._matrix.diagonal().copy()

    def matrix(self) -> Numbers:
        """Return H."""
        return self._matrix

    @cached_property
    def _matrix(self) -> Numbers:
        tree = self.tree
        work = tree.cells * tree.formulas
        if work > MOST_MULTIPLIED:
            raise TooLargeError(
                f"The variances of {tree.formulas:,} counts in a junction tree of {tree.cells:,} cells need"
                f" about {work:,} multiplications (up to {MOST_MULTIPLIED:,}).", float(work),
                ['take an optimiser that needs none of them: optimizer="l-bfgs"',
                 "predict fewer predicates, given the others: query=[...]",
                 'sample the expected counts: method="pscg"'],
            )  # fmt: skip
        several, axes = max(1, _TOGETHER // max(1, tree.cells)), np.eye(tree.formulas)
        columns = [self._products(axes[:, n : n + several]) for n in range(0, tree.formulas, several)]
        found = np.concatenate([np.zeros((tree.formulas, 0)), *columns], axis=1)
        return np.asarray((found + found.T) / 2)

    def _products(self, directions: Numbers) -> Numbers:
        """Return H d for each column d."""
        tree, number = self.tree, directions.shape[1]
        means = [np.zeros((*shape, number)) for shape in tree.shapes]
        for clique, parts in tree.local.items():
            means[clique] += _sum_parts(
                directions, tuple(range(len(tree.shapes[clique]))), parts, frozenset()
            )
        sent: dict[int, Numbers] = {}
        for edge in tree.edges:
            behind = self.conditional[edge.child][..., None] * means[edge.child]
            sent[edge.child] = _summed_to(behind, edge.child_axes, 1)
            means[edge.parent] += _spread(
                sent[edge.child], edge.parent_axes, len(tree.shapes[edge.parent]), 1
            )
        for edge in reversed(tree.edges):
            belief = self.beliefs[edge.parent]
            shared = _summed_to(belief, edge.parent_axes)[..., None]
            known = _summed_to(belief[..., None] * means[edge.parent], edge.parent_axes, 1)
            known = np.divide(known, shared, out=np.zeros_like(known), where=shared > 0)
            # What lies behind the parent is all that it knows, less what it heard from the child.
            back = known - sent[edge.child]
            means[edge.child] += _spread(back, edge.child_axes, len(tree.shapes[edge.child]), 1)
        total = np.zeros((tree.formulas, number))
        for clique, parts in tree.local.items():
            shares = self.beliefs[clique][..., None]
            middle = (shares * means[clique]).reshape(-1, number).sum(axis=0)
            _add_products(total, parts, shares * (means[clique] - middle))
        return total


def _normalise_logs(logs: Numbers, kept: Axes) -> tuple[Numbers, Numbers]:
    """Return the distribution given some axes, and the logarithm of its normalising constants."""
    out = tuple(axis for axis in range(logs.ndim) if axis not in kept)
    most = np.max(logs, axis=out, keepdims=True)
    most = np.where(most == -np.inf, 0.0, most)
    shares = np.exp(logs - most)
    totals = shares.sum(axis=out, keepdims=True)
    shares /= np.where(totals > 0, totals, 1.0)
    with np.errstate(divide="ignore"):
        message = most + np.log(totals)
    return shares, message.reshape([logs.shape[axis] for axis in kept])


def _summed_to(values: Numbers, kept: Axes, more: int = 0) -> Numbers:
    """Return sums over all axes but some; the last ``more`` axes stay, too."""
    out = tuple(axis for axis in range(values.ndim - more) if axis not in kept)
    return np.asarray(values.sum(axis=out)) if out else values


def _spread(values: Numbers, axes: Axes, width: int, more: int = 0) -> Numbers:
    """Return values over some of ``width`` axes, to be broadcast over all; the last ``more`` stay last."""
    shape = [1] * width
    for axis, size in zip(axes, values.shape[: values.ndim - more], strict=True):
        shape[axis] = size
    return values.reshape([*shape, *values.shape[values.ndim - more :]])


def _add_products(total: Numbers, parts: Sequence[_Local], values: Numbers) -> None:
    """Add sum_x t_i(x) values(x) to each formula's row; the last axis of ``values`` stays."""
    for part, shares in _marginals(values, tuple(range(values.ndim - 1)), parts, frozenset()):
        total[part.formulas] += part.tables @ shares.reshape(part.tables.shape[1], -1)


def _marginals(
    values: Numbers, axes: Axes, parts: Sequence[_Local], held: frozenset[int]
) -> Iterator[tuple[_Local, Numbers]]:
    """Yield each part's sums over all axes but its own; axes that several parts do not need go out once.

    ``held`` axes are those that all of the parts have. Each sum halves the table, so that all together cost
    about what two of them would.
    """
    place = next((place for place, axis in enumerate(axes) if axis not in held), None)
    if place is None:
        yield from ((part, values) for part in parts)
        return
    axis = axes[place]
    without = [part for part in parts if axis not in part.axes]
    if without:
        rest = (*axes[:place], *axes[place + 1 :])
        yield from _marginals(values.sum(axis=place), rest, without, held)
    if len(without) < len(parts):
        yield from _marginals(values, axes, [part for part in parts if axis in part.axes], held | {axis})


def _sum_parts(directions: Numbers, axes: Axes, parts: Sequence[_Local], held: frozenset[int]) -> Numbers:
    """Return the sum of the parts over some axes, to be broadcast, in the order opposite to that of sums."""
    place = next((place for place, axis in enumerate(axes) if axis not in held), None)
    if place is None:
        return np.asarray(sum(part.weigh_directions(directions) for part in parts))
    axis = axes[place]
    without = [part for part in parts if axis not in part.axes]
    found = np.zeros((1,) * (len(axes) + 1))
    if len(without) < len(parts):
        found = _sum_parts(directions, axes, [part for part in parts if axis in part.axes], held | {axis})
    if without:
        rest = (*axes[:place], *axes[place + 1 :])
        found = found + np.expand_dims(_sum_parts(directions, rest, without, held), place)
    return found
