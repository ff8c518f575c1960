"""A formula as a network of small constraints, however many literals it has.

Sarkhel, Venugopal, Pham, Singla and Gogate, "Scalable training of Markov logic networks using approximate
counting" (AAAI 2016), the section on the #SG problem: a clause is violated by the bindings that satisfy a
constraint for each of its literals, phi = omega where the literal is negative and phi = 1 - omega where it is
positive, so that n = all groundings - #C. Here every formula becomes such a network:

- what must hold together (a conjunction, or a clause that must be violated) is a constraint for each part;
- a disjunction in between gets a *signal* s, a variable of two values that is summed out as the others are:
  [A v B] = sum over s of (-1)^s g(s, A) g(s, B), where g(0, F) = 1 and g(1, F) = [!F]; so it is
  inclusion-exclusion over whole parts, with two values for each of them instead of all their products;
- in an equivalence a signal u is the truth value of one side: [A <=> B] = sum over u of [A = u] [B = u];
- a quantifier is a constraint on its free variables: its own network's count, compared with a bound.

Nothing here depends on constants or data. In which order variables and signals are summed out is said by
:mod:`mlnlab.counting.elimination.dense_plans`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, assert_never

import numpy as np

from mlnlab.counting.formulas.indicators import denotes, introduce_values, settle_term
from mlnlab.logic.forms.normal_forms import standardise_apart
from mlnlab.logic.formulas.formulas import (
    And,
    Arithmetic,
    Atom,
    Cardinality,
    Comparison,
    CountingExists,
    Equality,
    Exists,
    ForAll,
    Formula,
    Iff,
    Implies,
    Not,
    Or,
    Relation,
    Truth,
    Variable,
)
from mlnlab.logic.formulas.fresh_names import FreshNames
from mlnlab.logic.formulas.substitution import free_variables
from mlnlab.logic.formulas.traversal import map_children, predicates, subformulas

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    Values = NDArray[np.int64]
    from collections.abc import Sequence


_FALSE_TRUE = np.eye(2, dtype=np.int64)  # the value of a signal that is a truth value: [t = s]


@dataclass(frozen=True, slots=True, eq=False)
class Counted:
    """Holds of those values of a network's head for which its count stands in a relation to a bound."""

    network: FormulaNetwork
    relation: Relation
    bound: int
    text: str  # the quantified formula

    def __str__(self) -> str:
        """Return the quantified formula."""
        return self.text


@dataclass(frozen=True, slots=True)
class Given:
    """One ground atom of a predicate, its arguments being variables, taken to be true or to be false."""

    predicate: str
    arguments: tuple[Variable, ...]
    true: bool


@dataclass(frozen=True, slots=True)
class WithGiven:
    """A part of a formula over the true atoms of a predicate, one of which is given."""

    part: Atom | Cardinality
    given: Given

    def __str__(self) -> str:
        """Return the part."""
        return str(self.part)


# What has a truth value for each binding.
Truths = Atom | Equality | Comparison | Cardinality | Counted | WithGiven


@dataclass(frozen=True, slots=True, eq=False)
class NetworkConstraint:
    """A function of some signals and of one truth value: ``values[s, ..., t]``.

    Without signals it is the paper's φ: (0, 1) demands that the truth value is 1, (1, 0) that it is 0.
    Without a source of truth values it is a function of the signals alone, ``values[s, ...]``.
    """

    source: Truths | None
    signals: tuple[int, ...]
    values: Values

    def __str__(self) -> str:
        """Return the literal that is demanded; with signals, the source of the truth values."""
        if self.source is None:
            return "a rule for parts of the formula"
        negative = not self.signals and self.values.tolist() == [1, 0]
        if negative and isinstance(self.source, Atom | Equality | Comparison | Cardinality):
            return str(Not(self.source))
        return str(self.source)


@dataclass(frozen=True, slots=True, eq=False)
class FormulaNetwork:
    """Constraints whose product is 1 for the bindings that make a formula true, or for those that do not.

    ``always`` are the constraints that say what a binding is, where arithmetic restricts it.
    """

    head: tuple[Variable, ...]
    variables: tuple[Variable, ...]  # those of the head first
    signals: int
    constraints: tuple[NetworkConstraint, ...]
    always: tuple[NetworkConstraint, ...]
    complement: bool  # what is counted are all bindings minus the solutions

    def bindings(self) -> FormulaNetwork:
        """Return the network whose solutions are all bindings."""
        return FormulaNetwork(self.head, self.variables, 0, self.always, self.always, complement=False)


