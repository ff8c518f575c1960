"""LiftGraph: its posterior is that of the paper, its gains are differences of it, its choices the best."""

from __future__ import annotations

from itertools import combinations, islice, pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mlnlab as ml
from mlnlab.errors import ArgumentError, TooLargeError
from mlnlab.steps.values.encoding import REGISTRY
from mlnlab.steps.values.sameness import differing_parts, same_state
from mlnlab.structure.lift import lift_graph
from mlnlab.structure.lift.clustering_posterior import best_weight, clustering_posterior, prediction_rules
from mlnlab.widgets.run.session import Session
from tests.structure.lift.lift_oracle import (
    best_of_all_clusterings,
    clusters_of,
    database,
    databases,
    merged,
    partitions,
    planted,
    posterior,
    sharing,
)
from tests.support.patience import PATIENCE
from tests.support.thoroughness import examples

SMOOTHINGS = st.sampled_from([(0.0, 0.0), (0.0, 0.0), (1.0, 1.0), (0.5, 3.0)])
PENALTIES = st.sampled_from([0.0, 1.0, 2.5, 6.0])


def predicate_clusters(search, state):
    names = np.asarray(search.problem.predicates)
    labels = state.predicates
    return {
        str(names[place]): frozenset(names[labels == label].tolist()) for place, label in enumerate(labels)
    }


@given(databases(), PENALTIES, SMOOTHINGS, st.booleans())
@settings(max_examples=examples(80))
def test_the_posterior_is_that_of_the_paper_after_every_merge(db, penalty, smoothing, predicates):
    search = ml.lift_graph(db, penalty=penalty, smoothing=smoothing, cluster_predicates=predicates)
    before = None
    for state in search:
        clusters = clusters_of(search.hypergraph, state.labels)
        together = predicate_clusters(search, state)
        expected = posterior(search.hypergraph, clusters, penalty, smoothing, together)
        assert state.log_posterior == pytest.approx(expected, abs=1e-8)
        if not predicates:
            again = clustering_posterior(search.lifted(state), penalty, smoothing)
            assert (again.log_likelihood, again.log_posterior) == (state.log_likelihood, state.log_posterior)
            assert state.hyperedges == len(search.lifted(state).edges)
        if state.merge is not None:
            assert state.merge.gain > 0
            assert before.log_posterior + state.merge.gain == state.log_posterior
            assert sum(term.likelihood for term in state.merge.terms) == state.merge.likelihood
            assert sum(term.prior for term in state.merge.terms) == state.merge.prior
            assert state.merge.likelihood + state.merge.prior == state.merge.gain
        before = state
    assert before.ended
    assert before.merge is None


@given(databases())
@settings(max_examples=examples(50))
def test_each_merge_is_the_best_pair_of_its_type_that_shares_a_context(db):
    """As brute force finds it, with posteriors from scratch and the rule for candidates read once more."""
    search = ml.lift_graph(db)
    states = list(search)
    for before, after in pairwise(states):
        graph = search.hypergraph
        clusters = clusters_of(graph, before.labels)
        here = posterior(graph, clusters)
        gains = {pair: posterior(graph, merged(clusters, pair)) - here for pair in sharing(graph, clusters)}
        if after.ended:
            assert max(gains.values(), default=0.0) < 1e-8
            continue
        of_type = {p: gain for p, gain in gains.items() if next(iter(next(iter(p))))[0] == after.merge.type}
        best = max(of_type.values())
        assert after.merge.gain == pytest.approx(best, abs=1e-8)
        ties = [pair_of(graph, p) for p, gain in of_type.items() if gain > best - 1e-8]
        assert (after.merge.first, after.merge.second) == min(ties)
        listed = search.candidates(before, after.merge.type)
        assert len(listed) == len(of_type)
        assert sorted(m.gain for m in listed) == pytest.approx(sorted(of_type.values()), abs=1e-8)
        assert listed[0].gain == after.merge.gain
        assert [m.gain for m in after.runners_up] == [m.gain for m in listed[1:9]]


def test_runners_up_are_the_next_best_pairs():
    search = ml.lift_graph(ml.sample("department").db)
    states = [state for state in search if not state.ended]
    for before, after in pairwise(states):
        listed = search.candidates(before, after.merge.type)
        assert [(m.first, m.second) for m in after.runners_up] == [(m.first, m.second) for m in listed[1:]]
    assert max(len(state.runners_up) for state in states[1:]) > 1


