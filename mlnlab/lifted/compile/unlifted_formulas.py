r"""Name the formulas of a model that no rule lifts, as they were written, with reason and ways out.

A theory at which the rules end is made of translated clauses, and contains formulas that only share atoms
with the culprits. So formulas are tried: alone first, then as a set from which a formula is dropped if the
rest is still not lifted. The set named is minimal: without any one of its formulas, the others are lifted.

>>> import mlnlab as ml
>>> mln = ml.MLN.from_text("Smokes(person)\nFriends(person, person)\n"
...     "0.7 Friends(x, y) ^ Friends(y, z) => Friends(x, z)\n-1 Smokes(x)")
>>> for found in ml.lift(mln, recursions=0).unlifted_formulas:
...     print(found.formulas, found.texts, found.size)
(0,) ('0.7 Friends(x, y) ^ Friends(y, z) => Friends(x, z) (line 3)',) 5
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import log2, prod
from typing import TYPE_CHECKING, Literal, NamedTuple

from mlnlab.circuits.first_order.first_order_circuit import SIGNED, Unfolded
from mlnlab.errors import TooLargeError, count_of
from mlnlab.lifted.compile.compiling import RECURSION, Compilation, CompileParams, NotLiftableError
from mlnlab.lifted.theory.canonical_theory import canonical
from mlnlab.lifted.theory.evidence import NOTHING
from mlnlab.lifted.theory.weighted_theory import WeightedTheory, weighted_theory
from mlnlab.logic.formulas.printing import to_text
from mlnlab.logic.formulas.substitution import all_variables
from mlnlab.logic.formulas.traversal import predicates
from mlnlab.logic.formulas.weights import Fixed, Hard, ToLearn, WeightedFormula

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mlnlab.lifted.theory.shattering import Symbol
    from mlnlab.lifted.theory.theory import Theory
    from mlnlab.model.mln.mln import MLN

MOST_WORLDS = 1 << 26  # of the atoms of these formulas, that are gone through one by one
MOST_CLAUSES = 2_000  # of all theories of one trial
MOST_FORMULAS = 40  # that are tried together
_MOST_NAMED, _LONGEST = 3, 200


@dataclass(frozen=True, slots=True)
class UnliftedFormulas:
    """Formulas of a model, by their numbers, that no rule lifts together; without any one they are lifted."""

    mln: MLN
    formulas: tuple[int, ...]
    recursions: int  # how many constants were taken out, one after the other

    @property
    def texts(self) -> tuple[str, ...]:
        """The formulas as they were written, with weight and line."""
        return tuple(write_formula(self.mln, number) for number in self.formulas)

    @property
    def reason(self) -> str:
        """Why no rule lifts them."""
        names = max((_variables(self.mln, n) for n in self.formulas), key=len, default=())
        shown = f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else "".join(names)
        subject = "it relates" if len(self.formulas) == 1 else "one of them relates"
        end = (
            f"and {RECURSION}, which takes one constant out after the other, is left out with recursions=0"
            if not self.recursions
            else f"and {RECURSION}, which takes one constant out after the other, leaves ever new theories"
        )
        if len(names) > 2:
            return (
                f"{subject} {len(names)} variables at once, {shown}, of which no rule takes one away, {end}"
            )
        return f"no atom of one argument is left whose true ones could be counted, {end}"

    @property
    def atoms(self) -> dict[str, tuple[str, ...]]:
        """The predicates of these formulas, with their types."""
        known = self.mln.vocabulary.predicates
        used = [name for n in self.formulas for name in predicates(self.mln.formulas[n].formula)]
        return {name: known[name].types for name in dict.fromkeys(used) if name in known}

    @property
    def size(self) -> int:
        """The largest number of constants of each type at which the worlds of their atoms are few enough."""
        size = 0
        if not any(self.atoms.values()):
            return size
        while _number_of_atoms(self.atoms, size + 1) <= log2(MOST_WORLDS):
            size += 1
        return size

    @property
    def remedies(self) -> tuple[str, ...]:
        """The ways out."""
        many = _number_of_atoms(self.atoms, self.size)
        atoms = f"{count_of(many, 'atom')} of {' and '.join(self.atoms)}"
        grounded = (
            f"ground it: ml.infer(..., method='junction-tree') takes about"
            f" {count_of(self.size, 'constant')} of each type, {atoms}"
        )
        return (
            *((grounded,) if self.size else ()),
            "sample with ml.infer(..., method='mc-sat')",
            "drop it" if len(self.formulas) == 1 else "drop one of them",
        )

    @property
    def sentence(self) -> str:
        """Formulas and reason."""
        if not self.formulas:
            return "No rule lifts the marks ! and ? of predicates."
        more = len(self.texts) - _MOST_NAMED
        shown = [f"{text:.{_LONGEST}}" for text in self.texts[:_MOST_NAMED]]
        if more > 0:
            shown.append(f"{more} more")
        return f"No rule lifts {' together with '.join(shown)}: {self.reason}."

    def __str__(self) -> str:
        """Return the sentence and the ways out."""
        return "\n  - ".join([f"{self.sentence}\nWays out:", *self.remedies])


class _End(NamedTuple):
    """How a trial ended: with all lifted, with a theory that no rule lifts, or before either was known."""

    verdict: Literal["lifted", "stuck", "undecided"]
    theory: Theory | None = None
    symbols: tuple[Symbol, ...] = ()


def unlifted_formulas(weighted: WeightedTheory, params: CompileParams) -> tuple[UnliftedFormulas, ...]:
    """Return the sets of formulas that no rule lifts, each without those before it."""
    mln = weighted.mln
    if _try_formulas(weighted, (), params).verdict == "stuck":
        return (UnliftedFormulas(mln, (), params.recursions),)
    left, found = tuple(range(len(mln.formulas))), []
    end = _try_formulas(weighted, left, params, most=None)  # takes as long as to compile it did
    while end.verdict == "stuck" and end.theory is not None:
        among = tuple(n for n in formulas_in(end.theory, end.symbols, mln) if n in left)
        blamed = _minimal(weighted, among, params) or _minimal(weighted, left, params) or among or left
        found.append(UnliftedFormulas(mln, blamed, params.recursions))
        left = tuple(n for n in left if n not in blamed)
        end = _try_formulas(weighted, left, params)
    return tuple(sorted(found, key=lambda one: one.formulas))


def _minimal(weighted: WeightedTheory, among: Sequence[int], params: CompileParams) -> tuple[int, ...]:
    """Return few of some formulas that are not lifted together; nothing where all of them are.

    A hard formula can make others liftable, as symmetry does transitivity: so they are tried beside the hard
    formulas about the same predicates, too, unless these are to blame themselves.
    """

    def is_stuck(numbers: Sequence[int]) -> bool:
        if _try_formulas(weighted, numbers, params).verdict != "stuck":
            return False
        beside = [n for n in _hard_beside(weighted.mln, numbers)
                  if _try_formulas(weighted, (n,), params).verdict == "lifted"]  # fmt: skip
        together = tuple(sorted({*numbers, *beside}))
        return not beside or _try_formulas(weighted, together, params).verdict != "lifted"

    for number in among:
        if is_stuck((number,)):
            return (number,)
    needed = tuple(among)
    if not is_stuck(needed):
        return ()
    for number in among[:MOST_FORMULAS]:
        fewer = tuple(n for n in needed if n != number)
        if is_stuck(fewer):
            needed = fewer
    return needed


def _hard_beside(mln: MLN, numbers: Sequence[int]) -> Iterator[int]:
    """Yield the other hard formulas about predicates of some formulas only."""
    used = {name for n in numbers for name in predicates(mln.formulas[n].formula)}
    for number, one in enumerate(mln.formulas):
        if (
            number not in numbers
            and isinstance(one.weight, Hard)
            and used.issuperset(predicates(one.formula))
        ):
            yield number


def _try_formulas(
    weighted: WeightedTheory, numbers: Sequence[int], params: CompileParams, most: int | None = MOST_CLAUSES
) -> _End:
    """Compile some of the formulas until the rules end, or theories have more clauses than ``most``."""
    formulas = tuple(weighted.mln.formulas[n] for n in numbers)
    known = None if weighted.evidence is NOTHING else weighted.evidence
    some = weighted_theory(replace(weighted.mln, formulas=formulas, places=()), known).shattered
    renamed = tuple(_renumber_symbol(symbol, numbers) for symbol in some.symbols)
    theory = canonical(some.theory)[0]
    end = _end(Compilation(theory, replace(params, recursions=0)), most)
    if end.verdict == "stuck" and params.recursions:  # mostly it is lifted without recursion
        end = _end(Compilation(theory, params), most)
    return end._replace(symbols=renamed)


def _end(compilation: Compilation, most: int | None) -> _End:
    clauses = 0
    try:
        for state in compilation:
            newest = state.newest
            if newest is None:
                continue
            clauses += len(newest.theory.clauses)
            if isinstance(newest.body, Unfolded):
                return _End("stuck", newest.theory)
            if most is not None and clauses > most:
                return _End("undecided")
    except NotLiftableError as problem:
        return _End("stuck", problem.theory)
    except TooLargeError:
        return _End("undecided")
    return _End("lifted")


def _renumber_symbol(symbol: Symbol, numbers: Sequence[int]) -> Symbol:
    """Return a symbol of some formulas' theory with the number that its formula has in the model."""
    kind, mark, number = symbol.predicate.partition("#")
    if kind != "formula" or not mark:
        return symbol
    return symbol._replace(predicate=f"formula#{numbers[int(number)]}")


