"""Formulas as Alchemy text, Unicode and LaTeX.

A formula is first turned into *pieces*, each with the kind of thing it is (predicate, variable, constant,
connective, ...). The three notations, and the coloured HTML of :mod:`mlnlab.display`, differ only in how
they write pieces. Alchemy text reads back to the same formula.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, assert_never, get_args

from mlnlab.errors import visible
from mlnlab.logic.formulas.formulas import (
    And,
    Arithmetic,
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
    Quantified,
    Term,
    Truth,
    Variable,
)
from mlnlab.logic.formulas.ground_atoms import formula_constant
from mlnlab.logic.formulas.substitution import free_variables
from mlnlab.logic.formulas.traversal import children, leaves, terms

if TYPE_CHECKING:
    from mlnlab.logic.formulas.weights import WeightedFormula

Kind = Literal[
    "predicate", "variable", "constant", "number", "connective", "quantifier", "mark", "punctuation"
]


class Piece(NamedTuple):
    """A piece of a printed formula, with its kind."""

    kind: Kind
    text: str


class Marks(NamedTuple):
    """The marks of a weighted formula: variables with ``+`` and atoms with ``*``."""

    per_constant: tuple[str, ...] = ()
    both_signs: tuple[Atom, ...] = ()


# Binding strength, from Alchemy's manual: not, and, or, implies, iff; a quantifier reaches to the end.
_QUANTIFIER, _IFF, _IMPLIES, _OR, _AND, _NOT, _ATOMIC = range(7)
_SPACE = Piece("punctuation", " ")
_BINDER_SPACE = Piece("quantifier", " ")  # LaTeX drops blanks, but "y F(y)" must not become "yF(y)"


def _strength(formula: Formula) -> int:
    match formula:
        case ForAll() | Exists() | CountingExists():
            return _QUANTIFIER
        case Iff():
            return _IFF
        case Implies():
            return _IMPLIES
        case Or((_, _, *_)):
            return _OR
        case And((_, _, *_)):
            return _AND
        case Not():
            return _NOT
        case _:
            return _ATOMIC


def pieces(formula: Formula, marks: Marks = Marks()) -> Iterator[Piece]:  # noqa: B008 - immutable
    """Yield the formula's pieces in reading order, in Alchemy's symbols."""
    match formula:
        case Truth(value):
            yield Piece("connective", "⊤" if value else "⊥")
        case Atom():
            yield from _atom_pieces(formula, marks)
        case Equality(left, right):
            yield from _between(left, "=", right)
        case Comparison(operator, left, right):
            yield from _between(left, operator, right)
        case Not(Equality(left, right)):
            yield from _between(left, "!=", right)
        case Not(operand):
            yield Piece("connective", "!")
            bare = not isinstance(operand, Comparison | Cardinality)
            yield from _operand(operand, _NOT if bare else _ATOMIC + 1, marks)
        case And(operands):
            yield from _print_operands(operands, "^", _AND, marks, empty=True)
        case Or(operands):
            yield from _print_operands(operands, "v", _OR, marks, empty=False)
        case Implies(premise, conclusion):
            yield from _operand(premise, _IMPLIES + 1, marks)
            yield from (_SPACE, Piece("connective", "=>"), _SPACE)
            yield from _operand(conclusion, _IMPLIES, marks)
        case Iff(left, right):
            yield from _operand(left, _IFF, marks)
            yield from (_SPACE, Piece("connective", "<=>"), _SPACE)
            yield from _operand(right, _IFF + 1, marks)
        case ForAll() | Exists() | CountingExists():
            yield from _print_quantifier(formula, marks)
        case Cardinality(predicate, _, relation, bound):
            yield Piece("punctuation", "|")
            yield Piece("predicate", predicate)
            yield Piece("punctuation", "|")
            yield from (_SPACE, Piece("connective", relation), _SPACE, Piece("number", str(bound)))
        case _:
            assert_never(formula)


def _atom_pieces(atom: Atom, marks: Marks) -> Iterator[Piece]:
    if atom in marks.both_signs:
        yield Piece("mark", "*")
    yield Piece("predicate", atom.predicate)
    yield Piece("punctuation", "(")
    for position, argument in enumerate(atom.arguments):
        if position:
            yield Piece("punctuation", ", ")
        yield from _term_pieces(argument, marks)
    yield Piece("punctuation", ")")


def _term_pieces(term: Term, marks: Marks, *, inside: bool = False) -> Iterator[Piece]:
    match term:
        case Variable(name):
            if name in marks.per_constant and not inside:
                yield Piece("mark", "+")
            yield Piece("variable", name)
        case Constant(name):
            yield Piece("number" if name.lstrip("-").isdigit() else "constant", formula_constant(name))
        case Arithmetic(operator, left, right):
            if inside:
                yield Piece("punctuation", "(")
            yield from _term_pieces(left, marks, inside=True)
            yield from (_SPACE, Piece("connective", operator), _SPACE)
            yield from _term_pieces(right, marks, inside=True)
            if inside:
                yield Piece("punctuation", ")")
        case _:
            assert_never(term)


def _between(left: Term, symbol: str, right: Term) -> Iterator[Piece]:
    yield from _term_pieces(left, Marks())  # + stands in atoms only, where a variable's type is told
    yield from (_SPACE, Piece("connective", symbol), _SPACE)
    yield from _term_pieces(right, Marks())


def _operand(formula: Formula, needed: int, marks: Marks) -> Iterator[Piece]:
    """Yield the pieces of a part, in parentheses where it binds less than its place needs."""
    if _strength(formula) >= needed:
        yield from pieces(formula, marks)
    else:
        yield Piece("punctuation", "(")
        yield from pieces(formula, marks)
        yield Piece("punctuation", ")")


def _print_operands(
    operands: Sequence[Formula], symbol: str, strength: int, marks: Marks, *, empty: bool
) -> Iterator[Piece]:
    if not operands:
        yield from pieces(Truth(empty))
    elif len(operands) == 1:
        yield from _operand(operands[0], _NOT, marks)
    for position, operand in enumerate(operands if len(operands) > 1 else ()):
        if position:
            yield from (_SPACE, Piece("connective", symbol), _SPACE)
        yield from _operand(operand, strength + 1, marks)


def _print_quantifier(formula: Quantified, marks: Marks) -> Iterator[Piece]:
    match formula:
        case ForAll():
            yield Piece("quantifier", "FORALL")
        case Exists():
            yield Piece("quantifier", "EXIST")
        case CountingExists(relation, bound):
            yield Piece("quantifier", "EXIST")
            yield from (Piece("connective", relation), Piece("number", str(bound)))
        case _:
            assert_never(formula)
    yield _BINDER_SPACE if isinstance(formula, CountingExists) else _SPACE
    untold = untold_variables(formula)
    for position, variable in enumerate(formula.variables):
        if position:
            yield Piece("punctuation", ",")
        yield Piece("variable", variable.name)
        if variable.type and variable in untold:
            yield from (Piece("punctuation", ":"), Piece("constant", variable.type))
    yield _BINDER_SPACE
    body = formula.body
    needed = _QUANTIFIER if isinstance(body, ForAll | Exists | CountingExists) else _NOT
    yield from _operand(body, needed, marks)


def to_text(formula: Formula, marks: Marks = Marks()) -> str:  # noqa: B008 - immutable
    """Return the formula as Alchemy text, which reads back to the same formula."""
    return "".join(piece.text for piece in pieces(formula, marks))


_UNICODE = {
    "^": "∧", "v": "∨", "!": "¬", "=>": "⇒", "<=>": "⇔", "!=": "≠", "<=": "≤", ">=": "≥",
    "FORALL": "∀", "EXIST": "∃", "-": "−",
}  # fmt: skip


def unicode_pieces(formula: Formula, marks: Marks = Marks()) -> Iterator[Piece]:  # noqa: B008
    """Yield the formula's pieces with mathematical symbols."""
    previous = None
    for piece in pieces(formula, marks):
        if piece.kind in {"connective", "quantifier"}:
            yield Piece(piece.kind, _UNICODE.get(piece.text, piece.text))
        elif not (piece == _SPACE and previous is not None and previous.kind == "quantifier"):
            yield piece
        previous = piece


