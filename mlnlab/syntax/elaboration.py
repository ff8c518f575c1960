"""A formula's syntax tree to a typed formula, or to diagnostics that name every problem in it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, get_args

from lark import Token, Tree

from mlnlab.logic.formulas import (
    And,
    Atom,
    Cardinality,
    Comparison,
    Constant,
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
from mlnlab.logic.suggestions import closest
from mlnlab.syntax.elaboration_state import Scope, is_variable
from mlnlab.syntax.term_reading import TermReading
from mlnlab.syntax.tokens import called, extent, parts, tokens_of
from mlnlab.syntax.type_slots import retyped

if TYPE_CHECKING:
    from mlnlab.errors import Diagnostic
    from mlnlab.logic.vocabulary import Predicate, Vocabulary
    from mlnlab.syntax.tokens import Node, Source, SyntaxTree

_CONNECTIVES = frozenset({"AND", "OR", "IMPLIES", "IFF", "HORN", "NOT"})
_RELATIONS: dict[str, Relation] = {relation: relation for relation in get_args(Relation)}
_RELATIONS |= {"≠": "!=", "≤": "<=", "≥": ">="}
# Alchemy's internal predicates for the comparisons.
_INTERNAL: dict[str, Relation] = {
    "greaterThan": ">",
    "lessThan": "<",
    "greaterThanEq": ">=",
    "lessThanEq": "<=",
}
_FORMULA_EXPECTED = "an atom such as P(x), or a comparison such as x = y"


@dataclass(frozen=True)
class Elaborated:
    """What a syntax tree says: the formula, its marks, its constants with their places, and problems."""

    formula: Formula
    per_constant: tuple[str, ...]
    both_signs: tuple[Atom, ...]
    constants: tuple[tuple[Constant, Token], ...]
    problems: tuple[Diagnostic, ...]


def elaborate(tree: SyntaxTree, source: Source, vocabulary: Vocabulary) -> Elaborated:
    """Return the typed formula of a statement's syntax tree."""
    reading = _FormulaReading(source, vocabulary, tree)
    formula = reading.guarded(reading.formula(parts(tree)[0]), reading.scopes[0])
    reading.check_marks()
    reading.resolve_constants()
    reading.check_variables()
    reading.check_numbers()
    reading.check_calculations()
    reading.check_capitals()
    type_of = reading.slots.type_of
    signs = [retyped(atom, type_of) for atom in dict.fromkeys(reading.both_signs)]
    return Elaborated(
        retyped(formula, type_of),
        tuple(reading.per_constant),
        tuple(atom for atom in signs if isinstance(atom, Atom)),
        tuple((Constant(c.name, type_of(c.type)), token) for c, token in reading.constants),
        tuple(reading.problems),
    )