def pair_of(graph, pair):
    """The smallest numbers of two clusters, as merges name them."""
    numbers = {(node.type, node.constant): number for number, node in enumerate(graph.nodes())}
    return tuple(sorted(min(numbers[node] for node in cluster) for cluster in pair))


@pytest.mark.parametrize("small", [-1, 400])
def test_gains_that_rounding_alone_tells_apart_are_equal(monkeypatch, small):
    """All merges of b gain 2.5 here, so those of the smallest numbers come first."""
    monkeypatch.setattr(lift_graph, "SMALL", small)
    mln = ml.MLN.from_text("Saw(a, c, b)")
    facts = ["A,C,B1", "A,C,B2", "A,D,B3", "A,C,B0", "A,D,B0", "A,C,B7", "A,C,B4", "A,D,B2", "A,C,B3"]
    db = ml.Database.from_text("\n".join(f"Saw({fact})" for fact in facts), mln)
    search = ml.lift_graph(db, penalty=2.5)
    merges = [state.merge for state in search if state.merge is not None]
    names = [(search.problem.name_of(m.first), search.problem.name_of(m.second)) for m in merges]
    assert names == [("C", "D"), ("B1", "B7"), ("B1", "B4"), ("B2", "B3"), ("B2", "B0")]


@given(databases(least=3, most=9))
@settings(max_examples=examples(10))
def test_no_partition_of_all_is_better_than_the_bound_of_brute_force(db):
    search = ml.lift_graph(db)
    graph = search.hypergraph
    groups = [[(n.type, n.constant) for n in graph.nodes() if n.type == type_] for type_ in graph.constants]
    best = max(
        posterior(graph, {node: frozenset(part) for parts in choice for part in parts for node in part})
        for choice in product(*(list(partitions(nodes)) for nodes in groups))
    )
    last = list(search)[-1]
    alone = posterior(graph, clusters_of(graph, np.arange(graph.number_of_nodes)))
    assert alone - 1e-8 <= last.log_posterior <= best + 1e-8


@given(databases(least=4), st.data())
@settings(max_examples=examples(40))
def test_any_pair_of_a_type_can_be_merged_by_hand_and_the_search_goes_on(db, data):
    search = ml.lift_graph(db)
    states = list(search)
    state = data.draw(st.sampled_from(states))
    clusters = search.lifted(state).clusters.tolist()
    kinds = search.problem.type_of
    pairs = [(one, two) for one in clusters for two in clusters if one != two and kinds[one] == kinds[two]]
    if not pairs:
        return
    one, two = data.draw(st.sampled_from(pairs))
    gain = search.gain(state, one, two)
    assert (gain.first, gain.second) == (min(one, two), max(one, two))
    own = list(search.merged_by_hand(state, one, two))
    assert own[0].by_hand
    assert own[0].log_posterior == state.log_posterior + gain.gain
    assert same_state(own[0].merge, gain)
    before, now = (clusters_of(search.hypergraph, s.labels) for s in (state, own[0]))
    graph = search.hypergraph
    assert gain.gain == pytest.approx(posterior(graph, now) - posterior(graph, before), abs=1e-8)
    assert own[-1].ended
    for place, reached in enumerate(own):
        assert all(map(same_state, search.resume(reached), own[place + 1 :]))


@given(databases(least=6), SMOOTHINGS, st.booleans(), st.booleans())
@settings(max_examples=examples(30))
def test_a_run_goes_on_from_any_state_bit_for_bit_also_from_a_file(db, smoothing, predicates, ahead):
    search = ml.lift_graph(
        db,
        smoothing=smoothing,
        cluster_predicates=predicates,
        look_ahead=ahead,
        penalty=3.0 if ahead else 1.0,
    )
    states = list(search)
    assert all(map(same_state, states, search))
    for place, state in enumerate(states):
        stored = REGISTRY.decode_tree(REGISTRY.encode_value(state))
        assert not differing_parts(stored, state)
        followed = list(search.resume(stored))
        assert len(followed) == len(states) - place - 1
        assert all(map(same_state, followed, states[place + 1 :]))


