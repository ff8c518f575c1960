"""``ml.counting_steps``: a count gone through table by table, bottom up, as the plan has it.

Each step works out one row of the plan: read a table, join, sum a variable out, multiply the parts of a term,
add the signed term to the sum. Quantifiers are counted first, each with rows of its own, and compared with
their bound. The result is that of :func:`mlnlab.count`, by the same plan and the same nodes. A formula that
is counted over full tables instead is gone through by :func:`dense_steps`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING, Literal, cast, get_args

import numpy as np

from mlnlab.counting.counts.counter import Counter
from mlnlab.counting.counts.counting_methods import counting_params
from mlnlab.counting.elimination.network_counter import BoundNetwork, DenseRun
from mlnlab.counting.elimination.network_explaining import count_of_bindings
from mlnlab.counting.facts.sorted_facts import facts_of
from mlnlab.counting.facts.tables import Part, Table
from mlnlab.counting.formulas.conjunctions import Quantity
from mlnlab.counting.groundings.groundings_shown import choose_formula, expand_model, groundings
from mlnlab.counting.plans.explaining import describe_node, work_of, work_words
from mlnlab.counting.plans.nodes import Node, Run, Scan
from mlnlab.counting.steps.counting_states import (
    MOST_SAMPLED,
    CountingSteps,
    Done,
    JoinNetwork,
    Outline,
    OutlineRow,
    SampledValue,
    a_number,
    sample_value,
)
from mlnlab.counting.steps.network_elimination import count_by_elimination
from mlnlab.errors import ArgumentError, count_of
from mlnlab.logic.suggestions import did_you_mean
from mlnlab.model.database.ground_atom_text import ground_atom_from

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mlnlab.counting.counts.counter import TermSum
    from mlnlab.counting.facts.sorted_facts import Facts
    from mlnlab.counting.plans.prepared import PreparedTerm
    from mlnlab.counting.plans.thresholds import Exceptions
    from mlnlab.counting.steps.cluster_steps import ClusterSteps, FlipSteps
    from mlnlab.factors.join_graphs.propagation import ClusterParams
    from mlnlab.logic.formulas.formulas import Atom, Cardinality, Formula
    from mlnlab.logic.formulas.ground_atoms import GroundAtom
    from mlnlab.model.database.database import Database
    from mlnlab.model.database.world import World
    from mlnlab.model.mln.mln import MLN

    Derived = Quantity | Cardinality
    from mlnlab.counting.elimination.dense_tables import DenseTable

Method = Literal["plan", "junction tree", "ijgp"]
METHODS: tuple[Method, ...] = get_args(Method)


def counting_steps(
    mln: MLN, db: Database | World, formula: int | str | Formula = 0, *, method: Method = "plan",
    flips: Sequence[str | GroundAtom | Atom] = (), **options: object,
) -> CountingSteps | ClusterSteps | FlipSteps:  # fmt: skip
    r"""Return the count of a formula as something that goes step by step: watch it with ``ml.stepper``.

    ``method="plan"`` follows the plan of :func:`mlnlab.count`; ``"junction tree"`` sums the variables of a
    clause's constraint network out one after the other, over full tables, as the paper of Sarkhel and others
    counts: for small examples.

    >>> import mlnlab as ml
    >>> mln = ml.MLN.from_text("Friends(person, person)\n0.5 Friends(x, y) ^ Friends(y, z) => Friends(x, z)")
    >>> db = ml.Database.from_text("Friends(Anna, Bob)\nFriends(Bob, Carl)", mln)
    >>> states = list(ml.counting_steps(mln, db))
    >>> states[0].words, states[-1].words, states[-1].total
    ('nothing is worked out yet', '26 + 0 = 26', 26)

    ``method="ijgp"`` sends the messages of :func:`mlnlab.count` by ``"ijgp"`` one by one, between clusters of
    at most ``i`` variables, the one that would change most first; ``i``, ``turns``, ``sweeps``, ``tolerance``
    and ``damping`` are as there. With ``flips=``, ground atoms, a step is a flip of the next of them, and
    tells which messages had to be computed again; so does the stepper's picture when an atom is clicked.

    >>> formula = "Friends(x, y) ^ Friends(y, z) => Friends(x, z)"
    >>> *_, last = ml.counting_steps(mln, db, formula, method="ijgp", i=3)
    >>> last.estimate, last.exact, last.settled
    (26.0, 26.0, True)
    >>> flips = ml.counting_steps(mln, db, formula, method="ijgp", i=3, flips=["Friends(Carl, Anna)"])
    >>> [state.estimate for state in flips]
    [26.0, 24.0]

    A step holds rows of its table, ``state.value``, and the sum so far, ``state.total``.

    >>> view = ml.stepper(ml.counting_steps(mln, db, method="junction tree"))
    >>> view.close()
    """
    if method not in METHODS:
        hint = did_you_mean(str(method), METHODS) or "."
        known = "'plan', 'junction tree' or 'ijgp'"
        raise ArgumentError(f"A count can be stepped through by {known}, not by {str(method)[:40]!r}{hint}")
    params = counting_params(method, options)
    if params is not None:
        return _cluster_run(mln, db, formula, flips, cast("ClusterParams", params))
    if len(flips):
        raise ArgumentError('Atoms flip between messages only: flips= needs method="ijgp".')
    found = groundings(mln, db, formula)
    if method == "junction tree":
        return count_by_elimination(found.network, found.total)
    return plan_steps(Counter(found.formula, found.evidence.facts.vocabulary), found.evidence.facts)


def _cluster_run(
    mln: MLN, db: Database | World, formula: int | str | Formula,
    flips: Sequence[str | GroundAtom | Atom], params: ClusterParams,
) -> ClusterSteps | FlipSteps:  # fmt: skip
    from mlnlab.counting.elimination.cluster_counter import ClusterCounter
    from mlnlab.counting.steps.cluster_steps import ClusterSteps, FlipSteps

    expanded = expand_model(mln, db)
    facts = facts_of(db, expanded.vocabulary)
    atoms = [flips] if isinstance(flips, str) else flips
    known = [ground_atom_from(atom, expanded.vocabulary) for atom in atoms]
    counter = ClusterCounter(choose_formula(expanded, formula), expanded.vocabulary, params)
    return FlipSteps(counter, facts, known) if known else ClusterSteps(counter, facts)


def plan_steps(counter: Counter, facts: Facts) -> CountingSteps:
    """Return a formula's count in a world as steps; a plan beyond the budget is refused here."""
    network = counter.elimination(facts)
    if network is not None:
        return dense_steps(str(counter.formula), network, facts)
    rows = OutlineRows()
    work = outline_terms(counter.terms, facts, {}, rows, -1)
    outline = Outline(str(counter.formula), "plan", tuple(rows.rows), tuple(rows.networks))
    return CountingSteps(outline, lambda: _worked_out(work))


