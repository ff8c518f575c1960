"""Rows of Δn and scores of clauses, held to ``ml.deltas`` and to the weight learner."""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.counting.deltas.deltas import deltas
from mlnlab.counting.facts.sorted_facts import Facts
from mlnlab.kernels.compiled import plain_twin
from mlnlab.kernels.lift import clause_newton as kernels
from mlnlab.structure.clauses import rooted_counts
from mlnlab.structure.clauses.clause_making import clause_formula, make_clauses
from mlnlab.structure.clauses.clause_rows import clause_signs, sampled_rows
from mlnlab.structure.clauses.clause_scores import DenseRows, PlannedRows, ScoreParams, Scorer, best_weights
from mlnlab.structure.clauses.conjunction_deltas import ConjunctionDeltas, ConjunctionTerms
from mlnlab.structure.clauses.sampled_atoms import Combinations, sampled_path
from mlnlab.structure.lift.lifted_hypergraph import LiftedHypergraph
from mlnlab.structure.paths.variabilized import SupportedPath, VariabilizedPath, canonical_path
from tests.structure.small_databases import graphs_of, random_databases, small_model
from tests.structure.small_hypergraphs import random_lifted

PATHS = (
    canonical_path([("Friends", (0, 1)), ("Friends", (1, 0)), ("Smokes", (1,))]),
    canonical_path([("Friends", (0, 1)), ("Friends", (1, 2)), ("Likes", (1, 3)), ("Smokes", (0,))]),
    canonical_path([("Friends", (0, 0)), ("Likes", (0, 1))]),
    canonical_path([("Friends", (0, 1)), ("Friends", (1, 2)), ("Friends", (2, 3)), ("Friends", (4, 3))]),
)
_WHOLE = ScoreParams(fraction=1.0, sampled=None, length_penalty=0.01)


def _supported(path: VariabilizedPath, databases: list[ml.Database]) -> SupportedPath:
    edges = tuple(np.arange(len(graph.edges)) for graph in graphs_of(databases))
    return SupportedPath(path, edges, 10)


@pytest.mark.parametrize("path", PATHS)
def test_rows_are_the_deltas_of_each_clause(path: VariabilizedPath) -> None:
    databases = random_databases(1)
    scorer = Scorer(databases, graphs_of(databases), ScoreParams(fraction=0.6, seed=4))
    clauses = make_clauses(path)
    signs = clause_signs(len(path.atoms), clauses)
    formulas = [clause_formula(path, bits, databases[0].vocabulary) for bits in clauses]
    for database, counter, samples in zip(databases, scorer.counters, scorer.samples, strict=True):
        wanted = deltas(formulas, database)
        for name, found in counter.of_path(path).items():
            sample = samples[name]
            truths = wanted[name].truths(sample.rows)
            assert np.array_equal(truths, sample.truths)
            atoms = Counter(
                (bool(true), *row)
                for true, row in zip(truths, wanted[name].at(sample.rows).tolist(), strict=True)
            )
            own = sampled_rows(found, sample)
            rows: Counter[tuple[float, ...]] = Counter()
            for true, row, number in zip(own.truths, own.values @ signs, own.numbers, strict=True):
                rows[(bool(true), *row.tolist())] += int(number)
            assert rows == atoms


def _wide_databases() -> list[ml.Database]:
    """Databases of different sizes with predicates of no argument, of three, and of a type twice."""
    model = ml.MLN.from_text("Rain()\nSmokes(person)\nFriends(person, person)\nGave(person, thing, person)")
    rng = np.random.default_rng(8)
    found = []
    for people, things in ((4, 2), (3, 3), (1, 1)):
        facts = ["Rain()"] if people == 4 else []
        facts += [f"Smokes(P{p})" for p in range(people) if rng.random() < 0.5]
        facts += [f"Friends(P{p}, P{q})" for p, q in product(range(people), repeat=2) if rng.random() < 0.4]
        triples = product(range(people), range(things), range(people))
        facts += [f"Gave(P{p}, T{t}, P{q})" for p, t, q in triples if rng.random() < 0.3 or p == t == q == 0]
        found.append(ml.Database.from_text("\n".join([*facts, "Smokes(P0)", "Friends(P0, P0)"]), model))
    return [*found, ml.Database.from_text("Smokes(P0)", model), ml.Database.from_text("", model)]


WIDE = (
    [("Gave", (0, 1, 2)), ("Gave", (2, 1, 0)), ("Friends", (0, 2))],
    [("Gave", (0, 1, 0)), ("Gave", (2, 1, 3)), ("Friends", (3, 2)), ("Smokes", (3,))],
    [("Gave", (0, 1, 2)), ("Gave", (0, 3, 2)), ("Gave", (4, 3, 5))],
    [("Friends", (0, 1)), ("Friends", (1, 2)), ("Friends", (2, 0)), ("Friends", (0, 3)), ("Friends", (3, 1))],
    [("Friends", (0, 0)), ("Friends", (0, 1)), ("Rain", ())],
    [("Rain", ()), ("Smokes", (0,))],
)


