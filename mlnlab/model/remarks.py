"""Find remarks on a model: formulas repeated, settled or split by Alchemy, predicates left out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from mlnlab.errors import Diagnostic, MlnlabError, Severity, Span
from mlnlab.logic.forms.canonical import canonical
from mlnlab.logic.forms.clauses import cnf
from mlnlab.logic.forms.normal_forms import nnf
from mlnlab.logic.forms.simplification import simplify
from mlnlab.logic.formulas.formulas import And, Atom, Cardinality, Exists, Formula, Not, Truth
from mlnlab.logic.formulas.substitution import free_variables
from mlnlab.logic.formulas.traversal import subformulas
from mlnlab.logic.formulas.weights import Hard, ToLearn, Weight, WeightedFormula, weight_value
from mlnlab.syntax.formulas.tokens import Source, end_of, start_of, tokens

if TYPE_CHECKING:
    from mlnlab.model.mln.mln import MLN

_MOST_FORMULAS = 5_000  # looked at one by one
_MOST_PARTS = 300  # of a formula that is normalised only for a remark
_TWO = ("First", "Second")  # stand for the constants of a type that has none yet


def remarks(mln: MLN, text: str = "", file: str = "") -> tuple[Diagnostic, ...]:
    """Return remarks on a model that has no errors; ``text`` is the text of ``file``.

    Remarks are attached to the places of the formulas, so a model built in Python gets none.
    """
    source = Source(file, text)
    looked_at = [
        (weighted, place)
        for weighted, place in zip(mln.formulas[:_MOST_FORMULAS], mln.places, strict=False)
        if place is not None and sum(1 for _ in subformulas(weighted.formula)) <= _MOST_PARTS
    ]
    constants = _constants_of(mln)
    found: list[Diagnostic] = []
    for weighted, place in looked_at:
        settled = _remark_on_settled_formula(weighted, place, source, constants)
        found += [settled] if settled else _split(weighted, place, source, constants, mln.semantics)
    return (*found, *_remark_on_repetitions(looked_at, source), *_remark_on_idle_predicates(mln, source))


def _remark(code: str, severity: Severity, message: str, place: Span, source: Source) -> Diagnostic:
    line = source.line(place.line) if place.file == source.name and source.text else ""
    return Diagnostic(code, severity, message, place, line)


def _constants_of(mln: MLN) -> Mapping[str, Sequence[str]]:
    """Return at most two constants for each type: enough to see the effect of expanding quantifiers."""
    return {name: domain[:2] if len(domain) else _TWO for name, domain in mln.vocabulary.types.items()}


# --- always true, always false ------------------------------------------------------------------


def _remark_on_settled_formula(
    weighted: WeightedFormula, place: Span, source: Source, constants: Mapping[str, Sequence[str]]
) -> Diagnostic | None:
    formula = weighted.formula
    if _is_always_true(formula, constants):
        what = "true in every world, so it changes no probability"
        return _remark("always-true", Severity.WARNING, f"this formula is {what}", place, source)
    if _is_always_true(Not(formula), constants):
        hard = isinstance(weighted.weight, Hard)
        effect = "leaves no world possible" if hard else "changes no probability"
        message = f"this formula is false in every world, so it {effect}"
        return _remark("always-false", Severity.WARNING, message, place, source)
    return None


def _is_always_true(formula: Formula, constants: Mapping[str, Sequence[str]]) -> bool:
    if simplify(formula) == Truth(True):
        return True
    if _depends_on_constants(formula):
        return False
    return _clauses(formula, constants) == ()


def _depends_on_constants(formula: Formula) -> bool:
    """Tell whether the clauses of a formula depend on which constants there are; if unknown, they may."""
    try:
        return any(isinstance(part, Exists) for part in subformulas(nnf(formula)))
    except MlnlabError:  # too large to be written out
        return True


def _clauses(formula: Formula, constants: Mapping[str, Sequence[str]]) -> tuple[object, ...] | None:
    """Return the clauses of a formula, ``None`` where they are too many or there is no such form."""
    try:
        return tuple(cnf(formula, constants))
    except MlnlabError:
        return None


# --- what Alchemy does otherwise ----------------------------------------------------------------


def _split(
    weighted: WeightedFormula,
    place: Span,
    source: Source,
    constants: Mapping[str, Sequence[str]],
    semantics: str,
) -> list[Diagnostic]:
    """Say that Alchemy splits a formula that is not a clause, and divides its weight among the clauses."""
    if weight_value(weighted.weight) is None:
        return []
    number = len(_clauses(weighted.formula, constants) or ())
    if number < 2:
        return []
    return [_remark("alchemy-splits", Severity.NOTE, _splitting(weighted, number, semantics), place, source)]


def _splitting(weighted: WeightedFormula, number: int, semantics: str) -> str:
    weight = weight_value(weighted.weight) or 0.0
    parts = f"{number} clauses of weight {weight / number:.6g} each"
    if _depends_on_constants(weighted.formula):
        parts = (
            f"several clauses, as many as the constants make, and divides the weight {weight:g} among them"
        )
    if semantics == "alchemy":
        return f"Alchemy's semantics, chosen here, splits this formula into {parts}"
    whole = f"it is one feature of weight {weight:g}"
    return f'Alchemy splits this formula into {parts}; here {whole} (semantics="alchemy" splits it, too)'


# --- repetitions --------------------------------------------------------------------------------


def _remark_on_repetitions(
    formulas: Iterable[tuple[WeightedFormula, Span]], source: Source
) -> Iterator[Diagnostic]:
    first: dict[Formula, tuple[Weight, Span]] = {}
    for weighted, place in formulas:
        try:
            key = canonical(_with_marks(weighted))
        except MlnlabError:
            continue
        if key in first:
            weight, where = first[key]
            earlier = f"line {where.line}" + (f" of {where.file}" if where.file != place.file else "")
            effect = _effect(weight, weighted.weight)
            message = (
                f"this repeats {earlier}, up to the names of variables and the order of operands; {effect}"
            )
            yield _remark("repeated-formula", Severity.WARNING, message, place, source)
        first.setdefault(key, (weighted.weight, place))


def _effect(first: Weight, second: Weight) -> str:
    """Describe the effect of a formula that occurs twice."""
    if isinstance(first, Hard) and isinstance(second, Hard):
        return "once is enough"
    if isinstance(first, Hard) or isinstance(second, Hard):
        return "beside the hard one, the other changes no probability"
    if isinstance(first, ToLearn) or isinstance(second, ToLearn):
        return "once learned, the weights of the two add up"
    return "the weights of the two add up"


def _with_marks(weighted: WeightedFormula) -> Formula:
    """Return the formula joined with atoms of impossible names for the marks ``+`` and ``*``."""
    marked = [v for v in free_variables(weighted.formula) if v.name in weighted.per_constant]
    plus = [Atom("\0+", (variable,)) for variable in marked]
    star = [Atom(f"\0*{atom.predicate}", atom.arguments) for atom in weighted.both_signs]
    return And((weighted.formula, *plus, *star)) if plus or star else weighted.formula


# --- predicates without formulas ----------------------------------------------------------------


def _remark_on_idle_predicates(mln: MLN, source: Source) -> list[Diagnostic]:
    if not mln.formulas:
        return []
    mentioned = {
        part.predicate
        for weighted in mln.formulas
        for part in subformulas(weighted.formula)
        if isinstance(part, Atom | Cardinality)
    }
    silent = {name for name in mln.vocabulary.predicates if name not in mentioned}
    if not silent:
        return []
    found = []
    for token in tokens(source.text):
        if token.value in silent:
            silent.discard(token.value)
            message = f"no formula mentions {token.value}, so the model says nothing about its atoms"
            start, end = start_of(token), end_of(token)
            found.append(source.problem("unused-predicate", message, start, end, severity=Severity.NOTE))
    return found
