"""The exact log-likelihood: against the oracle, its slopes, both ways of summing, and moment matching."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import mlnlab as ml
from mlnlab.errors import TooLargeError, UnsatisfiableError
from mlnlab.learning.counts.exact_counts import ByJunctionTree, exact_counts
from mlnlab.logic.formulas.weights import Soft, WeightedFormula
from mlnlab.model.database.world import World
from tests.support import oracles, strategies
from tests.support.thoroughness import examples


@st.composite
def questions(draw: st.DrawFn) -> tuple[ml.MLN, ml.Database, list[str] | None]:
    """A model, a possible world of it as a database, and what is to be predicted."""
    vocabulary = draw(strategies.vocabularies())
    atoms = oracles.all_atoms(vocabulary)
    assume(0 < len(atoms) <= 8)
    formulas = draw(st.lists(strategies.formulas(vocabulary, depth=2), min_size=1, max_size=3))
    mln = ml.MLN(vocabulary, tuple(WeightedFormula(f, Soft(0.0)) for f in formulas))
    worlds = list(oracles.all_worlds(vocabulary))
    world = draw(st.sampled_from(worlds))
    db = ml.Database(vocabulary).with_atoms({str(atom): True for atom in world.true_atoms})
    inhabited = sorted({atom.predicate for atom in atoms})
    query = draw(st.one_of(st.none(), st.lists(st.sampled_from(inhabited), min_size=1, unique=True)))
    return mln, db, query


def by_definition(mln: ml.MLN, db: ml.Database, query: list[str] | None, weights: np.ndarray) -> float:
    """Return log P(query | the rest), by a sum over the worlds that agree with the rest."""
    world = World(mln.vocabulary, frozenset(db.atoms()))
    hidden = set(query or mln.vocabulary.predicates)

    def rest(one: World) -> set[object]:
        return {atom for atom in one.true_atoms if atom[0] not in hidden}

    def score(one: World) -> float:
        return float(weights @ oracles.counts(mln, one))

    scores = [score(one) for one in oracles.all_worlds(mln.vocabulary) if rest(one) == rest(world)]
    return score(world) - float(np.logaddexp.reduce(scores))


@settings(max_examples=examples(60))
@given(questions(), st.lists(st.floats(-2, 2), min_size=3, max_size=3))
def test_value_gradient_and_curvature(
    question: tuple[ml.MLN, ml.Database, list[str] | None], numbers: list[float]
) -> None:
    mln, db, query = question
    objective = ml.weight_learner("ll", mln, db, query, prior=None).problem.objective
    w = np.array(numbers[: len(mln.formulas)])
    moments, _ = objective.moments(w)
    assert moments.value == pytest.approx(by_definition(mln, db, query, w), abs=1e-9)
    for place in range(len(w)):
        step = 1e-5 * np.eye(len(w))[place]
        up, down = objective.moments(w + step)[0], objective.moments(w - step)[0]
        assert moments.gradient[place] == pytest.approx((up.value - down.value) / 2e-5, abs=1e-5)
        slope = (up.gradient - down.gradient) / 2e-5
        assert moments.curvature.matrix()[place] == pytest.approx(-slope, abs=1e-4)


@settings(max_examples=examples(40))
@given(questions(), st.lists(st.floats(-2, 2), min_size=3, max_size=3))
def test_a_junction_tree_says_the_same_as_the_sum_over_all_worlds(
    question: tuple[ml.MLN, ml.Database, list[str] | None], numbers: list[float]
) -> None:
    mln, db, query = question
    objective = ml.weight_learner("ll", mln, db, query, prior=None).problem.objective
    w = np.array(numbers[: len(mln.formulas)])
    for example, tables in zip(objective.examples, objective.exact, strict=True):
        tree, listed = ByJunctionTree(example).at(w), tables.at(w)
        assert tree.log_z == pytest.approx(listed.log_z, abs=1e-9)
        assert tree.expected == pytest.approx(listed.expected, abs=1e-9)
        assert tree.curvature.matrix() == pytest.approx(listed.curvature.matrix(), abs=1e-9)
        assert tree.curvature.times(w) == pytest.approx(listed.curvature.times(w), abs=1e-9)


SMOKERS = ml.MLN.from_text(
    """Smokes(person)
    Cancer(person)
    Friends(person, person)
    Smokes(x) => Cancer(x)
    Smokes(x) ^ Friends(x, y) => Smokes(y)
    Friends(x, y)
    """
)
TWO = [
    ml.Database.from_text(
        "Smokes(A)\nSmokes(B)\nCancer(A)\nCancer(C)\nFriends(A, B)\nFriends(C, A)", SMOKERS
    ),
    ml.Database.from_text("Smokes(D)\nCancer(E)\nFriends(D, E)\nFriends(E, D)\nFriends(E, E)", SMOKERS),
]


@pytest.mark.parametrize("optimizer", ["newton", "l-bfgs", "scaled-conjugate-gradient", "diagonal-newton"])
@pytest.mark.parametrize("prior", [None, ml.Gaussian(0.5, 1.0)])
def test_moments_match_at_the_optimum(optimizer: str, prior: ml.Gaussian | None) -> None:
    """Lecture notes, eq. 36; with a prior, the pull of it is what is missing (eq. 47)."""
    found = ml.learn_weights(SMOKERS, TWO, "ll", optimizer=optimizer, prior=prior, iterations=500)
    pull = 0.0 if prior is None else (found.weights - prior.mean) / prior.deviation**2
    assert found.observed - found.expected == pytest.approx(np.zeros(3) + pull, abs=5e-4)
    assert found.observed.tolist() == [sum(ml.count(SMOKERS, db)[i] for db in TWO) for i in range(3)]


def test_a_laplace_prior_gives_exact_zeros() -> None:
    found = ml.learn_weights(SMOKERS, TWO, "ll", prior=ml.Laplace(0, 1.5))
    assert (found.weights == 0).any()
    assert (found.weights != 0).any()
    assert np.abs(found.gap).max() < 1e-5


def test_the_rivals_discriminative_optimum(reference_folder: Path) -> None:
    """What a rival's 100 iterations with 5 samples each come near to, exactly."""
    folder = reference_folder / "alchemy-inputs"
    mln = ml.MLN.load(folder / "uwcse.mln", semantics="alchemy")
    db = ml.load_db(folder / "uwcse_fold1.db", mln)
    found = ml.learn_weights(mln, db, "ll", ["advisedBy"], prior=ml.Gaussian(0, 2), units=True)
    recorded = [1.988, 3.529, 0.300, 0, 2.272, 0, 0.611, 0.559, 1.363, 0, -3.363]
    assert found.weights == pytest.approx(recorded, abs=0.06)
    assert np.abs(found.gap).max() < 1e-3


