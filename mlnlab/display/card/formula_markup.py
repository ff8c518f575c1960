"""A formula in mathematical symbols: coloured HTML, Unicode text, LaTeX."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from mlnlab.display.card.cards import Card
from mlnlab.display.card.markup import Element, Node, element, plain_text, shorten_text
from mlnlab.logic.formulas.formulas import Arithmetic, Constant, Formula, Term, Variable
from mlnlab.logic.formulas.printing import Marks, Piece, marks_of, to_latex, unicode_pieces
from mlnlab.logic.formulas.weights import Fixed, Hard, Soft, ToLearn, Weight, WeightedFormula

MOST_PIECES = 1_500  # about 20 lines of symbols
LONGEST_LATEX = 8_000
_COLOURED = frozenset({"predicate", "variable", "constant", "quantifier", "mark"})


def formula_markup(formula: Formula, marks: Marks = Marks()) -> Element:  # noqa: B008 - immutable
    """Return the formula as coloured symbols."""
    pieces = list(islice(unicode_pieces(formula, marks), MOST_PIECES + 1))
    shown: list[Node] = [_piece_markup(piece) for piece in pieces[:MOST_PIECES]]
    if len(pieces) > MOST_PIECES:
        shown.append(element("em", f" … and more than {MOST_PIECES:,} symbols in all", kind="quiet"))
    return element("span", *_join_texts(shown), kind="formula")


def _piece_markup(piece: Piece) -> Node:
    text = shorten_text(piece.text)
    return element("span", text, kind=piece.kind) if piece.kind in _COLOURED else text


def _join_texts(nodes: Iterable[Node]) -> list[Node]:
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


def formula_card(formula: Formula) -> Card:
    """Return the card of a formula by itself."""
    shown, latex = formula_markup(formula), to_latex(formula)
    typeset = f"$\\displaystyle {latex}$" if len(latex) <= LONGEST_LATEX else ""  # else too long for it
    return Card(lead=(shown,), plain=plain_text(shown), latex=typeset)


def term_card(term: Term) -> Card:
    """Return the card of a term with its type."""
    return Card(lead=(element("span", *_term_nodes(term), kind="formula"),), plain=repr(term))


def _term_nodes(term: Term) -> list[Node]:
    match term:
        case Variable(name, type_) | Constant(name, type_):
            kind = "variable" if isinstance(term, Variable) else "constant"
            known = element("span", f" : {shorten_text(type_)}", kind="quiet") if type_ else ""
            return [element("span", shorten_text(name), kind=kind), known]
        case Arithmetic(operator, left, right):
            return [*_term_nodes(left), f" {operator} ", *_term_nodes(right)]


def weighted_card(weighted: WeightedFormula) -> Card:
    """Return the card of a formula with its weight."""
    weight, formula = weight_markup(weighted.weight), formula_markup(weighted.formula, marks_of(weighted))
    shown = element("div", element("strong", weight), "\N{EM SPACE}", formula)
    return Card(lead=(shown,), plain=weighted_text(weighted))
