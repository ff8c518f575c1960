"""The page on lifted rules is followed: the skeleton's rule stands in for Shannon decomposition."""

from __future__ import annotations

import pytest

import mlnlab as ml
from mlnlab.how_to_add.skeleton_lifted_rule import RULE
from mlnlab.lifted.compile.rule_registry import RULES

MODELS = (
    "Rain()\nWet(day)\n1.5 Rain() => Wet(d)\n-0.4 Wet(d)\n0.3 Rain()",
    "A()\nB()\nP(t)\n0.7 A() ^ B() => P(x)\n-1.1 A() v B()\nA() v P(x).",
)
REPLACED = tuple(RULE if rule.name == "Shannon decomposition" else rule for rule in RULES)


@pytest.mark.parametrize("text", MODELS)
def test_it_answers_as_enumeration_does(text):
    mln = ml.MLN.from_text(text)
    for size in (1, 2, 3):
        sizes = dict.fromkeys(mln.vocabulary.types, size)
        found = ml.lift(mln, rules=REPLACED).compile().log_z(sizes)
        assert float(found.value) == pytest.approx(ml.log_z(mln, sizes, method="enumeration").value, abs=1e-9)


@pytest.mark.parametrize("text", MODELS)
def test_it_is_used_and_says_so(text):
    *_, last = ml.lift(ml.MLN.from_text(text), rules=REPLACED)
    fired = [compiled for block in last.blocks for compiled in block if compiled.rule == RULE.name]
    assert fired
    assert all(compiled.fired.note for compiled in fired)


def test_a_refusal_is_a_sentence():
    *_, last = ml.lift(ml.MLN.from_text("S(t)\nF(t, t)\n1 S(x) ^ F(x, y) => S(y)"), rules=REPLACED)
    refused = [pair for block in last.blocks for made in block for pair in made.refused]
    reasons = [why for name, why in refused if name == RULE.name]
    assert reasons
    assert all(why.endswith(".") for why in reasons)
