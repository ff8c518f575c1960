"""Paths of the paper's data sets, lifted: how many there are, none of them left out."""

from __future__ import annotations

from collections import defaultdict

import pytest

import mlnlab as ml
from mlnlab.structure.lift.lifted_hypergraph import separate_constants
from mlnlab.structure.paths.hyperedge_paths import connected_paths
from mlnlab.structure.paths.path_support import supported_paths
from mlnlab.structure.paths.variabilized import variabilize
from tests.support.shared_data import folder_or_skip

pytestmark = pytest.mark.data


def lifted(name, short, folds):
    folder = folder_or_skip("data") / name
    mln = ml.load(folder / f"{short}_decl.mln")
    return [ml.lift_graph(ml.load_db(folder / f"{short}_fold{fold}.db", mln)).run() for fold in folds]


def listed(graphs, longest):
    """Return the true atoms of all paths that look alike, by listing all connected sets."""
    found = defaultdict(lambda: [set() for _ in graphs])
    for number, graph in enumerate(graphs):
        for edges in connected_paths(graph, longest):
            found[variabilize(graph, edges)][number].update(edges)
    return {
        path: sum(graph.edges[n].true for graph, edges in zip(graphs, unions, strict=True) for n in edges)
        for path, unions in found.items()
    }


def test_no_path_of_imdb_is_left_out_at_the_length_of_the_paper():
    graphs = lifted("imdb", "imdb", (1, 3))
    grown = {one.path: one.true_atoms for one in supported_paths(graphs, 5)}
    assert len(grown) > 1_000
    assert grown == listed(graphs, 5)
    enough = {path for path, true in grown.items() if true >= 50 * len(path.atoms)}
    assert {one.path for one in supported_paths(graphs, 5, fewest=50)} == enough


def test_no_path_of_a_fold_of_uw_cse_is_left_out():
    graphs = lifted("uw-cse", "uwcse", (3,))
    assert {one.path: one.true_atoms for one in supported_paths(graphs, 3)} == listed(graphs, 3)


def test_unlifted_hypergraphs_have_no_fewer_paths_than_their_ground_atoms_show():
    folder = folder_or_skip("data") / "uw-cse"
    mln = ml.load(folder / "uwcse_decl.mln")
    graph = separate_constants(ml.Hypergraph.from_database(ml.load_db(folder / "uwcse_fold3.db", mln)))
    forms = {variabilize(graph, edges) for edges in connected_paths(graph, 3)}
    assert forms == {one.path for one in supported_paths([graph], 3)}
