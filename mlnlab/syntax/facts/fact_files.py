"""Fact files (``.db``, ``.func``): text to relations, with every problem of the text in one pass.

What a file may hold is said in :mod:`mlnlab.syntax.facts.fact_lines`; all names in it are constants, also
those in lower case. A value ``Anna = MotherOf(Bob)`` is the fact ``MotherOf(Bob, Anna)`` of the function's
graph; so ``Walking_ID0 = walking(ID0)``, as event calculus writes it, names the event that ``walking(ID0)``
is, and ``Happens(Walking_ID0, 5)`` speaks of it by that name.

New constants come behind those of the vocabulary, in the order in which the text shows them. Where a type is
a range or a size, no new ones are taken; where it is a list in braces, they are taken with a warning.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.errors import ArgumentError, Diagnostic, Severity, count_of
from mlnlab.logic.formulas.ground_atoms import fact_constant
from mlnlab.logic.relations import Relation
from mlnlab.logic.suggestions import closest
from mlnlab.logic.vocabulary import Domain, FrozenMapping, NamedDomain, Predicate, RangeDomain, Vocabulary
from mlnlab.syntax.facts.fact_batches import Batch, PredicateChecks, line_batches, plain_batches
from mlnlab.syntax.facts.fact_constants import (
    MISSING,
    Numbering,
    Places,
    Use,
    first_places,
    number_constants,
    uses_of,
)
from mlnlab.syntax.facts.fact_findings import Findings, Problem, show_name
from mlnlab.syntax.facts.fact_lines import LineFact
from mlnlab.syntax.facts.fact_relations import ConflictReports, NumberedFacts, relation_of, report_conflicts
from mlnlab.syntax.facts.fact_sets import TypeSet, read_odd_lines
from mlnlab.syntax.facts.fact_text import FactText, read_text
from mlnlab.syntax.facts.plain_facts import Scan, scan

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["FactAnalysis", "analyse_facts", "format_facts"]

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class FactAnalysis:
    """The contents of a fact file: relations with listed atoms, the extended vocabulary, and all problems."""

    relations: Mapping[str, Relation]
    vocabulary: Vocabulary
    diagnostics: tuple[Diagnostic, ...]


def analyse_facts(
    source: bytes | str,
    vocabulary: Vocabulary,
    file: str = "<text>",
    *,
    complete: bool = True,
    scanner: Callable[[bytes | bytearray], Scan] = scan,
) -> FactAnalysis:
    """Read a fact file against a vocabulary; never raises on bad text, whatever it is.

    Where the vocabulary is not ``complete``, facts of predicates that it does not have are left out with a
    warning; else they are errors. Facts with errors are left out, so that the rest can still be shown.
    """
    findings = Findings()
    text = read_text(source, findings)
    scanned = scanner(text.clean)
    odd_facts, sets = read_odd_lines(
        scanned.odd, _between([scanned.lines, *scanned.unread.values()]), findings
    )
    for code, lines in scanned.unread.items():
        findings.add_unseen(code, len(lines))
    sets = _known_sets(sets, vocabulary, findings)
    numbers = _numbers_of_names(scanned.names, odd_facts, sets)
    names = _as_array(numbers or scanned.names)
    checks = PredicateChecks(text, vocabulary, findings)
    batches = [*plain_batches(scanned, checks), *line_batches(odd_facts, numbers, checks)]
    checks.report_unknown(Severity.ERROR if complete else Severity.WARNING)
    del scanned, odd_facts  # the batches hold what is needed of them
    numberings = {}
    reports = StrangerReports(Places(text, sets), findings)
    for type_, domain in vocabulary.types.items():
        if uses := uses_of(type_, batches, sets, numbers):
            numberings[type_] = number_constants(domain, uses, names, _listed_elsewhere(type_, vocabulary))
            reports.report(type_, domain, numberings[type_], names)
    relations = _relations(batches, numberings, text, findings)
    in_order = {name: relations[name] for name in vocabulary.predicates if name in relations}
    diagnostics = findings.diagnostics(file, text.line)
    return FactAnalysis(FrozenMapping(in_order), _extend_vocabulary(vocabulary, numberings), diagnostics)


def _between(tables: Sequence[NDArray[np.uint32]]) -> Callable[[int, int], bool]:
    """Return the question whether lines of these stand between two lines."""

    def answer(low: int, high: int) -> bool:
        ends = np.array([low, high], np.uint32)  # a Python int would have numpy convert the whole table
        return any(bool(np.diff(np.searchsorted(lines, ends))[0]) for lines in tables)

    return answer


def _known_sets(sets: Iterable[TypeSet], vocabulary: Vocabulary, findings: Findings) -> list[TypeSet]:
    """Return the sets of constants whose type the vocabulary has; the others are noted."""
    known = []
    for set_ in sets:
        if set_.type in vocabulary.types:
            known.append(set_)
        else:
            findings.add(unknown_type(set_, vocabulary))
    return known


def _numbers_of_names(
    plain: Sequence[str], facts: Sequence[LineFact], sets: Sequence[TypeSet]
) -> dict[str, int]:
    """Return the number of each name, those of odd lines behind; without odd lines nobody needs it."""
    if not facts and not sets:
        return {}
    numbers = {name: number for number, name in enumerate(plain)}
    for fact in facts:
        for name in fact.arguments:
            numbers.setdefault(name, len(numbers))
    for line in (line for set_ in sets for line in set_.lines):
        for name in line.names:
            numbers.setdefault(name, len(numbers))
    return numbers


def _as_array(names: Collection[str]) -> NDArray[np.object_]:
    array = np.empty(len(names), object)
    array[:] = list(names)
    return array


def _relations(
    batches: list[Batch], numberings: Mapping[str, Numbering], text: FactText, findings: Findings
) -> dict[str, Relation]:
    """Return the relation of each predicate that has facts."""
    by_predicate: dict[str, list[Batch]] = {}
    while batches:  # each batch is let go as soon as it is used
        batch = batches.pop(0)
        by_predicate.setdefault(batch.predicate.name, []).append(batch)
    relations = {}
    for name in list(by_predicate):
        group = by_predicate.pop(name)
        predicate = group[0].predicate
        facts = _number_facts(predicate, group, numberings)
        if not len(facts.rows):
            continue
        relations[name], pairs = relation_of(facts)
        domains: list[Domain] = [numberings[type_].domain for type_ in predicate.types]
        report_conflicts(ConflictReports(text, facts, domains, findings), relations[name], pairs)
    return relations


def _number_facts(
    predicate: Predicate, batches: Sequence[Batch], numberings: Mapping[str, Numbering]
) -> NumberedFacts:
    """Return the facts over the domains' numbers; those with constants that do not belong are left out."""
    rows = [batch.names for batch in batches]
    names = rows[0] if len(rows) == 1 else np.concatenate(rows)
    numbered = np.empty_like(names)
    good = np.ones(len(names), bool)
    for position, type_ in enumerate(predicate.types):
        numbered[:, position] = numberings[type_].numbers[names[:, position]]
        good &= numbered[:, position] != MISSING
    probabilities = [
        np.ones(len(batch.lines)) if batch.probabilities is None else batch.probabilities for batch in batches
    ]
    only_plain = all(batch.probabilities is None for batch in batches)
    return NumberedFacts(
        predicate,
        numbered if good.all() else numbered[good],
        np.concatenate([batch.kinds for batch in batches])[good],
        np.concatenate([batch.lines for batch in batches])[good],
        None if only_plain else np.concatenate(probabilities)[good],
    )