def test_too_large_sums_are_refused_by_an_estimate() -> None:
    mln = ml.MLN.from_text("Friends(person, person)\nFriends(x, y) ^ Friends(y, z) => Friends(x, z)")
    facts = "\n".join(f"Friends(P{i}, P{i + 1})" for i in range(12))
    with pytest.raises(TooLargeError, match="junction tree is too large as well"):
        ml.learn_weights(mln, ml.Database.from_text(facts, mln), "ll")


def test_data_that_break_a_hard_formula_are_refused_by_the_fact() -> None:
    mln = ml.MLN.from_text("Smokes(person)\nCancer(person)\nSmokes(x) => Cancer(x).\nSmokes(x)")
    db = ml.Database.from_text("Smokes(Anna)", mln)
    with pytest.raises(UnsatisfiableError, match=r"Smokes\(Anna\) => Cancer\(Anna\)"):
        ml.learn_weights(mln, db, "ll")


def test_parts_that_are_alike_are_one_table() -> None:
    mln = ml.MLN.from_text("Smokes(person)\nCancer(person)\nSmokes(x) => Cancer(x)\nSmokes(x)")
    db = ml.Database.from_text("\n".join(f"Smokes(P{i})" for i in range(500)), mln)
    (example,) = ml.weight_learner("ll", mln, db).problem.objective.examples
    exact = exact_counts(example)
    assert len(exact._tables) == 1
    assert exact._tables[0].parts == 500


def test_curvature_in_a_tree_is_the_slope_of_the_expected_counts() -> None:
    """Where worlds are too many to be listed: along a direction, by differences, and refused as a whole."""
    web = ml.sample("web_pages")
    learner = ml.weight_learner("ll", web.mln, web.databases["delholm"], ["Class"])
    (exact,) = learner.problem.objective.exact
    assert isinstance(exact, ByJunctionTree)
    rng = np.random.default_rng(3)
    w, d = rng.normal(0, 0.5, exact.tree.formulas), rng.normal(size=exact.tree.formulas)
    found = exact.at(w)
    up, down = (exact.at(w + sign * 1e-5 * d) for sign in (1, -1))
    assert found.curvature.times(d) == pytest.approx((up.expected - down.expected) / 2e-5, abs=1e-5)
    assert d @ found.expected == pytest.approx((up.log_z - down.log_z) / 2e-5, rel=1e-7)
    assert found.curvature.quadratic(d) == pytest.approx(d @ found.curvature.matrix() @ d)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("mlnlab.learning.counts.count_trees.MOST_MULTIPLIED", 1000)
        again = exact.at(w)
        assert again.curvature.times(d) == pytest.approx(found.curvature.times(d))
        with pytest.raises(TooLargeError, match=r"variances of 88 counts .* need about"):
            again.curvature.diagonal()


def test_trees_of_some_million_cells_are_learned_in_without_the_whole_curvature() -> None:
    web = ml.sample("web_pages")
    dbs = [web.databases[name] for name in ("corvane", "delholm")]
    learner = ml.weight_learner("ll", web.mln, dbs, ["Class"], prior=ml.Gaussian(0, 1))
    assert learner.optimizer.name == "l-bfgs"
    *_, last = learner
    assert last.observed - last.expected == pytest.approx(last.weights, abs=1e-3)


def test_the_cost_of_a_tree_is_estimated_before_it_is_paid(monkeypatch: pytest.MonkeyPatch) -> None:
    web = ml.sample("web_pages")
    db = web.databases["aldermoor"]
    monkeypatch.setattr("mlnlab.steps.budget.MOST_LIKELIHOOD_CELLS", 1 << 21)
    with pytest.raises(
        TooLargeError, match=r"3,221,760 cells at every step .* seconds, some hundred times"
    ) as caught:
        ml.weight_learner("ll", web.mln, db, ["Class"])
    assert 'use the pseudo-likelihood: method="pll"' in caught.value.remedies
    monkeypatch.setattr("mlnlab.learning.counts.exact_counts.MOST_CLAUSES", 100)
    with pytest.raises(TooLargeError, match="ground clauses"):
        ml.weight_learner("ll", web.mln, db, ["Class"])
