"""Weight learning beside what Alchemy 2 took for the same files; its figures were recorded, not run here.

Recorded CPU seconds of `learnwts` (a busy machine): weighted PLL 0.11 on IMDB fold 1 and 0.66 on UW-CSE fold
1; PSCG with 5 samples and 100 iterations 6.66 on UW-CSE fold 1. Targets and ratios are printed; what is
asserted is that objectives are reached, that weighted PLL stays within twice its target (a tenth of theirs,
counting included), that PSCG takes a tenth of theirs at their conditional likelihood, and how costs grow.
"""

from __future__ import annotations

import random
import resource
import time

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.experiments.cora import cora_model
from mlnlab.experiments.studies.learning_growth import learning_growth
from mlnlab.experiments.webkb import synthetic_web
from mlnlab.logic.formulas.printing import to_text

pytestmark = pytest.mark.benchmark

ROUNDS = 5
TARGET = 10.0  # times as fast as Alchemy, for weighted PLL
MARGIN = 2.0  # of the target: processors differ, and other processes may be busy
EQUAL = 0.5  # nats: how far conditional log-likelihoods may be apart by the noise of five samples
COUNTED, LEARNED = 15.0, 30.0  # seconds: ten thousand weights, and a hundred steps of them
FLAT = 3.0  # a thousand times as many atoms may make an iteration so many times as long


def cpu_seconds(action):
    """Return the median CPU time of some runs in a warm process, and the last result."""
    action()
    times, found = [], None
    for _ in range(ROUNDS):
        began = time.process_time()
        found = action()
        times.append(time.process_time() - began)
    return float(np.median(times)), found


def alchemy(reference_folder, name):
    folder = reference_folder / "alchemy-inputs"
    mln = ml.load(folder / f"{name}.mln", semantics="alchemy")
    return mln, ml.load_db(folder / f"{name}_fold1.db", mln)


@pytest.mark.parametrize(("name", "theirs", "value"), [("imdb", 0.11, -0.790846), ("uwcse", 0.66, -1.79677)])
def test_weighted_pseudo_likelihood_beside_alchemy(reference_folder, name, theirs, value):
    mln, db = alchemy(reference_folder, name)
    ours, found = cpu_seconds(
        lambda: ml.learn_weights(mln, db, "wpll", prior=ml.Gaussian(0, 100), units=True)
    )
    print(
        f"\n{name}: ours {1000 * ours:.1f} ms of CPU, Alchemy {1000 * theirs:.0f} ms, "
        f"ratio {theirs / ours:.1f} (target {TARGET:.0f}, {1000 * theirs / TARGET:.0f} ms)"
    )
    assert found.objective >= value - 1e-5
    assert ours < MARGIN * theirs / TARGET


# An average of iterations, as gradient descent answers with, is later than the last of them.
@pytest.mark.parametrize(("method", "short_of"), [("pscg", 2), ("dn", 2), ("scg", 2), ("cd", 10)])
def test_sampled_learning_beside_alchemy(reference_folder, method, short_of):
    mln, db = alchemy(reference_folder, "uwcse")
    given = {"query": ["advisedBy"], "prior": ml.Gaussian(0, 2), "units": True}
    exact = ml.learn_weights(mln, db, "ll", **given)
    ours, found = cpu_seconds(lambda: ml.learn_weights(mln, db, method, iterations=100, **given))
    reached = exact.problem.at(exact.problem.free.parameters_of(found.weights)).value
    print(
        f"\n{method}: ours {ours:.2f} s, Alchemy's PSCG 6.66 s, ratio {6.66 / ours:.0f};"
        f" exact objective {reached:.2f} of {exact.objective:.2f}"
    )
    assert reached > exact.objective - short_of