def _listed_elsewhere(type_: str, vocabulary: Vocabulary) -> dict[str, NamedDomain]:
    """Return the other types whose constants the user has listed in braces."""
    return {
        other: domain
        for other, domain in vocabulary.types.items()
        if other != type_ and isinstance(domain, NamedDomain) and domain.listed
    }


def _extend_vocabulary(vocabulary: Vocabulary, numberings: Mapping[str, Numbering]) -> Vocabulary:
    domains = {type_: numbering.domain for type_, numbering in numberings.items()}
    return Vocabulary(FrozenMapping({**vocabulary.types, **domains}), vocabulary.predicates)


# --- report constants that a type does not have, or did not have until now ----------------------

_LONGEST_MISSPELT = 100  # characters; comparing longer names takes time and helps nobody


@dataclass(frozen=True, slots=True)
class StrangerReports:
    """Notes constants that do not belong, once each, at their first place."""

    places: Places
    findings: Findings

    def report(self, type_: str, domain: Domain, numbering: Numbering, names: NDArray[np.object_]) -> None:
        """Note the strangers of one type."""
        for name in numbering.outside:
            if self._wants("outside-domain"):
                self._outside(type_, domain, names[name], int(numbering.first[name]))
        for name, owner in numbering.foreign:
            if self._wants("wrong-type"):
                self._foreign(type_, owner, domain, names[name], int(numbering.first[name]))
        if numbering.added:
            self._report_addition(type_, domain, numbering, names)

    def _wants(self, code: str) -> bool:
        """Return whether to describe one more problem of this code; if not, it is counted."""
        if not self.findings.wants(code):
            self.findings.add_unseen(code, 1)
            return False
        return True

    def _outside(self, type_: str, domain: Domain, name: str, place: int) -> None:
        message = f"{show_name(name)} is not a {type_}: {_describe_domain(type_, domain)}"
        repair = _same_number(name) if _same_number(name) in domain else ""
        self.findings.add(Problem("outside-domain", message, *self.places.of(place), _sample(domain), repair))

    def _foreign(self, type_: str, owner: str, domain: Domain, name: str, place: int) -> None:
        message = f"{show_name(name)} is a {owner}; a {type_} is expected here"
        short = len(name) <= _LONGEST_MISSPELT
        declared = f"{type_} = {{ {fact_constant(name)} }}, if it is a {type_}, too" if short else ""
        repair = (closest(name, domain) if short else None) or declared
        self.findings.add(Problem("wrong-type", message, *self.places.of(place), _sample(domain), repair))

    def _report_addition(
        self, type_: str, domain: Domain, numbering: Numbering, names: NDArray[np.object_]
    ) -> None:
        first = names[numbering.added[0]]
        number = len(numbering.added)
        others = f" and {count_of(number - 1, 'other name')}" if number > 1 else ""
        near = closest(first, domain) if len(first) <= _LONGEST_MISSPELT else None
        guess = f"; did you mean {near}?" if near else ""
        verb = "is" if number == 1 else "are"
        message = (
            f"{show_name(first)}{others} {verb} not among the constants listed for {type_},"
            f" and {verb} added to them{guess}"
        )
        place = self.places.of(int(numbering.first[numbering.added[0]]))
        problem = Problem("unlisted-constant", message, *place, _sample(domain), near or "", Severity.WARNING)
        self.findings.add(problem)


