r"""Many domain sizes and weights asked of one circuit in one call: how log Z, counts and marginals drift.

>>> import mlnlab as ml
>>> mln = ml.MLN.from_text("Smokes(person)\nFriends(person, person)\n"
...     "0.4 Friends(x, y) ^ Smokes(x) => Smokes(y)\n-0.3 Smokes(x)\n-4 Friends(x, y)")
>>> swept = ml.lift(mln).compile().sweep({"person": [2, 3, 10, 100]})
>>> swept
<Sweep of 4 points, person from 2 to 100>
>>> swept.marginal("Smokes(x)").round(4)
array([0.4253, 0.4251, 0.4236, 0.3961])
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from mlnlab.circuits.first_order.log_space import log_value
from mlnlab.errors import ArgumentError, TooLargeError, UnsatisfiableError
from mlnlab.lifted.circuit.arithmetic import SHARP, Evaluated, is_sharp_enough, share_within
from mlnlab.lifted.circuit.lifted_questions import (
    groundings_of,
    listed_weights,
    read_weights,
    refuse_large_weights,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.circuits.first_order.first_order_circuit import FirstOrderCircuit
    from mlnlab.lifted.theory.shattering import Symbol
    from mlnlab.lifted.theory.weighted_theory import WeightedTheory
    from mlnlab.logic.formulas.formulas import Formula
    from mlnlab.model.mln.mln import MLN

Swept = Mapping[str, int | Sequence[int]]
AT_ONCE = 1 << 18  # cases of one pass: columns times sizes that are summed over


class Asked(Protocol):
    """The interface that all sweeps need of a compiled model: circuits and cells."""

    @property
    def mln(self) -> MLN:
        """The model."""

    @property
    def weighted(self) -> WeightedTheory:
        """The theory with the weights of its atoms."""

    def domain_sizes(self, domains: Mapping[str, int]) -> dict[str, int]:
        """Return how many constants each type has."""

    def symbol_of(self, query: str | Formula) -> tuple[int, bool]:
        """Return the number of a literal's symbol, and its sign."""


class Compiled(Asked, Protocol):
    """The interface that sweeps need of a circuit (:class:`mlnlab.lifted.ask.lift.LiftedCircuit`)."""

    @property
    def circuit(self) -> FirstOrderCircuit:
        """The circuit."""

    @property
    def by_floats(self) -> bool:
        """Whether all points can be evaluated together in logarithms."""

    def log_weights(self, weights: Sequence[float] | None) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the log weights of true and false atoms of each symbol."""

    def subdomain_sizes(self, domains: Mapping[str, int]) -> tuple[int, ...]:
        """Return how many constants each subdomain has."""

    def evaluate(
        self, domains: Mapping[str, int], weights: Sequence[float], *, expectations: bool
    ) -> Evaluated:
        """Return log Z and expected numbers of atoms."""

    def within_budget(self, domains: Mapping[str, int]) -> object:
        """Refuse domains that take too many numbers."""

    def counts_of(
        self, true: NDArray[np.float64], false: NDArray[np.float64], sizes: Mapping[str, int],
        rounding: float,
    ) -> list[float]:  # fmt: skip
        """Return E[n_i] from expected numbers of atoms."""


@dataclass(frozen=True, slots=True, eq=False)
class Sweep:
    """log Z, expected counts and atoms at each point; ``sizes[point]`` are its domains.

    ``expected_counts`` are E[n_i], of a hard formula all its groundings; ``true`` and ``false`` are expected
    numbers of atoms, of each of ``symbols`` at each point.
    """

    circuit: Asked
    symbols: Sequence[Symbol]
    sizes: tuple[dict[str, int], ...]
    weights: NDArray[np.float64]  # (points, formulas)
    log_z: NDArray[np.float64]  # (points,)
    errors: NDArray[np.float64]
    expected_counts: NDArray[np.float64]  # (points, formulas)
    true: NDArray[np.float64]  # (symbols, points)
    false: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.sizes)

    @property
    def varied(self) -> tuple[str, ...]:
        """The types whose sizes are not the same at all points."""
        return tuple(t for t in (self.sizes[0] if self.sizes else ()) if len({s[t] for s in self.sizes}) > 1)

    @property
    def groundings(self) -> NDArray[np.float64]:
        """How many groundings each formula has, as (points, formulas)."""
        rows = [
            [float(groundings_of(one.formula, sizes)) for one in self.circuit.mln.formulas]
            for sizes in self.sizes
        ]
        return np.array(rows).reshape(len(self), len(self.circuit.mln.formulas))

    def marginal(self, query: str | Formula) -> NDArray[np.float64]:
        """Return the probability of an atom at each point; it is not a number where no such atom exists."""
        symbol, positive = self.circuit.symbol_of(query)
        total = self.true[symbol] + self.false[symbol]
        pairs = zip(self.true[symbol].tolist(), self.false[symbol].tolist(), total.tolist(), strict=True)
        shares = [share_within(t, f, SHARP, str(query)) if both > 0 else np.nan for t, f, both in pairs]
        share = np.array(shares, np.float64)
        return share if positive else 1.0 - share

    def rows(self) -> Iterator[dict[str, float]]:
        """Yield a row for each point: sizes, log Z, and its error's bound."""
        for sizes, value, error in zip(self.sizes, self.log_z, self.errors, strict=True):
            yield {**sizes, "log Z": float(value), "error below": float(error)}

    def __repr__(self) -> str:
        ranges = [f"{t} from {min(s[t] for s in self.sizes):,} to {max(s[t] for s in self.sizes):,}"
                  for t in self.varied]  # fmt: skip
        return f"<Sweep of {len(self):,} points{''.join(f', {text}' for text in ranges)}>"


