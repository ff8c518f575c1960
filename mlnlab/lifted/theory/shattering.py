"""Preemptive shattering: clauses over variables become clauses over pieces (Poole, Bacchus, Kisynski 2011).

Each variable is one of the constants that the model mentions, or one of the others, its type's subdomain; and
variables of one subdomain are equal or different. Every way to decide that is a clause of its own. Atoms that
are decided alike are equiprobable: they are the symbols, one for each predicate and pattern of arguments
(Van den Broeck, Meert and Davis 2013, "Equiprobable random variables").
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Self

from mlnlab.errors import ArgumentError, TooLargeError
from mlnlab.lifted.theory.evidence import NOTHING, Evidence
from mlnlab.lifted.theory.theory import Clause, Literal, Piece, Theory, made_clause
from mlnlab.logic.formulas.formulas import Atom, Constant, Equality, Formula, Not, Variable
from mlnlab.logic.formulas.ground_atoms import formula_constant

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mlnlab.lifted.theory.sentences import Sentence

MOST_PIECES = 20_000
MOST_CLAUSES = 100_000

Place = int | str  # of an argument: the number of a variable's class, or a constant


class Symbol(NamedTuple):
    """Atoms that the model cannot tell apart: a predicate, and which arguments are equal or constants.

    ``groups`` are those of constants, by evidence, that the classes of arguments are from; empty: all first.
    """

    predicate: str
    types: tuple[str, ...]
    pattern: tuple[Place, ...]
    groups: tuple[int, ...] = ()

    def group(self, number: int) -> int:
        """Return the group of a class of arguments."""
        return self.groups[number] if self.groups else 0

    @property
    def variables(self) -> tuple[str, ...]:
        """The type of each argument that is free, once for equal ones."""
        first = {
            place: t for place, t in zip(self.pattern, self.types, strict=True) if isinstance(place, int)
        }
        return tuple(first[place] for place in sorted(first))

    def __str__(self) -> str:
        letters = "xyzuvw"
        names = [
            (letters[p] if p < len(letters) else f"x{p}") if isinstance(p, int) else formula_constant(p)
            for p in self.pattern
        ]
        return f"{self.predicate}({', '.join(names)})" if names else self.predicate


class Element(int):
    """The number of a class of equal variables, which knows the group of constants that they are from."""

    group: int

    def __new__(cls, number: int, group: int = 0) -> Self:
        """Return a class of this number."""
        made = super().__new__(cls, number)
        made.group = group
        return made


class Shattered(NamedTuple):
    """A theory with the symbols of its pieces, and the types of its subdomains."""

    theory: Theory
    symbols: tuple[Symbol, ...]
    types: tuple[str, ...]  # of each subdomain
    groups: tuple[int, ...]  # of each subdomain: which of its type's


class Shattering:
    """Knows the types, constants and predicates of a model; a mutable local of one translation."""

    def __init__(
        self, predicates: Mapping[str, tuple[str, ...]], constants: Mapping[str, Sequence[str]],
        evidence: Evidence = NOTHING,
    ) -> None:  # fmt: skip
        self.evidence = evidence
        used = dict.fromkeys(t for types in predicates.values() for t in types)
        self.types = tuple(dict.fromkeys([*used, *constants]))
        self.constants = {type_: tuple(constants.get(type_, ())) for type_ in self.types}
        self.predicates = predicates
        self.numbers = {type_: len(evidence.groups_of(type_)) for type_ in self.types}
        self.symbols: dict[Symbol, int] = {}
        for name, types in predicates.items():
            for pattern, groups in self._patterns(types):
                self.symbols.setdefault(Symbol(name, types, pattern, groups), len(self.symbols))
                if len(self.symbols) > MOST_PIECES:
                    raise TooLargeError(
                        f"The model's constants tell apart more than {MOST_PIECES:,} kinds of atoms.",
                        float(MOST_PIECES), ["mention fewer constants in formulas"],
                    )  # fmt: skip

    @property
    def tells_apart(self) -> bool:
        """Whether some constants of a type are not like the others."""
        return any(self.constants.values()) or any(number != 1 for number in self.numbers.values())

    def _patterns(self, types: Sequence[str]) -> Iterator[tuple[tuple[Place, ...], tuple[int, ...]]]:
        variables = [Variable(f"x{n}", t) for n, t in enumerate(types)]
        for decided in self.cases(variables):
            yield _pattern([decided[v] for v in variables])

    def cases(self, variables: Sequence[Variable]) -> Iterator[dict[Variable, Place]]:
        """Yield each way to decide variables: constants, and numbers of classes of equal ones."""
        yield from _cases(list(variables), {}, {}, self.constants, self.numbers)

    def symbol(self, atom: Atom, decided: Mapping[Variable, Place]) -> tuple[int, tuple[int, ...]]:
        """Return an atom's symbol, and the classes that are its arguments."""
        places = [_place(term, decided) for term in atom.arguments]
        pattern, groups = _pattern(places)
        arguments = tuple(dict.fromkeys(p for p in places if isinstance(p, int)))
        return self.symbols[
            Symbol(atom.predicate, self.predicates[atom.predicate], pattern, groups)
        ], arguments

    def theory(self, sentences: Sequence[Sentence]) -> Shattered:
        """Return the theory of sentences; its pieces are all symbols, in their order."""
        # A formula may quantify over a type that no predicate has, and say by that whether it is empty.
        quantified = (variable.type for sentence in sentences for variable in sentence.variables)
        types = dict.fromkeys([*self.types, *quantified])
        places = [(type_, n) for type_ in types for n in range(len(self.evidence.groups_of(type_)))]
        subdomains = {place: number for number, place in enumerate(places)}
        pieces = tuple(
            Piece(n, tuple(subdomains[t, s.group(k)] for k, t in enumerate(s.variables)))
            for s, n in self.symbols.items()
        )
        clauses = set(self._facts(pieces))
        for sentence in sentences:
            for decided in self.cases(dict.fromkeys(sentence.variables)):  # type: ignore[arg-type]
                clause = self._clause(sentence, decided, subdomains)
                if clause is not None:
                    clauses.add(clause)
            if len(clauses) > MOST_CLAUSES:
                raise TooLargeError(
                    f"The formulas fall into more than {MOST_CLAUSES:,} clauses when it is decided which"
                    " variables are equal.", float(len(clauses)), ["use formulas of fewer variables"],
                )  # fmt: skip
        theory = Theory(len(subdomains), pieces, tuple(sorted(clauses)))
        return Shattered(
            theory, tuple(self.symbols), tuple(t for t, _ in places), tuple(g for _, g in places)
        )

    def _facts(self, pieces: Sequence[Piece]) -> Iterator[Clause]:
        """Yield a clause for each symbol whose atoms are known."""
        for symbol, number in self.symbols.items():
            known = self.evidence.of(symbol)
            if known is not None:
                subdomains = pieces[number].subdomains
                clause = made_clause(subdomains, [Literal(number, tuple(range(len(subdomains))), known)])
                if clause is not None:
                    yield clause

    def _clause(
        self, sentence: Sentence, decided: Mapping[Variable, Place],
        subdomains: Mapping[tuple[str, int], int],
    ) -> Clause | None:  # fmt: skip
        """Return a sentence where variables are decided; nothing where an equality satisfies it."""
        of_class = {p: subdomains[v.type, p.group] for v, p in decided.items() if isinstance(p, Element)}
        literals = []
        for written in sentence.literals:
            inner, positive = (written.operand, False) if isinstance(written, Not) else (written, True)
            if isinstance(inner, Equality):
                if (_place(inner.left, decided) == _place(inner.right, decided)) is positive:
                    return None
            elif isinstance(inner, Atom):
                number, arguments = self.symbol(inner, decided)
                literals.append(Literal(number, arguments, positive))
        return made_clause([of_class[p] for p in sorted(of_class)], literals)


