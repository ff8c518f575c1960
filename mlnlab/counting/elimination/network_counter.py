"""Counting by width-bounded elimination: a formula's network over a vocabulary, summed out world by world."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.counting.elimination.dense_plans import DensePlan, Elimination, dense_plan
from mlnlab.counting.elimination.dense_tables import (
    DenseTable,
    moduli,
    multiply_tables,
    put_together,
    summed_out,
)
from mlnlab.counting.formulas.conditions import satisfying
from mlnlab.counting.formulas.formula_networks import Counted, FormulaNetwork, NetworkConstraint, WithGiven
from mlnlab.counting.plans.binding import scan_of_atom
from mlnlab.counting.plans.nodes import Run, Scan
from mlnlab.counting.plans.thresholds import COMPARE
from mlnlab.logic.formulas.formulas import Atom, Cardinality, Constant, Equality, Variable, holds_between
from mlnlab.logic.formulas.substitution import free_variables

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from mlnlab.counting.facts.sorted_facts import Facts
    from mlnlab.logic.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True, eq=False)
class BoundConstraint:
    """A constraint over numbers: its signals and variables, and the source of its truth values."""

    constraint: NetworkConstraint
    signals: tuple[int, ...]
    own: tuple[int, ...]  # the variables of the source of truth values, in its order
    scan: Scan | None = None
    counted: BoundNetwork | None = None

    @property
    def scope(self) -> tuple[int, ...]:
        """The numbers of all variables."""
        return (*self.signals, *self.own)


@dataclass(slots=True, eq=False)
class DenseRun:
    """One computation in one world: the truth values read already, and real sizes where they are wanted."""

    facts: Facts
    truths: dict[object, NDArray[np.bool_]] = field(default_factory=dict)
    sizes: dict[tuple[int, int], int] | None = None  # by network and number of the table


class BoundNetwork:
    """A network over a vocabulary, with the plan for its elimination."""

    def __init__(self, network: FormulaNetwork, vocabulary: Vocabulary) -> None:
        """Bind and plan; nothing large is made, so that the plan's estimates can be looked at first."""
        self.network, self.vocabulary = network, vocabulary
        domains = [len(vocabulary.domain(variable.type)) for variable in network.variables]
        self.sizes = (*domains, *(2,) * network.signals)
        self.numbers = {variable: number for number, variable in enumerate(network.variables)}
        self.head = tuple(self.numbers[variable] for variable in network.head)
        self.constraints = [self._bound(constraint) for constraint in network.constraints]
        scopes = [one.scope for one in self.constraints]
        self.plan: DensePlan = dense_plan(scopes, self.sizes, frozenset(self.head))
        seen = {v for scope in scopes for v in scope}.union(self.head)
        self.free = prod(size for number, size in enumerate(self.sizes) if number not in seen)
        self.reach = prod(size for number, size in enumerate(domains) if number not in self.head)
        self.moduli = moduli(self.reach, prod(self.sizes) // max(1, prod(self.sizes[v] for v in self.head)))
        plain = not network.always  # then the number of all bindings is known
        self.all = None if plain or not network.complement else BoundNetwork(network.bindings(), vocabulary)

    def _bound(self, constraint: NetworkConstraint) -> BoundConstraint:
        signals = tuple(len(self.network.variables) + signal for signal in constraint.signals)
        match constraint.source:
            case None | Cardinality():
                return BoundConstraint(constraint, signals, ())
            case Atom() as atom:
                scan = scan_of_atom(atom, self.numbers, self.vocabulary)
                return BoundConstraint(constraint, signals, () if scan is None else scan.variables, scan)
            case WithGiven(part, given):
                own = tuple(self.numbers[variable] for variable in given.arguments)
                if isinstance(part, Cardinality):
                    return BoundConstraint(constraint, signals, own)
                scan = scan_of_atom(part, self.numbers, self.vocabulary)
                found = () if scan is None else (*scan.variables, *own)
                return BoundConstraint(constraint, signals, found, scan)
            case Counted(network) as counted:
                own = tuple(self.numbers[variable] for variable in network.head)
                return BoundConstraint(
                    constraint, signals, own, counted=BoundNetwork(counted.network, self.vocabulary)
                )
            case condition:
                own = tuple(self.numbers[variable] for variable in free_variables(condition))
                return BoundConstraint(constraint, signals, own)

    # --- estimates

    @property
    def inner(self) -> list[BoundNetwork]:
        """The networks of quantifiers, and of all bindings."""
        found = [one.counted for one in self.constraints if one.counted is not None]
        return found if self.all is None else [*found, self.all]

    @property
    def seconds(self) -> float:
        """The estimated time of a count."""
        return self.plan.seconds * len(self.moduli) + sum(one.seconds for one in self.inner)

    @property
    def widest(self) -> float:
        """The number of cells of the largest table."""
        return max([self.plan.widest, *(one.widest for one in self.inner)])

    # --- counting

    def counts(self, run: DenseRun) -> NDArray[Any]:
        """Return the number of bindings that make the formula true, for each value of the head."""
        shape = tuple(self.sizes[v] for v in self.head)
        if not all(self.sizes):
            return np.zeros(shape, np.int64)
        solutions = put_together({p: self._solutions(run, p) for p in self.moduli}) * self.free
        if not self.network.complement:
            return solutions
        return (self.reach if self.all is None else self.all.counts(run)) - solutions

    def _solutions(self, run: DenseRun, modulus: int) -> NDArray[Any]:
        last = DenseTable((), np.ones(()))
        for _, last in self.tables(run, modulus):  # noqa: B007 - the last one is what is asked for
            pass
        cells = _spread(last, self.head, self.sizes)
        return cells % modulus if modulus else cells

    def tables(self, run: DenseRun, modulus: int) -> Iterator[tuple[int, DenseTable]]:
        """Yield number and value of each table that is read or made; the last one is over the head."""
        tables: dict[int, DenseTable] = {}
        for place, step in enumerate(self.plan.eliminations):
            inputs = []
            for number in step.inputs:
                if number not in tables:
                    tables[number] = self.read_table(number, run)
                    yield number, tables[number]
                inputs.append(tables.pop(number))
            number = len(self.constraints) + place
            tables[number] = self._do_step(step, inputs, modulus)
            if run.sizes is not None:
                run.sizes[id(self), number] = int(np.count_nonzero(tables[number].cells))
            yield number, tables[number]

    def _do_step(self, step: Elimination, inputs: list[DenseTable], modulus: int) -> DenseTable:
        live: dict[int, DenseTable] = dict(enumerate(inputs))
        for behind, (one, other) in enumerate(step.pairs):
            live[len(inputs) + behind] = multiply_tables(live.pop(one), live.pop(other), modulus)
        if step.variable >= 0:
            return summed_out(list(live.values()), step.variable, modulus)
        return next(iter(live.values()), DenseTable((), np.ones(())))

    def read_table(self, number: int, run: DenseRun) -> DenseTable:
        """Return the values of a constraint in a world."""
        one = self.constraints[number]
        values = one.constraint.values.astype(np.float64)
        if one.constraint.source is None:
            cells = values
        else:
            truth = self._truth(one, run)
            columns = values.reshape(*values.shape[:-1], *(1,) * truth.ndim, 2)
            cells = np.where(truth, columns[..., 1], columns[..., 0])
        if run.sizes is not None:
            run.sizes[id(self), number] = int(np.count_nonzero(cells))
        return DenseTable(one.scope, cells)

    def _truth(self, one: BoundConstraint, run: DenseRun) -> NDArray[np.bool_]:
        """Return where the source of a constraint holds, read once in a run."""
        plain = isinstance(one.constraint.source, Atom) and one.scan is not None
        key = (one.scan.source, one.scan.pattern) if plain and one.scan is not None else id(one)
        known = run.truths.get(key)
        if known is None:
            known = run.truths[key] = self._read(one, run)
        return known

    def _read(self, one: BoundConstraint, run: DenseRun) -> NDArray[np.bool_]:
        source = one.constraint.source
        if one.counted is not None and isinstance(source, Counted):
            numbers = one.counted.counts(run)
            return np.asarray(COMPARE[source.relation](numbers, source.bound), bool)
        if isinstance(source, WithGiven):
            return tabulate_truth(source, one.scan, run.facts, [self.sizes[v] for v in one.own])
        if isinstance(source, Cardinality):
            number = len(run.facts.rows(source.predicate))
            return np.asarray(holds_between(source.relation, number, source.bound))
        shape = tuple(self.sizes[v] for v in one.own)
        if one.scan is not None:
            return scatter_rows(one.scan.rows(Run(run.facts)), shape)
        if source is None or isinstance(source, Atom | Counted):  # an atom of a constant that is not there
            return np.zeros((), bool)
        if isinstance(source, Equality) and isinstance(source.left, Variable):
            left, right = source.left, source.right
            if isinstance(right, Variable) and left.type == right.type:
                return np.ones(shape, bool) if left == right else np.eye(shape[0], dtype=bool)
        variables, rows = satisfying(source, self.vocabulary)
        order = [variables.index(self.network.variables[v]) for v in one.own]
        return scatter_rows(rows[:, order], shape)


def _spread(table: DenseTable, head: tuple[int, ...], sizes: tuple[int, ...]) -> NDArray[np.float64]:
    """Return a table over the head, in its order, equal along the variables that it does not have."""
    known = [v for v in head if v in table.scope]
    cells = table.cells.transpose([table.scope.index(v) for v in known])
    cells = cells.reshape([sizes[v] if v in known else 1 for v in head])
    return np.broadcast_to(cells, [sizes[v] for v in head])


# --- truth values as tables ---------------------------------------------------------------------

# Of a predicate's atoms, and with each ground atom in turn made true or false.


def scatter_rows(rows: NDArray[np.uint32], shape: Sequence[int]) -> NDArray[np.bool_]:
    """Return a table that is true at the listed rows."""
    found = np.zeros(shape, bool)
    if len(rows):
        found[tuple(rows.T)] = True
    return found


def tabulate_truth(
    source: WithGiven, scan: Scan | None, facts: Facts, shape: Sequence[int]
) -> NDArray[np.bool_]:
    """Return where a part holds, by its own variables and then by the arguments of the given atom."""
    part, given = source.part, source.given
    if isinstance(part, Cardinality):
        rows = facts.rows(part.predicate)
        others = len(rows) - scatter_rows(rows, shape).astype(np.int64)
        return np.asarray(COMPARE[part.relation](others + int(given.true), part.bound), bool)
    if scan is None:  # an atom of a constant that is not there
        return np.zeros((), bool)
    own = len(shape) - len(given.arguments)
    holds = scatter_rows(scan.rows(Run(facts)), shape[:own])
    holds = holds.reshape((*shape[:own], *(1,) * len(given.arguments)))
    places = dict(zip(_different(part.arguments), range(own), strict=True))
    same = np.ones((), bool)
    for position, argument in enumerate(part.arguments):
        size = shape[own + position]
        axes = [1] * len(shape)
        axes[own + position] = size
        if isinstance(argument, Variable):
            axes[places[argument]] = size
            same = same & np.eye(size, dtype=bool).reshape(axes)
        elif isinstance(argument, Constant):
            number = facts.vocabulary.domain(given.arguments[position].type).number(argument.name)
            same = same & (np.arange(size) == number).reshape(axes)
    found = holds | same if given.true else holds & ~same
    return np.asarray(np.broadcast_to(found, shape))


def _different(arguments: Sequence[object]) -> list[Variable]:
    return list(dict.fromkeys(argument for argument in arguments if isinstance(argument, Variable)))