# --- doing it -----------------------------------------------------------------------------------


@dataclass(slots=True, eq=False)
class _Remembering(Run):
    """A run that keeps the values of nodes until the node above has its own."""

    known: dict[int, Part] = field(default_factory=dict)

    def value(self, node: Node) -> Part:
        """Return the value of a node, from memory where it is there."""
        if id(node) not in self.known:
            self.known[id(node)] = Run.value(self, node)
        return self.known[id(node)]


def _worked_out(work: Sequence[TermWork | ComparisonWork]) -> Iterator[Done]:
    total = 0
    for task in work:
        if isinstance(task, ComparisonWork):
            yield _compare_count(task, total)
            continue
        last = None
        for last in _term_steps(task, total):
            yield last
        total = total if last is None else last.total


def _compare_count(task: ComparisonWork, total: int) -> Done:
    size, default = len(task.truth.rows), task.truth.default
    possible = prod(len(domain) for domain in task.domains)
    holds = possible - size if default else size
    variables = tuple(range(len(task.names)))
    value = (
        sample_value(Table(variables, task.truth.rows), task.names, task.domains)
        if variables
        else a_number(holds)
    )
    where = f"holds for {holds:,} of {possible:,} bindings of {', '.join(task.names)}"
    words = where if variables else "holds" if default else "does not hold"
    words = f"{task.text} {words}"
    return Done(task.row, value, total, words)


