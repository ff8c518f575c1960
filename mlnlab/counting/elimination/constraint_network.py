"""A clause in a world as a constraint network, whose solutions are the groundings that falsify the clause.

Sarkhel, Venugopal, Pham, Singla and Gogate, "Scalable training of Markov logic networks using approximate
counting" (AAAI 2016), the section on the #SG problem, example 1 and figure 1: a variable for each logical
variable, with the constants of its type as values; for each atom R(x, ..., u) a 0/1 constraint that allows an
assignment where R is true in the world if the literal is negative, and where it is false if the literal is
positive. The cost of the exact method is exponential in the treewidth of the primal graph, in which variables
that share a constraint are neighbours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.counting.facts.sorted_facts import Facts, facts_of, select_rows
from mlnlab.counting.plans.binding import pattern_of
from mlnlab.errors import ArgumentError
from mlnlab.factors.trees.treewidth import Treewidth, treewidth_of
from mlnlab.logic.formulas.formulas import Atom, Constant, Equality, Formula, Not, Or, Truth, Variable
from mlnlab.logic.formulas.substitution import free_variables

if TYPE_CHECKING:
    import networkx as nx
    from numpy.typing import NDArray

    from mlnlab.model.database.database import Database
    from mlnlab.model.database.world import World

MOST_SETS = 1 << 14  # that the search for the treewidth looks at: exact up to 12 variables, and often beyond


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

    def bound_treewidth(self) -> Treewidth:
        """Return the treewidth of the primal graph, or its bounds where that takes long."""
        near = self.neighbours()
        numbers = {name: number for number, name in enumerate(near)}
        graph = tuple(frozenset(map(numbers.__getitem__, others)) for others in near.values())
        return treewidth_of(graph, MOST_SETS)

    def elimination_order(self) -> list[str]:
        """Return the variables in an order of elimination whose width is the upper bound of the treewidth."""
        return [self.variables[number] for number in self.bound_treewidth().order]

    @property
    def treewidth(self) -> int:
        """The treewidth of the primal graph, or an upper bound of it."""
        return self.bound_treewidth().upper

    @property
    def treewidth_is_exact(self) -> bool:
        """Whether :attr:`treewidth` is the treewidth itself."""
        return self.bound_treewidth().is_exact

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
