"""Relations to the text of a fact file, from which the same relations and domains are read again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.errors import ArgumentError
from mlnlab.logic.ground_atoms import fact_constant
from mlnlab.logic.relations import Relation
from mlnlab.logic.vocabulary import Domain, NamedDomain, Predicate, Vocabulary
from mlnlab.syntax.fact_constants import Use, first_places

if TYPE_CHECKING:
    from numpy.typing import NDArray

_NAMES_PER_LINE = 10  # in braces


def format_facts(relations: Mapping[str, Relation], vocabulary: Vocabulary) -> str:
    """Return a fact file: constants in braces where the facts do not show them in order, then the facts.

    Predicates stand in the order of their declaration, facts in the order of their tables. A name with a
    line end or a zero byte cannot be written, since a fact stands on one line; it is refused with a sentence.
    """
    used = [predicate for name, predicate in vocabulary.predicates.items() if name in relations]
    words = {type_: _words(type_, vocabulary.domain(type_)) for type_ in _types_of(used, vocabulary)}
    braces = [
        line
        for type_, domain in vocabulary.types.items()
        if isinstance(domain, NamedDomain) and not _is_shown_by_facts(type_, used, relations, vocabulary)
        for line in _braces(type_, words[type_])
    ]
    facts = [text for predicate in used for text in _facts(predicate, relations[predicate.name], words)]
    return "".join([*braces, *facts])


def _types_of(predicates: Sequence[Predicate], vocabulary: Vocabulary) -> set[str]:
    """Return the types whose constants are written."""
    named = {type_ for type_, domain in vocabulary.types.items() if isinstance(domain, NamedDomain)}
    return named.union(*(predicate.types for predicate in predicates))


def _words(type_: str, domain: Domain) -> NDArray[np.object_]:
    """Return the constants of a domain as they are written."""
    if _unwritable("".join(domain)):
        culprit = next(name for name in domain if _unwritable(name))
        raise ArgumentError(
            f"The {type_} {culprit!r} cannot be written to a fact file: its name has a line end, a zero"
            " byte or half a character. Rename it, or save the facts as a table."
        )
    words = np.empty(len(domain), object)
    words[:] = list(map(fact_constant, domain))
    return words


def _unwritable(name: str) -> bool:
    return not {"\n", "\r", "\0"}.isdisjoint(name) or (not name.isascii() and _has_surrogate(name))


def _has_surrogate(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return True
    return False


def _is_shown_by_facts(
    type_: str, predicates: Sequence[Predicate], relations: Mapping[str, Relation], vocabulary: Vocabulary
) -> bool:
    """Return whether a reader of the facts alone meets all constants of a type in the domain's order."""
    domain = vocabulary.domain(type_)
    if any(
        isinstance(other, NamedDomain)
        and other.listed
        and name != type_
        and not set(other).isdisjoint(domain)
        for name, other in vocabulary.types.items()
    ):
        return False  # a constant that is listed elsewhere would be taken for a mistake
    uses, place = [], 0
    for predicate in predicates:
        relation = relations[predicate.name]
        for rows in _tables(relation):
            has_value = predicate.function and rows is relation.true
            for position, other in enumerate(predicate.types):
                if other == type_:
                    reading = -1 if has_value and position == predicate.arity - 1 else position
                    first = place + 1 + reading
                    places = partial(_steps, first, predicate.arity + 1, len(rows))
                    uses.append(Use(rows[:, position], places))
            place += (predicate.arity + 1) * len(rows)
    shown = first_places(uses, len(domain))
    return bool(np.all(shown[1:] > shown[:-1])) and (not len(shown) or bool(shown[-1] <= place))


def _steps(first: int, step: int, number: int) -> NDArray[np.int64]:
    return first + step * np.arange(number, dtype=np.int64)


def _tables(relation: Relation) -> tuple[NDArray[np.uint32], ...]:
    """Return the tables of a relation in the order in which they are written."""
    return relation.true, relation.false, relation.unknown, relation.soft


def _braces(type_: str, words: NDArray[np.object_]) -> Iterator[str]:
    """Yield ``person = { Anna, Bob }``, in several lines where there are many."""
    rows = [
        ", ".join(words[start : start + _NAMES_PER_LINE].tolist())
        for start in range(0, len(words), _NAMES_PER_LINE)
    ]
    if rows:
        yield f"{type_} = {{ {f',{chr(10)}    '.join(rows)} }}\n"


def _facts(
    predicate: Predicate, relation: Relation, words: Mapping[str, NDArray[np.object_]]
) -> Iterator[str]:
    """Yield the facts of a relation, as few long texts."""
    columns = [words[type_] for type_ in predicate.types]
    if predicate.function and predicate.arity:
        value_first = [-1, *range(predicate.arity - 1)]
        marks = [" = " + predicate.name + "(", *[", "] * (predicate.arity - 2), ")\n"]
        marks = ["", *(marks if predicate.arity > 1 else [f" = {predicate.name}()\n"])]
        yield _joined(relation.true[:, value_first], [columns[i] for i in value_first], marks)
    else:
        yield _joined(relation.true, columns, _marks("", predicate))
    yield _joined(relation.false, columns, _marks("!", predicate))
    yield _joined(relation.unknown, columns, _marks("?", predicate))
    for row, probability in zip(relation.soft, relation.probabilities.tolist(), strict=True):
        yield f"{probability!r} {_joined(row[None, :], columns, _marks('', predicate))}"


def _marks(sign: str, predicate: Predicate) -> list[str]:
    """Return what stands before, between and behind the arguments."""
    if not predicate.arity:
        return [f"{sign}{predicate.name}()\n"]
    return [f"{sign}{predicate.name}(", *[", "] * (predicate.arity - 1), ")\n"]


def _joined(rows: NDArray[np.uint32], columns: Sequence[NDArray[np.object_]], marks: Sequence[str]) -> str:
    """Return all rows as text: marks and words in turn, joined in one go."""
    if rows.shape[1] == 0:
        return marks[0] * len(rows)
    pieces = np.empty((len(rows), 2 * len(columns) + 1), object)
    pieces[:, 0::2] = np.array(marks, object)
    for position, words in enumerate(columns):
        pieces[:, 2 * position + 1] = words[rows[:, position]]
    return "".join(pieces.ravel().tolist())