def to_unicode(formula: Formula, marks: Marks = Marks()) -> str:  # noqa: B008 - immutable
    """Return the formula in mathematical symbols."""
    return "".join(piece.text for piece in unicode_pieces(formula, marks))


_LATEX = {
    "^": r"\wedge", "v": r"\vee", "!": r"\neg ", "=>": r"\Rightarrow", "<=>": r"\Leftrightarrow",
    "!=": r"\neq", "<=": r"\leq", ">=": r"\geq", "<": "<", ">": ">", "FORALL": r"\forall ",
    "EXIST": r"\exists ", " ": r"\, ", "⊤": r"\top", "⊥": r"\bot", "*": r"\cdot", "%": r"\bmod",
}  # fmt: skip
_LATEX_SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "_": r"\_",
    "%": r"\%", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}",
}  # fmt: skip


def escape_latex(name: str) -> str:
    r"""Return a name for use inside ``\text{...}``: every special character is harmless."""
    return "".join(_LATEX_SPECIAL.get(character, character) for character in visible(name))


def _latex_piece(piece: Piece) -> str:
    match piece.kind:
        case "predicate":
            return rf"\mathrm{{{escape_latex(piece.text)}}}"
        case "constant":
            return rf"\text{{{escape_latex(piece.text)}}}"
        case "variable":
            return (
                piece.text
                if piece.text.isascii() and piece.text.isalpha() and len(piece.text) == 1
                else (rf"\mathit{{{escape_latex(piece.text)}}}")
            )
        case "connective" | "quantifier":
            return _LATEX.get(piece.text, piece.text)
        case "mark":
            return f"{{{piece.text}}}" if piece.text == "+" else "{*}"
        case "number" | "punctuation":
            return {"|": r"\lvert ", ", ": r", "}.get(piece.text, piece.text)
        case _:
            assert_never(piece.kind)


