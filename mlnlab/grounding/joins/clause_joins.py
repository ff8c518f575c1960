"""Find the open groundings of a clause by joins, without visiting those that evidence satisfies.

A literal holds back from satisfying a clause where evidence makes it false, or where it is open. For a
negative literal these are the true and the open atoms, which are listed; so it is joined with them. A
positive literal keeps bindings whose atom is not true. A grounding with several open literals is found once,
by the first of them: literal i is open, those before it are known to be false, those behind are either. The
literals are taken in the order in which they are expected to leave the fewest bindings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.errors import TooLargeError
from mlnlab.grounding.question.evidence_relations import FALSE, MOST_KEYS, TRUE, EvidenceRelations, Reading
from mlnlab.logic.formulas.formulas import Atom, Constant, Equality, Variable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.grounding.question.clause_literals import SignedAtom
    from mlnlab.grounding.question.evidence_relations import Lookup, Numbers

MOST_MADE = 1_000_000_000  # bindings, over all steps of the join of one formula: a minute or so
Readings = tuple[Reading, Reading, Reading]
EVERY: Readings = (Reading.KNOWN, Reading.OPEN, Reading.EITHER)
_ABSENT = np.iinfo(np.uint32).max  # in a row of literals


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """Open groundings of a clause: the literals of all, one behind the other, and the number of each."""

    literals: NDArray[np.uint32]
    sizes: NDArray[np.uint32]


class ClauseJoins:
    """Joins over the relations of a question."""

    def __init__(self, relations: EvidenceRelations) -> None:
        self.relations = relations
        self.vocabulary = relations.vocabulary

    def can_join(self, literals: Sequence[SignedAtom]) -> bool:
        """Return whether all constants are known, and all atoms can be numbered."""
        return all(self._is_known(literal) for literal in literals)

    def _is_known(self, literal: SignedAtom) -> bool:
        atom = literal.atom
        if isinstance(atom, Equality):
            types = [literal.variables[0].type] * 2
        elif self.relations.cells(atom.predicate) >= MOST_KEYS:
            return False
        else:
            types = list(self.vocabulary[atom.predicate].types)
        pairs = zip(literal.terms, types, strict=True)
        return all(term.name in self.vocabulary.domain(t) for term, t in pairs if isinstance(term, Constant))

    def open_groundings(
        self, literals: Sequence[SignedAtom], variables: tuple[Variable, ...], readings: Readings = EVERY
    ) -> Iterator[Found]:
        """Yield the groundings that no evidence decides, and that hold no literal and its opposite.

        ``readings`` say how the literals before the first one that is open are read, how that is read, and
        how those behind it.
        """
        made = Budget(MOST_MADE)
        for first, literal in enumerate(literals):
            if not self._has_open(literal):
                continue
            before, here, behind = readings
            read = [before] * first + [here] + [behind] * (len(literals) - first - 1)
            steps = self._steps(literals, read, variables)
            for bindings in _run(steps, variables=frozenset(), made=made):
                found = _clauses(bindings, literals)
                if len(found.sizes):
                    yield found

    def number_false(
        self, literals: Sequence[SignedAtom], variables: tuple[Variable, ...], most: int
    ) -> int | None:
        """Return how many groundings evidence makes false; ``None`` where the search takes too long."""
        return self._number(literals, variables, Reading.KNOWN, most)

    def count_undecided_groundings(
        self, literals: Sequence[SignedAtom], variables: tuple[Variable, ...], most: int
    ) -> int | None:
        """Return how many groundings evidence does not make true; ``None`` where that takes too long."""
        return self._number(literals, variables, Reading.EITHER, most)

    def _number(
        self, literals: Sequence[SignedAtom], variables: tuple[Variable, ...], reading: Reading, most: int
    ) -> int | None:
        steps = self._steps(literals, [reading] * len(literals), variables)
        try:
            return sum(found.number for found in _run(steps, frozenset(), Budget(most)))
        except TooLargeError:
            return None

    def list_undecided_groundings(
        self, literals: Sequence[SignedAtom], variables: tuple[Variable, ...]
    ) -> Iterator[Bindings]:
        """Yield the bindings of the variables for which evidence makes none of the literals true."""
        steps = self._steps(literals, [Reading.EITHER] * len(literals), variables)
        yield from _run(steps, frozenset(variables), Budget(MOST_MADE))

    def _has_open(self, literal: SignedAtom) -> bool:
        return isinstance(literal.atom, Atom) and self.relations.has_open(literal.atom.predicate)

    # --- planning ---------------------------------------------------------------------------------

    def _steps(
        self, literals: Sequence[SignedAtom], readings: Sequence[Reading], variables: tuple[Variable, ...]
    ) -> list[Step]:
        """Return the steps, each time the one that is expected to leave the fewest bindings."""
        bound: set[object] = set()
        pairs = zip(literals, readings, strict=True)
        left = {place: (one, reading, one.variables) for place, (one, reading) in enumerate(pairs)}
        steps: list[Step] = []
        while left or not bound.issuperset(variables):
            choices = self._possible(left, bound, variables)
            _, place, step = min(choices, key=lambda one: (one[0], isinstance(one[2], Spread)))
            steps.append(step)
            bound.update([step.variable] if isinstance(step, Spread) else left.pop(place)[2])
        return steps

    def _possible(
        self,
        left: dict[int, tuple[SignedAtom, Reading, tuple[Variable, ...]]],
        bound: set[object],
        variables: tuple[Variable, ...],
    ) -> Iterator[tuple[float, int, Step]]:
        """Yield possible next steps: the expected bindings for each one, a literal's place, a step."""
        for place, (literal, reading, own) in left.items():
            keeps = self._has_open(literal) and reading is not Reading.KNOWN
            if bound.issuperset(own):
                yield 0.0, place, Filter(literal, place, reading, self.relations, keeps)
            elif isinstance(literal.atom, Equality):
                if (step := self._equate_variable(literal, bound)) is not None:
                    yield 1.0, place, step
            else:
                known = frozenset(bound)
                lookup = self.relations.lookup(literal, reading, known)
                if lookup is not None:
                    given = tuple(v for v in own if v in bound)
                    new = tuple(v for v in own if v not in bound)
                    yield lookup.fan_out, place, LookUp(literal, place, lookup, given, new, keeps)
        for variable in variables:
            if variable not in bound:
                size = len(self.vocabulary.domain(variable.type))
                yield float(size), -1, Spread(variable, size)

    def _equate_variable(self, literal: SignedAtom, bound: set[object]) -> Equate | None:
        """Return the step that binds x by x = y, the only way not to satisfy x != y."""
        if literal.positive:
            return None
        for one, other in (literal.terms, literal.terms[::-1]):
            if isinstance(one, Variable) and one not in bound:
                if isinstance(other, Constant):
                    return Equate(one, self.vocabulary.domain(one.type).number(other.name))
                if other in bound:
                    return Equate(one, other)
        return None