def formulas_in(theory: Theory, symbols: Sequence[Symbol], mln: MLN) -> tuple[int, ...]:
    """Return the formulas of which a theory is made: soft ones by their carriers, hard ones by predicates."""
    names = {symbols[piece.symbol].predicate for piece in theory.pieces if piece.symbol != SIGNED}

    def list_numbers() -> Iterator[int]:
        for number, one in enumerate(mln.formulas):
            hard = isinstance(one.weight, Hard) and names.issuperset(predicates(one.formula))
            if hard or f"formula#{number}" in names:
                yield number

    return tuple(list_numbers())


def formulas_text(theory: Theory, symbols: Sequence[Symbol], mln: MLN) -> str:
    """Return the formulas of which a theory is made, as they were written."""
    found = formulas_in(theory, symbols, mln)
    shown = [f"{write_formula(mln, number):.{_LONGEST}}" for number in found[:_MOST_NAMED]]
    more = len(found) - _MOST_NAMED
    return ", ".join([*shown, *([f"and {more} more"] if more > 0 else [])]) or "a part of the model"


def write_formula(mln: MLN, number: int) -> str:
    """Return a formula as in the model's text, with its weight, and the line where that is known."""
    place = mln.places[number] if number < len(mln.places) else None
    if place is None:
        return _weighted_text(mln.formulas[number])
    file = "" if place.file.startswith("<") else f"{place.file}, "
    return f"{_weighted_text(mln.formulas[number])} ({file}line {place.line})"


def _weighted_text(one: WeightedFormula) -> str:
    text = to_text(one.formula)
    if isinstance(one.weight, Hard):
        return f"{text}."
    return text if isinstance(one.weight, ToLearn) else f"{_number(one)} {text}"


def _number(one: WeightedFormula) -> str:
    assert not isinstance(one.weight, Hard | ToLearn)  # noqa: S101 - those have no number
    return f"{one.weight.value:g}{'!' if isinstance(one.weight, Fixed) else ''}"


def _variables(mln: MLN, number: int) -> tuple[str, ...]:
    return tuple(dict.fromkeys(variable.name for variable in all_variables(mln.formulas[number].formula)))


def _number_of_atoms(types: dict[str, tuple[str, ...]], size: int) -> int:
    return sum(prod(size for _ in of_one) for of_one in types.values())