def _place(term: object, decided: Mapping[Variable, Place]) -> Place:
    if isinstance(term, Variable):
        return decided[term]
    if isinstance(term, Constant):
        return term.name
    raise ArgumentError(f"{term} is calculated, which makes constants differ: it cannot be lifted.")


def _pattern(places: Sequence[Place]) -> tuple[tuple[Place, ...], tuple[int, ...]]:
    """Return places with classes renumbered in the order of their first occurrence, and their groups."""
    classes = dict.fromkeys(p for p in places if isinstance(p, Element))
    order = {p: n for n, p in enumerate(classes)}
    groups = tuple(p.group for p in classes)
    pattern = tuple(order[p] if isinstance(p, Element) else p for p in places)
    return pattern, groups if any(groups) else ()


def _cases(
    left: list[Variable], decided: dict[Variable, Place], classes: dict[Element, str],
    constants: Mapping[str, Sequence[str]], groups: Mapping[str, int],
) -> Iterator[dict[Variable, Place]]:  # fmt: skip
    if not left:
        yield dict(decided)
        return
    variable, rest = left[0], left[1:]
    for name in constants.get(variable.type, ()):
        yield from _cases(rest, {**decided, variable: name}, classes, constants, groups)
    for known, type_ in classes.items():
        if type_ == variable.type:
            yield from _cases(rest, {**decided, variable: known}, classes, constants, groups)
    for group in range(groups.get(variable.type, 1)):
        fresh = Element(len(classes), group)
        more = {**classes, fresh: variable.type}
        yield from _cases(rest, {**decided, variable: fresh}, more, constants, groups)


def literal_of(formula: Formula) -> tuple[Atom, bool] | None:
    """Return the atom of a literal with its sign; nothing where the formula is none."""
    if isinstance(formula, Atom):
        return formula, True
    if isinstance(formula, Not) and isinstance(formula.operand, Atom):
        return formula.operand, False
    return None
