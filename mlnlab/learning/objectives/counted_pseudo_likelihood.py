"""Scalable pseudo-log-likelihood: the counts that it needs come from any counter, once.

Sarkhel, Venugopal, Pham, Singla and Gogate (AAAI 2016), Eq. (4): P(X_l = v | MB(X_l)) needs M_i of the data
with X_l true and with X_l false, for each ground atom X_l. These stay the same in all iterations, so that
each atom is counted once (Table 1: A F T exp(min(i, w* + 1)), then M A F). Blocks of exclusive atoms, which
the paper does not have, are moved and counted exactly.
"""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial
from math import ceil, inf
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.counting.counts.counting_methods import PLANNED
from mlnlab.errors import TooLargeError
from mlnlab.learning.objectives.pseudo_log_likelihood import (
    AtomRows,
    PseudoLogLikelihood,
    RowCounter,
    pseudo_log_likelihood,
)
from mlnlab.learning.objectives.relaxed_log_likelihood import counted_example
from mlnlab.steps.budget import seconds_in_words
from mlnlab.steps.runs.working import one_by_one

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mlnlab.learning.counts.counted_worlds import CountedExample
    from mlnlab.learning.counts.counter_choice import CounterChoice
    from mlnlab.learning.problems.training_data import Example, TrainingData

FEW = 1_000  # atoms of a predicate, whose counting needs no estimate
_TRIED = 20  # of more atoms, by which their time is estimated


def counted_pseudo_log_likelihood(
    data: TrainingData, choice: CounterChoice, *, weighted: bool = False, most_seconds: float = inf
) -> PseudoLogLikelihood:
    """Count Δn of the predicted atoms in every database by a counter; plans count all atoms at once.

    Counting that would take longer than ``most_seconds`` is refused before it begins.
    """
    if choice.name == PLANNED:
        return pseudo_log_likelihood(data, weighted=weighted)
    examples = {id(example): counted_example(data, example, choice) for example in data.examples}
    if all(counted.is_planned for counted in examples.values()):
        return pseudo_log_likelihood(data, weighted=weighted)
    _refuse_long(list(examples.values()), most_seconds)

    def counter(example: Example) -> RowCounter:
        return partial(_count_rows, examples[id(example)])

    found = pseudo_log_likelihood(data, weighted=weighted, counter=counter)
    return replace(found, counter=str(choice))


def _refuse_long(examples: Sequence[CountedExample], most_seconds: float) -> None:
    """Refuse counts of single atoms that would take too long, as far as some of them tell."""
    seconds = sum(_seconds(example) for example in examples)
    if seconds > most_seconds:
        choice, atoms = examples[0].choice, sum(example.atoms.atoms for example in examples)
        ways = [
            'count all atoms at once, exactly: counter="planned"',
            "predict fewer predicates, given the others: query=[...]",
            f"allow it: most_hours={ceil(1.5 * seconds / 3600)}",
        ]
        raise TooLargeError(
            f"Counts by {choice} of {atoms:,} atoms, one by one, would take about"
            f" {seconds_in_words(seconds)}; the limit is {seconds_in_words(most_seconds)}.", seconds, ways,
        )  # fmt: skip


def _seconds(example: CountedExample) -> float:
    """Estimate the time of counting each atom once, from a few of each predicate."""
    found, world = 0.0, example.world(())
    for predicate in example.atoms.predicates:
        if predicate.exclusive or predicate.atoms <= FEW:
            continue
        rows = [predicate.row(key) for key in range(0, predicate.atoms, -(-predicate.atoms // _TRIED))]
        world.difference(predicate.name, rows[0])  # it may have to compile
        began = time.perf_counter()
        for row in rows:
            world.difference(predicate.name, row)
        found += predicate.atoms * (time.perf_counter() - began) / len(rows)
    return found


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
