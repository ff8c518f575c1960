"""Scalable pseudo-log-likelihood: the counts that it needs come from any counter, once.

Sarkhel, Venugopal, Pham, Singla and Gogate (AAAI 2016), Eq. (4): P(X_l = v | MB(X_l)) needs M_i of the data
with X_l true and with X_l false, for each ground atom X_l. These stay the same in all iterations, so that
each atom is counted once (Table 1: A F T exp(min(i, w* + 1)), then M A F). Blocks of exclusive atoms, which
the paper does not have, are moved and counted exactly.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.counting.counts.counting_methods import PLANNED
from mlnlab.learning.objectives.pseudo_log_likelihood import (
    AtomRows,
    PseudoLogLikelihood,
    RowCounter,
    pseudo_log_likelihood,
)
from mlnlab.learning.objectives.relaxed_log_likelihood import counted_example
from mlnlab.steps.runs.working import one_by_one

if TYPE_CHECKING:
    from mlnlab.learning.counts.counted_worlds import CountedExample
    from mlnlab.learning.counts.counter_choice import CounterChoice
    from mlnlab.learning.problems.training_data import Example, TrainingData


def counted_pseudo_log_likelihood(
    data: TrainingData, choice: CounterChoice, *, weighted: bool = False
) -> PseudoLogLikelihood:
    """Count Δn of the predicted atoms in every database by a counter; plans count all atoms at once."""
    if choice.name == PLANNED:
        return pseudo_log_likelihood(data, weighted=weighted)
    examples = {id(example): counted_example(data, example, choice) for example in data.examples}
    if all(counted.is_planned for counted in examples.values()):
        return pseudo_log_likelihood(data, weighted=weighted)

    def counter(example: Example) -> RowCounter:
        return partial(_count_rows, examples[id(example)])

    found = pseudo_log_likelihood(data, weighted=weighted, counter=counter)
    return replace(found, counter=str(choice))


def _count_rows(example: CountedExample, name: str) -> AtomRows:
    """Count M_i with each atom of a predicate true less M_i with it false; equal rows are one."""
    world, atoms = example.world(()), example.atoms
    if name not in atoms.places:  # it has no ground atoms
        return AtomRows(name, 0, np.zeros((0, len(example.formulas))), np.zeros(0, bool), np.zeros(0))
    predicate = atoms.predicates[atoms.places[name]]
    keys = predicate.open_keys
    truths = np.array([predicate.is_true(key) for key in keys], bool)
    values = np.zeros((len(keys), len(example.formulas)))
    for place, key in enumerate(one_by_one(keys, "counting")):
        change = world.difference(name, predicate.row(key))
        values[place] = -change if truths[place] else change
    different, groups = np.unique(np.column_stack([truths, values]), axis=0, return_inverse=True)
    multiplicities = np.bincount(groups.ravel(), minlength=len(different)).astype(np.float64)
    return AtomRows(name, len(keys), different[:, 1:], different[:, 0] == 1, multiplicities)