@pytest.mark.parametrize("atoms", WIDE)
def test_full_tables_and_plans_of_counts_make_the_same_rows(
    atoms: list[tuple[str, tuple[int, ...]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    databases = _wide_databases()
    scorer = Scorer(databases, graphs_of(databases), ScoreParams(fraction=0.8, sampled=40, seed=2))
    path = canonical_path(atoms)
    supported = _supported(path, databases)
    by_tables = scorer.rows_of(supported)
    assert isinstance(by_tables, DenseRows)
    of_tables = by_tables.near(), by_tables.select_sample()
    monkeypatch.setattr(rooted_counts, "MOST_CELLS", 0)
    by_plans = Scorer(databases, graphs_of(databases), scorer.params).rows_of(supported)
    assert isinstance(by_plans, PlannedRows)
    for one, other in zip(of_tables, (by_plans.near(), by_plans.select_sample()), strict=True):
        assert one.predicates == other.predicates
        rows = []
        for found in (one, other):
            owners = np.repeat(np.arange(len(found.predicates)), np.diff(found.starts))
            shares: Counter[tuple[float, ...]] = Counter()
            for owner, true, row, share in zip(
                owners, found.truths, found.values.tolist(), found.shares, strict=True
            ):
                shares[(owner, true, *row)] += share
            rows.append(shares)
        assert rows[0] == pytest.approx(rows[1])


def test_counts_that_were_dropped_from_memory_are_counted_again() -> None:
    databases = random_databases(1, 1)
    facts = Scorer(databases, graphs_of(databases), _WHOLE).facts[0]
    terms = ConjunctionTerms(facts.vocabulary)
    small, large = ConjunctionDeltas(facts, terms, most_bytes=1), ConjunctionDeltas(facts, terms)
    for path in PATHS * 2:
        for name, found in small.of_path(path).items():
            rows = np.array([[0] * len(found.sizes), [1] * len(found.sizes)], np.uint32)
            assert np.array_equal(found.at(rows), large.of_path(path)[name].at(rows))
    assert small.counted > large.counted


@pytest.mark.parametrize("path", PATHS)
def test_scores_are_those_of_the_weight_learner(path: VariabilizedPath) -> None:
    databases = random_databases(2)
    found = Scorer(databases, graphs_of(databases), _WHOLE).score_path(_supported(path, databases))
    for place in (0, 1, len(found.clauses) - 1):
        clause = clause_formula(path, int(found.clauses[place]), databases[0].vocabulary)
        learned = ml.learn_weights(
            small_model().add(clause), databases, "wpll", units=True, prior=ml.Gaussian(0, 100)
        )
        value = ml.pseudo_log_likelihood(learned.mln, databases, weighted=True)
        assert found.scores[place] == pytest.approx(value - 0.01 * len(path.atoms), abs=1e-7)
        assert found.weights[place] == pytest.approx(learned.weights[0], abs=1e-3)


def test_without_clauses_the_score_is_that_of_unit_clauses() -> None:
    databases = random_databases(2)
    scorer = Scorer(databases, graphs_of(databases), _WHOLE)
    learned = ml.learn_weights(small_model(), databases, "wpll", units=True, prior=ml.Gaussian(0, 100))
    value = ml.pseudo_log_likelihood(learned.mln, databases, weighted=True)
    assert scorer.without == pytest.approx(value, abs=1e-7)


def test_a_clause_that_is_never_broken_has_a_finite_weight() -> None:
    model = small_model()
    people = ("Anna", "Bob")
    facts = [f"Smokes({p})\nLikes({p}, Tea)\nLikes({p}, Ale)\nLikes({p}, Rum)" for p in people]
    database = ml.Database.from_text("\n".join(facts), model)
    path = canonical_path([("Likes", (0, 1)), ("Smokes", (0,))])
    found = Scorer([database], graphs_of([database]), _WHOLE).score_path(_supported(path, [database]))
    assert np.isfinite(found.weights).all()
    rule = found.clauses.tolist().index(0b10)  # Likes(p, t) => Smokes(p)
    assert found.weights[rule] > 1
    assert found.scores[rule] > -1.6


def test_the_kernel_is_its_plain_twin_and_takes_numbers_beyond_its_buckets() -> None:
    rng = np.random.default_rng(5)
    values = rng.integers(-3, 4, (4, 40)) * np.array([[1], [700], [5000], [1]])
    values[3] = 0
    truths, shares = rng.random(40) < 0.4, rng.random(40)
    starts, units = np.array([0, 25, 25, 40]), np.array([-0.3, 0.0, 0.2])
    results = []
    for climb in (kernels.climb_all, plain_twin(kernels.climb_all)):
        weights, best, found = np.zeros(4), np.zeros((4, 3)), np.zeros(4)
        climb(values.astype(float), truths, shares, starts, units, 1e-4, 1e-10, weights, best, found)
        results.append((weights, best, found))
    for compiled, plain in zip(*results, strict=True):
        np.testing.assert_allclose(compiled, plain, rtol=1e-9, atol=1e-12)
    assert results[0][0][3] == 0


@pytest.mark.parametrize("seed", range(3))
def test_atoms_of_a_path_are_those_in_its_cluster_combinations(seed: int) -> None:
    graph = random_lifted(seed, facts=20, constants=6)
    hypergraph, vocabulary = graph.hypergraph, graph.hypergraph.vocabulary
    edges, facts = np.arange(0, len(graph.edges), 2), Facts(vocabulary, {})
    wanted: dict[str, set[tuple[int, ...]]] = {}
    for edge in edges.tolist():
        _, predicate, clusters, _, _ = graph.edges[edge]
        domains = [vocabulary.domain(type_) for type_ in vocabulary[predicate].types]
        for nodes in product(*(graph.members(cluster) for cluster in clusters)):
            names = [hypergraph.node(int(node)).constant for node in nodes]
            row = tuple(domain.number(name) for domain, name in zip(domains, names, strict=True))
            wanted.setdefault(predicate, set()).add(row)
    (every,) = sampled_path([Combinations.of(graph)], [edges], [facts], 10**6, np.random.default_rng(0))
    assert {name: set(map(tuple, found.rows.tolist())) for name, found in every.items()} == wanted
    (some,) = sampled_path([Combinations.of(graph)], [edges], [facts], 5, np.random.default_rng(0))
    assert sum(len(found.keys) for found in some.values()) == 5
    assert all(set(map(tuple, found.rows.tolist())) <= wanted[name] for name, found in some.items())


def test_heuristic_2_looks_at_atoms_of_the_path_alone() -> None:
    databases = random_databases(6)
    graphs = graphs_of(databases)
    chosen = tuple(
        np.array([edge.number for edge in graph.edges if edge.predicate != "Likes"]) for graph in graphs
    )
    path = PATHS[0]
    scorer = Scorer(databases, graphs, ScoreParams(sampled=500, path_length_penalty=0.001))
    near = scorer.score_path(SupportedPath(path, chosen, 10)).near
    # Each constant in a cluster of its own: all these atoms are true, so that unit clauses say it all.
    assert (near < 0).all()
    assert near == pytest.approx(np.full(len(near), -0.003), abs=1e-3)
    parted = Scorer(databases, graphs, ScoreParams(sampled=3)).score_path(SupportedPath(path, chosen, 10))
    assert np.isnan(parted.scores).all()


def test_pooled_scores_count_atoms_of_all_databases_together() -> None:
    databases = random_databases(2)
    pooled = ScoreParams(fraction=1.0, sampled=None, pooled=True)
    own = Scorer(databases, graphs_of(databases), _WHOLE)
    together = Scorer(databases, graphs_of(databases), pooled)
    assert together.without == pytest.approx(own.without / 2, rel=0.2)
    assert together.atoms[0]["Smokes"] == 8
    rows = together.rows_of(_supported(PATHS[2], databases)).select_sample()
    assert best_weights(rows.of_clauses(clause_signs(2, (0,)))).values.shape == (1,)
    nothing = best_weights(rows.of_clauses(clause_signs(2, (0,))[:, :0]))
    assert (len(nothing.weights), len(nothing.units), len(nothing.values)) == (0, 0, 0)


def test_the_seed_draws_the_atoms() -> None:
    databases = random_databases(7)
    graphs = []
    for graph in graphs_of(databases):  # all constants of a type in one cluster
        offsets = list(graph.hypergraph.offsets.values())
        firsts = np.searchsorted(offsets, np.arange(len(graph.labels)), side="right") - 1
        graphs.append(LiftedHypergraph(graph.hypergraph, np.array(offsets)[firsts]))
    chosen = tuple(np.array([e.number for e in graph.edges if e.predicate != "Likes"]) for graph in graphs)
    supported = SupportedPath(PATHS[0], chosen, 10)
    near = [
        Scorer(databases, graphs, ScoreParams(sampled=12, seed=seed)).score_path(supported).near
        for seed in (1, 1, 2)
    ]
    assert np.array_equal(near[0], near[1])
    assert not np.array_equal(near[0], near[2])
    samples = [Scorer(databases, graphs, ScoreParams(seed=seed)).samples[0]["Friends"] for seed in (1, 2)]
    assert len(samples[0].keys) == len(samples[1].keys) == 8
    assert not np.array_equal(samples[0].keys, samples[1].keys)
