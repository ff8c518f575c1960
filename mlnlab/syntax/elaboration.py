"""A formula's syntax tree to a typed formula, or to diagnostics that name every problem in it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from lark import Token, Tree

from mlnlab.logic.formulas import (
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
from mlnlab.logic.suggestions import closest
from mlnlab.logic.traversal import leaves
from mlnlab.syntax.tokens import end_of, start_of
from mlnlab.syntax.type_slots import TypeSlots, retyped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mlnlab.errors import Diagnostic
    from mlnlab.logic.vocabulary import Predicate, Vocabulary
    from mlnlab.syntax.statement_parser import SyntaxTree
    from mlnlab.syntax.tokens import Source

Node = Tree[Token] | Token
_CONNECTIVES = frozenset({"AND", "OR", "IMPLIES", "IFF", "HORN", "NOT"})
_SYMBOLS = {"≠": "!=", "≤": "<=", "≥": ">=", "−": "-"}
# Alchemy's internal predicates for the comparisons.
_INTERNAL = {"greaterThan": ">", "lessThan": "<", "greaterThanEq": ">=", "lessThanEq": "<="}


@dataclass
class _Scope:
    """The variables that one quantifier (or the formula as a whole) binds, and function values named there."""

    variables: dict[str, Variable] = field(default_factory=dict)
    guards: list[tuple[Variable, Atom]] = field(default_factory=list)


@dataclass(frozen=True)
class Elaborated:
    """What a syntax tree says: the formula, its marks, its constants with their places, and problems."""

    formula: Formula
    per_constant: tuple[str, ...]
    both_signs: tuple[Atom, ...]
    constants: tuple[tuple[Constant, Token], ...]
    problems: tuple[Diagnostic, ...]


def elaborate(tree: SyntaxTree, source: Source, vocabulary: Vocabulary) -> Elaborated:
    """Return the typed formula of a syntax tree."""
    return _Elaborator(source, vocabulary, tree).run(tree)


class _Elaborator:
    """The state of one walk over one formula."""

    def __init__(self, source: Source, vocabulary: Vocabulary, tree: SyntaxTree) -> None:
        self.source, self.vocabulary = source, vocabulary
        self.slots = TypeSlots()
        self.scopes = [_Scope()]
        self.level: dict[Variable, int] = {}
        self.first: dict[str, Token] = {}  # the place where each slot's term first stands
        self.per_constant: dict[str, Token] = {}
        self.both_signs: list[Atom] = []
        self.constants: list[tuple[Constant, Token]] = []
        self.problems: list[Diagnostic] = []
        self.function_values: dict[tuple[str, tuple[Term, ...]], Variable] = {}
        self.names = {str(token) for token in _tokens_of(tree) if token.type == "NAME"}

    def run(self, tree: SyntaxTree) -> Elaborated:
        formula = self.guarded(self.formula(tree.children[0]), self.scopes[0])
        self.check_marks()
        self.resolve_constants()
        for slot, token in self.first.items():
            if not self.slots.type_of(slot) and not self.problems:
                self.report("unknown-type", f"the type of {token} cannot be told: no atom contains it", token,
                            repair="use it in an atom, or in an equality with something that is")  # fmt: skip
        type_of = self.slots.type_of
        signs = tuple(cast("Atom", retyped(atom, type_of)) for atom in dict.fromkeys(self.both_signs))
        constants = tuple((Constant(c.name, type_of(c.type)), token) for c, token in self.constants)
        typed = retyped(formula, type_of)
        return Elaborated(typed, tuple(self.per_constant), signs, constants, tuple(self.problems))

    def report(
        self, code: str, message: str, node: Node, *, expected: str = "", repair: str = ""
    ) -> None:
        start, stop = extent(node)
        self.problems.append(
            self.source.problem(code, message, start, stop, expected=expected, repair=repair)
        )

    # --- formulas

    def formula(self, node: Node) -> Formula:
        if isinstance(node, Token):
            return self.bare_token(node)
        parts = [child for child in node.children if not (isinstance(child, Token) and child.type in _CONNECTIVES)]
        match node.data:
            case "negation":
                return Not(self.formula(parts[0]))
            case "conjunction":
                return And(tuple(map(self.formula, parts)))
            case "disjunction":
                return Or(tuple(map(self.formula, parts)))
            case "implies":
                return Implies(self.formula(parts[0]), self.formula(parts[1]))
            case "horn":  # head :- body
                conclusion = self.formula(parts[0])
                return Implies(self.formula(parts[1]), conclusion)
            case "equivalence":
                return Iff(self.formula(parts[0]), self.formula(parts[1]))
            case "quantified":
                return self.quantified(node)
            case "cardinality":
                return self.cardinality(node)
            case "comparison":
                return self.comparison(node)
            case "call" | "starred":
                return self.atom(node)
            case "type_declaration":
                self.report("list-in-formula", "a list of constants stands inside a formula", node,
                            expected="type = {A, B, C} alone in a statement, without weight and full stop")  # fmt: skip
            case _:
                self.report("not-a-formula", "this is a term, not a formula", node,
                            expected="an atom such as P(x), or a comparison such as x = y")  # fmt: skip
        return Truth(value=True)

    def bare_token(self, token: Token) -> Formula:
        if token.type == "TRUTH":
            return Truth(token == "⊤")
        repair = f"{token}()" if token in self.vocabulary.predicates else ""
        self.report("not-a-formula", f"{token} alone is no formula", token,
                    expected="an atom such as P(x), or a comparison such as x = y", repair=repair)  # fmt: skip
        return Truth(value=True)

    def quantified(self, node: Tree[Token]) -> Formula:
        word, relation, bound, names, body = node.children
        scope = _Scope()
        for name in cast("Tree[Token]", names).children:
            variable = Variable(str(name), self.slots.new())
            if not _is_variable(str(name)):
                self.report("constant-quantified", f"{name} is a constant: variables begin with a small letter",
                            cast("Token", name), repair=f"{str(name)[0].lower()}{str(name)[1:]}")  # fmt: skip
            scope.variables[variable.name] = variable
            self.level[variable] = len(self.scopes)
            self.first[variable.type] = cast("Token", name)
        self.scopes.append(scope)
        inner = self.guarded(self.formula(cast("Node", body)), scope)
        self.scopes.pop()
        variables = tuple(scope.variables.values())
        universal = str(word).casefold() in {"forall", "∀"}
        if relation is None:
            return ForAll(variables, inner) if universal else Exists(variables, inner)
        if universal:
            self.report("counted-forall", "only EXIST can count", cast("Token", word), repair="EXIST")
        return CountingExists(_relation(relation), self.whole_number(bound), variables, inner)

    def whole_number(self, node: object) -> int:
        token = cast("Token", node)
        if not str(token).isdigit():
            self.report("bad-number", f"{token} is not a whole number", token, expected="0, 1, 2, ...")
            return 0
        return int(token)

    def cardinality(self, node: Tree[Token]) -> Formula:
        name, relation, bound = node.children
        predicate = self.predicate(cast("Token", name))
        types = predicate.types if predicate else ()
        return Cardinality(str(name), types, _relation(relation), self.whole_number(bound))

    def comparison(self, node: Tree[Token]) -> Formula:
        left_node, symbol, right_node = (cast("Node", child) for child in node.children)
        operator = _relation(symbol)
        as_relation = self.function_equation(left_node, operator, right_node)
        if as_relation is not None:
            return as_relation
        left, right = self.term(left_node), self.term(right_node)
        if operator in {"=", "!="}:
            self.unify(left, right, node)
            equality = Equality(left, right)
            return equality if operator == "=" else Not(equality)
        self.lend_type(left, right)
        return Comparison(operator, left, right)  # type: ignore[arg-type]

    def lend_type(self, left: Term, right: Term) -> None:
        """Let a bare number that is compared by size take the other side's type; only numbers matter."""
        for here, there in ((left, right), (right, left)):
            if isinstance(here, Constant) and not self.slots.type_of(here.type):
                leaf = next((leaf for leaf in leaves(there) if isinstance(leaf, Variable)), None)
                if leaf is not None:
                    self.slots.unify(here.type, leaf.type)

    def function_equation(self, left: Node, operator: str, right: Node) -> Formula | None:
        """Translate ``f(x) = y`` directly to the relation ``f(x, y)``."""
        for call, other in ((left, right), (right, left)):
            predicate = self.function_called(call)
            if predicate is not None and operator in {"=", "!="}:
                arguments = (*self.call_terms(cast("Tree[Token]", call)), self.term(other))
                atom = self.typed_atom(predicate, arguments, call, predicate.arity - 1)
                return atom if operator == "=" else Not(atom)
        return None

    # --- atoms and terms

    def predicate(self, name: Token) -> Predicate | None:
        found = self.vocabulary.predicates.get(str(name))
        if found is None:
            match = closest(str(name), self.vocabulary.predicates)
            self.report("unknown-predicate", f"there is no predicate {name}"
                        + (f"; did you mean {match}?" if match else ""), name,
                        expected="" if match else f"a declaration such as {name}(type) on a line of its own",
                        repair=match or "")  # fmt: skip
        return found

    def atom(self, node: Tree[Token]) -> Formula:
        name, arguments = cast("tuple[Token, Tree[Token]]", tuple(node.children[-2:]))
        if str(name) in _INTERNAL and str(name) not in self.vocabulary.predicates:
            given = self.call_terms(node)
            if len(given) == 2:
                return Comparison(_INTERNAL[str(name)], *given)  # type: ignore[arg-type]
        if str(name) == "P" and self.is_probability(node):
            self.report("probability-constraint", "P(formula) = p, a probability instead of a weight, has no "
                        "meaning here", name, repair="the weight log(p/(1-p)) in front of the formula")  # fmt: skip
            return Truth(value=True)
        predicate = self.predicate(name)
        terms = tuple(self.call_terms(node))
        if predicate is None:
            return Truth(value=True)
        atom = self.typed_atom(predicate, terms, node, len(arguments.children))
        if node.data == "starred" and isinstance(atom, Atom):
            self.both_signs.append(atom)
        return atom

    def is_probability(self, node: Tree[Token]) -> bool:
        arguments = cast("Tree[Token]", node.children[-1]).children
        return "P" not in self.vocabulary.predicates and any(
            isinstance(a, Tree) and a.data == "call" for a in arguments
        )

    def typed_atom(self, predicate: Predicate, terms: tuple[Term, ...], node: Node, given: int) -> Formula:
        if len(terms) != predicate.arity:
            if predicate.function:
                self.report("function-as-formula", f"{predicate.name} is a function: it gives a value, no truth "
                            "value", node, repair=f"{predicate.name}(...) = y")  # fmt: skip
            else:
                self.report("wrong-arity", f"{predicate.name} takes {predicate.arity} arguments, not {given}",
                            node, expected=str(predicate))  # fmt: skip
            return Truth(value=True)
        places = self.places(node, len(terms))
        for term, type_, place in zip(terms, predicate.types, places, strict=True):
            self.assign(term, type_, place, predicate)
        return Atom(predicate.name, terms)

    def places(self, node: Node, number: int) -> list[Node]:
        """Return where each argument stands; an equation's other side stands for the value."""
        arguments = cast("Tree[Token]", cast("Tree[Token]", node).children[-1]).children
        return [cast("Node", arguments[i]) if i < len(arguments) else node for i in range(number)]

    def call_terms(self, node: Tree[Token]) -> Iterator[Term]:
        arguments = cast("Tree[Token]", node.children[-1])
        for argument in arguments.children:
            if argument is not None:
                yield self.term(cast("Node", argument))

    def function_called(self, node: Node) -> Predicate | None:
        """Return the function that a node applies, if that is what it does."""
        if not (isinstance(node, Tree) and node.data == "call"):
            return None
        predicate = self.vocabulary.predicates.get(str(node.children[0]))
        if predicate is None or not predicate.function:
            return None
        arguments = cast("Tree[Token]", node.children[-1]).children
        return predicate if len([a for a in arguments if a is not None]) == predicate.arity - 1 else None

    def term(self, node: Node) -> Term:
        if isinstance(node, Token):
            return self.leaf(node)
        match node.data:
            case "negative":
                return self.constant(f"-{node.children[1]}", cast("Token", node.children[1]))
            case "arithmetic":
                left, operator, right = (cast("Node", child) for child in node.children)
                symbol = _SYMBOLS.get(str(operator), str(operator))
                return Arithmetic(cast("ArithmeticOperator", symbol), self.operand(left), self.operand(right))
            case "successor":
                return Arithmetic("+", self.operand(cast("Node", node.children[0])), Constant("1"))
            case "per_constant":
                token = cast("Token", node.children[1])
                self.per_constant.setdefault(str(token), token)
                return self.leaf(token)
            case "call":
                return self.function_value(node)
            case "exclusive" | "at_most_one":
                self.report("mark-in-formula", "the marks ! and ? behind an argument belong to declarations", node)
                return self.term(cast("Node", node.children[0]))
            case _:
                self.report("not-a-term", "a formula stands where a variable or constant is needed", node)
                return Constant("", self.slots.new())

    def operand(self, node: Node) -> Term:
        if isinstance(node, Token) and node.type == "NUMBER":
            return Constant(str(node))
        return self.term(node)

    def leaf(self, token: Token) -> Term:
        if token.type == "STRING":
            return self.constant(unquoted(token), token)
        if token.type == "NUMBER" or not _is_variable(str(token)):
            return self.constant(str(token), token)
        for scope in reversed(self.scopes):
            if str(token) in scope.variables:
                return scope.variables[str(token)]
        variable = Variable(str(token), self.slots.new())
        self.scopes[0].variables[str(token)] = variable
        self.level[variable] = 0
        self.first[variable.type] = token
        return variable

    def constant(self, name: str, token: Token) -> Constant:
        constant = Constant(name, self.slots.new())
        self.constants.append((constant, token))
        return constant

    def function_value(self, node: Tree[Token]) -> Term:
        """Name a function's value: a new variable, guarded by the function's relation where it is bound."""
        predicate = self.function_called(node)
        arguments = tuple(self.call_terms(node))
        if predicate is None:
            name = cast("Token", node.children[0])
            known = self.vocabulary.predicates.get(str(name))
            if known is None:
                functions = [p.name for p in self.vocabulary.predicates.values() if p.function]
                match = closest(str(name), functions)
                self.report("unknown-function", f"there is no function {name}", name, repair=match or "",
                            expected="a declaration such as " + f"type {name}(type)")  # fmt: skip
            elif known.function:
                self.report("wrong-arity", f"{name} takes {known.arity - 1} arguments, not {len(arguments)}",
                            node, expected=str(known))  # fmt: skip
            else:
                self.report("formula-as-term", f"{name} is a predicate; it cannot be an argument", name)
            return Constant("", self.slots.new())
        known = self.function_values.get((predicate.name, arguments))
        if known is not None:
            return known
        value = Variable(self.fresh_name(predicate.types[-1]), self.slots.new())
        self.function_values[predicate.name, arguments] = value
        self.first[value.type] = cast("Token", node.children[0])
        atom = self.typed_atom(predicate, (*arguments, value), node, predicate.arity - 1)
        used = [leaf for term in arguments for leaf in leaves(term) if isinstance(leaf, Variable)]
        level = max((self.level[variable] for variable in used), default=0)
        self.level[value] = level
        self.scopes[level].guards.append((value, cast("Atom", atom)))
        return value

    def fresh_name(self, type_: str) -> str:
        stem = type_[0].lower() if type_[0].isalpha() else "y"
        number = 0
        while (name := f"{stem}{number or ''}") in self.names:
            number += 1
        self.names.add(name)
        return name

    def guarded(self, formula: Formula, scope: _Scope) -> Formula:
        """Say ``for the value y of f(x): formula``, as FORALL y (f(x, y) => formula)."""
        if not scope.guards:
            return formula
        values = tuple(value for value, _ in scope.guards)
        atoms = tuple(atom for _, atom in scope.guards)
        return ForAll(values, Implies(atoms[0] if len(atoms) == 1 else And(atoms), formula))

    # --- types

    def assign(self, term: Term, type_: str, place: Node, predicate: Predicate) -> None:
        if isinstance(term, Arithmetic):
            for leaf in leaves(term):
                if isinstance(leaf, Variable) and not self.slots.type_of(leaf.type):
                    self.slots.assign(leaf.type, type_, _first_token(place))
            return
        if not self.slots.assign(term.type, type_, _first_token(place)):
            before = self.slots.reason(term.type)
            where = ""
            if before is not None:
                where = f" (line {self.source.position(start_of(before))[0]})"
            known = self.slots.type_of(term.type)
            self.report("type-clash", f"{term.name} is a {known}{where}, but {predicate.name} takes a {type_} here",
                        place, expected=str(predicate), repair="another variable")  # fmt: skip

    def unify(self, left: Term, right: Term, node: Node) -> None:
        if isinstance(left, Arithmetic) or isinstance(right, Arithmetic):
            self.lend_type(left, right)
        elif not self.slots.unify(left.type, right.type):
            self.report("type-clash", f"{left.name} is a {self.slots.type_of(left.type)} and {right.name} a "
                        f"{self.slots.type_of(right.type)}: they can never be equal", node)  # fmt: skip

    def resolve_constants(self) -> None:
        """Give a constant that stands in no atom the one type that lists its name."""
        for constant, token in self.constants:
            if not self.slots.type_of(constant.type):
                homes = [t for t, domain in self.vocabulary.types.items() if constant.name in domain]
                if len(homes) == 1:
                    self.slots.assign(constant.type, homes[0], token)
                elif not self.problems:
                    self.report("unknown-type", f"the type of {token} cannot be told", token)

    def check_marks(self) -> None:
        for name, token in self.per_constant.items():
            if name not in self.scopes[0].variables:
                if _is_variable(name):
                    self.report("unbound-plus", f"+{name} marks a variable that a quantifier binds; there is no "
                                "weight for each of its constants", token, repair=f"{name} without +")  # fmt: skip
                else:
                    self.report("unbound-plus", f"+{name} marks a constant; only a variable can have a weight "
                                "for each of its constants", token, repair=f"+{name.lower()}")  # fmt: skip


def _is_variable(name: str) -> bool:
    return name[0].islower() or name[0] == "_"


def _relation(node: object) -> Relation:
    return cast("Relation", _SYMBOLS.get(str(node), str(node)))


def unquoted(token: str) -> str:
    """Return the name inside double quotes, escapes undone."""
    inner, result, escaped = str(token)[1:-1], [], False
    for character in inner:
        if character == "\\" and not escaped:
            escaped = True
            continue
        result.append(character)
        escaped = False
    return "".join(result)


def _tokens_of(node: Node) -> list[Token]:
    return [node] if isinstance(node, Token) else [t for t in node.scan_values(lambda _: True) if t is not None]


def _first_token(node: Node) -> Token | None:
    found = _tokens_of(node)
    return found[0] if found else None


def extent(node: Node) -> tuple[int, int]:
    """Return the offsets between which a node stands."""
    if isinstance(node, Tree) and not node.meta.empty:
        return node.meta.start_pos, node.meta.end_pos
    found = _tokens_of(node)
    return (start_of(found[0]), end_of(found[-1])) if found else (0, 1)
