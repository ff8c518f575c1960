"""Learn weights by counts alone: scalable contrastive divergence, voted perceptron, pseudo-likelihood."""

from __future__ import annotations

import dataclasses
from itertools import islice, pairwise

import numpy as np
import pytest
from scipy.special import log_expit

import mlnlab as ml
from mlnlab.errors import ArgumentError, TooLargeError
from mlnlab.learning.counts.counted_chains import CountedSamples
from mlnlab.learning.counts.counted_walks import CountedWalk
from mlnlab.learning.counts.counted_worlds import ClusterWorld, CounterChoice
from mlnlab.learning.counts.open_atoms import FlippedWorld
from mlnlab.learning.objectives.relaxed_log_likelihood import counted_example, relaxed_log_likelihood
from mlnlab.learning.objectives.relaxed_objective import relaxed_objective
from mlnlab.learning.problems.training_data import training_data
from mlnlab.learning.studies.race import race_of
from mlnlab.steps.files.checkpoint import load_checkpoint, save_checkpoint
from mlnlab.steps.runs.interrupted import Interrupted
from mlnlab.steps.values.sameness import same_state

TEXT = """
Smokes(person)
Friends(person, person)
Likes(person, person)
Friends(x, y) ^ Smokes(x) => Smokes(y)
!Friends(x, y) v !Likes(y, z) v Friends(x, z)
Smokes(x)
"""
FACTS = """
Friends(A, B)
Friends(B, C)
Friends(C, A)
Friends(D, A)
Likes(B, C)
Likes(C, D)
Smokes(A)
Smokes(B)
Smokes(D)
"""
BLOCKS = """
p = {A, B}
r = {K, L, M}
In(p, r!)
Near(r, r)
Dusty(r)
In(x, y) ^ Near(y, z) => Dusty(z)
In(x, K)
"""
PERHAPS = BLOCKS.replace("r!", "r?")
HARD = "t = {A, B}\nR(t, t)\nQ(t)\nR(x, y) ^ Q(x) => Q(y)\nR(x, y)\n!R(x, x) v Q(x)."
IN_ROOMS = "In(A, K)\nIn(B, M)\nNear(K, L)\nNear(L, M)\nDusty(L)"
SMALL = "t = {A, B}\nR(t, t)\nS(t, t)\nR(x, y) ^ S(y, z) => R(x, z)\nR(x, x)"


@pytest.fixture(scope="module")
def mln():
    return ml.MLN.from_text(TEXT)


@pytest.fixture(scope="module")
def db(mln):
    return ml.Database.from_text(FACTS, mln)


def data_of(text, facts, query=None, **options):
    mln = ml.MLN.from_text(text)
    return training_data(mln, ml.Database.from_text(facts, mln), query, **options)


SHORT = {
    "cd": {"iterations": 4, "samples": 150}, "vp": {"iterations": 4, "flips": 150}, "pll": {}, "wpll": {},
    "dn": {"iterations": 4, "samples": 150}, "cd-pw": {"iterations": 4, "samples": 150},
}  # fmt: skip


@pytest.mark.parametrize("method", SHORT)
@pytest.mark.parametrize("query", [None, ["Smokes"]])
def test_above_the_treewidth_clusters_learn_the_weights_of_exact_counts(mln, db, method, query):
    exact = ml.learn_weights(mln, db, method, query, counter="planned", seed=3, **SHORT[method])
    clusters = ml.learn_weights(mln, db, method, query, counter="ijgp", i=3, seed=3, **SHORT[method])
    assert clusters.weights == pytest.approx(exact.weights, abs=1e-9)
    assert np.abs(exact.weights).max() > 0.01


@pytest.mark.parametrize("method", SHORT)
def test_nothing_is_ground(mln, db, method, monkeypatch):
    def refuse(*_):
        raise AssertionError("a formula was ground")

    monkeypatch.setattr("mlnlab.learning.problems.ground_example.ground_clauses", refuse)
    found = ml.learn_weights(mln, db, method, counter="ijgp", i=1, prior=ml.Gaussian(0, 1), **SHORT[method])
    assert np.isfinite(found.weights).all()


