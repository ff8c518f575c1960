"""Counts by equiprobable class: what a model expects of each, beside what holds in the data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mlnlab.counting.counts import counts_of
from mlnlab.counting.facts import facts_of
from mlnlab.learning.contributions import Contribution, Heaviest
from mlnlab.lifted.equiprobable import EquiprobableClass, equiprobable_classes
from mlnlab.lifted.equiprobable_probabilities import symbol_of
from mlnlab.lifted.lifted_likelihood import likelihoods_at
from mlnlab.logic.formulas import And, Constant, Equality, Not, Variable
from mlnlab.logic.substitution import substitute

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from mlnlab.learning.lifted_counts import LiftedLogLikelihood
    from mlnlab.learning.training_data import Example, TrainingData
    from mlnlab.logic.formulas import Formula

    Numbers = NDArray[np.float64]


_ROUNDING = 1e-13  # of the groundings


@dataclass(frozen=True, slots=True)
class ClassCount:
    """A class in all databases: its groundings, how many are true, and how many are expected to be."""

    text: str
    groundings: int
    observed: int
    expected: float

    @property
    def probability(self) -> float:
        """What the model gives each of its groundings."""
        return self.expected / self.groundings


def class_counts(
    data: TrainingData, objective: LiftedLogLikelihood, weights: Numbers, formula: int
) -> list[ClassCount]:
    """Return the counts of each class of a formula that has groundings."""
    weighted = objective.circuit.weighted
    expected = likelihoods_at(objective.examples, weights)
    found = []
    for one in equiprobable_classes(objective.circuit.mln).of(formula):
        symbol, positive = symbol_of(one, weighted)
        groundings = sum(one.size(example.sizes) for example in objective.examples)
        if groundings:
            atoms = sum(float((at.true if positive else at.false)[symbol]) for at in expected)
            observed = sum(counted(one, example) for example in data.examples)
            found.append(ClassCount(str(one), groundings, observed, atoms))
    return found


def heaviest_classes(
    data: TrainingData, objective: LiftedLogLikelihood, weights: Numbers, formula: int
) -> Heaviest:
    """Return the equiprobable classes of a formula's groundings."""
    rows = []
    for one in class_counts(data, objective, weights, formula):
        share = one.observed / one.groundings
        gap = one.observed - one.expected
        if abs(gap) < _ROUNDING * one.groundings:
            gap = 0.0
        rows.append(Contribution(one.text, share > 0.5, one.probability, 1.0, gap, one.groundings, share))
    rows.sort(key=lambda row: -abs(row.share))
    remark = "Exact: all groundings of a class have one probability; data is the share of them that are true."
    return Heaviest("classes", tuple(rows), len(rows), remark)


def counted(one: EquiprobableClass, example: Example) -> int:
    """Return how many groundings of a class are true in a database."""
    return counts_of([_restricted(one)], facts_of(example.database, example.vocabulary))[0]


def _restricted(one: EquiprobableClass) -> Formula:
    """Return the formula with equal variables made one, and the others said to be different."""
    first: dict[int, Variable] = {}
    binding: dict[Variable, Variable | Constant] = {}
    for variable, place in one.decided:
        if isinstance(place, int):
            binding[variable] = first.setdefault(place, variable)
        else:
            binding[variable] = Constant(place, variable.type)
    different = list(_differences(list(first.values()), dict(one.named)))
    formula = substitute(one.formula, binding)
    return And((formula, *different)) if different else formula


def _differences(variables: Sequence[Variable], named: Mapping[str, Sequence[str]]) -> Iterator[Formula]:
    for place, variable in enumerate(variables):
        for other in variables[:place]:
            if other.type == variable.type:
                yield Not(Equality(other, variable))
        for name in named.get(variable.type, ()):
            yield Not(Equality(variable, Constant(name, variable.type)))
