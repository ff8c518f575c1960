"""Scores of clauses in a whole model equal what learning the weights of that model says."""

from __future__ import annotations

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.structure.clauses.clause_making import ClauseKey, clause_formula, make_clauses
from mlnlab.structure.clauses.clause_scores import SampledData, ScoreParams
from mlnlab.structure.clauses.clauses_together import CLOSE, LOOSE, TIGHT
from mlnlab.structure.clauses.whole_model import GrowingModel, try_clause
from mlnlab.structure.paths.variabilized import canonical_path
from tests.structure.small_databases import random_databases

PATHS = (
    canonical_path([("Friends", (0, 1)), ("Smokes", (0,)), ("Smokes", (1,))]),
    canonical_path([("Likes", (0, 1)), ("Smokes", (0,))]),
    canonical_path([("Friends", (0, 1)), ("Likes", (1, 2))]),
    canonical_path([("Friends", (0, 0)), ("Smokes", (0,))]),
)


def learned_wpll(databases, clauses, deviation=100.0):
    """Return the WPLL of unit clauses and clauses at their best weights, by ``ml.learn_weights``."""
    vocabulary = databases[0].vocabulary
    units = [canonical_path([(one.name, tuple(range(one.arity)))]).formulas(vocabulary)[0]
             for one in vocabulary.predicates.values()]  # fmt: skip
    formulas = [clause_formula(key.path, key.positive, vocabulary) for key in clauses]
    mln = ml.MLN.from_formulas(
        [(None, one) for one in (*units, *formulas)], predicates=vocabulary.predicates.values()
    )
    found = ml.learn_weights(
        mln, databases, "wpll", prior=ml.Gaussian(0, deviation), progress=False, optimizer="newton"
    )
    return ml.pseudo_log_likelihood(found.mln, databases, weighted=True)


def random_clauses(seed):
    random = np.random.default_rng(seed)
    paths = [PATHS[n] for n in random.permutation(len(PATHS))[:3]]
    return [ClauseKey(path, int(random.choice(make_clauses(path)))) for path in paths]


@pytest.mark.parametrize("seed", range(4))
def test_a_clause_added_to_a_model_gains_what_learning_all_weights_says(seed):
    databases, clauses = random_databases(seed), random_clauses(seed)
    model = GrowingModel(SampledData(databases, ScoreParams(fraction=1.0)))
    best = model.learn_together()
    assert best.value == pytest.approx(learned_wpll(databases, []), abs=1e-5)
    for number in range(len(clauses)):
        tried = try_clause(model, best, clauses[number], TIGHT)
        before, after = (learned_wpll(databases, clauses[:n]) for n in (number, number + 1))
        assert tried.gain == pytest.approx(after - before, abs=1e-4)
        assert tried.learned.value >= after - 1e-4
        model, best = tried.model, tried.learned


@pytest.mark.parametrize("seed", range(4))
def test_a_loose_optimum_is_a_bound_that_a_close_one_reaches(seed):
    databases, clauses = random_databases(seed), random_clauses(seed)
    model = GrowingModel(SampledData(databases, ScoreParams(fraction=1.0)))
    best = model.learn_together()
    for clause in clauses:
        loose, tight, close = (try_clause(model, best, clause, one) for one in (LOOSE, TIGHT, CLOSE))
        assert loose.gain <= tight.gain <= close.gain + 1e-12
        assert close.gain - tight.gain <= TIGHT.tolerance
        assert close.gain - loose.gain <= 5 * LOOSE.tolerance


def test_a_model_without_a_clause_is_the_model_of_the_others():
    databases, clauses = random_databases(3), random_clauses(3)
    data = SampledData(databases, ScoreParams(fraction=0.8, seed=5))
    whole = GrowingModel(data)
    for clause in clauses:
        whole = whole.with_clause(clause)
    assert whole.clauses == 3
    for place in range(3):
        fresh = GrowingModel(data)
        for clause in clauses[:place] + clauses[place + 1 :]:
            fresh = fresh.with_clause(clause)
        rest = whole.without_clause(place)
        assert rest.clauses == 2
        assert rest.learn_together().value == pytest.approx(fresh.learn_together().value, abs=1e-8)
        assert np.allclose(rest.learn_together().weights, fresh.learn_together().weights, atol=1e-3)
    assert whole.clauses == 3  # a model is a value


def test_a_fraction_of_the_atoms_is_drawn_once_for_a_run():
    databases = random_databases(1)
    one, same, other = (SampledData(databases, ScoreParams(fraction=0.5, seed=s)) for s in (1, 1, 2))
    keys = [np.concatenate([s[name].keys for s in data.samples for name in data.predicates])
            for data in (one, same, other)]  # fmt: skip
    assert (keys[0] == keys[1]).all()
    assert (keys[0] != keys[2]).any()


def test_scoring_of_whole_models_knows_nothing_of_lifting():
    """No graph, no path with its support: a database and a clause are enough."""
    data = SampledData(random_databases(2), ScoreParams())
    assert not hasattr(data, "combinations")
    assert (
        try_clause(GrowingModel(data), GrowingModel(data).learn_together(), ClauseKey(PATHS[3], 1)).gain
        >= -1e-9
    )
