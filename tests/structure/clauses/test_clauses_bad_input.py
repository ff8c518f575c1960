"""Learning structure from databases that lack something, and from what would be too large."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.errors import TooLargeError
from mlnlab.structure.clauses.assembly import RetainedClause, flaw_of, greedy_steps
from mlnlab.structure.clauses.clause_making import ClauseKey
from mlnlab.structure.clauses.clause_scores import ScoreParams, Scorer
from mlnlab.structure.clauses.clauses_together import gain_beside
from mlnlab.structure.clauses.dense_deltas import DenseDeltas
from mlnlab.structure.clauses.whole_model import GrowingModel
from mlnlab.structure.lift.lift_problem import lift_problem
from mlnlab.structure.lift.pair_estimates import estimated_pairs
from mlnlab.structure.lift.smoothing_cost import pairs_at_first
from mlnlab.structure.paths.variabilized import canonical_path

MODEL = ml.MLN.from_text("Rain()\nSmokes(person)\nFriends(person, person)\nLikes(person, thing)")
USUAL = "\n".join(f"Smokes(A{i})\nFriends(A{i}, A{(3 * i + 1) % 6})\nLikes(A{i}, T{i % 2})" for i in range(6))
EVERY = "\n".join(f"Friends(A{i}, A{j})" for i, j in product(range(4), repeat=2))
ODD = {
    "one constant of each type": ("Smokes(A)\nFriends(A, A)\nLikes(A, T)",),
    "a predicate that is always true": (EVERY + "\nSmokes(A0)",),
    "a constant of several types": ("Likes(A, A)\nLikes(A, B)\nLikes(B, A)\nFriends(A, B)",),
    "a fold without true atoms": (USUAL, ""),
    "a fold that lacks a predicate": (USUAL, "Smokes(B1)\nFriends(B1, B2)\nRain()"),
    "folds without a common constant": (USUAL, USUAL.replace("A", "Z").replace("T", "Q")),
    "nothing with arguments": ("Rain()",),
}


@pytest.mark.parametrize("kind", ODD)
@pytest.mark.parametrize("method", ["lhl", "lhl-findpaths"])
def test_odd_databases_are_learned_from(kind: str, method: str) -> None:
    databases = [ml.Database.from_text(text, MODEL) for text in ODD[kind]]
    found = ml.learn_structure(databases, method=method, longest=2, fewest=0)
    assert len(found.mln.formulas) >= len(MODEL.vocabulary.predicates)
    assert np.isfinite([clause.weight for clause in found.clauses]).all()
    assert np.isfinite(found.state.create.without)


def test_a_fold_that_declares_other_predicates_is_named() -> None:
    other = ml.Database.from_text("Smokes(B)", ml.MLN.from_text("Smokes(person)"))
    with pytest.raises(ml.errors.ArgumentError, match="Database 2 declares no predicate Rain"):
        ml.learn_structure([ml.Database.from_text(USUAL, MODEL), other])


def test_pairs_are_estimated_and_refused_before_they_are_made() -> None:
    rng = np.random.default_rng(3)
    facts = [f"Friends(A{i}, A{j})" for i, j in rng.integers(40, size=(300, 2)).tolist()]
    facts += [f"Likes(A{i}, T{t})" for i, t in rng.integers(40, size=(80, 2)).tolist()]
    problem = lift_problem(ml.Database.from_text("\n".join(facts), MODEL))
    assert estimated_pairs(problem) == pytest.approx(pairs_at_first(problem), rel=0.1)
    many = ml.Database.from_text("\n".join(f"Smokes(A{i})" for i in range(2_500)), MODEL)
    with pytest.raises(TooLargeError, match="pairs of constants share a context") as refusal:
        ml.lift_graph(many)
    assert refusal.value.estimate == pytest.approx(2_500 * 2_499 / 2, rel=0.01)
    assert any("one by one" in way for way in refusal.value.remedies)


def test_atoms_of_closed_predicates_are_not_scored(monkeypatch: pytest.MonkeyPatch) -> None:
    model = ml.MLN.from_text("*Friends(person, person)\n*Likes(person, thing)\nSmokes(person)")
    database = ml.Database.from_text(USUAL, model)
    options = {"longest": 2, "fewest": 0, "fraction": 1.0, "length_penalty": 0.001, "signs": 1}

    def found() -> dict[object, list[float]]:
        learned = ml.learn_structure(database, **options)
        return {(one.path, one.positive): [one.score, one.near] for one in learned.candidates}

    by_tables = found()
    monkeypatch.setattr(DenseDeltas, "of", lambda *_: None)  # as on databases with many constants
    by_plans = found()
    assert by_tables.keys() == by_plans.keys()
    np.testing.assert_allclose(list(by_tables.values()), list(by_plans.values()), atol=1e-6)


def test_what_no_score_can_see_is_refused() -> None:
    closed = ml.MLN.from_text("*Smokes(person)\n*Friends(person, person)")
    with pytest.raises(ml.errors.ArgumentError, match="All predicates are closed"):
        ml.learn_structure(ml.Database.from_text("Smokes(A)\nFriends(A, B)", closed))
    wide = ml.MLN.from_text(f"Meet({', '.join(['person'] * 7)})\nSmokes(person)")
    crowd = ml.Database.from_text("\n".join(f"Smokes(A{i})" for i in range(600)), wide)
    with pytest.raises(TooLargeError, match=r"some 10\^19 ground atoms"):
        ml.structure_learner("lhl-findpaths", crowd)


def test_counts_beyond_64_bits_are_assembled() -> None:
    facts = "\n".join(f"Smokes(A{i})" for i in range(70_000)) + "\nFriends(A1, A2)\nFriends(A2, A3)"
    database = ml.Database.from_text(facts, ml.MLN.from_text("Smokes(person)\nFriends(person, person)"))
    chain = canonical_path([("Friends", (i, i + 1)) for i in range(5)])  # four variables beside an atom's
    scorer = Scorer([database], [], ScoreParams(fraction=1e-8))
    last = list(greedy_steps(scorer, [RetainedClause(chain, 31, 0.0, 0.0, 0)], 0.0))[-1]
    assert last.tried == 1
    assert np.isfinite([last.value, last.gain]).all()


def test_an_assembly_of_other_clauses_is_told() -> None:
    scorer = Scorer([ml.Database.from_text(USUAL, MODEL)], [], ScoreParams(fraction=1.0))
    path = canonical_path([("Friends", (0, 1)), ("Smokes", (1,))])
    here, other = (RetainedClause(path, number, 0.0, 0.0, number) for number in (0, 1))
    state = list(greedy_steps(scorer, [here], 0.0))[-1]
    predicates, without = len(scorer.predicates), np.zeros(0)
    assert flaw_of(replace(state, kept=(), weights=without, gains=()), [here], predicates) == ""
    for wrong in (
        {"clauses": 2},
        {"tried": 2, "kept": (), "weights": without, "gains": ()},
        {"kept": (other,), "weights": np.zeros(1), "gains": (0.0,)},
    ):
        assert flaw_of(replace(state, **wrong), [here], predicates) == "clauses were tried that are not here"


def test_sub_clauses_together_are_compared_where_a_fold_has_no_constants_of_a_type() -> None:
    bare = USUAL.replace("Likes", "// Likes")  # nothing to like
    databases = [ml.Database.from_text(text, MODEL) for text in (USUAL, bare)]
    scorer = Scorer(databases, [], ScoreParams(fraction=1.0))
    path = canonical_path([("Friends", (0, 1)), ("Likes", (0, 2)), ("Smokes", (1,))])
    part = canonical_path([("Friends", (0, 1)), ("Smokes", (1,))])
    found = gain_beside(scorer, path, 0, [ClauseKey(part, 0)])
    model = GrowingModel(scorer, units=True)
    values = []
    for clause in (RetainedClause(part, 0, 0.0, 0.0, 0), RetainedClause(path, 0, 0.0, 0.0, 1)):
        model = model.with_clause(clause)
        values.append(model.learn_together(None).value)
    assert found == pytest.approx(values[1] - values[0] - 3 * 0.01, abs=1e-6)
