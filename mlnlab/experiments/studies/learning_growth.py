"""How the time of pseudo-likelihood learning grows with the database: counting does, an iteration does not.

People who smoke, and have three friends each, at random. Δn are counted once; atoms with equal Δn and truth
are one row with a multiplicity, so that value, gradient and curvature cost as much as there are different
rows, however many atoms there are. Times are those of the processor, the least of several rounds.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.errors import ArgumentError
from mlnlab.learning.objectives.pseudo_log_likelihood import pseudo_log_likelihood
from mlnlab.learning.problems.training_data import training_data
from mlnlab.logic.checked_options import whole_number
from mlnlab.logic.relations import Relation, sorted_rows
from mlnlab.logic.vocabulary import FrozenMapping, SizedDomain
from mlnlab.model.database.database import Database
from mlnlab.model.mln.mln import MLN

if TYPE_CHECKING:
    import pandas as pd

MODEL = """Smokes(person)
Cancer(person)
Friends(person, person)
Smokes(x) => Cancer(x)
Friends(x, y) ^ Smokes(x) => Smokes(y)
Smokes(x)
Cancer(x)
Friends(x, y)
"""
MOST_PEOPLE = 1_000_000
_FRIENDS = 3
_AT_ONCE = 20  # iterations that are measured together: one is too short


@dataclass(frozen=True, slots=True)
class LearningPoint:
    """One database: its people and ground atoms, the different rows of Δn, and seconds."""

    people: int
    atoms: int
    rows: int
    counting: float
    iteration: float


@dataclass(frozen=True, slots=True, eq=False)
class LearningGrowth:
    """Seconds of counting, and of an iteration, as databases grow."""

    points: tuple[LearningPoint, ...]

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each database."""
        import pandas as pd

        return pd.DataFrame([asdict(point) for point in self.points])

    def __repr__(self) -> str:
        return f"<LearningGrowth: {len(self.points)} databases>"


def learning_growth(
    people: Sequence[int] = (300, 1_000, 3_000, 10_000, 30_000),
    *,
    rounds: int = 3,
    seed: int = 0,
    told: Callable[[LearningPoint], None] = lambda _: None,
) -> LearningGrowth:
    r"""Measure pseudo-likelihood on ever more people: counting Δn once, and an iteration after that.

    ``told`` hears of each measurement as it is made. ``ml.plot(growth)`` draws the curves.

    >>> import mlnlab as ml
    >>> growth = ml.learning_growth([100, 1_000], rounds=1)
    >>> growth
    <LearningGrowth: 2 databases>
    >>> [point.atoms for point in growth.points]
    [10200, 1002000]
    >>> figure = ml.plot(growth)
    """
    numbers = _check_people(people)
    whole_number(rounds, "rounds", 1)
    whole_number(seed, "A seed")
    model = MLN.from_text(MODEL)
    _measure_point(model, _people(10, model, seed), 1)  # kernels are compiled now
    found = []
    for number in sorted(set(numbers)):
        point = _measure_point(model, _people(number, model, seed), rounds)
        told(point)
        found.append(point)
    return LearningGrowth(tuple(found))


def _check_people(people: object) -> list[int]:
    numbers = list(people) if isinstance(people, Sequence) else []
    if not numbers or not all(isinstance(n, int) and 10 <= n <= MOST_PEOPLE for n in numbers):
        raise ArgumentError(
            f"people= needs a list of whole numbers from 10 to {MOST_PEOPLE:,}, not {people!r:.60}."
        )
    return numbers


def _people(number: int, model: MLN, seed: int) -> Database:
    rng = np.random.default_rng(seed)
    friends = np.stack([np.repeat(np.arange(number), _FRIENDS), rng.integers(0, number, _FRIENDS * number)])
    rows = {
        "Smokes": np.flatnonzero(rng.random(number) < 0.3)[:, None],
        "Cancer": np.flatnonzero(rng.random(number) < 0.2)[:, None],
        "Friends": friends.T,
    }
    relations = {name: Relation(found.shape[1], sorted_rows(found.astype(np.uint32)))
                 for name, found in rows.items()}  # fmt: skip
    vocabulary = model.vocabulary.with_domain("person", SizedDomain("P", number))
    return Database(vocabulary, FrozenMapping(relations), f"{number} people")


def _measure_point(model: MLN, db: Database, rounds: int) -> LearningPoint:
    points = [_round(model, db) for _ in range(rounds)]
    return replace(
        points[0],
        counting=min(point.counting for point in points),
        iteration=min(point.iteration for point in points),
    )


def _round(model: MLN, db: Database) -> LearningPoint:
    began = time.process_time()
    data = training_data(model, db)
    objective = pseudo_log_likelihood(data)
    counting = time.process_time() - began
    weights = np.zeros(len(data.formulas))
    objective.moments(weights)
    began = time.process_time()
    for _ in range(_AT_ONCE):
        moments, _memory = objective.moments(weights)
        moments.curvature.diagonal()
    iteration = (time.process_time() - began) / _AT_ONCE
    atoms = sum(data.examples[0].number_of_atoms(name) for name in data.predicted)
    rows = sum(len(found.truths) for found in objective.rows[0])
    return LearningPoint(len(db.domain("person")), atoms, rows, max(counting, 1e-7), max(iteration, 1e-7))
