"""Small random databases, and LiftGraph's posterior, candidates and gains written down once more, slowly."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, product
from math import log, prod

import numpy as np
from hypothesis import strategies as st

import mlnlab as ml

MODEL = ml.MLN.from_text(
    "Old(a)\nTall(a)\nRed(b)\nLikes(a, a)\nHates(a, a)\nOwns(a, b)\nMeets(a, a, b)\nSold(a, b, a)\n"
    "Pairs(b, b)"
)
NAMES = {"a": ("A1", "A2", "A3", "A4"), "b": ("B1", "B2", "B3")}


def possible_atoms():
    found = []
    for predicate in MODEL.vocabulary.predicates.values():
        found += [(predicate.name, arguments) for arguments in product(*(NAMES[t] for t in predicate.types))]
    return found


def databases(least=1, most=16):
    """Sets of true atoms of one to three arguments; symmetric, reflexive and repeated ones come by chance."""
    chosen = st.sets(st.sampled_from(possible_atoms()), min_size=least, max_size=most)
    return chosen.map(lambda atoms: database(sorted(atoms)))


def database(atoms):
    return ml.Database.from_text("\n".join(f"{name}({', '.join(terms)})" for name, terms in atoms), MODEL)


def clusters_of(graph, labels):
    """For each constant, with its type, the frozen set of constants that it is with."""
    nodes = [(node.type, node.constant) for node in graph.nodes()]
    groups = {}
    for node, label in zip(nodes, labels, strict=True):
        groups.setdefault(int(label), set()).add(node)
    return {node: frozenset(groups[int(label)]) for node, label in zip(nodes, labels, strict=True)}


def rules(graph, clusters, together=None):
    """Count the true atoms of each cluster combination; ``together`` maps a predicate to its cluster."""
    together = together or {}
    counts = Counter()
    for atom in graph.edges():
        types = graph.vocabulary.predicates[atom.predicate].types
        members = tuple(clusters[type_, str(name)] for type_, name in zip(types, atom.arguments, strict=True))
        counts[together.get(atom.predicate, frozenset([atom.predicate])), members] += 1
    return counts


def posterior(graph, clusters, penalty=1.0, smoothing=(0.0, 0.0), together=None):
    """Log-likelihood at the best weights minus the penalty of each combination, as the paper defines them."""
    counts = rules(graph, clusters, together)
    alpha, beta = smoothing
    total, left = -penalty * len(counts), Counter()
    for predicate in {atom.predicate for atom in graph.edges()}:
        types = graph.vocabulary.predicates[predicate].types
        own = (together or {}).get(predicate, frozenset([predicate]))
        left[own] += prod(sum(node.type == type_ for node in graph.nodes()) for type_ in types)
    for (predicates, members), true in counts.items():
        atoms = len(predicates) * prod(map(len, members))
        left[predicates] -= atoms
        total += true * log((true + alpha) / (atoms + alpha + beta))
        false = atoms - true
        total += false * log((false + beta) / (atoms + alpha + beta)) if false else 0.0
    for atoms in left.values():
        total += atoms * log((atoms + beta) / (atoms + alpha + beta)) if atoms else 0.0
    return total


def sharing(graph, clusters):
    """The pairs of clusters that appear in two hyperedges which differ in them alone."""
    found = set()
    for (one, left), (two, right) in combinations(rules(graph, clusters), 2):
        different = [place for place, pair in enumerate(zip(left, right, strict=False)) if pair[0] != pair[1]]
        if one == two and len(different) == 1:
            found.add(frozenset((left[different[0]], right[different[0]])))
    return found


def merged(clusters, pair):
    one, two = pair
    return {node: one | two if cluster in pair else cluster for node, cluster in clusters.items()}


def partitions(items):
    """All ways to put items into clusters."""
    if not items:
        yield []
        return
    first, *others = items
    for rest in partitions(others):
        yield [[first], *rest]
        for place in range(len(rest)):
            yield [*rest[:place], [first, *rest[place]], *rest[place + 1 :]]


def best_of_all_clusterings(graph, listed, other, penalty=1.0):
    """The best log-posterior for each partition of one type, whatever the partition of the other one.

    All partitions of the first type are listed. What a cluster of the other one adds depends on nothing but
    the partition of the first and its own members, so the best partition of it is found subset by subset.
    Predicates are of (listed, other) or (listed, listed).
    """
    number, width = len(graph.constants[listed]), len(graph.constants[other])
    labels = np.array(list(_labels_of_partitions(number)))
    members = (labels[:, None, :] == np.arange(number)[None, :, None]).astype(float)  # partition, group, one
    sizes = members.sum(2)
    alone = np.zeros(len(labels))
    added = np.zeros((1 << width, len(labels)))
    for name, rows in graph.members.items():
        types = graph.vocabulary.predicates[name].types
        table = np.zeros([len(graph.constants[type_]) for type_ in types])
        table[tuple((rows - [graph.offsets[type_] for type_ in types]).T)] = 1
        if types == (listed, listed):
            true = members @ table @ members.transpose(0, 2, 1)
            alone += _terms(true, sizes[:, :, None] * sizes[:, None, :], penalty).sum((1, 2))
            continue
        assert types == (listed, other)
        for subset in range(1, 1 << width):
            inside = [place for place in range(width) if subset >> place & 1]
            true = members @ table[:, inside].sum(1)
            added[subset] += _terms(true, sizes * len(inside), penalty).sum(1)
    best = np.zeros_like(added)
    for subset in range(1, 1 << width):
        lowest = subset & -subset
        rest, parts = subset ^ lowest, []
        part = rest
        while True:
            parts.append(added[part | lowest] + best[rest ^ part])
            if not part:
                break
            part = (part - 1) & rest
        best[subset] = np.max(parts, axis=0)
    return labels, alone + best[-1]


def _labels_of_partitions(number):
    if not number:
        yield ()
        return
    for rest in _labels_of_partitions(number - 1):
        for label in range(max(rest, default=-1) + 2):
            yield (*rest, label)


def _terms(true, atoms, penalty):
    some = np.maximum(true, 1), np.maximum(atoms, 1), np.maximum(atoms - true, 1)
    found = true * np.log(some[0] / some[1]) + (atoms - true) * np.log(some[2] / some[1]) - penalty
    return np.where(true > 0, found, 0.0)


def planted(noise, seed, members=6, groups=3):
    """People in groups who like the people of one other group and own things of one kind."""
    chance = np.random.default_rng(seed)
    mln = ml.MLN.from_text("Likes(person, person)\nOwns(person, thing)")
    people, number = np.arange(members * groups), members * groups
    of = people % groups
    likes = (of[:, None] + 1) % groups == of[None, :]
    owns = of[:, None] == of[None, :]
    tables = {"Likes": ("P", "P", likes), "Owns": ("P", "T", owns)}
    lines = []
    for name, (left, right, table) in tables.items():
        flipped = table ^ (chance.random((number, number)) < noise)
        lines += [f"{name}({left}{one}, {right}{two})" for one, two in np.argwhere(flipped).tolist()]
    return ml.Database.from_text("\n".join(lines), mln), of