# --- Algorithm 1 ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "facts", "query", "choice"),
    [
        (SMALL, "R(A, B)\nS(A, B)\nS(B, B)", None, CounterChoice()),
        (SMALL, "R(A, B)\nS(A, B)\nS(B, B)", ["R"], CounterChoice("ijgp", {"i": 1})),
        (SMALL, "R(A, B)\nS(A, B)", None, CounterChoice("ijgp", {"i": 2})),
        (SMALL, "R(A, B)\nS(A, B)", ["S"], CounterChoice("rejection", {"bindings": 60})),
        (BLOCKS, IN_ROOMS, ["In", "Dusty"], CounterChoice()),
        (PERHAPS, IN_ROOMS, ["In"], CounterChoice("ijgp", {"i": 1})),
        (HARD, "R(A, B)\nR(B, A)\nQ(A)", None, CounterChoice("ijgp", {"i": 2})),
    ],
)
def test_long_chains_have_the_expected_counts_of_all_worlds(text, facts, query, choice):
    data = data_of(text, facts, query)
    weights = np.array([0.7, -0.8, 0.0][: len(data.formulas)])
    exact = relaxed_objective(data, choice).moments(weights)[0]
    sampling = CountedSamples(samples=12_000, seed=2)
    found = relaxed_log_likelihood(data, sampling, choice).moments(weights)[0]
    assert found.observed == pytest.approx(exact.observed, abs=1e-6)
    spread = np.sqrt(np.maximum(exact.curvature.diagonal(), 0))
    assert (np.abs(found.expected - exact.expected) <= 0.12 * spread + 0.01).all()
    assert found.curvature.diagonal() == pytest.approx(exact.curvature.diagonal(), rel=0.6, abs=0.05)


def test_both_readings_of_the_update_frequency(mln, db):
    data = training_data(mln, db)
    weights = np.array([0.3, 0.2, -0.4])
    choice = CounterChoice()
    first = CountedSamples(samples=12, frequency=4)
    every = dataclasses.replace(first, reading="every")
    one = relaxed_log_likelihood(data, first, choice)
    moments, drawn = one.moments(weights)
    other = relaxed_log_likelihood(data, every, choice)
    parts, memory = [], None
    for _ in range(3):
        part, memory = other.moments(weights, memory)
        parts.append(part.expected)
    assert parts[0] == pytest.approx(moments.expected)  # the first K of N
    assert same_state(memory.worlds[0], drawn.worlds[0])  # and N drawn by both
    whole = relaxed_log_likelihood(data, CountedSamples(samples=12), choice).moments(weights)[0]
    assert np.mean(parts, axis=0) == pytest.approx(whole.expected)
    assert memory.worlds[0].drawn == 12
    again = other.moments(weights, memory)[1].worlds[0]
    assert again.drawn == 4  # a chain of N began in the data
    goes_on = dataclasses.replace(first, persistent=True)
    assert relaxed_log_likelihood(data, goes_on, choice).moments(weights, drawn)[1].worlds[0].drawn == 24


def test_weights_move_by_the_printed_rule_where_a_rate_is_given(mln, db):
    given = {"counter": "planned", "samples": 40, "seed": 5, "prior": None, "iterations": 3}
    learner = ml.weight_learner("cd", mln, db, rate=0.01, **given)
    states = list(learner)
    assert learner.optimizer.name == "gradient-descent"
    for before, after in pairwise(states):
        moved = before.weights + 0.01 * (before.observed - before.expected)
        assert after.weights == pytest.approx(moved)
    assert ml.weight_learner("cd", mln, db, **given).optimizer.name == "diagonal-newton"
    assert ml.weight_learner("vp", mln, db, counter="auto").optimizer.name == "diagonal-newton"
    assert ml.weight_learner("cd", mln, db).optimizer.name == "gradient-descent"


