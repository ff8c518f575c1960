"""Evaluate arithmetic circuits: distributions over random variables as sums and products.

Start with ``arithmetic_circuit.py``.
"""
