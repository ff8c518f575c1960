"""What people read of a theory: their own formulas' names, and subdomains by type."""

from __future__ import annotations

import mlnlab as ml
from mlnlab.lifted.theory.symbol_names import shown_symbol, subdomain_names

TEXT = "Smokes(person)\nFriends(person, person)\n1.5 Friends(x, y) ^ Smokes(x) => Smokes(y)"


def test_formulas_are_named_and_subdomains_by_their_types():
    lifted = ml.lift(ml.MLN.from_text(TEXT))
    text = lifted.text(lifted.compilation.theory)
    assert "Smokes(x) v f₁(x, y)  for all x, y in person" in text
    assert "#" not in text
    below = lifted.compile().definitions[1].theory
    assert subdomain_names(below, lifted.weighted.shattered.symbols) == ("person", "person′")
    assert "x in person, y in person′" in lifted.text(below)


def test_symbols_of_an_existential_part_have_names():
    lifted = ml.lift(ml.MLN.from_text("E(p, p)\nP(q)\nEXIST y E(x, y).\n1 P(x)"))
    shown = [shown_symbol(symbol) for symbol in lifted.weighted.shattered.symbols]
    assert "P(x)" in shown
    assert any(name.startswith("Z₁") for name in shown)
    assert not any("#" in name for name in shown)


def test_a_constant_that_reads_like_a_variable_is_quoted():
    lifted = ml.lift(ml.MLN.from_text('R(t, t)\n1 R(x, "x") => R("x", Anna)'))
    text = lifted.text(lifted.compilation.theory)
    assert 'R(x, "x")' in text
    assert 'R("x", Anna)' in text
    shown = {shown_symbol(symbol) for symbol in lifted.weighted.shattered.symbols}
    assert 'R("x", Anna)' in shown
