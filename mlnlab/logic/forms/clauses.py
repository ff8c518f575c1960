"""Clausal form: a formula as a conjunction of clauses (Russell and Norvig, 4th ed., section 9.5.1).

There is no Skolemisation. Universal quantifiers become free variables; existential ones are written out
over the constants of their types, as Alchemy does. Counting quantifiers and cardinalities are literals.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import product
from math import prod

from mlnlab.errors import ArgumentError, TooLargeError
from mlnlab.logic.evaluation import constant_of, typed_arithmetic
from mlnlab.logic.forms.normal_forms import nnf, standardise_apart
from mlnlab.logic.forms.simplification import complement, orient_equality, simplify
from mlnlab.logic.formulas.formulas import (
    And,
    Arithmetic,
    Atom,
    Cardinality,
    Comparison,
    Constant,
    CountingExists,
    Equality,
    Exists,
    ForAll,
    Formula,
    Not,
    Or,
    Truth,
    Variable,
)
from mlnlab.logic.formulas.fresh_names import FreshNames
from mlnlab.logic.formulas.substitution import free_variables, ground, substitute
from mlnlab.logic.formulas.traversal import children, leaves, map_children
from mlnlab.logic.guards import guards, name_guards

Literal = Atom | Equality | Comparison | CountingExists | Cardinality | Not
Clause = tuple[Literal, ...]
Domains = Mapping[str, Sequence[str]]

_MOST_LITERALS = 200_000  # about a second and 100 MB


def cnf(formula: Formula, domains: Domains | None = None) -> tuple[Clause, ...]:
    """Return clauses whose conjunction, all variables read universally, is the formula read so.

    It holds for each binding as well: where the formula's free variables are bound, the formula is true
    exactly if every clause is true for all values of its further variables. ``domains`` gives each type's
    constants; without it existential quantifiers are refused and types are taken to have a constant.
    A guard such as ``t+1`` (:mod:`mlnlab.logic.guards`) that a clause would lose is added to it as
    ``t1 != t+1``.
    """
    free = free_variables(formula)
    apart = standardise_apart(nnf(formula))
    named = name_guards(ForAll(free, apart), (ForAll,), FreshNames(apart))
    _refuse_blow_up(_size_written_out(named, domains), "Written out over the constants")
    written = _written_out(named, domains)
    # What was copied for each constant needs variables of its own; those of the outermost block stay.
    separate = standardise_apart(written.body if isinstance(written, ForAll) else written)
    matrix = simplify(_remove_universal_quantifiers(separate))
    _refuse_blow_up(_bound_clauses(matrix)[1], "As clauses")
    return _distinct(_with_guards_put_back(clause, free) for clause in _distribute_or(matrix))


def clause_formula(clause: Clause) -> Formula:
    """Return the clause as a formula; the empty clause is false."""
    return clause[0] if len(clause) == 1 else Or(clause) if clause else Truth(False)


def is_clause(formula: Formula) -> bool:
    """Tell whether a formula is a literal or a disjunction of literals (of none: the empty clause)."""
    operands = formula.operands if isinstance(formula, Or) else (formula,)
    return formula == Truth(False) or all(map(is_literal, operands))


def is_literal(formula: Formula) -> bool:
    """Tell whether a formula is an atomic formula, a counting formula, or the negation of one."""
    inner = formula.operand if isinstance(formula, Not) else formula
    return isinstance(inner, Atom | Equality | Comparison | CountingExists | Cardinality)


def _refuse_blow_up(size: int, what: str) -> None:
    if size > _MOST_LITERALS:
        raise TooLargeError(
            f"{what}, this formula has {_in_words(size)} literals (the limit is {_MOST_LITERALS:,}).",
            float(min(size, 10**300)),
            [
                "Use a method that evaluates formulas as they are instead of clauses.",
                "Name the inner part with an auxiliary predicate and define that by a formula of its own.",
                "Use fewer constants.",
            ],
        )


def _in_words(size: int) -> str:
    return f"{size:,}" if size < 10**15 else f"more than 10^{len(str(size)) - 1}"


# --- existential quantifiers --------------------------------------------------------------------


def _constants(type_: str, domains: Domains | None) -> Sequence[str]:
    if domains is None or type_ not in domains:
        raise ArgumentError(
            f"To write EXIST out, the constants of the type {type_ or '(not known)'} are needed:"
            " pass domains={type: constants}."
        )
    return domains[type_]


def _size_written_out(formula: Formula, domains: Domains | None) -> int:
    """Return a bound on the number of literals after writing out, without doing it."""
    inner = sum(_size_written_out(child, domains) for child in _parts(formula)) or 1
    if not isinstance(formula, Exists):
        return inner
    outer = _find_mixed_variables(formula)
    cases = prod(len(_constants(variable.type, domains)) for variable in (*formula.variables, *outer))
    return cases * (inner + len(outer))


def _parts(formula: Formula) -> tuple[Formula, ...]:
    return () if isinstance(formula, Not | CountingExists) else children(formula)


def _written_out(formula: Formula, domains: Domains | None) -> Formula:
    """Replace existential quantifiers by disjunctions over constants, outermost first."""
    match formula:
        case CountingExists():
            return formula
        case ForAll(variables, _) if domains is not None and not all(
            domains.get(variable.type, ("unknown",)) for variable in variables
        ):
            return Truth(True)
        case Exists(variables, body) if outer := _find_mixed_variables(formula):
            cases = _bindings(outer, formula, domains)
            return And(tuple([_case(case, _written_out(ground(formula, case), domains)) for case in cases]))
        case Exists(variables, body):
            bindings = _bindings(variables, body, domains)
            return Or(tuple([_written_out(ground(body, binding), domains) for binding in bindings]))
        case _:
            return map_children(formula, lambda child: _written_out(child, domains))


def _find_mixed_variables(formula: Exists) -> tuple[Variable, ...]:
    """Return outer variables on which the quantifier's own bindings depend, as in ``EXIST s P(t+s)``."""
    terms = (term for term, _ in guards(formula.variables, formula.body))
    found = (leaf for term in terms for leaf in leaves(term) if isinstance(leaf, Variable))
    return tuple(dict.fromkeys(variable for variable in found if variable not in formula.variables))


