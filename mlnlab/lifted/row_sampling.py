"""Worlds by rows where a model's formulas allow it: without rejection, where few worlds would be kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from mlnlab.lifted.cell_evaluation import CellEvaluation, log_weights
from mlnlab.lifted.evidence import NOTHING
from mlnlab.lifted.kept_worlds import signed_numbers
from mlnlab.lifted.row_demands import row_demands, without_demands
from mlnlab.lifted.row_worlds import row_worlds
from mlnlab.lifted.sampled_worlds import refuse_large
from mlnlab.lifted.world_distribution import world_distribution

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from mlnlab.lifted.cell_compilation import CompiledCells
    from mlnlab.lifted.row_worlds import RowWorlds
    from mlnlab.lifted.weighted_theory import WeightedTheory
    from mlnlab.logic.vocabulary import Vocabulary
    from mlnlab.model.mln import MLN

    Values = NDArray[np.float64]


class PlainCells(Protocol):
    """What a model without demands is compiled to."""

    @property
    def compiled(self) -> CompiledCells:
        """Its cells."""

    @property
    def budget(self) -> float:
        """The most terms that an answer may take."""

    @property
    def weighted(self) -> WeightedTheory:
        """The theory, and what its atoms weigh."""

    @property
    def is_signed(self) -> bool:
        """Whether signs or tallies are left."""

    def true_atoms(self, domains: Mapping[str, int], weights: Values) -> float:
        """Return how many atoms of a world are true on average."""


def worlds_by_rows(
    weighted: WeightedTheory, compiled: Callable[[MLN], PlainCells], sizes: Mapping[str, int],
    vocabulary: Vocabulary, weights: Values,
) -> RowWorlds | None:  # fmt: skip
    """Return what worlds are drawn from, or ``None`` where the model is not of this kind.

    ``compiled`` compiles a model to cells.
    """
    mln = weighted.mln
    signed = signed_numbers(mln)
    demands = row_demands(mln, signed)
    named = weighted.evidence is not NOTHING or any(weighted.constants.values())
    if not demands or named:
        return None
    plain = compiled(without_demands(mln, signed, demands))
    if plain.is_signed:
        return None
    left = [n for n in range(len(weights)) if n not in signed]
    numbers = np.zeros(len(plain.weighted.mln.formulas))
    numbers[: len(left)] = weights[left]
    true, false = plain.weighted.true @ numbers, plain.weighted.false @ numbers
    kinds = {(type_, 0): size for type_, size in sizes.items()}
    evaluation = CellEvaluation(plain.compiled, kinds, sizes, plain.budget)
    alone = world_distribution(evaluation, vocabulary, numbers, true, false, counted=False)
    own = [[kinds[kind.name] for kind in one.cells.kinds] for one in alone.atoms]
    refuse_large(plain.true_atoms(sizes, numbers))
    return row_worlds(alone, demands, own, log_weights(numbers, true, false))
