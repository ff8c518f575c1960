"""Preemptive shattering: clauses over variables become clauses over pieces (Poole, Bacchus, Kisynski 2011).

Each variable is one of the constants that the model mentions, or one of the others, its type's subdomain; and
variables of one subdomain are equal or different. Every way to decide that is a clause of its own. Atoms that
are decided alike are equiprobable: they are the symbols, one for each predicate and pattern of arguments
(Van den Broeck, Meert and Davis 2013, "Equiprobable random variables").
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from mlnlab.errors import ArgumentError, TooLargeError
from mlnlab.lifted.theory import Clause, Literal, Piece, Theory, made_clause
from mlnlab.logic.formulas import Atom, Constant, Equality, Formula, Not, Variable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mlnlab.lifted.sentences import Sentence

MOST_PIECES = 20_000
MOST_CLAUSES = 100_000

Place = int | str  # of an argument: the number of a variable's class, or a constant


class Symbol(NamedTuple):
    """Atoms that the model cannot tell apart: a predicate, and which arguments are equal or constants."""

    predicate: str
    types: tuple[str, ...]
    pattern: tuple[Place, ...]

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
            (letters[p] if p < len(letters) else f"x{p}") if isinstance(p, int) else p for p in self.pattern
        ]
        return f"{self.predicate}({', '.join(names)})" if names else self.predicate


class Shattered(NamedTuple):
    """A theory with the symbols of its pieces, and the types of its subdomains."""

    theory: Theory
    symbols: tuple[Symbol, ...]
    types: tuple[str, ...]  # of each subdomain


class Shattering:
    """Knows the types, constants and predicates of a model; a mutable local of one translation."""

    def __init__(
        self, predicates: Mapping[str, tuple[str, ...]], constants: Mapping[str, Sequence[str]]
    ) -> None:
        used = dict.fromkeys(t for types in predicates.values() for t in types)
        self.types = tuple(dict.fromkeys([*used, *constants]))
        self.constants = {type_: tuple(constants.get(type_, ())) for type_ in self.types}
        self.predicates = predicates
        self.symbols: dict[Symbol, int] = {}
        for name, types in predicates.items():
            for pattern in self._patterns(types):
                self.symbols.setdefault(Symbol(name, types, pattern), len(self.symbols))
                if len(self.symbols) > MOST_PIECES:
                    raise TooLargeError(
                        f"The model's constants tell apart more than {MOST_PIECES:,} kinds of atoms.",
                        float(MOST_PIECES), ["mention fewer constants in formulas"],
                    )  # fmt: skip

    def _patterns(self, types: Sequence[str]) -> Iterator[tuple[Place, ...]]:
        variables = [Variable(f"x{n}", t) for n, t in enumerate(types)]
        for decided in self.cases(variables):
            yield _pattern([decided[v] for v in variables])

    def cases(self, variables: Sequence[Variable]) -> Iterator[dict[Variable, Place]]:
        """Yield each way to decide variables: constants, and numbers of classes of equal ones."""
        yield from _cases(list(variables), {}, {}, self.constants)

    def symbol(self, atom: Atom, decided: Mapping[Variable, Place]) -> tuple[int, tuple[int, ...]]:
        """Return an atom's symbol, and the classes that are its arguments."""
        places = [_place(term, decided) for term in atom.arguments]
        pattern = _pattern(places)
        arguments = tuple(dict.fromkeys(p for p in places if isinstance(p, int)))
        return self.symbols[Symbol(atom.predicate, self.predicates[atom.predicate], pattern)], arguments

    def theory(self, sentences: Sequence[Sentence]) -> Shattered:
        """Return the theory of sentences; its pieces are all symbols, in their order."""
        subdomains = {type_: number for number, type_ in enumerate(self.types)}
        pieces = tuple(Piece(n, tuple(subdomains[t] for t in s.variables)) for s, n in self.symbols.items())
        clauses: set[Clause] = set()
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
        return Shattered(theory, tuple(self.symbols), self.types)

    def _clause(
        self, sentence: Sentence, decided: Mapping[Variable, Place], subdomains: Mapping[str, int]
    ) -> Clause | None:
        """Return a sentence where variables are decided; nothing where an equality satisfies it."""
        of_class = {p: subdomains[v.type] for v, p in decided.items() if isinstance(p, int)}
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


def _pattern(places: Sequence[Place]) -> tuple[Place, ...]:
    """Return places with classes renumbered in the order of their first occurrence."""
    order = {p: n for n, p in enumerate(dict.fromkeys(p for p in places if isinstance(p, int)))}
    return tuple(order[p] if isinstance(p, int) else p for p in places)


def _cases(
    left: list[Variable], decided: dict[Variable, Place], classes: dict[int, str],
    constants: Mapping[str, Sequence[str]],
) -> Iterator[dict[Variable, Place]]:  # fmt: skip
    if not left:
        yield dict(decided)
        return
    variable, rest = left[0], left[1:]
    for name in constants.get(variable.type, ()):
        yield from _cases(rest, {**decided, variable: name}, classes, constants)
    for number, type_ in classes.items():
        if type_ == variable.type:
            yield from _cases(rest, {**decided, variable: number}, classes, constants)
    fresh = len(classes)
    yield from _cases(rest, {**decided, variable: fresh}, {**classes, fresh: variable.type}, constants)


def literal_of(formula: Formula) -> tuple[Atom, bool] | None:
    """Return the atom of a literal with its sign; nothing where the formula is none."""
    if isinstance(formula, Atom):
        return formula, True
    if isinstance(formula, Not) and isinstance(formula.operand, Atom):
        return formula.operand, False
    return None
