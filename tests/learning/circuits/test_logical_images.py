"""Lemmas 4 to 6 of Lowd's thesis (section 5.6.3), by all truth assignments of small circuits."""

from __future__ import annotations

from functools import reduce
from itertools import combinations, product

import numpy as np
import pytest

from mlnlab.circuits.propositional.arithmetic_circuit import INDICATOR, PARAMETER, SUM
from mlnlab.circuits.propositional.circuit_compiling import compile_network
from mlnlab.learning.circuits.split_ac import SplitCircuit, grow_network
from tests.learning.circuits.circuit_oracles import RandomSplits, children_of, leaf_of, make_variables

MOST_LETTERS = 16  # 2^16 truth assignments


class LogicalImage:
    """Each node of a circuit as a formula: sums are disjunctions, products conjunctions.

    A leaf says that its letter is true and that those of its variable's other indicators, or of the other
    parameters, are false. A formula is a row of truth values, one for each truth assignment.
    """

    def __init__(self, circuit):
        self.circuit = circuit
        leaves = [node for node in range(len(circuit)) if circuit.kinds[node] in {INDICATOR, PARAMETER}]
        self.letters = {node: place for place, node in enumerate(leaves)}
        self.groups = {}  # of each kind and variable its letters
        for node in leaves:
            self.groups.setdefault(self.group(node), []).append(node)
        assignments = np.arange(1 << len(leaves))
        self.truth = {node: (assignments >> place & 1).astype(bool) for node, place in self.letters.items()}
        self.formulas, self.below = [], []
        for node in range(len(circuit)):
            children = children_of(circuit, node)
            if node in self.letters:
                others = [~self.truth[other] for other in self.groups[self.group(node)] if other != node]
                self.formulas.append(reduce(np.logical_and, others, self.truth[node]))
                self.below.append({node})
            else:
                join = np.logical_or if circuit.kinds[node] == SUM else np.logical_and
                self.formulas.append(reduce(join, [self.formulas[child] for child in children]))
                self.below.append(set().union(*(self.below[child] for child in children)))

    def group(self, node):
        return int(self.circuit.kinds[node]), int(self.circuit.variable[node])

    def letters_of(self, node):
        """Return Vars(n): a leaf speaks of all letters of its group."""
        return {letter for leaf in self.below[node] for letter in self.groups[self.group(leaf)]}

    def models(self):
        """Return the letters that are true in each model of the root."""
        found = np.flatnonzero(self.formulas[-1]).tolist()
        return {frozenset(n for n, place in self.letters.items() if model >> place & 1) for model in found}


def check_lemma_4(image):
    """A formula is true only where of each group below it just one letter is true, one that is below it."""
    for node, formula in enumerate(image.formulas):
        for group in {image.group(leaf) for leaf in image.below[node]}:
            rows = np.stack([image.truth[letter] for letter in image.groups[group]])
            own = np.stack(
                [image.truth[letter] for letter in image.groups[group] if letter in image.below[node]]
            )
            assert not formula[(rows.sum(axis=0) != 1) | ~own.any(axis=0)].any()


def check_lemma_5(image):
    """The image is a smooth d-DNNF."""
    for node in range(len(image.circuit)):
        for one, other in combinations(children_of(image.circuit, node), 2):
            if image.circuit.kinds[node] == SUM:
                assert image.letters_of(one) == image.letters_of(other)
                assert not (image.formulas[one] & image.formulas[other]).any()
            else:
                assert image.letters_of(one).isdisjoint(image.letters_of(other))


def check_lemma_6(image, network):
    """The models are the terms of the network polynomial."""
    circuit, terms = image.circuit, set()
    places = {
        (int(circuit.variable[n]), int(circuit.value[n]), float(circuit.parameters[n])): n
        for n in image.letters
    }
    for world in product(*(range(variable.size) for variable in network.variables)):
        parameters = [leaf_of(tree, world)[x] for tree, x in zip(network.trees, world, strict=True)]
        indicators = [places[place, x, 0.0] for place, x in enumerate(world)]
        named = [places[place, x, p] for place, (x, p) in enumerate(zip(world, parameters, strict=True))]
        terms.add(frozenset((*indicators, *named)))
    assert image.models() == terms


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("sizes", [(2, 2), (2, 2, 2), (3, 2)])
def test_images_of_split_and_of_compiled_circuits(sizes, seed):
    splits, circuit = RandomSplits(sizes, seed), SplitCircuit(make_variables(sizes))
    while True:
        distributions = splits.distributions()
        network = grow_network(circuit.variables, splits.splits, distributions)
        for made in (circuit.freeze(distributions), compile_network(network)):
            image = LogicalImage(made)
            check_lemma_4(image)
            check_lemma_5(image)
            check_lemma_6(image, network)
        chosen = splits.draw()
        more = 0 if chosen is None else sizes[splits.owner[chosen[0]]] * (sizes[chosen[1]] - 1)
        if not more or len(image.letters) + more > MOST_LETTERS:
            break
        circuit.split(*chosen)
        splits.apply(*chosen)
    assert splits.splits


def test_faults_are_found():
    """An image of a circuit that is not deterministic, with the same letter below two children of a sum."""
    variables = make_variables((2, 2))
    good = compile_network(grow_network(variables, [], [[0.25, 0.75], [0.5, 0.5]]))
    assert len(LogicalImage(good).models()) == 4
    children = good.children.copy()
    first_sum = int(np.flatnonzero(good.kinds == SUM)[0])
    start = int(good.first_child[first_sum])
    children[start + 1] = children[start]
    wrong = type(good)(
        good.variables, good.kinds, good.first_child, children, good.variable, good.value, good.parameters
    )
    with pytest.raises(AssertionError):
        check_lemma_5(LogicalImage(wrong))
