"""Factor graphs by enumeration, in plain Python: every state, its weight as a product, nothing clever."""

from __future__ import annotations

from itertools import product
from math import exp, fsum, inf, log

from hypothesis import strategies as st

import mlnlab as ml


def states(graph):
    """Every assignment to the variables, as names of values."""
    names = [variable.name for variable in graph.variables]
    for values in product(*(variable.values for variable in graph.variables)):
        yield dict(zip(names, values, strict=True))


def log_weight(graph, state):
    total = 0.0
    for factor in graph.factors:
        place = tuple(v.values.index(state[v.name]) for v in factor.scope)
        total += float(factor.logs[place])
    return total


def agreeing(graph, evidence):
    """The states that agree with evidence, with their weights in logarithms; zeros left out."""
    for state in states(graph):
        if all(state[name] == value for name, value in evidence.items()):
            weight = log_weight(graph, state)
            if weight > -inf:
                yield state, weight


def log_z(graph, evidence=None):
    weights = [weight for _, weight in agreeing(graph, evidence or {})]
    if not weights:
        return -inf
    most = max(weights)
    return most + log(fsum(exp(weight - most) for weight in weights))


def probability(graph, event, evidence=None):
    """P(event | evidence)."""
    evidence = evidence or {}
    if any(evidence.get(name, value) != value for name, value in event.items()):
        return 0.0
    both = log_z(graph, {**evidence, **event})
    return exp(both - log_z(graph, evidence))


def best(graph, evidence=None):
    """The largest weight, as a logarithm."""
    return max((weight for _, weight in agreeing(graph, evidence or {})), default=-inf)


# --- random models --------------------------------------------------------------------------------

WEIGHTS = st.one_of(
    st.just(0.0), st.just(1.0), st.floats(0.01, 100.0), st.floats(1e-200, 1e-190), st.floats(1e190, 1e200)
)


@st.composite
def graphs(draw, most_variables=6, weights=WEIGHTS):
    """A factor graph of at most some hundreds of states: one to four values, factors over zero to three."""
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=most_variables))
    variables = [ml.RandomVariable.numbered(f"v{n}", size) for n, size in enumerate(sizes)]
    factors = []
    for number in range(draw(st.integers(0, 7))):
        scope = draw(st.lists(st.sampled_from(variables), max_size=3, unique=True))
        cells = 1
        for variable in scope:
            cells *= variable.size
        table = draw(st.lists(weights, min_size=cells, max_size=cells))
        factors.append(ml.Factor.of(scope, table, f"f{number}"))
    return ml.FactorGraph(factors, draw(st.permutations(variables)))


@st.composite
def evidence_on(draw, graph):
    """Values of some of the variables."""
    chosen = draw(st.lists(st.sampled_from(graph.variables), max_size=3, unique=True))
    return {variable.name: draw(st.sampled_from(variable.values)) for variable in chosen}


@st.composite
def networks(draw, most_variables=6):
    """A Bayesian network; zeros among its probabilities, parents before and after their children."""
    sizes = draw(st.lists(st.integers(1, 3), min_size=1, max_size=most_variables))
    names = draw(
        st.lists(st.text(min_size=1, max_size=6), min_size=len(sizes), max_size=len(sizes), unique=True)
    )
    variables = [
        ml.RandomVariable(
            name, draw(st.lists(st.text(max_size=4), min_size=size, max_size=size, unique=True))
        )
        for name, size in zip(names, sizes, strict=True)
    ]
    tables = []
    for place, variable in enumerate(variables):
        parents = draw(st.lists(st.sampled_from(variables[:place]), max_size=3, unique=True)) if place else []
        rows = []
        cells = 1
        for parent in parents:
            cells *= parent.size
        for _ in range(cells):
            row = draw(st.lists(st.integers(0, 9), min_size=variable.size, max_size=variable.size))
            rows.append([number / sum(row) for number in row] if any(row) else [1.0] + [0.0] * (len(row) - 1))
        tables.append(ml.ConditionalTable(variable, parents, rows))
    return ml.BayesianNetwork(draw(st.permutations(tables)), draw(st.text(max_size=5)))
