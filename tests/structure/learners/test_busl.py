"""BUSL from databases to a model: planted rules, resumption, odd data, forged states."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from functools import partial
from itertools import pairwise

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.errors import ArgumentError, TooLargeError
from mlnlab.experiments.studies.planted_rules import judge_model, make_planted_database
from mlnlab.learning.ask.pseudo_likelihoods import pseudo_log_likelihood
from mlnlab.logic.formulas.printing import to_text
from mlnlab.logic.formulas.weights import Soft, WeightedFormula
from mlnlab.steps.files.checkpoint import load_checkpoint, save_checkpoint
from mlnlab.steps.values.sameness import same_state
from mlnlab.structure.clauses.clause_making import clause_formula, make_clauses
from mlnlab.structure.clauses.judged_paths import RETAINED, judged_paths
from mlnlab.structure.learners.busl import (
    JUDGING,
    LINKING,
    PHASES,
    TABULATING,
    TAKING,
    Busl,
    BuslParams,
)
from mlnlab.structure.paths.variabilized import PathAtom, canonical_path
from tests.conformance import structure_checks
from tests.structure.small_databases import random_databases

_SMALL = {"longest": 3, "length_penalty": 0.001}


def planted(noise=0.0, seed=0):
    return make_planted_database(seed, noise, people=16, things=6)


@pytest.fixture(scope="module")
def states():
    return list(ml.structure_learner("busl", planted(), **_SMALL))


# --- the algorithm --------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_planted_rules_are_recovered(seed):
    learned = ml.learn_structure(make_planted_database(seed, 0.0), "busl", longest=3)
    assert judge_model(learned.mln).recall >= 0.66  # mutual friends, and what friends like and own
    texts = {to_text(clause.formula) for clause in learned.clauses}
    assert any("Friends(p1, p2)" in text and "Friends(p2, p1)" in text for text in texts)
    assert any(all(word in text for word in ("Friends", "Likes", "Owns")) for text in texts)


def test_a_chain_of_two_atoms_needs_a_node_of_two():
    """Owns(y, t) follows from a friend who likes t: neither atom alone tells it."""
    with_pairs = ml.learn_structure(planted(), "busl", **_SMALL)
    alone = ml.learn_structure(planted(), "busl", node_atoms=1, **_SMALL)
    key = canonical_path([("Friends", (0, 1)), ("Likes", (0, 2)), ("Owns", (1, 2))])
    assert key in {clause.candidate.path for clause in with_pairs.clauses if clause.candidate}
    assert key not in {candidate.path for candidate in alone.candidates}


def test_the_phases_come_head_by_head_and_add_up(states):
    phases = [state.phase for state in states]
    assert [phase for n, phase in enumerate(phases) if phase in PHASES[3:] and phase != phases[n - 1]] == [
        *PHASES[3:]
    ]
    tabulated = [state for state in states if state.phase == TABULATING]
    assert [len(state.networks) for state in tabulated] == [1, 2, 3, 4]
    for before, now in pairwise(states):
        if now.phase == LINKING:
            assert now.networks[-1].changes[:-1] == before.networks[-1].changes
        elif now.phase == TAKING:
            assert now.networks[-1].cliques[:-1] == before.networks[-1].cliques
            assert now.networks[-1].changes == before.networks[-1].changes
    paths = states[-1].paths
    assert len(set(paths)) == len(paths) == len(list(judged_paths(states[-1].candidates)))
    for network in states[-1].networks:
        for clique in network.cliques:
            assert clique.nodes[0] == 0
            assert all(network.head in {atom.predicate for atom in path.atoms} for path in clique.paths)


def test_a_candidate_scores_the_wpll_of_a_model_of_it_and_the_unit_clauses():
    db = random_databases(3, 1)[0]
    params = {"fraction": 1.0, "significance": 0.5, "frequency": 0.0, "per_cell": 0.0, "longest": 3}
    learner = ml.structure_learner("busl", db, length_penalty=0.02, **params)
    last = list(learner)[-1]
    judged = [one for one in judged_paths(last.candidates) if len(one.scores.clauses)]
    assert judged
    vocabulary = db.vocabulary
    for one in judged[:6]:
        scores = one.scores
        assert scores.clauses.tolist() == list(make_clauses(scores.path))
        place = int(np.nanargmax(scores.scores))
        formula = clause_formula(scores.path, int(scores.clauses[place]), vocabulary)
        units = [
            canonical_path([(name, tuple(range(p.arity)))]).formulas(vocabulary)[0]
            for name, p in vocabulary.predicates.items()
        ]
        mln = ml.MLN.from_formulas(
            [(None, unit) for unit in (*units, formula)], predicates=vocabulary.predicates.values()
        )
        *_, best = ml.weight_learner("wpll", mln, [db], prior=ml.Gaussian(0.0, 100.0))
        weighted = [
            WeightedFormula(one.formula, Soft(float(w)))
            for one, w in zip(mln.formulas, best.answer, strict=True)
        ]
        value = pseudo_log_likelihood(replace(mln, formulas=tuple(weighted), places=()), [db], weighted=True)
        price = 0.02 * len(scores.path.atoms)
        assert scores.scores[place] == pytest.approx(value - price, abs=1e-4)


def test_a_clause_needs_weight_and_has_to_be_worth_its_price(states):
    last = states[-1]
    dear = list(ml.structure_learner("busl", planted(), **{**_SMALL, "length_penalty": 0.05}))[-1]
    heavy = list(ml.structure_learner("busl", planted(), least_weight=2.0, **_SMALL))[-1]

    def retained(state):
        return [
            (one.scores.path, clause, weight)
            for one in judged_paths(state.candidates)
            for clause, weight in zip(
                one.scores.clauses[one.verdicts == RETAINED].tolist(),
                one.scores.weights[one.verdicts == RETAINED].tolist(), strict=True,
            )
        ]  # fmt: skip

    assert 0 < len(retained(dear)) < len(retained(last))
    assert retained(heavy) == [one for one in retained(last) if abs(one[2]) >= 2.0]
    reasons = [reason for one in judged_paths(heavy.candidates) for reason in one.reasons]
    assert any(reason.startswith("its weight") for reason in reasons)
    assert any("and costs" in reason for reason in reasons)
    assert any("for a price of" in reason for reason in reasons)


def test_the_model_takes_clauses_by_decreasing_score_while_they_gain(states):
    last = states[-1]
    tried = [state.assembly for state in states if state.assembly is not None]
    assert [one.tried for one in tried] == list(range(len(tried)))
    values = [one.value for one in tried]
    assert values == sorted(values)
    scores = [clause.score for clause in last.model]
    assert scores == sorted(scores, reverse=True)
    assert all(
        gain > 0.001 * len(clause.path.atoms)
        for gain, clause in zip(last.assembly.gains, last.model, strict=True)
    )


def test_clauses_may_be_limited():
    db = planted(0.1)
    for options in ({"longest": 2}, {"variables": 2}, {"dangling": False}, {"longest": 4, "variables": 3}):
        last = list(ml.structure_learner("busl", db, **{**_SMALL, **options}))[-1]
        assert last.paths
        for path in last.paths:
            assert len(path.atoms) <= options.get("longest", 3)
            assert path.number_of_variables <= options.get("variables", 6)
            assert options.get("dangling", True) or not path.dangling
    assert any(path.dangling for path in list(ml.structure_learner("busl", db, **_SMALL))[-1].paths)


def test_two_blankets_have_to_agree_where_that_is_asked_for():
    either, both = (
        list(ml.structure_learner("busl", planted(0.1), agreement=agreement, **_SMALL))[-1]
        for agreement in ("either", "both")
    )
    for one, other in zip(both.networks, either.networks, strict=True):
        assert set(one.links("both")) <= set(other.links("either"))
        assert len(one.changes) <= len(other.changes)
    assert len(both.paths) <= len(either.paths)


# --- runs -----------------------------------------------------------------------------------------


def test_it_keeps_to_the_protocol_with_nodes_of_two_atoms(tmp_path):
    """The suite of all learners runs it with clauses of two literals, to which such nodes give nothing."""
    make = partial(ml.structure_learner, "busl", make_planted_database(1, 0.1, people=8, things=4), **_SMALL)
    assert any(len(path.atoms) == 3 for path in list(make())[-1].paths)
    structure_checks.every_check(make, tmp_path)
    structure_checks.an_interrupt_within_a_step_keeps_the_best_model(make)


def test_the_same_seed_gives_the_same_model_in_another_process():
    program = (
        "import mlnlab as ml\n"
        "from mlnlab.experiments.studies.planted_rules import make_planted_database\n"
        "db = make_planted_database(0, 0.1, people=16, things=6)\n"
        "print(ml.learn_structure(db, 'busl', longest=3, most_false=60, seed=5).mln.to_text())"
    )
    elsewhere = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True,
        env={**os.environ, "PYTHONHASHSEED": "1", "PYTHONPATH": ":".join(sys.path)},
    ).stdout  # fmt: skip
    here = ml.learn_structure(planted(0.1), "busl", longest=3, most_false=60, seed=5).mln.to_text()
    assert elsewhere == here + "\n"


def test_another_seed_draws_other_false_groundings():
    networks = [
        list(ml.structure_learner("busl", planted(), most_false=40, seed=seed, **_SMALL))[-1].networks
        for seed in (0, 1)
    ]
    assert networks[0] != networks[1]
    assert [one.rows for one in networks[0]] == [one.rows for one in networks[1]]


def test_states_of_other_data_or_other_tests_are_refused(states, tmp_path):
    learner = ml.structure_learner("busl", planted(), **_SMALL)
    with pytest.raises(ArgumentError):
        list(ml.structure_learner("busl", planted(0.1), **_SMALL).resume(states[3]))
    linking = next(state for state in states if state.phase == LINKING)
    network = linking.networks[-1]
    change = replace(network.changes[-1], statistic=network.changes[-1].statistic + 1)
    forged = {
        "tests are others": replace(
            linking, networks=(*linking.networks[:-1], replace(network, changes=(change,)))
        ),
        "nodes are others": replace(
            linking,
            networks=(
                *linking.networks[:-1],
                replace(
                    network, changes=(), nodes=(network.nodes[0], replace(network.nodes[1], held=1)),
                ),
            ),
        ),
    }  # fmt: skip
    taking = next(state for state in states if state.phase == TAKING)
    clique = replace(taking.networks[-1].cliques[0], nodes=(0,))
    forged["tests or cliques are others"] = replace(
        taking, networks=(*taking.networks[:-1], replace(taking.networks[-1], cliques=(clique,)))
    )
    for words, state in forged.items():
        save_checkpoint(tmp_path / "state.npz", state)
        with pytest.raises(ArgumentError, match=words):
            list(learner.resume(load_checkpoint(tmp_path / "state.npz").state))


def test_forged_states_are_refused_before_anything_is_counted(states):
    learner = ml.structure_learner("busl", planted(), **_SMALL)
    judging = [state for state in states if state.phase == JUDGING][-1]
    last = states[-1]

    def with_path(state, path):
        network = state.networks[0]
        clique = replace(network.cliques[0], paths=(path,))
        return replace(state, networks=(replace(network, cliques=(clique,)), *state.networks[1:]))

    long = canonical_path([("Friends", (n, n + 1)) for n in range(12)])
    for words, state in (
        ("phase is unknown", replace(judging, phase="dreaming")),
        ("or comes later", replace(judging, networks=judging.networks[:-1])),
        ("heads are others", replace(judging, networks=judging.networks[::-1])),
        ("other predicates", with_path(judging, canonical_path([("Hates", (0, 1))]))),
        ("other predicates", with_path(judging, canonical_path([("Happy", (0, 1))]))),
        ("too long", with_path(judging, long)),
        ("do not belong to its phase", replace(judging, without=float("nan"))),
        ("do not belong to its phase", replace(judging, phase=TAKING)),
        ("paths are others", replace(judging, candidates=(judging.candidates[0][::-1],))),
        ("does not belong to its phase", replace(last, assembly=None)),
        ("does not belong to its phase", replace(judging, assembly=last.assembly)),
        ("does not belong to its phase", replace(last, candidates=last.candidates[:-1])),
    ):
        with pytest.raises(ArgumentError, match=words):
            learner.check_state(state)
    clause = last.assembly.kept[0]._replace(positive=0, path=canonical_path([("Happy", (0,))]))
    assembly = replace(last.assembly, kept=(clause, *last.assembly.kept[1:]), ended=False)
    with pytest.raises(ArgumentError, match="The model of this state is damaged"):
        list(learner.resume(replace(last, assembly=assembly, ended="")))


def test_scores_that_were_forged_are_refused(states, tmp_path):
    """Of the unit clauses, of a clause of the model, of the best one, and of the model itself."""
    learner = ml.structure_learner("busl", planted(), **_SMALL)
    judging = [state for state in states if state.phase == JUDGING][-1]
    last = states[-1]

    def with_scores(state, number, change):
        judged = list(judged_paths(state.candidates))
        scores = replace(judged[number].scores, scores=change(judged[number].scores.scores))
        judged[number] = replace(judged[number], scores=scores)
        kept = [one.scores.scores[one.verdicts == RETAINED] for one in judged]
        return replace(state, candidates=(tuple(judged),), best=float(np.concatenate(kept).max()))

    place = next(
        one.number for one in judged_paths(judging.candidates)
        if judging.best in one.scores.scores.tolist()
    )  # fmt: skip
    kept, ending = last.model[-1].number, replace(last, ended="")
    assembly = replace(last.assembly, value=last.assembly.value + 0.001, ended=False)
    for words, state in (
        ("score of the unit clauses", replace(judging, without=judging.without - 1e-4)),
        ("scores are not those of its clauses", with_scores(judging, place, lambda own: own + 1e-4)),
        (
            "scores are not those of its clauses",
            with_scores(ending, kept, lambda own: own + 1e-5),
        ),
        ("verdicts are not those of its scores", with_scores(judging, place, lambda own: own - 9)),
        ("best score is of no clause", replace(judging, best=judging.best + 0.1)),
        ("its score is not that of its clauses", replace(last, assembly=assembly, ended="")),
    ):
        save_checkpoint(tmp_path / "state.npz", state)
        with pytest.raises(ArgumentError, match=words):
            list(learner.resume(load_checkpoint(tmp_path / "state.npz").state))


def test_what_would_take_long_is_refused_before_it_is_scored():
    learner = ml.structure_learner("busl", planted(), most_hours=1e-9, **_SMALL)
    reached = []
    with pytest.raises(TooLargeError, match=r"Scoring the clauses of \d+ paths") as refusal:
        reached.extend(learner)
    assert reached[-1].phase in PHASES[:3]  # and from there it goes on
    assert "most_hours" in str(refusal.value)
    assert list(ml.structure_learner("busl", planted(), **_SMALL).resume(reached[-1]))[-1].ended


def test_what_would_take_long_is_refused_before_it_is_tried_in_the_model(states):
    learner = ml.structure_learner("busl", planted(), most_hours=1e-5, **_SMALL)
    reached = []
    with pytest.raises(TooLargeError, match=r"Trying \d+ retained clauses in the model takes") as refusal:
        reached.extend(learner)
    assert reached[-1].phase == JUDGING
    assert "length_penalty=0.01" in str(refusal.value)
    rest = list(ml.structure_learner("busl", planted(), **_SMALL).resume(reached[-1]))
    assert same_state(rest[-1], states[-1])
    nearly = states[-2]  # what was tried already takes no time again
    assert list(ml.structure_learner("busl", planted(), most_hours=1e-5, **_SMALL).resume(nearly))


# --- odd data -------------------------------------------------------------------------------------


def database(declarations, facts):
    return ml.Database.from_text(facts, ml.MLN.from_text(declarations))


@pytest.mark.parametrize(
    ("declarations", "facts", "ended", "remark"),
    [
        (
            "a = {A, B}\nb = {B, C}\nP(a)\nQ(b)",
            "P(A)\nQ(B)",
            "no two true atoms",
            "no other true atom shares",
        ),
        ("P(a)", "P(A)", "no two true atoms share", "true for all of its groundings"),
        ("a = {A, B}\nP(a)\nQ(a)", "P(A)\nP(B)\nQ(A)", "no template node is linked", "true for all"),
        ("a = {A, B}\nP(a)\nQ(a)\nR(a)", "P(A)\nQ(A)", "no template node is linked", "has no true atom"),
        ("F(a, a)", "F(A, A)\nF(B, B)", "no two true atoms share", "no true atom with different constants"),
        ("P()\nQ(a)", "P()\nQ(A)", "no two true atoms share", "true for all of its groundings"),
    ],
)
def test_data_without_template_networks_give_the_unit_clauses_and_a_sentence(
    declarations, facts, ended, remark
):
    db = database(declarations, facts)
    learned = ml.learn_structure(db, "busl")
    assert learned.state.ended.startswith(ended)
    assert learned.state.ended.endswith("the model is the unit clauses")
    assert any(remark in network.remark for network in learned.state.networks)
    assert len(learned.clauses) == len(db.vocabulary.predicates)
    assert np.isfinite([clause.weight for clause in learned.clauses]).all()
    assert [remark.lower() for remark in learned.remarks] == [f"{learned.state.ended.lower()}."]


def test_closed_predicates_are_nodes_and_no_heads():
    rows = "\n".join(f"P(A{n})\nQ(A{n})" for n in range(10)) + "\nP(B)"
    listed = ", ".join(f"A{n}" for n in range(20))
    db = database(f"a = {{{listed}, B}}\n*P(a)\nQ(a)", rows)
    learned = ml.learn_structure(db, "busl")
    assert [network.head for network in learned.state.networks] == ["Q"]
    texts = [to_text(clause.formula) for clause in learned.clauses]
    assert any("P(a)" in text and "Q(a)" in text for text in texts)


def test_databases_of_different_constants_are_learned_from_together():
    dbs = [planted(0.0, seed) for seed in (0, 1)]
    one, both = (list(ml.structure_learner("busl", given, **_SMALL))[-1] for given in (dbs[:1], dbs))
    assert [n.nodes[0].held for n in both.networks] > [n.nodes[0].held for n in one.networks]


def test_one_false_atom_is_few_and_allowed():
    assert ml.structure_learner("busl", planted(), most_false=1).params.most_false == 1


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("longest", 1), ("longest", 9), ("node_atoms", 0), ("node_atoms", 4), ("most_false", 0),
        ("frequency", 2), ("significance", 0), ("significance", 1.5), ("per_cell", -1), ("agreement", "most"),
        ("variables", 0), ("dangling", 1), ("least_weight", -1), ("length_penalty", -1), ("fraction", 0),
        ("deviation", 0), ("seed", -1),
    ],
)  # fmt: skip
def test_options_that_make_no_sense_are_refused(option, value):
    with pytest.raises(ArgumentError, match=option):
        ml.structure_learner("busl", planted(), **{option: value})


def test_a_table_is_made_of_the_head_and_its_nodes():
    learner = ml.structure_learner("busl", planted())
    source = Busl(learner.task, BuslParams())
    network, table = source.tabulate(0)
    assert network.head == "Friends"
    assert network.nodes[0].atoms == (PathAtom("Friends", (0, 1)),)
    assert table.shape == (network.rows, len(network.nodes)) == (16 * 15, len(network.nodes))
    assert table.sum(axis=0).tolist() == [node.held for node in network.nodes]