class Budget:
    """How many bindings may still be made before a join gives up."""

    def __init__(self, most: int) -> None:
        self.most, self.spent = most, 0

    def spend(self, number: int) -> None:
        """Count bindings; refuse to go on beyond the limit."""
        self.spent += number
        if self.spent > self.most:
            raise TooLargeError(
                f"Joining the literals of a formula makes more than {self.most:,} bindings.", self.spent,
                ["use fewer constants", "drop the formula with the most variables",
                 "list more facts, or close predicates: only open atoms are kept"],
            )  # fmt: skip


def _run(steps: Sequence[Step], variables: frozenset[Variable], made: Budget) -> Iterator[Bindings]:
    """Yield the bindings that the steps make of the empty one; drop columns that no later step reads."""
    needed = [variables]
    for step in reversed(steps[1:]):
        needed.append(needed[-1] | _read_by(step))
    needed.reverse()

    def go(bindings: Bindings, at: int) -> Iterator[Bindings]:
        if at == len(steps):
            yield bindings
            return
        for found in steps[at].apply(bindings, made.spend):
            yield from go(found.without(needed[at]), at + 1)

    yield from go(BEGIN, 0)


def _read_by(step: Step) -> frozenset[Variable]:
    match step:
        case LookUp():
            return frozenset(step.bound)
        case Filter():
            return frozenset(step.literal.variables)
        case Equate():
            return frozenset([step.source] if isinstance(step.source, Variable) else [])
        case Spread():
            return frozenset()


