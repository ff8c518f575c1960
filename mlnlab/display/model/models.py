"""Show Markov logic networks, their vocabularies, differences and samples, and write them as documents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING

from mlnlab.display.card.cards import MOST_ROWS, Card, Table, table, table_of
from mlnlab.display.card.findings import found_while_reading
from mlnlab.display.card.formula_markup import formula_markup, weight_in_words, weight_markup, weighted_text
from mlnlab.display.card.markup import Element, Node, count_of, element, fit, render, shorten_text
from mlnlab.display.card.style import card, title
from mlnlab.errors import printable_lines
from mlnlab.logic.formulas.ground_atoms import fact_constant
from mlnlab.logic.formulas.printing import escape_latex, marks_of, to_latex, to_unicode
from mlnlab.logic.formulas.weights import Hard, WeightedFormula
from mlnlab.logic.vocabulary import Domain, NamedDomain, Predicate, RangeDomain, SizedDomain, Vocabulary
from mlnlab.model.mln.writing import declarations

if TYPE_CHECKING:
    from mlnlab.experiments.samples import Sample
    from mlnlab.model.mln.differences import Difference
    from mlnlab.model.mln.mln import MLN

_MOST_CHARACTERS = 120_000  # of markup: the formulas are what a model is about
_SEMANTICS = {
    "textbook": "textbook semantics: one feature for each grounding of a formula's free variables",
    "alchemy": "Alchemy's semantics: formulas are split into clauses, the weight divided among them",
}
_LONGEST_DESCRIPTION = 600
MOST_CONSTANTS = 8
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


def formulas_table(formulas: Sequence[WeightedFormula]) -> Table:
    """Return the table of formulas: number, weight, mathematics."""
    rows = (
        (str(number), weight_markup(weighted.weight), formula_markup(weighted.formula, marks_of(weighted)))
        for number, weighted in enumerate(formulas)
    )
    return table_of(
        ("", "weight", "formula"), rows, len(formulas), "formulas",
        numbers=(0, 1), where="to_text() has them all", most_characters=_MOST_CHARACTERS,
    )  # fmt: skip


def model_title(mln: MLN) -> str:
    """Return the headline of a model."""
    return f"Markov logic network {_name(mln)}".rstrip()


def _name(mln: MLN) -> str:
    """Return the model's name; those in angle brackets only say that there is none."""
    return "" if mln.name.startswith("<") else shorten_text(mln.name)


def model_card(mln: MLN) -> Card:
    """Return the card of a model."""
    return Card(
        model_title(mln),
        f"{count_of(len(mln.formulas), 'formula')}, {sizes_in_words(mln.vocabulary)}",
        lead=(_SEMANTICS[mln.semantics], "" if mln.formulas else "It has no formulas yet."),
        table=formulas_table(mln.formulas) if mln.formulas else None,
        remarks=found_while_reading(mln.diagnostics),
        folds=(
            ("predicates", predicates_table(mln.vocabulary)),
            ("types", types_table(mln.vocabulary)),
        ),
    )


def formulas_card(formulas: Sequence[WeightedFormula]) -> Card:
    """Return the card of a list of weighted formulas."""
    lines = "\n".join(map(weighted_text, formulas[:MOST_ROWS]))
    return Card(count_of(len(formulas), "formula"), table=formulas_table(formulas), plain=lines)


# --- differences ----------------------------------------------------------------------------------


def _change(sign: str, word: str, kind: str = "") -> Element:
    return element("span", f"{sign} {word}", kind=kind)


def _mark_addition() -> Element:
    return _change("+", "added", "added")


def _mark_removal() -> Element:
    return _change("−", "removed", "removed")


def _rows(difference: Difference) -> Iterator[tuple[Node, Node, Node]]:
    for text in difference.changed:
        yield _change("~", "changed"), "", shorten_text(text, 200)
    for text in difference.declared:
        yield _mark_addition(), "declaration", shorten_text(text, 200)
    for text in difference.undeclared:
        yield _mark_removal(), "declaration", shorten_text(text, 200)
    for weighted in difference.added:
        yield (
            _mark_addition(),
            weight_markup(weighted.weight),
            formula_markup(weighted.formula, marks_of(weighted)),
        )
    for weighted in difference.removed:
        shown = formula_markup(weighted.formula, marks_of(weighted))
        yield _mark_removal(), weight_markup(weighted.weight), shown
    for weighted, old, new in difference.reweighted:
        weights = element("span", weight_markup(old), " → ", weight_markup(new))
        yield _change("~", "reweighted"), weights, formula_markup(weighted.formula, marks_of(weighted))


def difference_card(difference: Difference) -> Card:
    """Return the card of a difference."""
    rows = list(_rows(difference))
    if not rows:
        return Card("No difference", plain=str(difference))
    return Card(
        "Difference",
        count_of(len(rows), "change"),
        table=table_of(("", "weight", "formula"), rows, len(rows), "changes", where="str() has them all"),
        plain=str(difference),
    )


# --- samples --------------------------------------------------------------------------------------


