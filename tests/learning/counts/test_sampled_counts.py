"""Expected counts from samples: right on average, with honest errors, from chains that go on."""

from __future__ import annotations

from dataclasses import replace
from math import log

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.errors import ArgumentError
from mlnlab.learning.counts.sampled_counts import Chains, SampledCounts
from mlnlab.learning.objectives.conditional_log_likelihood import EstimatedLogLikelihood

MLN = ml.MLN.from_text(
    """Smokes(person)
    Near(person, person)
    In(person, room!)
    Smokes(x) ^ Near(x, y) => Smokes(y)
    In(x, r) ^ In(y, r) ^ Smokes(x) => Smokes(y)
    In(x, Hall)
    Smokes(x)
    EXIST x Smokes(x).
    """
)
DATABASES = tuple(
    ml.Database.from_text(text, MLN)
    for text in (
        "Smokes(A)\nNear(A, B)\nNear(B, C)\nIn(A, Hall)\nIn(B, Attic)\nIn(C, Hall)",
        "Smokes(D)\nSmokes(E)\nNear(E, D)\nIn(D, Hall)\nIn(E, Attic)",
    )
)
WEIGHTS = np.array([0.8, 0.5, -0.4, 0.3, 0.0])


def objective(
    query: list[str], databases: tuple[ml.Database, ...] = DATABASES, **options: object
) -> EstimatedLogLikelihood:
    found = ml.weight_learner("cd", MLN, databases, query, **options).problem.objective
    assert isinstance(found, EstimatedLogLikelihood)
    return found


@pytest.mark.parametrize("counts", ["mc-sat", "gibbs"])
@pytest.mark.parametrize("query", [["Smokes"], ["Smokes", "In"]])
def test_expected_counts_are_right_on_average_and_errors_honest(counts: str, query: list[str]) -> None:
    exact = ml.weight_learner("ll", MLN, DATABASES, query).problem.objective.moments(WEIGHTS)[0]
    found = objective(query, counts=counts, samples=4000, burn_in=20).moments(WEIGHTS)[0]
    # Successive samples are alike, so that errors are a few times those of independent ones.
    assert (np.abs(found.expected - exact.expected) <= 12 * found.errors + 1e-9).all()
    assert found.expected == pytest.approx(exact.expected, rel=0.05, abs=0.05)
    assert found.observed == pytest.approx(exact.observed)
    assert found.observed[:4].tolist() == [
        sum(ml.count(MLN, db)[number] for db in DATABASES) for number in range(4)
    ]
    scale = np.abs(exact.curvature.matrix()).max()
    assert found.curvature.matrix() == pytest.approx(exact.curvature.matrix(), abs=0.1 * scale)


def test_errors_are_those_of_a_mean() -> None:
    found = objective(["Smokes"], samples=7)
    moments, drawn = found.moments(WEIGHTS)
    assert moments.samples == 7
    squares = sum(rows.var(axis=0, ddof=1) / 7 for rows in drawn.counts)
    np.testing.assert_allclose(moments.errors, np.sqrt(squares))
    assert moments.errors.max() > 0


def test_what_comes_before_the_first_sample_is_left_out() -> None:
    long = objective(["Smokes"], samples=9).moments(WEIGHTS)[1]
    short = objective(["Smokes"], samples=5, burn_in=4).moments(WEIGHTS)[1]
    for one, other in zip(long.counts, short.counts, strict=True):
        np.testing.assert_array_equal(one[4:], other)
    several = objective(["Smokes"], samples=3, chains=4).moments(WEIGHTS)[1]
    assert [len(rows) for rows in several.counts] == [12, 12]


