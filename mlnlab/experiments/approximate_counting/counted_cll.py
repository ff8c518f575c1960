"""The conditional log-likelihood (CLL) of a query, by Gibbs sampling over counts: nothing is ground.

Sarkhel et al. (2016), "Methodology": the CLL is the mean log-probability of the query's ground atoms given
the evidence, estimated by 100,000 Gibbs samples. A sample is taken as in Algorithm 1, an atom drawn by
Eq. (5). The chain begins where no query atom is true; the first tenth is left out. An atom's probability is
the mean of Eq. (5) at its visits, which varies less than the mean of its values; atoms that were never
visited, a random share of very many, are not judged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mlnlab.errors import ArgumentError
from mlnlab.evaluation.evaluating import Evaluation
from mlnlab.evaluation.judged_atoms import JudgedAtoms
from mlnlab.kernels.random_numbers import streams
from mlnlab.learning.counts.counted_chains import WorkingWorld
from mlnlab.learning.counts.counted_worlds import CountedExample
from mlnlab.learning.counts.counter_choice import CounterChoice
from mlnlab.learning.counts.open_atoms import FlippedWorld
from mlnlab.learning.objectives.relaxed_log_likelihood import counted_example
from mlnlab.learning.problems.training_data import training_data
from mlnlab.logic.formulas.ground_atoms import GroundAtom
from mlnlab.logic.formulas.weights import weight_value
from mlnlab.steps.runs.working import one_by_one

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mlnlab.model.database.database import Database
    from mlnlab.model.mln.mln import MLN

BURN_IN = 0.1


def counted_evaluation(
    mln: MLN, db: Database, query: Sequence[str], counter: CounterChoice, samples: int, seed: int = 0
) -> Evaluation:
    r"""Return how good a model's probabilities of the queried atoms are, given all others.

    >>> import mlnlab as ml
    >>> mln = ml.MLN.from_text("Smokes(person)\nCancer(person)\n1.5 Smokes(x) => Cancer(x)")
    >>> db = ml.Database.from_text("Smokes(Anna)\nSmokes(Bob)\nCancer(Anna)\nCancer(Carla)", mln)
    >>> counted_evaluation(mln, db, ["Cancer"], CounterChoice(), 1000).cll.value  # exact: -0.865
    -0.86...
    """
    if samples < 1:
        raise ArgumentError("At least one Gibbs sample is needed.")
    data = training_data(mln, db, list(query))
    example = counted_example(data, data.examples[0], counter)
    weights = np.array([weight_value(one.weight) or 0.0 for one in data.formulas], np.float64)
    sums, visits = _visit_atoms(example, weights, samples, seed)
    keys = np.array(sorted(visits), np.int64)
    probabilities = np.array([sums[key] / visits[key] for key in keys.tolist()], np.float64)
    atoms, truths = _name_atoms(example, keys)
    resolution = np.full(len(keys), float(samples))  # no probability is nearer to 0 than so many can tell
    return Evaluation(JudgedAtoms(atoms, probabilities, truths, resolution), seed=seed)


def _visit_atoms(
    example: CountedExample, weights: NDArray[np.float64], samples: int, seed: int
) -> tuple[dict[int, float], dict[int, int]]:
    """Return the sums of Eq. (5) over the visits of each atom, and the number of its visits."""
    starts = example.atoms.starts
    true = [one.true + start for one, start in zip(example.atoms.predicates, starts, strict=False)]
    begin = np.sort(np.concatenate([*true, np.zeros(0, np.int64)]))
    world = WorkingWorld(example, FlippedWorld(begin, streams(seed, 1)[0]))
    sums: dict[int, float] = {}
    visits: dict[int, int] = {}
    left_out = round(BURN_IN * samples)
    for step in one_by_one(range(samples if example.atoms.choices else 0), "sampling"):
        options = world.weigh_options(weights)
        world.choose(options, options.draw(world.random))
        if step < left_out:
            continue
        for key, share in zip(options.keys.tolist(), options.chances().tolist(), strict=False):
            number = starts[options.place] + key
            sums[number] = sums.get(number, 0.0) + share
            visits[number] = visits.get(number, 0) + 1
    return sums, visits


def _name_atoms(
    example: CountedExample, numbers: NDArray[np.int64]
) -> tuple[tuple[GroundAtom, ...], NDArray[np.bool_]]:
    """Return atoms by their names, and whether they are true in the data."""
    atoms, vocabulary = example.atoms, example.atoms.facts.vocabulary
    named, truths = [], []
    for number in numbers.tolist():
        place = int(np.searchsorted(atoms.starts, number, side="right")) - 1
        predicate, key = atoms.predicates[place], number - atoms.starts[place]
        domains = [vocabulary.domain(type_) for type_ in vocabulary[predicate.name].types]
        constants = (domain[c] for domain, c in zip(domains, predicate.row(key), strict=True))
        named.append(GroundAtom(predicate.name, tuple(constants)))
        truths.append(predicate.is_true(key))
    return tuple(named), np.array(truths, bool)