def _term_steps(task: TermWork, total: int) -> Iterator[Done]:
    """Yield the steps of a term: its nodes from below, the product of its parts, and the new sum."""
    one = task.prepared
    run = _Remembering(one.run.facts, one.run.kind, one.run.derived)
    domains = [task.facts.vocabulary.domain(type_) for type_ in one.types]
    factors: list[int] = []
    if task.free_row >= 0:
        factors.append(one.free)
        free = ", ".join(_free_names(task))
        yield Done(task.free_row, a_number(one.free), total, f"the bindings of {free}: {one.free:,}")
    for part in one.plan.parts:
        if 0 in factors:  # the product is 0 whatever the others are
            break
        for node in _bottom_up(part):
            value = sample_value(run.value(node), one.names, domains)
            yield Done(task.node_rows[id(node)], value, total, _describe_step(node, one.names, value))
            for inner in node.inputs:
                run.known.pop(id(inner), None)
        number = sample_value(run.value(part), one.names, domains).number
        factors.append(1 if number is None else number)
    if not task.below_quantifier:
        yield from _arithmetic(task, factors, total)


def _free_names(task: TermWork) -> tuple[str, ...]:
    seen = {v for group in task.prepared.plan.scans for scan in group for v in scan.variables}
    return tuple(name for number, name in enumerate(task.prepared.names) if number not in seen)


def _arithmetic(task: TermWork, factors: Sequence[int], total: int) -> Iterator[Done]:
    """Yield the product of a term's parts, where there are several, and the sum with it."""
    number, coefficient = prod(factors), task.prepared.coefficient
    if len(factors) > 1:
        words = " × ".join(f"{factor:,}" for factor in factors)
        yield Done(task.row, a_number(number), total, f"multiply the parts: {words} = {number:,}")
    after = total + coefficient * number
    sign = "−" if coefficient < 0 else "+"
    times = f"{abs(coefficient)} × " if abs(coefficient) != 1 else ""
    words = f"{total:,} {sign} {times}{number:,} = {after:,}"
    yield Done(task.row, a_number(number), after, words)


def _bottom_up(node: Node) -> Iterator[Node]:
    for inner in node.inputs:
        yield from _bottom_up(inner)
    yield node


def _describe_step(node: Node, names: Sequence[str], value: SampledValue) -> str:
    """Return the finished step in a few words, with the size of its result."""
    if isinstance(node, Scan):
        what = f"read {node.label}" if isinstance(node.source, str) else f"take where {node.label} holds"
    else:
        gone = {v for inner in node.inputs for v in inner.variables} - set(node.variables)
        summed = ", ".join(names[v] for v in sorted(gone))
        what = f"sum {summed} out" if gone else "keep what is in both"
    if not value.columns:
        return f"{what}: {value.number:,}"
    return f"{what}: {count_of(value.length, 'row')}"


# --- outline a planned count, term by term ------------------------------------------------------

# Quantifiers and cardinalities come before the terms in which they occur, with terms of their own below them.


@dataclass(frozen=True, slots=True, eq=False)
class TermWork:
    """A term with the rows of its own, of its free variables, and of its nodes, by their identities."""

    prepared: PreparedTerm
    facts: Facts
    row: int
    free_row: int  # -1 where there are none
    node_rows: Mapping[int, int]
    below_quantifier: bool  # it is compared, not added to the count


@dataclass(frozen=True, slots=True, eq=False)
class ComparisonWork:
    """Where a quantifier or a cardinality holds, known once the terms below it are counted."""

    row: int
    text: str
    names: tuple[str, ...]
    domains: tuple[Sequence[str], ...]
    truth: Exceptions


@dataclass(slots=True, eq=False)
class OutlineRows:
    """The outline while it is written."""

    rows: list[OutlineRow] = field(default_factory=list)
    networks: list[JoinNetwork] = field(default_factory=list)

    def add(self, row: OutlineRow) -> int:
        """Add a row, and return its number."""
        self.rows.append(row)
        return len(self.rows) - 1

    def depth_below(self, parent: int) -> int:
        """Return how deep a row below another one stands."""
        return 0 if parent < 0 else self.rows[parent].depth + 1


def outline_terms(
    terms: TermSum,
    facts: Facts,
    truths: dict[Derived, Exceptions],
    rows: OutlineRows,
    parent: int,
) -> list[TermWork | ComparisonWork]:
    """Write the rows of some terms, before each those of the quantifiers in it, and return the work."""
    found: list[TermWork | ComparisonWork] = []
    for term in terms.terms:
        for derived in term.bound.derived:
            if derived not in truths:
                found += _comparison(terms, derived, facts, truths, rows, parent)
        head = frozenset(term.bound.conjunction.variables[v].name for v in term.bound.head)
        for prepared in term.prepare_cases(facts, truths):
            found.append(_term(prepared, facts, rows, parent, tuple(sorted(head))))
    return found