def unknown_type(set_: TypeSet, vocabulary: Vocabulary) -> Problem:
    """Return the problem of an unknown type, as in ``persn = { Anna }``."""
    near = closest(set_.type, vocabulary.types) if len(set_.type) <= _LONGEST_MISSPELT else None
    guess = f"; did you mean {near}?" if near else ""
    message = f"there is no type {show_name(set_.type)}{guess}"
    expected = ", ".join(list(vocabulary.types)[:5])
    repair = near or "declare it in the model"
    place = set_.line, set_.start, set_.start + len(set_.type)
    return Problem("unknown-type", message, *place, expected, repair)


def _describe_domain(type_: str, domain: Domain) -> str:
    if isinstance(domain, RangeDomain):
        return f"{type_} is the range {domain.low}, ..., {domain.high}"
    return f"{type_} has the constants {_sample(domain)}"


def _sample(domain: Domain) -> str:
    """Return some constants of a domain, as an example."""
    if isinstance(domain, RangeDomain):
        return f"{domain.low}, ..., {domain.high}"
    few = [show_name(domain[index]) for index in range(min(3, len(domain)))]
    return ", ".join([*few, "..."] if len(domain) > 3 else few)


def _same_number(name: str) -> str:
    """Return ``5`` for ``05`` and ``+5`` and ``5.0``, as a repair."""
    try:
        return f"{float(name):.0f}" if len(name) < 20 and float(name).is_integer() else ""
    except (ValueError, OverflowError):
        return ""


# --- relations to the text of a fact file, from which the same relations and domains are read again

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
        yield _join_words(relation.true[:, value_first], [columns[i] for i in value_first], marks)
    else:
        yield _join_words(relation.true, columns, _marks("", predicate))
    yield _join_words(relation.false, columns, _marks("!", predicate))
    yield _join_words(relation.unknown, columns, _marks("?", predicate))
    for row, probability in zip(relation.soft, relation.probabilities.tolist(), strict=True):
        yield f"{probability!r} {_join_words(row[None, :], columns, _marks('', predicate))}"


def _marks(sign: str, predicate: Predicate) -> list[str]:
    """Return the marks before, between and behind the arguments."""
    if not predicate.arity:
        return [f"{sign}{predicate.name}()\n"]
    return [f"{sign}{predicate.name}(", *[", "] * (predicate.arity - 1), ")\n"]


def _join_words(
    rows: NDArray[np.uint32], columns: Sequence[NDArray[np.object_]], marks: Sequence[str]
) -> str:
    """Return all rows as text: marks and words in turn, joined in one go."""
    if rows.shape[1] == 0:
        return marks[0] * len(rows)
    pieces = np.empty((len(rows), 2 * len(columns) + 1), object)
    pieces[:, 0::2] = np.array(marks, object)
    for position, words in enumerate(columns):
        pieces[:, 2 * position + 1] = words[rows[:, position]]
    return "".join(pieces.ravel().tolist())
