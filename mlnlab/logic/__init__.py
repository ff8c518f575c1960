"""Formulas of first-order logic, their vocabulary and weights, and functions over them."""
