"""A second way to count: formulas as SQL, for facts in memory, in files, or larger than memory.

The numbers are those of :class:`mlnlab.counting.counts.counter.Counter`; nothing of its normal form, its
plans or its kernels is used. Shared is what says what a formula means: free variables, names of constants,
and which bindings arithmetic keeps out (:mod:`mlnlab.logic`). A formula is read into literals over numbered
tables, split into signed cases, and each case is one query
(:mod:`mlnlab.counting.duckdb.duckdb_counter`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from math import gcd, prod
from typing import TYPE_CHECKING, Self

from mlnlab.counting.duckdb.duckdb_cases import Case, cases, guard_of
from mlnlab.counting.duckdb.duckdb_literals import Literal, Match, Slot, Tree, slots_of, variables_of
from mlnlab.counting.duckdb.duckdb_reading import Reader, scope_of
from mlnlab.errors import TooLargeError
from mlnlab.logic.forms.normal_forms import standardise_apart
from mlnlab.logic.formulas.formulas import And, Formula, Relation, Variable, holds_between
from mlnlab.logic.formulas.fresh_names import FreshNames
from mlnlab.logic.formulas.substitution import free_variables
from mlnlab.steps import budget

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mlnlab.counting.duckdb.duckdb_store import Connection


@dataclass(frozen=True, slots=True)
class Group:
    """Grouped counts: SQL with the columns p.. of some positions of a head, and n; a number without any."""

    positions: tuple[int, ...]
    sql: str
    number: int
    bound: int
    rows: float


def count_in_duckdb(formula: Formula, store: Connection) -> int:
    r"""Return the number of true groundings of a formula.

    >>> import mlnlab as ml
    >>> from mlnlab.counting.duckdb.duckdb_store import store_of
    >>> from mlnlab.counting.facts.sorted_facts import facts_of
    >>> mln = ml.MLN.from_text("Smokes(person)\nFriends(person, person)")
    >>> db = ml.Database.from_text("Friends(Anna, Bob)\nSmokes(Anna)", mln)
    >>> with store_of(facts_of(db)) as store:
    ...     count_in_duckdb(mln.parse("Smokes(x) ^ Friends(x, y) => Smokes(y)"), store)
    3
    """
    with DuckDBCounter(store) as counter:
        apart = standardise_apart(formula)
        variables, tree = counter.read(free_variables(apart), apart, FreshNames(apart))
        return counter.total(tree, variables)


def groundings_in_duckdb(formula: Formula, store: Connection) -> int:
    """Return the number of all groundings of a formula, true or not."""
    with DuckDBCounter(store) as counter:
        apart = standardise_apart(formula)
        variables, guarded = scope_of(free_variables(apart), apart, FreshNames(apart))
        # Only what keeps bindings out is counted, not what the formula says of the others.
        reader = Reader(store, FreshNames(apart), counter.made, counter.threshold)
        return counter.total(reader.tree(And(guarded.operands[:-1])), variables)


@dataclass(slots=True)
class DuckDBCounter:
    """Counts in one store; the tables that it makes for quantifiers and conditions go when it ends."""

    store: Connection
    made: list[int] = field(default_factory=list)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for table in self.made:
            self.store.drop_table(table)

    def read(
        self, variables: tuple[Variable, ...], formula: Formula, names: FreshNames
    ) -> tuple[tuple[Variable, ...], Tree]:
        """Return a scope's variables, with those for calculated arguments, and its formula over tables."""
        everything, guarded = scope_of(variables, formula, names)
        return everything, Reader(self.store, names, self.made, self.threshold).tree(guarded)

    # --- counts

    def total(self, tree: Tree, variables: tuple[Variable, ...]) -> int:
        """Return the number of bindings of the variables that make a tree true."""
        return sum(c * self._count(case) for case, c in cases(tree, (), variables).items())

    def _count(self, case: Case) -> int:
        sizes, parts, free = self._prepare_case(case)
        result = prod(sizes[v] for v in free)
        for part in parts:
            result *= result and self._number(case, part, sizes)
        return result

    def _prepare_case(self, case: Case) -> tuple[dict[Variable, int], list[Part], frozenset[Variable]]:
        sizes = {v: len(self.store.vocabulary.domain(v.type)) for v in case.variables}
        atoms = sorted((one for one in case.literals if one.positive), key=str)
        parts = parts_of(atoms, case.head, sizes, self.store.rows)
        seen = frozenset(v for one in atoms for v in variables_of(one))
        return sizes, parts, case.variables - seen

    def _number(self, case: Case, part: Part, sizes: Mapping[Variable, int]) -> int:
        """Return the count of a part without a head; one beyond 128 bits from its remainders."""
        if part.bound < FITS_HUGEINT:
            return int(self.store.answers(self._query(case, part, sizes, Numbers.up_to(part.bound)))[0][0])
        moduli = _moduli(part.bound)
        remainders = [
            int(self.store.answers(self._query(case, part, sizes, Numbers("HUGEINT", modulus)))[0][0])
            for modulus in moduli
        ]
        return from_remainders(remainders, moduli)

    def _query(self, case: Case, part: Part, sizes: Mapping[Variable, int], numbers: Numbers) -> str:
        negative = sorted((one for one in case.literals if not one.positive), key=str)
        return Elimination(numbers, _in_order(case), sizes, self.store.rows, negative).query(part)

    # --- grouped counts

    def groups(self, tree: Tree, head: tuple[Variable, ...], variables: tuple[Variable, ...]) -> list[Group]:
        """Return grouped counts which add up to those of the bindings that make a tree true."""
        found = [self._group(case, coefficient) for case, coefficient in cases(tree, head, variables).items()]
        kept = [group for group in found if group is not None]
        if sum(group.bound for group in kept) >= FITS_HUGEINT:
            raise TooLargeError(
                "Grouped counts of more than 37 digits are beyond DuckDB.",
                float(sum(group.bound for group in kept)),
                ['use method="planned"', "use fewer variables below the quantifier"],
            )
        return kept

    def _group(self, case: Case, coefficient: int) -> Group | None:
        sizes, parts, free = self._prepare_case(case)
        scalar = coefficient * prod(sizes[v] for v in free if v not in case.head)
        if 0 in sizes.values():
            return None
        for part in parts:
            scalar *= 1 if part.head else self._number(case, part, sizes)
        if not scalar:
            return None
        grouped = [part for part in parts if part.head]
        bound = abs(scalar) * prod(part.bound for part in grouped)
        numbers = Numbers.up_to(min(bound, FITS_HUGEINT - 1))
        queries = [self._query(case, part, sizes, numbers) for part in grouped]
        found = self._columns(case, grouped)
        # A head that names a variable twice says more of it than nothing, though no atom has it.
        repeated = sorted((v for v in free if case.head.count(v) > 1), key=str)
        found |= {v: f"s{place}.k" for place, v in enumerate(repeated)}
        sources = [f"({query}) g{place}" for place, query in enumerate(queries)]
        sources += [f"range({sizes[v]:d}) s{place}(k)" for place, v in enumerate(repeated)]
        values = {
            position: found[slot] if isinstance(slot, Variable) else f"{slot:d}"
            for position, slot in enumerate(case.head)
            if not isinstance(slot, Variable) or slot in found
        }
        if not values:
            return Group((), "", scalar, abs(scalar), 1.0)
        columns = ", ".join(f"{value} AS p{position}" for position, value in values.items())
        n = " * ".join([f"({scalar:d})::HUGEINT", *(f"g{place}.n" for place in range(len(grouped)))])
        source = f" FROM {', '.join(sources)}" if sources else ""
        rows = min(float(bound), float(prod(sizes[v] for v in found)))
        return Group(tuple(values), f"SELECT {columns}, {n} AS n{source}", 0, bound, rows)

    def _columns(self, case: Case, grouped: Sequence[Part]) -> dict[Variable, str]:
        """Return the column of each head variable in the queries of some parts."""
        order = _in_order(case)
        return {v: f"g{place}.v{order.index(v)}" for place, part in enumerate(grouped) for v in part.head}

    def added_up(self, groups: Sequence[Group], sizes: Sequence[int]) -> tuple[int, tuple[int, ...], str]:
        """Return the number that holds everywhere, the columns, and SQL for the additions to it."""
        usual = sum(group.number for group in groups)
        tables = [group for group in groups if group.positions]
        columns = tuple(sorted({position for group in tables for position in group.positions}))
        spread = [self._spread(group, columns, sizes) for group in tables]
        names = ", ".join(f"p{position}" for position in columns)
        union = " UNION ALL ".join(spread)
        return usual, columns, f"SELECT {names}, sum(n) AS n FROM ({union}) GROUP BY {names}"

    def _spread(self, group: Group, columns: tuple[int, ...], sizes: Sequence[int]) -> str:
        """Repeat grouped counts for each constant of the positions that they do not mention."""
        missing = [position for position in columns if position not in group.positions]
        rows = group.rows * prod(float(sizes[position]) for position in missing)
        if rows > budget.MOST_SPREAD_ROWS:
            raise TooLargeError(
                f"A quantified part of the formula would take about {rows:.0e} rows"
                f" (the limit is {budget.MOST_SPREAD_ROWS:.0e}).",
                rows,
                ['use method="planned"', "move parts without the quantified variable out of it"],
            )
        names = [f"g.p{p}" if p in group.positions else f"s{p}.k AS p{p}" for p in columns]
        more = "".join(f", range({sizes[p]:d}) s{p}(k)" for p in missing)
        return f"SELECT {', '.join(names)}, g.n AS n FROM ({group.sql}) g{more}"

    def threshold(
        self, head: tuple[Variable, ...], variables: tuple[Variable, ...], body: Formula,
        relation: Relation, bound: int, names: FreshNames,
    ) -> tuple[bool, tuple[int, ...], int | None]:  # fmt: skip
        """Return where the number of bindings stands in a relation to a bound.

        That is a truth value by default, the positions of the head, and the table of exceptions over them.
        """
        everything, tree = self.read(variables, body, names)
        groups = self.groups(tree, head, everything)
        sizes = [len(self.store.vocabulary.domain(v.type)) for v in head]
        usual, columns, sql = self.added_up(groups, sizes)
        default = holds_between(relation, usual, bound)
        if not columns:
            return default, (), None
        chosen = ", ".join(f"p{position} AS c{place}" for place, position in enumerate(columns))
        operator = "<>" if relation == "!=" else relation
        holds = f"n + ({usual:d})::HUGEINT {operator} ({bound:d})::HUGEINT"
        condition = f"NOT ({holds})" if default else holds
        table = self.store.make_table(f"SELECT {chosen} FROM ({sql}) WHERE {condition}")
        self.made.append(table)
        return default, columns, table


