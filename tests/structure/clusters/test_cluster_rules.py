"""LHL-LiftGraph's rules: weights in closed form, memberships of unseen constants, and predicted atoms."""

from __future__ import annotations

from itertools import product
from math import log

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.logic.formulas.printing import to_text
from mlnlab.structure.clusters import cluster_membership
from mlnlab.structure.clusters.cluster_rules import ClusterRules, cluster_rules
from mlnlab.structure.lift.lifted_hypergraph import LiftedHypergraph

TEXT = "Tall(person)\nFriends(person, person)\nLikes(person, thing)\nShown(person, person, thing)"
SEEN = (
    "Tall(A)\nTall(B)\nFriends(A, B)\nFriends(C, C)\nFriends(A, A)\nLikes(A, T)\nLikes(B, T)\nLikes(C, U)\n"
    "Shown(A, B, T)\nShown(C, C, U)\nLikes(D, U)"
)


@pytest.fixture(scope="module")
def mln():
    return ml.MLN.from_text(TEXT)


@pytest.fixture(scope="module")
def lifted(mln):
    """People A and B in one cluster, C and D in another; things T and U alone."""
    graph = ml.Hypergraph.from_database(ml.Database.from_text(SEEN, mln))
    number = {node.constant: place for place, node in enumerate(graph.nodes())}
    labels = np.arange(graph.number_of_nodes)
    for first, second in (("A", "B"), ("C", "D")):
        labels[[number[first], number[second]]] = min(number[first], number[second])
    return LiftedHypergraph(graph, labels)


def enumerated(rules, database, predicate, types=("person", "thing")):
    """Return the same probabilities by asking the model that is written out."""
    model, known = rules.mln(), rules.evidence(database)
    unseen = [f"In_{type_}" for type_ in types]
    answer = ml.infer(model, known, [predicate], open=unseen, method="enumeration")
    return {name: value for name, value in answer.probabilities.items() if name.startswith(predicate)}


def said_of(rules, database, predicate):
    found = rules.probabilities(database.without([predicate]), [predicate])
    return dict(zip(map(str, found.atoms), found.probabilities, strict=True))


def test_weights_are_in_closed_form_and_finite(lifted):
    rules = {(r.predicate, r.clusters): r for r in ClusterRules(lifted, smoothing=(1.0, 2.0)).rules}
    first, second = (int(lifted.labels[lifted.labels == label][0]) for label in np.unique(lifted.labels)[:2])
    friends = rules["Friends", (first, first)]
    assert (friends.true, friends.atoms) == (2, 4)
    assert friends.weight == pytest.approx(log((2 + 1) / (2 + 2)))
    tall = rules["Tall", (first,)]
    assert (tall.true, tall.atoms) == (2, 2)
    assert tall.weight == pytest.approx(log(3 / 2))  # all are true, and the weight is finite all the same
    default = rules["Friends", ()]
    assert (default.true, default.atoms) == (0, 16 - 4 - 4)
    assert default.weight == pytest.approx(log(1 / (8 + 2)))
    assert rules["Friends", (second, second)].true == 1


@pytest.mark.parametrize("likelihood", ["conditional", "joint"])
@pytest.mark.parametrize("predicate", ["Tall", "Friends", "Likes"])
def test_probabilities_equal_enumeration_of_the_model_written_out(mln, lifted, likelihood, predicate):
    rules = ClusterRules(lifted, likelihood=likelihood)
    text = "Friends(X, X)\nTall(A)\nLikes(X, T)\nShown(X, X, T)"  # A was seen, X was not, nor was V
    database = ml.Database.from_text(text + "\nLikes(A, V)", mln)
    expected = enumerated(rules, database.without([predicate]), predicate)
    found = said_of(rules, database, predicate)
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        assert found[name] == pytest.approx(value, abs=1e-9), name


