"""A second way to count: formulas as SQL, for facts in memory, in files, or larger than memory.

The numbers are those of :class:`mlnlab.counting.counter.Counter`; nothing of its normal form, its plans or
its kernels is used. Shared is what says what a formula means: free variables, names of constants, and which
bindings arithmetic keeps out (:mod:`mlnlab.logic`). A formula is read into literals over numbered tables,
split into signed cases, and each case is one query (:mod:`mlnlab.counting.duckdb_elimination`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import gcd, prod
from typing import TYPE_CHECKING, Self

from mlnlab.counting.duckdb_cases import cases
from mlnlab.counting.duckdb_elimination import FITS_HUGEINT, Elimination, Numbers, parts_of
from mlnlab.counting.duckdb_literals import variables_of
from mlnlab.counting.duckdb_reading import Reader, scope_of
from mlnlab.errors import TooLargeError
from mlnlab.logic.formulas import And, Formula, Variable, holds_between
from mlnlab.logic.fresh_names import FreshNames
from mlnlab.logic.normal_forms import standardise_apart
from mlnlab.logic.substitution import free_variables

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mlnlab.counting.duckdb_cases import Case
    from mlnlab.counting.duckdb_elimination import Part
    from mlnlab.counting.duckdb_literals import Tree
    from mlnlab.counting.duckdb_store import Connection
    from mlnlab.logic.formulas import Relation

_MOST_SPREAD = 1e9  # rows of grouped counts after those over fewer variables were repeated for all constants


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
    >>> from mlnlab.counting.duckdb_store import store_of
    >>> from mlnlab.counting.facts import facts_of
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
            self.store.dropped(table)

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
        sizes, parts, free = self._prepared(case)
        result = prod(sizes[v] for v in free)
        for part in parts:
            result *= result and self._number(case, part, sizes)
        return result

    def _prepared(self, case: Case) -> tuple[dict[Variable, int], list[Part], frozenset[Variable]]:
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
        return self.groups_of(cases(tree, head, variables))

    def groups_of(self, found_cases: Mapping[Case, int]) -> list[Group]:
        """Return the grouped counts of cases, times their coefficients."""
        found = [self._group(case, coefficient) for case, coefficient in found_cases.items()]
        kept = [group for group in found if group is not None]
        if sum(group.bound for group in kept) >= FITS_HUGEINT:
            raise TooLargeError(
                "Grouped counts of more than 37 digits are beyond DuckDB.",
                float(sum(group.bound for group in kept)),
                ['use method="planned"', "use fewer variables below the quantifier"],
            )
        return kept

    def _group(self, case: Case, coefficient: int) -> Group | None:
        sizes, parts, free = self._prepared(case)
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
        """Return the number that holds everywhere, and SQL for what is to be added at some positions."""
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
        if rows > _MOST_SPREAD:
            raise TooLargeError(
                f"A quantified part of the formula would be written down in about {rows:.0e} rows"
                f" (at most {_MOST_SPREAD:.0e} are).",
                rows,
                ['use method="planned"', "move what the quantified variable does not need out of it"],
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
        table = self.store.made(f"SELECT {chosen} FROM ({sql}) WHERE {condition}")
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
