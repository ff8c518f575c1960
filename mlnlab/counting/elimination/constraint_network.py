"""A clause in a world as a constraint network, whose solutions are the groundings that falsify the clause.

Sarkhel, Venugopal, Pham, Singla and Gogate, "Scalable training of Markov logic networks using approximate
counting" (AAAI 2016), the section on the #SG problem, example 1 and figure 1: a variable for each logical
variable, with the constants of its type as values; for each atom R(x, ..., u) a 0/1 constraint that allows an
assignment where R is true in the world if the literal is negative, and where it is false if the literal is
positive. The cost of the exact method is exponential in the treewidth of the primal graph, in which variables
that share a constraint are neighbours.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.counting.facts.sorted_facts import Facts, facts_of, select_rows
from mlnlab.counting.plans.binding import pattern_of
from mlnlab.errors import ArgumentError
from mlnlab.logic.formulas.formulas import Atom, Constant, Equality, Formula, Not, Or, Truth, Variable
from mlnlab.logic.formulas.substitution import free_variables

if TYPE_CHECKING:
    import networkx as nx
    from numpy.typing import NDArray

    from mlnlab.model.database.database import Database
    from mlnlab.model.database.world import World

MOST_EXACT = 12  # variables up to which the treewidth is exact: 2^12 sets


@dataclass(frozen=True, slots=True, eq=False)
class Constraint:
    """One literal as a constraint over its variables; ``listed`` holds where its atom is true in the world.

    Where ``allows_listed`` (the literal is negative) just the listed tuples are allowed, else all others.
    """

    literal: str
    scope: tuple[str, ...]
    sizes: tuple[int, ...]
    listed: NDArray[np.uint32]
    allows_listed: bool

    @property
    def allowed(self) -> int:
        """The number of allowed tuples."""
        return len(self.listed) if self.allows_listed else prod(self.sizes) - len(self.listed)

    def phi(self, *values: int) -> int:
        """Return the constraint's value, 0 or 1, for numbers of constants: the paper's φ."""
        among = bool((self.listed == np.array(values, np.uint32)).all(axis=1).any())
        return int(among == self.allows_listed)

    def table(self) -> list[tuple[tuple[int, ...], int]]:
        """Return φ in full, as figure 1 prints it."""
        return [(values, self.phi(*values)) for values in product(*map(range, self.sizes))]


@dataclass(frozen=True, slots=True, eq=False)
class ConstraintNetwork:
    """The constraint network of a clause in a world."""

    clause: str
    variables: tuple[str, ...]
    domains: tuple[tuple[str, ...], ...]
    constraints: tuple[Constraint, ...]

    def neighbours(self) -> dict[str, set[str]]:
        """Return the primal graph: variables that share a constraint."""
        found: dict[str, set[str]] = {variable: set() for variable in self.variables}
        for constraint in self.constraints:
            for variable in constraint.scope:
                found[variable] |= set(constraint.scope) - {variable}
        return found

    @property
    def treewidth(self) -> int:
        """The treewidth of the primal graph; an upper bound by min-fill beyond 12 variables."""
        if len(self.variables) <= MOST_EXACT:
            return exact_treewidth(self.neighbours())
        return width_of(self.neighbours(), min_fill_order(self.neighbours()))

    @property
    def treewidth_is_exact(self) -> bool:
        """Whether :attr:`treewidth` is the treewidth itself."""
        return len(self.variables) <= MOST_EXACT

    def number_of_solutions(self) -> int:
        """Return the number of assignments that satisfy every constraint, by trying them: for small ones."""
        places = {variable: place for place, variable in enumerate(self.variables)}
        assignments = product(*(range(len(domain)) for domain in self.domains))
        return sum(
            all(c.phi(*(values[places[variable]] for variable in c.scope)) for c in self.constraints)
            for values in assignments
        )

    def to_networkx(self) -> nx.Graph[Any]:
        """Return the primal graph."""
        import networkx as nx

        graph: nx.Graph[Any] = nx.Graph()
        graph.add_nodes_from(self.variables)
        graph.add_edges_from((one, other) for one, near in self.neighbours().items() for other in near)
        return graph


def constraint_network(
    clause: Formula, world: Database | World | Facts, variables: Sequence[Variable] | None = None
) -> ConstraintNetwork:
    r"""Return the constraint network of a clause (a disjunction of literals) in a world.

    ``variables`` are those of the groundings: where a clause was simplified, it may have lost some of them.

    >>> import mlnlab as ml
    >>> mln = ml.MLN.from_text("t = {A, B}\nR(t, t)\nS(t, t)\nT(t, t)")
    >>> db = ml.Database.from_text("R(A, B)\nR(B, A)\nS(A, B)\nT(A, B)", mln)
    >>> network = constraint_network(mln.parse("!R(x, y) v S(y, z) v T(x, z)"), db)
    >>> network.variables, network.treewidth, network.number_of_solutions()
    (('x', 'y', 'z'), 2, 2)
    """
    facts = facts_of(world)
    variables = free_variables(clause) if variables is None else variables
    literals = () if clause == Truth(False) else clause.operands if isinstance(clause, Or) else (clause,)
    constraints = tuple(_constraint(literal, clause, facts) for literal in literals)
    domains = tuple(tuple(facts.vocabulary.domain(variable.type)) for variable in variables)
    return ConstraintNetwork(str(clause), tuple(v.name for v in variables), domains, constraints)


def _constraint(literal: Formula, clause: Formula, facts: Facts) -> Constraint:
    atom = literal.operand if isinstance(literal, Not) else literal
    if isinstance(atom, Equality):
        arguments, source = (atom.left, atom.right), None
    elif isinstance(atom, Atom):
        arguments, source = atom.arguments, atom.predicate  # type: ignore[assignment]
    else:
        raise ArgumentError(f"A clause is a disjunction of literals; {clause} has the part {literal}.")
    plain = tuple(a for a in arguments if isinstance(a, Variable | Constant))
    if len(plain) < len(arguments):
        raise ArgumentError(f"{literal} calculates; a constraint network is made of plain literals.")
    scope = tuple(dict.fromkeys(a for a in plain if isinstance(a, Variable)))
    numbers = {variable: number for number, variable in enumerate(scope)}
    pattern = pattern_of(plain, [argument.type for argument in plain], numbers, facts.vocabulary)
    rows = _identical(plain, facts) if source is None else facts.rows(source)
    listed = np.zeros((0, len(scope)), np.uint32) if pattern is None else select_rows(rows, pattern)
    sizes = tuple(facts.size(variable.type) for variable in scope)
    return Constraint(str(literal), tuple(v.name for v in scope), sizes, listed, isinstance(literal, Not))


def _identical(arguments: Sequence[Variable | Constant], facts: Facts) -> NDArray[np.uint32]:
    """Return the tuples that satisfy an equality: constants of two types are the same by their names."""
    left, right = (facts.vocabulary.domain(argument.type) for argument in arguments)
    if left is right or left == right:
        every = np.arange(len(left), dtype=np.uint32)
        return np.stack([every, every], axis=1)
    pairs = [(number, right.number(name)) for number, name in enumerate(left) if name in right]
    return np.array(pairs, np.uint32).reshape(len(pairs), 2)


# --- treewidth ----------------------------------------------------------------------------------


def exact_treewidth(neighbours: Mapping[str, set[str]]) -> int:
    """Return the treewidth, by the dynamic programme over sets of variables eliminated first.

    Bodlaender, Fomin, Koster, Kratsch and Thilikos, "On exact algorithms for treewidth" (2012), section 3:
    TW(S) = min over v in S of max(TW(S - v), |Q(S - v, v)|), where Q(S, v) are the variables outside S that v
    reaches through S.
    """
    names = list(neighbours)
    best = {0: -1}
    for size in range(1, len(names) + 1):
        layer: dict[int, int] = {}
        for done, width in best.items():
            for place, name in enumerate(names):
                if done >> place & 1:
                    continue
                through = {other for k, other in enumerate(names) if done >> k & 1}
                cost = max(width, len(_reach_variables(name, through, neighbours)))
                more = done | 1 << place
                layer[more] = min(cost, layer.get(more, size + len(names)))
        best = layer
    return max(0, *best.values())


def _reach_variables(start: str, through: set[str], neighbours: Mapping[str, set[str]]) -> set[str]:
    """Return the variables outside a set that a path through the set reaches."""
    seen, waiting, found = {start}, [start], set[str]()
    while waiting:
        for other in neighbours[waiting.pop()] - seen:
            seen.add(other)
            if other in through:
                waiting.append(other)
            else:
                found.add(other)
    return found


def min_fill_order(neighbours: Mapping[str, set[str]]) -> list[str]:
    """Return an elimination order that adds few edges at each step."""
    graph = {name: set(near) for name, near in neighbours.items()}
    order = []
    while graph:
        name = min(graph, key=lambda one: (_missing_edges(graph, one), len(graph[one])))
        order.append(name)
        _eliminate(graph, name)
    return order


def width_of(neighbours: Mapping[str, set[str]], order: Iterable[str]) -> int:
    """Return the largest number of neighbours that a variable has when it is eliminated."""
    graph = {name: set(near) for name, near in neighbours.items()}
    width = 0
    for name in order:
        width = max(width, len(graph[name]))
        _eliminate(graph, name)
    return width


def _missing_edges(graph: Mapping[str, set[str]], name: str) -> int:
    near = graph[name]
    return sum(len(near - graph[other] - {other}) for other in near) // 2


def _eliminate(graph: dict[str, set[str]], name: str) -> None:
    near = graph.pop(name)
    for other in near:
        graph[other] |= near
        graph[other] -= {other, name}
