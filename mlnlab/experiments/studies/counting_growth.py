"""How the time of counting grows: with the number of true atoms, and with the arguments of a predicate.

Random relations are counted by plans and by DuckDB in one run. Plans start without any index; DuckDB has
its tables loaded and uses one thread. Times are those of the processor, the least of several rounds.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal

import numpy as np

from mlnlab.counting.counts.counter import Counter
from mlnlab.counting.duckdb.duckdb_counter import count_in_duckdb
from mlnlab.counting.duckdb.duckdb_store import store_of
from mlnlab.counting.facts.sorted_facts import Facts, facts_from_tables
from mlnlab.errors import ArgumentError
from mlnlab.logic.checked_options import whole_number
from mlnlab.logic.relations import frozen
from mlnlab.logic.vocabulary import FrozenMapping, Predicate, SizedDomain, Vocabulary
from mlnlab.model.mln.mln import MLN

if TYPE_CHECKING:
    import pandas as pd

    from mlnlab.logic.formulas.formulas import Formula

SHAPES = {
    "path": "P(x, y) ^ Q(y, z)",
    "triangle": "P(x, y) ^ Q(y, z) ^ R(x, z)",
    "four-cycle": "P(x, y) ^ Q(y, z) ^ R(z, w) ^ S(w, x)",
}
MOST_TUPLES, MOST_ARITY = 10_000_000, 6
_PER_CONSTANT = 10  # true atoms of a relation for each constant


@dataclass(frozen=True, slots=True)
class GrowthPoint:
    """One question, asked of both: seconds each, and whether they agreed."""

    along: Literal["tuples", "arity"]
    shape: str
    formula: str
    tuples: int
    arity: int
    planned: float
    duckdb: float
    same: bool


@dataclass(frozen=True, slots=True, eq=False)
class CountingGrowth:
    """Seconds of counting as relations grow, and as their arguments become more."""

    points: tuple[GrowthPoint, ...]

    def along(self, what: Literal["tuples", "arity"]) -> dict[str, tuple[GrowthPoint, ...]]:
        """Return the curves that go along one thing, by the shape of the formula."""
        chosen = [point for point in self.points if point.along == what]
        return {
            shape: tuple(point for point in chosen if point.shape == shape)
            for shape in dict.fromkeys(point.shape for point in chosen)
        }

    @property
    def agree(self) -> bool:
        """Whether both came to the same counts everywhere."""
        return all(point.same for point in self.points)

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each question; ``ratio`` says how many times as long DuckDB took."""
        import pandas as pd

        frame = pd.DataFrame([asdict(point) for point in self.points])
        return frame.assign(ratio=frame["duckdb"] / frame["planned"]) if self.points else frame

    def __repr__(self) -> str:
        return f"<CountingGrowth: {len(self.points)} questions, planned and in DuckDB>"


def counting_growth(
    tuples: Sequence[int] = (1_000, 10_000, 100_000),
    arities: Sequence[int] = (1, 2, 3, 4),
    *,
    rounds: int = 3,
    seed: int = 0,
    told: Callable[[GrowthPoint], None] = lambda _: None,
) -> CountingGrowth:
    r"""Measure counting by plans beside DuckDB: as true atoms become more, and as their arguments do.

    Paths, triangles and four-cycles are counted in random relations of so many ``tuples``, and a rule
    ``P ^ Q => R`` over predicates of each arity in relations of the middle size. ``told`` hears of each
    measurement as it is made. ``ml.plot(growth)`` draws the curves.

    >>> import mlnlab as ml
    >>> growth = ml.counting_growth(tuples=[100, 1_000], arities=[1, 2], rounds=1)
    >>> growth
    <CountingGrowth: 8 questions, planned and in DuckDB>
    >>> growth.agree
    True
    >>> figure = ml.plot(growth)
    """
    _check(tuples, 1, MOST_TUPLES, "tuples")
    _check(arities, 1, MOST_ARITY, "arities")
    whole_number(rounds, "rounds", 1)
    whole_number(seed, "A seed")
    found = []
    for point in _points(sorted(set(tuples)), sorted(set(arities)), rounds, seed):
        told(point)
        found.append(point)
    return CountingGrowth(tuple(found))