@pytest.mark.parametrize("small", [-1, 400])
def test_a_state_is_asked_of_one_search_that_no_run_changes(monkeypatch, small):
    monkeypatch.setattr(lift_graph, "SMALL", small)
    source = ml.lift_graph(ml.sample("department").databases["figure_1"])
    first, second = islice(source, 2)
    made = []
    searched = lift_graph.LiftGraph._search
    monkeypatch.setattr(lift_graph.LiftGraph, "_search", lambda *args: made.append(1) or searched(*args))
    before = source.candidates(first, "person"), source.gain(first, 0, 5)
    assert before[0][0].gain == second.merge.gain
    assert (source.candidates(first, "person"), source.gain(first, 5, 0)) == before
    assert len(made) == 1
    list(source.merged_by_hand(first, 0, 5))
    list(source.resume(first))
    assert len(made) == 3
    assert (source.candidates(first, "person"), source.gain(first, 0, 5)) == before
    assert len(made) == 3
    assert source.gain(second, 2, 3).gain == next(
        pair.gain for pair in source.candidates(second, "person") if (pair.first, pair.second) == (2, 3)
    )
    assert len(made) == 4


def test_states_cannot_be_changed():
    first = next(iter(ml.lift_graph(ml.sample("department").db)))
    with pytest.raises(ValueError, match="read-only"):
        first.labels[0] = 1


# --- what is found --------------------------------------------------------------------------------


def right_pairs(lifted, groups):
    """Precision and recall of the pairs of constants that are together."""
    names = [node.constant for node in lifted.hypergraph.nodes()]
    planted_in = np.array([(name[0] == "T") * 100 + groups[int(name[1:])] for name in names])
    found = lifted.labels[:, None] == lifted.labels[None, :]
    meant = planted_in[:, None] == planted_in[None, :]
    np.fill_diagonal(found, val=False)
    np.fill_diagonal(meant, val=False)
    both = np.count_nonzero(found & meant)
    return both / max(1, np.count_nonzero(found)), both / np.count_nonzero(meant)


@pytest.mark.parametrize(
    ("noise", "penalty", "precise", "found"),
    [(0.0, 1.0, 1.0, 1.0), (0.02, 1.0, 1.0, 0.6), (0.02, 4.0, 1.0, 0.9), (0.1, 8.0, 0.85, 0.85)],
)
def test_planted_clusters_are_recovered_against_noise(noise, penalty, precise, found):
    """Each wrong atom makes combinations, which are cheap at λ = 1: then clusters are pure, but split."""
    db, groups = planted(noise, seed=3)
    precision, recall = right_pairs(ml.lift_graph(db, penalty=penalty).run(), groups)
    assert precision >= precise
    assert recall >= found


@pytest.mark.data
@pytest.mark.parametrize(
    ("fold", "clusters", "hyperedges", "expected"),
    [(1, 21, 51, -52.3863), (3, 20, 49, -54.5452), (5, 19, 49, -49.0)],
)
def test_folds_of_imdb_end_where_another_program_ended(data_folder, fold, clusters, hyperedges, expected):
    mln = ml.load(data_folder / "imdb" / "imdb_decl.mln")
    lifted = ml.lift_graph(ml.load_db(data_folder / "imdb" / f"imdb_fold{fold}.db", mln)).run()
    assert (len(lifted.clusters), len(lifted.edges)) == (clusters, hyperedges)
    assert clustering_posterior(lifted).log_posterior == pytest.approx(expected, abs=1e-4)


