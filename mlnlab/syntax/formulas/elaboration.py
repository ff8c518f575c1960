"""A formula's syntax tree to a typed formula, or to diagnostics that name every problem in it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, get_args

from lark import Token, Tree

from mlnlab.logic.formulas.formulas import (
    And,
    Arithmetic,
    ArithmeticOperator,
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
    Term,
    Truth,
    Variable,
)
from mlnlab.logic.formulas.traversal import leaves
from mlnlab.logic.suggestions import closest
from mlnlab.syntax.formulas.elaboration_state import ElaborationState, Scope, is_variable
from mlnlab.syntax.formulas.tokens import (
    Node,
    Source,
    SyntaxTree,
    extent,
    parts,
    read_call,
    tokens_of,
    unquote_token,
)
from mlnlab.syntax.formulas.type_slots import retype_formula

if TYPE_CHECKING:
    from mlnlab.errors import Diagnostic
    from mlnlab.logic.vocabulary import Predicate, Vocabulary


# --- variables, constants, calculations and function values -------------------------------------

_OPERATORS: dict[str, ArithmeticOperator] = {operator: operator for operator in get_args(ArithmeticOperator)}
_OPERATORS["−"] = "-"


class TermReading(ElaborationState):
    """Reads the terms of one formula."""

    def term(self, node: Node) -> Term:
        """Return the term that a node means."""
        if isinstance(node, Token):
            return self.leaf(node)
        match node.data:
            case "negative":
                token = parts(node)[1]
                return self._constant(f"-{token}", token) if isinstance(token, Token) else self.term(token)
            case "arithmetic":
                left, symbol, right = parts(node)
                operator = _OPERATORS.get(str(symbol))
                if operator is None:
                    self.report(
                        "unexpected-symbol", f"there is no operator {symbol}", symbol, expected="+ - * / %"
                    )
                return self._calculation(operator or "*", self.operand(left), self.operand(right), node)
            case "successor":
                return self._calculation("+", self.operand(parts(node)[0]), Constant("1"), node)
            case "per_constant":
                token = parts(node)[1]
                if isinstance(token, Token):
                    self.per_constant.setdefault(str(token), token)
                return self.term(token)
            case "call":
                return self._function_value(node)
            case "exclusive" | "at_most_one":
                message = "the marks ! and ? after an argument belong to declarations"
                self.report("mark-in-formula", message, node)
                return self.term(parts(node)[0])
            case _:
                self.report("not-a-term", "this is a formula, where a variable or constant is needed", node)
                return Constant("", self.slots.new())

    def _calculation(self, operator: ArithmeticOperator, left: Term, right: Term, node: Node) -> Arithmetic:
        self.calculated += [(left, node), (right, node)]
        return Arithmetic(operator, left, right)

    def operand(self, node: Node) -> Term:
        """Return an operand of a calculation; a bare number there is no constant of a type."""
        if isinstance(node, Token) and node.type == "NUMBER":
            if not re.fullmatch(r"[0-9]{1,30}", node):
                self.report(
                    "not-a-number", f"{node:.40} is not a whole number", node, expected="1, 2, 3, ..."
                )
            return Constant(str(node), self.slots.new())
        if isinstance(node, Tree) and node.data == "negative":
            return Constant(f"-{parts(node)[1]}", self.slots.new())
        return self.term(node)

    def leaf(self, token: Token) -> Variable | Constant:
        """Return the variable or constant that a single token means."""
        if token.type == "STRING":
            return self._constant(unquote_token(token), token)
        if token.type == "NUMBER" or not is_variable(str(token)):
            return self._constant(str(token), token)
        if "-" in token:
            message = f"{token} is read as one name, not as a difference"
            self.report("hyphenated-variable", message, token, repair=str(token).replace("-", " - "))
        for scope in reversed(self.scopes):
            if str(token) in scope.variables:
                return scope.variables[str(token)]
        variable = Variable(str(token), self.slots.new())
        self.scopes[0].variables[str(token)] = variable
        self.level[variable] = 0
        self.first[variable.type] = token
        return variable

    def _constant(self, name: str, token: Token) -> Constant:
        constant = Constant(name, self.slots.new())
        self.constants.append((constant, token))
        return constant

    def find_called_function(self, node: Node) -> Predicate | None:
        """Return the function that a node applies to the right number of arguments, if it does."""
        if isinstance(node, Token) or node.data != "call":
            return None
        name, arguments = read_call(node)
        predicate = self.vocabulary.predicates.get(str(name))
        fits = predicate is not None and predicate.function and len(arguments) == predicate.arity - 1
        return predicate if fits else None

    def _function_value(self, node: SyntaxTree) -> Term:
        """Name a function's value: a new variable, guarded by the function's relation where it is bound."""
        predicate = self.find_called_function(node)
        name, argument_nodes = read_call(node)
        arguments = tuple(map(self.term, argument_nodes))
        if predicate is None:
            self._report_no_function(node, name, len(arguments))
            return Constant("", self.slots.new())
        known = self.function_values.get((predicate.name, arguments))
        if known is not None:
            return known
        value = Variable(self.fresh_name(predicate.types[-1]), self.slots.new())
        self.function_values[predicate.name, arguments] = value
        self.first[value.type] = name
        atom = self.typed_atom(predicate, (*arguments, value), node)
        used = [leaf for term in arguments for leaf in leaves(term) if isinstance(leaf, Variable)]
        level = max((self.level[variable] for variable in used), default=0)
        self.level[value] = level
        if isinstance(atom, Atom):
            self.scopes[level].guards.append((value, atom))
        return value

    def _report_no_function(self, node: Node, name: Token, given: int) -> None:
        known = self.vocabulary.predicates.get(str(name))
        if known is None:
            functions = [p.name for p in self.vocabulary.predicates.values() if p.function]
            self.report(
                "unknown-function",
                f"there is no function {name}",
                name,
                expected=f"a declaration such as: type {name}(type)",
                repair=closest(str(name), functions) or "",
            )
        elif known.function:
            taken = known.arity - 1
            message = f"{name} takes {taken} argument{'s' * (taken != 1)}, not {given}"
            self.report("wrong-arity", message, node, expected=str(known))
        else:
            self.report("formula-as-term", f"{name} is a predicate; it cannot be an argument", name)

    def typed_atom(self, predicate: Predicate, terms: tuple[Term, ...], node: SyntaxTree) -> Formula:
        """Return the atom, after noting the types of its terms; report a wrong number of terms."""
        _, argument_nodes = read_call(node)
        if len(terms) != predicate.arity:
            self._report_arity(predicate, len(argument_nodes), node)
            return Truth(value=True)
        for position, (term, type_) in enumerate(zip(terms, predicate.types, strict=True)):
            # The value of an equation f(x) = y stands outside the brackets.
            place = argument_nodes[position] if position < len(argument_nodes) else node
            self.assign(term, type_, place, predicate)
        return Atom(predicate.name, terms)

    def _report_arity(self, predicate: Predicate, given: int, node: Node) -> None:
        if predicate.function:
            message = f"{predicate.name} is a function: it gives a value, not a truth value"
            self.report("function-as-formula", message, node, repair=f"{predicate.name}(...) = y")
        else:
            taken = f"{predicate.arity} argument{'s' * (predicate.arity != 1)}"
            self.report(
                "wrong-arity", f"{predicate.name} takes {taken}, not {given}", node, expected=str(predicate)
            )


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
    """A formula read from a syntax tree: its marks, its constants with their places, and its problems."""

    formula: Formula
    per_constant: tuple[str, ...]
    both_signs: tuple[Atom, ...]
    constants: tuple[tuple[Constant, Token], ...]
    problems: tuple[Diagnostic, ...]


def elaborate(tree: SyntaxTree, source: Source, vocabulary: Vocabulary) -> Elaborated:
    """Return the typed formula of a statement's syntax tree."""
    reading = _FormulaReading(source, vocabulary, tree)
    formula = reading.guard_formula(reading.formula(parts(tree)[0]), reading.scopes[0])
    reading.check_marks()
    reading.resolve_constants()
    reading.check_variables()
    reading.check_numbers()
    reading.check_calculations()
    reading.check_capitals()
    type_of = reading.slots.type_of
    signs = [retype_formula(atom, type_of) for atom in dict.fromkeys(reading.both_signs)]
    return Elaborated(
        retype_formula(formula, type_of),
        tuple(reading.per_constant),
        tuple(atom for atom in signs if isinstance(atom, Atom)),
        tuple((Constant(c.name, type_of(c.type)), token) for c, token in reading.constants),
        tuple(reading.problems),
    )