def _check(values: object, least: int, most: int, what: str) -> None:
    numbers = list(values) if isinstance(values, Sequence) else []
    fitting = all(isinstance(value, int | np.integer) and least <= value <= most for value in numbers)
    if not numbers or not fitting:
        raise ArgumentError(
            f"{what}= needs a list of whole numbers from {least:,} to {most:,}, not {values!r:.60}."
        )


def _points(tuples: list[int], arities: list[int], rounds: int, seed: int) -> Iterator[GrowthPoint]:
    for number in tuples:
        for shape, text in SHAPES.items():
            yield _measure_point("tuples", shape, text, number, 2, rounds, seed)
    middle = tuples[len(tuples) // 2]
    for arity in arities:
        yield _measure_point("arity", "rule", rule_of(arity), middle, arity, rounds, seed)


def rule_of(arity: int) -> str:
    """Return a rule whose relations share one argument, and whose head takes the others from both ends.

    >>> rule_of(2), rule_of(3)
    ('P(x1, x2) ^ Q(x2, y2) => R(x1, y2)', 'P(x1, x2, x3) ^ Q(x3, y2, y3) => R(x1, x2, y3)')
    """
    left = [f"x{k + 1}" for k in range(arity)]
    right = [left[-1], *(f"y{k + 1}" for k in range(1, arity))]
    half = (arity + 1) // 2
    head = [*left[:half], *right[half:]]
    p, q, r = (f"{name}({', '.join(found)})" for name, found in zip("PQR", (left, right, head), strict=True))
    return f"{p} ^ {q} => {r}"


def _measure_point(
    along: Literal["tuples", "arity"], shape: str, text: str, tuples: int, arity: int, rounds: int, seed: int
) -> GrowthPoint:
    facts = _random_facts(tuples, arity, seed)
    formula = MLN(facts.vocabulary).parse(text)
    counter = Counter(formula, facts.vocabulary)
    number = counter(facts)  # kernels and plans are ready, as in a session
    planned = min(_seconds(partial(counter, _fresh(facts))) for _ in range(rounds))
    duckdb, second = _in_duckdb(formula, facts, rounds)
    return GrowthPoint(along, shape, text, tuples, arity, planned, duckdb, number == second)


def _random_facts(tuples: int, arity: int, seed: int) -> Facts:
    # A predicate of one argument has no more atoms than there are constants.
    constants = 2 * tuples if arity == 1 else max(2, tuples // _PER_CONSTANT)
    predicates = {name: Predicate(name, ("thing",) * arity) for name in "PQRS"}
    words = Vocabulary(FrozenMapping({"thing": SizedDomain("T", constants)}), FrozenMapping(predicates))
    rng = np.random.default_rng(seed)
    rows = {name: rng.integers(0, constants, (tuples, arity)).astype(np.uint32) for name in predicates}
    return facts_from_tables(words, rows)


def _fresh(facts: Facts) -> Facts:
    """Return the facts in new arrays, of which no index is known."""
    return Facts(facts.vocabulary, {name: frozen(rows.copy()) for name, rows in facts.tables.items()})


def _in_duckdb(formula: Formula, facts: Facts, rounds: int) -> tuple[float, int]:
    with store_of(facts, threads=1) as store:
        store.load_tables()
        number = count_in_duckdb(formula, store)
        return min(_seconds(lambda: count_in_duckdb(formula, store)) for _ in range(rounds)), number


def _seconds(action: Callable[[], object]) -> float:
    began = time.process_time()
    action()
    return max(time.process_time() - began, 1e-7)
