"""Fact files (``.db``, ``.func``): text to relations, with every problem of the text in one pass.

What a file may hold is said in :mod:`mlnlab.syntax.fact_lines`; all names in it are constants, also those
in lower case. A value ``Anna = MotherOf(Bob)`` is the fact ``MotherOf(Bob, Anna)`` of the function's graph;
so ``Walking_ID0 = walking(ID0)``, as event calculus writes it, names the event that ``walking(ID0)`` is,
and ``Happens(Walking_ID0, 5)`` speaks of it by that name.

New constants come behind those of the vocabulary, in the order in which the text shows them. Where a type is
a range or a size, no new ones are taken; where it is a list in braces, they are taken with a warning.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.errors import Diagnostic, Severity
from mlnlab.logic.relations import Relation
from mlnlab.logic.vocabulary import Domain, FrozenMapping, NamedDomain, Predicate, Vocabulary
from mlnlab.syntax.fact_batches import Batch, PredicateChecks, line_batches, plain_batches
from mlnlab.syntax.fact_constants import (
    MISSING,
    Numbering,
    Places,
    number_constants,
    uses_of,
)
from mlnlab.syntax.fact_findings import Findings
from mlnlab.syntax.fact_lines import LineFact
from mlnlab.syntax.fact_relations import ConflictReports, NumberedFacts, relation_of, report_conflicts
from mlnlab.syntax.fact_scan import Scan, scan
from mlnlab.syntax.fact_sets import TypeSet, read_odd_lines
from mlnlab.syntax.fact_strangers import StrangerReports, unknown_type
from mlnlab.syntax.fact_text import FactText, read_text
from mlnlab.syntax.fact_writing import format_facts

__all__ = ["FactAnalysis", "analyse_facts", "format_facts"]

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class FactAnalysis:
    """What a fact file says: relations with listed atoms, the extended vocabulary, and what is wrong."""

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
    return FactAnalysis(FrozenMapping(in_order), _extended(vocabulary, numberings), diagnostics)


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
        facts = _numbered(predicate, group, numberings)
        if not len(facts.rows):
            continue
        relations[name], pairs = relation_of(facts)
        domains: list[Domain] = [numberings[type_].domain for type_ in predicate.types]
        report_conflicts(ConflictReports(text, facts, domains, findings), relations[name], pairs)
    return relations


def _numbered(
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


def _extended(vocabulary: Vocabulary, numberings: Mapping[str, Numbering]) -> Vocabulary:
    domains = {type_: numbering.domain for type_, numbering in numberings.items()}
    return Vocabulary(FrozenMapping({**vocabulary.types, **domains}), vocabulary.predicates)