def sweep(circuit: Compiled, domains: Swept, weights: Sequence[object] | None = None) -> Sweep:
    """Evaluate a circuit at many points; a size or a vector of weights given once holds for all of them."""
    sizes, rows = points(circuit, domains, weights)
    logs = [circuit.log_weights(list(row)) for row in rows]
    true = np.array([log[0] for log in logs]).T
    false = np.array([log[1] for log in logs]).T
    if circuit.by_floats:
        _refuse_long(circuit, sizes)
        parts = [_floats(circuit, sizes[p], true[:, p], false[:, p]) for p in _pieces(circuit, sizes)]
    else:
        parts = [_balls(circuit, one, row) for one, row in zip(sizes, rows, strict=True)]
    value, error, expected_true, expected_false = (
        np.concatenate([part[n] for part in parts], axis=-1) for n in range(4)
    )
    for place in [n for n in range(len(sizes)) if not is_sharp_enough(value[n], error[n])]:
        if circuit.by_floats:  # the point is asked alone, which takes balls or refuses it
            one = _balls(circuit, sizes[place], rows[place])
            value[place], error[place] = one[0][0], one[1][0]
            expected_true[:, place], expected_false[:, place] = one[2][:, 0], one[3][:, 0]
    if (impossible := np.flatnonzero(value == -np.inf)).size:
        raise UnsatisfiableError(f"No world satisfies the hard formulas at {sizes[impossible[0]]}.")
    atoms = zip(expected_true.T, expected_false.T, sizes, strict=True)
    counts = [circuit.counts_of(yes, no, one, SHARP) for yes, no, one in atoms]
    shape = (len(sizes), len(circuit.mln.formulas))
    return Sweep(
        circuit, circuit.weighted.shattered.symbols, tuple(sizes), rows, value, error,
        np.array(counts).reshape(shape), expected_true, expected_false,
    )  # fmt: skip


def points(
    circuit: Asked, domains: Swept, weights: Sequence[object] | None
) -> tuple[list[dict[str, int]], NDArray[np.float64]]:
    """Return the sizes of each point, and a row of weights for each."""
    rows = _rows_of_weights(circuit, weights)
    sizes = _points(circuit, domains, len(rows))
    rows = rows if len(rows) == len(sizes) else np.repeat(rows, len(sizes), axis=0)
    for one, row in zip(sizes, rows, strict=True):
        refuse_large_weights(circuit.mln, row, one)
    return sizes, rows


