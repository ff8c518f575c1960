"""Reading a text twice as long is twice the work: no statement looks at, or copies, all those before it."""

from __future__ import annotations

import pytest

import mlnlab as ml
from mlnlab.logic.vocabulary import FrozenMapping, NamedDomain
from mlnlab.syntax.formulas.analysis import analyse
from tests.support.effort import calls_of

TEXTS = {
    "predicates": lambda k: f"P{k}(t)",
    "predicates of new types": lambda k: f"P{k}(t{k}, u{k})",
    "predicates with marks": lambda k: f"P{k}(t, u!)",
    "functions": lambda k: f"t f{k}(u)",
    "types": lambda k: f"t{k} = {{A{k}, B{k}}}",
    "one type listed again": lambda k: f"t = {{A{k}}}",
    "formulas": lambda k: f"1 (P(C{k}))",
    "constants of new types": lambda k: f"P{k}(t{k})\nt{k} = {{A{k}}}\n1 P{k}(B{k})",
    "unknown predicates": lambda k: f"1 Zork{k}(x)",
    "one unknown predicate": lambda k: "1 Zork(x)",
    "declarations that contradict": lambda k: "t = {A}\nQ(t)\nQ(t, t)",
    "unreadable characters": lambda k: "1 P(x) $",
    "characters of no statement": lambda k: "$",
}


@pytest.mark.parametrize("kind", TEXTS)
def test_twice_the_text_is_twice_the_work(kind):
    def text(number):
        return "P(t)\n" + "\n".join(map(TEXTS[kind], range(number)))

    analyse(text(10))  # grammars and the like are made once
    small, large = (calls_of(lambda number=number: analyse(text(number))) for number in (400, 800))
    assert large < 2.3 * small


@pytest.fixture
def items_copied(monkeypatch):
    """How many items vocabularies and domains were made of: copies in C are no calls."""
    copied = [0]
    of_mapping, of_domain = FrozenMapping.__init__, NamedDomain.__init__

    def mapping(self, items=None, /):
        copied[0] += len(items or ())
        of_mapping(self, items)

    def domain(self, names=(), *options, **named):
        copied[0] += len(names)
        of_domain(self, names, *options, **named)

    monkeypatch.setattr(FrozenMapping, "__init__", mapping)
    monkeypatch.setattr(NamedDomain, "__init__", domain)
    return copied


@pytest.mark.parametrize("kind", TEXTS)
def test_what_was_declared_is_not_copied_for_each_statement(kind, items_copied):
    analyse("P(t)\n" + "\n".join(map(TEXTS[kind], range(500))))
    assert items_copied[0] < 20 * 500


def test_vocabularies_grow_by_many_at_the_price_of_one(items_copied):
    predicates = [ml.Predicate(f"P{k}", (f"t{k}",)) for k in range(500)]
    vocabulary = ml.Vocabulary().with_predicates(predicates)
    mln = ml.MLN(vocabulary)
    mln.expand({f"t{k}": 2 for k in range(500)})
    assert items_copied[0] < 20 * 500


def test_a_type_listed_three_times_has_all_its_constants():
    mln = ml.MLN.from_text("t = {A}\nt = {B}\nt = {A}\nP(t)")
    assert list(mln.vocabulary.domain("t")) == ["A", "B"]
    assert [one.code for one in mln.diagnostics] == ["type-listed-again"] * 2
