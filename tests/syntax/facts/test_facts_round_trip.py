"""What is written to a fact file is read again as the same relations and the same constants."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mlnlab.errors import ArgumentError
from mlnlab.logic.relations import Relation, same_relation
from mlnlab.logic.vocabulary import (
    FrozenMapping,
    NamedDomain,
    Predicate,
    RangeDomain,
    SizedDomain,
    Vocabulary,
)
from mlnlab.syntax.facts.fact_files import analyse_facts, format_facts
from mlnlab.syntax.facts.plain_facts import scan_by_kernel
from tests.syntax.facts.fact_samples import PEOPLE, errors, read, vocabulary

BASE = vocabulary(
    Predicate("Smokes", ("person",)),
    Predicate("Friends", ("person", "person")),
    Predicate("Paints", ("person", "color", "time")),
    Predicate("MotherOf", ("person", "person"), function=True),
    Predicate("King", ("person",), function=True),
    Predicate("Sits", ("seat", "person")),
    Predicate("Rains", ()),
    color=NamedDomain(("Red", "Green"), is_listed=True),
    time=RangeDomain(-1, 2),
    seat=SizedDomain("Seat", 3),
)

name = st.one_of(
    st.sampled_from(["Anna", "bob", "O'Neil", "Mary-Jo", "5", "-5", "05", "Red", "...", "-", "", "1e5", "v"]),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n\r\0"), max_size=5),
)


@st.composite
def fact_sets(draw):
    """Relations over an extension of the base vocabulary, in which nothing contradicts itself."""
    people = draw(st.lists(name, unique=True, max_size=6))
    colors = [
        "Red",
        "Green",
        *draw(st.lists(name.filter(lambda n: n not in {"Red", "Green"}), unique=True, max_size=2)),
    ]
    full = BASE.with_domain("person", NamedDomain(tuple(people)))
    full = full.with_domain("color", NamedDomain(tuple(colors), is_listed=True))
    relations = {
        predicate.name: relation
        for predicate in full.predicates.values()
        if (relation := draw(relations_of(predicate, full))).listed
    }
    return full, relations


@st.composite
def relations_of(draw, predicate, full):
    sizes = [len(full.domain(type_)) for type_ in predicate.types]
    if 0 in sizes:
        return Relation(predicate.arity)
    atom = st.tuples(*(st.integers(0, size - 1) for size in sizes))
    says = st.sampled_from(["true", "true", "true", "false", "unknown", 0.5, 1e-9, 0.1234567890123])
    facts = sorted(draw(st.dictionaries(atom, says, max_size=8)).items())
    seen, kept = set(), []
    for row, what in facts:  # a function has one value
        if what == "true" and predicate.function:
            if row[:-1] in seen:
                continue
            seen.add(row[:-1])
        kept.append((row, what))

    def table(kind):
        rows = [row for row, what in kept if (what if isinstance(what, str) else "soft") == kind]
        return np.array(rows, np.uint32).reshape(len(rows), predicate.arity)

    probabilities = np.array([what for _, what in kept if not isinstance(what, str)], float)
    return Relation(predicate.arity, *map(table, ("true", "false", "unknown", "soft")), probabilities)


@given(fact_sets())
def test_what_is_written_is_read_again(case):
    full, relations = case
    text = format_facts(relations, full)
    for source, scanner in ((text, {}), (text.encode(), {"scanner": scan_by_kernel})):
        analysis = analyse_facts(source, BASE, **scanner)
        assert not errors(analysis), text
        assert list(analysis.relations) == list(relations)
        assert analysis.vocabulary == full, text
        for key, relation in relations.items():
            assert same_relation(analysis.relations[key], relation), text


@given(fact_sets())
@example((PEOPLE, {}))
def test_writing_is_settled_after_one_round(case):
    full, relations = case
    text = format_facts(relations, full)
    analysis = analyse_facts(text, full)
    assert format_facts(analysis.relations, analysis.vocabulary) == text


def test_how_facts_are_written():
    text = (
        "color = { Red, Green }\n"
        'person = { Anna, "Anna Lee", Bob, Carl }\n'
        "Smokes(Bob)\n"
        "!Smokes(Carl)\n"
        'Friends(Anna, "Anna Lee")\n'
        "Friends(Bob, Anna)\n"
        "?Friends(Bob, Bob)\n"
        "0.25 Friends(Carl, Anna)\n"
        "Anna = MotherOf(Bob)\n"
        "Rains()\n"
    )
    analysis = read(text)
    assert format_facts(analysis.relations, analysis.vocabulary) == text


def test_constants_that_the_facts_show_in_order_need_no_braces():
    base = vocabulary(Predicate("P", ("thing", "thing")))
    text = "P(a, b)\nP(a, c)\nP(b, d)\n"
    analysis = read(text, base)
    assert format_facts(analysis.relations, analysis.vocabulary) == text
    assert format_facts({}, analysis.vocabulary) == "thing = { a, b, c, d }\n"


def test_values_of_functions_are_met_before_their_arguments():
    base = vocabulary(Predicate("MotherOf", ("person", "person"), function=True))
    text = "Anna = MotherOf(Bob)\nCarl = MotherOf(Dora)\n"
    analysis = read(text, base)
    assert list(analysis.vocabulary.domain("person")) == ["Anna", "Bob", "Carl", "Dora"]
    assert format_facts(analysis.relations, analysis.vocabulary) == text


def test_long_lists_of_constants_take_several_lines():
    names = tuple(f"T{number}" for number in range(25))
    full = vocabulary(Predicate("P", ("thing",)), thing=NamedDomain(names))
    text = format_facts({}, full)
    assert text.count("\n") == 3
    assert read(text, vocabulary(Predicate("P", ("thing",)))).vocabulary == full


@pytest.mark.parametrize("bad", ["a\nb", "a\rb", "a\0b", "\ud800"])
def test_names_that_no_line_can_hold_are_refused(bad):
    full = vocabulary(Predicate("P", ("thing",)), thing=NamedDomain(("good", bad)))
    with pytest.raises(ArgumentError, match=r"thing .* cannot be written"):
        format_facts({}, full)


def test_nothing_is_nothing():
    assert format_facts({}, Vocabulary(FrozenMapping(), FrozenMapping())) == ""