def sample_card(sample: Sample) -> Card:
    """Return the card of a sample data set."""
    headings = ("database", "true atoms", "constants")
    rows = (
        (shorten_text(name), f"{db.number_of_facts():,}", f"{sum(map(len, db.vocabulary.types.values())):,}")
        for name, db in sample.databases.items()
    )
    formulas, vocabulary = sample.mln.formulas, sample.mln.vocabulary
    return Card(
        f"Sample {shorten_text(sample.name)}",
        count_of(len(sample.databases), "database"),
        lead=(
            element("div", shorten_text(sample.description, _LONGEST_DESCRIPTION)),
            formulas_table(formulas) if formulas else predicates_table(vocabulary),
        ),
        table=table_of(headings, rows, len(sample.databases), "databases", numbers=(1, 2)),
        remarks=(_parts(sample),),
    )


def _parts(sample: Sample) -> str:
    """Say how to get at the parts."""
    answers = ", .answers (exact, computed by other means)" if sample.answers else ""
    return f"Its parts: .mln, .db (the first database), .databases[name]{answers}."


# --- vocabularies ---------------------------------------------------------------------------------


def first_constants(domain: Domain, most: int = MOST_CONSTANTS) -> str:
    """Return the first constants of a type as text."""
    if isinstance(domain, RangeDomain):
        return f"{domain.low}, …, {domain.high}"
    shown = [shorten_text(fact_constant(domain[i]), 40) for i in range(min(most, len(domain)))]
    return ", ".join([*shown, "…"] if len(domain) > most else shown) or "none yet"


def _origin(domain: Domain) -> str:
    match domain:
        case RangeDomain():
            return "range of numbers"
        case SizedDomain():
            return "a size only; names are made up"
        case NamedDomain():
            return "listed" if domain.listed else "grows with formulas and facts"
        case _:
            return ""


def predicate_markup(predicate: Predicate) -> Element:
    """Return a predicate's declaration in colour."""
    mark = "?" if predicate.at_most_one else "!"
    types: list[Node] = []
    shown = predicate.types[:-1] if predicate.function else predicate.types
    for position, type_ in enumerate(shown):
        types.append((", " if position else "") + shorten_text(type_, 40))
        if position in predicate.exclusive:
            types.append(element("span", mark, kind="mark"))
    return element(
        "span",
        f"{shorten_text(predicate.types[-1], 40)} " if predicate.function else None,
        element("span", "*", kind="mark") if predicate.closed else None,
        element("span", shorten_text(predicate.name), kind="predicate"),
        "(",
        *types,
        ")",
        kind="formula",
    )


def marks_in_words(predicate: Predicate) -> str:
    """Explain the marks of a declaration."""
    sentences = []
    if predicate.function:
        sentences.append(f"a function: exactly one {predicate.types[-1]} for each choice of arguments")
    elif predicate.exclusive:
        sentences.append(_block_in_words(predicate))
    if predicate.closed:
        sentences.append("atoms that no fact lists are false")
    return "; ".join(sentences)


def _block_in_words(predicate: Predicate) -> str:
    number = "at most one" if predicate.at_most_one else "exactly one"
    what = _listing([predicate.types[position] for position in predicate.exclusive])
    if not predicate.block_keys:
        return f"{number} of all its atoms is true"
    keys = _listing([predicate.types[position] for position in predicate.block_keys])
    return f"for each {keys}, {number} {what}"


def _listing(names: Sequence[str]) -> str:
    shown = [shorten_text(name, 40) for name in names]
    return " and ".join([", ".join(shown[:-1]), shown[-1]]) if len(shown) > 1 else shown[0]


def types_table(vocabulary: Vocabulary) -> Table:
    """Return the table of the types."""
    types = list(vocabulary.types.items())
    rows = (
        (shorten_text(name, 40), f"{len(domain):,}", first_constants(domain), _origin(domain))
        for name, domain in types
    )
    headings = ("type", "constants", "the first of them", "where they come from")
    return table_of(headings, rows, len(types), "types", numbers=(1,))


def predicates_table(vocabulary: Vocabulary) -> Table:
    """Return the table of the predicates; a column of meanings only where there is something to say."""
    predicates = list(vocabulary.predicates.values())
    rows: list[tuple[Node, str]] = [
        (predicate_markup(predicate), marks_in_words(predicate)) for predicate in predicates[:MOST_ROWS]
    ]
    columns = 2 if any(words for _, words in rows) else 1
    headings = ("predicate", "meaning of the marks")[:columns]
    return table_of(headings, (row[:columns] for row in rows), len(predicates), "predicates")


def sizes_in_words(vocabulary: Vocabulary) -> str:
    """Return ``3 predicates, 2 types``."""
    return f"{count_of(len(vocabulary.predicates), 'predicate')}, {count_of(len(vocabulary.types), 'type')}"


def vocabulary_card(vocabulary: Vocabulary) -> Card:
    """Return the card of a vocabulary."""
    tables = predicates_table(vocabulary), types_table(vocabulary)
    return Card("Vocabulary", sizes_in_words(vocabulary), lead=tables)


def predicate_card(predicate: Predicate) -> Card:
    """Return the card of one predicate."""
    words = marks_in_words(predicate)
    meaning = element("span", f" · {words}", kind="quiet") if words else None
    return Card(lead=(element("div", predicate_markup(predicate), meaning),), plain=str(predicate))


# --- documents ------------------------------------------------------------------------------------


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
