"""A calibrated junction tree: from one passing of messages, distributions of variables, cliques, events."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import exp, inf, prod

import numpy as np

from mlnlab.errors import ArgumentError
from mlnlab.factors.graphs.factor import Factor
from mlnlab.factors.graphs.log_tables import LogTable, Reals, probabilities, product, summed_out
from mlnlab.factors.graphs.random_variables import Assignment, value_name
from mlnlab.factors.trees.network_answers import Distribution, MostProbable, VariableMarginals, impossible
from mlnlab.factors.trees.tree_messages import MessagePassing, MessageState, maximising_values
from mlnlab.factors.trees.variable_elimination import most_probable_of, variable_elimination
from mlnlab.logic.vocabulary import FrozenMapping
from mlnlab.steps.runs.working import in_parts


@dataclass(frozen=True, slots=True, eq=False)
class CalibratedTree:
    """A tree with its messages; ``calibrated["Rain"]["yes"]`` is a probability given the evidence."""

    passing: MessagePassing
    tables: tuple[tuple[LogTable, ...], ...]  # at each clique: the factors that are at home, and the messages
    marginals: VariableMarginals

    @property
    def log_z(self) -> float:
        """The logarithm of the sum of the weights that agree with the evidence."""
        return self.marginals.log_z

    @property
    def evidence(self) -> FrozenMapping[str]:
        """The evidence on which the distributions are conditioned."""
        return self.marginals.evidence

    def __getitem__(self, name: str) -> Distribution:
        return self.marginals[name]

    def belief(self, clique: int) -> Factor:
        """Return the joint distribution of a clique's open variables."""
        if type(clique) is not int or not 0 <= clique < len(self.passing.scopes):
            raise ArgumentError(
                f"The cliques are numbered 0 to {len(self.passing.scopes) - 1}, not {clique!r:.40}."
            )
        scope = tuple(self.passing.graph.variables[number] for number in self.passing.scopes[clique])
        return Factor.of(scope, probabilities(self._logs(clique).logs))

    def joint(self, names: Iterable[str]) -> Factor:
        """Return the joint distribution of some variables, in any cliques."""
        asked = [names] if isinstance(names, str) else list(dict.fromkeys(names))
        graph = self.passing.graph
        numbers = [graph.number(name) for name in asked]
        for clique, scope in enumerate(self.passing.scopes):
            if set(numbers) <= set(scope):
                out = [number for number in scope if number not in numbers]
                found = summed_out([self._logs(clique)], numbers, out, graph.sizes())
                return Factor.of([graph[name] for name in asked], probabilities(found.logs))
        return variable_elimination(graph, asked).joint

    def probability(self, event: Assignment) -> float:
        """Return the probability of values of some variables, in any cliques, given the evidence.

        P(x) is the product of P(clique | separator toward the root), summed inward with the event's values
        fixed. No two large logarithms are subtracted, so that small probabilities keep their digits.
        """
        graph = self.passing.graph
        if not self._agrees(event):
            return 0.0
        known = graph.places({name: value for name, value in event.items() if name in graph})
        near, sizes = self.passing.tree.neighbours(), graph.sizes()
        found: dict[int, LogTable] = {}
        above = dict(self.passing.schedule)
        total = 0.0
        for clique in [*above, *self.passing.roots]:
            parent = above.get(clique)
            kept = () if parent is None else self.passing.separator(clique, parent)
            got = [found[other] for other in near[clique] if other != parent]
            logs = self._conditional(clique, kept).fix_values(known)
            open_kept = [variable for variable in kept if variable not in known]
            out = [variable for variable in logs.scope if variable not in open_kept]
            found[clique] = summed_out([logs, *got], open_kept, out, sizes)
            total += float(found[clique].logs) if parent is None else 0.0
        # The last digit may be more than a probability can be.
        return min(1.0, exp(total))

    def most_probable(self) -> MostProbable:
        """Return a most probable assignment given the evidence, by maxima in place of sums."""
        graph = self.passing.graph
        values = maximising_values(self.passing)
        if values is None:
            raise impossible(graph.evidence)
        found = {graph.variables[n].name: graph.variables[n].values[value] for n, value in values.items()}
        return most_probable_of(self.passing.tree.graph, {**found, **graph.evidence}, self.evidence)

    def _agrees(self, event: Assignment) -> bool:
        """Check names and values, and tell whether an event agrees with the evidence."""
        graph, whole = self.passing.graph, self.passing.tree.graph
        for name, value in event.items():
            if name in graph or name not in graph.evidence:
                graph[name].number(value)
            else:
                known = graph.evidence[name]
                told = whole[name].values[whole[name].number(value)] if name in whole else value_name(value)
                if told != known:
                    return False
        return True

    def _logs(self, clique: int) -> LogTable:
        scope = self.passing.scopes[clique]
        return LogTable(scope, product(self.tables[clique], scope, self.passing.graph.sizes()))

    def _conditional(self, clique: int, separator: tuple[int, ...]) -> LogTable:
        """Return the logarithms of P(clique | separator); impossible values stay impossible."""
        logs = self._logs(clique)
        sizes = self.passing.graph.sizes()
        out = [variable for variable in logs.scope if variable not in separator]
        below = np.array(summed_out([logs], separator, out, sizes).logs)
        below[below == -inf] = 0.0
        return LogTable(logs.scope, product([logs, LogTable(separator, -below)], logs.scope, sizes))

    def __repr__(self) -> str:
        return f"<CalibratedTree: {self.marginals!r}>"