@pytest.mark.data
def test_a_fold_of_cora_with_symmetric_predicates_keeps_its_posterior_exact(data_folder):
    mln = ml.load(data_folder / "cora" / "cora_decl.mln")
    search = ml.lift_graph(ml.load_db(data_folder / "cora" / "cora_fold4.db", mln))
    states = list(search)
    for state in states[:: len(states) // 8]:
        again = clustering_posterior(search.lifted(state))
        assert (again.log_likelihood, again.log_posterior) == (state.log_likelihood, state.log_posterior)
    assert np.array_equal(search.run().labels, states[-1].labels)


# --- Figure 1 -------------------------------------------------------------------------------------

FIGURE_1 = {
    ("Paula", "Pedro", "Petra", "Pierre"),
    ("Samir", "Selma", "Stella", "Sven"),
    tuple(f"CS{number}" for number in range(1, 9)),
}


@pytest.mark.parametrize("small", [-1, 400])
def test_figure_1_comes_out_by_algorithm_2_as_printed(monkeypatch, small):
    """At the paper's λ = 1, by both searches: three clusters, and the figure's three hyperedges."""
    monkeypatch.setattr(lift_graph, "SMALL", small)
    search = ml.lift_graph(ml.sample("department").databases["figure_1"])
    states = list(search)
    lifted = search.lifted(states[-1])
    assert {lifted.names(cluster) for cluster in lifted.clusters.tolist()} == FIGURE_1
    edges = [(e.predicate, *map(lifted.name_of, e.clusters), e.true, e.atoms) for e in lifted.edges]
    assert edges == [
        ("Teaches", "Paula, Pedro +2", "CS1, CS2 +6", 32, 32),
        ("TAs", "Samir, Selma +2", "CS1, CS2 +6", 32, 32),
        ("Advises", "Paula, Pedro +2", "Samir, Selma +2", 8, 16),
    ]
    assert {state.merge.type for state in states if state.merge is not None} == {"person", "course"}
    assert any(state.merge.likelihood < -1 for state in states if state.merge is not None)


def test_figure_1_is_the_most_probable_of_all_clusterings():
    """Of 4,140 partitions of eight people times 4,140 of eight courses."""
    search = ml.lift_graph(ml.sample("department").databases["figure_1"])
    labels, best = best_of_all_clusterings(search.hypergraph, "person", "course")
    assert len(labels) == 4_140
    last = list(search)[-1]
    assert best.max() == pytest.approx(last.log_posterior, abs=1e-9)
    assert labels[best.argmax()].tolist() == [0, 0, 0, 0, 1, 1, 1, 1]
    assert np.sort(best)[-2] < best.max() - 0.45
    # The small department is another matter: there its four parts are, one for each professor.
    small = ml.lift_graph(ml.sample("department").db)
    _, best = best_of_all_clusterings(small.hypergraph, "person", "course")
    assert best.max() == pytest.approx(list(small)[-1].log_posterior, abs=1e-9)


def test_the_department_stays_below_figure_1_where_no_two_clusters_share_a_context():
    """Two courses of one professor merge; after that algorithm 2 as printed has no pair to try."""
    search = ml.lift_graph(ml.sample("department").db)
    last = list(search)[-1]
    assert (last.clusters, last.hyperedges) == (12, 12)
    assert not any(search.candidates(last, type_) for type_ in search.problem.clustered_types)


@pytest.mark.parametrize("pairs", [0, 3_000])
def test_figure_1_comes_out_by_looking_ahead(monkeypatch, pairs):
    """At λ = 8; each merge that loses by itself is made up for by those that follow it."""
    monkeypatch.setattr(lift_graph, "SMALL_PAIRS", pairs)
    search = ml.lift_graph(ml.sample("department").db, penalty=8.0, look_ahead=True)
    states = list(search)
    lifted = search.lifted(states[-1])
    members = sorted(lifted.name_of(cluster, most=4) for cluster in lifted.clusters.tolist())
    assert members[0] == "CS1, CS2, CS3, CS4 +4"
    assert members[1:] == ["Paula, Pedro, Petra, Pierre", "Samir, Selma, Stella, Sven"]
    assert [edge.predicate for edge in lifted.edges] == ["Teaches", "TAs", "Advises"]
    ahead = [place for place, state in enumerate(states) if state.ahead]
    assert len(ahead) == 3
    for place, after in zip(ahead, [*ahead[1:], len(states) - 1], strict=True):
        assert states[place].merge.gain < 0 < states[place].ahead
        reached = states[after - 1 if after != len(states) - 1 else after]
        assert states[place - 1].log_posterior + states[place].ahead == pytest.approx(reached.log_posterior)


def test_looking_ahead_takes_the_pair_with_which_the_search_ends_best():
    """Of those that stand at one place of a predicate; here some other pair would end well, too."""
    triples = {
        "Meets": "A1A2B1 A1A3B3 A1A4B3 A4A1B1 A4A2B1 A4A3B2",
        "Sold": "A1B1A1 A1B2A4 A1B3A3 A4B2A2 A4B3A3",
    }
    facts = [(p, (t[:2], t[2:4], t[4:])) for p, listed in triples.items() for t in listed.split()]
    searches = [ml.lift_graph(database(facts), penalty=4.0, look_ahead=ahead) for ahead in (True, False)]
    before, state = next(pair for pair in pairwise(searches[0]) if pair[1].ahead)
    standing = {}
    for edge in searches[0].lifted(before).edges:
        for place, cluster in enumerate(edge.clusters):
            standing.setdefault((edge.predicate, place), set()).add(cluster)
    ends = []
    for pair in {pair for clusters in standing.values() for pair in combinations(sorted(clusters), 2)}:
        *_, last = searches[1].merged_by_hand(before, *pair)
        ends.append(last.log_posterior - before.log_posterior)
    assert state.ahead == pytest.approx(max(ends))
    assert sum(end > 0 for end in ends) > 1


def test_looking_ahead_is_for_small_databases():
    with pytest.raises(TooLargeError, match="up to 400 true atoms"):
        ml.lift_graph(planted(0.1, seed=1, members=9)[0], look_ahead=True)


def test_smoothing_that_would_take_long_is_refused_with_an_estimate():
    facts = "\n".join(f"Owns(A{one}, B{one % 3})" for one in range(900))
    db = ml.Database.from_text(facts, ml.MLN.from_text("Owns(a, b)"))
    with pytest.raises(TooLargeError, match=r"up to 134,550 pairs .* about 16 minutes") as caught:
        ml.lift_graph(db, smoothing=(1, 1))
    assert caught.value.estimate > 600
    assert ml.lift_graph(db).params.smoothing == (0, 0)


def figure_1(penalty):
    """Merge professors by hand; what their neighbours then share, LiftGraph merges by itself."""
    search = ml.lift_graph(ml.sample("department").db, penalty=penalty)
    state = list(search)[-1]
    for one, other in (("Paula", "Pedro"), ("Petra", "Pierre"), ("Paula", "Petra")):
        clusters = search.cluster(state, one), search.cluster(state, other)
        *_, state = search.merged_by_hand(state, *clusters)
    return search, state


def test_figure_1_follows_from_three_merges_by_hand():
    search, state = figure_1(penalty=8.0)
    lifted = search.lifted(state)
    names = [lifted.name_of(cluster, most=4) for cluster in lifted.clusters.tolist()]
    assert sorted(names)[1:] == ["Paula, Pedro, Petra, Pierre", "Samir, Selma, Stella, Sven"]
    assert {edge.predicate: (edge.true, edge.atoms) for edge in lifted.edges} == {
        "Teaches": (8, 32),
        "TAs": (8, 32),
        "Advises": (4, 16),
    }
    before = list(search)[-1]
    assert state.log_posterior > before.log_posterior  # the picture is the better clustering here


def test_with_the_papers_penalty_figure_1_is_no_better_than_where_the_search_ends():
    search, state = figure_1(penalty=8.0)
    ends = [search.lifted(reached) for reached in (list(search)[-1], state)]
    ended, drawn = (clustering_posterior(lifted, penalty=1.0).log_posterior for lifted in ends)
    assert drawn < ended


# --- rules, names, graphs -------------------------------------------------------------------------


def test_rules_have_the_weights_of_the_closed_form():
    lifted = ml.lift_graph(
        database([("Owns", ("A1", "B1")), ("Owns", ("A1", "B2")), ("Owns", ("A2", "B1"))])
    ).run()
    found = {rule.combination: rule.weight for rule in prediction_rules(lifted, (1.0, 1.0))}
    for (clusters, true, atoms), weight in found.items():
        assert weight == pytest.approx(np.log((true + 1) / (atoms - true + 1)))
        assert bool(clusters) == (true > 0)
    assert best_weight(0, 4) == -np.inf
    assert best_weight(4, 4) == np.inf


def test_a_lifted_hypergraph_becomes_a_bipartite_graph_with_names():
    search, state = figure_1(penalty=8.0)
    lifted = search.lifted(state)
    graph = lifted.to_networkx()
    assert sorted(data["bipartite"] for _, data in graph.nodes(data=True)) == [0, 0, 0, 1, 1, 1]
    professors = search.cluster(state, "Paula")
    assert graph.nodes[professors]["name"] == "Paula, Pedro +2"
    assert graph.nodes[professors]["members"] == ("Paula", "Pedro", "Petra", "Pierre")
    teaches = next(edge for edge in lifted.edges if edge.predicate == "Teaches")
    assert graph.edges[professors, teaches]["positions"] == (1,)


# --- pausing --------------------------------------------------------------------------------------


@pytest.fixture
def search():
    return ml.lift_graph(ml.sample("department").db)


@pytest.mark.parametrize(
    ("make", "said", "index"),
    [
        (lambda b: b.together("CS3", "CS4"), "CS3 and CS4 merge at step 2", 2),
        (lambda b: b.merge_of("course"), "clusters of CS1 and CS2 merge, which gains 2", 1),
        (lambda b: b.clusters(14), "at most 14 clusters at step 2", 2),
        (lambda b: b.clusters(5, "course"), "at most 5 clusters of course at step 3", 3),
        (lambda b: b.gain_below(2.5), "gains less than 2.5 at step 1: it gains 2", 1),
        (lambda b: b.next_round(), "a new round at step 1", 1),
    ],
)
def test_a_session_pauses_where_a_condition_says(search, make, said, index):
    session = Session(search, breaks=[make(search.breaks)])
    session.play()
    assert session.live.wait(PATIENCE)
    assert session.shown.index == index
    assert said in session.reason
    session.live.stop()


def test_a_run_stops_at_a_number_of_clusters(search):
    lifted = search.run(stop=search.breaks.clusters(6, "course"))
    assert len(lifted.clusters) == 14


# --- bad input ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"penalty": -1}, "penalty .λ. must be a number from 0"),
        ({"penalty": float("nan")}, "penalty .λ. must be a number from 0"),
        ({"smoothing": (1,)}, "smoothing must be two counts"),
        ({"smoothing": (-1, 0)}, "smoothing must be two counts"),
    ],
)
def test_parameters_are_refused_in_sentences(arguments, sentence):
    with pytest.raises(ArgumentError, match=sentence):
        ml.lift_graph(database([("Old", ("A1",))]), **arguments)


