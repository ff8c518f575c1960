"""Places at which one token can be wrong: operators, comparisons, constants, and/or, off by one."""

from __future__ import annotations

import ast
from dataclasses import asdict, dataclass

OPERATORS = {
    "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==",
    "is": "is not", "is not": "is", "in": "not in", "not in": "in",
    "and": "or", "or": "and", "+": "-", "-": "+", "*": "+", "/": "*", "//": "/", "%": "//",
    "True": "False", "False": "True", "not ": "",
}  # fmt: skip
_SIGNS = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
    ast.Is: "is", ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in", ast.And: "and", ast.Or: "or",
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Site:
    """A token of a file, by its place in the text, and the one that is to stand there instead."""

    file: str
    line: int
    start: int
    before: str
    after: str

    def to_json(self):
        return asdict(self)

    def __str__(self):
        return f"{self.file}:{self.line}: `{self.before.strip()}` becomes `{self.after.strip()}`"


def sites(file, text):
    """Return the sites of a file in the order of its text: none in types, errors and words for people."""
    finder = _Finder(file, text)
    finder.visit(ast.parse(text))
    return sorted(set(finder.found), key=lambda site: (site.start, site.after))


def with_fault(text, site):
    """Return the text with the fault of a site."""
    end = site.start + len(site.before)
    assert text[site.start : end] == site.before, f"{site.file} is no longer the text of {site}"
    return text[: site.start] + site.after + text[end:]


class _Finder(ast.NodeVisitor):
    def __init__(self, file, text):
        self.file, self.text, self.found = file, text, []
        lines = text.splitlines(keepends=True)
        self._lines = [line.encode() for line in lines]
        self._starts = [0]
        for line in lines:
            self._starts.append(self._starts[-1] + len(line))

    def _place(self, line, column):
        """Return the place in the text; the parser counts columns in bytes."""
        return self._starts[line - 1] + len(self._lines[line - 1][:column].decode())

    def _note(self, line, start, before, after):
        self.found.append(Site(self.file, line, start, before, after))

    def _between(self, left, right, sign):
        """Note an operator that stands between two expressions."""
        first = self._place(left.end_lineno, left.end_col_offset)
        last = self._place(right.lineno, right.col_offset)
        start = self.text.find(sign, first, last)
        if start >= 0 and "#" not in self.text[first:start]:
            self._note(self.text.count("\n", 0, start) + 1, start, sign, OPERATORS[sign])

    def visit_Compare(self, node):
        parts = [node.left, *node.comparators]
        for left, right, operator in zip(parts, parts[1:], node.ops, strict=False):
            self._between(left, right, _SIGNS[type(operator)])
        self.generic_visit(node)

    def visit_BoolOp(self, node):
        for left, right in zip(node.values, node.values[1:], strict=False):
            self._between(left, right, _SIGNS[type(node.op)])
        self.generic_visit(node)

    def visit_BinOp(self, node):
        sign = _SIGNS.get(type(node.op))
        if sign and not any(map(_is_text, ast.walk(node))):  # no sum of words
            self._between(node.left, node.right, sign)
        self.generic_visit(node)

    def visit_UnaryOp(self, node):
        if isinstance(node.op, ast.Not):
            self._note(node.lineno, self._place(node.lineno, node.col_offset), "not ", "")
        self.generic_visit(node)

    def visit_Constant(self, node):
        start = self._place(node.lineno, node.col_offset)
        token = self.text[start : self._place(node.end_lineno, node.end_col_offset)]
        if isinstance(node.value, bool):
            self._note(node.lineno, start, token, OPERATORS[token])
        elif isinstance(node.value, int) and token.isdigit():
            self._note(node.lineno, start, token, str(node.value + 1))

    # --- what is left alone -------------------------------------------------------------------

    def visit_FunctionDef(self, node):
        for part in (*node.args.defaults, *filter(None, node.args.kw_defaults), *node.body):
            self.visit(part)  # neither annotations nor decorators

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815 - the name that ast asks for

    def visit_ClassDef(self, node):
        for part in node.body:
            self.visit(part)

    def visit_keyword(self, node):
        if node.arg != "strict":  # it only checks that lists are as long as each other
            self.generic_visit(node)

    def visit_AnnAssign(self, node):
        if node.value is not None:
            self.visit(node.value)

    def visit_If(self, node):
        if "TYPE_CHECKING" not in ast.unparse(node.test):
            self.generic_visit(node)

    def visit_Assign(self, node):
        if not any(
            isinstance(name, ast.Name) and name.id in {"__all__", "__slots__"} for name in node.targets
        ):
            self.generic_visit(node)

    def leave_out(self, node):
        """Leave out words for people, and what is only checked."""

    visit_Raise = visit_Assert = visit_JoinedStr = leave_out  # noqa: N815 - names that ast asks for


def _is_text(node):
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))