def _in_order(case: Case) -> tuple[Variable, ...]:
    return tuple(sorted(case.variables, key=lambda v: (v.name, v.type)))


# --- numbers beyond 128 bits --------------------------------------------------------------------


def _moduli(bound: int) -> list[int]:
    """Return numbers without common factors, each below 2^59, whose product is above a bound."""
    found: list[int] = []
    candidate = 1 << 59
    while prod(found) <= bound:
        if all(gcd(candidate, other) == 1 for other in found):
            found.append(candidate)
        candidate -= 1
    return found


def from_remainders(remainders: Sequence[int], moduli: Sequence[int]) -> int:
    """Return the smallest number with these remainders (Chinese remainder theorem).

    >>> from_remainders([2, 3, 2], [3, 5, 7])
    23
    """
    number, product = 0, 1
    for remainder, modulus in zip(remainders, moduli, strict=True):
        number += product * ((remainder - number) * pow(product, -1, modulus) % modulus)
        product *= modulus
    return number


# --- count one case by one SQL query, variable after variable -----------------------------------

# A factor is a subquery with a row for each binding of some variables and, in column ``n``, how often it
# occurs. A variable that one factor has alone is summed out (a degree table); a factor whose variables
# another one has is joined into it. That counts acyclic parts completely. Where variables go in circles, the
# one with the fewest neighbours is joined away, driven by a factor that has all of these neighbours where
# there is one.
#
# Names of tables and columns are letters with numbers: t3 is a table, c0 its first column, v2 a variable.

