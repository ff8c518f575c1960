"""The four kinds of weight."""

from __future__ import annotations

import math
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlnlab.errors import ArgumentError
from mlnlab.logic.formulas.substitution import free_variables
from mlnlab.logic.formulas.traversal import atoms
from mlnlab.logic.formulas.weights import Fixed, Hard, Soft, ToLearn, WeightedFormula, weight_value
from tests.support.strategies import vocabularies, weighted_formulas


@pytest.mark.parametrize("kind", [Soft, Fixed])
@pytest.mark.parametrize("number", [math.inf, -math.inf, math.nan])
def test_weights_are_finite(kind, number):
    with pytest.raises(ArgumentError, match="hard formula"):
        kind(number)


def test_only_soft_and_fixed_weights_have_a_number():
    assert weight_value(Soft(1.5)) == 1.5
    assert weight_value(Fixed(-2.0)) == -2.0
    assert weight_value(Hard()) is None
    assert weight_value(ToLearn()) is None
    assert Soft(1.0) != Fixed(1.0)


@given(st.data())
def test_weighted_formulas_are_values(data):
    template = data.draw(weighted_formulas(data.draw(vocabularies())))
    assert pickle.loads(pickle.dumps(template)) == template
    assert isinstance(template, WeightedFormula)
    assert set(template.per_constant) <= {variable.name for variable in free_variables(template.formula)}
    assert set(template.both_signs) <= set(atoms(template.formula))
