"""Compile networks into arithmetic circuits by variable elimination over decision diagrams.

Each conditional distribution or factor becomes a diagram with parameters for leaves, so that equal rows,
equal weights and leaves of trees are one leaf. To eliminate a variable, its indicators and the diagrams that
ask for it are multiplied, and its values summed out; the sums and products of leaves are the circuit's nodes
(Chavira and Darwiche, Compiling Bayesian networks using variable elimination, 2007). Factors that all terms
of a sum have are taken out of it, so that contexts in which the rest is the same share it. The circuit is
smooth, decomposable and deterministic: a variable's indicators enter when it is summed out, nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import exp, inf, prod

import numpy as np

from mlnlab.circuits.propositional.arithmetic_circuit import ArithmeticCircuit
from mlnlab.circuits.propositional.circuit_building import ONE, CircuitBuilder
from mlnlab.circuits.propositional.decision_diagrams import Diagrams, LimitError
from mlnlab.errors import ArgumentError, TooLargeError, UnsatisfiableError, count_of
from mlnlab.factors.graphs.bayesian_network import BayesianNetwork
from mlnlab.factors.graphs.conditional_table import ConditionalTable
from mlnlab.factors.graphs.factor_graph import FactorGraph, large_number
from mlnlab.factors.graphs.random_variables import RandomVariable, show_name
from mlnlab.factors.graphs.tree_network import DecisionTree, TreeLeaf, TreeNetwork
from mlnlab.factors.trees.elimination_rules import METHODS, eliminated_by_rule, eliminated_in_order
from mlnlab.logic.checked_options import whole_number
from mlnlab.logic.suggestions import did_you_mean

Network = TreeNetwork | BayesianNetwork | FactorGraph
MOST_EDGES = 1_000_000  # that are made unless more are allowed: some twenty seconds, one or two gigabytes
_LARGEST_SCALE = 600.0  # logarithm of the largest number that one parameter holds


@dataclass(frozen=True, slots=True)
class CompilationPlan:
    """An order of elimination with the edges that it makes at most, where no context is of any help."""

    order: tuple[int, ...]
    most_edges: int
    width: int  # the most variables beside the one that is eliminated


def plan_compilation(model: Network, order: str | Sequence[str] = "min-fill") -> CompilationPlan:
    """Return an elimination order and an upper bound of the circuit's edges, without making any table.

    >>> import mlnlab as ml
    >>> from mlnlab.circuits.propositional.circuit_compiling import plan_compilation
    >>> network = ml.sample_network("greenhouse")
    >>> plan = plan_compilation(network)
    >>> plan.width, ml.compile_circuit(network).edges <= plan.most_edges
    (3, True)
    """
    scopes = _scopes(model)
    sizes = [variable.size for variable in model.variables]
    near: list[set[int]] = [set() for _ in sizes]
    for scope in scopes:
        for variable in scope:
            near[variable] |= set(scope) - {variable}
    if isinstance(order, str):
        if order not in METHODS:
            raise ArgumentError(f"There is no rule {show_name(order)!r}{did_you_mean(order, METHODS)}.")
        steps = eliminated_by_rule(near, sizes, order, [range(len(sizes))])
    else:
        steps = eliminated_in_order(near, _numbers(model.variables, order))
    left = [set(scope) for scope in scopes]
    eliminated, edges, width = [], sum(sizes), 0
    for step in steps:
        joined = [scope for scope in left if step.variable in scope]
        left = [scope for scope in left if step.variable not in scope] + [set(step.others)]
        cells = prod((sizes[other] for other in step.others), start=sizes[step.variable])
        # Of each cell: products of its factors two by two, one with the indicator, and an edge of the sum.
        edges += cells * (2 * max(len(joined), 1) + 1)
        eliminated.append(step.variable)
        width = max(width, len(step.others))
    return CompilationPlan(tuple(eliminated), edges + 2 * len(sizes), width)


def _numbers(variables: Sequence[RandomVariable], names: object) -> list[int]:
    known = {variable.name: number for number, variable in enumerate(variables)}
    listed = [str(name) for name in names] if isinstance(names, Sequence) else []
    if not isinstance(names, Sequence) or sorted(listed) != sorted(known):
        raise ArgumentError("An elimination order names every variable once.")
    return [known[name] for name in listed]


def _scopes(model: Network) -> list[tuple[int, ...]]:
    match model:
        case TreeNetwork() | BayesianNetwork():
            return [(*parents, number) for number, parents in enumerate(model.parents())]
        case FactorGraph():
            return [model.scope(factor) for factor in model.factors]
        case _:
            raise ArgumentError(
                f"A network with trees or tables, a factor graph or a Markov logic network is compiled, "
                f"not {model!r:.60}."
            )


def compile_network(
    model: Network, *, order: str | Sequence[str] = "min-fill", most_edges: int = MOST_EDGES
) -> ArithmeticCircuit:
    """Return the arithmetic circuit of a network or factor graph; ``ml.compile_circuit`` is its door."""
    most_edges = whole_number(most_edges, "most_edges", 1)
    plan = plan_compilation(model, order)
    if plan.most_edges > most_edges and not _has_contexts(model):
        raise _too_large(plan, most_edges, "No context makes it smaller.")
    builder = CircuitBuilder(model.variables)
    diagrams, done = Diagrams(builder, plan.order, most_edges), 0
    try:
        parts = list(_diagrams(model, diagrams))
        for variable in plan.order:
            parts = _eliminate(diagrams, parts, variable)
            done += 1
    except LimitError:
        eliminated = f"{done:,} of {count_of(len(plan.order), 'variable')}"
        raise _too_large(plan, most_edges, f"They were reached when {eliminated} were summed out.") from None
    terms = [term for part, _ in parts if (term := diagrams.terms[part]) is not None]
    if len(terms) < len(parts):
        raise UnsatisfiableError("Every assignment has the weight 0, so that there is no distribution.")
    factors = frozenset[int]().union(*terms)
    if not factors:  # there is no variable
        factors = builder.parameter("one", 1.0) or factors
    circuit = builder.circuit(builder.product(factors))
    circuit.prepared.update(smooth=True, deterministic=True)
    return circuit


def _too_large(plan: CompilationPlan, most_edges: int, sentence: str) -> TooLargeError:
    return TooLargeError(
        f"The circuit may need up to {large_number(plan.most_edges)} edges (a table over {plan.width + 1} "
        f"variables), and at most {most_edges:,} are allowed. {sentence}",
        float(min(plan.most_edges, 10**300)),
        [
            "allow more by most_edges=, where there are the memory and the time",
            f"try another elimination order ({', '.join(METHODS)}, or your own)",
            "learn the circuit itself, with a price on its edges: ml.learn_circuit",
            "ask a method that approximates, such as Gibbs sampling or belief propagation",
        ],
    )


def _eliminate(
    diagrams: Diagrams, parts: list[tuple[int, frozenset[int]]], variable: int
) -> list[tuple[int, frozenset[int]]]:
    """Multiply the diagrams that ask for a variable, the smallest first, and sum it out."""
    own = sorted((part for part in parts if variable in part[1]), key=lambda part: (len(part[1]), part[0]))
    rest = [part for part in parts if variable not in part[1]]
    product = diagrams.of_indicators(variable)
    for diagram, _ in own:
        product = diagrams.multiply(product, diagram)
    found = diagrams.sum_out(product, variable)
    return [*rest, (found, frozenset(diagrams.variables_of(found)))]


# --- the diagrams of trees, tables and factors --------------------------------------------------


def _diagrams(model: Network, diagrams: Diagrams) -> Iterator[tuple[int, frozenset[int]]]:
    """Yield each distribution or factor as a diagram, with the variables that it asks for."""
    found: Iterator[int]
    match model:
        case TreeNetwork():
            found = (_of_tree(diagrams, number, tree) for number, tree in enumerate(model.trees))
        case BayesianNetwork():
            scopes = _scopes(model)
            found = (_of_conditional(diagrams, s, t) for s, t in zip(scopes, model.tables, strict=True))
        case _:
            found = (_of_factor(diagrams, model, number) for number in range(len(model.factors)))
    for diagram in found:
        yield diagram, frozenset(diagrams.variables_of(diagram))


def _of_tree(diagrams: Diagrams, variable: int, tree: DecisionTree) -> int:
    """Return the diagram of a decision tree; each leaf has parameters of its own."""
    own = diagrams.level_of[variable]
    made: dict[int, int] = {}
    waiting = [0]
    while waiting:
        number = waiting[-1]
        node = tree.nodes[number]
        if isinstance(node, TreeLeaf):
            leaves = (
                diagrams.builder.parameter(("leaf", variable, number, value), probability, variable, value)
                for value, probability in enumerate(node.probabilities)
            )
            made[number] = diagrams.ask(own, tuple(map(diagrams.leaf, leaves)))
        elif missing := [child for child in node.children if child not in made]:
            waiting += missing
            continue
        else:
            branches = tuple(made[child] for child in node.children)
            made[number] = diagrams.choose(diagrams.level_of[node.variable], branches)
        waiting.pop()
    return made[0]


def _of_conditional(diagrams: Diagrams, scope: tuple[int, ...], table: ConditionalTable) -> int:
    """Return the diagram of a conditional table, in which equal probabilities are one parameter."""
    variable, probabilities = scope[-1], table.probabilities
    leaves = np.empty(probabilities.shape, np.int64)
    for cell in np.ndindex(probabilities.shape):
        number = float(probabilities[cell])
        node = diagrams.builder.parameter(("table", variable, number), number, variable, cell[-1])
        leaves[cell] = diagrams.leaf(node)
    return diagrams.of_table(scope, leaves)


def _of_factor(diagrams: Diagrams, graph: FactorGraph, number: int) -> int:
    """Return the diagram of a factor; its largest weight is a parameter before it, where it is extreme."""
    factor = graph.factors[number]
    most = float(factor.logs.max(initial=-inf))
    scale = most if most > -inf and abs(most) > 100.0 else 0.0
    leaves = np.empty(factor.logs.shape, np.int64)
    for cell in np.ndindex(factor.logs.shape):
        log = float(factor.logs[cell])
        weight = exp(log - scale)
        if log > -inf and not weight:
            raise ArgumentError(
                f"{factor!r} has weights that are more than e^700 apart; a circuit holds no such numbers."
            )
        node = ONE if weight == 1 else diagrams.builder.parameter((number, weight), weight)
        leaves[cell] = diagrams.leaf(node)
    found = diagrams.of_table(graph.scope(factor), leaves)
    while scale:
        part = max(-_LARGEST_SCALE, min(scale, _LARGEST_SCALE))
        node = diagrams.builder.parameter((number, "scale", scale), exp(part))
        found, scale = diagrams.multiply(found, diagrams.leaf(node)), scale - part
    return found


def _has_contexts(model: Network) -> bool:
    """Tell whether some distribution or factor says the same in several cells, or forbids some."""
    match model:
        case TreeNetwork():
            sizes = [variable.size for variable in model.variables]
            return any(len(tree.leaves()) < prod(sizes[p] for p in tree.parents()) for tree in model.trees)
        case BayesianNetwork():
            return any(len(np.unique(t.probabilities)) < t.probabilities.size for t in model.tables)
        case FactorGraph():
            return any(len(np.unique(factor.logs)) < factor.logs.size for factor in model.factors)