def test_there_have_to_be_true_atoms_with_arguments():
    mln = ml.MLN.from_text("Rains()\nOld(a)")
    for text in ("", "Rains()", "!Old(A)"):
        with pytest.raises(ArgumentError, match="nothing to lift"):
            ml.lift_graph(ml.Database.from_text(text, mln))


def test_propositions_are_left_out():
    mln = ml.MLN.from_text("Rains()\nOld(a)")
    lifted = ml.lift_graph(ml.Database.from_text("Rains()\nOld(A)\nOld(B)", mln)).run()
    assert [(edge.predicate, edge.true) for edge in lifted.edges] == [("Old", 2)]


def test_open_atoms_are_refused():
    mln = ml.MLN.from_text("Old(a)")
    with pytest.raises(ArgumentError, match="1 atom of Old as unknown"):
        ml.lift_graph(ml.Database.from_text("Old(A)\n?Old(B)", mln))


def test_several_databases_are_lifted_one_by_one():
    with pytest.raises(ArgumentError, match="one by one"):
        ml.lift_graph([ml.sample("department").db])


def test_one_constant_of_each_type_leaves_nothing_to_merge():
    search = ml.lift_graph(database([("Owns", ("A1", "B1")), ("Likes", ("A1", "A1"))]))
    states = list(search)
    assert [state.ended for state in states] == [False, True]