# --- voted perceptron ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "facts", "query", "choice"),
    [
        (SMALL, "R(A, B)\nS(A, B)", None, CounterChoice()),
        (SMALL, "R(A, B)\nS(A, B)", ["R"], CounterChoice("ijgp", {"i": 2})),
        (PERHAPS, IN_ROOMS, ["In", "Dusty"], CounterChoice()),
        (HARD, "R(A, B)\nR(B, A)\nQ(A)", None, CounterChoice()),
    ],
)
def test_the_search_finds_a_best_of_all_worlds(text, facts, query, choice):
    data = data_of(text, facts, query)
    for weights in ([0.7, -0.8, 0.0], [-1.1, 0.4, 0.0]):
        found = np.array(weights[: len(data.formulas)])
        worlds = relaxed_objective(data, choice).worlds[0].counts
        walk = CountedWalk(flips=400, seed=1)
        best = relaxed_log_likelihood(data, walk, choice).moments(found)[0].expected
        assert best @ found == pytest.approx(float((worlds @ found).max()), abs=1e-6)


def test_no_weights_are_better_for_voted_perceptron_than_zero():
    """Its gradient along any weights is at most 0, however small they are: the best world is as far away."""
    data = data_of(SMALL, "R(A, B)\nS(A, B)", None)
    objective = relaxed_log_likelihood(data, CountedWalk(flips=200, seed=1), CounterChoice())
    slopes = []
    for direction in ([0.7, -0.8], [-0.7, 0.8]):
        near, far = (
            (objective.counts - objective.moments(scale * np.array(direction))[0].expected) @ direction
            for scale in (1e-9, 1.0)
        )
        assert near == pytest.approx(far)
        slopes.append(far)
    assert max(slopes) <= 0
    assert min(slopes) < 0


# --- pseudo-likelihood --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "choice", [("ijgp", {"i": 1}), ("ijgp", {"i": 2}), ("duckdb", {}), ("rejection", {})]
)
def test_the_pseudo_likelihood_is_that_of_single_flips(choice):
    name, options = choice
    mln = ml.MLN.from_text(SMALL)
    db = ml.Database.from_text("R(A, A)\nR(A, B)\nS(A, B)\nS(B, A)", mln)
    learner = ml.weight_learner("pll", mln, db, ["R"], counter=name, **options)
    counted = counted_example(learner.data, learner.data.examples[0], CounterChoice(name, options))
    weights = np.array([0.6, -0.9])
    here = counted.world(()).numbers
    value = sum(
        log_expit(float(weights @ (here - counted.world((atom,)).numbers)))
        for atom in range(counted.atoms.atoms)
    )
    moments, _ = learner.problem.objective.moments(weights)
    assert learner.problem.objective.name.startswith(f"pseudo-log-likelihood (counter {name}")
    assert moments.value == pytest.approx(value, abs=1e-7)


def test_known_false_atoms_and_idle_predicates_in_counted_pseudo_likelihoods():
    mln = ml.MLN.from_text("p = {A, B, C}\nR(p, p)\nIdle(p)\nR(x, y) => R(y, x)\nR(x, y)")
    db = ml.Database.from_text("R(A, B)\nR(B, A)\n!R(A, C)\n!R(C, A)\nIdle(B)", mln)
    one, other = (
        ml.learn_weights(mln, db, "wpll", false_facts="evidence", **options)
        for options in ({}, {"counter": "ijgp", "i": 2})
    )
    assert other.weights == pytest.approx(one.weights, abs=1e-7)
    assert other.objective == pytest.approx(one.objective)


def test_auto_counts_each_formula_the_cheaper_way():
    variables = "abcdefg"
    pairs = [(one, other) for n, one in enumerate(variables) for other in variables[n + 1 :]]
    wide = " v ".join(f"{'!' * (n % 2)}R{n % 3}({one}, {other})" for n, (one, other) in enumerate(pairs))
    names = ", ".join(f"C{n}" for n in range(30))
    mln = ml.MLN.from_text(
        f"t = {{{names}}}\nR0(t, t)\nR1(t, t)\nR2(t, t)\nQ(t)\n{wide}\nQ(x)\nQ(x) => R0(x, y)"
    )
    db = ml.Database.from_text("R0(C1, C2)\nR1(C2, C3)\nQ(C1)", mln)
    learner = ml.weight_learner("cd", mln, db, ["R0"], counter="auto", i=2, samples=5)
    assert learner.problem.objective.name.endswith("(counter auto, i=2: 1 of 3 counts by ijgp)")
    assert learner.problem.objective.examples[0].estimated.tolist() == [0]
    assert len(list(islice(learner, 2))) == 2
    narrow = ml.weight_learner("cd", mln.without(0), db, ["R0"], counter="auto")
    assert "0 of 2 counts by ijgp" in narrow.problem.objective.name