@pytest.mark.parametrize("seed", range(4))
def test_memberships_equal_a_sum_over_all_assignments(mln, lifted, seed):
    rng = np.random.default_rng(seed)
    people, things = ["A", "C", "X", "Y"], ["T", "V"]
    lines = [f"Tall({x})" for x in people if rng.random() < 0.5]
    lines += [f"Friends({x}, {y})" for x in people for y in people if rng.random() < 0.3]
    lines += [f"Shown({x}, {y}, {z})" for x in people for y in people for z in things if rng.random() < 0.2]
    database = ml.Database.from_text("\n".join(["Likes(A, T)", "Likes(Y, V)", "Likes(X, V)", *lines]), mln)
    rules = ClusterRules(lifted)
    found = rules.memberships(database)
    own = np.array(list(database.domain("person")))
    x = int(np.flatnonzero(own == "X")[0])
    expected = by_brute_force(rules, database)
    assert sum(share for share, _ in found) == pytest.approx(1.0)
    marginal = sum(share * q["person"][x] for share, q in found)
    assert marginal == pytest.approx(expected["X"], abs=1e-9)


def by_brute_force(rules, database):
    """Sum over all memberships of X, Y and V, looking at every atom."""
    clusters, cluster_of = rules.clusters, rules.cluster_of
    weight = {(r.predicate, r.clusters): r.probability for r in rules.rules}
    true = {str(atom) for atom in database.atoms()}
    total, found = 0.0, np.zeros(2)
    choices = product(range(2), range(2), clusters["thing"])
    for x, y, v in choices:
        of = {name: cluster_of.get(("person", name)) for name in database.domain("person")}
        of |= {name: cluster_of.get(("thing", name)) for name in database.domain("thing")}
        of |= {"X": clusters["person"][x], "Y": clusters["person"][y], "V": v}
        score = 1.0
        for name, predicate in database.vocabulary.predicates.items():
            for arguments in product(*map(database.domain, predicate.types)):
                p = weight.get((name, tuple(of[one] for one in arguments)), weight[name, ()])
                score *= p if f"{name}({', '.join(arguments)})" in true else 1 - p
        total += score
        found[x] += score
    return {"X": found / total}


def test_mean_field_is_exact_where_one_constant_is_unseen(mln, lifted, monkeypatch):
    database = ml.Database.from_text(
        "Friends(X, X)\nFriends(X, A)\nLikes(X, T)\nShown(X, A, T)\nTall(X)", mln
    )
    rules = ClusterRules(lifted)
    exact = rules.probabilities(database.without(["Friends"]), ["Friends"])
    monkeypatch.setattr(cluster_membership, "MOST_ASSIGNMENTS", 0)
    close = rules.probabilities(database.without(["Friends"]), ["Friends"])
    assert len(rules.memberships(database)) == 1
    assert close.probabilities == pytest.approx(exact.probabilities, abs=1e-9)


def test_mean_field_finds_planted_clusters(mln):
    """Two camps that like things of their own: unseen people and things are told apart without a hint."""
    lines = []
    for camp in range(2):
        lines += [f"Friends(P{camp}{i}, P{camp}{j})" for i in range(5) for j in range(5)]
        lines += [f"Likes(P{camp}{i}, T{camp}{j})" for i in range(5) for j in range(4)]
    seen = ml.Database.from_text("\n".join(lines), mln)
    rules = cluster_rules(seen)
    assert {len(own) for own in rules.clusters.values()} == {2}
    renamed = [line.replace("P", "Q").replace("T", "V") for line in lines]
    unseen = ml.Database.from_text("\n".join(renamed), mln)
    told = rules.probabilities(unseen.without(["Friends"]), ["Friends"])
    friends = dict(zip(map(str, told.atoms), told.probabilities, strict=True))
    assert friends["Friends(Q00, Q01)"] > 0.9
    assert friends["Friends(Q00, Q11)"] < 0.1


