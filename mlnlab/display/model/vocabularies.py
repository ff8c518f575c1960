"""A vocabulary: types with their constants, and predicates with their marks explained in words."""

from __future__ import annotations

from collections.abc import Sequence

from mlnlab.display.card.cards import MOST_ROWS, Card, Table, table_of
from mlnlab.display.card.markup import Element, Node, count_of, element, shorten_text
from mlnlab.logic.formulas.ground_atoms import fact_constant
from mlnlab.logic.vocabulary import Domain, NamedDomain, Predicate, RangeDomain, SizedDomain, Vocabulary

MOST_CONSTANTS = 8


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