def _refuse_long(circuit: Compiled, sizes: Sequence[dict[str, int]]) -> None:
    """Refuse points that take too many numbers; mostly one that is as large as all in each type tells."""
    try:
        circuit.within_budget({type_: max(one[type_] for one in sizes) for type_ in sizes[0]})
    except (ArgumentError, TooLargeError):
        for one in sizes:
            circuit.within_budget(one)


Part = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def _floats(
    circuit: Compiled, sizes: Sequence[dict[str, int]], true: NDArray[np.float64],
    false: NDArray[np.float64],
) -> Part:  # fmt: skip
    """Evaluate points together, each a column."""
    columns = np.array([circuit.subdomain_sizes(one) for one in sizes]).reshape(len(sizes), -1)
    # A size that all points share is one number: what depends on sizes alone is then computed once for all.
    shared = [size[:1] if (size == size[0]).all() else size for size in columns.T]
    found = log_value(circuit.circuit, [size.tolist() for size in shared], true, false)
    return found.value, found.error, found.true, found.false


def _balls(circuit: Compiled, sizes: dict[str, int], weights: NDArray[np.float64]) -> Part:
    found = circuit.evaluate(sizes, list(weights), expectations=True)
    return np.array([found.value]), np.array([found.error]), found.true[:, None], found.false[:, None]


def _pieces(circuit: Compiled, sizes: Sequence[dict[str, int]]) -> Iterator[slice]:
    """Yield runs of points that are evaluated together: large domains alone, small ones side by side."""
    order = max(circuit.circuit.nesting(), 1)
    start = 0
    while start < len(sizes):
        end, largest = start, 0
        while end < len(sizes):
            largest = max(largest, *(n + 1 for n in sizes[end].values()), 1)
            if end > start and (end + 1 - start) * largest**order > AT_ONCE:
                break
            end += 1
        yield slice(start, end)
        start = end


def _rows_of_weights(circuit: Asked, weights: Sequence[object] | None) -> NDArray[np.float64]:
    if weights is None:
        read_weights(circuit.mln, None)  # refuses weights that are not known
        weights = [0.0 if weight is None else weight for weight in circuit.mln.weights]
    given = listed_weights(weights)
    several = bool(given) and all(isinstance(one, Sequence | np.ndarray) and not isinstance(one, str | bytes)
                                  for one in given)  # fmt: skip
    rows = [read_weights(circuit.mln, row) for row in (given if several else [given])]  # type: ignore[arg-type]
    return np.array(rows).reshape(len(rows), len(circuit.mln.formulas))


def _sizes(type_: str, sizes: object) -> list[int]:
    """Return the sizes of a type at all points, which are whole numbers."""
    listed = list(sizes) if isinstance(sizes, Iterable) and not isinstance(sizes, str | bytes) else [sizes]
    found: list[int] = []
    for size in listed:
        if isinstance(size, bool) or not isinstance(size, int | np.integer) or size < 0:
            raise ArgumentError(
                f"The sizes of {type_} must be whole numbers of at least 0, not {size!r:.60}."
            )
        found.append(int(size))
    return found


def _points(circuit: Asked, domains: Swept, rows: int) -> list[dict[str, int]]:
    """Return the sizes of each point."""
    if not isinstance(domains, Mapping):
        raise ArgumentError(f"A sweep needs sizes like {{'person': [2, 3, 10]}}, not {domains!r:.60}.")
    several = {t: _sizes(t, s) for t, s in domains.items() if not isinstance(s, int | np.integer)}
    lengths = {len(s) for s in several.values()} | ({rows} if rows > 1 else set())
    if len(lengths) > 1 or 0 in lengths:
        told = ", ".join(f"{len(s)} of {t}" for t, s in several.items()) + f", {rows} of weights"
        raise ArgumentError(f"A sweep needs as many sizes of each type as of the others, not {told}.")
    count = lengths.pop() if lengths else 1
    given = [{t: several[t][n] if t in several else s for t, s in domains.items()} for n in range(count)]
    return [circuit.domain_sizes({t: int(size) for t, size in one.items()}) for one in given]  # type: ignore[arg-type]