def to_latex(formula: Formula, marks: Marks = Marks()) -> str:  # noqa: B008 - immutable
    """Return the formula as LaTeX for math mode."""
    return "".join(map(_latex_piece, pieces(formula, marks)))


def marks_of(weighted: WeightedFormula) -> Marks:
    """Return the marks of a weighted formula, for printing."""
    return Marks(weighted.per_constant, weighted.both_signs)


# print(formula) writes Alchemy text. It is set here, since formulas are defined below what prints them.
for _kind in get_args(Formula):
    _kind.__str__ = to_text


# --- find the quantified variables that need their type written beside them: no other text tells it

# A text tells the type of a variable by the atoms in which it stands, or by an equality with something whose
# type is told. Of ``EXIST x P(y)`` nobody could say what x ranges over, and it does matter: over no constants
# at all the formula is false.


def untold_variables(formula: Quantified) -> frozenset[Variable]:
    """Return those of a quantifier's own variables whose type its text would not tell."""
    own = frozenset(formula.variables)
    told = set(free_variables(formula))  # a quantifier or an atom further out tells theirs
    equal: list[tuple[Variable, Variable]] = []
    for part, rebound in _leaves_of(formula.body, frozenset()):
        if isinstance(part, Atom):
            found = (leaf for term in terms(part) for leaf in leaves(term) if isinstance(leaf, Variable))
            told |= {variable for variable in found if variable not in own & rebound}
        elif isinstance(part, Equality):
            match part.left, part.right:
                case Variable() as left, Variable() as right if not {left, right} & own & rebound:
                    equal.append((left, right))
                case (Variable() as side, Constant()) | (Constant(), Variable() as side):
                    told |= {side} - (own & rebound)
    return own - _reach_variables(told, equal)


def _leaves_of(
    formula: Formula, rebound: frozenset[Variable]
) -> Iterator[tuple[Formula, frozenset[Variable]]]:
    """Yield the parts without parts of their own, and the variables that quantifiers above them bind anew."""
    if isinstance(formula, Quantified):
        rebound |= frozenset(formula.variables)
    inner = tuple(children(formula))
    if not inner:
        yield formula, rebound
    for child in inner:
        yield from _leaves_of(child, rebound)


def _reach_variables(told: set[Variable], equal: list[tuple[Variable, Variable]]) -> set[Variable]:
    """Return the variables whose types are told, also through chains of equalities."""
    reached = set(told)
    while more := {v for pair in equal if reached.intersection(pair) for v in pair} - reached:
        reached |= more
    return reached
