"""Lists and ranges of constants: ``person = {Anna, Bob}``, ``time = {1,...,5}``."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lark import Token, Tree

from mlnlab.errors import Severity
from mlnlab.logic.vocabulary import NamedDomain, RangeDomain, Vocabulary
from mlnlab.syntax.tokens import end_of, extent, parts, start_of, unquoted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mlnlab.errors import Diagnostic, Span
    from mlnlab.logic.vocabulary import Domain
    from mlnlab.syntax.statements import Statement
    from mlnlab.syntax.tokens import Node, SyntaxTree

MOST_NUMBERS = 1 << 31  # constants are numbered in 32 bits
_EXPECTED = "type = {A, B, C} or type = {1,...,5}"


@dataclass
class TypeDeclarations:
    """The vocabulary read so far, where each thing was declared, and what was wrong."""

    vocabulary: Vocabulary
    places: dict[str, Span] = field(default_factory=dict)
    problems: list[Diagnostic] = field(default_factory=list)

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
        domain = self._range(statement, node, elements) if ranged else self._listed(statement, elements)
        if not elements:
            message = f"{name} lists no constants; the data must bring them"
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

    def _listed(self, statement: Statement, elements: Sequence[Node]) -> NamedDomain:
        names: dict[str, None] = {}
        for element in elements:
            if isinstance(element, Tree):
                name = f"-{parts(element)[1]}"
            else:
                name = unquoted(element) if element.type == "STRING" else str(element)
            if name in names:
                self.warn(statement, "listed-twice", f"{name} is listed twice", element)
            names[name] = None
        return NamedDomain(tuple(names), is_listed=bool(names))

    def _add_type(self, statement: Statement, name: Token, domain: Domain) -> None:
        known = self.vocabulary.types.get(str(name))
        earlier = self.places.get(f"type {name}")
        if earlier is not None and known is not None and len(known) and len(domain) and known != domain:
            if not (isinstance(known, NamedDomain) and isinstance(domain, NamedDomain)):
                message = f"{name} is listed otherwise on line {earlier.line}"
                self.report(statement, "type-listed-again", message, name)
                return
            domain = known.extended(domain.names)
            message = f"{name} is listed on line {earlier.line} too; both are joined"
            self.warn(statement, "type-listed-again", message, name)
        self.places.setdefault(f"type {name}", statement.source.span(start_of(name), end_of(name)))
        if len(domain) or str(name) not in self.vocabulary.types:
            self.vocabulary = self.vocabulary.with_domain(str(name), domain)


def _whole_number(node: Node) -> int | None:
    text = f"-{parts(node)[1]}" if isinstance(node, Tree) else str(node)
    return int(text) if re.fullmatch(r"-?[0-9]{1,30}", text) else None