class _FormulaReading(TermReading):
    """Reads one formula; an unreadable part becomes "true", with a problem reported."""

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
                return self._read_quantifier(node)
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
        predicate = self.vocabulary.predicates.get(str(token))
        repair = f"{token}({', '.join('xyzuvw'[: predicate.arity])})" if predicate else ""
        message = f"{token} is not a complete formula"
        if token[:1].isupper():
            message += f": a predicate needs its {'parentheses' if repair.endswith('()') else 'arguments'}"
        self.report("not-a-formula", message, token, expected=_FORMULA_EXPECTED, repair=repair)
        return Truth(value=True)

    def _not_a_formula(self, node: SyntaxTree) -> Formula:
        if node.data == "type_declaration":
            expected = "type = {A, B, C} alone in a statement, without weight and full stop"
            self.report(
                "list-in-formula", "there is a list of constants inside a formula", node, expected=expected
            )
        else:
            self.report("not-a-formula", "this is a term, not a formula", node, expected=_FORMULA_EXPECTED)
        return Truth(value=True)

    def _read_quantifier(self, node: SyntaxTree) -> Formula:
        word, *counted, names, body = parts(node)
        scope = self._scope(names)
        self.scopes.append(scope)
        inner = self.guard_formula(self.formula(body), scope)
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
            predicate = self.find_called_function(call)
            if predicate is not None and isinstance(call, Tree) and operator in {"=", "!="}:
                arguments = (*map(self.term, read_call(call)[1]), self.term(other))
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
        name, arguments = read_call(node)
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
            message = "a star marks the atom right after it; here there is a blank between them"
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
        name, arguments = read_call(node)
        return name == "P" and any(isinstance(a, Tree) for a in arguments)


def _relation(node: Node) -> Relation:
    return _RELATIONS[str(node)]
