"""CreateMLN on tiny databases: paths, clauses, scores and verdicts by brute force."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.logic.forms.canonical import canonical
from mlnlab.logic.formulas.formulas import Formula, Or
from mlnlab.steps.values.parts import seal_value
from mlnlab.structure.clauses.clause_making import ClauseKey, clause_formula
from mlnlab.structure.clauses.clause_scores import ScoreParams, Scorer
from mlnlab.structure.clauses.clauses_together import gain_beside
from mlnlab.structure.clauses.create_mln import CreateMLN
from mlnlab.structure.clauses.judged_paths import NOTHING_BESIDE_PARTS, RETAINED, WORSE_THAN_PART
from mlnlab.structure.paths.hyperedge_paths import connected_paths
from mlnlab.structure.paths.path_support import supported_paths
from mlnlab.structure.paths.variabilized import canonical_path, variabilize
from mlnlab.structure.results.learned_structure import Candidates
from tests.structure.small_databases import graphs_of, random_databases, small_model

_PENALTY = 0.05
_PARAMS = ScoreParams(fraction=1.0, sampled=None, length_penalty=_PENALTY)
_PRIOR = ml.Gaussian(0, 100)


def _creating(databases: list[ml.Database], longest: int = 2, **options: bool) -> CreateMLN:
    graphs = graphs_of(databases)
    paths = tuple(supported_paths(graphs, longest))
    return CreateMLN(tuple(databases), tuple(graphs), paths, _PARAMS, **options)


def _learned(databases: list[ml.Database], clauses: list[Formula]) -> float:
    """Return the WPLL of some clauses and unit clauses at their best weights."""
    model = small_model()
    for clause in clauses:
        model = model.add(clause)
    learned = ml.learn_weights(model, databases, "wpll", units=True, prior=_PRIOR)
    return ml.pseudo_log_likelihood(learned.mln, databases, weighted=True)


def _parts(clause: Formula) -> list[Formula]:
    """Return the canonical sub-clauses."""
    literals = clause.operands if isinstance(clause, Or) else (clause,)
    sets = [chosen for size in range(1, len(literals)) for chosen in combinations(literals, size)]
    return [canonical(chosen[0] if len(chosen) == 1 else Or(chosen)) for chosen in sets]


@pytest.mark.parametrize("longest", [2])
def test_candidates_are_the_clauses_of_all_paths_and_verdicts_are_those_of_algorithm_4(longest: int) -> None:
    databases = random_databases(11, 1)
    graphs = graphs_of(databases)
    paths = {variabilize(graph, edges) for graph in graphs for edges in connected_paths(graph, longest)}
    clauses: dict[Formula, Formula] = {}
    for path in sorted(paths, key=lambda path: len(path.atoms)):
        for bits in range(1 << len(path.atoms)):
            formula = clause_formula(path, bits, databases[0].vocabulary)
            clauses.setdefault(canonical(formula), formula)
    *_, state = _creating(databases, longest)
    found = Candidates(state.blocks, databases[0].vocabulary, state.without)
    assert {canonical(one.clause) for one in found} == set(clauses)
    assert len(found) == len(clauses) == state.candidates
    for one in list(found)[:: max(1, len(found) // 6)]:
        value = _learned(databases, [one.clause]) - _PENALTY * one.length
        assert one.score == pytest.approx(value, abs=1e-6)
        assert one.score_without == pytest.approx(state.without)
    # Algorithm 4, from the shortest to the longest, over the scores that were just found right.
    scores = {canonical(one.clause): one.score for one in found}
    retained: set[Formula] = set()
    for clause in sorted(scores, key=lambda clause: len(clauses[clause].operands)):  # type: ignore[union-attr]
        if all(scores[clause] >= scores[part] for part in _parts(clauses[clause]) if part in retained):
            retained.add(clause)
    assert {canonical(one.clause) for one in found if one.retained} == retained


def test_longer_clauses_are_held_to_every_retained_part() -> None:
    databases = random_databases(11, 1)
    *_, state = _creating(databases, 3)
    found = Candidates(state.blocks, databases[0].vocabulary, state.without)
    scores = {canonical(one.clause): one.score for one in found}
    retained = {canonical(one.clause) for one in found if one.retained}
    dropped = 0
    for one in found:
        parts = {part: scores[part] for part in _parts(one.clause) if part in retained}
        assert {canonical(part): score for part, score in one.sub_scores} == parts
        assert one.retained == all(one.score >= score for score in parts.values())
        dropped += not one.retained
        assert f"{one.score:.6g}" in one.reason
    assert 0 < dropped < len(found)
    assert state.retained == len(retained) == len(found.retained)
    best = max(one.score for one in found if one.retained)
    assert state.best == found.retained[0].score == best
    assert {WORSE_THAN_PART, RETAINED} == {
        int(v) for judged in state.list_judged_paths() for v in judged.verdicts
    }


def test_beside_all_sub_clauses_together() -> None:
    databases = random_databases(12, 2)
    *_, state = _creating(databases, 3, together=True)
    found = Candidates(state.blocks, databases[0].vocabulary, state.without)
    judged = [one for one in found if one.sub_scores]
    assert {int(v) for j in state.list_judged_paths() for v in j.verdicts} == {RETAINED, NOTHING_BESIDE_PARTS}
    chosen = [next(one for one in judged if one.retained), next(one for one in judged if not one.retained)]
    for one in chosen:
        parts = [part for part, _ in one.sub_scores]
        gain = _learned(databases, [*parts, one.clause]) - _learned(databases, parts)
        assert (gain > _PENALTY * one.length) == one.retained


def test_a_run_goes_on_from_any_state() -> None:
    creating = _creating(random_databases(13, 1), 3)
    states = list(creating)
    assert [state.done for state in states] == list(range(len(creating.paths) + 1))
    middle = states[len(states) // 2]
    last = list(creating.resume(middle))[-1]
    assert last.metrics() == states[-1].metrics()
    for left, right in zip(last.list_judged_paths(), states[-1].list_judged_paths(), strict=True):
        assert np.array_equal(left.verdicts, right.verdicts)
        assert np.array_equal(left.scores.scores, right.scores.scores)
    assert max(len(state.blocks) for state in states) <= 2 + len(states).bit_length()
    assert seal_value(last) is last  # so that a trace keeps what was judged as it is, and compares none of it


def test_sub_clauses_keep_their_own_variables_where_databases_differ_in_size() -> None:
    model = ml.MLN.from_text("Smokes(person)\nFriends(person, person)")
    small = ml.Database.from_text("Friends(A, B)\nFriends(B, A)\nSmokes(A)\nSmokes(B)\nFriends(C, C)", model)
    pairs = ["Friends(A, B)", "Friends(B, C)", "Friends(E, F)", "Friends(G, A)", "Friends(D, G)"]
    large = ml.Database.from_text("\n".join([*pairs, "Smokes(A)", "Smokes(B)", "Smokes(G)"]), model)
    databases = [small, large]
    path = canonical_path([("Friends", (0, 1)), ("Smokes", (0,)), ("Smokes", (1,))])
    scorer = Scorer(databases, graphs_of(databases), _PARAMS)
    parts = (ClauseKey(canonical_path([("Friends", (0, 1)), ("Smokes", (0,))]), 0),
             ClauseKey(canonical_path([("Smokes", (0,))]), 0))  # fmt: skip
    formulas = [clause_formula(key.path, key.positive, model.vocabulary) for key in parts]
    values = []
    for clauses in (formulas, [*formulas, clause_formula(path, 0, model.vocabulary)]):
        learning = model
        for clause in clauses:
            learning = learning.add(clause)
        found = ml.learn_weights(learning, databases, "wpll", units=True, prior=_PRIOR)
        values.append(ml.pseudo_log_likelihood(found.mln, databases, weighted=True))
    gain = gain_beside(scorer, path, 0, parts)
    assert gain == pytest.approx(values[1] - values[0] - 3 * _PENALTY, abs=1e-5)