def test_chains_go_on_where_they_were_and_not_in_the_data() -> None:
    """All agree or none does, and Gibbs sampling stays with either (thesis, section 4.2.2)."""
    mln = ml.MLN.from_text("A(t)\nNext(t, t)\nNext(x, y) => (A(x) <=> A(y))\nA(x)")
    ring = "\n".join(f"Next({n}, {(n + 1) % 8})" for n in range(8))
    db = ml.Database.from_text(ring, mln)  # in the data A holds nowhere
    found = ml.weight_learner("cd", mln, db, ["A"], counts="gibbs", samples=3).problem.objective
    stiff = np.array([12.0, 0.0])
    (example,) = found.examples
    everywhere = Chains(np.zeros((1, 8), np.uint32), found.expecting.first(example, 0).random.copy())
    rows, after = found.expecting.draw_counts(example, stiff, everywhere)
    assert rows[:, 1].tolist() == [8.0] * 3
    assert after.chosen.tolist() == [[0] * 8]
    moments, drawn = found.moments(stiff)
    assert moments.expected[1] == 0.0  # from the data at first
    further = found.moments(stiff, replace(drawn, chains=(after,)))[0]
    assert further.expected[1] == 8.0
    assert not np.array_equal(drawn.chains[0].random, found.expecting.first(example, 0).random)


def test_each_database_has_random_numbers_of_its_own() -> None:
    twice = (DATABASES[0], DATABASES[0])
    drawn = objective(["Smokes", "In"], twice, samples=30).moments(WEIGHTS)[1]
    assert not np.array_equal(*drawn.counts)
    again = objective(["Smokes", "In"], twice, samples=30).moments(WEIGHTS)[1]
    np.testing.assert_array_equal(drawn.counts[1], again.counts[1])
    other = objective(["Smokes", "In"], twice, samples=30, seed=4).moments(WEIGHTS)[1]
    assert not np.array_equal(drawn.counts[0], other.counts[0])


def test_a_random_start_is_possible() -> None:
    found = objective(["Smokes"], begin="random", chains=20)
    assert isinstance(found.expecting, SampledCounts)
    for place, example in enumerate(found.examples):
        start = found.expecting.first(example, place)
        assert (start.chosen == 0).any(axis=1).all()  # somebody smokes: option 0 is that an atom is true
        assert len(np.unique(start.chosen, axis=0)) > 1
    with pytest.raises(ArgumentError, match="begin must be one of data, random"):
        objective(["Smokes"], begin="zero")
    with pytest.raises(ArgumentError, match="samples must be a whole number of at least 1, not True"):
        objective(["Smokes"], samples=True)


def test_batches_have_the_errors_of_their_scale() -> None:
    four = (*DATABASES, *DATABASES)
    batch = ml.weight_learner("cd", MLN, four, ["Smokes"], samples=50, batch=2).problem.objective
    moments, memory = batch.moments(WEIGHTS)
    drawn = [one.counts[0] for one in memory.memories if one is not None]
    assert len(drawn) == 2
    assert moments.samples == 50
    squares = sum(rows.var(axis=0, ddof=1) / 50 for rows in drawn)
    np.testing.assert_allclose(moments.errors, 2 * np.sqrt(squares))


def test_blocks_that_no_formula_mentions_lose_what_is_known_to_be_false() -> None:
    mln = ml.MLN.from_text("A(t)\nIn(t, room!)\nOwns(t, pet?)\nA(x)")
    text = "A(1)\nIn(1, Hall)\nIn(2, Attic)\n!In(1, Cellar)\n!Owns(2, Dog)\n!A(3)\nIn(3, Hall)\npet = {Cat}"
    db = ml.Database.from_text(text, mln)
    free = ml.learn_weights(mln, db, "ll", prior=None, fixed=[], bounds=(0, 0))
    assert free.objective == pytest.approx(3 * log(1 / 2) + 3 * log(1 / 3) + 3 * log(1 / 3))
    known = ml.learn_weights(mln, db, "ll", prior=None, bounds=(0, 0), false_facts="evidence")
    expected = 2 * log(1 / 2) + (log(1 / 2) + 2 * log(1 / 3)) + (2 * log(1 / 3) + log(1 / 2))
    assert known.objective == pytest.approx(expected)
    for false_facts, value in (("data", free.objective), ("evidence", known.objective)):
        pseudo = ml.learn_weights(mln, db, "pll", prior=None, bounds=(0, 0), false_facts=false_facts)
        assert pseudo.objective == pytest.approx(value)