def _case(binding: Mapping[Variable, str], formula: Formula) -> Formula:
    """Return "if the variables have these values, then the formula"."""
    differs = (Not(Equality(variable, Constant(name, variable.type))) for variable, name in binding.items())
    return Or((*differs, formula))


def _bindings(
    variables: Collection[Variable], scope: Formula, domains: Domains | None
) -> Iterator[dict[Variable, str]]:
    """Yield the bindings that keep the arithmetic over these variables alone within its types."""
    checked = [(term, type_) for term, type_ in guards(variables, scope) if _over(variables, leaves(term))]
    for names in product(*(_constants(variable.type, domains) for variable in variables)):
        binding = dict(zip(variables, names, strict=True))
        if all(constant_of(term, binding) in _constants(type_, domains) for term, type_ in checked):
            yield binding


def _over(variables: Collection[Variable], parts: Iterable[Variable | Constant]) -> bool:
    return all(part in variables for part in parts if isinstance(part, Variable))


# --- distribution -------------------------------------------------------------------------------


def _remove_universal_quantifiers(formula: Formula) -> Formula:
    """Remove universal quantifiers; the formula is in negation normal form and standardised apart."""
    if isinstance(formula, ForAll):
        return _remove_universal_quantifiers(formula.body)
    return (
        formula
        if isinstance(formula, CountingExists)
        else map_children(formula, _remove_universal_quantifiers)
    )


def _bound_clauses(formula: Formula) -> tuple[int, int]:
    """Return bounds on the number of clauses and on that of their literals together."""
    match formula:
        case And(operands):
            sizes = [_bound_clauses(operand) for operand in operands]
            return sum(number for number, _ in sizes), sum(literals for _, literals in sizes)
        case Or(operands):
            sizes = [_bound_clauses(operand) for operand in operands]
            number = prod(clauses for clauses, _ in sizes)
            return number, sum(literals * number // clauses for clauses, literals in sizes if clauses)
        case Truth(value):
            return int(not value), 0
        case _:
            return 1, 1


def _distribute_or(formula: Formula) -> list[Clause]:
    """Distribute Or over And; clauses that are always true are left out."""
    match formula:
        case Truth(value):
            return [] if value else [()]
        case And(operands):
            return [clause for operand in operands for clause in _distribute_or(operand)]
        case Or(operands):
            clauses: list[Clause] = [()]
            for operand in operands:
                more = _distribute_or(operand)
                joined = (_join_clauses(left, right) for left in clauses for right in more)
                clauses = [clause for clause in joined if clause is not None]
            return clauses
        case _:
            return [(formula,)]  # type: ignore[list-item]  # in normal form, so it is a literal


def _join_clauses(left: Clause, right: Clause) -> Clause | None:
    """Join two clauses; ``None`` where two literals contradict each other, so that the clause is true."""
    literals = {orient_equality(literal): literal for literal in left}
    for literal in right:
        key = orient_equality(literal)
        if complement(key) in literals or Not(key) in literals:
            return None
        literals.setdefault(key, literal)
    return tuple(literals.values())


def _distinct(clauses: Iterable[Clause]) -> tuple[Clause, ...]:
    kept: dict[frozenset[Formula], Clause] = {}
    for clause in clauses:
        kept.setdefault(frozenset(map(orient_equality, clause)), clause)
    return tuple(kept.values())


def _with_guards_put_back(clause: Clause, free: Collection[Variable]) -> Clause:
    """Turn ``Off(t1) v t1 != t+1`` back into ``Off(t+1)``, which guards ``t`` by itself."""
    for literal in clause:
        match literal:
            case Not(Equality(Variable() as variable, Arithmetic() as term)) if variable not in free:
                rest = tuple(other for other in clause if other != literal)
                trial = tuple(substitute(other, {variable: term}) for other in rest)
                if any(term == guard for guard, _ in typed_arithmetic(Or(trial))):
                    return _with_guards_put_back(trial, free)  # type: ignore[arg-type]  # still literals
            case _:
                pass
    return clause
