"""A formula in mathematical symbols: coloured HTML, Unicode text, LaTeX."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from mlnlab.display.markup import Element, Node, element, plain_text, shortened
from mlnlab.display.style import card
from mlnlab.logic.formulas import Arithmetic, Constant, Variable
from mlnlab.logic.printing import Marks, Piece, marks_of, to_latex, unicode_pieces
from mlnlab.logic.weights import Fixed, Hard, Soft, ToLearn, Weight, WeightedFormula

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mlnlab.logic.formulas import Formula, Term

MOST_PIECES = 1_500  # about 20 lines of symbols
LONGEST_LATEX = 8_000
_COLOURED = frozenset({"predicate", "variable", "constant", "quantifier", "mark"})


def formula_markup(formula: Formula, marks: Marks = Marks()) -> Element:  # noqa: B008 - immutable
    """Return the formula as coloured symbols."""
    pieces = list(islice(unicode_pieces(formula, marks), MOST_PIECES + 1))
    shown: list[Node] = [_piece_markup(piece) for piece in pieces[:MOST_PIECES]]
    if len(pieces) > MOST_PIECES:
        shown.append(element("em", f" … and more than {MOST_PIECES:,} symbols in all", kind="quiet"))
    return element("span", *_joined(shown), kind="formula")


def _piece_markup(piece: Piece) -> Node:
    text = shortened(piece.text)
    return element("span", text, kind=piece.kind) if piece.kind in _COLOURED else text


def _joined(nodes: Iterable[Node]) -> list[Node]:
    """Join neighbouring texts, so that there are few nodes."""
    result: list[Node] = []
    for node in nodes:
        if isinstance(node, str) and result and isinstance(result[-1], str):
            result[-1] += node
        else:
            result.append(node)
    return result


def formula_text(formula: Formula, marks: Marks = Marks()) -> str:  # noqa: B008 - immutable
    """Return the formula in Unicode symbols, cut where it is endless."""
    return plain_text(formula_markup(formula, marks))


def weighted_text(weighted: WeightedFormula) -> str:
    """Return a weighted formula in one line of Unicode."""
    return f"{weight_in_words(weighted.weight)}  {formula_text(weighted.formula, marks_of(weighted))}"


def formula_latex(formula: Formula) -> str | None:
    """Return the formula as LaTeX; ``None`` where it is too long to be typeset."""
    latex = to_latex(formula)
    return f"$\\displaystyle {latex}$" if len(latex) <= LONGEST_LATEX else None


def weight_in_words(weight: Weight) -> str:
    """Return a weight as text that tells its kind without colour."""
    match weight:
        case Soft(value):
            return f"{value:.6g}"
        case Fixed(value):
            return f"{value:.6g} fixed"
        case Hard():
            return "hard"
        case ToLearn():
            return "to be learned"


def weight_markup(weight: Weight) -> Node:
    """Return a weight whose kind is told by a word in a frame of its own shape."""
    match weight:
        case Soft(value):
            return f"{value:.6g}"
        case Fixed(value):
            return element("span", f"{value:.6g} ", element("span", "fixed", kind="badge"))
        case Hard():
            return element("span", "hard", kind="badge hard")
        case ToLearn():
            return element("span", "to be learned", kind="badge open")


def formula_display(formula: Formula) -> Element:
    """Return the display of a formula by itself."""
    return card(formula_markup(formula))


def term_display(term: Term) -> Element:
    """Return the display of a term with its type."""
    return card(element("span", *_term_nodes(term), kind="formula"))


def _term_nodes(term: Term) -> list[Node]:
    match term:
        case Variable(name, type_) | Constant(name, type_):
            kind = "variable" if isinstance(term, Variable) else "constant"
            known = element("span", f" : {shortened(type_)}", kind="quiet") if type_ else ""
            return [element("span", shortened(name), kind=kind), known]
        case Arithmetic(operator, left, right):
            return [*_term_nodes(left), f" {operator} ", *_term_nodes(right)]


def weighted_display(weighted: WeightedFormula) -> Element:
    """Return the display of a formula with its weight."""
    return card(
        element("strong", weight_markup(weighted.weight)),
        "\N{EM SPACE}",
        formula_markup(weighted.formula, marks_of(weighted)),
    )