def _clauses(bindings: Bindings, literals: Sequence[SignedAtom]) -> Found:
    """Return each binding's open literals, each once; drop bindings with a literal and its opposite."""
    rows = np.empty((bindings.number, len(bindings.codes)), np.uint32)
    for column, (place, codes) in enumerate(bindings.codes.items()):
        rows[:, column] = np.where(codes >= 0, 2 * codes + (not literals[place].positive), _ABSENT)
    if rows.shape[1] == 1:
        return Found(rows[:, 0], np.ones(len(rows), np.uint32))
    rows.sort(axis=1)
    known = rows != _ABSENT
    contrary = (rows[:, 1:] == rows[:, :-1] + 1) & (rows[:, 1:] & 1 == 1) & known[:, 1:]
    known[:, 1:] &= rows[:, 1:] != rows[:, :-1]  # a literal counts once
    open_ = ~contrary.any(axis=1)
    rows, known = rows[open_], known[open_]
    return Found(rows[known], known.sum(axis=1, dtype=np.uint32))


# --- the steps of a join that finds the bindings of a clause ------------------------------------

# Look up, filter, spread out over a type.

# Every step takes a stretch of bindings, held as columns of constant numbers, and yields stretches again. How
# many bindings a step makes is known before any is made, so none is ever longer than it has to be: a stretch
# that would become too long is cut first.

Spend = Callable[[int], None]  # hears how many bindings will be looked at, before they are made

STRETCH = 1 << 18  # bindings that are made together


@dataclass(frozen=True, slots=True, eq=False)
class Bindings:
    """Some bindings: a column of constant numbers for each variable, and the codes of literals met so far."""

    number: int
    columns: Mapping[Variable, Numbers]
    codes: Mapping[int, Numbers]  # by the literal's place in its clause

    def take_rows(self, rows: NDArray[np.intp] | NDArray[np.bool_], number: int) -> Bindings:
        """Return some of the bindings, by their places or by a mask."""
        columns = {variable: column[rows] for variable, column in self.columns.items()}
        return Bindings(number, columns, {place: codes[rows] for place, codes in self.codes.items()})

    def with_columns(self, new: Mapping[Variable, Numbers], codes: Mapping[int, Numbers]) -> Bindings:
        """Return the bindings with more columns and more codes."""
        return Bindings(self.number, {**self.columns, **new}, {**self.codes, **codes})

    def without(self, needed: frozenset[Variable]) -> Bindings:
        """Return the bindings without the columns that no later step needs."""
        if self.columns.keys() <= needed:
            return self
        return Bindings(self.number, {v: c for v, c in self.columns.items() if v in needed}, self.codes)


BEGIN = Bindings(1, {}, {})


@dataclass(frozen=True, slots=True, eq=False)
class LookUp:
    """Join with the atoms for which a literal is read as wanted."""

    literal: SignedAtom
    place: int
    lookup: Lookup
    bound: tuple[Variable, ...]
    new: tuple[Variable, ...]
    keeps_codes: bool

    def apply(self, bindings: Bindings, spend: Spend) -> Iterator[Bindings]:
        """Yield each binding with each matching atom."""
        columns = [bindings.columns[variable] for variable in self.bound]
        first, numbers = self.lookup.runs(columns, bindings.number)
        spend(int(numbers.sum()))
        for begin, end in _cuts(numbers):
            length = numbers[begin:end]
            total = int(length.sum())
            if not total:
                continue
            left = np.repeat(np.arange(begin, end), length)
            ends = np.cumsum(length)
            right = np.arange(total) + np.repeat(first[begin:end] - (ends - length), length)
            new = {v: c[right] for v, c in zip(self.new, self.lookup.columns, strict=True)}
            codes = {self.place: self.lookup.codes[right]} if self.keeps_codes else {}
            yield bindings.take_rows(left, total).with_columns(new, codes)


