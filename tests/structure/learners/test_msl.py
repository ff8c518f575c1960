"""MSL equals exhaustive search, finds planted rules and equalities, and refines theories."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from itertools import islice, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mlnlab as ml
from mlnlab.experiments.studies.planted_rules import judge_model, make_planted_database
from mlnlab.logic.formulas.printing import to_text
from mlnlab.steps.files.checkpoint import load_checkpoint, save_checkpoint
from mlnlab.steps.values.sameness import differing_parts, same_state
from mlnlab.structure.beam.candidate_gains import CandidateGains
from mlnlab.structure.beam.clause_changes import ClauseChanges
from mlnlab.structure.beam.edited_clauses import DROPPED, START
from mlnlab.structure.clauses.clause_making import ClauseKey, clause_key
from mlnlab.structure.clauses.clause_scores import SampledData, ScoreParams
from mlnlab.structure.clauses.clauses_together import CLOSE, LOOSE, TIGHT
from mlnlab.structure.clauses.whole_model import GrowingModel, try_clause
from mlnlab.structure.learners.msl import DECIDING, Decided, Msl
from mlnlab.structure.paths.variabilized import PathAtom, VariabilizedPath
from tests.structure.beam.clause_oracle import as_key, every_clause
from tests.structure.small_databases import random_databases
from tests.support.thoroughness import examples

SELF, SELF_NEAR = (ClauseKey(VariabilizedPath((PathAtom(name, (0, 0)),)), 1) for name in ("Friends", "Near"))


def texts(learned):
    """Return the clauses of a model but for unit clauses."""
    return [to_text(one.formula) for one in learned.clauses if one.candidate is not None]


def houses(people=6, worse=""):
    """Return a database in which each person lives in one house, and neighbours are those of one house."""
    lives = [f"Lives(P{n}, H{n % 3})" for n in range(people)]
    near = [f"Near(P{n}, P{m})" for n in range(people) for m in range(people) if n % 3 == m % 3 and n != m]
    mln = ml.MLN.from_text("Lives(person, house)\nNear(person, person)")
    return ml.Database.from_text("\n".join([*lives, *near, worse]), mln)


# --- the search -----------------------------------------------------------------------------------


def best_of_all(databases, literals, variables, price, fraction):
    """Return the greatest net gain of a clause beside the unit clauses, going through all of them."""
    data = SampledData(databases, ScoreParams(fraction=fraction))
    model = GrowingModel(data).with_clause(SELF)
    best = model.learn_together(None, TIGHT)
    predicates = {"Smokes": ("person",), "Friends": ("person", "person")}
    keys = {as_key(clause) for clause in every_clause(predicates, literals, variables)}
    return keys, {key: try_clause(model, best, key, TIGHT).gain - price * len(key.path.atoms) for key in keys}


@given(st.integers(0, 10**6), st.sampled_from([(3, 2), (2, 3)]), st.sampled_from([1.0, 0.8]))
@settings(max_examples=examples(8), deadline=None)
def test_an_unlimited_beam_equals_exhaustive_search(seed, limits, fraction):
    databases = random_databases(seed, number=1)
    keys, nets = best_of_all(databases, *limits, 1e-3, fraction)
    states = ml.structure_learner(
        "msl", databases, longest=limits[0], variables=limits[1], beam=None, decided=None, patience=None,
        keep=True, least_weight=0.0, price=1e-3, fraction=fraction, forbidden=["Likes"],
    )  # fmt: skip
    last = next(state for state in states if state.joined >= 0 or state.ended)
    tried = {one.clause: one for one in last.tree()}
    assert set(tried) == keys
    assert all(one.edits == len(one.clause.path.atoms) for one in tried.values())
    assert {last.find(one.number).clause for one in last.decided} == keys
    best = max(nets.values())
    if best <= 0:
        assert last.ended
        return
    joined = last.find(last.joined)
    assert nets[joined.clause] == pytest.approx(best, abs=1e-9)
    for one in last.decided:
        assert one.net == pytest.approx(nets[last.find(one.number).clause], abs=1e-9)


@given(st.integers(0, 10**6))
@settings(max_examples=examples(10), deadline=None)
def test_gains_are_those_of_the_whole_model(seed):
    """Loose ones too: a clause that the first Newton step does without is one that gains nothing there."""
    rng, databases = np.random.default_rng(seed), random_databases(seed % 1000)
    data = SampledData(databases, ScoreParams(fraction=0.8, seed=seed))
    keys = sorted(map(as_key, every_clause({"Smokes": ("person",), "Friends": ("person", "person")}, 3, 2)))
    chosen = [keys[place] for place in rng.permutation(len(keys))[:24]]
    gains = CandidateGains(data, ClauseChanges(data), [SELF, *chosen[:2]])
    for optimum in (LOOSE, TIGHT, CLOSE):
        found, weights = gains.gains_of(chosen, -1, optimum)
        for key, gain, weight in zip(chosen, found, weights, strict=True):
            tried = try_clause(gains.model, gains.best, key, optimum)
            assert gain == pytest.approx(tried.gain, abs=1e-9)
            assert weight == pytest.approx(tried.weight, rel=1e-4, abs=1e-4)
    replaced, _ = gains.gains_of(chosen[2:6], 1, CLOSE)
    for key, gain in zip(chosen[2:6], replaced, strict=True):
        model = GrowingModel(data).with_clause(SELF).with_clause(chosen[1]).with_clause(key)
        assert gains.best.value + gain == pytest.approx(model.learn_together().value, abs=1e-6)


def test_levels_follow_from_those_before():
    """Each clause is one edit from its parent, which was in the beam, and no clause is tried twice."""
    learner = ml.structure_learner("msl", random_databases(3), longest=4, variables=3, beam=3, price=1e-3)
    ends = [state for state in learner if state.joined >= 0 or state.ended]
    assert len(ends) > 1
    for state in ends:
        tried = list(state.tree())
        keys = [one.clause for one in tried]
        assert len(set(keys)) == len(keys)
        assert [one.number for one in tried] == list(range(len(tried)))
        for one in tried:
            if one.parent >= 0:
                parent = state.find(one.parent)
                assert one.edits == parent.edits + 1
                assert one.clause in {edit.clause for edit in learner.params.space(
                    learner.databases[0].vocabulary).around(parent.clause)}  # fmt: skip
                assert parent.net > 0
            else:
                assert one.change == "pair"
            assert one.net == pytest.approx(one.gain - 1e-3 * one.edits)
            assert one.reason
        by_parent = {one.parent for one in tried} - {-1}
        assert all(sum(state.find(n).edits == edits for n in by_parent) <= 3 for edits in range(2, 9))
        best = sorted((-one.net, one.number) for one in tried if one.net > 0 and abs(one.weight) >= 0.01)
        assert list(state.best) == [number for _, number in best[:10]]


def test_it_ends_after_two_levels_without_a_better_clause():
    states = list(ml.structure_learner("msl", [make_planted_database(0, 0.1)], longest=5, variables=4))
    for state in states:
        if state.joined >= 0:
            leaders = [max((one.net for one in state.tree() if one.edits == edits), default=-1.0)
                       for edits in range(2, state.level + 2)]  # fmt: skip
            best = leaders.index(max(leaders)) + 1  # the level that has it
            assert state.level - best <= 2
            assert state.stale <= 2


def test_price_least_weight_and_dangling_variables_decide_what_joins():
    databases = [make_planted_database(1, 0.05)]
    dear = list(ml.structure_learner("msl", databases, longest=2, price=10.0))[-1]
    assert [(one.path, one.positive) for one in dear.model] == [SELF]
    heavy = list(ml.structure_learner("msl", databases, longest=2, least_weight=1e6))[-1]
    assert len(heavy.model) == 1
    assert "too close to 0" in next(heavy.tree()).reason
    tied = ml.learn_structure(databases, "msl", longest=3, variables=3, dangling=False, progress=False)
    assert not any(one.candidate.dangling for one in tied.clauses[5:])
    needed = ml.learn_structure(databases, "msl", longest=3, variables=3, required=["Owns"], progress=False)
    assert all("Owns" in text for text in texts(needed)[1:])
    assert len(texts(needed)) > 1


@pytest.mark.parametrize("noise", [0.0, 0.05])
@pytest.mark.parametrize("seed", range(2))
def test_planted_rules_are_found(seed, noise):
    """That friends are so mutually, and own what the other likes; moods have many ways to be said."""
    learned = ml.learn_structure(
        make_planted_database(seed, noise),
        "msl",
        longest=3,
        variables=3,
        beam=20,
        dangling=False,
        progress=False,
    )
    assert judge_model(learned.mln).recall >= 2 / 3
    assert "!Friends(p2, p1) v Friends(p1, p2)" in texts(learned)


def test_an_exclusive_or_is_out_of_reach():
    """Its parts say nothing by themselves: no pair improves the model, so that nothing is edited further."""
    mln = ml.MLN.from_text("A(thing)\nB(thing)\nC(thing)")
    cases = [(a, b) for a in (0, 1) for b in (0, 1)] * 10
    facts = [f"{name}(T{n})" for n, (a, b) in enumerate(cases)
             for name, holds in (("A", a), ("B", b), ("C", a ^ b)) if holds]  # fmt: skip
    listed = f"thing = {{{', '.join(f'T{n}' for n in range(40))}}}\n"
    database = ml.Database.from_text(listed + "\n".join(facts), mln)
    options = {"fraction": 1.0, "longest": 3, "variables": 1, "progress": False}
    assert not texts(ml.learn_structure(database, "msl", **options))
    stubborn = ml.learn_structure(database, "msl", keep=True, beam=None, patience=None, **options)
    assert len(texts(stubborn)) > 0


# --- equality, and unit clauses --------------------------------------------------------------------


def test_equality_goes_through_everything(tmp_path):
    """A model that says x = y is learned, read again, asked for, edited by hand, and goes through a file."""
    learner = ml.structure_learner(
        "msl", houses(), longest=3, variables=3, price=0.001, fraction=1.0, required=["="]
    )
    states = list(learner)
    learned = learner.learned(ml.Trace.of(learner))
    unique = "!Lives(p, h1) v !Lives(p, h2) v h1 = h2"
    assert any("=" in text for text in texts(learned))
    again = ml.MLN.from_text(learned.mln.to_text())
    assert again.formulas == learned.mln.formulas
    assert ml.pseudo_log_likelihood(again, houses(), weighted=True) == pytest.approx(learned.wpll)
    place = learned.place_of(unique)
    assert to_text(learned.candidates[place].clause) == "!Lives(p, h1) v !Lives(p, h2) v h1 = h2"
    assert learned.place_of("Lives(p, h1) ^ Lives(p, h2) => h2 = h1") == place
    table = ml.clause_table(learned)
    assert len(table.search("=")) > 0
    assert len(table.where(predicate="Near").search("p1 = p2")) > 0
    if unique not in texts(learned):
        assert unique in texts(learned.with_clauses(place))
    paused = ml.Trace.of(learner, stop=learner.breaks.judged(unique))[-1].state
    assert any(one.clause.path == learned.candidates[place].path for one in paused.newest.list_clauses())
    save_checkpoint(tmp_path / "state.npz", paused)
    rest = list(learner.resume(load_checkpoint(tmp_path / "state.npz").state))
    assert same_state(rest[-1], states[-1]), differing_parts(rest[-1], states[-1])


def test_unit_clauses_of_identified_variables_are_in_the_model():
    learned = ml.learn_structure(houses(), "msl", longest=2, progress=False)
    assert texts(learned)[0] == "Near(p, p)"
    assert [to_text(one.formula) for one in learned.clauses[:2]] == ["Lives(p, h)", "Near(p1, p2)"]
    assert learned.clauses[2].candidate.reason == "all unit clauses are in the model at first"


# --- a theory ---------------------------------------------------------------------------------------


def theory(*formulas):
    return ml.MLN.from_text("\n".join(["Lives(person, house)", "Near(person, person)", *formulas]))


@pytest.mark.parametrize("seed", [3, 6, 10])
def test_the_score_rises_with_each_clause_though_the_prior_is_against_it(seed):
    """Under a narrow prior all weights together may lose what the clause seemed to gain."""
    learner = ml.structure_learner(
        "msl",
        random_databases(seed),
        price=0,
        least_weight=0,
        fraction=1.0,
        longest=2,
        variables=3,
        deviation=1,
    )
    states = list(learner)
    scores = [states[0].score, *(state.score for state in states if state.joined >= 0)]
    assert len(scores) > 2
    assert all(one < other for one, other in pairwise(scores))


def test_a_theory_is_mended():
    """A rule that lacks a premise gets it, by one edit and not three, and its better takes its place."""
    lacking = theory("1.0 Near(x, y) => Lives(x, h)")
    options = {"longest": 3, "variables": 3, "fraction": 1.0, "price": 0.02, "beam": 20}
    learner = ml.structure_learner("msl", houses(), theory=lacking, **options)
    states = list(learner)
    assert [to_text(one.clause) for one in learner.candidates(states[0])] == [
        "Near(p, p)", "!Near(p1, p2) v Lives(p1, h)"
    ]  # fmt: skip
    assert states[0].given == (1,)
    joined = next(state for state in states if state.joined >= 0)
    one = joined.find(joined.joined)
    assert (one.replaced, one.edits, one.change) == (1, 1, "added")
    assert joined.given == (1,)  # what came of it may be edited again
    model = texts(learner.learned(ml.Trace.of(states[-1:])))
    assert "!Near(p1, p2) v Lives(p1, h)" not in model
    assert {
        "!Lives(p2, h) v !Near(p1, p2) v Lives(p1, h)",
        "!Lives(p1, h) v !Near(p1, p2) v Lives(p2, h)",
    } & set(model)
    scores = [state.score for state in states]
    assert scores == sorted(scores)


def test_all_signs_of_a_clause_of_a_theory_are_tried():
    wrong = theory("1.0 Near(x, y) => !Near(y, x)")
    state = next(
        state for state in ml.structure_learner("msl", houses(), theory=wrong, longest=2)
        if state.phase == DECIDING
    )  # fmt: skip
    start = next(one for one in state.tree() if one.change == START)
    edits = [one for one in state.tree() if one.parent == start.number]
    flips = {one.clause.positive: one.edits for one in edits if one.change == "flipped"}
    assert flips == {1: 1, 3: 2}  # of a clause that is its own mirror image 1 and 2 are one
    assert [one.edits for one in edits if one.change == DROPPED] == [2]
    assert all(one.replaced == 1 for one in edits)


def test_a_state_in_the_middle_of_a_search_is_enough_to_go_on(tmp_path):
    """With a theory, from a file, on any level of the beam, to the same states bit for bit."""

    def make():
        wrong = theory("1.0 Near(x, y) => !Near(y, x)")
        return ml.structure_learner("msl", houses(), theory=wrong, longest=3, variables=3, price=0.001)

    states = list(make())
    assert max(state.level for state in states) > 1
    for place in range(0, len(states), 12):
        save_checkpoint(tmp_path / "state.npz", states[place])
        rest = list(make().resume(load_checkpoint(tmp_path / "state.npz").state))
        assert len(rest) == len(states) - place - 1
        for one, other in zip(rest, states[place + 1 :], strict=True):
            assert same_state(one, other), differing_parts(one, other)


def test_a_theory_without_one_of_its_clauses_is_tried_and_gains_nothing():
    """Where edits cost nothing; a clause that replaces another one is made of one of the theory."""
    needless = theory("0.5 !Lives(x, h) v !Near(x, x)")
    states = list(ml.structure_learner(
        "msl", houses(), theory=needless, longest=2, variables=3, price=0.0, fraction=1.0
    ))  # fmt: skip
    dropped = [one for state in states for one in state.tree() if one.change == DROPPED]
    assert dropped
    assert all(one.gain <= 1e-6 for one in dropped)  # nothing is gained by less, but for the prior
    joined = [state.find(state.joined) for state in states if state.joined >= 0]
    for before, one in zip([states[0], *[s for s in states if s.joined >= 0]], joined, strict=False):
        assert one.replaced < 0 or one.replaced in before.given


def test_a_clause_without_which_a_model_gains_is_dropped():
    """Weights are learned on the same atoms, so none is: this state has a weight that nobody learned."""
    learner = ml.structure_learner(
        "msl", houses(), theory=theory("0.5 !Lives(x, h) v !Near(x, x)"), forbidden=["Lives", "Near"]
    )  # fmt: skip
    begun = next(iter(learner))
    model = (*begun.model[:1], begun.model[1]._replace(weight=-20.0), *begun.model[2:])
    state = replace(begun, model=model)
    state = replace(state, score=Msl(learner.task, learner.params).model_of(state).value())
    states = list(learner.resume(state))
    tried = next(state for state in states if state.joined >= 0)
    dropped = tried.find(tried.joined)
    assert (dropped.change, dropped.replaced) == (DROPPED, 1)
    assert "it improves" in dropped.reason
    assert learner.candidates(tried)[len(learner.candidates(tried)) - 1].retained
    assert (tried.given, [one.path for one in tried.model]) == ((), [SELF_NEAR.path])


@pytest.mark.parametrize(("formula", "words"), [
    ("1 Near(x, y) <=> Near(y, x)", "is not a clause"), ("1 Near(x, Bob)", "atoms over variables"),
    ("Near(x, y) v Near(y, x).", "is hard"), ("@1 Near(x, y) v Near(y, x)", "fixed weight"),
    ("1 EXIST y Near(x, y)", "EXIST"), ("1 Near(x, y) v Lives(+x, h)", "marked by"),
    ("1 Near(x, y) v y = z", "in no atom of the clause"), ("1 Near(x, y) v !Near(x, y)", "is not a clause"),
])  # fmt: skip
def test_a_theory_that_is_not_of_clauses_is_refused(formula, words):
    with pytest.raises(ml.ArgumentError, match=words):
        ml.structure_learner("msl", houses(), theory=theory(formula))


def test_a_theory_over_other_predicates_is_refused():
    for text in (
        "Far(person)\n1 Far(x) v Near(x, y)\nNear(person, person)",
        "Near(person, person!)\n1 Near(x, y) v Near(y, x)",
    ):
        with pytest.raises(ml.ArgumentError, match=r"which the data has not|The theory declares"):
            ml.structure_learner("msl", houses(), theory=ml.MLN.from_text(text))
    with pytest.raises(ml.ArgumentError, match="theory"):
        ml.structure_learner("msl", houses(), theory="Near(x, y)")


# --- data and options that are odd ------------------------------------------------------------------


@pytest.mark.parametrize(("declared", "facts"), [
    ("P(a)\nQ(a)", "P(X)\nP(Y)"),  # Q is never true
    ("P(a)\nF(a, a)", "P(X)\nP(Y)\nF(X, Y)"),  # P always is
    ("P(a)\nF(a, a)", "P(X)\nF(X, X)"),  # one constant
    ("*P(a)\nF(a, a)", "P(X)\nF(X, Y)"),  # a closed predicate
])  # fmt: skip
def test_odd_data_give_a_model(declared, facts):
    database = ml.Database.from_text(facts, ml.MLN.from_text(declared))
    learned = ml.learn_structure(database, "msl", longest=3, variables=3, price=0.0, progress=False)
    assert np.isfinite(learned.wpll)
    assert np.isfinite(learned.mln.weights).all()


@pytest.mark.parametrize(("options", "words"), [
    ({"beam": 0}, "beam must be a whole number of at least 1, or None"),
    ({"longest": 1}, "longest"),
    ({"price": -1.0}, "price"), ({"fraction": 0.0}, "fraction"), ({"keep": 1}, "keep must be True"),
    ({"patience": 0}, "patience"), ({"modes": {"Near": "+"}}, "takes 2 arguments"),
    ({"width": 5}, "no option"),
    ({"forbidden": ["Neer"]}, "did you mean Near"), ({"required": "Near"}, "list of predicates"),
    ({"required": ["!Near"], "forbidden": ["Near"]}, "required and forbidden"),
    ({"forbidden": ["!="]}, "never have x != y"),
])  # fmt: skip
def test_odd_options_are_refused(options, words):
    with pytest.raises(ml.ArgumentError, match=words):
        ml.structure_learner("msl", houses(), **options)


def test_a_search_that_takes_long_is_refused():
    with pytest.raises(ml.TooLargeError, match=r"some .* hours") as refused:
        ml.structure_learner("msl", make_planted_database(0, 0.0), beam=None)
    assert "beam=5" in str(refused.value)


# --- the same, whoever computes ---------------------------------------------------------------------


_SCRIPT = """
import mlnlab as ml
from tests.structure.small_databases import random_databases
print(ml.learn_structure(random_databases(5), "msl", seed=3, longest=3, progress=False).mln.to_text())
"""


def test_the_same_seed_gives_the_same_model_in_every_process(repository):
    elsewhere = subprocess.run(
        [sys.executable, "-c", _SCRIPT], cwd=repository, capture_output=True, text=True, check=True,
        env={**os.environ, "PYTHONHASHSEED": "1", "PYTHONPATH": str(repository)},
    ).stdout  # fmt: skip
    own = ml.learn_structure(random_databases(5), "msl", seed=3, longest=3, progress=False).mln.to_text()
    assert elsewhere == own + "\n"


def test_a_state_that_does_not_fit_is_refused():
    """Each contradicts the data in one thing; none reaches the search."""
    learner = ml.structure_learner("msl", houses(), longest=3, variables=3)
    state = next(state for state in learner if state.level == 2)
    other = clause_key([PathAtom("Far", (0, 1)), PathAtom("Far", (1, 0))], 0)
    for changes in (
        {"phase": "resting"}, {"beam": (10_000,)}, {"given": (7,)}, {"units": np.zeros(5)}, {"joined": 9_999},
        {"model": (state.model[0]._replace(number=99),)}, {"model": (state.model[0]._replace(positive=0),)},
        {"model": (state.model[0]._replace(path=other.path),)}, {"batches": state.batches[1:]},
        {"batches": (*state.batches, ())},
        {"score": 1000.0}, {"units": np.full(2, 1e308)}, {"model": state.model * 2},
        {"decided": (Decided(state.best[-1], 5.0, 5.0, 1.0),)},
    ):  # fmt: skip
        with pytest.raises(ml.ArgumentError):
            learner.check_state(replace(state, **changes))
    with pytest.raises(ml.ArgumentError, match="its score is not that of its clauses and weights"):
        next(learner.resume(replace(state, score=state.score - 1)))


# --- beside Alchemy ---------------------------------------------------------------------------------


@pytest.mark.data
def test_its_model_is_no_worse_than_that_of_alchemy(reference_folder):
    """Fold 4 of IMDB, 4 variables and 4 literals, all atoms and the same prior for both."""
    given = ml.MLN.from_text((reference_folder / "alchemy-inputs" / "imdb_nogen.mln").read_text())
    database = ml.load_db(reference_folder / "alchemy-inputs" / "imdb_fold4.db", given)
    learned = ml.learn_structure(database, "msl", longest=4, variables=4, progress=False)
    rival = ml.MLN.from_text((reference_folder / "rivals-outputs" / "alchemy-msl-imdb-fold4.mln").read_text())
    again = ml.learn_weights(rival, database, "wpll", prior=ml.Gaussian(0, 100), progress=False)
    own, relearned = (ml.pseudo_log_likelihood(one, database, weighted=True) for one in (rival, again.mln))
    assert own == pytest.approx(-0.0118, abs=1e-4)
    assert learned.wpll >= max(own, relearned)
    assert len(list(islice(texts(learned), 20))) < 20