def formula_network(formula: Formula) -> FormulaNetwork:
    r"""Return the network of a formula; a clause is counted by the bindings that violate it.

    >>> import mlnlab as ml
    >>> mln = ml.MLN.from_text("R(t, t)\nS(t, t)\nT(t, t)")
    >>> network = formula_network(mln.parse("!R(x, y) v S(y, z) v T(x, z)"))
    >>> print(*network.constraints, sep=", ")
    R(x, y), !S(y, z), !T(x, z)
    >>> network.complement
    True
    """
    apart = standardise_apart(formula)
    return _network((), free_variables(apart), miniscope(apart), FreshNames(apart))


def given_network(formula: Formula, given: Given) -> FormulaNetwork:
    """Return the network of a formula for each ground atom of a predicate, taken to be true or false."""
    apart = standardise_apart(formula)
    names = FreshNames(apart)
    return _network(given.arguments, free_variables(apart), miniscope(apart), names, given)


def _network(
    head: tuple[Variable, ...],
    variables: tuple[Variable, ...],
    scope: Formula,
    names: FreshNames,
    given: Given | None = None,
) -> FormulaNetwork:
    plain, values = introduce_values(variables, scope, names)
    builder = _Builder(names, given)
    for term, variable in values.items():  # a value outside the type is no binding at all
        builder.connect(Equality(variable, term), (), _FALSE_TRUE[1])
    always = tuple(builder.constraints)
    complement = _is_disjunctive(plain)
    builder.connect(plain, (), _FALSE_TRUE[0 if complement else 1])
    return FormulaNetwork(
        head, (*head, *variables, *values.values()), builder.signals, tuple(builder.constraints), always,
        complement,
    )  # fmt: skip


def _is_disjunctive(formula: Formula, *, positive: bool = True) -> bool:
    """Tell whether a formula's falsity is a conjunction of its parts."""
    match formula:
        case Not(operand):
            return _is_disjunctive(operand, positive=not positive)
        case And():
            return not positive
        case Or() | Implies():
            return positive
        case _:
            return False


class _Builder:
    """Collects constraints; their product is the function that :meth:`connect` was asked for so far."""

    def __init__(self, names: FreshNames, given: Given | None) -> None:
        self.names, self.given = names, given
        self.constraints: list[NetworkConstraint] = []
        self.signals = 0

    def connect(self, formula: Formula, signals: tuple[int, ...], values: Values) -> None:
        """Multiply by ``values[s, ..., t]``, where t is the truth value of the formula."""
        match formula:
            case Truth(value):
                self._rule(signals, values[..., int(value)])
            case Atom(predicate, arguments):
                if all(map(denotes, arguments)):
                    plain = Atom(predicate, tuple(map(settle_term, arguments)))
                    self.constraints.append(NetworkConstraint(self._source(plain), signals, values))
                else:
                    self._rule(signals, values[..., 0])
            case Cardinality():
                self.constraints.append(NetworkConstraint(self._source(formula), signals, values))
            case Equality() | Comparison():
                self.constraints.append(NetworkConstraint(formula, signals, values))
            case Not(operand):
                self.connect(operand, signals, values[..., ::-1])
            case And(operands):
                self._together(operands, signals, values, truth=True)
            case Or(operands):
                self._together(operands, signals, values[..., ::-1], truth=False)
            case Implies(premise, conclusion):
                self._together((Not(premise), conclusion), signals, values[..., ::-1], truth=False)
            case Iff(left, right):
                self._alike(left, right, signals, values)
            case ForAll(variables, body):
                self._add_count(Exists(variables, Not(body)), formula, ">=", 1, signals, values[..., ::-1])
            case Exists():
                self._add_count(formula, formula, ">=", 1, signals, values)
            case CountingExists(relation, bound):
                self._add_count(formula, formula, relation, bound, signals, values)
            case _:
                assert_never(formula)

    def _together(
        self, parts: Iterable[Formula], signals: tuple[int, ...], values: Values, *, truth: bool
    ) -> None:
        """Multiply by ``values[s, ..., t]``, where t says whether all parts have this truth value."""
        off, on = values[..., 0], values[..., 1]
        if ((off != 0) & (off != on)).any():
            # values[t] = off + (on - off) t: a signal chooses one of the two summands.
            signal = self._signal()
            self._rule((*signals, signal), np.stack([off, on - off], axis=-1))
            signals, off, on = (signal,), np.array([1, 0]), np.array([1, 1])
        else:
            self._rule(signals, on)
        demanded = np.stack([np.where(off == on, 1, 0), np.ones_like(off)], axis=-1)
        for part in parts:
            self.connect(part, signals, demanded if truth else demanded[..., ::-1])

    def _alike(self, left: Formula, right: Formula, signals: tuple[int, ...], values: Values) -> None:
        """Multiply by ``values[s, ..., t]``, where t says whether both sides have the same truth value."""
        if len(signals) > 1:  # so that constraints stay narrow, however deep equivalences stand
            truth = self._signal()
            self._rule((*signals, truth), values)
            signals, values = (truth,), _FALSE_TRUE
        side = self._signal()
        self.connect(left, (side,), _FALSE_TRUE)
        self.connect(right, (*signals, side), np.stack([values[..., ::-1], values], axis=-2))

    def _add_count(
        self, inner: Exists | CountingExists, shown: Formula, relation: Relation, bound: int,
        signals: tuple[int, ...], values: Values,
    ) -> None:  # fmt: skip
        acting = self.given if self.given and self.given.predicate in predicates(inner) else None
        arguments = acting.arguments if acting else ()
        head = (*arguments, *free_variables(inner))
        network = _network(head, inner.variables, inner.body, self.names, acting)
        if isinstance(shown, ForAll):  # the text is that of what stands there, so its opposite is shown
            shown = Not(shown)
        counted = Counted(network, relation, bound, str(shown))
        self.constraints.append(NetworkConstraint(counted, signals, values))

    def _source(self, part: Atom | Cardinality) -> Truths:
        given = self.given
        return WithGiven(part, given) if given and part.predicate == given.predicate else part

    def _rule(self, signals: tuple[int, ...], values: Values) -> None:
        if (values != 1).any():
            self.constraints.append(NetworkConstraint(None, signals, values))

    def _signal(self) -> int:
        self.signals += 1
        return self.signals - 1


