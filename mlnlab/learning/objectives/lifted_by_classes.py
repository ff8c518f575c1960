r"""Algorithm 1 of Van den Broeck, Meert and Davis (2013) as printed: one circuit for each equiprobable class.

"Lifted generative parameter learning". Line numbers beside the code are those of the algorithm. It is here to
be read and to be compared with: :mod:`mlnlab.learning.objectives.lifted_counts` finds the same numbers from
the first of these circuits alone, by one pass down, and loses no digits to the difference of two logarithms.

>>> import mlnlab as ml
>>> mln = ml.MLN.from_text("Smokes(person)\nFriends(person, person)\nSmokes(x) ^ Friends(x, y) => Smokes(y)")
>>> db = ml.Database.from_text("Smokes(Anna)\nFriends(Anna, Bob)", mln)
>>> found = [ml.learn_weights(mln, db, method="lwl", counts=c).weights[0] for c in ("lifted", "by-classes")]
>>> bool(abs(found[0] - found[1]) < 1e-5)
True
"""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import count, islice
from math import exp
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.errors import UnsatisfiableError
from mlnlab.learning.objectives.lifted_counts import LiftedLogLikelihood, lifted_log_likelihood
from mlnlab.learning.problems.moments import Moments
from mlnlab.lifted.ask.lift import LiftedCircuit, lift
from mlnlab.lifted.circuit.equiprobable import EquiprobableClass, equiprobable_classes
from mlnlab.logic.formulas.weights import Hard, WeightedFormula

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from numpy.typing import NDArray

    from mlnlab.learning.problems.training_data import TrainingData
    from mlnlab.model.mln.mln import MLN

    Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class ClassCircuit:
    """C_E: the worlds in which one grounding of a class holds."""

    of: EquiprobableClass
    circuit: LiftedCircuit


@dataclass(frozen=True, eq=False)
class LikelihoodByClasses(LiftedLogLikelihood):
    """The log-likelihood, its expected counts class by class (eq. 4)."""

    classes: tuple[ClassCircuit, ...] = ()

    def moments(self, weights: Numbers, memory: object = None) -> tuple[Moments, object]:
        """Return the likelihood and its gradient: lines 11 to 21."""
        value, expected = 0.0, np.zeros(len(weights))  # lines 11 and 12
        for example, observed in zip(self.examples, self.observed, strict=True):  # line 13
            log_z = self.circuit.log_z(example.sizes, list(weights)).value  # line 14
            value += float(weights @ example.counts) - log_z  # lines 15 and 17
            expected += np.where(self._hard, observed, 0.0)
            for number, probable in self._compute_expected_counts(example.sizes, weights, log_z):  # line 19
                expected[number] += probable  # line 21
        fast = tuple(example.at(weights) for example in self.examples)
        curvature = self.curvature(weights, fast)
        return Moments(self.counts, expected, curvature, value), memory

    @property
    def _hard(self) -> NDArray[np.bool_]:
        return np.array([isinstance(one.weight, Hard) for one in self.circuit.mln.formulas])

    def _compute_expected_counts(
        self, sizes: Mapping[str, int], weights: Numbers, log_z: float
    ) -> Iterator[tuple[int, float]]:
        """Yield of each class the number of its formula, and |E| · Pr(F theta_E)."""
        for one in self.classes:
            elements = one.of.size(sizes)
            if elements:
                with suppress(UnsatisfiableError):  # no possible world has such a grounding
                    log_e = one.circuit.log_z(sizes, [*weights, 0.0]).value
                    yield one.of.number, elements * exp(log_e - log_z)  # line 20, eq. 5


def likelihood_by_classes(data: TrainingData, counter: object = "auto") -> LikelihoodByClasses:
    """Compile all circuits: lines 4 to 9."""
    whole = lifted_log_likelihood(data, counter)  # line 4
    began = time.perf_counter()
    mln = whole.circuit.mln
    classes = tuple(  # lines 5 to 9
        ClassCircuit(one, lift(_with_representative(mln, one)).compile()) for one in equiprobable_classes(mln)
    )
    seconds = whole.compiling_seconds + time.perf_counter() - began
    return LikelihoodByClasses(
        whole.name, whole.circuit, whole.examples, whole.observed, seconds, whole.counting_seconds, classes
    )


def _with_representative(mln: MLN, one: EquiprobableClass) -> MLN:
    """Return M and F theta_E, over constants of which nothing else is known."""
    ground = one.representative(_name_unmentioned_constants(one, mln.vocabulary.types))
    assert ground is not None  # noqa: S101 - there are as many names as variables
    return replace(mln, formulas=(*mln.formulas, WeightedFormula(ground, Hard())), places=())


def _name_unmentioned_constants(one: EquiprobableClass, types: Iterable[str]) -> dict[str, list[str]]:
    """Return of each type as many names as a class has variables, of which the model mentions none."""
    known = {name for _, names in one.named for name in names}
    return {
        type_: list(
            islice((n for n in (f"{type_}:{k}" for k in count()) if n not in known), len(one.decided))
        )
        for type_ in types
    }