_FITS_BIGINT, FITS_HUGEINT = 1 << 62, 1 << 126


@dataclass(frozen=True, slots=True)
class Numbers:
    """How counts are calculated in SQL: in a whole-number type that is wide enough, or modulo a number."""

    kind: str
    modulus: int | None = None

    @staticmethod
    def up_to(bound: int) -> Numbers:
        """Return the narrowest numbers for counts that nothing can lift above a bound."""
        return Numbers("BIGINT" if bound < _FITS_BIGINT else "HUGEINT")

    def product(self, factors: Sequence[str]) -> str:
        """Return the product of columns."""
        if not factors:
            return f"1::{self.kind}"
        result, *rest = factors
        for factor in rest:
            result = self._reduce_expression(f"{result} * {factor}")
        return result

    def total(self, factors: Sequence[str]) -> str:
        """Return the aggregate that adds up the products of columns."""
        added = f"sum({self.product(factors)})" if factors else "count(*)"
        return f"{self._reduce_expression(f'{added}::{self.kind}')}::{self.kind}"

    def _reduce_expression(self, expression: str) -> str:
        return f"({expression})" if self.modulus is None else f"(({expression}) % {self.modulus:d})"


@dataclass(frozen=True, slots=True)
class Factor:
    """A subquery: a row for each binding of its variables; ``n`` counts where it is ``weighted``."""

    name: str
    variables: tuple[int, ...]
    weighted: bool
    rows: float  # an estimate