# --- move quantifiers inwards, to the parts that need them: these then depend on fewer variables

# EXIST v (A v B) = EXIST v A  v  EXIST v B
#     EXIST v, w (A(v) ^ B(w) ^ C) = EXIST v A(v)  ^  EXIST w B(w)  ^  C
#
# and the same for FORALL with the connectives exchanged. A quantified variable that occurs nowhere still asks
# for a constant of its type.


def miniscope(formula: Formula) -> Formula:
    r"""Return an equivalent formula whose quantifiers stand as far inside as they can.

    One that calculates is left as it is: there quantifiers also say which bindings are left out.

    >>> import mlnlab as ml
    >>> mln = ml.MLN.from_text("P(t, t)")
    >>> print(miniscope(mln.parse("EXIST y (P(x, y) v P(y, z))")))
    (EXIST y P(x, y)) v (EXIST y P(y, z))
    """
    return formula if _calculates(formula) else _inwards(formula)


def _calculates(formula: Formula) -> bool:
    atoms = (part for part in subformulas(formula) if isinstance(part, Atom))
    return any(isinstance(term, Arithmetic) for atom in atoms for term in atom.arguments)


def _inwards(formula: Formula) -> Formula:
    match formula:
        case Exists(variables, body):
            return _exists(variables, _inwards(body))
        case ForAll(variables, body):
            return _negate(_exists(variables, _negate(_inwards(body))))
        case _:
            return map_children(formula, _inwards)


def _negate(formula: Formula) -> Formula:
    """Return the opposite, with its negation no deeper inside than at the parts."""
    match formula:
        case Not(operand):
            return operand
        case And(operands):
            return Or(tuple(map(_negate, operands)))
        case Or(operands):
            return And(tuple(map(_negate, operands)))
        case Implies(premise, conclusion):
            return And((premise, _negate(conclusion)))
        case Truth(value):
            return Truth(not value)
        case _:
            return Not(formula)


def _exists(variables: tuple[Variable, ...], body: Formula) -> Formula:
    match body:
        case Or(operands):
            return Or(tuple(_exists(variables, operand) for operand in operands))
        case Implies(premise, conclusion):
            return _exists(variables, Or((_negate(premise), conclusion)))
        case Exists(inner, deeper):
            return _exists((*variables, *inner), deeper)
        case _:
            pass
    parts = body.operands if isinstance(body, And) else (body,)
    groups = _group_parts(variables, parts)
    found = [
        Exists(own, And(together) if len(together) > 1 else together[0]) if own else together[0]
        for own, together in groups
    ]
    return found[0] if len(found) == 1 else And(tuple(found))


def _group_parts(
    variables: tuple[Variable, ...], parts: Sequence[Formula]
) -> list[tuple[tuple[Variable, ...], tuple[Formula, ...]]]:
    """Return groups of parts that share no quantified variable, each with those variables that it has."""
    groups: list[tuple[set[Variable], list[Formula]]] = []
    for part in parts:
        own = set(free_variables(part)).intersection(variables)
        touching = [group for group in groups if group[0] & own]
        groups = [group for group in groups if not group[0] & own]
        merged = [*(other for _, together in touching for other in together), part]
        groups.append((own.union(*(names for names, _ in touching)), merged))
    unused = set(variables).difference(*(names for names, _ in groups))
    groups += [({variable}, [Truth(True)]) for variable in variables if variable in unused]
    return [(tuple(v for v in variables if v in own), tuple(together)) for own, together in groups]