# --- as learners ----------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["cd", "vp"])
def test_a_run_goes_on_from_a_checkpoint_bit_for_bit(mln, db, method, tmp_path):
    options = {"counter": "ijgp", "i": 2, **SHORT[method]}
    if method == "cd":
        options |= {"samples": 40, "persistent": True}
    whole = list(ml.weight_learner(method, mln, db, **options))
    save_checkpoint(tmp_path / "state.npz", whole[2])
    start = load_checkpoint(tmp_path / "state.npz").state
    rest = list(ml.weight_learner(method, mln, db, **options).resume(start))
    assert len(rest) == len(whole) - 3
    for left, right in zip(rest, whole[3:], strict=True):
        for name in ("weights", "expected", "observed", "memory"):
            assert same_state(getattr(left, name), getattr(right, name)), name


def test_an_interrupt_keeps_what_was_learned(mln, db):
    class StopsAt3:
        def on_step(self, step):
            if step.state.iteration == 3:
                raise KeyboardInterrupt

        def on_end(self, last):
            pass

    with pytest.raises(Interrupted):
        ml.learn_weights(mln, db, "cd", counter="ijgp", i=2, samples=20, observers=[StopsAt3()])
    assert ml.so_far().state.iteration == 3


def test_an_interrupt_before_the_first_step_says_that_nothing_is_known(mln, db, monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(ClusterWorld, "difference", stop)
    for method in ("pll", "cd"):
        with pytest.raises(Interrupted, match=f"Learning by {method} was stopped; it has no result"):
            ml.learn_weights(mln, db, method, counter="ijgp", i=1)
        with pytest.raises(ArgumentError, match="no result before its first step"):
            ml.so_far()  # not what some run before it had learned
    monkeypatch.setattr(ClusterWorld, "numbers", property(stop))
    with pytest.raises(Interrupted, match=r"ml\.counting_error was stopped"):
        ml.counting_error(mln, db, counter="ijgp", i=1)


def test_counted_learners_race_and_are_judged_on_databases_held_out(mln, db):
    other = ml.Database.from_text("Friends(E, F)\nSmokes(E)", mln)
    held_out = ml.HeldOut(other, every=2, samples=50)
    found = ml.learn_weights(
        mln, db, "cd", ["Smokes"], counter="ijgp", i=2, samples=30, iterations=4, observers=[held_out]
    )
    assert found.problem.objective.effective_samples == 7  # sweeps over four atoms
    assert not found.diagnostics or "samples=120" in found.diagnostics[-1]
    assert np.isfinite(held_out.to_frame().cll).all()
    assert found.to_frame().gap.notna().all()
    racing = race_of(
        {
            name: ml.weight_learner("cd", mln, db, ["Smokes"], counter=name, samples=30, iterations=4)
            for name in ("ijgp", "planned")
        }
    )
    assert len(list(islice(racing, 4))) == 4


def test_standard_errors_come_from_chains_that_are_long_enough():
    mln = ml.MLN.from_text(SMALL)
    db = ml.Database.from_text("R(A, B)\nS(A, B)\nS(B, B)", mln)
    exact, found = (
        ml.learn_weights(mln, db, method, ["R"], start=[0.4, -0.3], prior=ml.Gaussian(0, 1), **options)
        for method, options in (("ll", {}), ("cd", {"counter": "planned", "samples": 400}))
    )
    assert found.weights == pytest.approx(exact.weights, abs=0.35)
    expected, errors = exact.standard_errors(), found.standard_errors(samples=1500)
    assert np.array(errors) == pytest.approx(np.array(expected), rel=0.12)
    with pytest.raises(TooLargeError, match="bootstrap=100"):
        found.standard_errors(samples=10**7)


def test_hours_of_work_are_refused_before_they_begin(mln, db):
    with pytest.raises(TooLargeError, match="samples=1000"):
        ml.weight_learner("cd", mln, db, counter="ijgp", i=2, samples=10**10)
    with pytest.raises(TooLargeError, match="flips=1000"):
        ml.learn_weights(mln, db, "vp", counter="planned", flips=10**8, iterations=50)
    learner = ml.weight_learner("cd", mln, db, counter="planned", samples=400)
    assert 0 < learner.costs.problem.objective.evaluation_seconds < 60


def test_hours_of_counting_single_atoms_are_refused_before_they_begin(mln):
    names = [f"P{n}" for n in range(40)]
    db = ml.Database.from_text("\n".join(f"Friends({a}, {b})" for a, b in pairwise(names)), mln)
    with pytest.raises(TooLargeError, match=r"(?s)3,240 atoms, one by one.*planned.*most_hours=1") as refusal:
        ml.weight_learner("pll", mln, db, counter="ijgp", i=2, most_hours=1e-9)
    assert refusal.value.estimate > 0
    learner = ml.weight_learner("pll", mln, db, ["Smokes"], counter="ijgp", i=2, most_hours=1e-9)
    assert learner.problem.objective.rows[0][0].atoms == 40  # few are counted without an estimate


def test_rates_of_counted_learners_are_tuned(mln, db):
    other = ml.Database.from_text("Friends(A, C)\nLikes(C, A)\nSmokes(C)", mln)
    found = ml.learn_weights(
        mln, db, "cd", ["Smokes"], counter="ijgp", i=1, rate="tuned", rates=[0.01, 0.1], validation=[other],
        samples=10, iterations=2,
    )  # fmt: skip
    assert [trial.rate for trial in found.tuned.trials] == [0.01, 0.1]
    assert "was best of 2" in found.diagnostics[0]


def test_several_databases_and_batches(mln, db):
    other = ml.Database.from_text("Friends(A, C)\nLikes(C, A)\nSmokes(C)", mln)
    short = {"iterations": 3, "samples": 60, "seed": 2}
    for options in ({}, {"batch": 1, "rate": 0.01}):
        one, two = (
            ml.learn_weights(mln, [db, other], "cd", counter=name, **more, **short, **options)
            for name, more in (("planned", {}), ("ijgp", {"i": 3}))
        )
        assert two.weights == pytest.approx(one.weights, abs=1e-9)


# --- states and arguments from outside ----------------------------------------------------------------


def forged(state, world):
    return dataclasses.replace(state, memory=dataclasses.replace(state.memory, worlds=(world,)))


@pytest.mark.parametrize(
    ("flipped", "said"),
    [
        ([3, 3], "not ascending"),
        ([99], "flipped"),
        ([-1], "flipped"),
        ([1, 2], "a block of In"),
        ([0], "a block"),
    ],
)
def test_worlds_that_cannot_be_are_refused(flipped, said):
    mln = ml.MLN.from_text(BLOCKS)
    learner = ml.weight_learner(
        "cd", mln, ml.Database.from_text(IN_ROOMS, mln), ["In"], counter="planned", samples=5
    )
    state = next(iter(learner))
    world = dataclasses.replace(state.memory.worlds[0], flipped=np.array(flipped, np.int64))
    with pytest.raises(ArgumentError, match=said):
        learner.resume(forged(state, world))
    with pytest.raises(ArgumentError, match="there are no worlds"):
        learner.resume(dataclasses.replace(state, memory=None))
    moved = dataclasses.replace(state.memory.worlds[0], flipped=np.array([0, 1], np.int64))
    assert isinstance(moved, FlippedWorld)
    assert len(list(islice(learner.resume(forged(state, moved)), 1))) == 1


def test_atoms_that_are_known_to_be_false_are_never_flipped():
    mln = ml.MLN.from_text("p = {A, B}\nR(p, p)\nR(x, y) => R(y, x)\n!R(x, y)")
    db = ml.Database.from_text("R(A, B)\n!R(A, A)\n!R(B, A)", mln)
    options = {"counter": "planned", "samples": 200, "false_facts": "evidence"}
    learner = ml.weight_learner("cd", mln, db, **options)
    state = next(iter(learner))
    assert set(state.memory.worlds[0].flipped.tolist()) <= {1, 3}
    for flipped, known in (([1, 3], True), ([0], False), ([1, 2], False)):
        world = dataclasses.replace(state.memory.worlds[0], flipped=np.array(flipped, np.int64))
        if known:
            assert next(learner.resume(forged(state, world))).iteration == 1
        else:
            with pytest.raises(ArgumentError, match="an atom of R is flipped that is known to be false"):
                learner.resume(forged(state, world))


@pytest.mark.parametrize(
    ("method", "options", "sentence"),
    [
        ("cd", {"counter": "igjp"}, "auto, planned, duckdb, ijgp, rejection, not 'igjp'; did you mean ijgp"),
        ("cd", {"counter": "nobody's"}, r"""rejection, not "nobody's"\.$"""),
        ("cd", {"counter": 3}, "counter= must be one of"),
        ("cd", {"counter": ""}, "counter= must be one of"),
        ("cd", {"counter": "ijgp", "i": 0}, "i must be a whole number of at least 1"),
        ("cd", {"counter": "planned", "i": 2}, "has no option i"),
        ("pll", {"counter": "ijgp", "i": 2.5}, "i must be a whole number"),
        (
            "cd",
            {"counter": "ijgp", "ii": 2},
            r"did you mean i\? The counter has: i, sweeps, turns; diagonal-newton has: iterations, damping",
        ),
        ("pll", {"counter": "auto", "sweps": 2}, 'Neither counter="auto" nor newton .* did you mean sweeps'),
        ("vp", {"counter": "rejection", "binding": 2}, "The counter has: bindings; diagonal-newton has"),
        ("pll", {"counter": "ijgp", "frequency": 2}, "frequency: it belongs to Algorithm 1"),
        ("cd", {"counter": "planned", "counts": "mc-sat"}, 'take counts="gibbs"'),
        (
            "cd",
            {"counter": "planned", "samples": 5, "frequency": 6},
            "frequency must be a whole number from 1 to 5",
        ),
        ("cd", {"counter": "planned", "reading": "last"}, "reading must be one of first, every"),
        ("cd", {"counter": "planned", "persistent": 1}, "persistent must be True or False"),
        ("vp", {"counter": "planned", "noise": 2}, "noise must be a number from 0 to 1"),
    ],
)
def test_wrong_options_get_a_sentence(mln, db, method, options, sentence):
    with pytest.raises(ArgumentError, match=sentence):
        ml.learn_weights(mln, db, method, **options)


@pytest.mark.parametrize("method", ["cd", "pll", "ll"])
def test_a_formula_that_counts_with_signs_is_learned_by_a_sum_of_estimates(method):
    text = "t = {A, B}\nR(t, t)\nQ(t)\nS(t)\n(Q(x) ^ R(x, y)) v (S(x) ^ R(y, x))"
    mln = ml.MLN.from_text(text)
    db = ml.Database.from_text("R(A, B)\nQ(B)", mln)
    short = {"samples": 5, "iterations": 2} if method == "cd" else {}
    found, exact = (
        ml.learn_weights(mln, db, method, ["Q"], counter=counter, prior=ml.Gaussian(0, 1), **own, **short)
        for counter, own in (("ijgp", {"i": 2}), ("planned", {}))
    )
    assert found.weights == pytest.approx(exact.weights)


def test_empty_types_and_formulas_without_open_atoms():
    mln = ml.MLN.from_text("R(t, t)\nQ(u)\nR(x, y) => R(y, x)\nQ(z)")
    db = ml.Database.from_text("R(A, B)", mln)
    for method in ("cd", "vp", "pll"):
        found = ml.learn_weights(
            mln, db, method, counter="ijgp", i=1, prior=ml.Gaussian(0, 1), **SHORT[method]
        )
        assert found.weights[1] == 0


def test_lifted_learning_takes_estimates_of_the_data(mln, db):
    exact, found, rough = (
        ml.learn_weights(mln.without(1), db, "lwl", **options).observed
        for options in ({}, {"counter": "ijgp", "i": 2}, {"counter": "rejection", "bindings": 50})
    )
    assert found == pytest.approx(exact)
    assert not np.allclose(rough, exact)
