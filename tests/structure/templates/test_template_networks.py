"""Cliques and the paths of their clauses, against enumeration; networks from outside."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from mlnlab.steps.state_layout import misshapen
from mlnlab.structure.paths.variabilized import PathAtom, canonical_path
from mlnlab.structure.templates.grow_shrink import BlanketChange
from mlnlab.structure.templates.template_networks import (
    BOTH,
    EITHER,
    Clique,
    TemplateNetwork,
    blankets_after,
    clique_paths,
    head_cliques,
    join_nodes,
    links_of,
)
from mlnlab.structure.templates.template_nodes import TemplateNode


def node(*atoms):
    return TemplateNode(tuple(PathAtom(*atom) for atom in atoms), 1)


NODES = (
    node(("Works", (0, 1))),
    node(("Films", (2, 0))),
    node(("Films", (2, 1))),
    node(("Films", (2, 0)), ("Films", (2, 1))),
    node(("Actor", (0,))),
    node(("Actor", (0,)), ("Films", (2, 0))),
)


@pytest.mark.parametrize("seed", range(20))
def test_cliques_are_all_largest_sets_of_linked_nodes_with_the_head(seed):
    rng = np.random.default_rng(seed)
    links = [pair for pair in combinations(range(7), 2) if rng.random() < 0.5]
    linked = set(links)
    sets = [
        (0, *others) for size in range(1, 7) for others in combinations(range(1, 7), size)
        if linked.issuperset(combinations((0, *others), 2))
    ]  # fmt: skip
    largest = sorted(one for one in sets if not any(set(one) < set(other) for other in sets))
    assert list(head_cliques(links)) == largest


def test_links_are_agreed_on_by_one_blanket_or_by_both():
    def change(number, other, *, added=True):
        return BlanketChange(number, other, (), added, 4.0, 1, 0.04)

    changes = [change(0, 1), change(0, 2), change(1, 0), change(0, 2, added=False), change(3, 0)]
    blankets = blankets_after(changes)
    assert blankets == {0: (1,), 1: (0,), 3: (0,)}
    assert links_of(blankets, BOTH) == ((0, 1),)
    assert links_of(blankets, EITHER) == ((0, 1), (0, 3))


def test_nodes_share_the_variables_of_the_head_alone():
    films = join_nodes([NODES[0], NODES[1], NODES[2]])
    assert films == canonical_path([("Works", (0, 1)), ("Films", (2, 0)), ("Films", (3, 1))])
    film = join_nodes([NODES[0], NODES[3]])
    assert film == canonical_path([("Works", (0, 1)), ("Films", (2, 0)), ("Films", (2, 1))])
    actor = join_nodes([NODES[0], NODES[4], NODES[5]])  # an atom without other variables stands once
    assert actor == canonical_path([("Works", (0, 1)), ("Actor", (0,)), ("Films", (2, 0))])


def test_paths_are_those_of_all_sets_within_the_limits():
    def paths(longest, variables, dangling=True):
        return set(clique_paths(NODES, range(6), longest, variables, dangling=dangling))

    sets = [chosen for size in range(1, 6) for chosen in combinations(range(1, 6), size)]
    every = {join_nodes([NODES[0], *(NODES[n] for n in chosen)]) for chosen in sets}
    assert paths(20, 20) == every
    for longest, variables in ((2, 20), (3, 3), (4, 4), (20, 3)):
        expected = {p for p in every if len(p.atoms) <= longest and p.number_of_variables <= variables}
        assert paths(longest, variables) == expected
    assert paths(20, 20, dangling=False) == {path for path in every if not path.dangling}
    assert paths(3, 3, dangling=False) == {join_nodes([NODES[0], NODES[3]])}


def test_networks_from_outside_have_nodes_and_blankets_that_exist():
    change = BlanketChange(0, 1, (), True, 4.0, 1, 0.04)
    good = TemplateNetwork("Works", NODES, 50, "", (change,), (Clique((0, 1), ()),))
    assert misshapen(good, {}) == ""
    for bad, words in (
        (replace(good, changes=(replace(change, other=6),)), "nodes do not exist"),
        (replace(good, changes=(replace(change, given=(9,)),)), "nodes do not exist"),
        (replace(good, cliques=(Clique((0, 7), ()),)), "nodes do not exist"),
        (replace(good, changes=(change, change)), "twice"),
        (replace(good, changes=(replace(change, added=False),)), "do not have"),
        (replace(good, changes=(replace(change, p=1.5),)), "outside its range"),
        (replace(good, rows=-1), "outside its range"),
        (replace(good, nodes=(replace(NODES[0], held="many"),)), "not a whole number"),
    ):
        assert words in misshapen(bad, {})
