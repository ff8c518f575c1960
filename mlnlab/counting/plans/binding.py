"""Conjunctions bound to a vocabulary: variables and constants become numbers, atoms become scans."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from mlnlab.counting.formulas.conditions import satisfying
from mlnlab.counting.plans.nodes import Run, Scan
from mlnlab.errors import ArgumentError
from mlnlab.logic.formulas.formulas import Atom, Cardinality, Constant, Variable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mlnlab.counting.facts.tables import Part
    from mlnlab.counting.formulas.conjunctions import Argument, Conjunction, Quantity
    from mlnlab.logic.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True, eq=False)
class BoundConjunction:
    """A conjunction over numbers: variable k has ``sizes[k]`` constants; ``derived`` is known at run time."""

    conjunction: Conjunction
    sizes: tuple[int, ...]
    scans: tuple[Scan, ...]
    derived: tuple[Quantity | Cardinality, ...]

    def number(self, variable: Variable) -> int:
        """Return the number of a variable."""
        return self.conjunction.variables.index(variable)

    @property
    def head(self) -> frozenset[int]:
        """The numbers of the variables by which bindings are grouped."""
        return frozenset(self.number(v) for v in self.conjunction.head if isinstance(v, Variable))

    def free_factor(self, scans: Sequence[Scan]) -> int:
        """Return the number of bindings of the variables that no scan and no head has."""
        seen = self.head.union(*(scan.variables for scan in scans))
        return prod(size for number, size in enumerate(self.sizes) if number not in seen)


@dataclass(frozen=True, slots=True, eq=False)
class Grouped:
    """A coefficient times parts that multiply, over the head variables of one bound conjunction."""

    coefficient: int
    bound: BoundConjunction
    parts: tuple[Part, ...]


def bound(conjunction: Conjunction, vocabulary: Vocabulary) -> BoundConjunction | None:
    """Return the conjunction over a vocabulary; ``None`` where a constant or a type has nothing in it."""
    for constant in conjunction.existing:
        if constant.name not in vocabulary.domain(constant.type):
            return None
    numbers = {variable: number for number, variable in enumerate(conjunction.variables)}
    sizes = tuple(len(vocabulary.domain(variable.type)) for variable in conjunction.variables)
    if 0 in sizes:
        return None
    scans: list[Scan] = []
    for atom in conjunction.atoms:
        scan = scan_of_atom(atom, numbers, vocabulary)
        if scan is None:
            return None
        scans.append(scan)
    derived: list[Quantity | Cardinality] = [*conjunction.quantities]
    for condition in conjunction.conditions:
        if isinstance(condition, Cardinality):
            derived.append(condition)
            continue
        variables, rows = satisfying(condition, vocabulary)
        own = tuple(numbers[variable] for variable in variables)
        size = sizes[own[0]] if own else 1
        scans.append(Scan(str(condition), "", None, own, size, float(len(rows)), rows))
    return BoundConjunction(conjunction, sizes, tuple(scans), tuple(derived))


def scan_of_atom(atom: Atom, numbers: dict[Variable, int], vocabulary: Vocabulary) -> Scan | None:
    """Return the scan of the true atoms that fit an atom; ``None`` where its constants are unknown."""
    predicate = vocabulary[atom.predicate]
    if len(atom.arguments) != predicate.arity:
        raise ArgumentError(f"{atom} does not fit the declaration {predicate}.")
    arguments = tuple(a for a in atom.arguments if isinstance(a, Variable | Constant))
    pattern = pattern_of(arguments, predicate.types, numbers, vocabulary)
    if pattern is None:
        return None
    return scan(str(atom), atom.predicate, pattern, vocabulary, predicate.types)


def pattern_of(
    arguments: Sequence[Argument], types: Sequence[str], numbers: dict[Variable, int], vocabulary: Vocabulary
) -> tuple[int, ...] | None:
    """Return the numbers of variables, and -1 minus the numbers of constants; ``None`` for a missing one."""
    pattern = []
    for argument, type_ in zip(arguments, types, strict=True):
        if isinstance(argument, Variable):
            pattern.append(numbers[argument])
            continue
        try:
            pattern.append(-1 - vocabulary.domain(type_).number(argument.name))
        except KeyError:
            return None
    return tuple(pattern)


def scan(
    label: str, source: str | int, pattern: tuple[int, ...], vocabulary: Vocabulary, types: Sequence[str]
) -> Scan:
    """Return the scan of a relation's tuples that fit a pattern; its size is estimated when it is planned."""
    variables = tuple(dict.fromkeys(number for number in pattern if number >= 0))
    plain = variables == pattern
    size = len(vocabulary.domain(types[pattern.index(variables[0])])) if variables else 1
    # Variables are renumbered, so that different atoms share one selection.
    local = None if plain else tuple(variables.index(n) if n >= 0 else n for n in pattern)
    return Scan(label, source, local, variables, size, 0.0)


def scan_derived_relation(
    bound: BoundConjunction, number: int, columns: Sequence[int], vocabulary: Vocabulary
) -> Scan | None:
    """Return the scan of the rows, over some columns, of a relation that is known at run time only."""
    derived = bound.derived[number]
    arguments: tuple[Argument, ...] = ()
    types: tuple[str, ...] = ()
    if not isinstance(derived, Cardinality):
        arguments = tuple(derived.arguments[column] for column in columns)
        types = tuple(derived.threshold.head[column].type for column in columns)
    numbers = {variable: place for place, variable in enumerate(bound.conjunction.variables)}
    pattern = pattern_of(arguments, types, numbers, vocabulary)
    return None if pattern is None else scan(str(derived), number, pattern, vocabulary, types)


def with_estimate(found: Scan, run: Run) -> Scan:
    """Return the scan with the number of tuples that it has in the facts of a run."""
    rows = len(found.rows(run))
    return Scan(
        found.label, found.source, found.pattern, found.variables, found.size, float(rows), found.listed
    )