def test_databases_are_worlds_of_their_own(mln):
    """Atoms between people of two databases are no atoms, so that they are no false ones either."""
    one = ml.Database.from_text("Friends(A, B)\nFriends(B, A)\nFriends(A, A)\nFriends(B, B)", mln)
    two = ml.Database.from_text("Friends(C, D)\nFriends(D, C)\nFriends(C, C)\nFriends(D, D)", mln)
    rules = cluster_rules([one, two])
    assert sum(rule.atoms for rule in rules.rules if rule.predicate == "Friends") == 8
    assert all(rule.atoms - rule.true <= 4 for rule in rules.rules if rule.clusters)


def test_types_without_clusters_and_predicates_without_facts_are_answered(mln):
    rules = cluster_rules(ml.Database.from_text("Tall(A)", mln))
    database = ml.Database.from_text("Likes(X, V)\nTall(X)", mln)
    said = rules.probabilities(database.without(["Likes"]), ["Likes", "Shown"])
    assert len(said) == 1 + 1
    assert np.isfinite(said.probabilities).all()


@pytest.mark.parametrize(
    ("options", "says"),
    [({"smoothing": (0, 1)}, "smoothing must be two numbers"), ({"likelihood": "best"}, "likelihood is"),
     ({"membership_prior": "none"}, "membership_prior is")],
)  # fmt: skip
def test_what_makes_no_sense_gets_a_sentence(lifted, options, says):
    with pytest.raises(ml.ArgumentError, match=says):
        ClusterRules(lifted, **options)
    with pytest.raises(ml.ArgumentError, match="at least one database"):
        cluster_rules([])
    with pytest.raises(ml.ArgumentError, match="Lickes"):
        ClusterRules(lifted).probabilities(
            ml.Database.from_text("Tall(A)", ml.MLN.from_text(TEXT)), ["Lickes"]
        )


def test_one_predicate_may_be_named_by_itself_and_a_database_is_needed(mln, lifted):
    rules = ClusterRules(lifted)
    database = ml.Database.from_text("Tall(A)\nFriends(E, A)", mln)
    alone, listed = (rules.probabilities(database, asked) for asked in ("Friends", ["Friends"]))
    assert alone.atoms == listed.atoms
    np.testing.assert_array_equal(alone.probabilities, listed.probabilities)
    with pytest.raises(ml.errors.ArgumentError, match="predicted in a database"):
        rules.probabilities(None, ["Friends"])


def test_learned_rules_are_written_out_when_formulas_are_asked_for_and_not_before(mln, monkeypatch):
    written = []
    whole = ClusterRules.mln
    monkeypatch.setattr(ClusterRules, "mln", lambda self: written.append(1) or whole(self))
    learned = ml.learn_structure(ml.Database.from_text(SEEN, mln), "lhl-liftgraph")
    found = learned.probabilities(ml.Database.from_text("Tall(E)", mln), ["Friends"])
    assert len(found.atoms) == 1
    assert not written
    assert len(learned.clauses) == len(learned.mln.formulas) > len(learned.rules.rules)
    assert written == [1]


def test_rules_are_written_out_over_propositions_names_that_are_taken_and_odd_constants():
    text = "Rain()\nIn_person(person, cluster_of_person)\nTall(person)"
    mln = ml.MLN.from_text(text)
    facts = 'Rain()\nIn_person("x\\"y", R)\nTall("a\\\\b")\nTall("C, D")'
    database = ml.Database.from_text(facts, mln)
    rules = cluster_rules(database)
    written = ml.MLN.from_text(rules.mln().to_text())
    assert {"Rain()", "!Rain()"} <= {to_text(one.formula) for one in written.formulas}
    known = rules.evidence(database)
    assert known.relation("In_person_").true.shape[0] == len(database.domain("person")) == 3
    found = enumerated(rules, database.without(["Rain"]), "Rain", ())
    assert found["Rain()"] == pytest.approx(said_of(rules, database, "Rain")["Rain()"])
    assert len(ml.learn_structure(database, "lhl-liftgraph").to_frame()) == len(rules.mln().formulas)
