"""Two-variable theories as factors on elements and on pairs of them (Beame et al. 2015, section 3).

A soft formula of at most two variables needs no predicate that carries its weight: it multiplies a number
for every element, or for every pair. Quantifiers below others become Skolem atoms
(:mod:`mlnlab.lifted.theory.sentences`), so that what is left is a table of truth values over a few atoms.
Whether variables are equal or constants is decided beforehand (:mod:`mlnlab.lifted.theory.shattering`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mlnlab.errors import ArgumentError, TooLargeError
from mlnlab.lifted.theory.cell_sentences import (
    TwoVariableSentences,
    close_predicate,
    select_needed_variables,
    write_marks,
)
from mlnlab.lifted.theory.evidence import NOTHING, Evidence
from mlnlab.lifted.theory.shattering import Element, Place, Shattered, Shattering, Symbol, literal_of
from mlnlab.lifted.theory.theory import Theory
from mlnlab.logic.formulas.formulas import (
    And,
    Atom,
    Equality,
    Formula,
    Not,
    Or,
    Truth,
    Variable,
)
from mlnlab.logic.formulas.substitution import free_variables
from mlnlab.logic.formulas.weights import Hard

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from mlnlab.lifted.theory.weighted_theory import WeightedTheory
    from mlnlab.model.mln.mln import MLN

MOST_ATOMS = 16  # of one formula, whose table has so many axes


class TooManyVariablesError(ArgumentError):
    """A formula relates more than two elements at once, so that cells do not do."""


KindName = tuple[str, int]
"""Elements that nothing tells apart: a type, and which of its groups by evidence."""


class AtomAt(NamedTuple):
    """An atom of a symbol, by the numbers of the elements that are its arguments."""

    symbol: int
    elements: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Factor:
    """A formula over elements of some kinds as a truth table: it holds where the table is true."""

    formula: int | None  # nothing where it must hold
    kinds: tuple[KindName, ...]  # of its elements: none, one or two
    atoms: tuple[AtomAt, ...]
    truth: NDArray[np.bool_]  # one axis for each atom: false, true


@dataclass(frozen=True, eq=False)
class TwoVariableModel:
    """Factors with the weights of their atoms: a theory whose symbols have no clauses and no carriers."""

    weighted: WeightedTheory
    factors: tuple[Factor, ...]

    def kinds(self, symbol: int) -> tuple[KindName, ...]:
        """Return the kinds of the elements that a symbol's atoms are about."""
        return _kinds(self.symbols[symbol])

    @property
    def symbols(self) -> tuple[Symbol, ...]:
        """The kinds of atoms that the model tells apart."""
        return self.weighted.shattered.symbols


def _kinds(symbol: Symbol) -> tuple[KindName, ...]:
    return tuple((type_, symbol.group(place)) for place, type_ in enumerate(symbol.variables))


class _Written(NamedTuple):
    """A formula without quantifiers, with its number if it is soft, and the formula it came from."""

    number: int | None
    variables: tuple[Variable, ...]
    formula: Formula
    origin: Formula


def two_variable_model(weighted_theory: WeightedTheory) -> TwoVariableModel:
    """Translate a model whose formulas relate at most two elements at once; others are refused."""
    mln, constants, evidence = weighted_theory.mln, weighted_theory.constants, weighted_theory.evidence
    collected = TwoVariableSentences()
    written = _without_quantifiers(mln, evidence, collected)
    predicates = {p.name: p.types for p in mln.vocabulary.predicates.values()}
    shattering = Shattering({**predicates, **collected.predicates}, constants, evidence)
    factors = [factor for one in written for factor in _decide_equalities(one, shattering)]
    factors += _facts(shattering, evidence)
    true, false = _literal_weights(mln, shattering)
    one = (Fraction(1), Fraction(1))
    symbols = tuple(shattering.symbols)
    made = replace(
        weighted_theory, shattered=Shattered(Theory(0, (), ()), symbols, (), ()), true=true, false=false,
        factors=tuple(collected.factors.get(symbol.predicate, one) for symbol in symbols),
        tallies=tuple(collected.tallies),
    )  # fmt: skip
    return TwoVariableModel(made, tuple(factors))


def _without_quantifiers(mln: MLN, evidence: Evidence, collected: TwoVariableSentences) -> list[_Written]:
    """Return all formulas without quantifiers: first the soft ones, then the hard sentences."""
    origins: list[Formula] = []  # of the sentences that are made
    for predicate in mln.vocabulary.predicates.values():
        known = close_predicate(predicate) if evidence is NOTHING else ()
        for sentence in (*write_marks(predicate), *known):
            collected.require(sentence)
            origins += [sentence] * (len(collected.made) - len(origins))
    written: list[_Written] = []
    for number, weighted in enumerate(mln.formulas):
        if isinstance(weighted.weight, Hard):
            collected.require(weighted.formula)
        elif literal_of(weighted.formula) is None:
            free = free_variables(weighted.formula)
            body = collected.without_quantifiers(weighted.formula)
            written.append(_Written(number, free, body, weighted.formula))
        origins += [weighted.formula] * (len(collected.made) - len(origins))
    for made, origin in zip(collected.made, origins, strict=True):
        body = Or(made.literals)
        written.append(_Written(None, select_needed_variables(made.variables, body), body, origin))
    return written