def _comparison(
    terms: TermSum, derived: Derived, facts: Facts,
    truths: dict[Derived, Exceptions], rows: OutlineRows, parent: int,
) -> list[TermWork | ComparisonWork]:  # fmt: skip
    truth = terms.truth(derived, facts, truths)
    row = rows.add(OutlineRow(f"where {derived} holds", rows.depth_below(parent), parent))
    if not isinstance(derived, Quantity):
        return [ComparisonWork(row, str(derived), (), (), truth)]
    head = [derived.threshold.head[column] for column in truth.columns]
    domains = tuple(facts.vocabulary.domain(variable.type) for variable in head)
    below = outline_terms(terms.thresholds[derived.threshold], facts, {}, rows, row)
    names = tuple(variable.name for variable in head)
    return [*below, ComparisonWork(row, str(derived), names, domains, truth)]


def _term(
    prepared: PreparedTerm, facts: Facts, rows: OutlineRows, parent: int, head: tuple[str, ...]
) -> TermWork:
    depth, number = rows.depth_below(parent), len(rows.networks)
    what = "all groundings" if prepared.conjunction == "1" else prepared.conjunction
    each = f", for each {', '.join(head)}" if head else ""
    text = f"{what}{each}"
    row = rows.add(OutlineRow(text, depth, parent, coefficient=prepared.coefficient, network=number))
    scans = {id(scan): scan for group in prepared.plan.scans for scan in group}.values()
    names = prepared.names
    joins = tuple((scan.label, tuple(names[v] for v in scan.variables)) for scan in scans)
    rows.networks.append(JoinNetwork(text, names, joins, head))
    free_row, free = -1, _free(names, joins, head)
    if free:
        words = (
            f"the ways to choose {', '.join(free)}, in none of these atoms"
            if joins
            else f"the ways to choose {', '.join(free)}"
        )
        free_row = rows.add(OutlineRow(words, depth + 1, row, network=number, eliminates=free))
    node_rows: dict[int, int] = {}
    for part in prepared.plan.parts:
        _add_node(part, names, rows, row, number, node_rows)
    return TermWork(prepared, facts, row, free_row, node_rows, parent >= 0)


def _free(
    names: tuple[str, ...], joins: tuple[tuple[str, tuple[str, ...]], ...], head: tuple[str, ...]
) -> tuple[str, ...]:
    seen = {name for _, scope in joins for name in scope}.union(head)
    return tuple(name for name in names if name not in seen)


def _add_node(
    node: Node, names: Sequence[str], rows: OutlineRows, parent: int, network: int, found: dict[int, int]
) -> None:
    scope = tuple(names[v] for v in node.variables)
    gone = {names[v] for inner in node.inputs for v in inner.variables} - set(scope)
    row = OutlineRow(
        _words(node, names), rows.depth_below(parent), parent,
        node.estimate if work_of(node) is None else None, None, network,
        tuple(name for name in names if name in gone), scope,
    )  # fmt: skip
    here = found[id(node)] = rows.add(row)
    for inner in node.inputs:
        _add_node(inner, names, rows, here, network, found)


def _words(node: Node, names: Sequence[str]) -> str:
    if isinstance(node, Scan) and isinstance(node.source, int):
        return f"where {node.label} holds"
    work = work_of(node)
    return describe_node(node, names) + ("" if work is None else f" ({work_words(work)})")


# --- count table by table by width-bounded elimination ------------------------------------------

# Formulas that are not counted term by term go this way.

# The tables are those of :mod:`mlnlab.counting.elimination.network_counter`: each lists a number for every
# binding of its variables, and of signals, which are variables of two values that stand for parts of the
# formula.

_SIGNAL_VALUES = ("0", "1")


def dense_steps(formula: str, network: BoundNetwork, facts: Facts) -> CountingSteps:
    """Return how a formula is counted by its network, as steps."""
    names = (*(v.name for v in network.network.variables), *_signals(network))
    joins = tuple((str(one.constraint), tuple(names[v] for v in one.scope)) for one in network.constraints)
    graph = JoinNetwork(formula, names, joins)
    rows: list[OutlineRow] = []
    sign = 1
    if network.network.complement:
        rows.append(OutlineRow("all groundings", 0, -1, coefficient=1))
        sign = -1
    title = "the bindings that violate the formula" if sign < 0 else "the bindings that make the formula true"
    top = len(rows)
    rows.append(OutlineRow(title, 0, -1, coefficient=sign, network=0))
    places: dict[int, int] = {}
    _add(len(network.constraints) + len(network.plan.eliminations) - 1, network, names, rows, top, places)
    outline = Outline(formula, "elimination", tuple(rows), (graph,))
    return CountingSteps(outline, lambda: _work_out_tables(network, facts, names, places, top))


