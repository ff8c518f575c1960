"""Variables, constants, calculations and function values."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, get_args

from lark import Token, Tree

from mlnlab.logic.formulas import (
    Arithmetic,
    ArithmeticOperator,
    Atom,
    Constant,
    Formula,
    Term,
    Truth,
    Variable,
)
from mlnlab.logic.suggestions import closest
from mlnlab.logic.traversal import leaves
from mlnlab.syntax.elaboration_state import ElaborationState, is_variable
from mlnlab.syntax.tokens import called, parts, unquoted

if TYPE_CHECKING:
    from mlnlab.logic.vocabulary import Predicate
    from mlnlab.syntax.tokens import Node, SyntaxTree

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
                message = "the marks ! and ? behind an argument belong to declarations"
                self.report("mark-in-formula", message, node)
                return self.term(parts(node)[0])
            case _:
                self.report("not-a-term", "a formula stands where a variable or constant is needed", node)
                return Constant("", self.slots.new())

    def _calculation(self, operator: ArithmeticOperator, left: Term, right: Term, node: Node) -> Arithmetic:
        self.calculated += [(left, node), (right, node)]
        return Arithmetic(operator, left, right)

    def operand(self, node: Node) -> Term:
        """Return an operand of a calculation; a bare number there is no constant of a type."""
        if isinstance(node, Token) and node.type == "NUMBER":
            if not re.fullmatch(r"[0-9]{1,30}", node):
                self.report("not-a-number", f"{node:.40} is no whole number", node, expected="1, 2, 3, ...")
            return Constant(str(node), self.slots.new())
        if isinstance(node, Tree) and node.data == "negative":
            return Constant(f"-{parts(node)[1]}", self.slots.new())
        return self.term(node)

    def leaf(self, token: Token) -> Variable | Constant:
        """Return the variable or constant that a single token means."""
        if token.type == "STRING":
            return self._constant(unquoted(token), token)
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

    def function_called(self, node: Node) -> Predicate | None:
        """Return the function that a node applies to the right number of arguments, if it does."""
        if isinstance(node, Token) or node.data != "call":
            return None
        name, arguments = called(node)
        predicate = self.vocabulary.predicates.get(str(name))
        fits = predicate is not None and predicate.function and len(arguments) == predicate.arity - 1
        return predicate if fits else None

    def _function_value(self, node: SyntaxTree) -> Term:
        """Name a function's value: a new variable, guarded by the function's relation where it is bound."""
        predicate = self.function_called(node)
        name, argument_nodes = called(node)
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
        _, argument_nodes = called(node)
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
