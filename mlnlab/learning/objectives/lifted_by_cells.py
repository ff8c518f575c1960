r"""Expected counts by cells: exact for formulas of two variables, however many there are.

A circuit of many formulas sums over sizes nested six deep and more, each a factor of n. Cells sum over the
numbers of constants of each 1-type, which is no less in the worst case, but only terms that matter are added,
and where weights say anything these are few (:mod:`mlnlab.lifted.cells.cell_sums`). At weights of 0 all
matter, so that learning is to begin elsewhere: at the pseudo-likelihood's weights, which are found in no
time.

>>> import mlnlab as ml
>>> mln = ml.MLN.from_text("Smokes(person)\nFriends(person, person)\nSmokes(x) ^ Friends(x, y) => Smokes(y)")
>>> db = ml.Database.from_text("Smokes(Anna)\nFriends(Anna, Bob)", mln)
>>> found = [ml.learn_weights(mln, db, method="lwl", counts=c).weights[0] for c in ("lifted", "cells")]
>>> bool(abs(found[0] - found[1]) < 1e-5)
True
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.learning.counts.data_counts import data_counts
from mlnlab.learning.objectives.lifted_counts import LiftedMoments, refuse_evidence
from mlnlab.learning.problems.contributions import Contribution, Heaviest
from mlnlab.learning.problems.gap_curvature import GapCurvature
from mlnlab.lifted.ask.cell_likelihood import CellLikelihood, cell_likelihood
from mlnlab.lifted.ask.lift import lift
from mlnlab.logic.formulas.printing import to_text
from mlnlab.steps import budget

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mlnlab.learning.problems.training_data import TrainingData
    from mlnlab.lifted.ask.cell_theory import CellTheory
    from mlnlab.lifted.ask.lifted_likelihood import LikelihoodAt

    Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class LikelihoodByCells:
    """The log-likelihood of several databases, by the same cells."""

    name: str
    cells: CellTheory
    examples: tuple[CellLikelihood, ...]
    compiling_seconds: float
    counting_seconds: float

    has_value = True
    has_quick_curvature = False

    @property
    def counts(self) -> Numbers:
        """n_i in the data; 0 of hard formulas."""
        return np.asarray(sum(one.counts for one in self.examples))

    @property
    def groundings(self) -> Numbers:
        """The number of groundings of each formula in all databases; 0 of a hard one."""
        return np.asarray(sum(one.groundings for one in self.examples))

    def moments(self, weights: Numbers, memory: object = None) -> tuple[LiftedMoments, object]:
        """Return the moments at some weights: Algorithm 1, lines 11 to 21."""
        found = tuple(one.at(weights) for one in self.examples)
        value = sum(one.value for one in found)
        gap = np.asarray(sum(one.gap for one in found))
        curvature = GapCurvature(self.gap, weights, partial(self._rough_variances, found))
        return LiftedMoments(self.counts, self.counts - gap, curvature, value, difference=gap), memory

    def _rough_variances(self, at: Sequence[LikelihoodAt]) -> Numbers:
        """Return the variances if all groundings of a formula were independent."""
        found = np.zeros(len(self.cells.mln.formulas))
        for example, known in zip(self.examples, at, strict=True):
            whole = np.maximum(example.groundings, 1.0)
            expected = np.clip(example.counts - known.gap, 0.0, whole)
            found += expected * (whole - expected) / whole
        return found

    def gap(self, weights: Numbers) -> Numbers:
        """Return observed minus expected counts alone."""
        return np.asarray(sum(one.at(weights).gap for one in self.examples))

    def recall_moments(self, weights: Numbers, memory: object) -> LiftedMoments:
        """Return the moments again."""
        return self.moments(weights, memory)[0]

    def part(self, databases: Sequence[int]) -> LikelihoodByCells:
        """Return the same of some of the databases."""
        return replace(self, examples=tuple(self.examples[number] for number in databases))


def likelihood_by_cells(
    data: TrainingData, seconds: float = budget.MOST_LIFTED_STEP, counter: object = "auto"
) -> LikelihoodByCells:
    """Compile the model to cells and count each database; a step may take ``seconds`` seconds."""
    refuse_evidence(data)
    began = time.perf_counter()
    cells = lift(replace(data.mln, semantics="textbook")).compile(method="cells")
    compiled = time.perf_counter()
    examples = []
    for example, counts in zip(data.examples, data_counts(data, counter), strict=True):
        sizes = {name: len(domain) for name, domain in example.vocabulary.types.items()}
        examples.append(cell_likelihood(cells, sizes, counts, seconds))
    counting = time.perf_counter() - compiled
    return LikelihoodByCells("log-likelihood", cells, tuple(examples), compiled - began, counting)


def heaviest_as_one(objective: LikelihoodByCells, weights: Numbers, formula: int) -> Heaviest:
    """Return a formula's groundings all together: cells tell no classes of them apart."""
    groundings = float(objective.groundings[formula])
    gap = float(objective.gap(weights)[formula])
    remark = "Exact: all groundings together, because cells do not separate them into classes."
    if not groundings:
        return Heaviest("classes", (), 0, remark)
    observed = float(objective.counts[formula])
    text = to_text(objective.cells.mln.formulas[formula].formula)
    share, expected = observed / groundings, (observed - gap) / groundings
    row = Contribution(text, share > 0.5, expected, 1.0, gap, int(groundings), share)
    return Heaviest("classes", (row,), 1, remark)