@dataclass(frozen=True, slots=True, eq=False)
class Filter:
    """Keep the bindings for which a literal, all of whose variables are bound, is read as wanted."""

    literal: SignedAtom
    place: int
    reading: Reading
    relations: EvidenceRelations
    keeps_codes: bool

    def apply(self, bindings: Bindings, spend: Spend) -> Iterator[Bindings]:
        """Yield the bindings that are kept."""
        atom, positive = self.literal
        if isinstance(atom, Atom):
            types = self.relations.vocabulary[atom.predicate].types
            columns = [
                self._column(bindings, t, type_) for t, type_ in zip(self.literal.terms, types, strict=True)
            ]
            codes = self.relations.codes(atom.predicate, columns, bindings.number)
        else:
            type_ = next(variable.type for variable in self.literal.variables)
            one, other = (self._column(bindings, term, type_) for term in self.literal.terms)
            codes = np.where(one == other, TRUE, FALSE).astype(np.int64)
        spend(bindings.number)
        kept = self._reads(codes, positive)
        number = int(kept.sum())
        if number:
            codes_kept = {self.place: codes[kept]} if self.keeps_codes else {}
            yield bindings.take_rows(kept, number).with_columns({}, codes_kept)

    def _reads(self, codes: Numbers, positive: bool) -> NDArray[np.bool_]:
        match self.reading:
            case Reading.KNOWN:
                kept = codes == (FALSE if positive else TRUE)
            case Reading.OPEN:
                kept = codes >= 0
            case Reading.ACTIVE:
                kept = self.relations.is_active(codes)
            case Reading.IDLE:
                kept = (codes != (TRUE if positive else FALSE)) & ~self.relations.is_active(codes)
            case _:
                kept = codes != (TRUE if positive else FALSE)
        return np.asarray(kept)

    def _column(self, bindings: Bindings, term: Variable | Constant, type_: str) -> Numbers:
        if isinstance(term, Variable):
            return bindings.columns[term]
        return np.full(bindings.number, self.relations.vocabulary.domain(type_).number(term.name), np.int64)


@dataclass(frozen=True, slots=True)
class Spread:
    """Bind a variable to every constant of its type."""

    variable: Variable
    size: int

    def apply(self, bindings: Bindings, spend: Spend) -> Iterator[Bindings]:
        """Yield each binding with each constant."""
        spend(bindings.number * self.size)
        several = max(1, STRETCH // max(1, self.size))
        for begin in range(0, bindings.number, several):
            number = min(several, bindings.number - begin)
            left = np.repeat(np.arange(begin, begin + number), self.size)
            new = {self.variable: np.tile(np.arange(self.size), number)}
            yield bindings.take_rows(left, len(left)).with_columns(new, {})


@dataclass(frozen=True, slots=True)
class Equate:
    """Bind a variable to the value of another one, or to a constant."""

    variable: Variable
    source: Variable | int

    def apply(self, bindings: Bindings, spend: Spend) -> Iterator[Bindings]:
        """Yield each binding with the variable."""
        spend(bindings.number)
        source = self.source
        column = np.full(bindings.number, source) if isinstance(source, int) else bindings.columns[source]
        yield bindings.with_columns({self.variable: column}, {})


Step = LookUp | Filter | Spread | Equate


def _cuts(numbers: Numbers) -> Iterator[tuple[int, int]]:
    """Yield stretches of rows that make about ``STRETCH`` bindings each; a row is never cut."""
    ends = np.cumsum(numbers)
    begin = 0
    while begin < len(numbers):
        before = int(ends[begin - 1]) if begin else 0
        end = max(begin + 1, int(np.searchsorted(ends, before + STRETCH, "right")))
        yield begin, end
        begin = end
