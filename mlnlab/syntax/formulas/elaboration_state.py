"""Keep the state of a walk over one formula's syntax tree: scopes, types, marks, constants, problems."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mlnlab.errors import Diagnostic, Severity
from mlnlab.logic.formulas.formulas import (
    And,
    Arithmetic,
    Atom,
    Constant,
    ForAll,
    Formula,
    Implies,
    Term,
    Variable,
)
from mlnlab.logic.formulas.ground_atoms import formula_constant
from mlnlab.logic.formulas.traversal import leaves
from mlnlab.logic.vocabulary import Domain, NamedDomain, Predicate, Vocabulary
from mlnlab.syntax.formulas.tokens import Node, Source, SyntaxTree, extent, first_token, start_of, tokens_of
from mlnlab.syntax.formulas.type_slots import TypeSlots

if TYPE_CHECKING:
    from lark import Token


_NUMBER = re.compile(r"-?[0-9]+")


@dataclass
class Scope:
    """The variables that one quantifier (or the whole formula) binds, and function values named there."""

    variables: dict[str, Variable] = field(default_factory=dict)
    guards: list[tuple[Variable, Atom]] = field(default_factory=list)


def is_variable(name: str) -> bool:
    """Whether a name in a formula means a variable: variables begin with a small letter."""
    return name[0].islower() or name[0] == "_"


class ElaborationState:
    """The state of one walk; the readers of terms and formulas build on it."""

    def __init__(self, source: Source, vocabulary: Vocabulary, tree: SyntaxTree) -> None:
        """Begin with one scope, that of the formula's free variables."""
        self.source, self.vocabulary = source, vocabulary
        self.slots = TypeSlots()
        self.scopes = [Scope()]
        self.level: dict[Variable, int] = {}
        self.first: dict[str, Token] = {}  # the place where each slot's term first stands
        self.per_constant: dict[str, Token] = {}
        self.both_signs: list[Atom] = []
        self.constants: list[tuple[Constant, Token]] = []
        self.function_values: dict[tuple[str, tuple[Term, ...]], Variable] = {}
        self.calculated: list[tuple[Term, Node]] = []  # terms that must be numbers, and where
        self.named: list[Node] = []  # where a name stands for a number, reported already
        self.placed: list[tuple[Arithmetic, str, Node]] = []  # calculations, and the type they stand for
        self.problems: list[Diagnostic] = []
        self.names = {str(token) for token in tokens_of(tree) if token.type == "NAME"}

    def report(self, code: str, message: str, node: Node, *, expected: str = "", repair: str = "") -> None:
        """Keep a problem with its place."""
        start, stop = extent(node)
        self.problems.append(
            self.source.problem(code, message, start, stop, expected=expected, repair=repair)
        )

    def fresh_name(self, type_: str) -> str:
        """Return a name for a variable that the text does not use: the type's first letter, numbered."""
        stem = type_[0].lower() if type_[0].isalpha() else "y"
        number = 0
        while (name := f"{stem}{number or ''}") in self.names:
            number += 1
        self.names.add(name)
        return name

    def guard_formula(self, formula: Formula, scope: Scope) -> Formula:
        """Say "for the value y of f(x): formula", as FORALL y (f(x, y) => formula)."""
        if not scope.guards:
            return formula
        values = tuple(value for value, _ in scope.guards)
        atoms = tuple(atom for _, atom in scope.guards)
        return ForAll(values, Implies(atoms[0] if len(atoms) == 1 else And(atoms), formula))

    # --- types

    def assign(self, term: Term, type_: str, place: Node, predicate: Predicate) -> None:
        """Note that a term stands where the predicate takes this type."""
        if isinstance(term, Arithmetic):
            parts = list(leaves(term))
            named = [leaf for leaf in parts if isinstance(leaf, Variable) or self.slots.type_of(leaf.type)]
            self.placed.append((term, type_, place))
            # A calculation of bare numbers, 2 + 1, tells its type by its first number.
            for leaf in named or parts[:1]:
                if not self.slots.type_of(leaf.type):
                    self.slots.assign(leaf.type, type_, first_token(place))
        elif not self.slots.assign(term.type, type_, first_token(place)):
            self._report_clash(term, type_, place, predicate)

    def _report_clash(self, term: Variable | Constant, type_: str, place: Node, predicate: Predicate) -> None:
        before = self.slots.reason(term.type)
        where = "" if before is None else f" (line {self.source.position(start_of(before))[0]})"
        known = self.slots.type_of(term.type)
        message = f"{term.name} is a {known}{where}, but {predicate.name} takes a {type_} here"
        self.report("type-clash", message, place, expected=str(predicate), repair="another variable")

    def unify(self, left: Term, right: Term, node: Node) -> None:
        """Note that two terms are compared for equality."""
        if isinstance(left, Arithmetic) or isinstance(right, Arithmetic):
            self.lend_type(left, right)
        elif not self.slots.unify(left.type, right.type):
            one, other = self.slots.type_of(left.type), self.slots.type_of(right.type)
            message = f"{left.name} is a {one} and {right.name} a {other}: they can never be equal"
            self.report("type-clash", message, node)

    def lend_type(self, left: Term, right: Term) -> None:
        """Let a bare number that is compared by size take the other side's type; only numbers matter."""
        for here, there in ((left, right), (right, left)):
            if isinstance(here, Constant) and not self.slots.type_of(here.type):
                leaf = next((leaf for leaf in leaves(there) if isinstance(leaf, Variable)), None)
                if leaf is not None:
                    self.slots.unify(here.type, leaf.type)

    # --- what is checked at the end

    def resolve_constants(self) -> None:
        """Give a constant that stands in no atom the one type that lists its name."""
        for constant, token in self.constants:
            if not self.slots.type_of(constant.type):
                homes = [t for t, domain in self.vocabulary.types.items() if constant.name in domain]
                if len(homes) == 1:
                    self.slots.assign(constant.type, homes[0], token)
                elif not self.problems:
                    self.report("unknown-type", f"the type of {token} cannot be told", token)

    def check_variables(self) -> None:
        """Report variables whose type nothing tells."""
        free = {variable.type for variable in self.scopes[0].variables.values()}
        for slot, token in self.first.items():
            if self.slots.type_of(slot) or self.problems:
                continue
            if slot in free:
                message = f"the type of {token} cannot be told: no atom contains it"
                repair = "use it in an atom, or in an equality with something that is"
            else:
                message = (
                    f"nothing under this quantifier uses its {token} in an atom, so its type cannot be told"
                )
                repair = f"drop it, use it, or write its type beside it, {token}:type"
            self.report("unknown-type", message, token, repair=repair)

    def check_numbers(self) -> None:
        """Report terms that are calculated with or compared by size, but have names for constants."""
        for term, node in self.calculated:
            for leaf in leaves(term):
                type_ = self.slots.type_of(leaf.type)
                strange = _a_name(self.vocabulary.types.get(type_))
                if strange is not None and node not in self.named:
                    self.named.append(node)
                    message = f"{leaf.name} is a {type_}, and {strange} is not a number"
                    expected = "a type of whole numbers such as {1,...,5}"
                    self.report("not-a-number", message, node, expected=expected)

    def check_calculations(self) -> None:
        """Report calculations whose first typed part is not of the type for which they stand."""
        for term, type_, node in self.placed:
            known = (self.slots.type_of(leaf.type) for leaf in leaves(term))
            first = next((found for found in known if found), type_)
            if first != type_:
                message = f"this calculation begins with a {first}, but stands for a {type_}"
                self.report("type-clash", message, node, repair=f"begin with the {type_}, or compare with =")

    def check_capitals(self) -> None:
        """Warn of variables that are named like a listed constant: constants need a capital or quotes."""
        for name, variable in self.scopes[0].variables.items():
            token = self.first.get(variable.type)
            domain = self.vocabulary.types.get(self.slots.type_of(variable.type))
            if token is None or domain is None or not domain.listed:
                continue
            meant = name if name in domain else name.capitalize()
            if meant in domain and (meant == name or len(name) > 1):
                start, stop = extent(token)
                self.problems.append(
                    self.source.problem(
                        "variable-like-constant",
                        f"{name} is a variable, as small letters say, though {meant} is a constant",
                        start,
                        stop,
                        severity=Severity.WARNING,
                        repair=formula_constant(meant),
                    )
                )

    def check_marks(self) -> None:
        """Report +x where x is no free variable."""
        for name, token in self.per_constant.items():
            if name in self.scopes[0].variables:
                continue
            if is_variable(name):
                message = (
                    f"+{name} marks a variable that a quantifier binds; only a free one can have weights"
                )
                self.report("unbound-plus", message, token, repair=f"{name} without +")
            else:
                message = f"+{name} marks a constant; only a variable can have a weight for each constant"
                self.report("unbound-plus", message, token, repair=f"+{name.lower()}")


def _a_name(domain: Domain | None) -> str | None:
    """Return a listed constant that is not a whole number."""
    if not isinstance(domain, NamedDomain) or not domain.listed:
        return None
    return next((name for name in domain if not _NUMBER.fullmatch(name)), None)