@dataclass(frozen=True, slots=True)
class Part:
    """A connected part of a case: its head variables, its factors, and a bound of its count."""

    head: tuple[Variable, ...]
    atoms: tuple[Literal, ...]
    bound: int


@dataclass(slots=True)
class Elimination:
    """Writes the query of one part; ``steps`` are the named subqueries so far."""

    numbers: Numbers
    variables: tuple[Variable, ...]
    sizes: Mapping[Variable, int]
    rows: Mapping[int, int]
    negative: Sequence[Literal]
    steps: list[str] = field(default_factory=list)

    def query(self, part: Part) -> str:
        """Return SQL with the columns v.. of the head, and n."""
        head = frozenset(map(self.variables.index, part.head))
        factors = [self._scan(atom, part.atoms) for atom in part.atoms]
        while True:
            factors = self._reduce_factors(factors, head)
            inner = {v for factor in factors for v in factor.variables} - head
            if not inner:
                break
            factors = self._without(min(inner, key=lambda v: self._cost(v, factors)), factors, head)
        if len(factors) > 1:
            factors = [self._join(factors, head)]
        (last,) = factors
        columns = [f"v{v}" for v in last.variables]
        n = "n" if last.weighted else f"1::{self.numbers.kind} AS n"
        return f"WITH {', '.join(self.steps)} SELECT {', '.join([*columns, n])} FROM {last.name}"

    def _name_step(self, sql: str, variables: tuple[int, ...], rows: float, *, weighted: bool) -> Factor:
        name = f"f{len(self.steps)}"
        self.steps.append(f"{name} AS ({sql})")
        return Factor(name, variables, weighted, max(rows, 1.0))

    # --- one atom

    def _scan(self, atom: Literal, atoms: Sequence[Literal]) -> Factor:
        """Select the rows of a table that fit an atom, and that the literals it guards do not forbid."""
        statement = atom.statement
        if not isinstance(statement, Match):
            raise TypeError(statement)
        columns: dict[Variable, str] = {}
        where: list[str] = []
        for place, slot in enumerate(statement.slots):
            if isinstance(slot, Variable) and slot not in columns:
                columns[slot] = f"t.c{place}"
            else:
                where.append(f"t.c{place} = {_value(slot, columns)}")
        guarded = [one for one in self.negative if guard_of(one, tuple(atoms)) is atom]
        where += [_forbid_literal(one, columns) for one in guarded]
        condition = f" WHERE {' AND '.join(where)}" if where else ""
        numbered = {self.variables.index(variable): column for variable, column in columns.items()}
        rows = float(self.rows[statement.table])
        if not numbered:  # one row or none: n says which
            total = self.numbers.total([])
            return self._name_step(
                f"SELECT {total} AS n FROM t{statement.table} t{condition}", (), 1, weighted=True
            )
        chosen = ", ".join(f"{column} AS v{v}" for v, column in numbered.items())
        return self._name_step(
            f"SELECT {chosen} FROM t{statement.table} t{condition}", tuple(numbered), rows, weighted=False
        )

    # --- acyclic parts

    def _reduce_factors(self, factors: list[Factor], head: frozenset[int]) -> list[Factor]:
        """Sum out the variables of one factor alone, and join those that others cover, until none is left."""
        while True:
            for place, factor in enumerate(factors):
                others = [other for other in factors if other is not factor]
                needed = head.union(*(other.variables for other in others))
                if not needed.issuperset(factor.variables):
                    factors[place] = self._join([factor], needed)
                    break
                wider = next((o for o in others if set(factor.variables) <= set(o.variables)), None)
                if wider is not None:
                    rest = [other for other in others if other is not wider]
                    kept = head.union(*(other.variables for other in rest))
                    factors = [*rest, self._join([wider, factor], kept)]
                    break
            else:
                return factors

    # --- cyclic parts

    def _cost(self, variable: int, factors: Sequence[Factor]) -> tuple[int, float, int]:
        bucket = [factor for factor in factors if variable in factor.variables]
        neighbours = {v for factor in bucket for v in factor.variables}
        return len(neighbours), self._estimate_rows(bucket), variable

    def _without(self, variable: int, factors: list[Factor], head: frozenset[int]) -> list[Factor]:
        bucket = [factor for factor in factors if variable in factor.variables]
        scope = {v for factor in bucket for v in factor.variables} - {variable}
        others = [factor for factor in factors if factor not in bucket]
        drivers = [other for other in others if scope <= set(other.variables)]
        if drivers:
            driver = min(drivers, key=lambda factor: factor.rows)
            bucket, others = [*bucket, driver], [other for other in others if other is not driver]
        return [*others, self._join(bucket, head.union(*(other.variables for other in others)))]

    def _join(self, factors: Sequence[Factor], kept: Collection[int]) -> Factor:
        """Join factors and sum out the variables that are not kept."""
        first: dict[int, str] = {}
        where: list[str] = []
        for place, factor in enumerate(factors):
            for v in factor.variables:
                column = f"a{place}.v{v}"
                if v in first:
                    where.append(f"{first[v]} = {column}")
                first.setdefault(v, column)
        out = tuple(v for v in first if v in kept)
        rows = self._estimate_rows(factors)
        self._refuse(rows, factors)
        weights = [f"a{place}.n" for place, factor in enumerate(factors) if factor.weighted]
        sources = ", ".join(f"{factor.name} a{place}" for place, factor in enumerate(factors))
        condition = f" WHERE {' AND '.join(where)}" if where else ""
        columns = [f"{first[v]} AS v{v}" for v in out]
        if len(out) == len(first):  # nothing is summed out: rows stay as they are
            n = [f"{self.numbers.product(weights)} AS n"] if weights else []
            sql = f"SELECT {', '.join([*columns, *n])} FROM {sources}{condition}"
            return self._name_step(sql, out, rows, weighted=bool(weights))
        grouping = f" GROUP BY {', '.join(first[v] for v in out)}" if out else ""
        # An empty table adds up to nothing, which is 0 here.
        n_ = f"coalesce({self.numbers.total(weights)}, 0) AS n"
        sql = f"SELECT {', '.join([*columns, n_])} FROM {sources}{condition}{grouping}"
        return self._name_step(sql, out, min(rows, prod(map(self._size, out))), weighted=True)

    def _size(self, v: int) -> float:
        return float(self.sizes[self.variables[v]])

    def _estimate_rows(self, factors: Sequence[Factor]) -> float:
        """Estimate the rows of a join as if values were spread evenly."""
        rows = prod(factor.rows for factor in factors)
        everything = [v for factor in factors for v in factor.variables]
        for v in set(everything):
            rows /= max(self._size(v), 1.0) ** (everything.count(v) - 1)
        return rows

    def _refuse(self, rows: float, factors: Sequence[Factor]) -> None:
        # The rows that a join looks at are those before the last factor narrows them down.
        seen = min(
            (self._estimate_rows([f for f in factors if f is not one]) for one in factors), default=rows
        )
        if len(factors) > 1 and max(rows, seen if len(factors) > 2 else 0.0) > budget.MOST_JOINED_ROWS:
            raise TooLargeError(
                f"DuckDB would join about {max(rows, seen):.0e} rows"
                f" (the limit is {budget.MOST_JOINED_ROWS:.0e}).",
                max(rows, seen),
                ["split the formula into parts that share fewer variables", "use fewer facts"],
            )


