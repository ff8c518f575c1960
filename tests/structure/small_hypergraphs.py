"""Small random lifted hypergraphs: unary to ternary relations over two types, clusters made by chance."""

from __future__ import annotations

import numpy as np

import mlnlab as ml
from mlnlab.structure.lift.lifted_hypergraph import LiftedHypergraph

MODEL = "Old(a)\nLikes(a, a)\nOwns(a, b)\nMeets(a, a, b)\nRed(b)"


def random_lifted(seed: int, facts: int = 9, constants: int = 4, clusters: int = 3) -> LiftedHypergraph:
    """Return a lifted hypergraph; its nodes and hyperedges repeat now and then."""
    chance = np.random.default_rng(seed)
    mln = ml.MLN.from_text(MODEL)
    lines = set()
    names = list(mln.vocabulary.predicates.values())
    for _ in range(facts):
        predicate = names[chance.integers(len(names))]
        arguments = ", ".join(f"{type_.upper()}{chance.integers(constants)}" for type_ in predicate.types)
        lines.add(f"{predicate.name}({arguments})")
    graph = ml.Hypergraph.from_database(ml.Database.from_text("\n".join(sorted(lines)), mln))
    labels = np.arange(graph.number_of_nodes)
    for type_, first in graph.offsets.items():
        nodes = np.arange(first, first + len(graph.constants[type_]))
        drawn = chance.integers(clusters, size=len(nodes))
        for cluster in range(clusters):
            members = nodes[drawn == cluster]
            labels[members] = members.min(initial=len(labels))
    return LiftedHypergraph(graph, labels)
