"""Why a rule did not make a definition: its own precondition, or that another one comes before it."""

from __future__ import annotations

import pytest

import mlnlab as ml
from mlnlab.errors import ArgumentError
from mlnlab.lifted.compile.rule_registry import RULES
from mlnlab.lifted.theory.rule import Fired

TEXT = "Smokes(person)\nFriends(person, person)\n1.5 Friends(x, y) ^ Smokes(x) => Smokes(y)"


@pytest.fixture(scope="module")
def circuit():
    return ml.lift(ml.MLN.from_text(TEXT)).compile()


def test_every_rule_answers_for_every_definition(circuit):
    order = [rule.name for rule in RULES]
    verdicts = set()
    for one in circuit.definitions:
        for rule in RULES:
            answer = circuit.why_not(rule.name, one.number)
            verdicts.add(answer.verdict)
            applies = isinstance(rule.apply(one.theory), Fired)
            assert applies == (answer.verdict in {"made", "later"})
            assert (answer.verdict == "made") == (rule.name == one.rule)
            if answer.verdict == "later":
                assert order.index(rule.name) > order.index(one.rule)
                assert one.rule in answer.reason
            assert answer.reason.endswith(".")
    assert verdicts == {"made", "refused", "later"}


def test_what_there_is_not_is_refused(circuit):
    with pytest.raises(ArgumentError, match="no rule atom count; did you mean atom counting"):
        circuit.why_not("atom count")
    with pytest.raises(ArgumentError, match="numbered 0 to"):
        circuit.why_not("atom counting", 99)
    alone = ml.lift(ml.MLN.from_text(TEXT), recursions=0).compile()
    assert alone.why_not("domain recursion").verdict == "left out"