def _decide_equalities(written: _Written, shattering: Shattering) -> list[Factor]:
    """Return a formula's factors, one for each way to decide which variables are equal or constants."""
    number, variables, formula, origin = written
    found = []
    for decided in shattering.cases(tuple(dict.fromkeys(variables))):
        kinds = {p: (v.type, p.group) for v, p in decided.items() if isinstance(p, Element)}
        atoms: dict[AtomAt, int] = {}
        _collect(formula, decided, shattering, atoms)
        if len(kinds) > 2:
            raise TooManyVariablesError(
                f"{origin} relates {len(kinds)} constants at once: cells need formulas of at most two"
                " variables, method='rules' does not."
            )
        if len(atoms) > MOST_ATOMS:
            raise TooLargeError(
                f"{origin} has more than {MOST_ATOMS} atoms, too many for a table of truth values.",
                2.0 ** len(atoms), ["split the formula", "compile with method='rules'"],
            )  # fmt: skip
        grids = [
            np.array([False, True]).reshape([2 if axis == a else 1 for axis in range(len(atoms))])
            for a in range(len(atoms))
        ]
        truth = np.broadcast_to(_truth(formula, decided, shattering, atoms, grids), (2,) * len(atoms))
        factor = drop_idle_atoms(Factor(number, tuple(kinds[p] for p in sorted(kinds)), tuple(atoms), truth))
        if number is not None or not factor.truth.all():
            found.append(factor)
    return found


def _facts(shattering: Shattering, evidence: Evidence) -> Iterator[Factor]:
    """Yield a factor for each symbol whose atoms are known."""
    for symbol, number in shattering.symbols.items():
        known = evidence.of(symbol)
        if known is not None:
            kinds = _kinds(symbol)
            truth = np.array([not known, known])
            yield Factor(None, kinds, (AtomAt(number, tuple(range(len(kinds)))),), truth)


def drop_idle_atoms(factor: Factor) -> Factor:
    """Return a factor without the atoms on which it does not depend."""
    truth, kept = factor.truth, []
    for axis, atom in reversed(list(enumerate(factor.atoms))):
        if (truth.take(0, axis) == truth.take(1, axis)).all():
            truth = np.asarray(truth.take(0, axis))
        else:
            kept.append(atom)
    return Factor(factor.formula, factor.kinds, tuple(reversed(kept)), np.array(truth))


def _operands(formula: Formula) -> tuple[Formula, ...]:
    if isinstance(formula, And | Or):
        return formula.operands
    return (formula.operand,) if isinstance(formula, Not) else ()


def _collect(
    formula: Formula, decided: Mapping[Variable, Place], shattering: Shattering, atoms: dict[AtomAt, int]
) -> None:
    if isinstance(formula, Atom):
        atoms.setdefault(AtomAt(*shattering.symbol(formula, decided)), len(atoms))
    for operand in _operands(formula):
        _collect(operand, decided, shattering, atoms)


def _truth(
    formula: Formula, decided: Mapping[Variable, Place], shattering: Shattering,
    atoms: Mapping[AtomAt, int], grids: Sequence[NDArray[np.bool_]],
) -> Any:  # noqa: ANN401 - a truth value or an array of them # fmt: skip
    """Return where a formula is true, over all truth values of its atoms."""
    parts = [_truth(part, decided, shattering, atoms, grids) for part in _operands(formula)]
    match formula:
        case Truth(value):
            return np.bool_(value)
        case Atom():
            return grids[atoms[AtomAt(*shattering.symbol(formula, decided))]]
        case Equality(left, right):
            places = [decided.get(term, getattr(term, "name", None)) for term in (left, right)]  # type: ignore[arg-type]
            return np.bool_(places[0] == places[1])
        case Not():
            return np.logical_not(parts[0])
        case And():
            return _fold_parts(np.logical_and, parts, start=True)
        case Or():
            return _fold_parts(np.logical_or, parts, start=False)
        case _:
            raise ArgumentError(f"{formula} cannot be lifted.")


def _fold_parts(operation: Any, parts: Sequence[Any], *, start: bool) -> Any:  # noqa: ANN401
    total = np.bool_(start)
    for part in parts:
        total = operation(total, part)
    return total


def _literal_weights(mln: MLN, shattering: Shattering) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return how often true and false atoms of each symbol count the formulas that are literals."""
    true = np.zeros((len(shattering.symbols), len(mln.formulas)))
    false = np.zeros_like(true)
    for number, weighted in enumerate(mln.formulas):
        literal = None if isinstance(weighted.weight, Hard) else literal_of(weighted.formula)
        if literal is None:
            continue
        atom, positive = literal
        for decided in shattering.cases(free_variables(atom)):
            symbol, _ = shattering.symbol(atom, decided)
            (true if positive else false)[symbol, number] += 1.0
    return true, false
