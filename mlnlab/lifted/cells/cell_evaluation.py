"""A two-variable model at weights and sizes: branches of ground atoms, each a product of components."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import comb, inf, perm, prod
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.errors import TooLargeError
from mlnlab.lifted.cells.cell_numbers import Array, Exact, ExactNumbers, Logarithms
from mlnlab.lifted.cells.cell_problems import Coordinates, coordinates
from mlnlab.lifted.cells.cell_tables import Weighed
from mlnlab.lifted.cells.cell_values import ComponentAt
from mlnlab.lifted.circuit.arithmetic import FIRST_BITS, MOST_BITS, Digits, ball_of, is_sharp, middle_of
from mlnlab.lifted.circuit.bits_of_counts import bits_of_counts, most_terms, too_long
from mlnlab.steps import budget

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.lifted.cells.cell_compilation import CompiledCells
    from mlnlab.lifted.cells.cell_factors import KindName
    from mlnlab.lifted.circuit.arithmetic import LogWeights
    from mlnlab.steps.step import Observer

    Values = NDArray[np.float64]
    Truths = dict[Weighed, Values]

    from mlnlab.lifted.cells.cell_merging import MergedCells

    Pairs = Mapping[tuple[int, int], Array]

MOST_TERMS = 10**12
HARD = Weighed("hard")


@dataclass(frozen=True, slots=True, eq=False)
class CellValue:
    """log Z with a bound of its error, and how often formulas and atoms of symbols are true and false."""

    value: float
    error: float
    truths: Truths
    arithmetic: str
    terms: int


@dataclass(frozen=True, eq=False)
class CellEvaluation:
    """Compiled cells with all sizes known; ``kinds`` gives the number of elements of each."""

    compiled: CompiledCells
    kinds: Mapping[KindName, int]
    types: Mapping[str, int]
    budget: float = MOST_TERMS

    def terms(self) -> int:
        """Return how many terms the sums over numbers of elements in cells have."""
        return sum(one.terms(self._sizes(n)) for n, one in enumerate(self.compiled.merged))

    def _sizes(self, component: int) -> tuple[int, ...]:
        return tuple(self.kinds[kind.name] for kind in self.compiled.merged[component].cells.kinds)

    def refuse_many(self) -> None:
        """Refuse sums in exact numbers, in which no term can be dropped, of more terms than are allowed."""
        terms, most = self.terms(), min(budget.MOST_EXACT_CELL_TERMS, self.budget)
        if terms > most:
            raise TooLargeError(
                f"The sum over the numbers of elements in {self.compiled.cells} cells has {terms:.3g} terms,"
                f" whose signs may cancel; at most {most:.3g} are allowed.", float(terms),
                ["ask about smaller domains", "drop formulas that relate many predicates",
                 "sample with ml.infer(..., method='mc-sat')"],
            )  # fmt: skip

    def refuse_long_count(self) -> None:
        """Refuse to count worlds exactly where numbers this long take more than about a minute."""
        bits = bits_of_counts(self.compiled.model.weighted, self.types)
        most, terms = most_terms(budget.MOST_EXACT_CELLS, bits), self.terms()
        if terms > most:
            raise too_long(self.types, most, terms, bits)

    # --- floats

    def by_floats(
        self, formulas: Values, true: Values, false: Values, observers: Iterable[Observer] = (), *,
        expectations: bool,
    ) -> CellValue:  # fmt: skip
        """Evaluate in logarithms: weights of formulas, and of the true and false atoms of symbols."""
        weights, parts = log_weights(formulas, true, false), self.compiled.parts
        found = [one.value(observers, expectations=expectations) for one in self.components(weights)]
        ground = parts.ground.values(Logarithms(), weights)
        logs = np.array(
            [g + sum(found[c].value for c in b) for g, b in zip(ground, parts.branches, strict=True)]
        )
        value = float(np.logaddexp.reduce(logs))
        if value == -inf:
            return CellValue(-inf, 0.0, {}, "float logarithms", 0)
        shares = np.exp(logs - value)
        truths = parts.ground.truths(Logarithms(), weights, shares) if expectations else {}
        for number, one in enumerate(found):
            share = sum(s * b.count(number) for s, b in zip(shares.tolist(), parts.branches, strict=True))
            for weighed, pair in one.truths.items():
                truths[weighed] = truths.get(weighed, 0.0) + share * pair
        for symbol in parts.free:
            atoms, each = self._atoms(symbol), np.logaddexp(true[symbol], false[symbol])
            value += atoms * float(each)
            truths[Weighed("symbol", symbol)] = atoms * np.exp([true[symbol] - each, false[symbol] - each])
        alive = [one for one in found if one.value > -inf]  # what is impossible is so without error
        error = sum(one.error for one in alive) + 16 * np.finfo(float).eps * (abs(value) + 1)
        return CellValue(value, float(error), truths, "float logarithms", sum(one.terms for one in found))

    def work(
        self, formulas: Values, true: Values, false: Values, enough: float, work: float
    ) -> float:  # fmt: skip
        """Estimate how many multiplications sums in logarithms take, by some work of bounding them."""
        components = self.components(log_weights(formulas, true, false))
        return sum(one.work(enough, work / len(components)) for one in components)

    def components(self, weights: Mapping[Weighed, tuple[object, object]]) -> list[ComponentAt]:
        """Return all components at weights that are logarithms."""
        return [
            ComponentAt(one, weights, self._sizes(n), self.budget)
            for n, one in enumerate(self.compiled.merged)
        ]

    def _atoms(self, symbol: int) -> int:
        """Return how many atoms a symbol has; its variables of one kind stand for different elements."""
        kinds = self.compiled.model.kinds(symbol)
        return prod(perm(self.kinds[kind], kinds.count(kind)) for kind in dict.fromkeys(kinds))

    # --- exact numbers

    def by_balls(
        self, formulas: Values, true: LogWeights, false: LogWeights, *, expectations: bool
    ) -> CellValue:
        """Evaluate in balls whose precision doubles until log Z, and all expectations, are sharp."""
        from flint import ctx

        before, bits = ctx.prec, FIRST_BITS
        try:
            while bits <= MOST_BITS:
                ctx.prec = bits
                found = self._ball_trial(formulas, true, false, expectations=expectations)
                if found is not None:
                    return found
                bits *= 2
                if bits == 4 * FIRST_BITS and self._has_no_world():
                    return CellValue(-inf, 0.0, {}, "exact fractions", 0)
        finally:
            ctx.prec = before
        raise TooLargeError(
            f"Even {MOST_BITS:,} bits do not tell the partition function from 0.", float(MOST_BITS),
            ["ask ml.conflict(...) for a smaller domain", "ask for other weights"],
        )  # fmt: skip

    def _ball_trial(
        self, formulas: Values, true: LogWeights, false: LogWeights, *, expectations: bool
    ) -> CellValue | None:
        """Return the value at the present precision; ``None`` where that is not enough."""
        from flint import arb

        soft = [arb(float(w)).exp() for w in formulas]
        factors = self.compiled.model.weighted.factors
        atoms = [
            [arb(_fraction(pair[side])) * ball_of(w).exp() for pair, w in zip(factors, logs, strict=True)]
            for side, logs in enumerate((true, false))
        ]
        value, slopes = self._exact(soft, atoms[0], atoms[1], expectations=expectations)
        if not value > 0:  # a ball that reaches 0 or less
            return None
        log = value.log()
        expected = [slope / value for slope in slopes]
        if not all(is_sharp(ball) for ball in (log, *expected)):
            return None
        middle, error = middle_of(log), float(log.rad())
        counts = np.array([middle_of(ball) for ball in expected])
        truths = {Weighed("formula", n): np.array([c, np.nan]) for n, c in enumerate(counts[: len(soft)])}
        for n, pair in enumerate(counts[len(soft) :].reshape(-1, 2)):
            truths[Weighed("symbol", n)] = pair
        error += float(np.spacing(max(1.0, abs(middle))))
        return CellValue(middle, error, truths, "ball arithmetic", self.terms())

    def _has_no_world(self) -> bool:
        """Return whether exact counting, where that is quick enough, finds no world."""
        try:
            return not self.world_count()
        except TooLargeError:
            return False

    def world_count(self) -> int:
        """Return how many worlds there are, all weights 1, exactly."""
        from flint import fmpq

        self.refuse_long_count()
        factors = self.compiled.model.weighted.factors
        atoms = [[_fraction(pair[side]) for pair in factors] for side in (0, 1)]
        soft = [fmpq(1)] * len(self.compiled.model.weighted.mln.formulas)
        return int(self._exact(soft, atoms[0], atoms[1], expectations=False)[0].p)

    def _exact(
        self, soft: Sequence[Any], true: Sequence[Any], false: Sequence[Any], *, expectations: bool
    ) -> tuple[Any, list[Any]]:
        """Return Z, and its derivatives by the logarithms of all weights, if they are asked for."""
        from flint import ctx

        self.refuse_many()
        if not self.compiled.model.weighted.tallies:
            one = true[0] * 0 + 1 if len(true) else soft[0] * 0 + 1 if soft else _fraction(1)
            found = self._total(ExactNumbers(one), soft, true, false, expectations=expectations)
            return found.value, [] if found.slopes is None else list(found.slopes)
        digits = Digits(self.compiled.model.weighted, self.types)
        right = digits.right
        before, ctx.cap = ctx.cap, max(right, default=0) + 1  # what is beyond can never become right
        try:
            kind, zero = _series_of(true[0]), true[0] * 0
            marked = [
                [kind([*([zero] * exponent), w]) for w, exponent in zip(ws, exponents, strict=True)]
                for ws, exponents in ((true, digits.true), (false, digits.false))
            ]
            numbers = ExactNumbers(kind([zero + 1]), undivided=True)
            plain = [kind([w]) for w in soft]
            found = self._total(numbers, plain, marked[0], marked[1], expectations=expectations)
            slopes = [] if found.slopes is None else list(found.slopes)
            return tuple_of([found.value, *slopes], right, zero)
        finally:
            ctx.cap = before

    def _total(
        self, numbers: ExactNumbers, soft: Sequence[Any], true: Sequence[Any], false: Sequence[Any], *,
        expectations: bool,
    ) -> Exact:  # fmt: skip
        weights: dict[Weighed, tuple[object, object]] = {HARD: (numbers.one, numbers.zero)}
        many = len(soft) + 2 * len(true)
        place = 0

        def number(value: Any) -> Exact:  # noqa: ANN401
            nonlocal place
            place += 1
            return Exact(value, _slope(place - 1, many, value) if expectations else None)

        for n, weight in enumerate(soft):
            weights[Weighed("formula", n)] = (number(weight), numbers.one)
        for n in range(len(true)):
            weights[Weighed("symbol", n)] = (number(true[n]), number(false[n]))
        values = [
            exact_value(one, numbers, weights, self._sizes(n)) for n, one in enumerate(self.compiled.merged)
        ]
        parts, total = self.compiled.parts, numbers.zero
        for ground, branch in zip(parts.ground.values(numbers, weights), parts.branches, strict=True):
            total = total + prod((values[c] for c in branch), start=ground)
        for symbol in parts.free:
            pair: Any = weights[Weighed("symbol", symbol)]
            total = total * (pair[0] + pair[1]) ** self._atoms(symbol)
        return total


def log_weights(formulas: Values, true: Values, false: Values) -> dict[Weighed, tuple[object, object]]:
    """Return the log weights of formulas, and of true and false atoms of symbols."""
    weights: dict[Weighed, tuple[object, object]] = {HARD: (0.0, -inf)}
    weights |= {Weighed("formula", n): (float(w), 0.0) for n, w in enumerate(formulas)}
    weights |= {Weighed("symbol", n): pair for n, pair in enumerate(zip(true, false, strict=True))}
    return weights


def tuple_of(values: Sequence[Any], right: Sequence[int], zero: Any) -> tuple[Any, list[Any]]:  # noqa: ANN401
    """Return of each series the sum of the coefficients at which all tallies are right."""
    found = [sum((value[exponent] for exponent in right), zero) for value in values]
    return found[0], found[1:]


def _slope(place: int, many: int, value: Any) -> NDArray[np.object_]:  # noqa: ANN401
    made = np.empty(many, dtype=object)
    for n in range(many):
        made[n] = value if n == place else value * 0
    return made


def _series_of(number: Any) -> Any:  # noqa: ANN401
    from flint import arb_series, fmpq, fmpq_series

    return fmpq_series if isinstance(number, fmpq) else arb_series


def _fraction(number: Any) -> Any:  # noqa: ANN401 - flint's types have no stubs
    from flint import fmpq

    return fmpq(number.numerator, number.denominator)


# --- the sum over numbers of elements in exact numbers ------------------------------------------

# Fractions, balls, polynomials; signs may cancel.

# Every choice of numbers is gone through, one open cell after the other; the weights of all cells after it
# take in what pairs with its elements weigh, so that each term costs few products. Closed cells are one
# power.


def exact_value(
    merged: MergedCells, numbers: ExactNumbers, weights: Mapping[Weighed, tuple[object, object]],
    sizes: Sequence[int],
) -> Exact:  # fmt: skip
    """Return Z of a component for numbers of elements of its kinds."""
    cells = merged.cells
    own = [kind.weights.values(numbers, weights) for kind in cells.kinds]
    pairs: dict[tuple[int, int], Array] = {}
    for a, first in enumerate(cells.kinds):
        for b, second in enumerate(cells.kinds):
            if (a, b) in cells.pairs:
                made = np.broadcast_to(cells.pairs[a, b].values(numbers, weights), (len(first), len(second)))
                pairs[a, b], pairs[b, a] = made, made.T
            elif (b, a) not in cells.pairs:
                pairs[a, b] = numbers.ones((len(first), len(second)))
    totals = [_merged_weights(merged, k, own[k], pairs, sizes, numbers) for k in range(len(own))]
    small = {
        (a, b): block[np.ix_(merged.kinds[a].chosen, merged.kinds[b].chosen)]
        for (a, b), block in pairs.items()
    }
    return _ExactSum(coordinates(merged), totals, small, tuple(sizes), numbers).value()


def _merged_weights(
    merged: MergedCells, kind: int, own: Array, pairs: Pairs, sizes: Sequence[int], numbers: ExactNumbers
) -> list[Exact]:
    """Return the weights of merged cells: members count by how their rows are scaled."""
    one = merged.kinds[kind]
    totals = [numbers.zero] * len(one.chosen)
    for cell, place in enumerate(one.into.tolist()):
        if place < 0:
            continue
        weight = own[cell]
        for other in np.flatnonzero(one.scaled[cell]).tolist():
            column, block = one.columns[place, other], pairs[kind, other]
            times = sizes[other] - (other == kind)
            if sizes[kind]:
                weight = weight * (block[cell, column] / block[one.chosen[place], column]) ** times
        totals[place] = totals[place] + weight
    return totals


@dataclass(frozen=True, slots=True, eq=False)
class _ExactSum:
    at: Coordinates
    weights: Sequence[Sequence[Exact]]
    pairs: Pairs
    sizes: tuple[int, ...]
    numbers: ExactNumbers

    def value(self) -> Exact:
        names = [(int(self.at.kind[k]), int(self.at.cell[k])) for k in self.at.open]
        members = list(zip(self.at.member_kind.tolist(), self.at.member_cell.tolist(), strict=True))
        weights = [self.weights[a][i] for a, i in (*names, *members)]
        return self._sum_open_cells(0, names, members, weights, list(self.sizes))

    def _sum_open_cells(
        self, position: int, names: Sequence[tuple[int, int]], members: Sequence[tuple[int, int]],
        weights: list[Exact], left: list[int],
    ) -> Exact:  # fmt: skip
        """Sum over the numbers in open cells from a position on; ``weights`` are those of later cells."""
        if position == len(names):
            return self._weigh_closed_cells(members, weights, left)
        kind, cell = names[position]
        own, inside = weights[0], self.pairs[kind, kind][cell, cell]
        rows = [self.pairs[kind, b][cell, j] for b, j in (*names[position + 1 :], *members)]
        later, total, term = weights[1:], self.numbers.zero, self.numbers.one
        for number in range(left[kind] + 1):
            rest = [n - number * (k == kind) for k, n in enumerate(left)]
            below = self._sum_open_cells(position + 1, names, members, later, rest)
            total = total + (term * below).times(comb(left[kind], number))
            if number < left[kind]:
                term = term * own * inside**number
                later = [w * r for w, r in zip(later, rows, strict=True)]
        return total

    def _weigh_closed_cells(
        self, members: Sequence[tuple[int, int]], weights: Sequence[Exact], left: Sequence[int]
    ) -> Exact:
        """Return the weight of the remaining elements in closed cells."""
        total = self.numbers.one
        for kind, number in enumerate(left):
            if not number:
                continue
            inside = [(j, w) for (b, j), w in zip(members, weights, strict=True) if b == kind]
            reference = inside[0][0]
            corner = self.pairs[kind, kind][reference, reference]
            mass = self.numbers.zero
            for cell, weight in inside:
                mass = mass + weight * self._scale(kind, cell, reference, left)
            total = total * mass**number * corner ** comb(number, 2)
            for other in range(kind):
                own = int(self.at.cell[self.at.rest[other]])
                if left[other]:
                    total = total * self.pairs[other, kind][own, reference] ** (left[other] * number)
        return total

    def _scale(self, kind: int, cell: int, reference: int, left: Sequence[int]) -> Exact:
        """Return s_j^(rest - 1) and u_j^(rest elsewhere) of a closed cell (see :mod:`.cell_merging`)."""
        scale = self.numbers.one
        if cell == reference or self.numbers.undivided:
            return scale
        for other, number in enumerate(left):
            row = int(self.at.cell[self.at.rest[other]])
            times = number - (other == kind)
            if times and self.sizes[other]:
                pair = self.pairs[other, kind]
                scale = scale * (pair[row, cell] / pair[row, reference]) ** times
        return scale