class _FormulaReading(TermReading):
    """Reads one formula; what cannot be read becomes "true", with a problem reported."""

    def formula(self, node: Node) -> Formula:
        if isinstance(node, Token):
            return self._single_token(node)
        inner = [p for p in parts(node) if not (isinstance(p, Token) and p.type in _CONNECTIVES)]
        match node.data:
            case "negation":
                return Not(self.formula(inner[0]))
            case "conjunction":
                return And(tuple(map(self.formula, inner)))
            case "disjunction":
                return Or(tuple(map(self.formula, inner)))
            case "implies":
                return Implies(self.formula(inner[0]), self.formula(inner[1]))
            case "horn":  # head :- body
                conclusion = self.formula(inner[0])
                return Implies(self.formula(inner[1]), conclusion)
            case "equivalence":
                return Iff(self.formula(inner[0]), self.formula(inner[1]))
            case "quantified" | "counted":
                return self._quantified(node)
            case "cardinality":
                return self._cardinality(node)
            case "comparison":
                return self._comparison(node)
            case "call" | "starred":
                return self._atom(node)
            case _:
                return self._not_a_formula(node)

    def _single_token(self, token: Token) -> Formula:
        if token.type == "TRUTH":
            return Truth(str(token) == "⊤")
        repair = f"{token}()" if token in self.vocabulary.predicates else ""
        self.report(
            "not-a-formula", f"{token} alone is no formula", token, expected=_FORMULA_EXPECTED, repair=repair
        )
        return Truth(value=True)

    def _not_a_formula(self, node: SyntaxTree) -> Formula:
        if node.data == "type_declaration":
            expected = "type = {A, B, C} alone in a statement, without weight and full stop"
            self.report(
                "list-in-formula", "a list of constants stands inside a formula", node, expected=expected
            )
        else:
            self.report("not-a-formula", "this is a term, not a formula", node, expected=_FORMULA_EXPECTED)
        return Truth(value=True)

    def _quantified(self, node: SyntaxTree) -> Formula:
        word, *counted, names, body = parts(node)
        scope = self._scope(names)
        self.scopes.append(scope)
        inner = self.guarded(self.formula(body), scope)
        self.scopes.pop()
        variables = tuple(scope.variables.values())
        universal = str(word).casefold() in {"forall", "∀"}
        if not counted:
            return ForAll(variables, inner) if universal else Exists(variables, inner)
        if universal:
            self.report("counted-forall", "only EXIST can count", word, repair="EXIST")
        return CountingExists(_relation(counted[0]), self._whole_number(counted[1]), variables, inner)

    def _scope(self, names: Node) -> Scope:
        scope = Scope()
        for binder in parts(names) if isinstance(names, Tree) else []:
            name, *type_ = tokens_of(binder)
            if not is_variable(str(name)):
                message = f"{name} is a constant: variables begin with a small letter"
                self.report("constant-quantified", message, name, repair=str(name)[0].lower() + str(name)[1:])
            variable = Variable(str(name), self.slots.new())
            scope.variables[variable.name] = variable
            self.level[variable] = len(self.scopes)
            self.first[variable.type] = name
            if type_:
                self._declare_type(variable, type_[-1])
        return scope

    def _declare_type(self, variable: Variable, type_: Token) -> None:
        """Note the type that is written beside a variable: ``EXIST x:person``."""
        if str(type_) not in self.vocabulary.types:
            match = closest(str(type_), self.vocabulary.types)
            message = f"there is no type {type_}" + (f"; did you mean {match}?" if match else "")
            expected = ", ".join(self.vocabulary.types)
            self.report("no-such-type", message, type_, expected=expected, repair=match or "")
        else:
            self.slots.assign(variable.type, str(type_), type_)

    def _whole_number(self, node: Node) -> int:
        text = "".join(map(str, tokens_of(node))).replace("−", "-")
        if re.fullmatch(r"-?[0-9]{1,30}", text):
            return int(text)
        self.report("bad-number", f"{text} is not a whole number", node, expected="0, 1, 2, ...")
        return 0

    def _cardinality(self, node: SyntaxTree) -> Formula:
        name, relation, bound = parts(node)
        predicate = self._predicate(name)
        types = predicate.types if predicate else ()
        return Cardinality(str(name), types, _relation(relation), self._whole_number(bound))

    def _comparison(self, node: SyntaxTree) -> Formula:
        left_node, symbol, right_node = parts(node)
        operator = _relation(symbol)
        if self._is_probability(left_node):
            message = "P(formula) = p, a probability instead of a weight, has no meaning here"
            repair = "the weight log(p/(1-p)) in front of the formula"
            self.report("probability-constraint", message, node, repair=repair)
            return Truth(value=True)
        as_relation = self._function_equation(left_node, operator, right_node)
        if as_relation is not None:
            return as_relation
        if operator not in {"=", "!="}:
            return self._by_size(operator, left_node, right_node, node)
        left, right = self.term(left_node), self.term(right_node)
        self.unify(left, right, node)
        return Equality(left, right) if operator == "=" else Not(Equality(left, right))

    def _by_size(self, operator: Relation, left_node: Node, right_node: Node, node: Node) -> Formula:
        """Read a comparison of numbers; a bare number in it, like one in a calculation, has no type."""
        left, right = self.operand(left_node), self.operand(right_node)
        self.calculated += [(left, node), (right, node)]
        return Comparison(operator, left, right)  # type: ignore[arg-type]

    def _function_equation(self, left: Node, operator: str, right: Node) -> Formula | None:
        """Translate ``f(x) = y`` directly to the relation ``f(x, y)``."""
        for call, other in ((left, right), (right, left)):
            predicate = self.function_called(call)
            if predicate is not None and isinstance(call, Tree) and operator in {"=", "!="}:
                arguments = (*map(self.term, called(call)[1]), self.term(other))
                atom = self.typed_atom(predicate, arguments, call)
                return atom if operator == "=" else Not(atom)
        return None

    def _predicate(self, name: Node) -> Predicate | None:
        found = self.vocabulary.predicates.get(str(name))
        if found is None:
            match = closest(str(name), self.vocabulary.predicates)
            message = f"there is no predicate {name}" + (f"; did you mean {match}?" if match else "")
            expected = "" if match else f"a declaration such as {name}(type) on a line of its own"
            self.report("unknown-predicate", message, name, expected=expected, repair=match or "")
        return found

    def _atom(self, node: SyntaxTree) -> Formula:
        name, arguments = called(node)
        if str(name) not in self.vocabulary.predicates:
            foreign = self._foreign_atom(node, name, arguments)
            if foreign is not None:
                return foreign
        predicate = self._predicate(name)
        terms = tuple(map(self.term, arguments))
        if predicate is None:
            return Truth(value=True)
        atom = self.typed_atom(predicate, terms, node)
        if node.data == "starred" and isinstance(atom, Atom):
            self._mark_both_signs(node, name, atom)
        return atom

    def _mark_both_signs(self, node: SyntaxTree, name: Token, atom: Atom) -> None:
        star = parts(node)[0]
        if extent(star)[1] != extent(name)[0]:
            message = "a star marks the atom right behind it; here a blank stands between"
            self.report("loose-star", message, node, repair=f"*{name}(...) for both signs, or one weight")
        self.both_signs.append(atom)

    def _foreign_atom(self, node: SyntaxTree, name: Token, arguments: list[Node]) -> Formula | None:
        """Read Alchemy's internal comparisons, which are written like atoms."""
        relation = _INTERNAL.get(str(name))
        if relation is not None and len(arguments) == 2:
            return self._by_size(relation, arguments[0], arguments[1], node)
        return None

    def _is_probability(self, node: Node) -> bool:
        """Whether this is the left side of ``P(formula) = p``."""
        if isinstance(node, Token) or node.data != "call" or "P" in self.vocabulary.predicates:
            return False
        name, arguments = called(node)
        return name == "P" and any(isinstance(a, Tree) for a in arguments)


def _relation(node: Node) -> Relation:
    return _RELATIONS[str(node)]
