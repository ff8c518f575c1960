"""Declarations of predicates and functions; a lone ``P(a)`` declares P exactly if P is new."""

from __future__ import annotations

import re
from dataclasses import InitVar, dataclass, field
from typing import TYPE_CHECKING

from lark import Token, Tree

from mlnlab.errors import Diagnostic, Severity, Span
from mlnlab.logic.suggestions import closest
from mlnlab.logic.vocabulary import Domain, FrozenMapping, NamedDomain, Predicate, RangeDomain, Vocabulary
from mlnlab.syntax.formulas.tokens import end_of, extent, parts, read_call, start_of, tokens_of, unquote_token

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mlnlab.syntax.formulas.statements import Statement
    from mlnlab.syntax.formulas.tokens import Node, SyntaxTree


# --- lists and ranges of constants: ``person = {Anna, Bob}``, ``time = {1,...,5}`` --------------

MOST_NUMBERS = 1 << 31  # constants are numbered in 32 bits
_EXPECTED = "type = {A, B, C} or type = {1,...,5}"


@dataclass
class TypeDeclarations:
    """The types and predicates read so far, the place of each declaration, and the problems."""

    base: InitVar[Vocabulary]
    types: dict[str, Domain] = field(init=False)  # they grow in place: each declaration costs what it adds
    predicates: dict[str, Predicate] = field(init=False)
    joined: dict[str, dict[str, None]] = field(default_factory=dict)  # of types listed more than once
    places: dict[str, Span] = field(default_factory=dict)
    problems: list[Diagnostic] = field(default_factory=list)

    def __post_init__(self, base: Vocabulary) -> None:
        """Begin with a vocabulary that is known already."""
        self.types, self.predicates = dict(base.types), dict(base.predicates)

    @property
    def vocabulary(self) -> Vocabulary:
        """All that was declared."""
        joined = {type_: NamedDomain(tuple(names), is_listed=True) for type_, names in self.joined.items()}
        return Vocabulary(FrozenMapping({**self.types, **joined}), FrozenMapping(self.predicates))

    def report(
        self,
        statement: Statement,
        code: str,
        message: str,
        node: Node,
        *,
        expected: str = "",
        repair: str = "",
    ) -> None:
        """Keep an error with its place."""
        self._keep(statement, code, message, node, Severity.ERROR, expected, repair)

    def warn(self, statement: Statement, code: str, message: str, node: Node, *, repair: str = "") -> None:
        """Keep a warning with its place."""
        self._keep(statement, code, message, node, Severity.WARNING, "", repair)

    def _keep(
        self,
        statement: Statement,
        code: str,
        message: str,
        node: Node,
        severity: Severity,
        expected: str,
        repair: str,
    ) -> None:
        start, stop = extent(node)
        self.problems.append(
            statement.source.problem(
                code, message, start, stop, severity=severity, expected=expected, repair=repair
            )
        )

    def declare_type(self, statement: Statement, node: SyntaxTree) -> None:
        """Read ``type = {...}``."""
        name, symbol, listing = parts(node)
        if not isinstance(name, Token) or name.type != "NAME" or str(symbol) != "=":
            message = "a list of constants needs the name of its type"
            self.report(statement, "bad-type-declaration", message, node, expected=_EXPECTED)
            return
        if name == "v":
            self.report(statement, "bad-type-declaration", "v means or; it cannot name a type", name)
            return
        elements = parts(listing) if isinstance(listing, Tree) else []
        ranged = any(str(element) == "..." for element in elements)
        domain = (
            self._range(statement, node, elements) if ranged else self._list_elements(statement, elements)
        )
        if not elements:
            message = f"{name} lists no constants: it is empty unless the data bring some"
            self.warn(statement, "empty-domain", message, node)
        if domain is not None:
            self._add_type(statement, name, domain)

    def _range(self, statement: Statement, node: Node, elements: Sequence[Node]) -> RangeDomain | None:
        ends = [_whole_number(element) for element in elements if str(element) != "..."]
        if len(elements) != 3 or str(elements[1]) != "..." or len(ends) != 2 or None in ends:
            message = "a range goes from one whole number to another"
            self.report(statement, "bad-range", message, node, expected="{1,...,5}")
            return None
        low, high = sorted(end for end in ends if end is not None)
        if high - low >= MOST_NUMBERS:
            message = f"a range of more than {MOST_NUMBERS:,} numbers"
            self.report(statement, "bad-range", message, node, expected="fewer constants")
            return None
        if ends != [low, high]:
            message = f"the range from {high} to {low} is empty"
            self.report(statement, "empty-domain", message, node, repair=f"{{{low},...,{high}}}")
        return RangeDomain(low, high)

    def _list_elements(self, statement: Statement, elements: Sequence[Node]) -> NamedDomain:
        names: dict[str, None] = {}
        for element in elements:
            if isinstance(element, Tree):
                name = f"-{parts(element)[1]}"
            else:
                name = unquote_token(element) if element.type == "STRING" else str(element)
            if name in names:
                self.warn(statement, "listed-twice", f"{name} is listed twice", element)
            names[name] = None
        return NamedDomain(tuple(names), is_listed=True)

    def _add_type(self, statement: Statement, name: Token, domain: Domain) -> None:
        known = self.types.get(str(name))
        earlier = self.places.get(f"type {name}")
        again = earlier is not None and known is not None and len(known) and len(domain)
        if earlier is not None and again and (known != domain or str(name) in self.joined):
            if not (isinstance(known, NamedDomain) and isinstance(domain, NamedDomain)):
                message = f"{name} is listed differently on line {earlier.line}"
                self.report(statement, "type-listed-again", message, name)
                return
            self.joined.setdefault(str(name), dict.fromkeys(known)).update(dict.fromkeys(domain.names))
            message = f"{name} is listed on line {earlier.line} too; both are joined"
            self.warn(statement, "type-listed-again", message, name)
            return
        self.places.setdefault(f"type {name}", statement.source.span(start_of(name), end_of(name)))
        if len(domain) or known is None or not known.is_known:
            self.types[str(name)] = domain


