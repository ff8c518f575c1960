"""Tables over cells: products of factors with all that is not in the cells summed out.

The rows of a batch are cells, or pairs of them. What is hidden there (atoms of pairs, atoms of one element
that touch no other element) is summed out atom by atom, those first that meet the fewest others, so that
atoms that do not interact cost no more than each alone. The order depends on no weight. One pass back gives
the expected truth of every factor where it is known how often each row counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mlnlab.errors import TooLargeError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from mlnlab.lifted.cells.cell_factors import AtomAt
    from mlnlab.lifted.cells.cell_numbers import Array, Numbers

MOST_NUMBERS = 1 << 25


class Weighed(NamedTuple):
    """The key of a feature's weight: a formula, a symbol's atoms, or "hard" where it must hold."""

    kind: str  # "formula", "symbol" or "hard"
    number: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Feature:
    """Where something is true, over rows and over the hidden atoms that it depends on."""

    weighed: Weighed
    hidden: tuple[AtomAt, ...]
    truth: NDArray[np.bool_]  # the batch's axes (of length 1 where it does not matter), then hidden ones


class Step(NamedTuple):
    """Tables that are multiplied before an atom is summed out of their product."""

    tables: tuple[int, ...]
    scope: tuple[AtomAt, ...]
    axis: int  # among the scope's


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """A number for each row: which features are multiplied, and in which order atoms are summed out."""

    batch: tuple[int, ...]
    features: tuple[Feature, ...]
    scopes: tuple[tuple[AtomAt, ...], ...]  # of the first tables, then of what the steps make
    steps: tuple[Step, ...]

    def values(self, numbers: Numbers, weights: Mapping[Weighed, tuple[object, object]]) -> Array:
        """Return the number of each row; ``weights`` are those of true and of false."""
        result = numbers.ones(self.batch)
        made = self._make_tables(numbers, weights)
        for array, scope in zip(made, self.scopes, strict=True):
            if not scope:
                result = numbers.product(result, array)
        return result

    def _make_tables(self, numbers: Numbers, weights: Mapping[Weighed, tuple[object, object]]) -> list[Array]:
        """Return all tables: those of features of the same scope, then the steps'."""
        places = {scope: n for n, scope in reversed(list(enumerate(self.scopes)))}
        made: list[Array] = [None] * (len(self.scopes) - len(self.steps))
        for feature in self.features:
            true, false = weights[feature.weighed]
            array = numbers.choose(feature.truth, true, false)
            place = places[feature.hidden]
            made[place] = array if made[place] is None else numbers.product(made[place], array)
        for step in self.steps:
            made.append(numbers.total(self._product(numbers, made, step), len(self.batch) + step.axis))
        return made

    def _product(self, numbers: Numbers, made: Sequence[Array], step: Step) -> Array:
        total: Any = None
        for table in step.tables:
            array = _align_axes(made[table], self.scopes[table], step.scope, len(self.batch))
            total = array if total is None else numbers.product(total, array)
        return total

    def truths(
        self, numbers: Numbers, weights: Mapping[Weighed, tuple[object, object]], counts: NDArray[np.float64]
    ) -> dict[Weighed, NDArray[np.float64]]:
        """Return how often each feature is true and false where rows count as given; numbers are logarithms.

        The derivative of a logarithm by a logarithm passes to a sum's parts by their shares in it.
        """
        adjoints: list[Any] = [counts if not scope else 0.0 for scope in self.scopes]
        first = len(self.scopes) - len(self.steps)
        made = self._make_tables(numbers, weights)
        for place in reversed(range(len(self.steps))):
            step, axis = self.steps[place], len(self.batch) + self.steps[place].axis
            adjoint = self._share(numbers, made, place) * np.expand_dims(adjoints[first + place], axis)
            for table in step.tables:
                adjoints[table] = adjoints[table] + _project_adjoint(
                    adjoint, step.scope, self.scopes[table], len(self.batch)
                )
        return self._compute_expectations(adjoints)

    def log_shares(
        self, numbers: Numbers, weights: Mapping[Weighed, tuple[object, object]]
    ) -> list[NDArray[np.float64]]:
        """Return for each step how probable its atom's values are, given those of the rest of its scope.

        All are logarithms. Steps from the last to the first draw all hidden atoms of a row.
        """
        made = self._make_tables(numbers, weights)
        return [self._log_share(numbers, made, place) for place in range(len(self.steps))]

    def _share(self, numbers: Numbers, made: Sequence[Array], place: int) -> NDArray[np.float64]:
        """Return P(atom value | scope) for one elimination step."""
        return np.asarray(np.exp(self._log_share(numbers, made, place)))

    def _log_share(self, numbers: Numbers, made: Sequence[Array], place: int) -> NDArray[np.float64]:
        step = self.steps[place]
        product = self._product(numbers, made, step)
        result = made[len(self.scopes) - len(self.steps) + place]
        result = np.expand_dims(result, len(self.batch) + step.axis)
        with np.errstate(invalid="ignore"):
            return np.where(np.isneginf(result), -np.inf, product - result)

    def _compute_expectations(
        self, adjoints: Sequence[NDArray[np.float64]]
    ) -> dict[Weighed, NDArray[np.float64]]:
        places = {scope: n for n, scope in reversed(list(enumerate(self.scopes)))}
        found: dict[Weighed, NDArray[np.float64]] = {}
        for feature in self.features:
            adjoint = np.broadcast_to(
                adjoints[places[feature.hidden]], (*self.batch, *(2,) * len(feature.hidden))
            )
            true = float((adjoint * feature.truth).sum())
            pair = np.array([true, float(adjoint.sum()) - true])
            found[feature.weighed] = found.get(feature.weighed, 0.0) + pair
        return found


