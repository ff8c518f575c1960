"""One case as one SQL query: aggregates below the joins, variable after variable summed out.

A factor is a subquery with a row for each binding of some variables and, in column ``n``, how often it
occurs. A variable that one factor has alone is summed out (a degree table); a factor whose variables another
one has is joined into it. That counts acyclic parts completely. Where variables go in circles, the one with
the fewest neighbours is joined away, driven by a factor that has all of these neighbours where there is one.

Names of tables and columns are letters with numbers: t3 is a table, c0 its first column, v2 a variable.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING

from mlnlab.counting.duckdb_cases import guard_of
from mlnlab.counting.duckdb_literals import Literal, Match, Slot, slots_of, variables_of
from mlnlab.errors import TooLargeError
from mlnlab.logic.formulas import Variable

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

MOST_JOINED = 1e11  # rows that one join may be expected to look at: about an hour
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
            result = self._reduced(f"{result} * {factor}")
        return result

    def total(self, factors: Sequence[str]) -> str:
        """Return the aggregate that adds up the products of columns."""
        added = f"sum({self.product(factors)})" if factors else "count(*)"
        return f"{self._reduced(f'{added}::{self.kind}')}::{self.kind}"

    def _reduced(self, expression: str) -> str:
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
            factors = self._reduced(factors, head)
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

    def _named(self, sql: str, variables: tuple[int, ...], rows: float, *, weighted: bool) -> Factor:
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
        where += [_forbidden(one, columns) for one in guarded]
        condition = f" WHERE {' AND '.join(where)}" if where else ""
        numbered = {self.variables.index(variable): column for variable, column in columns.items()}
        rows = float(self.rows[statement.table])
        if not numbered:  # one row or none: n says which
            total = self.numbers.total([])
            return self._named(
                f"SELECT {total} AS n FROM t{statement.table} t{condition}", (), 1, weighted=True
            )
        chosen = ", ".join(f"{column} AS v{v}" for v, column in numbered.items())
        return self._named(
            f"SELECT {chosen} FROM t{statement.table} t{condition}", tuple(numbered), rows, weighted=False
        )

    # --- acyclic parts

    def _reduced(self, factors: list[Factor], head: frozenset[int]) -> list[Factor]:
        """Sum out what one factor has alone, and join what another one has anyway, while there is any."""
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
        return len(neighbours), self._expected(bucket), variable

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
        rows = self._expected(factors)
        self._refuse(rows, factors)
        weights = [f"a{place}.n" for place, factor in enumerate(factors) if factor.weighted]
        sources = ", ".join(f"{factor.name} a{place}" for place, factor in enumerate(factors))
        condition = f" WHERE {' AND '.join(where)}" if where else ""
        columns = [f"{first[v]} AS v{v}" for v in out]
        if len(out) == len(first):  # nothing is summed out: rows stay as they are
            n = [f"{self.numbers.product(weights)} AS n"] if weights else []
            sql = f"SELECT {', '.join([*columns, *n])} FROM {sources}{condition}"
            return self._named(sql, out, rows, weighted=bool(weights))
        grouping = f" GROUP BY {', '.join(first[v] for v in out)}" if out else ""
        # An empty table adds up to nothing, which is 0 here.
        n_ = f"coalesce({self.numbers.total(weights)}, 0) AS n"
        sql = f"SELECT {', '.join([*columns, n_])} FROM {sources}{condition}{grouping}"
        return self._named(sql, out, min(rows, prod(map(self._size, out))), weighted=True)

    def _size(self, v: int) -> float:
        return float(self.sizes[self.variables[v]])

    def _expected(self, factors: Sequence[Factor]) -> float:
        """Estimate the rows of a join as if values were spread evenly."""
        rows = prod(factor.rows for factor in factors)
        everything = [v for factor in factors for v in factor.variables]
        for v in set(everything):
            rows /= max(self._size(v), 1.0) ** (everything.count(v) - 1)
        return rows

    def _refuse(self, rows: float, factors: Sequence[Factor]) -> None:
        # The rows that a join looks at are those before the last factor narrows them down.
        seen = min((self._expected([f for f in factors if f is not one]) for one in factors), default=rows)
        if len(factors) > 1 and max(rows, seen if len(factors) > 2 else 0.0) > MOST_JOINED:
            raise TooLargeError(
                f"DuckDB would join about {max(rows, seen):.0e} rows (at most {MOST_JOINED:.0e} are).",
                max(rows, seen),
                ["split the formula into parts that share fewer variables", "use fewer facts"],
            )


def _value(slot: Slot, columns: Mapping[Variable, str]) -> str:
    return columns[slot] if isinstance(slot, Variable) else f"{slot:d}"


def _forbidden(literal: Literal, columns: Mapping[Variable, str]) -> str:
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