def test_preconditioned_conjugate_gradient_beside_the_weights_that_alchemy_recorded(reference_folder):
    """Equal samples and iterations; both weights are judged by the exact conditional log-likelihood."""
    mln, db = alchemy(reference_folder, "uwcse")
    given = {"query": ["advisedBy"], "prior": ml.Gaussian(0, 2), "units": True}
    problem = ml.weight_learner("ll", mln, db, **given).problem
    recorded = ml.load(reference_folder / "alchemy-inputs" / "uw1-pscg-learned.mln", semantics="alchemy")
    rules, unit = recorded.formulas[: len(mln.formulas)], "advisedBy(a1, a2)"
    units = [one for one in recorded.formulas if to_text(one.formula) == unit]
    theirs = cll(problem, [one.weight.value for one in (*rules, *units)])
    ours, _ = cpu_seconds(lambda: ml.learn_weights(mln, db, "pscg", iterations=100, samples=5, **given))
    reached = [
        cll(problem, ml.learn_weights(mln, db, "pscg", iterations=100, samples=5, seed=seed, **given).weights)
        for seed in range(ROUNDS)
    ]
    print(
        f"\npscg: ours {ours:.2f} s, Alchemy 6.66 s, ratio {6.66 / ours:.0f} (target {TARGET:.0f});"
        f" exact CLL {min(reached):.2f} to {max(reached):.2f}, Alchemy's {theirs:.2f}"
    )
    assert theirs == pytest.approx(-57.37, abs=0.01)
    assert min(reached) > theirs - EQUAL
    assert 6.66 / ours >= TARGET


def cll(problem, weights):
    """Return the exact conditional log-likelihood, without the prior."""
    parameters = problem.free.parameters_of(np.asarray(weights, float))
    return problem.at(parameters).value - problem.priors.value(parameters)


def test_an_iteration_of_pseudo_likelihood_costs_the_same_for_larger_databases():
    growth = learning_growth([300, 1_000, 3_000, 10_000])
    print(f"\n{growth.to_frame().to_string(index=False)}")
    first, *_, last = growth.points
    assert last.atoms > 1_000 * first.atoms
    assert last.iteration < FLAT * first.iteration


def clauses(number: int, seed: int = 0) -> ml.MLN:
    """Return Cora's predicates with random clauses of two to five literals, each tied to those before it."""
    rng = random.Random(seed)
    declared = cora_model(per_word=False, word_independent=False, transitivity=False).vocabulary
    predicates = [p for p in declared.predicates.values() if p.arity]
    lines = [str(p) for p in predicates]
    while len(lines) < len(predicates) + number:
        known: dict[str, list[str]] = {}
        literals = []
        for place in range(rng.randint(2, 5)):
            fitting = [p for p in predicates if not place or set(p.types) & set(known)]
            predicate = rng.choice(fitting)
            arguments = []
            joined = False
            for type_ in predicate.types:
                own = known.setdefault(type_, [])
                if own and (not joined or rng.random() < 0.5):
                    arguments.append(rng.choice(own))
                    joined = True
                else:
                    own.append(f"{type_}{len(own)}")
                    arguments.append(own[-1])
            literals.append(f"{'!' if rng.random() < 0.6 else ''}{predicate.name}({', '.join(arguments)})")
        lines.append(" v ".join(literals))
    return ml.MLN.from_text("\n".join(lines))


def test_fifty_clauses_on_cora(data_folder):
    mln = clauses(50)
    db = ml.load_db(data_folder / "cora" / "cora_fold1.db", mln)
    began = time.process_time()
    found = ml.learn_weights(mln, db, "pll", prior=ml.Gaussian(0, 10))
    seconds = time.process_time() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"\n50 clauses on Cora's fold 1: {seconds:.1f} s of CPU, the process at most {peak:.2f} GB; {found}"
    )
    assert np.isfinite(found.objective)


@pytest.mark.parametrize("optimizer", ["l-bfgs", "scaled-conjugate-gradient"])
def test_ten_thousand_weights(optimizer):
    web = synthetic_web()
    learner, seconds = measured(
        lambda: ml.weight_learner(
            "pll", web.mln, list(web.databases), ["Class"], optimizer=optimizer, iterations=100
        )
    )
    found, learning = measured(lambda: list(learner))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"\n{web.weights:,} weights: counted in {seconds:.1f} s of CPU, {len(found) - 1} steps "
        f"of {optimizer} in {learning:.1f} s, the process at most {peak:.2f} GB, "
        f"objective {found[-1].value:,.0f}"
    )
    assert seconds < COUNTED
    assert learning < LEARNED
    assert found[-1].value > found[0].value / 5


def measured(action):
    """Return what an action gives, and its CPU time."""
    began = time.process_time()
    found = action()
    return found, time.process_time() - began
