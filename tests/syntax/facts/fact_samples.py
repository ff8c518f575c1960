"""A small vocabulary for the tests of fact files, and what they all ask of an analysis."""

from __future__ import annotations

from mlnlab.errors import Severity
from mlnlab.logic.relations import same_relation
from mlnlab.logic.vocabulary import NamedDomain, Predicate, RangeDomain, SizedDomain, Vocabulary
from mlnlab.syntax.facts.fact_files import analyse_facts

KINDS = ("true", "false", "unknown", "soft")


def vocabulary(*predicates, **domains):
    result = Vocabulary()
    for type_, domain in domains.items():
        result = result.with_domain(type_, domain)
    for predicate in predicates:
        result = result.with_predicate(predicate)
    return result


PEOPLE = vocabulary(
    Predicate("Smokes", ("person",)),
    Predicate("Friends", ("person", "person")),
    Predicate("Likes", ("person", "color"), exclusive=(1,)),
    Predicate("MotherOf", ("person", "person"), function=True),
    Predicate("On", ("time",)),
    Predicate("Sits", ("seat", "person")),
    Predicate("Rains", ()),
    color=NamedDomain(("Red", "Green"), is_listed=True),
    time=RangeDomain(1, 5),
    seat=SizedDomain("Seat", 3),
)


def atoms(analysis, name, kind="true"):
    """The listed atoms of a predicate, as tuples of names."""
    if name not in analysis.relations:
        return []
    relation = analysis.relations[name]
    predicate = analysis.vocabulary[name]
    domains = [analysis.vocabulary.domain(type_) for type_ in predicate.types]
    rows = getattr(relation, kind).tolist()
    return [tuple(domain[number] for domain, number in zip(domains, row, strict=True)) for row in rows]


def read(text, base=PEOPLE, **options):
    """Analyse a text in which nothing is wrong."""
    analysis = analyse_facts(text, base, **options)
    assert not analysis.diagnostics, "\n".join(map(str, analysis.diagnostics))
    return analysis


def only_problem(text, base=PEOPLE):
    """Analyse a text in which one thing is wrong; what is wrong must be placed well."""
    analysis = analyse_facts(text, base)
    assert len(analysis.diagnostics) == 1, "\n".join(map(str, analysis.diagnostics))
    assert_well_placed(analysis, text)
    return analysis.diagnostics[0]


def culprit(diagnostic):
    """The characters under the caret."""
    return diagnostic.source_line[diagnostic.span.column - 1 : diagnostic.span.end_column - 1]


def assert_well_placed(analysis, text):
    decoded = text.decode(errors="replace") if isinstance(text, bytes) else text
    lines = decoded.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    for diagnostic in analysis.diagnostics:
        span = diagnostic.span
        assert 1 <= span.line <= len(lines)
        assert span.end_line == span.line
        if diagnostic.code in {"not-text", "too-long"}:  # nothing is shown, or the beginning
            assert lines[span.line - 1].startswith(diagnostic.source_line)
        else:
            assert diagnostic.source_line == lines[span.line - 1]
        assert 1 <= span.column < span.end_column <= len(diagnostic.source_line) + 2
        assert diagnostic.message
        assert diagnostic.code == diagnostic.code.lower()
        assert str(diagnostic)


def errors(analysis):
    return [item for item in analysis.diagnostics if item.severity is Severity.ERROR]


def same(left, right):
    """Return whether two analyses found the same relations and constants."""
    return (
        list(left.relations) == list(right.relations)
        and left.vocabulary == right.vocabulary
        and all(same_relation(left.relations[name], right.relations[name]) for name in left.relations)
    )