def _whole_number(node: Node) -> int | None:
    text = f"-{parts(node)[1]}" if isinstance(node, Tree) else str(node)
    return int(text) if re.fullmatch(r"-?[0-9]{1,30}", text) else None


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
        name, _ = read_call(node)
        predicate = _read_declaration(str(name), node)
        known = self.predicates.get(str(name))
        if known is not None:
            return self._again(statement, node, predicate, known)
        if predicate is None:
            message = f"{name} is not declared, and this is not a declaration"
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
        new = [type_ for type_ in predicate.types if type_ not in self.types]
        named = next((type_ for type_ in new if type_[0].isupper()), None)
        if named is not None:
            message = f"this declares a type {named}; a fact belongs in a fact file"
            self.warn(statement, "type-like-constant", message, node)
            return
        if not new or any(len(type_) > 1 for type_ in new):
            return  # seen before names are compared, which in long models takes far longer than reading
        match = closest(predicate.name, self.predicates)
        if match is not None:
            message = f"this declares a new predicate {predicate.name}; did you mean {match}?"
            self.warn(statement, "new-predicate", message, node, repair=match)

    def _again(
        self, statement: Statement, node: SyntaxTree, predicate: Predicate | None, known: Predicate
    ) -> bool:
        """Read a lone atom of a known predicate: the same declaration, a contradicting one, or a formula."""
        if predicate is None or not set(predicate.types) <= set(self.types) or not predicate.types:
            return False
        if predicate != known:
            message = f"{known.name} is already declared differently"
            self.report(statement, "declared-again", message, node, expected=str(known))
            return True
        place = self.places.get(known.name)
        line = f" on line {place.line}" if place else ""
        message = f"{known.name} is declared{line} already; this repeats it"
        repair = f"({_show_atom(node)}), in parentheses, if a formula is meant"
        self.warn(statement, "declared-again", message, node, repair=repair)
        return True

    def _function(self, statement: Statement, node: SyntaxTree) -> None:
        name, given = read_call(node)
        plain = all(isinstance(a, Token) and a.type == "NAME" for a in given)
        if statement.full_stop is not None or not plain:
            message = "this looks like the declaration of a function"
            self.report(statement, "bad-declaration", message, node, expected="type Function(type, ...)")
            return
        types = (*map(str, given), str(parts(node)[0]))
        predicate = Predicate(str(name), types, (len(types) - 1,), function=True)
        known = self.predicates.get(str(name))
        if known not in {None, predicate}:
            message = f"{name} is already declared differently"
            self.report(statement, "declared-again", message, name, expected=str(known))
            return
        self._add(statement, name, predicate)

    def _add(self, statement: Statement, name: Token, predicate: Predicate) -> None:
        self.places[str(name)] = statement.source.span(start_of(name), end_of(name))
        for type_ in predicate.types:
            self.types.setdefault(type_, NamedDomain())
        self.predicates[predicate.name] = predicate


def _show_atom(node: SyntaxTree) -> str:
    name, arguments = read_call(node)
    return f"{name}({', '.join(''.join(map(str, tokens_of(a))) for a in arguments)})"


def _read_declaration(name: str, node: SyntaxTree) -> Predicate | None:
    """Return the predicate that a lone atom would declare, ``None`` where it cannot be a declaration."""
    types: list[str] = []
    exclusive: list[int] = []
    marks: set[str] = set()
    for position, argument in enumerate(read_call(node)[1]):
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