def made_table(batch: tuple[int, ...], features: Sequence[Feature]) -> Table:
    """Return a table with an order in which its hidden atoms are summed out: the fewest neighbours first."""
    scopes = list(dict.fromkeys(feature.hidden for feature in features))
    left, steps = set(range(len(scopes))), []
    atoms = dict.fromkeys(atom for scope in scopes for atom in scope)
    rows = int(np.prod(batch, dtype=float))
    while atoms:
        joined = {
            a: dict.fromkeys(b for n in sorted(left) if a in scopes[n] for b in scopes[n]) for a in atoms
        }
        atom = min(atoms, key=lambda a: len(joined[a]))
        scope = tuple(joined[atom])
        if rows * 2.0 ** len(scope) > MOST_NUMBERS:
            raise TooLargeError(
                f"The table of {rows:,} pairs of cells with {len(scope)} atoms that depend on each other has"
                f" {rows * 2.0 ** len(scope):.3g} numbers.", rows * 2.0 ** len(scope),
                ["drop formulas that relate many predicates", "compile with method='rules'"],
            )  # fmt: skip
        tables = tuple(n for n in sorted(left) if atom in scopes[n])
        steps.append(Step(tables, scope, scope.index(atom)))
        left = (left - set(tables)) | {len(scopes)}
        scopes.append(tuple(a for a in scope if a != atom))
        del atoms[atom]
    return Table(batch, tuple(features), tuple(scopes), tuple(steps))


def _align_axes(array: Array, own: tuple[AtomAt, ...], scope: tuple[AtomAt, ...], rows: int) -> Array:
    """Return a table with an axis for each atom of a larger scope."""
    order = sorted(range(len(own)), key=lambda n: scope.index(own[n]))
    array = array.transpose(*range(rows), *(rows + n for n in order))
    shape = [2 if atom in own else 1 for atom in scope]
    return array.reshape(*array.shape[:rows], *shape)


def _project_adjoint(array: Any, scope: tuple[AtomAt, ...], own: tuple[AtomAt, ...], rows: int) -> Any:  # noqa: ANN401
    """Return an adjoint summed over the atoms that are not in a table's own scope."""
    gone = tuple(rows + n for n, atom in enumerate(scope) if atom not in own)
    kept = [atom for atom in scope if atom in own]
    array = array.sum(axis=gone)
    return array.transpose(*range(rows), *(rows + kept.index(atom) for atom in own))