def _value(slot: Slot, columns: Mapping[Variable, str]) -> str:
    return columns[slot] if isinstance(slot, Variable) else f"{slot:d}"


def _forbid_literal(literal: Literal, columns: Mapping[Variable, str]) -> str:
    """Return the condition that a negative literal puts on the rows of its guard."""
    values = [_value(slot, columns) for slot in slots_of(literal)]
    if not isinstance(literal.statement, Match):
        return f"{values[0]} <> {values[1]}"
    equal = " AND ".join(f"u.c{place} = {value}" for place, value in enumerate(values))
    return f"NOT EXISTS (SELECT 1 FROM t{literal.statement.table} u WHERE {equal})"


def parts_of(
    atoms: Sequence[Literal],
    head: Sequence[Slot],
    sizes: Mapping[Variable, int],
    rows: Mapping[int, int],
) -> list[Part]:
    """Return the connected parts of a case, each with a bound that its count cannot exceed."""
    groups: list[list[Literal]] = []
    for atom in atoms:
        linked = [g for g in groups if any(variables_of(atom) & variables_of(one) for one in g)]
        groups = [g for g in groups if g not in linked] + [[atom, *(one for g in linked for one in g)]]
    found = []
    for group in groups:
        variables = frozenset[Variable]().union(*map(variables_of, group))
        tables = [one.statement.table for one in group if isinstance(one.statement, Match)]
        # Counts on the way are of fewer atoms, so that an empty table must not lower the bound.
        bound = min(prod(sizes[v] for v in variables), prod(max(rows[table], 1) for table in tables))
        own = tuple(dict.fromkeys(slot for slot in head if isinstance(slot, Variable) and slot in variables))
        found.append(Part(own, tuple(group), max(bound, 1)))
    return found