def test_a_predicate_that_is_always_true_has_one_combination_without_loss():
    lifted = ml.lift_graph(
        database([("Owns", (one, two)) for one in ("A1", "A2") for two in ("B1", "B2")])
    ).run()
    assert [(edge.true, edge.atoms) for edge in lifted.edges] == [(4, 4)]
    assert clustering_posterior(lifted).log_likelihood == 0.0


def test_questions_about_what_is_not_there_get_sentences(search):
    state = next(iter(search))
    for ask, sentence in (
        (lambda: search.candidates(state, "cuorse"), "no type cuorse to cluster, but person, course"),
        (lambda: search.gain(state, 0, 0), "Two different clusters of one type"),
        (lambda: search.gain(state, 0, 15), "of one type"),
        (lambda: search.gain(state, 0, 99), "no cluster 99"),
        (lambda: search.gain(state, 16, 17), "cluster_predicates=True"),
        (lambda: search.cluster(state, "Paulla"), "did you mean Paula"),
        (lambda: search.breaks.together("Paula"), "Merging takes two"),
        (lambda: next(ml.lift_graph(database([("Old", ("A1",))])).resume(state)), "from other data"),
    ):
        with pytest.raises(ArgumentError, match=sentence):
            ask()


def test_the_first_states_need_not_wait_for_the_rest(search):
    assert [state.round for state in islice(search, 3)] == [0, 1, 2]


def test_a_hypergraph_is_lifted_as_its_database_is(search):
    again = ml.lift_graph(ml.Hypergraph.from_database(ml.sample("department").db))
    assert all(map(same_state, again, search))