def calibrate(passing: MessagePassing, states: Iterable[MessageState] | None = None) -> CalibratedTree:
    """Pass all messages, and return the tree with the distribution of every variable.

    ``states`` are those of the passing where somebody has them already.
    """
    tables, _ = passing.tables_at()
    log_z: float | None = None
    for state in in_parts(passing if states is None else states, "passing messages", passing.costs()):
        log_z = state.log_z
        if log_z == -inf:
            raise impossible(passing.graph.evidence)
        if state.target is not None and state.message is not None:
            tables[state.target].append(state.message)
    whole = passing.tree.graph
    got = tuple(map(tuple, tables))
    found = _marginals(passing, got)
    names = [*whole.evidence, *(variable.name for variable in whole.variables)]
    told = {n: v for n, v in passing.graph.evidence.items() if n not in whole or whole[n].size > 1}
    marginals = VariableMarginals(
        FrozenMapping({name: found[name] for name in names}),
        FrozenMapping(told),
        log_z or 0.0,
        "junction tree",
    )
    return CalibratedTree(passing, got, marginals)


def _marginals(passing: MessagePassing, tables: Sequence[Sequence[LogTable]]) -> dict[str, Distribution]:
    """Return the distribution of each variable, from the smallest clique that holds it."""
    graph, whole = passing.graph, passing.tree.graph
    found: dict[str, Distribution] = {}
    for name, value in graph.evidence.items():
        values = whole[name].values if name in whole else (value,)
        found[name] = FrozenMapping({other: float(other == value) for other in values})
    sizes = graph.sizes()
    cells = [prod(sizes[variable] for variable in scope) for scope in passing.scopes]
    for clique in sorted(range(len(cells)), key=cells.__getitem__):
        scope = passing.scopes[clique]
        asked = [variable for variable in scope if graph.variables[variable].name not in found]
        if not asked:
            continue
        belief = probabilities(product(tables[clique], scope, sizes))
        for variable in asked:
            named = graph.variables[variable]
            shares = _summed_to(belief, scope.index(variable))
            found[named.name] = FrozenMapping(dict(zip(named.values, shares.tolist(), strict=True)))
    return found


def _summed_to(belief: Reals, axis: int) -> Reals:
    """Return the sums over all axes but one, made to add up to 1."""
    shares: Reals = belief.sum(axis=tuple(other for other in range(belief.ndim) if other != axis))
    shares /= shares.sum()
    return shares
