"""Formulas of first-order logic, their vocabulary and weights, and functions over them."""

from mlnlab.logic import printing as printing  # so that print(formula) works wherever formulas do
