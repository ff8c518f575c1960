"""A model as a document of its own: a page, LaTeX, plain mathematics."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from mlnlab.display.card.cards import table
from mlnlab.display.card.formula_markup import formula_markup, weight_in_words, weight_markup
from mlnlab.display.card.markup import element, fit, render
from mlnlab.display.card.style import card, title
from mlnlab.display.model.models import model_title
from mlnlab.display.model.vocabularies import marks_in_words, predicate_markup
from mlnlab.errors import printable_lines
from mlnlab.logic.formulas.printing import escape_latex, marks_of, to_latex, to_unicode
from mlnlab.logic.formulas.weights import Hard
from mlnlab.model.mln.writing import declarations

if TYPE_CHECKING:
    from mlnlab.logic.formulas.weights import WeightedFormula
    from mlnlab.model.mln.mln import MLN

# The browser itself then loads nothing and runs nothing.
_NO_NETWORK = (
    "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
)
_LATEX = r"""\documentclass{article}
\usepackage[T1]{fontenc}
\usepackage[utf8]{inputenc}
\usepackage{amsmath,longtable}
\begin{document}
\section*{%s}
\begin{itemize}
%s
\end{itemize}
\begin{longtable}{rl}
%s
\end{longtable}
\end{document}
"""


def model_as_text(mln: MLN) -> str:
    """Return the whole model in Unicode: declarations, then weights and formulas."""
    width = max((len(weight_in_words(formula.weight)) for formula in mln.formulas), default=0)
    lines = [
        f"{weight_in_words(weighted.weight):>{width}}  {to_unicode(weighted.formula, marks_of(weighted))}"
        for weighted in mln.formulas
    ]
    return printable_lines("\n".join([*declarations(mln.vocabulary), "", *lines, ""]))


def model_as_latex(mln: MLN) -> str:
    """Return the whole model as a LaTeX document."""
    items = [rf"\item \texttt{{{escape_latex(line)}}}" for line in declarations(mln.vocabulary)]
    rows = [_latex_row(weighted) for weighted in mln.formulas]
    heading = escape_latex(model_title(mln))
    return _LATEX % (heading, "\n".join(items) or r"\item (no predicates)", "\n".join(rows) or r"\\")


def _latex_row(weighted: WeightedFormula) -> str:
    words = weight_in_words(weighted.weight)
    formula = to_latex(weighted.formula, marks_of(weighted))
    stop = "." if isinstance(weighted.weight, Hard) else ""
    return rf"{escape_latex(words)} & $\displaystyle {formula}{stop}$ \\"


def model_as_page(mln: MLN) -> str:
    """Return the whole model as a page that loads nothing and runs nothing."""
    formulas = [
        (str(number), weight_markup(weighted.weight), formula_markup(weighted.formula, marks_of(weighted)))
        for number, weighted in enumerate(mln.formulas)
    ]
    predicates = [(predicate_markup(p), marks_in_words(p)) for p in mln.vocabulary.predicates.values()]
    lines = [element("div", line) for line in declarations(mln.vocabulary)]
    body = card(
        title(model_title(mln)),
        table(("", "weight", "formula"), formulas, numbers=(0, 1)),
        title("Predicates"),
        table(("predicate", "meaning of the marks"), predicates),
        title("Declarations"),
        element("div", *lines),
    )
    return page(model_title(mln), render(body))


def page(heading: str, body: str) -> str:
    """Return a page around markup that was rendered already; it follows the reader's light or dark."""
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en"><head><meta charset="utf-8"><meta name="color-scheme" content="light dark">',
            f'<meta http-equiv="Content-Security-Policy" content="{_NO_NETWORK}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f'<link rel="icon" href="data:,"><title>{escape(fit(heading))}</title>',
            "<style>body{font-family:system-ui,sans-serif;max-width:62rem;margin:2rem auto;padding:0 1rem}",
            "</style></head>",
            f"<body>{body}</body></html>\n",
        ]
    )