def _signals(network: BoundNetwork) -> Iterator[str]:
    for number in range(network.network.signals):
        yield f"part {number + 1}"


def _add(
    number: int, network: BoundNetwork, names: Sequence[str], rows: list[OutlineRow], parent: int,
    places: dict[int, int],
) -> None:  # fmt: skip
    """Write the row of a table and of those that it is made of; tables are made once and used once."""
    here = places[number] = len(rows)
    depth = rows[parent].depth + 1
    behind = number - len(network.constraints)
    if behind < 0:
        one = network.constraints[number]
        cells = float(prod(network.sizes[v] for v in one.scope))
        scope = tuple(names[v] for v in one.scope)
        rows.append(OutlineRow(f"the table of {one.constraint}", depth, parent, cells, None, 0, (), scope))
        return
    step = network.plan.eliminations[behind]
    gone = (names[step.variable],) if step.variable >= 0 else ()
    scope = tuple(names[v] for v in step.scope)
    rows.append(OutlineRow(_phrase_constraint(gone, scope), depth, parent, step.joint, None, 0, gone, scope))
    for inner in step.inputs:
        _add(inner, network, names, rows, here, places)


def _phrase_constraint(gone: tuple[str, ...], scope: tuple[str, ...]) -> str:
    each = f", for each {', '.join(scope)}" if scope else ""
    return f"multiply, and sum {gone[0]} out{each}" if gone else f"multiply{each}"


# --- doing it -----------------------------------------------------------------------------------


def _work_out_tables(
    network: BoundNetwork, facts: Facts, names: Sequence[str], places: dict[int, int], top: int
) -> Iterator[Done]:
    run, total = DenseRun(facts), 0
    if network.network.complement:
        total = count_of_bindings(network, run)
        yield Done(0, a_number(total), total, f"0 + {total:,} = {total:,}")
    modulus, *others = network.moduli
    exact = not modulus and not others
    domains = [facts.vocabulary.domain(v.type) for v in network.network.variables]
    values = [*domains, *(_SIGNAL_VALUES for _ in range(network.network.signals))]
    for number, table in network.tables(run, modulus) if all(network.sizes) else ():
        value = _sample_cells(table, names, values, exact=exact)
        yield Done(
            places[number], value, total, _describe_dense_step(number, network, names, value, exact=exact)
        )
    count = int(network.counts(run))
    number = total - count if network.network.complement else count
    after = total - number if network.network.complement else number
    sign = "−" if network.network.complement else "+"
    yield Done(top, a_number(number), after, f"{total:,} {sign} {number:,} = {after:,}")


def _sample_cells(
    table: DenseTable, names: Sequence[str], values: Sequence[Sequence[str]], *, exact: bool
) -> SampledValue:
    """Return the cells that are not 0; where numbers are too large for one table, their bindings only."""
    if not table.scope:
        remainder = SampledValue(("number",), ((("known modulo a prime",), 1),), 1)
        return a_number(int(table.cells)) if exact else remainder
    flat = table.cells.ravel()
    kept = np.flatnonzero(flat)
    shown = kept[:MOST_SAMPLED]
    columns = np.stack(np.unravel_index(shown, table.cells.shape), axis=1)
    rows = tuple(
        (tuple(values[v][n] for v, n in zip(table.scope, row, strict=True)), int(cell) if exact else 1)
        for row, cell in zip(columns.tolist(), flat[shown].tolist(), strict=True)
    )
    return SampledValue(tuple(names[v] for v in table.scope), rows, len(kept))


def _describe_dense_step(
    number: int, network: BoundNetwork, names: Sequence[str], value: SampledValue, *, exact: bool
) -> str:
    behind = number - len(network.constraints)
    if behind < 0:
        what = f"read the table of {network.constraints[number].constraint}"
    else:
        variable = network.plan.eliminations[behind].variable
        what = f"sum {names[variable]} out" if variable >= 0 else "multiply"
    if value.number is not None:
        return f"{what}: {value.number:,}"
    return f"{what}: {count_of(value.length, 'cell')} not 0{'' if exact else ', modulo a prime'}"
