"""Types, constants and predicates."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given

from mlnlab.errors import ArgumentError
from mlnlab.logic.formulas.formulas import Arithmetic, Atom, Constant, Variable
from mlnlab.logic.suggestions import closest, did_you_mean
from mlnlab.logic.vocabulary import (
    FrozenMapping,
    NamedDomain,
    Predicate,
    RangeDomain,
    SizedDomain,
    Vocabulary,
)
from tests.support.strategies import vocabularies

FRIENDS = Predicate("Friends", ("person", "person"))
DOMAINS = [
    NamedDomain(("Anna", "Bob", "O'Neil")),
    NamedDomain(),
    RangeDomain(-1, 3),
    RangeDomain(1, 0),
    SizedDomain("Person", 12),
    SizedDomain("", 3),
]


@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
def test_domains_number_their_constants(domain):
    names = list(domain)
    assert len(set(names)) == len(domain)
    assert [domain.number(name) for name in names] == list(range(len(domain)))
    assert [domain[number] for number in range(len(domain))] == names
    assert domain[1:3] == tuple(names[1:3])
    assert all(name in domain for name in names)


@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
@pytest.mark.parametrize(
    "stranger", ["", "Carl", "99", "01", "+1", " 1", "1.0", "Person0", "Person01", "Person١"]
)
def test_strangers_are_not_in_a_domain(domain, stranger):
    assert stranger not in domain
    with pytest.raises(KeyError):
        domain.number(stranger)


def test_named_domains_grow_behind():
    domain = NamedDomain(("Anna",)).add_names(["Bob", "Anna", "Bob", "Carl"])
    assert domain.names == ("Anna", "Bob", "Carl")
    assert domain.add_names(["Anna"]) is domain


def test_calling_a_predicate():
    x = Variable("x")
    assert FRIENDS("Anna", x) == Atom("Friends", (Constant("Anna", "person"), Variable("x", "person")))
    on = Predicate("On", ("time",))
    assert on(Variable("t") + 1) == Atom("On", (Arithmetic("+", Variable("t", "time"), Constant("1")),))
    assert on(3) == Atom("On", (Constant("3", "time"),))


def test_wrong_arguments_get_a_sentence():
    with pytest.raises(
        ArgumentError, match=r"Friends\(person, person\) takes 2 arguments, but 1 argument was"
    ):
        FRIENDS("Anna")
    with pytest.raises(ArgumentError, match=r"m is a movie, but .* takes a person"):
        FRIENDS("Anna", Variable("m", "movie"))
    with pytest.raises(ArgumentError, match="A term must be"):
        FRIENDS("Anna", 1.5)


@pytest.mark.parametrize(
    ("predicate", "text"),
    [
        (FRIENDS, "Friends(person, person)"),
        (Predicate("Rain", ()), "Rain()"),
        (Predicate("Has", ("person", "eyes"), exclusive=(1,)), "Has(person, eyes!)"),
        (Predicate("Has", ("person", "eyes"), exclusive=(1,), at_most_one=True), "Has(person, eyes?)"),
        (Predicate("Seen", ("person",), closed=True), "*Seen(person)"),
        (
            Predicate("MotherOf", ("person", "person"), exclusive=(1,), function=True),
            "person MotherOf(person)",
        ),
    ],
)
def test_declarations(predicate, text):
    assert text in {str(predicate), str(predicate) + "()"}


def test_block_keys():
    assert Predicate("Has", ("person", "eyes"), exclusive=(1,)).block_keys == (0,)
    assert Predicate("Leader", ("person",), exclusive=(0,)).block_keys == ()


@given(vocabularies())
def test_vocabularies_are_values(vocabulary):
    twin = pickle.loads(pickle.dumps(vocabulary))
    assert twin == vocabulary
    assert hash(twin) == hash(vocabulary)


def test_looking_up():
    vocabulary = Vocabulary().with_predicate(FRIENDS)
    assert vocabulary["Friends"] is FRIENDS
    assert len(vocabulary.domain("person")) == 0
    filled = vocabulary.with_domain("person", NamedDomain(("Anna",)))
    assert list(filled.domain("person")) == ["Anna"]
    assert len(vocabulary.domain("person")) == 0
    assert filled.with_predicate(Predicate("Smokes", ("person",))).domain("person") is filled.domain("person")
    with pytest.raises(ArgumentError, match=r"no predicate Freinds; did you mean Friends\?"):
        vocabulary["Freinds"]
    with pytest.raises(ArgumentError, match=r"no type persons; did you mean person\?"):
        vocabulary.domain("persons")


def test_frozen_mappings():
    mapping = FrozenMapping({"a": 1})
    assert mapping.with_items({"b": 2}) == {"a": 1, "b": 2}
    assert mapping == {"a": 1}
    assert not hasattr(mapping, "__setitem__")
    assert hash(FrozenMapping({"a": 1, "b": 2})) == hash(FrozenMapping({"b": 2, "a": 1}))


def test_suggestions():
    assert closest("smokes", ["Smokes", "Cancer"]) == "Smokes"
    assert closest("Smoke", ["Smokes", "Cancer"]) == "Smokes"
    assert closest("Xyz", ["Smokes"]) is None
    assert did_you_mean("Xyz", ["Smokes"]) == ""
