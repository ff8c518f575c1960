"""Declarations: lists and ranges of constants, predicates, functions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lark import Token, Tree

from mlnlab.errors import Severity
from mlnlab.logic.vocabulary import NamedDomain, Predicate, RangeDomain, Vocabulary
from mlnlab.syntax.tokens import called, end_of, extent, parts, start_of, tokens_of, unquoted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mlnlab.errors import Diagnostic, Span
    from mlnlab.logic.vocabulary import Domain
    from mlnlab.syntax.statements import Statement
    from mlnlab.syntax.tokens import Node, SyntaxTree


@dataclass
class Declarations:
    """The vocabulary read so far, where each thing was declared, and what was wrong."""

    vocabulary: Vocabulary
    places: dict[str, Span] = field(default_factory=dict)
    problems: list[Diagnostic] = field(default_factory=list)

    def take(self, statement: Statement, tree: SyntaxTree) -> bool:
        """Read a statement if it is a declaration; ``False`` where it is a formula."""
        root = parts(tree)[0] if tree.data != "function_declaration" else tree
        if isinstance(root, Token):
            return False
        match root.data:
            case "type_declaration":
                self._type(statement, root)
            case "function_declaration":
                self._function(statement, root)
            case "call" | "starred":
                return self._lone_atom(statement, root)
            case _:
                return False
        return True

    def _report(
        self,
        statement: Statement,
        code: str,
        message: str,
        node: Node,
        *,
        severity: Severity = Severity.ERROR,
        expected: str = "",
        repair: str = "",
    ) -> None:
        start, stop = extent(node)
        self.problems.append(
            statement.source.problem(
                code, message, start, stop, severity=severity, expected=expected, repair=repair
            )
        )

    # --- types

    def _type(self, statement: Statement, node: Tree[Token]) -> None:
        name, symbol, listing = parts(node)
        if not isinstance(name, Token) or name.type != "NAME" or str(symbol) != "=":
            self._report(
                statement,
                "bad-type-declaration",
                "a list of constants needs the name of its type",
                node,
                expected="type = {A, B, C} or type = {1,...,5}",
            )
            return
        elements = parts(listing) if isinstance(listing, Tree) else []
        domain = self._range(statement, node, elements) or self._listed(statement, elements)
        if not elements:
            self._report(
                statement,
                "empty-domain",
                f"{name} lists no constants; the data must bring them",
                node,
                severity=Severity.WARNING,
            )
        self._add_type(statement, name, domain)

    def _range(self, statement: Statement, node: Tree[Token], elements: Sequence[Node]) -> RangeDomain | None:
        dots = [i for i, e in enumerate(elements) if isinstance(e, Token) and e == "..."]
        if not dots:
            return None
        ends = [_whole_number(e) for i, e in enumerate(elements) if i not in dots]
        if dots != [1] or len(ends) != 2 or ends[0] is None or ends[1] is None:
            self._report(
                statement,
                "bad-range",
                "a range goes from one whole number to another",
                node,
                expected="{1,...,5}",
            )
            return RangeDomain(1, 1)
        low, high = ends[0], ends[1]
        if low > high:
            self._report(
                statement,
                "empty-domain",
                f"the range from {low} to {high} is empty",
                node,
                repair=f"{{{high},...,{low}}}",
            )
        return RangeDomain(low, high)

    def _listed(self, statement: Statement, elements: Sequence[Node]) -> NamedDomain:
        names: dict[str, None] = {}
        for element in elements:
            if isinstance(element, Tree):
                name = f"-{element.children[1]}"
            else:
                name = unquoted(element) if element.type == "STRING" else str(element)
            if name in names:
                self._report(
                    statement, "listed-twice", f"{name} is listed twice", element, severity=Severity.WARNING
                )
            names[name] = None
        return NamedDomain(tuple(names), is_listed=bool(names))

    def _add_type(self, statement: Statement, name: Token, domain: Domain) -> None:
        known = self.vocabulary.types.get(str(name))
        earlier = self.places.get(f"type {name}")
        if earlier is not None and known is not None and known != domain and len(known) and len(domain):
            if isinstance(known, NamedDomain) and isinstance(domain, NamedDomain):
                domain = known.extended(domain.names)
                self._report(
                    statement,
                    "type-listed-again",
                    f"{name} is listed on line {earlier.line} too; both are joined",
                    name,
                    severity=Severity.WARNING,
                )
            else:
                self._report(
                    statement, "type-listed-again", f"{name} is a range on line {earlier.line}", name
                )
                return
        self.places.setdefault(f"type {name}", statement.source.span(start_of(name), end_of(name)))
        if len(domain) or str(name) not in self.vocabulary.types:
            self.vocabulary = self.vocabulary.with_domain(str(name), domain)

    # --- predicates and functions

    def _lone_atom(self, statement: Statement, node: Tree[Token]) -> bool:
        """Declare the predicate of a lone ``P(a)`` if it is new; otherwise the statement is a formula."""
        if statement.full_stop is not None or statement.tokens[0].type not in {"NAME", "STAR"}:
            return False
        name, _ = called(node)
        predicate = self._predicate(str(name), node)
        known = self.vocabulary.predicates.get(str(name))
        if known is not None:
            if (
                predicate
                and predicate.types != known.types
                and set(predicate.types) <= set(self.vocabulary.types)
            ):
                self._report(
                    statement,
                    "declared-again",
                    f"{name} is declared otherwise already",
                    node,
                    expected=str(known),
                )
                return True
            if predicate == known or (predicate and predicate.types == known.types):
                place = self.places.get(str(name))
                line = f" on line {place.line}" if place else ""
                self._report(
                    statement,
                    "declared-again",
                    f"{name} is declared{line} already; this is the same again",
                    node,
                    severity=Severity.WARNING,
                    repair=f"({self._shown(node)}), in parentheses, for a formula",
                )
                return True
            return False
        if predicate is None:
            self._report(
                statement,
                "bad-declaration",
                f"{name} is not declared, and this is no declaration",
                node,
                expected=f"{name}(type, type, ...)",
            )
            return True
        self._add_predicate(statement, name, predicate)
        return True

    def _shown(self, node: Tree[Token]) -> str:
        name, arguments = called(node)
        return f"{name}({', '.join(''.join(map(str, tokens_of(a))) for a in arguments)})"

    def _predicate(self, name: str, node: Tree[Token]) -> Predicate | None:
        types: list[str] = []
        exclusive: list[int] = []
        marks: set[str] = set()
        for position, argument in enumerate(called(node)[1]):
            token = argument
            if isinstance(argument, Tree):
                if argument.data not in {"exclusive", "at_most_one"}:
                    return None
                token = parts(argument)[0]
                exclusive.append(position)
                marks.add(argument.data)
            if not isinstance(token, Token) or token.type != "NAME":
                return None
            types.append(str(token))
        if len(marks) > 1:
            return None
        closed = node.data == "starred"
        return Predicate(name, tuple(types), tuple(exclusive), marks == {"at_most_one"}, closed)

    def _function(self, statement: Statement, node: Tree[Token]) -> None:
        name, given = called(node)
        value = parts(node)[0]
        plain = all(isinstance(a, Token) and a.type == "NAME" for a in given)
        if statement.full_stop is not None or not plain:
            self._report(
                statement,
                "bad-declaration",
                "this looks like the declaration of a function",
                node,
                expected="type Function(type, ...)",
            )
            return
        types = (*map(str, given), str(value))
        predicate = Predicate(str(name), types, (len(types) - 1,), function=True)
        if self.vocabulary.predicates.get(str(name)) not in {None, predicate}:
            self._report(statement, "declared-again", f"{name} is declared already, otherwise", name)
            return
        self._add_predicate(statement, name, predicate)

    def _add_predicate(self, statement: Statement, name: Token, predicate: Predicate) -> None:
        self.places[str(name)] = statement.source.span(start_of(name), end_of(name))
        self.vocabulary = self.vocabulary.with_predicate(predicate)


def _whole_number(node: Node) -> int | None:
    text = f"-{node.children[1]}" if isinstance(node, Tree) else str(node)
    try:
        return int(text)
    except ValueError:
        return None
