"""Declarations of predicates and functions; a lone ``P(a)`` declares P exactly if P is new."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lark import Token, Tree

from mlnlab.logic.suggestions import closest
from mlnlab.logic.vocabulary import Predicate
from mlnlab.syntax.tokens import called, end_of, parts, start_of, tokens_of
from mlnlab.syntax.type_declarations import TypeDeclarations

if TYPE_CHECKING:
    from mlnlab.syntax.statements import Statement
    from mlnlab.syntax.tokens import SyntaxTree


class Declarations(TypeDeclarations):
    """Reads statements that declare something."""

    def take(self, statement: Statement, tree: SyntaxTree) -> bool:
        """Read a statement if it is a declaration; ``False`` where it is a formula."""
        root = parts(tree)[0] if tree.data != "function_declaration" else tree
        if isinstance(root, Token):
            return False
        match root.data:
            case "type_declaration":
                self.declare_type(statement, root)
                return True
            case "function_declaration":
                self._function(statement, root)
                return True
            case "call" | "starred":
                bare = statement.full_stop is None and statement.tokens[0].type in {"NAME", "STAR"}
                return bare and self._lone_atom(statement, root)
            case _:
                return False

    def _lone_atom(self, statement: Statement, node: SyntaxTree) -> bool:
        name, _ = called(node)
        predicate = _declared(str(name), node)
        known = self.vocabulary.predicates.get(str(name))
        if known is not None:
            return self._again(statement, node, predicate, known)
        if predicate is None:
            message = f"{name} is not declared, and this is no declaration"
            expected = f"{name}(type, type, ...), all marks either ! or ?"
            self.report(statement, "bad-declaration", message, node, expected=expected)
        elif name == "v":
            self.report(statement, "bad-declaration", "v means or; it cannot name a predicate", name)
        else:
            self._warn_of_slips(statement, node, predicate)
            self._add(statement, name, predicate)
        return True

    def _warn_of_slips(self, statement: Statement, node: SyntaxTree, predicate: Predicate) -> None:
        """Warn where a fact or a misspelt formula is about to become a declaration."""
        new = [type_ for type_ in predicate.types if type_ not in self.vocabulary.types]
        named = next((type_ for type_ in new if type_[0].isupper()), None)
        if named is not None:
            message = f"this declares a type {named}; a fact belongs into a fact file"
            self.warn(statement, "type-like-constant", message, node)
            return
        if not new or any(len(type_) > 1 for type_ in new):
            return  # seen before names are compared, which in long models takes far longer than reading
        match = closest(predicate.name, self.vocabulary.predicates)
        if match is not None:
            message = f"this declares a new predicate {predicate.name}; did you mean {match}?"
            self.warn(statement, "new-predicate", message, node, repair=match)

    def _again(
        self, statement: Statement, node: SyntaxTree, predicate: Predicate | None, known: Predicate
    ) -> bool:
        """Read a lone atom of a known predicate: the same declaration, a contradicting one, or a formula."""
        if predicate is None or not set(predicate.types) <= set(self.vocabulary.types) or not predicate.types:
            return False
        if predicate != known:
            message = f"{known.name} is declared otherwise already"
            self.report(statement, "declared-again", message, node, expected=str(known))
            return True
        place = self.places.get(known.name)
        line = f" on line {place.line}" if place else ""
        message = f"{known.name} is declared{line} already; this is the same again"
        repair = f"({_shown(node)}), in parentheses, if a formula is meant"
        self.warn(statement, "declared-again", message, node, repair=repair)
        return True

    def _function(self, statement: Statement, node: SyntaxTree) -> None:
        name, given = called(node)
        plain = all(isinstance(a, Token) and a.type == "NAME" for a in given)
        if statement.full_stop is not None or not plain:
            message = "this looks like the declaration of a function"
            self.report(statement, "bad-declaration", message, node, expected="type Function(type, ...)")
            return
        types = (*map(str, given), str(parts(node)[0]))
        predicate = Predicate(str(name), types, (len(types) - 1,), function=True)
        known = self.vocabulary.predicates.get(str(name))
        if known not in {None, predicate}:
            message = f"{name} is declared otherwise already"
            self.report(statement, "declared-again", message, name, expected=str(known))
            return
        self._add(statement, name, predicate)

    def _add(self, statement: Statement, name: Token, predicate: Predicate) -> None:
        self.places[str(name)] = statement.source.span(start_of(name), end_of(name))
        self.vocabulary = self.vocabulary.with_predicate(predicate)


def _shown(node: SyntaxTree) -> str:
    name, arguments = called(node)
    return f"{name}({', '.join(''.join(map(str, tokens_of(a))) for a in arguments)})"


def _declared(name: str, node: SyntaxTree) -> Predicate | None:
    """Return the predicate that a lone atom would declare, ``None`` where it cannot be a declaration."""
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
    return Predicate(name, tuple(types), tuple(exclusive), marks == {"at_most_one"}, node.data == "starred")
